// The worker: opens devices and runs the functions of `web/maths`, one at a time.

import { type Device, openDevice } from '../src/index.ts';
import type { Computation } from './maths/computation.ts';
import { FUNCTIONS } from './maths/index.ts';
import type { Answer, Asked, DeviceChoice, DeviceInfo } from './maths/protocol.ts';

const devices = new Map<DeviceChoice, Promise<Device>>();

/** A device of a kind, opened once. */
function deviceOf(kind: DeviceChoice): Promise<Device> {
  const made = devices.get(kind) ?? openDevice({ kind });
  devices.set(kind, made);
  made.catch(() => devices.delete(kind));
  return made;
}

/** The device for a call, and why it is that one. */
async function choose(choice: DeviceChoice, wants: 'any' | 'float64'): Promise<{ device: Device; info: DeviceInfo }> {
  if (choice !== 'auto' || wants === 'any') {
    const device = await deviceOf(choice);
    const reason = choice === 'auto' ? device.reason : 'chosen above';
    return { device, info: { kind: device.kind, name: device.name, reason } };
  }
  const device = await deviceOf('cpu');
  const reason = 'what is shown here lies below the rounding of float32; choose WebGPU above to see that';
  return { device, info: { kind: device.kind, name: device.name, reason } };
}

const say = (answer: Answer): void => postMessage(answer);

async function answer({ id, name, argument, device: choice }: Asked): Promise<void> {
  try {
    const { wants, run } = FUNCTIONS[name] as Computation<unknown, unknown>;
    const { device, info } = await choose(choice, wants);
    const value = await run(device, argument, (text, share) => say({ id, kind: 'progress', text, share }));
    say({ id, kind: 'done', value, device: info });
  } catch (error) {
    say({ id, kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
}

let last: Promise<void> = Promise.resolve();
addEventListener('message', ({ data }: MessageEvent<Asked>) => {
  last = last.then(() => answer(data));
});

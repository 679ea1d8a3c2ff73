// The device a command runs on, with the reason for the choice.

import { DeviceError } from '../array/errors.ts';
import { type Device, type DeviceOptions, openDevice } from '../device/open.ts';

/** An open device and why it is this one. */
export interface Choice {
  readonly device: Device;
  readonly why: string;
}

/** What a failure to open says, without the advice for callers of the library. */
const reasonOf = (error: DeviceError): string =>
  error.message.replace(/^openDevice: /, '').replace(/; use kind .*$/, '');

/**
 * Opens the device asked for, or the best one there is.
 * @throws DeviceError when WebGPU was asked for and there is none
 */
export async function chooseDevice(kind: NonNullable<DeviceOptions['kind']>): Promise<Choice> {
  if (kind === 'cpu') return { device: await openDevice({ kind }), why: 'asked for with --device cpu' };
  try {
    const device = await openDevice({ kind: 'webgpu' });
    return { device, why: kind === 'auto' ? 'a WebGPU adapter was found' : 'asked for with --device webgpu' };
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    if (kind === 'webgpu') throw new DeviceError(`--device webgpu: ${reasonOf(error)}; use --device cpu or auto`);
    return { device: await openDevice({ kind: 'cpu' }), why: reasonOf(error) };
  }
}

/** Runs `f` on a device and closes it. */
export async function withDevice<R>(
  kind: NonNullable<DeviceOptions['kind']>,
  f: (choice: Choice) => Promise<R>,
): Promise<R> {
  const choice = await chooseDevice(kind);
  try {
    return await f(choice);
  } finally {
    choice.device.destroy();
  }
}

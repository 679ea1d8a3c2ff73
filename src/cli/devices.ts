// The device a command runs on.

import { type Device, type DeviceOptions, openDevice } from '../device/open.ts';
import type { Context } from './command.ts';

/** Runs `f` on the device asked for and closes it. */
export async function withDevice<R>(
  kind: NonNullable<DeviceOptions['kind']>,
  f: (device: Device) => R | Promise<R>,
): Promise<R> {
  const device = await openDevice({ kind });
  try {
    return await f(device);
  } finally {
    device.destroy();
  }
}

/** Does so for a command, and says which device it is and why. */
export const onDevice = <R>(
  { device: kind, progress }: Pick<Context, 'device' | 'progress'>,
  f: (device: Device) => R | Promise<R>,
): Promise<R> =>
  withDevice(kind, (device) => {
    progress.line(`device: ${device.name}; ${device.reason}`);
    return f(device);
  });

// The device a command runs on.

import { type Device, type DeviceOptions, openDevice } from '../device/open.ts';

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

// Waiting with naps: what a promise gives and throws, other work going on, and an end to it.

import { describe, expect, it, vi } from 'vitest';
import { napping } from '../src/device/webgpu/naps.ts';

const later = <T>(ms: number, value: T): Promise<T> => new Promise((resolve) => setTimeout(() => resolve(value), ms));

describe('napping', () => {
  it('gives what a promise gives, and throws what it throws', async () => {
    const wait = napping();
    expect(await Promise.all([wait(later(5, 'a')), wait(later(1, 'b')), wait(Promise.resolve('c'))])).toEqual([
      'a',
      'b',
      'c',
    ]);
    await expect(wait(later(2, null).then(() => Promise.reject(new Error('lost'))))).rejects.toThrow('lost');
    expect(await wait(later(1, 'again'))).toBe('again');
  });

  it('is awake for what comes at once', async () => {
    const sleeps = vi.spyOn(Atomics, 'wait');
    const wait = napping();
    for (let i = 0; i < 20; i++) await wait(new Promise((resolve) => setImmediate(resolve)));
    expect(sleeps).not.toHaveBeenCalled();
    sleeps.mockRestore();
  });

  it('sleeps while it waits, lets timers run, and no longer once nothing is open', async () => {
    const sleeps = vi.spyOn(Atomics, 'wait');
    const wait = napping();
    let ticks = 0;
    const timer = setInterval(() => ticks++, 2);
    await wait(later(40, null));
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(3);
    expect(sleeps.mock.calls.length).toBeGreaterThan(5);
    await later(5, null);
    const asleep = sleeps.mock.calls.length;
    await later(20, null);
    expect(sleeps.mock.calls.length).toBe(asleep);
    sleeps.mockRestore();
  });
});

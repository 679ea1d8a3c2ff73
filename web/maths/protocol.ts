// What the page and the worker say to each other.

import type { FUNCTIONS } from './index.ts';

/** Which device a call asks for; `auto` leaves it to the function and to the machine. */
export type DeviceChoice = 'auto' | 'cpu' | 'webgpu';

/** Where something was computed, and why there. */
export interface DeviceInfo {
  readonly kind: 'cpu' | 'webgpu';
  readonly name: string;
  readonly reason: string;
}

/** Names, arguments and results of the functions, from the table of them. */
export type Functions = {
  readonly [N in keyof typeof FUNCTIONS]: {
    readonly argument: Parameters<(typeof FUNCTIONS)[N]['run']>[1];
    readonly result: Awaited<ReturnType<(typeof FUNCTIONS)[N]['run']>>;
  };
};

export type FunctionName = keyof Functions;

/** A call. */
export interface Asked {
  readonly id: number;
  readonly name: FunctionName;
  readonly argument: unknown;
  readonly device: DeviceChoice;
}

/** What the worker answers: how far it has come, and at last a value or a message. */
export type Answer =
  | { readonly id: number; readonly kind: 'progress'; readonly text: string; readonly share: number | null }
  | { readonly id: number; readonly kind: 'done'; readonly value: unknown; readonly device: DeviceInfo }
  | { readonly id: number; readonly kind: 'failed'; readonly message: string };

// Every experiment, in the order of the page.

import { baselines } from './baselines.ts';
import { removalCurves } from './curves.ts';
import { detection } from './detection.ts';
import type { Experiment } from './experiment.ts';
import { human } from './human.ts';
import { several } from './several.ts';
import { trace } from './trace.ts';
import { utility } from './utility.ts';

/** All of them. */
export const EXPERIMENTS: readonly Experiment[] = [
  ...[utility, removalCurves, detection, trace, baselines, several, human],
];

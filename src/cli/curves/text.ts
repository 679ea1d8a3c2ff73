// What `ecif curves` found, as text.

import type { CurvesRecord, LeftOutGroup, ModelMeasures } from '../../report/records.ts';
import { percent, table } from '../format.ts';

const signed = (x: number): string => `${x < 0 ? '' : '+'}${x.toFixed(4)}`;

/** Every group: predicted and true changes of the validation loss, and what the model does that was trained again. */
export function groupsTable({ before, groups }: Pick<CurvesRecord, 'before' | 'groups'>): string {
  const [edits, labels] = [groups.some(({ edited }) => edited !== null), before.accuracy !== null];
  const measured = ({ loss, r1, r5, accuracy }: ModelMeasures): string[] => [
    ...[loss.toFixed(4), percent(r1), percent(r5)],
    ...(labels ? [accuracy === null ? '' : percent(accuracy)] : []),
  ];
  const row = ({ name, pairs, predicted, edited, actual, measures }: LeftOutGroup): string[] => [
    ...[name, String(pairs), signed(predicted)],
    ...(edits ? [edited === null ? '' : signed(edited)] : []),
    ...[signed(actual), ...measured(measures)],
  ];
  return table([
    ['left out', 'pairs', 'predicted', ...(edits ? ['edited'] : []), 'retrained', 'loss', 'R@1', 'R@5', ...(labels ? ['accuracy'] : [])], // prettier-ignore
    ['none', '', '', ...(edits ? [''] : []), '', ...measured(before)],
    ...groups.map(row),
  ]);
}

const correlation = (x: number | null): string => (x === null ? 'none' : x.toFixed(2));

/** How predictions go with training again, a line. */
export const correlationsText = ({ correlations }: Pick<CurvesRecord, 'correlations'>): string =>
  `correlation with training again, linear and of ranks: ${correlations
    .map(({ name, linear, ranks }) => `${name} ${correlation(linear)} and ${correlation(ranks)}`)
    .join('; ')}`;

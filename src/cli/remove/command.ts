// ecif remove: pairs taken out of a trained model without training again, undone at will, verified if asked for.

import { oneLine } from '../../array/messages.ts';
import type { ModelMeasures, RemovalRecord } from '../../report/records.ts';
import { UsageError } from '../args.ts';
import { defineCommand, type Outcome } from '../command.ts';
import { onDevice } from '../devices.ts';
import { editName, undoEdit } from './edits.ts';
import { columns, percent, table } from '../format.ts';
import { REMOVE_OPTIONS } from './options.ts';
import { runRemoval, type WrittenEdit } from './run.ts';
import { requireSolverUse } from '../score/options.ts';

/** Ids that are printed at most. */
const PRINTED = 5;

const measureRow = (name: string, { loss, r1, r5, accuracy }: ModelMeasures): string[] => [
  name,
  loss.toPrecision(6),
  percent(r1),
  percent(r5),
  accuracy === null ? '' : percent(accuracy),
];

/** What training on from the trained model took. */
const onwardText = ({ onward }: NonNullable<RemovalRecord['retrained']>): string =>
  onward == null ? '' : `; training on from the trained model ${onward.seconds.toFixed(1)} s`;

/** What the model did before, was predicted to do, and does. */
function measuresText({ measures, retrained }: RemovalRecord): string[] {
  if (measures === null) return [];
  const { before, predictedLoss, edited } = measures;
  const rows = [
    ['', 'loss', 'R@1', 'R@5', before.accuracy === null ? '' : 'accuracy'],
    measureRow('before', before),
    ['predicted', predictedLoss.toPrecision(6), '', '', ''],
    measureRow('edited', edited),
  ];
  const again = retrained?.measures ?? null;
  return [table(again === null ? rows : [...rows, measureRow('trained again', again)])];
}

/** Whether an edit is in force, and what to do about it. */
function forceText(run: string, { dir, inForce }: WrittenEdit, dry: boolean): string {
  if (inForce) return `yes; ecif remove ${oneLine(run)} --undo ${oneLine(editName(run, dir))} takes it back`;
  if (dry) return 'no, as asked for';
  return 'NO, the gradient grew, so that it is worse than no edit; take a higher --rung, train --to-stationarity, or --force it';
}

function describe(run: string, edit: WrittenEdit, dry: boolean): string {
  const { dir, record } = edit;
  const { removed, rung, curvature, gradient, moved, editSeconds, notes, retrained } = record;
  const ids = removed.slice(0, PRINTED).map(({ id }) => oneLine(id));
  const more = removed.length > PRINTED ? `, … ${removed.length - PRINTED} more` : '';
  const power = (x: number): string => x.toExponential(2);
  const again =
    retrained === null
      ? []
      : [
          [
            'verified',
            `parameter error ${retrained.error.toPrecision(3)} (1 without an edit), gradient there ${power(retrained.gradient)}; ${retrained.seconds.toFixed(1)} s, ${retrained.speedup.toFixed(1)} times the edit${onwardText(retrained)}`,
          ] as const,
        ];
  const facts = columns([
    ['removed', `${removed.length} pair${removed.length === 1 ? '' : 's'}: ${ids.join(', ')}${more}`],
    [
      'edit',
      `${oneLine(dir)}, ${rung} on the ${curvature === 'hessian' ? 'Hessian' : 'Gauss-Newton matrix'}, ${editSeconds.toFixed(1)} s`,
    ],
    ['moved', power(moved)],
    ['gradient', `${power(gradient.before)} → ${power(gradient.after)} of the loss without them, 0 at its minimum`],
    ...notes.map((note) => ['note', oneLine(note)] as const),
    ...again,
    ['in force', forceText(run, edit, dry)],
  ]);
  return [facts, ...measuresText(record)].join('\n\n');
}

/** Takes an edit back. */
function undo(run: string, which: string, given: ReadonlySet<string>): Outcome {
  const odd = Object.keys(REMOVE_OPTIONS).find((name) => name !== 'undo' && given.has(name));
  if (odd !== undefined) throw new UsageError(`--${odd}: nothing is removed with --undo; leave it out`);
  const { undone, now } = undoEdit(run, which);
  const rest = now === null ? 'the trained model is in force' : `${oneLine(now)} is in force`;
  return { json: { run, undone, now }, text: `${oneLine(undone)} is taken back; ${rest}`, ok: true };
}

export const remove = defineCommand({
  name: 'remove',
  summary: 'take pairs out of a trained model without training again, or take such an edit back',
  example: "ecif remove run --where 'lowest 5%' --validation held-out.csv",
  options: REMOVE_OPTIONS,
  operands: { label: 'RUN', help: 'folder of a finished ecif train', least: 1, most: 1 },
  run: async (values, context) => {
    const { operands, given, progress } = context;
    const [folder] = operands;
    if (values.undo !== undefined) return undo(folder, values.undo, given);
    requireSolverUse(values, given);
    if (given.has('tolerance') && values.validation === undefined)
      throw new UsageError(
        '--tolerance: of the predicted change, for which --validation is asked; or give --edit-tolerance',
      );
    return onDevice(context, async (device) => {
      const edit = await runRemoval(folder, values, device, progress);
      const { dir, inForce, record } = edit;
      return { json: { dir, inForce, ...record }, text: describe(folder, edit, values['dry-run']), ok: true };
    });
  },
});

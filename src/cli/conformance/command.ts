// ecif conformance: reference files made by other programs, every quantity computed here and compared.

import { oneLine } from '../../array/messages.ts';
import type { Comparison } from '../../ecif/conformance.ts';
import { defineCommand } from '../command.ts';
import { checkReference } from './kinds.ts';
import { withDevice } from '../devices.ts';

/** What one file gave. */
interface FileResult {
  readonly file: string;
  readonly comparisons: readonly Comparison[];
}

function describe({ file, comparisons }: FileResult): string {
  const width = Math.max(...comparisons.map((c) => c.quantity.length));
  const lines = comparisons.map(({ quantity, error, tolerance, pass }) => {
    const limit = tolerance === null ? 'not judged' : `≤ ${tolerance.toExponential(0)}`;
    return `  ${pass ? 'pass' : 'FAIL'}  ${oneLine(quantity).padEnd(width)}  ${error.toExponential(1).padStart(8)}  ${limit}`;
  });
  return [oneLine(file), ...lines].join('\n');
}

export const conformance = defineCommand({
  name: 'conformance',
  summary: 'check reference files: every quantity, largest error, tolerance, pass or fail',
  example: 'ecif conformance proofs-tests/vectors/convex-1.json --device cpu',
  options: {
    vocabulary: { kind: 'text', help: "CLIP's vocabulary, for references of kind tokenizer", label: 'FILE' },
  },
  operands: {
    label: 'PATH…',
    help: 'files of kind convex, or folders with a vectors.json of kind clip, tokenizer or preprocess',
    least: 1,
    most: Infinity,
  },
  run: ({ vocabulary }, { device, operands, progress }) =>
    withDevice(device, async (opened) => {
      const results: FileResult[] = [];
      for (const path of operands) {
        progress.line(`${oneLine(path)} on ${opened.name}`);
        results.push({ file: path, comparisons: await checkReference(path, { device: opened, vocabulary }) });
      }
      const all = results.flatMap((r) => r.comparisons);
      const failed = all.filter((c) => !c.pass);
      const files = `${results.length} file${results.length === 1 ? '' : 's'}`;
      const closing = `${all.length - failed.length} of ${all.length} quantities pass in ${files} on ${opened.name}`;
      return {
        json: { device: opened.name, passed: all.length - failed.length, failed: failed.length, files: results },
        text: [...results.map(describe), closing].join('\n'),
        ok: failed.length === 0,
      };
    }),
});

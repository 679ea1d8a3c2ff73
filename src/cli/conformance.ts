// ecif conformance: reference files made by other programs, every quantity computed here and compared.

import { EcifError } from '../array/errors.ts';
import type { Device } from '../device/open.ts';
import { compareQuantities, type Comparison, convexQuantities, type Quantities } from '../ecif/conformance.ts';
import { parseConvex } from '../ecif/convex-file.ts';
import { defineCommand } from './command.ts';
import { withDevice } from './devices.ts';
import { readText } from './files.ts';
import { printable } from './format.ts';

/** What one file gave. */
interface FileResult {
  readonly file: string;
  readonly comparisons: readonly Comparison[];
}

/** 1e-8 in float64 and 1e-3 in float32; the published form is ill-scaled: 1e-6, and not judged in float32. */
function toleranceOf(device: Device): (quantity: string) => number | null {
  return (quantity) => {
    const published = quantity.endsWith('.published');
    if (device.kind === 'cpu') return published ? 1e-6 : 1e-8;
    return published ? null : 1e-3;
  };
}

async function checkFile(path: string, device: Device): Promise<FileResult> {
  const { problem, json } = parseConvex(path, readText(path));
  if (typeof json.expected !== 'object' || json.expected === null) {
    throw new EcifError(`${path}: expected: found nothing; give the reference values`);
  }
  const actual = await convexQuantities(problem, device);
  return { file: path, comparisons: compareQuantities(actual, json.expected as Quantities, toleranceOf(device)) };
}

function describe({ file, comparisons }: FileResult): string {
  const width = Math.max(...comparisons.map((c) => c.quantity.length));
  const lines = comparisons.map(({ quantity, error, tolerance, pass }) => {
    const limit = tolerance === null ? 'not judged' : `≤ ${tolerance.toExponential(0)}`;
    return `  ${pass ? 'pass' : 'FAIL'}  ${printable(quantity).padEnd(width)}  ${error.toExponential(1).padStart(8)}  ${limit}`;
  });
  return [printable(file), ...lines].join('\n');
}

export const conformance = defineCommand({
  name: 'conformance',
  summary: 'check reference files: every quantity, largest error, tolerance, pass or fail',
  example: 'ecif conformance proofs-tests/vectors/convex-1.json --device cpu',
  options: {},
  operands: { label: 'PATH…', help: 'reference files of kind convex', least: 1, most: Infinity },
  run: (_values, { device, operands, progress }) =>
    withDevice(device, async (opened) => {
      const results: FileResult[] = [];
      for (const path of operands) {
        progress.line(`${printable(path)} on ${opened.name}`);
        results.push(await checkFile(path, opened));
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

// ecif report: what the commands of the workflow found about a run, as one page.

import { join } from 'node:path';
import { oneLine } from '../../array/messages.ts';
import { workflowReport } from '../../report/workflow-report.ts';
import { missingOf } from '../../report/workflow-summary.ts';
import { defineCommand } from '../command.ts';
import { pageOf, requireOutput, writeText } from '../files.ts';
import { bytes, columns } from '../format.ts';
import type { Progress } from '../progress.ts';
import { openThumbnails } from './pictures.ts';
import { readFindings } from './run.ts';

/** What a page holds, and where it is. */
interface WrittenReport {
  readonly out: string;
  readonly bytes: number;
  readonly pictures: { readonly shown: number; readonly unreadable: number };
  readonly missing: ReturnType<typeof missingOf>;
}

/** Writes the page of a run. */
export async function writeReport(folder: string, out: string | undefined, progress: Progress): Promise<WrittenReport> {
  const findings = readFindings(folder);
  const path = out ?? join(folder, 'report.html');
  requireOutput(path, pageOf('report'));
  const { thumbnail, counts } = await openThumbnails(folder, findings, progress);
  const html = await workflowReport(findings, thumbnail);
  writeText(path, html);
  return { out: path, bytes: Buffer.byteLength(html), pictures: counts, missing: missingOf(findings) };
}

export const report = defineCommand({
  name: 'report',
  summary: 'suspects, traces, removals and figures of a run as one page that opens offline',
  example: 'ecif report run',
  options: { out: { kind: 'text', label: 'FILE', help: 'page to write, .html; RUN/report.html unless given' } },
  operands: { label: 'RUN', help: 'folder of ecif train, with what the other commands added', least: 1, most: 1 },
  run: async ({ out }, { operands: [folder], progress }) => {
    const json = await writeReport(folder, out, progress);
    const { shown, unreadable } = json.pictures;
    return {
      json,
      text: columns([
        ['report', `${oneLine(json.out)}, ${bytes(json.bytes)}`],
        ['pictures', `${shown}${unreadable === 0 ? '' : `, ${unreadable} could not be read`}`],
        ...json.missing.map(({ what, command }): [string, string] => ['not here', `${what}; ${command} makes them`]),
      ]),
      ok: true,
    };
  },
});

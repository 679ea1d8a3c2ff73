// ecif report: what the commands of the workflow found about a run, as one page.

import { join } from 'node:path';
import { oneLine } from '../array/messages.ts';
import { workflowReport } from '../report/workflow-report.ts';
import { missingOf } from '../report/workflow-summary.ts';
import { defineCommand } from './command.ts';
import { requireWritable, writeText } from './files.ts';
import { bytes, columns } from './format.ts';
import { openThumbnails } from './report-pictures.ts';
import { readFindings } from './report-run.ts';

export const report = defineCommand({
  name: 'report',
  summary: 'suspects, traces, removals and figures of a run as one page that opens offline',
  example: 'ecif report run',
  options: { out: { kind: 'text', label: 'FILE', help: 'page to write; RUN/report.html unless given' } },
  operands: { label: 'RUN', help: 'folder of ecif train, with what the other commands added', least: 1, most: 1 },
  run: async ({ out }, { operands: [folder], progress }) => {
    const findings = readFindings(folder);
    const path = out ?? join(folder, 'report.html');
    requireWritable(path);
    const { thumbnail, counts } = await openThumbnails(findings, progress);
    const html = await workflowReport(findings, thumbnail);
    writeText(path, html);
    const missing = missingOf(findings);
    const size = Buffer.byteLength(html);
    const pictures = `${counts.shown}${counts.unreadable === 0 ? '' : `, ${counts.unreadable} could not be read`}`;
    return {
      json: { out: path, bytes: size, pictures: counts, missing },
      text: columns([
        ['report', `${oneLine(path)}, ${bytes(size)}`],
        ['pictures', pictures],
        ...missing.map(({ what, command }): [string, string] => ['not here', `${what}; ${command} makes them`]),
      ]),
      ok: true,
    };
  },
});

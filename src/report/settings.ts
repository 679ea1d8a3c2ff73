// Every setting of every command of a run, behind a click each.

import type { Findings, Options } from './findings.ts';
import { formatSeconds } from './numbers.ts';
import { given, scrolled, type Section } from './pieces.ts';
import type { MadeBy } from './records.ts';

/** A value as it stands in JSON. */
const valueText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '–'));

function block(title: string, about: string, options: Options): string {
  const rows = Object.entries(options).map(
    ([name, value]) => `<tr><th scope="row">${given(name, 60)}</th><td>${given(valueText(value), 200)}</td></tr>`,
  );
  return `<details><summary>${title}</summary>${about}${scrolled('Settings', `<table class="list"><tbody>${rows.join('')}</tbody></table>`)}</details>`;
}

/** One command by its record. */
const made = (title: string, { options, device, version, seconds }: MadeBy): string =>
  block(
    title,
    `<p class="minor">${given(device)}, version ${given(version, 40)}, ${formatSeconds(seconds)}</p>`,
    options,
  );

/** The settings of all commands. */
export function settingsSection({ run, scores, detect, trace, removals }: Findings): Section {
  const blocks = [
    block('Training', `<p class="minor">${given(run.device)}; pairs ${given(run.dataset.sha256, 80)}</p>`, run.options),
    ...(scores === null
      ? []
      : [
          block(
            'Scores',
            `<p class="minor">${given(scores.device)}, version ${given(scores.version, 40)}</p>`,
            scores.options,
          ),
        ]),
    ...(detect === null ? [] : [made('Detection', detect)]),
    ...(trace === null ? [] : [made('Trace', trace)]),
    ...removals.map(({ name, record }) => made(`Removal ${given(name, 60)}`, record)),
  ];
  return { id: 'settings', title: 'Settings', html: `<div class="settings">${blocks.join('\n')}</div>` };
}

// The shell of a report: one page that holds everything it needs, and the escaping of what it is made of.

import { STYLE } from './style.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Text as it may stand in an element or in a quoted attribute; control characters, those that turn the direction of
 * writing among them, become a replacement mark.
 * @example escapeHtml('a < b'); // 'a &lt; b'
 */
export const escapeHtml = (text: string): string =>
  text
    .replace(/[&<>"']/g, (c) => ENTITIES[c])
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');

/** Text as the name of an anchor: letters, digits, dots and hyphens. */
export const slug = (text: string): string => text.replace(/[^A-Za-z0-9._-]+/g, '-') || '-';

/** A script of the page itself, with the hash by which the page allows it. */
export interface PageScript {
  readonly text: string;
  /** SHA-256 in base64. */
  readonly hash: string;
}

/** A script that a page may run. */
export async function pageScript(text: string): Promise<PageScript> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return { text, hash: btoa(String.fromCharCode(...new Uint8Array(digest))) };
}

/** What a page is made of. */
export interface Page {
  /** Plain text. */
  readonly title: string;
  /** HTML, escaped where it was made. */
  readonly body: string;
  /** Rules beyond those of every report. */
  readonly style?: string;
  /** The one script that runs. */
  readonly script?: PageScript;
}

// Nothing is loaded and no script but the page's own runs, whatever the text of the page says.
const policy = (script?: PageScript): string =>
  `default-src 'none'; ${script === undefined ? '' : `script-src 'sha256-${script.hash}'; `}style-src 'unsafe-inline'; img-src data:`;

/** A whole document. */
export const page = ({ title, body, style = '', script }: Page): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy(script))}">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}${style}</style>
</head>
<body>
${body}
${script === undefined ? '' : `<script>${script.text}</script>\n`}</body>
</html>
`;

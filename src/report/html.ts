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
 * Text as it may stand in an element or in a quoted attribute; control characters become a replacement mark.
 * @example escapeHtml('a < b'); // 'a &lt; b'
 */
export const escapeHtml = (text: string): string =>
  text
    .replace(/[&<>"']/g, (c) => ENTITIES[c])
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '\ufffd');

/** Text as the name of an anchor: letters, digits, dots and hyphens. */
export const slug = (text: string): string => text.replace(/[^A-Za-z0-9._-]+/g, '-') || '-';

/** What a page is made of. */
export interface Page {
  /** Plain text. */
  readonly title: string;
  /** HTML, escaped where it was made. */
  readonly body: string;
}

// Nothing is loaded and no script runs, whatever the text of the page says.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** A whole document. */
export const page = ({ title, body }: Page): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(POLICY)}">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;

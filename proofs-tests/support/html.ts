// Checks of the HTML that reports are made of.

const VOID = new Set(['meta', 'link', 'col', 'br', 'path', 'circle', 'img']);

/** What is wrong with the nesting of tags. */
export function unbalanced(html: string): string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  const body = html.replace(/<(style|script)>[\s\S]*?<\/\1>/g, '').replace('<!doctype html>', '');
  for (const [tag, close, name, , self] of body.matchAll(
    /<(\/?)([a-z][a-z0-9]*)((?:\s+[\w-]+="[^"<>]*")*)\s*(\/?)>/g,
  )) {
    if (close === '/') {
      if (open.pop() !== name) wrong.push(tag);
    } else if (self !== '/' && !VOID.has(name)) open.push(name);
  }
  const left = body.replace(/<\/?[a-z][a-z0-9]*(?:\s+[\w-]+="[^"<>]*")*\s*\/?>/g, '');
  return [...wrong, ...open, ...(left.match(/[<>]/g) ?? [])];
}

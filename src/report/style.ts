// The style sheet of a report: light and dark, wide and narrow, on screen and on paper.

const LIGHT = `
  --paper: #fdfdfb; --raised: #ffffff; --ink: #1d2127; --soft: #59616c; --rule: #dfe2e6; --faint: #edeff1;
  --link: #0b5cad; --mark: #fff6d6;
  --good: #14663a; --good-back: #e2f3e8; --part: #7a4b00; --part-back: #fdf0d5; --bad: #9c1c1c; --bad-back: #fbe6e4;
  --c-ink: #22262c; --c-blue: #0072b2; --c-red: #d1495b; --c-green: #00815d; --c-gold: #b07d00; --c-purple: #7b3294;
  --c-sky: #2f9fd8; --c-pink: #c2539d; --c-grey: #868d97; --c-brown: #8c564b;`;

const DARK = `
  --paper: #14171b; --raised: #1b1f24; --ink: #e6e8eb; --soft: #a2abb6; --rule: #343a42; --faint: #252a31;
  --link: #7cb7f2; --mark: #3a3314;
  --good: #7fd8a2; --good-back: #14301f; --part: #f0c36a; --part-back: #3b2d0f; --bad: #ff9d95; --bad-back: #43201f;
  --c-ink: #eceef1; --c-blue: #58a9e6; --c-red: #ff7a85; --c-green: #35c795; --c-gold: #e5b53c; --c-purple: #bd8be0;
  --c-sky: #86d3ff; --c-pink: #f08fcb; --c-grey: #8b939e; --c-brown: #cf9a8c;`;

const PAGE = `
*, *::before, *::after { box-sizing: border-box; }
html { scroll-padding-top: 3.2rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
main, header, footer { max-width: 76rem; margin: 0 auto; padding: 0 clamp(1rem, 4vw, 2.5rem); }
header { padding-top: clamp(2rem, 6vw, 4rem); }
h1, h2 { font-family: Charter, "Iowan Old Style", "Palatino Linotype", Palatino, Georgia, "Noto Serif", "DejaVu Serif", serif;
  font-weight: 600; line-height: 1.2; letter-spacing: -.01em; text-wrap: balance; }
h1 { font-size: clamp(1.9rem, 4.5vw, 2.8rem); margin: .2rem 0 1rem; }
h2 { font-size: 1.6rem; margin: 3.5rem 0 1rem; }
h3 { font-size: 1.05rem; line-height: 1.35; margin: 0 0 .6rem; }
p { margin: 0 0 .8rem; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: .15em; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875em; }
pre code { font-size: inherit; }
pre { margin: 0; padding: .7rem .9rem; background: var(--faint); border-radius: 6px; overflow-x: auto; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.eyebrow { margin: 0; color: var(--soft); font-size: .85rem; letter-spacing: .08em; text-transform: uppercase; }
.lead { font-size: 1.15rem; max-width: 46rem; }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .35rem 1.4rem; margin: 1.6rem 0;
  max-width: 52rem; font-size: .95rem; align-items: baseline; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.counts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 12.5rem), 1fr)); gap: 1rem;
  list-style: none; margin: 2rem 0 0; padding: 0; }
.counts li { padding: 1rem 1.2rem; background: var(--raised); border: 1px solid var(--rule); border-radius: 10px; }
.counts strong { display: block; font-size: 2rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.reading { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); gap: .4rem 2.5rem;
  margin: 0; font-size: .95rem; }
.reading dt { margin-top: .4rem; font-weight: 600; }
.reading dd { margin: .25rem 0 0; color: var(--soft); }
footer { padding-top: 2rem; padding-bottom: 3rem; color: var(--soft); font-size: .9rem; }`;

const TABLE = `
.claims { width: 100%; table-layout: fixed; border-collapse: separate; border-spacing: 0; font-size: .93rem; line-height: 1.5; }
.claims col.id { width: 19%; } .claims col.verdict { width: 12rem; } .claims col.error { width: 9.5%; } .claims col.count { width: 8.5%; }
.claims thead th { position: sticky; top: 0; z-index: 1; padding: .6rem .7rem; background: var(--paper); color: var(--soft);
  border-bottom: 2px solid var(--rule); font-size: .82rem; font-weight: 600; line-height: 1.3; text-align: left; vertical-align: bottom; }
.claims td { padding: .85rem .7rem; border-bottom: 1px solid var(--rule); vertical-align: top; overflow-wrap: anywhere; }
.claims tbody tr:target td { background: var(--mark); }
.claims .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.claims thead .number { white-space: normal; }
.claims a.anchor { font-weight: 600; text-decoration: none; }
.claims a.anchor:hover { text-decoration: underline; }
.claims p { margin: 0; }
.claims p + p, .claims details { margin-top: .45rem; }
.minor { color: var(--soft); font-size: .88em; }
.over { color: var(--bad); }
.instead { padding-left: .8rem; border-left: 3px solid var(--rule); }
.badge { display: inline-block; padding: .12rem .6rem; border-radius: 1rem; font-size: .85rem; font-weight: 600; white-space: nowrap; }
.badge.good { color: var(--good); background: var(--good-back); }
.badge.part { color: var(--part); background: var(--part-back); }
.badge.bad { color: var(--bad); background: var(--bad-back); }
.surprise { margin-top: .45rem; color: var(--bad); font-weight: 600; font-size: .88em; }
summary { cursor: pointer; color: var(--link); font-size: .88em; width: fit-content; }
details[open] > summary { margin-bottom: .35rem; }
@media screen and (max-width: 55rem) {
  .claims, .claims tbody, .claims tr, .claims td { display: block; width: auto; }
  .claims colgroup, .claims thead { display: none; }
  .claims tr { padding: 1rem 0; border-bottom: 1px solid var(--rule); }
  .claims td { padding: .2rem 0; border: 0; }
  .claims .number { display: inline-block; margin-right: 1.2rem; text-align: left; }
  .claims .number::before { content: attr(data-label) ": "; color: var(--soft); }
}`;

const FIGURES = `
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 3rem 3rem; align-items: start; }
figure { margin: 0; min-width: 0; break-inside: avoid; }
figcaption { margin-top: .8rem; color: var(--soft); font-size: .92rem; line-height: 1.55; }
.plot { display: block; width: 100%; height: auto; overflow: visible; }
.plot text { fill: var(--soft); font-size: 13.5px; font-family: inherit; font-variant-numeric: tabular-nums; }
.plot .label { fill: var(--ink); font-size: 14.5px; }
.plot .grid { stroke: var(--faint); stroke-width: 1; fill: none; }
.plot .axis { stroke: var(--c-grey); stroke-width: 1; fill: none; }
.diagonal { stroke: var(--c-grey); stroke-width: 1.4; stroke-dasharray: 3 4; fill: none; }
.line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
.marks { fill: currentColor; stroke: var(--paper); stroke-width: .8; }
.marks.cross, .marks.plus, .marks.bar, .marks.star { fill: none; stroke: currentColor; stroke-width: 2; }
.band { fill: currentColor; fill-opacity: .14; stroke: none; }
.points .marks { fill-opacity: .78; }
.legend { display: flex; flex-wrap: wrap; gap: .15rem 1.2rem; margin: .5rem 0 0; padding: 0; list-style: none; font-size: .88rem; }
.legend li { display: inline-flex; align-items: center; gap: .45rem; overflow-wrap: anywhere; }
.legend svg { flex: none; }
.legend li { color: var(--ink); }
.c-ink svg, .series.c-ink { color: var(--c-ink); } .c-blue svg, .series.c-blue { color: var(--c-blue); }
.c-red svg, .series.c-red { color: var(--c-red); } .c-green svg, .series.c-green { color: var(--c-green); }
.c-gold svg, .series.c-gold { color: var(--c-gold); } .c-purple svg, .series.c-purple { color: var(--c-purple); }
.c-sky svg, .series.c-sky { color: var(--c-sky); } .c-pink svg, .series.c-pink { color: var(--c-pink); }
.c-grey svg, .series.c-grey { color: var(--c-grey); } .c-brown svg, .series.c-brown { color: var(--c-brown); }
.numbers { overflow-x: auto; }
.numbers table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
.numbers th, .numbers td { padding: .2rem .7rem .2rem 0; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--faint); }
.numbers th:first-child { text-align: left; font-weight: 500; }
@media (min-width: 70rem) {
  .figures figure:last-child:nth-child(odd) { display: grid; grid-column: 1 / -1; grid-template: auto auto 1fr / 8fr 5fr; column-gap: 3rem; }
  .figures figure:last-child:nth-child(odd) h3 { grid-column: 1 / -1; }
  .figures figure:last-child:nth-child(odd) .plot { grid-row: 2 / 4; }
}
@media screen and (max-width: 36rem) {
  .plot text { font-size: 19px; } .plot .label { font-size: 20px; }
  .line { stroke-width: 2.6; }
}`;

const PRINT = `
@media print {
  html { font-size: 9pt; }
  main, header, footer { max-width: none; padding-left: 0; padding-right: 0; }
  h2 { break-after: avoid; margin-top: 2rem; }
  .claims tr, .counts li { break-inside: avoid; }
  .claims thead th { position: static; }
  .figures { grid-template-columns: 1fr 1fr; gap: 1.5rem; }
  .badge { border: 1px solid currentColor; }
}`;

/** The whole style sheet. */
export const STYLE = [
  `:root { color-scheme: light dark;${LIGHT} }`,
  `@media screen and (prefers-color-scheme: dark) { :root {${DARK} } }`,
  PAGE,
  TABLE,
  FIGURES,
  PRINT,
].join('\n');

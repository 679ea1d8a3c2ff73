// What the report of a run adds to the style sheet of every report: cards, panels, bars, maps, tables that scroll.

const FRAME = `
.skip { position: absolute; left: -100vw; top: 0; padding: .6rem 1rem; background: var(--paper); color: var(--link); z-index: 3; }
.skip:focus { left: 0; }
main:focus { outline: none; }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); }
.sections { position: sticky; top: 0; z-index: 2; background: var(--paper); border-bottom: 1px solid var(--rule); margin-top: 1.5rem; }
.sections ul { display: flex; gap: 1.6rem; max-width: 76rem; margin: 0 auto; padding: .7rem clamp(1rem, 4vw, 2.5rem); list-style: none;
  overflow-x: auto; white-space: nowrap; font-size: .93rem; scrollbar-width: thin; }
.sections a { text-decoration: none; }
.sections a:hover { text-decoration: underline; }
.sections a:focus-visible { outline-offset: 4px; }
h1 bdi { overflow-wrap: anywhere; }
h4 { margin: 0 0 .4rem; font-size: .82rem; font-weight: 600; color: var(--soft); }
.counts { grid-template-columns: repeat(auto-fit, minmax(min(100%, 8.6rem), 1fr)); margin-top: 1rem; gap: .8rem; }
.counts strong { font-size: 1.7rem; }
.counts li { padding: .8rem 1rem; font-size: .9rem; line-height: 1.45; }
.intro { max-width: 52rem; }
.missing { margin: 1.5rem 0 0; padding: .8rem 1.2rem; list-style: none; border-left: 3px solid var(--rule); color: var(--soft); font-size: .93rem; }
q { quotes: "“" "”"; overflow-wrap: anywhere; }
bdi { overflow-wrap: anywhere; }
.id { overflow-wrap: anywhere; }
.good { color: var(--good); }
.badge.plain { color: var(--soft); background: var(--faint); }
.badges { display: flex; flex-wrap: wrap; gap: .35rem; margin: .45rem 0 0; }
.outcome { margin: 1rem 0 0; padding: .7rem 1rem; background: var(--faint); border-radius: 8px; font-size: .95rem; }
.facts pre { white-space: pre; }
@media screen and (max-width: 36rem) { .facts { grid-template-columns: minmax(0, 1fr); gap: 0; } .facts dd { margin-bottom: .7rem; } }`;

const PAIRS = `
.thumb { display: block; flex: none; width: 96px; height: 96px; object-fit: contain; background: #fff; border: 1px solid var(--rule); border-radius: 8px; }
.thumb.small { width: 40px; height: 40px; border-radius: 5px; }
.thumb.none { display: grid; place-items: center; padding: 4px; overflow: hidden; background: var(--faint); color: var(--soft);
  border-style: dashed; font-size: .66rem; line-height: 1.2; text-align: center; overflow-wrap: anywhere; }
.thumb.small.none { font-size: .5rem; padding: 1px; }
.thumb.none > span { max-height: 100%; overflow: hidden; }
.pair { display: inline-flex; gap: .6rem; align-items: center; min-width: 0; }
.pair > span { min-width: 0; }
.bar { display: inline-block; flex: 1 1 3rem; min-width: 3rem; height: .55rem; border-radius: .3rem; background: var(--faint); overflow: hidden; }
.bar > span { display: block; height: 100%; min-width: 1px; background: var(--c-grey); border-radius: inherit; }
.bar.bad > span { background: var(--c-red); } .bar.good > span { background: var(--c-blue); }
.measured { display: flex; align-items: center; gap: .6rem; font-variant-numeric: tabular-nums; font-size: .88rem; white-space: nowrap; }
.measured > span:last-child { min-width: 3.6rem; text-align: right; }
.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.top { display: flex; gap: 1rem; }
.top > div { min-width: 0; flex: 1; }
.top h3 { margin: 0; font-weight: 600; }
.top p { margin: .15rem 0 0; }
.mini { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .3rem .8rem; margin: 0; font-size: .88rem; }
.mini dt { color: var(--soft); font-size: .78rem; }
.mini dd { margin: 0; font-variant-numeric: tabular-nums; font-weight: 600; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 1.2rem; align-items: start; }
.card, .panel, .removal { background: var(--raised); border: 1px solid var(--rule); border-radius: 12px; padding: 1.1rem 1.2rem; min-width: 0; break-inside: avoid; }
.card { display: grid; gap: .9rem; grid-template-columns: minmax(0, 1fr); }
.chance { margin: 0; }
.chance > .minor { display: block; font-size: .78rem; }
.rivals, .sources, .predictions, .removed { margin: 0; padding: 0; list-style: none; display: grid; grid-template-columns: minmax(0, 1fr); gap: .55rem; font-size: .9rem; line-height: 1.4; }
.rivals li { display: grid; grid-template-columns: minmax(0, 1fr) 7.5rem; gap: 0 .8rem; align-items: center; }
.rivals li > .minor { grid-column: 2; text-align: right; font-size: .76rem; }
.rivals li > :first-child { grid-row: 1 / 3; }
.rivals .bar { min-width: 1.5rem; flex-basis: 1.5rem; }
.swaps { margin: 0; display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .4rem .8rem; font-size: .9rem; line-height: 1.4; align-items: center; }
.swaps dt { color: var(--soft); font-size: .82rem; }
.swaps dd { margin: 0; display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: .2rem .8rem; }
.table-title { margin: 2.2rem 0 .6rem; }`;

const PANELS = `
.panel { display: grid; grid-template-columns: minmax(0, 17rem) minmax(0, 1fr); gap: 1.2rem 2rem; margin-bottom: 1.2rem; }
.panel > .outcome { grid-column: 1 / -1; margin: 0; }
.query { display: grid; gap: .8rem; align-content: start; grid-template-columns: minmax(0, 1fr); }
.behind { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1.2rem 2rem; }
.query h4 { margin: 0; }
.predictions li.right { font-weight: 600; }
.sources li { padding-bottom: .55rem; border-bottom: 1px solid var(--faint); }
.sources li:last-child { border: 0; }
.sources .pair { display: flex; }
.removal { margin-bottom: 1.2rem; }
.removal > details { margin-top: .8rem; }
.removed { grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); }
.settings details { padding: .5rem 0; border-bottom: 1px solid var(--rule); }
.settings summary { font-size: 1rem; }
@media screen and (max-width: 48rem) { .panel { grid-template-columns: minmax(0, 1fr); } }`;

const LISTS = `
/* Shades at the sides that the content covers at its ends: there is more where one shows. */
.scroll { --cover: var(--paper); --shade: color-mix(in srgb, var(--c-grey) 60%, transparent); overflow-x: auto; max-width: 100%;
  background: linear-gradient(to right, var(--cover) 40%, transparent) left / 3rem 100% no-repeat local,
    linear-gradient(to left, var(--cover) 40%, transparent) right / 3rem 100% no-repeat local,
    linear-gradient(to right, var(--shade), transparent) left / .9rem 100% no-repeat scroll,
    linear-gradient(to left, var(--shade), transparent) right / .9rem 100% no-repeat scroll; }
.removal .scroll { --cover: var(--raised); }
.scroll + .figures { margin-top: 2.2rem; }
.card details > div + div { margin-top: .9rem; }
.list { border-collapse: collapse; font-size: .9rem; line-height: 1.4; font-variant-numeric: tabular-nums; }
.list caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.list th, .list td { padding: .45rem .8rem .45rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: middle; }
.list thead th, .list thead td { color: var(--soft); font-size: .82rem; font-weight: 600; vertical-align: bottom; border-bottom-width: 2px; }
.list tbody th { font-weight: 500; }
.list .number { text-align: right; }
.list bdi { overflow-wrap: break-word; }
.list td .pair { width: 16rem; display: flex; }
.measures { min-width: 32rem; width: 100%; max-width: 52rem; }
.sortable button { all: unset; cursor: pointer; color: var(--link); border-radius: 3px; white-space: nowrap; }
.sortable button:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.sortable button::after { content: "↕"; margin-left: .3em; opacity: .45; }
.sortable [aria-sort] button::after { opacity: 1; }
.sortable [aria-sort=ascending] button::after { content: "↑"; }
.sortable [aria-sort=descending] button::after { content: "↓"; }`;

const MAPS = `
.heat { max-width: 52rem; margin: 0 auto; }
.heat text { font-size: inherit; }
.heat > text { font-size: 12.5px; }
.heat .label { font-size: 13px; }
.heat .suspect { fill: var(--c-red); font-weight: 600; }
.heat .side { fill: var(--c-grey); }
.heat .side.suspect { fill: var(--c-red); }
.heat .outline { fill: none; stroke: var(--c-red); stroke-width: 2.2; }
.heat .halo { fill: none; stroke: var(--paper); stroke-width: 4.5; }
.bars.all { fill: var(--c-grey); fill-opacity: .55; }
.bars.swapped { fill: var(--c-red); }
.cutoff { stroke: var(--ink); stroke-width: 1.6; stroke-dasharray: 6 4; fill: none; }
@media screen and (max-width: 36rem) { .heat { width: 36rem; max-width: none; } .heat text { font-size: inherit; } .heat > text, .heat .label { font-size: 13px; } }`;

const PRINT = `
@media print {
  .sections, .skip { display: none; }
  .cards { grid-template-columns: 1fr 1fr; }
  .scroll { overflow: visible; background: none; }
  .sortable button::after { content: none; }
  .bar > span, .bar, .thumb { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .list { font-size: .8rem; }
}`;

/** Rules beyond those of every report. */
export const WORKFLOW_STYLE = [FRAME, PAIRS, PANELS, LISTS, MAPS, PRINT].join('\n');

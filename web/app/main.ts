// The page: finds the figures of the article, mounts each when it comes near, and keeps state and address together.

import { FIGURES } from '../figures/index.ts';
import type { DeviceChoice } from '../maths/protocol.ts';
import { button, choice } from './controls.ts';
import { h } from './dom.ts';
import { Engine } from './engine.ts';
import type { Figure, Mounted } from './figure.ts';
import { changed, hashOf, PAGE, type State, stateOf, tableOf } from './state.ts';
import { tidy } from './params.ts';
import { Steps } from './steps.ts';

const table = tableOf(FIGURES);
const engines: Engine[] = [];

/** A worker with its engine. */
function startEngine(): Engine {
  const engine = new Engine(new Worker(new URL('worker.js', document.baseURI), { type: 'module' }));
  engines.push(engine);
  return engine;
}

const shared = startEngine();
const mounted = new Map<string, Mounted<Figure['params']>>();
let state: State = stateOf(table, location.hash);

const devices = choice<DeviceChoice>(
  'Compute on',
  { auto: 'what suits each figure', cpu: 'the CPU, in float64', webgpu: 'WebGPU, in float32' },
  (device) => apply(changed(table, state, '', { device }), 'push'),
);

const valuesOf = (name: string): Figure['params'] => state.get(name) as never;
const page = (): { device: DeviceChoice; at: string } => valuesOf('') as never;

/** How the address follows: a step of the history, the last one changed, or not at all since it came from there. */
type Follow = 'push' | 'replace' | 'none';

/** The address of a state, here or on the page of one figure. */
const addressOf = (of: State, path = `${location.pathname}${location.search}`): string => `${path}${hashOf(table, of)}`;

/** Shows a state, in the figures whose values differ. */
function apply(next: State, follow: Follow): void {
  const before = state;
  const other = (name: string): boolean => JSON.stringify(before.get(name)) !== JSON.stringify(next.get(name));
  const moved = page().device !== (next.get('') as unknown as { device: string }).device;
  state = next;
  engines.forEach((engine) => engine.choose(page().device));
  devices.set(page().device);
  const same = location.hash === hashOf(table, state);
  if (follow === 'push' && !same) history.pushState(null, '', addressOf(state));
  if (follow === 'replace') history.replaceState(null, '', addressOf(state));
  for (const [name, figure] of mounted) {
    if (moved || other(name)) figure.set(valuesOf(name) as never);
  }
  links.forEach((update) => update());
}

const links: (() => void)[] = [];

/** What stands below every figure: back to the start, and its own page. */
function tools({ name, params, title }: Figure, alone: boolean): HTMLElement {
  const reset = button('Reset', () => apply(changed(table, state, name, tidy(params, {})), 'push'));
  reset.setAttribute('aria-label', `Reset: ${title}`);
  const link = h('a', { target: alone ? '_top' : null }, alone ? 'The whole article' : 'This figure alone');
  const follow = (): void => {
    const other = alone ? 'index.html' : `figure.html?figure=${name}`;
    link.setAttribute('href', addressOf(changed(table, state, '', { at: alone ? name : '' }), other));
  };
  links.push(follow);
  follow();
  return h('p', { class: 'tools' }, reset, link);
}

/** Mounts a figure in its place. */
function mount(place: HTMLElement, figure: Figure, alone: boolean): void {
  const { name } = figure;
  if (mounted.has(name)) return;
  const steps = new Steps();
  const engine = figure.long === true ? startEngine() : shared;
  engine.choose(page().device);
  const host = {
    engine,
    change: (patch: Readonly<Record<string, unknown>>, done = true): void => {
      const here = alone ? state : changed(table, state, '', { at: name });
      apply(changed(table, here, name, patch), steps.follow(Object.keys(patch), done));
    },
  };
  const stage = h('div', { class: 'stage' });
  place.replaceChildren(stage, tools(figure, alone));
  mounted.set(name, figure.mount(stage, valuesOf(name) as never, host));
  place.dataset.mounted = '';
}

/** What ends being led: the reader moves. */
const MOVES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;
/** Milliseconds after which figures above a chapter have grown to their size. */
const GROWING = 8000;
let release = (): void => undefined;

/** Leads to the chapter that the address names, and stays there while figures grow, until the reader moves. */
function lead(): void {
  release();
  const target = document.getElementById(page().at);
  const main = document.querySelector('main');
  if (page().at === '' || target === null || main === null) return;
  const go = (): void => target.scrollIntoView({ behavior: 'instant' });
  const growth = new ResizeObserver(go);
  const timer = setTimeout(() => release(), GROWING);
  release = () => {
    clearTimeout(timer);
    growth.disconnect();
    MOVES.forEach((kind) => removeEventListener(kind, release));
  };
  MOVES.forEach((kind) => addEventListener(kind, release, { passive: true }));
  growth.observe(main);
  go();
}

function start(): void {
  document.getElementById('devices')?.append(devices.el);
  apply(state, 'none');
  const alone = new URLSearchParams(location.search).get('figure');
  const places = [...document.querySelectorAll<HTMLElement>('[data-figure]')];
  const figureOf = (place: HTMLElement): Figure | undefined =>
    FIGURES.find(({ name }) => name === (place.dataset.figure || alone));
  const near = new IntersectionObserver(
    (entries) =>
      entries.forEach(({ target, isIntersecting }) => {
        const figure = figureOf(target as HTMLElement);
        if (!isIntersecting || figure === undefined) return;
        near.unobserve(target);
        mount(target as HTMLElement, figure, alone !== null);
      }),
    { rootMargin: '300px' },
  );
  for (const place of places) {
    const figure = figureOf(place);
    if (figure === undefined) {
      const asked =
        alone === null ? 'This page shows one figure, ?figure=NAME' : `There is no figure ${JSON.stringify(alone)}`;
      place.textContent = `${asked}; there are ${FIGURES.map(({ name }) => name).join(', ')}.`;
    } else near.observe(place);
  }
  if (alone !== null) {
    const title = FIGURES.find(({ name }) => name === alone)?.title ?? 'No such figure';
    document.title = `${title} · ecif`;
    document.getElementById('title')?.append(title);
  }
  addEventListener('popstate', () => {
    const { at } = page();
    apply(stateOf(table, location.hash), 'none');
    if (page().at !== at) lead();
  });
  document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault();
    document.getElementById('main')?.focus();
  });
  document.querySelectorAll<HTMLAnchorElement>('a[data-chapter]').forEach((link) =>
    link.addEventListener('click', (event) => {
      event.preventDefault();
      apply(changed(table, state, '', { at: link.dataset.chapter ?? PAGE.at.default }), 'push');
      lead();
      document.getElementById(page().at)?.focus({ preventScroll: true });
    }),
  );
  lead();
}

start();

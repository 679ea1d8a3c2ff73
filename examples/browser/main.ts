// The page: a picture and captions in, the captions ranked by the small CLIP out.

import { type DecodedImage, type FetchProgress, openDevice, urlFolder } from '../../src/index.ts';
import { openRanker, type Ranked, type Ranker } from '../rank.ts';
import { pixelsOf, showPicture } from './pixels.ts';

const MODEL_FILES = [
  'config.json',
  'preprocessor_config.json',
  'tokenizer_config.json',
  'vocab.json',
  'merges.txt',
  'model.safetensors',
];
const MOST_CAPTIONS = 256;
const TYPING_PAUSE = 250;

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const [status, progress, results] = [
  element('status'),
  element<HTMLProgressElement>('progress'),
  element<HTMLOListElement>('results'),
];
const [input, captionField] = [element<HTMLInputElement>('picture'), element<HTMLTextAreaElement>('captions')];
const [preview, drop] = [element<HTMLImageElement>('preview'), element('drop')];

function say(text: string, problem = false): void {
  status.textContent = text;
  status.classList.toggle('problem', problem);
}

const complain = (error: unknown): void => say(error instanceof Error ? error.message : String(error), true);

/** A text in an element of a class; the text is never read as HTML. */
function span(kind: string, text: string): HTMLSpanElement {
  const made = document.createElement('span');
  made.className = kind;
  made.textContent = text;
  return made;
}

/** One line of the ranking, its bar as long as the probability. */
function line({ caption, cosine, probability }: Ranked): HTMLLIElement {
  const item = document.createElement('li');
  item.style.setProperty('--share', String(probability));
  item.append(
    span('caption', caption),
    span('number cosine', `cosine ${cosine.toFixed(4)}`),
    span('number share', `${(100 * probability).toFixed(1)} %`),
  );
  return item;
}

/** Loads the model and shows how far it has come. */
async function openModel(): Promise<{ rank: Ranker; device: string }> {
  const onProgress = ({ file, received, total }: FetchProgress): void => {
    if (total === null) progress.removeAttribute('value');
    else progress.value = received / total;
    const text = `Loading ${file}…`;
    if (status.textContent !== text) say(text);
  };
  const device = await openDevice();
  const folder = urlFolder(new URL('model/', location.href), { files: MODEL_FILES, onProgress });
  const rank = await openRanker(folder, device);
  progress.hidden = true;
  return { rank, device: device.name };
}

const ready = openModel();
let pixels: DecodedImage | null = null;
/** Rankings asked for; only the last one is shown, and each waits for the one before. */
let asked = 0;
let last: Promise<void> = Promise.resolve();

async function showRanking(turn: number): Promise<void> {
  const { rank, device } = await ready;
  if (turn !== asked) return;
  const lines = captionField.value.split('\n').map((text) => text.trim());
  const captions = [...new Set(lines.filter((text) => text !== ''))].slice(0, MOST_CAPTIONS);
  if (pixels === null || captions.length === 0) {
    results.replaceChildren();
    say(pixels === null ? 'Choose a picture.' : 'Type a caption.');
    return;
  }
  const start = performance.now();
  const ranked = await rank(pixels, captions);
  if (turn !== asked) return;
  results.replaceChildren(...ranked.map(line));
  const count = `${ranked.length} caption${ranked.length === 1 ? '' : 's'}`;
  say(`${count} ranked in ${Math.round(performance.now() - start)} ms on ${device}.`);
}

function rankAgain(): void {
  const turn = ++asked;
  last = last.then(() => showRanking(turn)).catch(complain);
}

/** Pictures taken; what comes of an earlier one is not shown. */
let taken = 0;

async function take(file: Blob): Promise<void> {
  const turn = ++taken;
  asked++;
  pixels = null;
  results.replaceChildren();
  try {
    await showPicture(preview, file);
    if (turn !== taken) return;
    pixels = pixelsOf(preview);
    rankAgain();
  } catch (error) {
    if (turn === taken) complain(error);
  }
}

/** The picture the page begins with, unless another was quicker. */
async function takeSample(): Promise<void> {
  const response = await fetch('sample.svg');
  const sample = await response.blob();
  if (response.ok && taken === 0) await take(sample);
}

/** Takes the first of some files, if there is one. */
function takeFirst(files: FileList | null | undefined): void {
  const file = files?.item(0);
  if (file != null) void take(file);
}

input.addEventListener('change', () => takeFirst(input.files));
document.addEventListener('paste', (event) => takeFirst(event.clipboardData?.files));
element('form').addEventListener('submit', (event) => event.preventDefault());

let typing: ReturnType<typeof setTimeout> | undefined;
captionField.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(rankAgain, TYPING_PAUSE);
});

for (const kind of ['dragenter', 'dragover', 'dragleave', 'drop'] as const) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle('over', kind === 'dragenter' || kind === 'dragover');
    if (kind === 'drop') takeFirst(event.dataTransfer?.files);
  });
}

ready.then(rankAgain, (error: unknown) => {
  progress.hidden = true;
  complain(error);
});
takeSample().catch(complain);

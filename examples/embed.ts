// Ranks captions for a picture by a CLIP model: `npx tsx examples/embed.ts [FOLDER [PICTURE [CAPTION…]]]`.

import { createRequire } from 'node:module';
import { openDevice } from '../src/index.ts';
import { fileFolder, openDecoder } from '../src/node.ts';
import { openRanker } from './rank.ts';

const heart = createRequire(import.meta.url).resolve('@twemoji/svg/2764.svg');
const [path = 'models/small-clip', picture = heart, ...given] = process.argv.slice(2);
const captions = given.length > 0 ? given : ['soccer ball', 'cat face', 'red heart', 'red apple', 'tangerine'];

const device = await openDevice();
const folder = await fileFolder(path);
const rank = await openRanker(folder, device);
await folder.close();

const decode = await openDecoder(); // the package sharp; pixels decoded by anything else will do
for (const { caption, cosine, probability } of await rank(await decode(picture), captions)) {
  console.log(`${(100 * probability).toFixed(1).padStart(5)} %  cosine ${cosine.toFixed(4).padStart(7)}  ${caption}`);
}

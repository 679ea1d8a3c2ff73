// Figure of chapter 1; see the next commit.
import { defineFigure } from '../app/figure.ts';
export const batchFigure = defineFigure({
  name: 'batch',
  title: 'A contrastive batch',
  params: { t: { kind: 'number', least: 0.1, most: 3, default: 1 } },
  mount: () => ({ set: () => undefined, dispose: () => undefined }),
});

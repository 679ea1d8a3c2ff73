// Algorithm 3: the self score with 1 − cos; more in erratum-07-log-cosine.test.ts.

import { prove } from './support/proof.ts';

prove('alg-3-self-score');

// Algorithm 5: Algorithm 4 with the gradient of 1 − cos.

import { prove } from './support/proof.ts';

prove('alg-5-relative-self-score');

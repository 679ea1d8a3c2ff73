// Algorithm 4: one form in both branches; more in algorithms.test.ts.

import { prove } from './support/proof.ts';

prove('alg-4-relative-score');

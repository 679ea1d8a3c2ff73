// Algorithm 2: the sign of the paper's own Property; more in algorithms.test.ts.

import { prove } from './support/proof.ts';

prove('alg-2-task-score');

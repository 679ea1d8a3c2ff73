// Algorithm 1: the edit, on the partitions of training and with the corrected Neg; more in algorithms.test.ts.

import { prove } from './support/proof.ts';

prove('alg-1-ecif');

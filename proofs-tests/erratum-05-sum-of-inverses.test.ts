// Newton's step and ECIF's differ by the difference of the inverses, not by their sum.

import { prove } from './support/proof.ts';

prove('erratum-05-sum-of-inverses');

// The projection of LOGRA: a Kronecker product applied factor by factor.

import { prove } from './support/proof.ts';

prove('eq-logra');

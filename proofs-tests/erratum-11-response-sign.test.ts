// Removing a term moves the parameters by +H⁻¹∇ℓ.

import { prove } from './support/proof.ts';

prove('erratum-11-response-sign');

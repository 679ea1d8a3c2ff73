// θ̂ makes the gradient of the total loss zero, decay included.

import { prove } from './support/proof.ts';

prove('erratum-11-stationarity');

// Only the T2I part of Pos belongs to the T2I loss.

import { prove } from './support/proof.ts';

prove('erratum-11-one-direction');

// The savings the text claims are not those of its table.

import { prove } from './support/proof.ts';

prove('erratum-09-savings');

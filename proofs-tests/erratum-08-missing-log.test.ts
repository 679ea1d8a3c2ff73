// A −log is missing in the first display of the appendix.

import { prove } from './support/proof.ts';

prove('erratum-08-missing-log');

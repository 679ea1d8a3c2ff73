// The paragraph on CIFAR-100 does not quote its table.

import { prove } from './support/proof.ts';

prove('erratum-09-quoted-table');

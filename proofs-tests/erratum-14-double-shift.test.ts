import { prove } from './support/proof.ts';

prove('erratum-14-double-shift');

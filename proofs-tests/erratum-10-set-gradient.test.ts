import { prove } from './support/proof.ts';

prove('erratum-10-set-gradient');

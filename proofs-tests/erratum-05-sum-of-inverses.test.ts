import { prove } from './support/proof.ts';

prove('erratum-05-sum-of-inverses');

import { prove } from './support/proof.ts';

prove('erratum-08-taylor-point');

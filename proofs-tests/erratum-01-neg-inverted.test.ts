import { prove } from './support/proof.ts';

prove('erratum-01-neg-inverted');

import { prove } from './support/proof.ts';

prove('erratum-03-signs');

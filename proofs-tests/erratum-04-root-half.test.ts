import { prove } from './support/proof.ts';

prove('erratum-04-root-half');

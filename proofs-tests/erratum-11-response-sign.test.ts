import { prove } from './support/proof.ts';

prove('erratum-11-response-sign');

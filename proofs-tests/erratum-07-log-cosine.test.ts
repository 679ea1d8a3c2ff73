import { prove } from './support/proof.ts';

prove('erratum-07-log-cosine');

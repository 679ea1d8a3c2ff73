import { prove } from './support/proof.ts';

prove('erratum-12-no-minimiser');

import { prove } from './support/proof.ts';

prove('erratum-05-decay-twice');

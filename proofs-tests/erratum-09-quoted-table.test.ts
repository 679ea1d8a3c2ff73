import { prove } from './support/proof.ts';

prove('erratum-09-quoted-table');

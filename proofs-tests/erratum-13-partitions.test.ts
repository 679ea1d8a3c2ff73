import { prove } from './support/proof.ts';

prove('erratum-13-partitions');

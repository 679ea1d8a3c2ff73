import { prove } from './support/proof.ts';

prove('erratum-02-image-side');

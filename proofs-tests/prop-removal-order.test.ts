import { prove } from './support/proof.ts';

prove('prop-removal-order');

import { prove } from './support/proof.ts';

prove('prop-positive-if');

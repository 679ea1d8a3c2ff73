import { prove } from './support/proof.ts';

prove('prop-negative-if');

import { prove } from './support/proof.ts';

prove('prop-relative-score');

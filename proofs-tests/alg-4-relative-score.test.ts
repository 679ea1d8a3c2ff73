import { prove } from './support/proof.ts';

prove('alg-4-relative-score');

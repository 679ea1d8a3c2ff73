import { prove } from './support/proof.ts';

prove('alg-3-self-score');

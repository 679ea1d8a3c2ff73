import { prove } from './support/proof.ts';

prove('alg-5-relative-self-score');

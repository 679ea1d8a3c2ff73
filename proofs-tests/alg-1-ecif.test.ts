import { prove } from './support/proof.ts';

prove('alg-1-ecif');

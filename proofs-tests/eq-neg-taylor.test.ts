import { prove } from './support/proof.ts';

prove('eq-neg-taylor');

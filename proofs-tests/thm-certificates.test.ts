import { prove } from './support/proof.ts';

prove('thm-certificates');

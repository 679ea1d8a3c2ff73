import { prove } from './support/proof.ts';

prove('thm-error-bound');

import { prove } from './support/proof.ts';

prove('eq-logra');

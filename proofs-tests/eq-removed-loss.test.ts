import { prove } from './support/proof.ts';

prove('eq-removed-loss');

import { prove } from './support/proof.ts';

prove('eq-batch-loss');

import { prove } from './support/proof.ts';

prove('alg-2-task-score');

import { prove } from './support/proof.ts';

prove('prop-task-score');

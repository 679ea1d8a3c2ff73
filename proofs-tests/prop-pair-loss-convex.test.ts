import { prove } from './support/proof.ts';

prove('prop-pair-loss-convex');

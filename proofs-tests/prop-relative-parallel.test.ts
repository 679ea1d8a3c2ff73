import { prove } from './support/proof.ts';

prove('prop-relative-parallel');

// Finding mismatched pairs.

export { type Signal, type Suspicion, suspicionOf } from './combine.ts';
export { explainPair, type Explanation, type Replacement, type Rival } from './explain.ts';
export { candidatesOf, lossesAmongAll } from './fit.ts';
export { matchPairs, type Matching, type MatchOptions } from './match.ts';
export { type Component, type Mixture, mixtureOf } from './mixture.ts';

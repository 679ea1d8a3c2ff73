// All claims, in the order of the paper.

import type { Claim } from '../claim.ts';
import * as algorithm from './algorithm.ts';
import * as bound from './bound.ts';
import * as influence from './influence.ts';
import * as negative from './negative.ts';
import * as objective from './objective.ts';
import * as scores from './scores.ts';

export const CLAIMS: readonly Claim[] = [
  objective.similarityClaim,
  objective.batchLossClaim,
  objective.totalLossClaim,
  algorithm.noMinimiserClaim,
  influence.responseClaim,
  objective.hessianClaim,
  influence.posClaim,
  influence.positiveClaim,
  influence.additiveClaim,
  objective.oneDirectionClaim,
  negative.removedLossClaim,
  negative.zetaClaim,
  negative.taylorClaim,
  negative.negativeClaim,
  negative.invertedClaim,
  negative.doubleShiftClaim,
  influence.editClaim,
  influence.orderClaim,
  scores.taskScoreClaim,
  scores.remarkClaim,
  scores.relativeClaim,
  scores.parallelClaim,
  algorithm.savingsClaim,
  algorithm.quotedClaim,
  algorithm.algorithm1Claim,
  algorithm.partitionClaim,
  algorithm.imageSideClaim,
  scores.algorithm2Claim,
  scores.algorithm3Claim,
  scores.logCosineClaim,
  scores.algorithm4Claim,
  scores.algorithm5Claim,
  algorithm.lograClaim,
  objective.stationarityClaim,
  negative.missingLogClaim,
  negative.taylorPointClaim,
  influence.halfRootClaim,
  bound.pairConvexClaim,
  bound.convexityClaim,
  bound.surrogateClaim,
  bound.decayTwiceClaim,
  bound.inversesClaim,
  bound.setGradientClaim,
  bound.strayConstantClaim,
  bound.vacuousClaim,
  bound.theoremClaim,
  bound.certificateClaim,
];

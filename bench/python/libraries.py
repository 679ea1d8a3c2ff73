"""
The positive part of all scores, H⁻¹·∇L_val · ∇Pos_n, by pyDVL and dattri. Both take losses that are sums over samples:
with the candidates of an anchor held fixed the contrastive loss is one, so they reach Pos. Neg, what a pair does to the
losses of the others, is no sample's loss and stays out of their reach.
"""

from collections.abc import Callable
from functools import partial

import torch
from plain_torch import DENSE_UP_TO, TOLERANCE, solve_iteratively
from problem import Anchors, Problem, anchor_cross_entropy
from torch import Tensor
from torch.func import functional_call, grad
from torch.utils.data import DataLoader, TensorDataset


def samples(problem: Problem) -> tuple[Tensor, Tensor, Tensor]:
    """Anchors of every batch (M, B), of the validation batch (1, B), and positions (B)."""
    batches, size, _ = problem.text.shape
    index = torch.arange((batches + 1) * size).reshape(batches + 1, size)
    return index[:batches], index[batches:], torch.arange(size)


def pydvl_contender(problem: Problem) -> Callable[[], Tensor]:
    from pydvl.influence.torch import CgInfluence, DirectInfluence

    batches, validation, positions = samples(problem)
    model = Anchors(problem)
    count = len(batches)
    loader = DataLoader(TensorDataset(batches, positions.expand_as(batches)), batch_size=count)
    singles, targets = batches.reshape(-1, 1), positions.repeat(count).reshape(-1, 1)
    # Its Hessian is the mean over samples, here batches.
    settings = {"regularization": problem.decay / count}
    iterative = partial(CgInfluence, rtol=TOLERANCE, atol=TOLERANCE**0.5)
    make = DirectInfluence if model.w.numel() <= DENSE_UP_TO else iterative

    def run() -> Tensor:
        influence = make(model, anchor_cross_entropy, **settings).fit(loader)
        return influence.influences(validation, positions[None], singles, targets)[0] / count

    return run


def dattri_contender(problem: Problem) -> Callable[[], Tensor]:
    from dattri.algorithm.influence_function import IFAttributorCG, IFAttributorExplicit
    from dattri.task import AttributionTask

    batches, validation, positions = samples(problem)
    model = Anchors(problem)

    def loss(params: dict[str, Tensor], data: tuple[Tensor, Tensor]) -> Tensor:
        anchors, targets = data
        return anchor_cross_entropy(functional_call(model, params, anchors), targets) * len(anchors)

    singles = TensorDataset(batches.reshape(-1, 1), positions.repeat(len(batches)).reshape(-1, 1))
    # It adds up inverses of the Hessians of the loader's batches, so all of the data must be one.
    full = DataLoader(TensorDataset(batches, positions.expand_as(batches)), batch_size=len(batches))
    train = DataLoader(singles, batch_size=len(singles))
    test = DataLoader(TensorDataset(validation, positions[None]), batch_size=1)
    # It takes a number of iterations, not a tolerance: that of a solve to 1e-10, and one for its other start.
    iterations = solve_iteratively(problem, grad(problem.validation)(problem.w))[1] + 1
    iterative = partial(IFAttributorCG, max_iter=iterations, mode="rev-fwd")
    make = IFAttributorExplicit if model.w.numel() <= DENSE_UP_TO else iterative

    def run() -> Tensor:
        task = AttributionTask(loss_func=loss, model=model, checkpoints=model.state_dict())
        attributor = make(task, regularization=problem.decay)
        attributor.cache(full)
        return attributor.attribute(train, test)[:, 0]

    return run


def contenders(problem: Problem) -> dict[str, Callable[[], Tensor] | str]:
    """Each library's way, or why it is not there."""
    found: dict[str, Callable[[], Tensor] | str] = {}
    for name, make in {"pyDVL": pydvl_contender, "dattri": dattri_contender}.items():
        try:
            found[name] = make(problem)
        except ImportError as error:
            found[name] = str(error)
    return found

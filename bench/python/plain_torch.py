"""All-pairs scores in plain torch: one solve, then a forward-mode sweep or a gradient for every pair."""

from collections.abc import Callable

import torch
from problem import Problem, pair_terms
from torch import Tensor
from torch.func import grad, hessian, jacrev, jvp

DENSE_UP_TO = 600
TOLERANCE = 1e-10


def conjugate_gradients(product: Callable[[Tensor], Tensor], b: Tensor) -> tuple[Tensor, int]:
    """x with A·x = b to a relative residual of 1e-10, and the iterations it took."""
    x, r, p = torch.zeros_like(b), b.clone(), b.clone()
    rr, stop = (r * r).sum(), TOLERANCE**2 * (b * b).sum()
    iterations = 0
    while rr > stop:
        iterations += 1
        ap = product(p)
        alpha = rr / (p * ap).sum()
        x, r = x + alpha * p, r - alpha * ap
        rr, old = (r * r).sum(), rr
        p = r + rr / old * p
    return x, iterations


def solve_iteratively(problem: Problem, g: Tensor) -> tuple[Tensor, int]:
    """H⁻¹·g by conjugate gradients, products forward over reverse."""
    gradient = grad(problem.total)
    return conjugate_gradients(lambda v: jvp(gradient, (problem.w,), (v,))[1], g)


def solve(problem: Problem) -> Tensor:
    """w = H⁻¹·∇L_val: dense up to 600 parameters, conjugate gradients beyond."""
    g = grad(problem.validation)(problem.w)
    if g.numel() > DENSE_UP_TO:
        return solve_iteratively(problem, g)[0]
    h = hessian(problem.total)(problem.w).reshape(g.numel(), g.numel())
    return torch.cholesky_solve(g.reshape(-1, 1), torch.linalg.cholesky(h)).reshape(g.shape)


def sweep(problem: Problem, w: Tensor) -> Tensor:
    """Scores of all pairs as derivatives along w: one forward-mode pass."""
    return jvp(lambda t: pair_terms(problem.similarities(t)), (problem.w,), (w,))[1].flatten()


def per_pair(problem: Problem, w: Tensor) -> Tensor:
    """Scores of all pairs from the gradient of each, B reverse-mode passes a batch, vectorised."""

    def of_batch(text: Tensor, image: Tensor) -> Tensor:
        gradients = jacrev(lambda t: pair_terms(text @ t @ image.T / problem.temperature))(problem.w)
        return (gradients * w).sum((1, 2))

    return torch.cat([of_batch(text, image) for text, image in zip(problem.text, problem.image)])


def contenders(problem: Problem) -> dict[str, Callable[[], Tensor]]:
    w = solve(problem)
    return {
        "torch solve": lambda: solve(problem).flatten(),
        "torch sweep": lambda: sweep(problem, w),
        "torch gradients": lambda: per_pair(problem, w),
        "torch scores": lambda: sweep(problem, solve(problem)),
        "torch scores by gradients": lambda: per_pair(problem, solve(problem)),
    }

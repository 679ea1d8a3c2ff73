"""The convex problem of the bench in torch, float64: S = X·W·Yᵀ/τ, batches of equal size, stacked."""

import json

import torch
from torch import Tensor, nn

torch.set_default_dtype(torch.float64)


class Problem:
    """Batches (M, B, p) and (M, B, q), the validation batch, the trained W, τ and δ."""

    def __init__(self, path: str) -> None:
        with open(path, encoding="utf8") as file:
            data = json.load(file)
        self.temperature: float = data["temperature"]
        self.decay: float = data["decay"]
        self.text = torch.tensor(data["text"])
        self.image = torch.tensor(data["image"])
        self.val_text = torch.tensor(data["validation"]["text"])
        self.val_image = torch.tensor(data["validation"]["image"])
        self.w = torch.tensor(data["w"])

    def similarities(self, w: Tensor) -> Tensor:
        """S of every batch, (M, B, B)."""
        return self.text @ w @ self.image.transpose(1, 2) / self.temperature

    def total(self, w: Tensor) -> Tensor:
        """Sum of the batch losses and δ/2·‖W‖²."""
        return anchor_losses(self.similarities(w)).sum() + self.decay / 2 * (w * w).sum()

    def validation(self, w: Tensor) -> Tensor:
        """The loss of the validation batch."""
        return anchor_losses(self.val_text @ w @ self.val_image.T / self.temperature).sum()


def anchor_losses(s: Tensor) -> Tensor:
    """Both loss terms of every anchor: Pos of every pair alone."""
    diagonal = s.diagonal(dim1=-2, dim2=-1)
    return s.logsumexp(-1) + s.logsumexp(-2) - 2 * diagonal


def pair_terms(s: Tensor) -> Tensor:
    """Pos + Neg (corrected) of every pair alone, (…, B)."""
    rows, columns = s.softmax(-1), s.softmax(-2)
    own = (rows + columns).diagonal(dim1=-2, dim2=-1)
    return anchor_losses(s) + rows.sum(-2) + columns.sum(-1) - own


class Anchors(nn.Module):
    """
    The model in the form that influence libraries take: a sample is a row of anchors of one batch, by index, the
    validation batch following those of training. Its outputs are the logits of each anchor in both directions.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.w = nn.Parameter(problem.w.clone())
        self.temperature = problem.temperature
        self.text = torch.cat([problem.text, problem.val_text[None]])
        self.image = torch.cat([problem.image, problem.val_image[None]])
        self.batch = self.text.shape[1]

    def forward(self, anchors: Tensor) -> Tensor:
        """Logits (n, A, 2, B) of samples (n, A); a whole batch is one matrix, a single anchor one row and one column."""
        at = torch.div(anchors[:, 0], self.batch, rounding_mode="floor")
        text, image = self.text[at], self.image[at]
        if anchors.shape[1] == self.batch:
            s = text @ self.w @ image.transpose(1, 2)
            return torch.stack([s, s.transpose(1, 2)], 2) / self.temperature
        own_text = self.text.flatten(0, 1)[anchors]
        own_image = self.image.flatten(0, 1)[anchors]
        rows = own_text @ self.w @ image.transpose(1, 2)
        columns = own_image @ self.w.T @ text.transpose(1, 2)
        return torch.stack([rows, columns], 2) / self.temperature


def anchor_cross_entropy(logits: Tensor, positions: Tensor) -> Tensor:
    """Mean over samples of the loss of their anchors, both directions."""
    index = positions[:, :, None, None].expand(*logits.shape[:3], 1)
    return (logits.logsumexp(-1) - logits.gather(-1, index)[..., 0]).sum((1, 2)).mean()

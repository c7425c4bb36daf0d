"""The loops of the perceptron, over points in the order in which they are seen; `made` notes the mistakes.

Several machines, each with labels of its own (Y, -1 or +1, times the weight of the point), learn side by side; those
that are not active stay as they are. A mistake is a score on the wrong side, or 0.
"""

from __future__ import annotations

import numpy as np

from ...types import Array, Index
from .features import Rows


def learn(
    rows: tuple[Array, ...], index: Index, Y: Array, W: Array, b: Array, eta: float, bias: float, active: Array,
    made: Array, scores: Array,
) -> None:  # fmt: skip
    """On a mistake at x_i, w += eta y_i x_i and b += eta y_i bias, for some rows of X in this order."""
    X = Rows(rows)
    for p, i in enumerate(index.tolist()):
        for c in np.flatnonzero(active):
            score, y = X.score(p, i, W[c]) + b[c], Y[c, i]
            if y * score <= 0.0:
                made[c, p], scores[c, p] = True, score
                X.change(p, i, eta * y, W[c])
                b[c] += eta * y * bias


def learn_block(
    K: Array, bias: float, F: Array, Y: Array, active: Array, fresh: Array, made: Array, scores: Array,
    start: int, room: int,
) -> tuple[int, int]:  # fmt: skip
    """On a mistake at point i of a block, F_j += y_i (K_ij + bias) for all points j of the block.

    Ends at a mistake on a `fresh` point that there is no room for: it is noted, but F is not changed. Gives back where
    it ended, and the room left.
    """
    for i in range(start, F.shape[1]):
        scores[:, i] = F[:, i]
        made[:, i] = active & (Y[:, i] * F[:, i] <= 0.0)
        if not made[:, i].any():
            continue
        if fresh[i]:
            if room == 0:
                return i, room
            room -= 1
            fresh[i] = False
        F += np.outer(made[:, i] * Y[:, i], K[i].astype(np.float64) + bias)
    return F.shape[1], room


def cast_votes(K: Array, bias: float, points: Index, signs: Array, votes: Array, out: Array) -> None:
    """out_i <- sum_t votes_t sign(f_t(x_i)), where f_t = sum over s <= t of signs_s (k(x_points_s, .) + bias)."""
    scores = np.cumsum(signs * (K[:, points] + bias), axis=1)
    out[:] = np.sign(scores) @ votes

"""The loops of the perceptron, over points in the order in which they are seen; `made` notes the mistakes.

Several machines, each with labels of its own (Y, -1 or +1), learn side by side; those that are not active stay as they
are. A mistake is a score on the wrong side, or 0.
"""

from __future__ import annotations

from ..types import Array
from .compile import compiled, exactly_compiled


@exactly_compiled
def learn_block(
    K: Array,
    bias: float,
    F: Array,
    Y: Array,
    active: Array,
    new: Array,
    made: Array,
    scores: Array,
    start: int,
    room: int,
) -> tuple[int, int]:
    """On a mistake at point i of a block, F_j += y_i (K_ij + bias) for all points j of the block.

    Ends at a mistake on a `new` point that there is no room for: it is noted, but F is not changed. Gives back where it
    ended, and the room left.
    """
    machines, n = F.shape
    for i in range(start, n):
        wrong = False
        for c in range(machines):
            made[c, i] = active[c] and Y[c, i] * F[c, i] <= 0.0
            scores[c, i] = F[c, i]
            wrong = wrong or made[c, i]
        if not wrong:
            continue
        if new[i]:
            if room == 0:
                return i, room
            room -= 1
            new[i] = False
        for c in range(machines):
            if made[c, i]:
                part, row, y = F[c], K[i], Y[c, i]
                for j in range(n):
                    part[j] += y * (row[j] + bias)
    return n, room


@compiled
def learn_dense(
    X: Array,
    rows: Array,
    Y: Array,
    W: Array,
    b: Array,
    eta: float,
    bias: float,
    active: Array,
    made: Array,
    scores: Array,
) -> None:
    """On a mistake at x_i, w += eta y_i x_i and b += eta y_i bias, for some rows of X in this order."""
    for p in range(rows.size):
        i = rows[p]
        x = X[i]
        for c in range(b.size):
            if not active[c]:
                continue
            w = W[c]
            score = 0.0
            for j in range(x.size):
                score += w[j] * x[j]
            score += b[c]
            if Y[c, i] * score <= 0.0:
                made[c, p], scores[c, p] = True, score
                step = eta * Y[c, i]
                for j in range(x.size):
                    w[j] += step * x[j]
                b[c] += step * bias


@compiled
def learn_sparse(
    indptr: Array, indices: Array, data: Array, rows: Array, Y: Array, W: Array, b: Array, eta: float, bias: float,
    active: Array, made: Array, scores: Array,
) -> None:  # fmt: skip
    """As `learn_dense`, for X by its non-zero entries."""
    for p in range(rows.size):
        i = rows[p]
        for c in range(b.size):
            if not active[c]:
                continue
            w = W[c]
            score = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                score += w[indices[e]] * data[e]
            score += b[c]
            if Y[c, i] * score <= 0.0:
                made[c, p], scores[c, p] = True, score
                step = eta * Y[c, i]
                for e in range(indptr[i], indptr[i + 1]):
                    w[indices[e]] += step * data[e]
                b[c] += step * bias


@exactly_compiled
def cast_votes(K: Array, bias: float, points: Array, signs: Array, votes: Array, out: Array) -> None:
    """out_i <- sum_t votes_t sign(f_t(x_i)), where f_t = sum over s <= t of signs_s (k(x_points_s, .) + bias)."""
    for i in range(out.size):
        row = K[i]
        score, total = 0.0, 0.0
        for t in range(points.size):
            score += signs[t] * (row[points[t]] + bias)
            if score > 0.0:
                total += votes[t]
            elif score < 0.0:
                total -= votes[t]
        out[i] = total

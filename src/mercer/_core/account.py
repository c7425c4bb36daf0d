"""One pass over the points for all that a certificate sums up."""

from __future__ import annotations

from math import inf

from ..types import Array
from .compile import exactly_compiled


@exactly_compiled
def account(
    q: Array, r: Array, eps: Array, lo: Array, hi: Array,
    beta: Array, dual_scores: Array, scores: Array, b: float, residuals: Array,
) -> tuple[float, float, float, float, float, float, float, float]:  # fmt: skip
    """For f = scores + b and the dual point beta with K beta = dual_scores, and terms h on [lo, hi] (0 is inside):

    sum C loss(f), sum h(beta), beta'K beta; the largest gain of a rise and the smallest of a fall; by how much bounds
    are violated, sum beta, max |beta|. residuals <- C loss(f) + h(beta) + beta f, the share of each point in the gap.

    With g = q - f, C loss(f) is the largest value of g s - r/2 s^2 - eps |s| for s in [lo, hi].
    """
    loss, conjugate, norm, total = 0.0, 0.0, 0.0, 0.0
    top, bottom, outside, largest = -inf, inf, 0.0, 0.0
    for t in range(q.size):
        own, f = beta[t], scores[t] + b
        size = abs(own)
        g = q[t] - f
        end = hi[t] if g > 0.0 else -lo[t]
        excess = max(abs(g) - eps[t], 0.0)
        s = 0.0
        if excess > 0.0:
            s = min(excess / r[t], end) if r[t] > 0.0 else end
        own_loss = s * (excess - 0.5 * r[t] * s)
        h = 0.5 * r[t] * own * own - q[t] * own + eps[t] * size
        residuals[t] = own_loss + h + own * f
        loss += own_loss
        conjugate += h
        norm += own * dual_scores[t]
        total += own
        F = q[t] - r[t] * own - dual_scores[t]
        if own < hi[t]:
            top = max(top, F - eps[t] if own >= 0.0 else F + eps[t])
        if own > lo[t]:
            bottom = min(bottom, F - eps[t] if own > 0.0 else F + eps[t])
        outside = max(outside, max(lo[t] - own, own - hi[t]))
        largest = max(largest, size)
    return loss, conjugate, norm, top, bottom, outside, total, largest

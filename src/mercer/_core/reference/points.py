"""Loops over all points between two rounds: who may move, who is chosen, how far from the best answer.

The terms h_i(s) = r/2 s^2 - q s + eps |s| on [lo, hi] and F = q - r beta - K beta are those of losses/quadratic.py.
"""

from __future__ import annotations

import numpy as np

from ...types import Array, Index
from .packing import VALUES_AT_A_TIME

OUT = 1e300  # stands for the slope of what may not move
_BINS = 1024


def _rises(F: Array, beta: Array, eps: Array, hi: Array) -> Array:
    return np.where(beta < hi, F - np.where(beta >= 0.0, eps, -eps), -OUT)


def _falls(F: Array, beta: Array, eps: Array, lo: Array) -> Array:
    return np.where(beta > lo, F - np.where(beta > 0.0, eps, -eps), OUT)


def extremes(F: Array, beta: Array, eps: Array, lo: Array, hi: Array) -> tuple[float, float, int]:
    """The largest slope of what may rise, the smallest of what may sink, and how many are between their bounds."""
    top = _rises(F, beta, eps, hi).max(initial=-OUT)
    bottom = _falls(F, beta, eps, lo).min(initial=OUT)
    return float(top), float(bottom), int(np.count_nonzero((lo < beta) & (beta < hi)))


@np.errstate(under="ignore")
def shares(F: Array, beta: Array, r: Array, eps: Array, lo: Array, hi: Array, b: float) -> float:
    """The gap at bias b: the sum over points of C loss(f) + h(beta) + beta f, none of them below 0.

    With g = q - f, C loss(f) is the largest value of g s - r/2 s^2 - eps |s|, and -h(beta) - beta f its value at beta.
    """
    g = F + r * beta - b
    excess = np.maximum(np.abs(g) - eps, 0.0)
    curved = r > 0.0
    inside = np.copysign(excess / np.where(curved, r, 1.0), g)
    s = np.where(curved, inside, np.where(excess > 0.0, np.where(g > 0.0, hi, lo), 0.0))
    s = np.clip(s, lo, hi)
    return float((g * (s - beta) - 0.5 * r * (s * s - beta * beta) - eps * (np.abs(s) - np.abs(beta))).sum())


def choose(
    F: Array, beta: Array, eps: Array, lo: Array, hi: Array, top: float, bottom: float, taken: Array, chosen: Index
) -> int:
    """The points that violate most, half of them because they should rise, half because they should sink.

    Their places go into `chosen`, and their number is returned; what is taken is left out, and what is chosen is taken.
    By counting in bins, and evenly spread over the last of them.
    """
    half, size = chosen.size // 2, 0
    for slopes, floor in ((_rises(F, beta, eps, hi), bottom), (-_falls(F, beta, eps, lo), -top)):
        gain = np.where(taken == 0, slopes - floor, 0.0)
        places = _largest(gain, top - bottom, half)
        chosen[size : size + places.size] = places
        taken[places] = 1
        size += places.size
    return size


def _largest(gain: Array, highest: float, most: int) -> Index:
    """The places of about the `most` largest gains above 0."""
    if not highest > 0.0:
        return np.empty(0, np.intp)
    places = np.flatnonzero(gain > 0.0)
    bins = np.minimum(gain[places] * (_BINS / highest), _BINS).astype(np.int64)
    counts = np.bincount(bins, minlength=_BINS + 1)
    last, above = _BINS, 0
    while last > 0 and above + counts[last] < most:
        above += int(counts[last])
        last -= 1
    there = max(int(counts[last]), 1)
    wanted = min(max(most - above, 0), there)
    at_last = bins == last
    seen = np.cumsum(at_last) - 1
    spread = (seen * wanted) // there != ((seen + 1) * wanted) // there
    return np.asarray(places[(bins > last) | (at_last & spread)])


@np.errstate(under="ignore")
def account(
    q: Array, r: Array, eps: Array, lo: Array, hi: Array,
    beta: Array, dual_scores: Array, scores: Array, b: float, share: Array,
) -> tuple[float, float, float, float, float, float, float, float]:  # fmt: skip
    """For f = scores + b and the dual point beta with K beta = dual_scores:

    sum C loss(f), sum h(beta), beta'K beta; the extremes; by how much bounds are left, sum beta, max |beta|.
    share <- C loss(f) + h(beta) + beta f, of each point.
    """
    found = []
    for start in range(0, max(q.size, 1), VALUES_AT_A_TIME):
        at = slice(start, start + VALUES_AT_A_TIME)
        f, own = scores[at] + b, share[at]
        found.append(_account(q[at], r[at], eps[at], lo[at], hi[at], beta[at], dual_scores[at], f, own))
    sums, extreme = np.array(found)[:, :4].sum(axis=0).tolist(), np.array(found)[:, 4:].max(axis=0).tolist()
    (loss, h, norm, total), (top, sinking, outside, largest) = sums, extreme
    return loss, h, norm, top, -sinking, outside, total, largest


def _account(
    q: Array, r: Array, eps: Array, lo: Array, hi: Array, beta: Array, dual_scores: Array, f: Array, share: Array
) -> tuple[float, ...]:
    """The sums of some points, and then their largest: what rises, minus what sinks, what is outside, |beta|."""
    g = q - f
    end = np.where(g > 0.0, hi, -lo)
    excess = np.maximum(np.abs(g) - eps, 0.0)
    curved = r > 0.0
    s = np.where(excess > 0.0, np.where(curved, np.minimum(excess / np.where(curved, r, 1.0), end), end), 0.0)
    loss = np.where(s > 0.0, s, 0.0) * np.where(curved, excess - 0.5 * r * np.where(curved, s, 0.0), excess)
    h = 0.5 * r * beta * beta - q * beta + eps * np.abs(beta)
    share[:] = loss + h + beta * f
    top, bottom, _ = extremes(q - r * beta - dual_scores, beta, eps, lo, hi)
    outside = np.maximum(lo - beta, beta - hi).max(initial=0.0)
    sums = loss.sum(), h.sum(), (beta * dual_scores).sum(), beta.sum()
    return *sums, top, -bottom, outside, np.abs(beta).max(initial=0.0)

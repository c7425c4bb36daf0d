"""Several problems, each on a part of the points: settled from beta = 0, then accounted for in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...types import Array, Index
from ..forms import Form
from .packing import pack
from .pairs import CHUNK, pair_descent
from .points import account, choose, extremes, shares
from .rows import add_rows
from .tiles import GROUP, PANEL, add, fill
from .whole import settle

_SET = 128  # points of a working set
_MOST_KEPT = 768  # rows of K; who needs more is better served by larger working sets
_INNER_SET = 0.1  # of the violation of all points, to which a working set is solved
_MOST_SETS = 200


class Terms(NamedTuple):
    """The dual terms of all parts, one after the other."""

    q: Array
    r: Array
    eps: Array
    lo: Array
    hi: Array


class Found(NamedTuple):
    """What is written: beta, the shares in the gap, and a row for each part: steps, b, and what `account` gives."""

    beta: Array
    share: Array
    sums: Array


class Tiled(NamedTuple):
    """Points as tiles take them: a form of what is left when a centre is subtracted, and the factor of the levels."""

    form: Form
    centre: Array
    factor: float


class How(NamedTuple):
    """Whether there is a bias, the relative gap to reach, and the most steps for each point."""

    bias: bool
    goal: float
    most: int


def settle_parts(K: Array, ends: Index, rows: Index, terms: Terms, found: Found, how: How) -> None:
    """Problems on parts of a matrix that is held, each on those of `rows` that end at its end."""
    bias, goal, most = how
    for at, own, t, (beta, share, sums) in _parts(ends, rows, terms, found):
        n = own.size
        block, F = np.zeros(((n // CHUNK + 1) * CHUNK,) * 2), t.q.copy()
        block[:n, :n] = K[np.ix_(own, own)]
        steps = settle(block, t.r, t.eps, t.lo, t.hi, beta, F, bias, 0.0, goal, most * n)[1]
        scores, used = np.zeros(n), np.flatnonzero(beta)
        add_rows(block, used, beta[used], scores)
        sums[at] = _accounts(t, beta, share, scores, bias, steps)


def settle_points(
    X: Array, single: Tiled, precise: Tiled, ends: Index, rows: Index, terms: Terms, found: Found, how: How
) -> None:
    """Problems on parts of the points X, by working sets; rows of K are computed in float32 when their point enters
    one, and kept. Where rows or rounds run out, a part is left as it is: its sums tell.
    """
    bias, _, _ = how
    for at, own, t, (beta, share, sums) in _parts(ends, rows, terms, found):
        by = _by_whole if own.size <= _SET else _by_working_sets
        steps = by(X, Tiled(*single), own, t, beta, How(*how))
        scores, used = np.zeros((1, own.size)), np.flatnonzero(beta)
        form, centre, factor = precise
        support, points = (
            _packed(X, i, centre, factor, s, np.float64) for i, s in ((own[used], GROUP), (own, PANEL // 2))
        )
        if used.size:
            add(*support, *points, form, beta[used].reshape(-1, 1), scores)
        sums[at] = _accounts(t, beta, share, scores[0], bias, steps)


def _parts(ends: Index, rows: Index, terms: Terms, found: Found) -> Iterator[tuple[int, Index, Terms, Found]]:
    """Each part: its number, rows, terms, and where its answer goes."""
    beta, share, sums = found
    for number, (first, last) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        at = slice(first, last)
        yield number, rows[at], Terms(*(own[at] for own in terms)), Found(beta[at], share[at], sums)


def _accounts(t: Terms, beta: Array, share: Array, scores: Array, bias: bool, steps: int) -> list[float]:
    """The sums of a part; b is the middle of what the slopes leave for it."""
    q, r, eps, lo, hi = t
    top, bottom, _ = extremes(q - r * beta - scores, beta, eps, lo, hi)
    b = 0.5 * (top + bottom) if bias else 0.0
    return [steps, b, *account(q, r, eps, lo, hi, beta, scores, scores, b, share)]


def _packed(X: Array, index: Index, centre: Array, factor: float, size: int, dtype: type) -> tuple[Array, Array]:
    out: Array = np.empty((-(-index.size // size), centre.size, size), dtype)
    levels: Array = np.empty(len(out) * size, dtype)
    pack(X, index, centre, factor, out, levels)
    return out, levels


def _by_whole(X: Array, single: Tiled, own: Index, t: Terms, beta: Array, how: How) -> int:
    """Descend in beta, with K of all points: few of them. The steps that it took."""
    form, centre, factor = single
    rows, columns = (_packed(X, own, centre, factor, size, np.float32) for size in (GROUP, PANEL))
    K, F = np.zeros(((own.size // CHUNK + 1) * CHUNK,) * 2, np.float32), t.q.copy()
    fill(*rows, *columns, form, np.arange(own.size), K[:, : own.size])
    return settle(K, t.r, t.eps, t.lo, t.hi, beta, F, how.bias, 0.0, how.goal, how.most * own.size)[1]


def _by_working_sets(X: Array, single: Tiled, own: Index, t: Terms, beta: Array, how: How) -> int:
    """The same for more points, by working sets."""
    form, centre, factor = single
    columns, n = _packed(X, own, centre, factor, PANEL, np.float32), own.size
    kept, slot_of, held = np.empty((min(n, _MOST_KEPT), n), np.float32), np.full(n, -1), 0
    F, last, dual, steps = t.q.copy(), np.empty(0, np.int64), 0.0, 0
    for _ in range(_MOST_SETS):
        top, bottom, _ = extremes(F, beta, t.eps, t.lo, t.hi)
        if not how.bias:
            top, bottom = max(top, 0.0), min(bottom, 0.0)
        middle = 0.5 * (top + bottom) if how.bias else 0.0
        gap = shares(F, beta, t.r, t.eps, t.lo, t.hi, middle)
        if gap <= how.goal * max(abs(dual), abs(dual + gap)) or steps >= how.most * n:
            break
        W, last = _working_set(F, beta, t, top, bottom, last)
        missing = W[slot_of[W] < 0]
        if W.size == 0 or held + missing.size > len(kept):
            break
        slot_of[missing] = np.arange(held, held + missing.size)
        held += missing.size
        if missing.size:
            fill(*_packed(X, own[missing], centre, factor, GROUP, np.float32), *columns, form, slot_of[missing], kept)
        taken, now = _descend(kept[slot_of[W]][:, W], t, W, F - middle, beta, how, _INNER_SET * (top - bottom))
        steps += taken
        changed = now != beta[W]
        moved, now = W[changed], now[changed]
        if moved.size == 0:
            break
        old, before = beta[moved], F[moved]
        beta[moved] = now
        F[moved] -= t.r[moved] * (now - old)
        add_rows(kept, slot_of[moved], old - now, F)
        dual += float((0.5 * (now - old) * (before + F[moved]) - t.eps[moved] * (np.abs(now) - np.abs(old))).sum())
    return steps


def _working_set(F: Array, beta: Array, t: Terms, top: float, bottom: float, last: Index) -> tuple[Index, Index]:
    """The points that violate most, half of them from the last time: sorted, and as they were chosen."""
    last, taken = last[-(_SET // 2) :], np.zeros(beta.size, np.uint8)
    taken[last] = 1
    chosen = np.empty(_SET - last.size, np.int64)
    size = choose(F, beta, t.eps, t.lo, t.hi, top, bottom, taken, chosen)
    last = np.concatenate([last, chosen[:size]])
    return np.sort(last), last


def _descend(K: Array, t: Terms, W: Index, F: Array, beta: Array, how: How, tol: float) -> tuple[int, Array]:
    """Pair descent on a working set: steps, and its new coefficients."""
    size = W.size
    width = (size // CHUNK + 1) * CHUNK
    block, diag, slopes = np.zeros((width, width), np.float32), np.zeros(width, np.float32), np.zeros(width, np.float32)
    own, lo, hi, eps = np.zeros((4, width))
    block[:size, :size] = K
    diag[:size] = t.r[W].astype(np.float32) + K.diagonal()
    slopes[:size], own[:size], lo[:size], hi[:size], eps[:size] = F[W], beta[W], t.lo[W], t.hi[W], t.eps[W]
    if not how.bias:
        lo[size], hi[size] = -np.inf, np.inf
    steps, _ = pair_descent(block, diag, slopes, own, lo, hi, eps, tol, how.most * size)
    return steps, own[:size]

"""Several problems, each on a part of the points: settled, then accounted for in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...types import Array, Index
from .free_step import free_step
from .one_call import Tiled, packed, square_points
from .pairs import CHUNK, pair_descent
from .points import OUT, account, choose, extremes, shares
from .rows import add_rows
from .tiles import GROUP, PANEL, add, fill
from .whole import settle_to

_SET = 128  # points of a working set
_MOST_KEPT = 768  # rows of K; who needs more is better served by larger working sets
_INNER_SET = 0.1  # of the violation of all points, to which a working set is solved
_MOST_SETS = 200
_BEFORE = 5  # steps of pairs for each point, before the first Newton steps
_TURNS, _IN_A_ROW = 40, 6  # of Newton steps and few pairs; Newton steps of a turn, at most
_WORTH = 30.0  # a Newton step may take so many n^2 multiplications, of about m^3 for m free coefficients


class PartsTerms(NamedTuple):
    """The dual terms of all parts, one after the other."""

    q: Array
    r: Array
    eps: Array
    lo: Array
    hi: Array


class PartsFound(NamedTuple):
    """What is written: beta, the shares in the gap, and a row for each part: steps, b, and what `account` gives."""

    beta: Array
    share: Array
    sums: Array


class How(NamedTuple):
    """Whether there is a bias, the relative gap and the violation to reach, and the most steps for each point."""

    bias: bool
    gap: float
    violation: float
    most: int


def settle_parts(K: Array, ends: Index, rows: Index, terms: PartsTerms, found: PartsFound, how: How) -> None:
    """Problems on parts of a matrix that is held, each on those of `rows` that end at its end, from the beta that is
    there. (The native one works on K itself where a part is all of its points, and K is padded.)
    """
    for at, own, t, answer in _parts(ends, rows, terms, found):
        n = own.size
        block = np.zeros(((n // CHUNK + 1) * CHUNK,) * 2)
        block[:n, :n] = K[np.ix_(own, own)]
        answer.sums[at] = _settle_whole(block, t, answer, How(*how))


def settle_points(
    X: Array, single: Tiled, precise: Tiled, ends: Index, rows: Index, terms: PartsTerms, found: PartsFound, how: How
) -> None:
    """Problems on parts of the points X, from beta = 0. Few points: with K of them. More: by working sets; rows of K
    are computed in float32 when their point enters one, and kept. Where rows or rounds run out, a part is left as it
    is: its sums tell.
    """
    form, centre, factor = precise
    for at, own, t, answer in _parts(ends, rows, terms, found):
        beta, share, sums = answer
        if own.size <= _SET:
            K = np.zeros(((own.size // CHUNK + 1) * CHUNK,) * 2)
            square_points(np.ascontiguousarray(X[own]), precise, K)
            sums[at] = _settle_whole(K, t, answer, How(*how))
            continue
        steps = _by_working_sets(X, Tiled(*single), own, t, beta, How(*how))
        scores, used = np.zeros((1, own.size)), np.flatnonzero(beta)
        support, points = (
            packed(X, i, centre, factor, s, np.float64) for i, s in ((own[used], GROUP), (own, PANEL // 2))
        )
        if used.size:
            add(*support, *points, form, beta[used].reshape(-1, 1), scores)
        sums[at] = _accounts(t, beta, share, scores[0], how[0], steps)


def _parts(
    ends: Index, rows: Index, terms: PartsTerms, found: PartsFound
) -> Iterator[tuple[int, Index, PartsTerms, PartsFound]]:
    """Each part: its number, rows, terms, and where its answer goes."""
    beta, share, sums = found
    for number, (first, last) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        at = slice(first, last)
        yield number, rows[at], PartsTerms(*(own[at] for own in terms)), PartsFound(beta[at], share[at], sums)


def _accounts(t: PartsTerms, beta: Array, share: Array, scores: Array, bias: bool, steps: int) -> list[float]:
    """The sums of a part; b is the middle of what the slopes leave for it."""
    q, r, eps, lo, hi = t
    top, bottom, _ = extremes(q - r * beta - scores, beta, eps, lo, hi)
    ends = [end for end in (top, bottom) if abs(end) < OUT]  # no point bounds it, on a side that has none
    b = sum(ends) / len(ends) if bias else 0.0
    return [steps, b, *account(q, r, eps, lo, hi, beta, scores, scores, b, share)]


def _settle_whole(K: Array, t: PartsTerms, found: PartsFound, how: How) -> list[float]:
    """A part whose K is held, padded: steps of pairs, and Newton steps between them where they crawl; its sums."""
    beta, share, _ = found
    scores, steps, n = np.zeros(beta.size), 0, beta.size
    for turn in range(_TURNS):
        F, start = t.q.copy(), np.flatnonzero(beta)
        add_rows(K, start, -beta[start], F)
        F -= t.r * beta
        dual = float((0.5 * beta * (t.q + F) - t.eps * np.abs(beta)).sum())
        most = min(how.most * n - steps, n if turn else _BEFORE * n)
        done, taken, *_ = settle_to(K, t[1:], beta, F, how.bias, dual, how.gap, most, how.violation)
        steps += taken
        if done or steps >= how.most * n or (not _newton_turn(K, t, beta, F, how.bias) and taken < most):
            break
    used = np.flatnonzero(beta)
    add_rows(K, used, beta[used], scores)
    return _accounts(t, beta, share, scores, how.bias, steps)


def _newton_turn(K: Array, t: PartsTerms, beta: Array, F: Array, bias: bool) -> bool:
    """Newton steps of the free coefficients, where they are few enough to be worth it; whether there were any."""
    n, most = beta.size, int(np.cbrt(_WORTH * beta.size**2))
    diag, slopes, own, lo, hi, eps = wide = np.zeros((6, len(K)))
    wide[:, :n] = t.r + K.diagonal()[:n], F, beta, t.lo, t.hi, t.eps
    for _ in range(_IN_A_ROW):
        if not free_step(K, diag, slopes, own, lo, hi, eps, (bias, most))[1]:
            break
    moved = not np.array_equal(beta, own[:n])
    beta[:] = own[:n]
    return moved


def _by_working_sets(X: Array, single: Tiled, own: Index, t: PartsTerms, beta: Array, how: How) -> int:
    """The same for more points, by working sets."""
    form, centre, factor = single
    columns, n = packed(X, own, centre, factor, PANEL, np.float32), own.size
    kept, slot_of, held = np.empty((min(n, _MOST_KEPT), n), np.float32), np.full(n, -1), 0
    F, last, dual, steps = t.q.copy(), np.empty(0, np.int64), 0.0, 0
    for _ in range(_MOST_SETS):
        top, bottom, _ = extremes(F, beta, t.eps, t.lo, t.hi)
        if not how.bias:
            top, bottom = max(top, 0.0), min(bottom, 0.0)
        middle = 0.5 * (top + bottom) if how.bias else 0.0
        gap = shares(F, beta, t.r, t.eps, t.lo, t.hi, middle)
        near = top - bottom <= how.violation and gap <= how.gap * max(abs(dual), abs(dual + gap))
        if near or steps >= how.most * n:
            break
        W, last = _working_set(F, beta, t, top, bottom, last)
        missing = W[slot_of[W] < 0]
        if W.size == 0 or held + missing.size > len(kept):
            break
        slot_of[missing] = np.arange(held, held + missing.size)
        held += missing.size
        if missing.size:
            fill(*packed(X, own[missing], centre, factor, GROUP, np.float32), *columns, form, slot_of[missing], kept)
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


def _working_set(F: Array, beta: Array, t: PartsTerms, top: float, bottom: float, last: Index) -> tuple[Index, Index]:
    """The points that violate most, half of them from the last time: sorted, and as they were chosen."""
    last, taken = last[-(_SET // 2) :], np.zeros(beta.size, np.uint8)
    taken[last] = 1
    chosen = np.empty(_SET - last.size, np.int64)
    size = choose(F, beta, t.eps, t.lo, t.hi, top, bottom, taken, chosen)
    last = np.concatenate([last, chosen[:size]])
    return np.sort(last), last


def _descend(K: Array, t: PartsTerms, W: Index, F: Array, beta: Array, how: How, tol: float) -> tuple[int, Array]:
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

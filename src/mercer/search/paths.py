"""One fold, all values of C: the problems of a machine, each solved from the answer for the C before.

Every problem stands on all points of its classes; those that the fold leaves out have lo = hi = 0, so that their scores
come for nothing. Values of K are float32 in the solver. Then all scores K beta are recomputed in float64 by one
product, and what is not good enough by them is solved further, from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.core import CHOICE
from ..losses import Hinge, Terms
from ..types import Array, Index
from .matrices import Matrix, part_of

core = CHOICE.functions
GOAL = 1e-5
"""The relative gap of each problem, with a float64 kernel."""
_STEPS = 4_000_000  # of pairs, for one problem
_MOST_PRODUCTS = 10  # by which scores are recomputed
_ROUNDING = 64 * float(np.finfo(np.float64).eps)  # of sums of many numbers, in parts of their sizes
CHUNK = 64
"""Rows of K that are summed up before they reach a sum."""


@dataclass(frozen=True, eq=False)
class Posed:
    """A problem of one fold: its points, and for each C its terms (zeros where a point is left out)."""

    at: Index | None
    """The points that it stands on; None: all."""
    y: Array
    weights: list[Array]
    """C_i for each C; 0 where a point is left out."""
    terms: list[Terms]
    bias: bool
    hinge: bool


@dataclass(eq=False)
class Solved:
    """The answers to one problem, for each C: beta and scores of its points, b, and how good they are."""

    beta: Array
    scores: Array
    b: Array
    gap: Array
    dual: Array
    scale: Array
    """The gap is that of w times this."""
    steps: int = 0


def pose(n: int, machines: list[Any], y: Any, weight: Array, train: Index, group: Index) -> list[Posed]:
    """The problems of a fold; `machines` differ in C alone, `group` is the class of each of the n points."""
    plans = [machine._plan(y, weight) for machine in machines]
    order = plans[0][0]
    places = train if order is None else train[order]
    posed = []
    for number, task in enumerate(plans[0][2]):
        own = places if task.rows is None else places[task.rows]
        at = None if task.rows is None else np.flatnonzero(np.isin(group, np.unique(group[own])))
        place = own if at is None else np.searchsorted(at, own)
        size = n if at is None else at.size
        targets, weights, terms = _spread(size, place, task.y), [], []
        for plan in plans:
            each = plan[2][number]
            found = each.loss.terms(each.y, each.C)
            arrays = (found.q, found.r, found.eps, found.lo, found.hi)
            terms.append(Terms(*(_spread(size, place, array) for array in arrays)))
            weights.append(_spread(size, place, each.C))
        posed.append(Posed(at, targets, weights, terms, task.bias, isinstance(task.loss, Hinge)))
    return posed


def _spread(size: int, place: Index, values: Array) -> Array:
    out = np.zeros(size)
    out[place] = values
    return out


Wanted = Callable[[list[Solved], list[Array]], Array]
"""From answers and the scores of all points, which gap each problem should have for each C."""


def solve_all(matrix: Matrix, posed: list[Posed], wanted: Wanted) -> tuple[list[Solved], list[Array]]:
    """The answers to all problems of a fold; and for each, its scores K beta of all n points (C, n)."""
    solved = [_along(_own(matrix, problem), problem) for problem in posed]
    pieces = _pieces(len(matrix.precise), posed)
    for attempt in range(_MOST_PRODUCTS):
        everywhere = _products(matrix.precise, pieces, solved)
        for problem, answer, scores in zip(posed, solved, everywhere, strict=True):
            answer.scores = scores if problem.at is None else scores[:, problem.at]
            _look(problem, answer)
        gaps = wanted(solved, everywhere)
        if attempt == _MOST_PRODUCTS - 1 or not _go_on(matrix, posed, solved, gaps):
            break
    return solved, everywhere


def good_enough(solved: list[Solved], everywhere: list[Array]) -> Array:
    """The gap that is a small part of the objective, whatever the scores."""
    return np.stack([GOAL * np.maximum(np.abs(one.dual), np.abs(one.dual + one.gap)) for one in solved])


def _own(matrix: Matrix, problem: Posed) -> Array:
    return matrix.single if problem.at is None else part_of(matrix.single, problem.at)


def _along(K: Array, problem: Posed) -> Solved:
    """All C in turn, each from the answer before."""
    many, size = len(problem.terms), problem.y.size
    b, gap, dual = np.zeros((3, many))
    out = Solved(np.zeros((many, size)), np.zeros((many, size)), b, gap, dual, scale=np.ones(many))
    beta, scores, before = np.zeros(size), np.zeros(size), None
    for number, terms in enumerate(problem.terms):
        if before is not None:
            beta, scores = _moved(K, beta, scores, before, terms, problem.bias)
        F = terms.q - terms.r * beta - scores
        _settle(K, problem, number, beta, F, GOAL, 0.0, out)
        scores = terms.q - terms.r * beta - F
        out.beta[number], out.scores[number], before = beta, scores, terms
    return out


def _settle(
    K: Array, problem: Posed, number: int, beta: Array, F: Array, goal: float, least: float, out: Solved
) -> bool:
    """Solve for one C, from beta and F, which change; whether they have."""
    t = problem.terms[number]
    done = core.settle_by_blocks(K, t.q, t.r, t.eps, t.lo, t.hi, beta, F, problem.bias, goal, least, _STEPS)
    _, steps, _, rounds, _, out.dual[number], out.gap[number], top, bottom, _ = done
    out.b[number] = 0.5 * (top + bottom) if problem.bias else 0.0
    out.steps += steps
    return bool(rounds)


def _moved(K: Array, beta: Array, scores: Array, old: Terms, new: Terms, bias: bool) -> tuple[Array, Array]:
    """Coefficients at a bound go to the new one; the sum is repaired by as few as will do, those first whose slope
    asks for it.
    """
    to = np.where((beta >= old.hi) & (old.hi > 0), new.hi, np.where((beta <= old.lo) & (old.lo < 0), new.lo, beta))
    to = np.clip(to, new.lo, new.hi)
    if bias:
        excess = float(to.sum()) - float(beta.sum())
        sign = 1.0 if excess > 0 else -1.0
        may = np.flatnonzero(to > new.lo if sign > 0 else to < new.hi)
        slope = sign * (new.q - new.r * beta - scores)[may]
        may = may[np.argsort(slope, kind="stable")]
        room = to[may] - new.lo[may] if sign > 0 else new.hi[may] - to[may]
        before = np.cumsum(room) - room
        taken = np.clip(abs(excess) - before, 0.0, room)
        to[may] = np.where(taken == room, new.lo[may] if sign > 0 else new.hi[may], to[may] - sign * taken)
    moved = np.flatnonzero(to != beta)
    scores = scores.copy()
    core.add_rows(K, moved, (to - beta)[moved], scores)
    return to, scores


@dataclass(frozen=True, eq=False)
class _Piece:
    """Points that belong to the same problems: their rows of K, and for each problem their places in it."""

    rows: Any
    places: list[tuple[int, Any]]


def _pieces(n: int, posed: list[Posed]) -> list[_Piece]:
    if posed[0].at is None:
        return [_Piece(slice(0, n), [(k, slice(0, n)) for k in range(len(posed))])]
    sets = [np.arange(n) if problem.at is None else problem.at for problem in posed]
    belongs = np.zeros((len(sets), n), bool)
    for own, at in zip(belongs, sets, strict=True):
        own[at] = True
    codes: dict[bytes, list[int]] = {}
    for point, column in enumerate(np.packbits(belongs, axis=0).T):
        codes.setdefault(column.tobytes(), []).append(point)
    out = []
    for points in codes.values():
        mine = np.flatnonzero(belongs[:, points[0]])
        if mine.size:
            places = [(int(k), _as_slice(np.searchsorted(sets[k], points))) for k in mine]
            out.append(_Piece(_as_slice(np.array(points)), places))
    return out


def _as_slice(index: Index) -> Any:
    """Neighbours as a slice, which copies nothing."""
    first, last = int(index[0]), int(index[-1])
    return slice(first, last + 1) if last - first + 1 == index.size else index


def _products(K: Array, pieces: list[_Piece], solved: list[Solved]) -> list[Array]:
    """K beta in float64, of all points, for each problem: (C, n). Problems on the same points share the rows of K."""
    n, many = len(K), len(solved[0].beta)
    out = [np.zeros((many, n)) for _ in solved]
    for piece in pieces:
        beta = np.concatenate([solved[k].beta[:, places] for k, places in piece.places])
        used, rows = np.flatnonzero(beta.any(axis=0)), K[piece.rows]
        found = np.zeros((len(beta), n))
        for start in range(0, used.size, CHUNK):  # short sums of short sums: what rounding can do to them stays small
            part = used[start : start + CHUNK]
            found += beta[:, part] @ rows[part]
        for number, (k, _) in enumerate(piece.places):
            out[k] += found[number * many : (number + 1) * many]
    return out


def _go_on(matrix: Matrix, posed: list[Posed], solved: list[Solved], wanted: Array) -> bool:
    """Solve further what is not good enough by its true scores; whether anything has moved."""
    moved = False
    for problem, answer, gaps in zip(posed, solved, wanted, strict=True):
        K: Array | None = None
        for number in np.flatnonzero(answer.gap > gaps):
            t, beta = problem.terms[number], answer.beta[number]
            K = _own(matrix, problem) if K is None else K
            F = t.q - t.r * beta - answer.scores[number]
            moved = _settle(K, problem, int(number), beta, F, 0.0, float(gaps[number]), answer) or moved
    return moved


def _look(problem: Posed, answer: Solved) -> None:
    """Gap, dual value and b of all answers, by their scores."""
    for number, t in enumerate(problem.terms):
        beta = answer.beta[number]
        F = t.q - t.r * beta - answer.scores[number]
        top, bottom, _ = core.extremes(F, beta, t.eps, t.lo, t.hi)
        b = 0.5 * (top + bottom) if problem.bias else 0.0
        answer.gap[number] = core.shares(F, beta, t.r, t.eps, t.lo, t.hi, b)
        answer.dual[number] = float((0.5 * beta * (t.q + F) - t.eps * np.abs(beta)).sum())
        answer.b[number], answer.scale[number] = b, 1.0
        if problem.hinge and 0.0 < top - bottom < 1.0:
            _stretch(problem, number, answer, top - bottom)


def _stretch(problem: Posed, number: int, answer: Solved, violation: float) -> None:
    """A longer w, where its gap is smaller: free points that are short of the margin by half of the violation cost C
    each, and there may be many; at w / (1 - violation / 2) they cost nothing.
    """
    beta, scores, dual = answer.beta[number], answer.scores[number], answer.dual[number]
    s = 1.0 / (1.0 - 0.5 * violation)
    norm = float(beta @ scores)
    loss = float((problem.weights[number] * np.maximum(0.0, 1.0 - s * problem.y * (scores + answer.b[number]))).sum())
    primal = 0.5 * s * s * norm + loss
    rounding = _ROUNDING * (primal + abs(dual) + float(np.abs(beta).sum()))  # a difference of large numbers
    gap = max(primal - dual, 0.0) + rounding
    if gap < answer.gap[number]:
        answer.gap[number], answer.scale[number] = gap, s

"""Some folds, all values of C: a path of problems with warm starts, each solved from the answer to a neighbour by steps
of pairs (SMO) and Newton steps on working sets (_core/blocks.hpp).

Every problem stands on all points; those that a fold leaves out have lo = hi = 0, so that their scores come for
nothing. Where classes are solved in pairs, it stands on the points of the two that some fold trains on. A cell is a
problem in one fold for one C. The first fold goes from C to C, the others from the fold before at the same C. Values of
K are float32 in the solver, where a rough answer is enough. Then all scores K beta are recomputed from float64 values,
and what is not good enough by them is solved further, from there; from then on scores are summed up as if with twice
the digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._core.core import CHOICE
from ..types import Array, Index
from .matrices import Matrix

core = CHOICE.functions
GOAL = 1e-5
"""The relative gap of each problem, with a float64 kernel."""
FIRST_GOAL = 1e-4  # and with a float32 kernel, before; more digits are cheaper to find from true scores
_STEPS = 4_000_000  # of pairs, for one problem
_MOST_ROUNDS = 6  # of scores that are recomputed, and answers that are solved further
_HEADWAY = 0.5  # of the gap: who makes less is left alone
_FOUND = 11  # numbers that the solver gives for each cell
_NEARLY_ALL = 0.98  # of the points: with so many in each fold, all of them are a start for each


class Fold(NamedTuple):
    """What is trained on (places among all points), and its targets and weights."""

    train: Index
    y: Any
    weight: Array


@dataclass(frozen=True, eq=False)
class Posed:
    """A problem: its points; for each cell (C within folds) its terms, with zeros where a point is left out."""

    rows: Index
    """Where its points stand among all; none, where it stands on all."""
    y: Array
    """(folds, points)"""
    weights: Array
    """C_i: (folds, C, points); 0 where a point is left out."""
    terms: Array
    """q, r, eps, lo and hi: (5, cells, points)."""
    bias: bool

    @cached_property
    def places(self) -> Index:
        """The same, of all of them too."""
        return self.rows if self.rows.size else np.arange(self.y.shape[1])


@dataclass(eq=False)
class Solved:
    """The answers to one problem, by folds and C: beta and scores of its points, b, and how good they are."""

    beta: Array
    scores: Array
    b: Array
    gap: Array
    dual: Array
    scale: Array
    """The gap is that of w times this."""
    twice: Array
    """Whether scores were summed up as if with twice the digits."""
    asked: list[Array] = field(default_factory=list)
    """For each fold, the scores of the points that are asked for: (C, points)."""
    steps: int = 0


def pose(n: int, machine: Any, Cs: Array, folds: list[Fold]) -> list[Posed]:
    """The problems of some folds, of n points. `machine` has C = 1."""
    plans = []
    for fold in folds:
        order, _, tasks = machine._plan(fold.y, fold.weight)
        plans.append((fold.train if order is None else fold.train[order], tasks))
    return [_posed(n, Cs, [(places, tasks[k]) for places, tasks in plans]) for k in range(len(plans[0][1]))]


def _posed(n: int, Cs: Array, tasks: list[tuple[Index, Any]]) -> Posed:
    """One problem of each fold, as one."""
    first = tasks[0][1]
    rows = [places if task.rows is None else places[task.rows] for places, task in tasks]
    every = np.arange(n)
    some = every[:0] if first.rows is None else np.unique(np.concatenate(rows))
    at = some if some.size else every
    shape = (len(tasks), len(Cs), at.size)
    y, weights, terms = np.zeros((len(tasks), at.size)), np.zeros(shape), np.zeros((5, *shape))
    for number, (own, (_, task)) in enumerate(zip(rows, tasks, strict=True)):
        place = np.searchsorted(at, own)
        y[number, place] = task.y
        weight = np.outer(Cs, task.C)
        weights[number][:, place] = weight
        found = task.loss.terms(np.tile(task.y, len(Cs)), weight.ravel()).rows
        terms[:, number][:, :, place] = found.reshape(5, *weight.shape)
    return Posed(some, y, weights, terms.reshape(5, -1, at.size), first.bias)


Cells = tuple[Index, Array, Index, Array, Array, Array, Array]
"""What `settle_cells` knows of a problem, and where it writes: rows, terms, start, goals, beta, F, found."""

Wanted = Callable[[list[Solved], Array], tuple[Array, Array]]
"""From answers, and which are new (problems, folds): which gap each should have, and where labels are open; both by
problems, folds and C."""


def solve_all(matrix: Matrix, posed: list[Posed], asked: list[Index], wanted: Wanted, goal: float) -> list[Solved]:
    """The answers to all problems of some folds, and the scores of the points that each fold asks for.

    What has moved is scored again; and so is, with less rounding, what leaves labels open though the gap is small.
    """
    solved = _along(matrix, posed, goal)
    new = np.ones((len(posed), *solved[0].gap.shape), bool)
    before = np.full(new.shape, np.inf)  # gaps, when a cell was solved last
    for number in range(_MOST_ROUNDS):
        _score(matrix.precise, posed, solved, new, asked, number > 0)
        gaps, unsure = wanted(solved, np.asarray(new.any(axis=2)))
        gap, twice = np.stack([one.gap for one in solved]), np.stack([one.twice for one in solved])
        bad = (gap > gaps) & (gap < _HEADWAY * before) & (number < _MOST_ROUNDS - 1)
        before = np.where(bad, gap, before)
        new = _go_on(matrix, posed, solved, gaps, bad) | (unsure & ~twice & ~bad)
        if not new.any():
            break
    return solved


def good_enough(goal: float, solved: list[Solved], new: Array) -> tuple[Array, Array]:
    """The gap that is a small part of the objective, whatever the scores."""
    gaps = np.stack([goal * objective(one) for one in solved])
    return gaps, np.zeros(gaps.shape, bool)


def objective(one: Solved) -> Array:
    """The larger of the dual and the primal value."""
    return np.asarray(np.maximum(np.abs(one.dual), np.abs(one.dual + one.gap)))


def _settle(matrix: Matrix, problems: list[Cells], bias: bool) -> None:
    core.settle_cells(matrix.single, problems, bias, _STEPS)


def _along(matrix: Matrix, posed: list[Posed], goal: float) -> list[Solved]:
    """All cells in turn, fold by fold: those of the first from the answer for the C before, of the others from that of
    the fold before, or for the C before, where that is nearly the answer.
    """
    problems = [_first(problem, goal) for problem in posed]
    _settle(matrix, problems, posed[0].bias)
    solved = []
    for problem, (*_, beta, _, found) in zip(posed, problems, strict=True):
        folds, many, size = problem.weights.shape
        beta = beta.reshape(-1, many, size)[-folds:]
        b, gap, dual, scale = np.zeros((4, folds, many))
        twice, steps = np.zeros((folds, many), bool), int(found[:, 1].sum())
        solved.append(Solved(beta, np.zeros_like(beta), b, gap, dual, scale, twice, steps=steps))
    return solved


def _first(problem: Posed, goal: float) -> Cells:
    """The cells of a problem. Where folds leave out next to nothing, there is one more fold before them, which leaves
    out nothing, and all start from it: a point whose beta is 0 changes nothing by leaving.
    """
    folds, many, size = problem.weights.shape
    terms, used = problem.terms, problem.weights[:, 0] > 0.0
    seeded = folds > 2 and int(used.sum(axis=1).min()) >= _NEARLY_ALL * size
    if seeded:
        given = terms.reshape(5, folds, many, size)
        all_points = np.take_along_axis(given, used.argmax(axis=0)[None, None, None], axis=1)
        terms = np.concatenate([all_points, given], axis=1).reshape(5, -1, size)
    own = np.arange(terms.shape[1])
    later, smaller = own >= many, np.where(own % many > 0, own - 1, own)
    other = np.where(later, own % many if seeded else own - many, smaller)
    start = np.stack([np.where(later, own, smaller) if seeded else smaller, other], axis=1)
    goals = np.tile([goal, 0.0], (own.size, 1))
    return problem.rows, terms, start, goals, np.zeros((own.size, size)), terms[0].copy(), np.empty((own.size, _FOUND))


def _slopes(problem: Posed, answer: Solved, cells: Index) -> tuple[Array, Array, Array]:
    """The terms, beta and F of some cells."""
    terms = problem.terms if cells.size == problem.terms.shape[1] else np.ascontiguousarray(problem.terms[:, cells])
    beta, scores = (array.reshape(-1, terms.shape[2])[cells] for array in (answer.beta, answer.scores))
    return terms, beta, terms[0] - terms[1] * beta - scores


def _measure(problem: Posed, answer: Solved, cells: Index) -> None:
    """Gap, dual value and b of some answers, by their scores."""
    found = np.empty((cells.size, _FOUND))
    core.measure_cells(*_slopes(problem, answer, cells), found, problem.bias)
    for name, values in (
        ("dual", found[:, 5]), ("gap", found[:, 6]), ("scale", found[:, 10]),
        ("b", 0.5 * (found[:, 7] + found[:, 8]) * problem.bias),
    ):  # fmt: skip
        getattr(answer, name).reshape(-1)[cells] = values


def _go_on(matrix: Matrix, posed: list[Posed], solved: list[Solved], wanted: Array, bad: Array) -> Array:
    """Solve further what is not good enough by its true scores; which cells have moved."""
    moved, numbers, problems = np.zeros(bad.shape, bool), np.flatnonzero(bad.any(axis=(1, 2))).tolist(), []
    for k in numbers:
        cells = np.flatnonzero(bad[k])
        goals = np.stack([np.zeros(cells.size), wanted[k].flat[cells]], axis=1)
        start = np.stack([_smaller(cells, bad.shape[2]), np.arange(cells.size)], axis=1)
        terms, beta, F = _slopes(posed[k], solved[k], cells)
        problems.append((posed[k].rows, terms, start, goals, beta, F, np.empty((cells.size, _FOUND))))
    _settle(matrix, problems, posed[0].bias)
    for k, (*_, beta, _, found) in zip(numbers, problems, strict=True):
        cells, own = np.flatnonzero(bad[k]), solved[k].beta.reshape(-1, beta.shape[1])
        moved[k].flat[cells] = (beta != own[cells]).any(axis=1)
        own[cells] = beta
        solved[k].steps += int(found[:, 1].sum())
    return moved


def _smaller(cells: Index, many: int) -> Index:
    """Where the cell of the same fold and the C before stands among some; a cell's own place, where it is not there."""
    own = np.arange(cells.size)
    before = np.maximum(own - 1, 0)
    return np.where((cells[before] == cells - 1) & (cells % many > 0), before, own)


def _score(
    K: Array, posed: list[Posed], solved: list[Solved], which: Array, asked: list[Index], twice: bool
) -> None:  # fmt: skip
    """The scores of some cells, of the points of their problem and of those asked for; and gaps by them."""
    for problem, answer, cells in zip(posed, solved, which, strict=True):
        new, at, size = np.flatnonzero(cells), problem.places, problem.y.shape[1]
        answer.asked = answer.asked or [np.zeros((cells.shape[1], points.size)) for points in asked]
        if new.size:
            answer.scores.reshape(-1, size)[new] = _sums(K, at, at, answer.beta.reshape(-1, size)[new], twice)
            answer.twice[cells] = twice
            _measure(problem, answer, new)
        for fold in () if problem.rows.size else np.flatnonzero(cells.any(axis=1)).tolist():
            own = np.flatnonzero(cells[fold])
            answer.asked[fold][own] = answer.scores[fold, own][:, asked[fold]]
    if posed[0].rows.size:
        for fold in np.flatnonzero(which.any(axis=(0, 2))).tolist():
            _ask(K, posed, solved, which[:, fold], fold, asked[fold], twice)


def _ask(
    K: Array, posed: list[Posed], solved: list[Solved], which: Array, fold: int, asked: Index, twice: bool
) -> None:  # fmt: skip
    """The scores of some cells of a fold, of the points that it asks for: of all problems together, since they share
    rows of K.
    """
    order = np.argsort(asked)  # neighbours in K are read together
    beta, first = np.zeros((np.count_nonzero(which), len(K))), 0
    for problem, answer, cells in zip(posed, solved, which, strict=True):
        last = first + int(np.count_nonzero(cells))
        beta[first:last, problem.rows] = answer.beta[fold, cells]
        first = last
    found = np.empty((len(beta), asked.size))
    found[:, order] = _sums(K, np.arange(len(K)), asked[order], beta, twice)
    for answer, cells in zip(solved, which, strict=True):
        answer.asked[fold][cells], found = found[: np.count_nonzero(cells)], found[np.count_nonzero(cells) :]


def _sums(K: Array, rows: Index, columns: Index, beta: Array, twice: bool) -> Array:
    out = np.empty((len(beta), columns.size))
    core.sum_rows(K, rows, columns, beta, twice, out)
    return out

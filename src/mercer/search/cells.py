"""Answers: what is known of a setting in a fold, and how it is read off what was solved together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..estimators import SVC
from ..types import Array, Index
from .aims import Aims
from .matrices import Matrices, Matrix
from .paths import FIRST_GOAL, GOAL, Fold, Posed, good_enough, objective, solve_all
from .smooth import in_features, in_points, placed, seen, weigh

_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class CellAnswer:
    """What is known of one setting in one fold."""

    seconds: float
    tested: Array | None = None
    """f of each problem, as columns, of the rows to test on;"""
    trained: Array | None = None
    """and of those to train on, where they are asked for."""
    gap: float = float("nan")
    """The largest relative gap of its problems."""
    surely: Array | None = None
    """Which labels of the rows to test on are right, whatever exact solver had been used;"""
    maybe: Array | None = None
    """and which may be."""
    ended: bool = False
    """Whether it was left early, because the setting cannot be the best."""
    plain: Any = None
    """The machine itself, where it was fitted by itself."""


@dataclass(frozen=True, eq=False)
class Points:
    """Where a fold is solved: its matrices, and the places of the rows that it trains and tests on."""

    matrices: Matrices
    train: Index
    test: Index
    seen: Index
    """As train, with the rows that have no weight."""
    rows: Index
    """The rows that it trains on."""
    posed: dict[Any, list[Posed]]
    """The problems there that are known already."""


def read(
    first: Any, posed: list[Posed], matrix: Matrix, points: list[Points], truths: list[Any], train_too: bool,
    prune: bool, bounds: bool,
) -> list[list[CellAnswer]]:  # fmt: skip
    """Solve by blocks; the answers of each fold and C. `truths` are the targets to test on; without `bounds`, the gap
    is all that counts, as the machine's tol says.
    """
    root, labels = np.sqrt(np.maximum(matrix.precise.diagonal(), 0.0)), isinstance(first, SVC) and bounds
    asked = [np.concatenate([own.test, own.seen]) if train_too else own.test for own in points]
    truths = [np.searchsorted(first.classes_, truth) if labels else truth for truth in truths]
    paired = labels and (len(posed) == 1 or first.multiclass == "ovo")
    aims = Aims(posed, root, asked, truths, np.size(first.classes_), paired, prune)
    goal = GOAL if bounds else float(first.tol)
    wanted = aims if labels else partial(good_enough, goal)
    solved = solve_all(matrix, posed, asked, wanted, FIRST_GOAL if bounds else goal)
    out = []
    for number, truth in enumerate(truths):
        sure, may = aims.known[number] if labels else (None, None)
        b = aims.b(number) if labels else np.stack([one.b[number] for one in solved])
        f = np.stack([one.scale[number][:, None] * one.asked[number] for one in solved], axis=2) + b.T[:, None, :]
        gap = np.max([one.gap[number] / np.maximum(objective(one)[number], _TINY) for one in solved], axis=0)
        out.append([
            CellAnswer(
                0.0, f[c, : truth.size], f[c, truth.size :] if train_too else None, float(gap[c]),
                None if sure is None else sure[c], None if may is None else may[c], bool(labels and aims.ended[c]),
            )
            for c in range(len(gap))
        ])  # fmt: skip
    return out


def read_smooth(
    unit: Any, matrix: tuple[Matrix, Any] | None, trained: list[Fold], Cs: Array, points: list[Points], train_too: bool
) -> list[list[CellAnswer]]:  # fmt: skip
    """Solve problems of smooth losses; the answers of each fold and C. Without K and its kernel: in features."""
    X = points[0].matrices.X
    problems = weigh(points[0].matrices.n, unit, trained)
    if matrix is None:
        Z = placed(X, unit.bias == "penalised")
        found = [in_features(Z, problem, Cs) for problem in problems]
    else:
        found = [in_points(matrix[0], X, matrix[1], problem, Cs) for problem in problems]
    out = []
    for number, own in enumerate(points):
        tested = seen(found, number, own.test)
        known = seen(found, number, own.seen) if train_too else None
        gap = np.max([one.gap[number] for one in found], axis=0)
        out.append([
            CellAnswer(0.0, tested[c], None if known is None else known[c], float(gap[c])) for c in range(len(Cs))
        ])  # fmt: skip
    return out

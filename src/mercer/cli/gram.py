"""mercer gram: is a kernel positive definite on this data? Its Gram matrix as a picture."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..gram import evidence
from ..io import DataError
from ..kernels import Precomputed
from ..kernels import kernel as parse
from .data import finite_numbers, no_target, read
from .exits import Exit
from .faults import blaming
from .fitting import prepared
from .output import brief, note, show
from .pictures import canvas, require_picture
from .points import written

_FEW = 10
"""Points whose matrix is printed."""


def run(arguments: argparse.Namespace) -> int:
    """Read, encode, look at the kernel, draw."""
    if arguments.picture:
        require_picture(arguments, arguments.picture, [arguments.data])  # said before anything is computed
    kernel: Any = parse(arguments.kernel)
    if isinstance(kernel, Precomputed):
        X, labels = _matrix(arguments), None
    else:
        X, labels = _points(arguments, kernel)
    small = _small(arguments, kernel, X)
    with blaming(arguments.data):
        found = evidence(X) if isinstance(kernel, Precomputed) else evidence(kernel, X, memory=arguments.memory)
        kernel = kernel if isinstance(kernel, Precomputed) else kernel.resolve(X)
    names = (
        "kernel", "n", "asymmetry", "worst_pair", "smallest_eigenvalue", "largest_eigenvalue", "rounding",
        "rank", "witness_value", "witness", "method", "proof", "invariance", "symmetric", "positive_definite",
    )  # fmt: skip
    data = {name: getattr(found, name) for name in names}
    if arguments.picture:
        n = X.shape[0]
        rows = np.unique(np.linspace(0, n - 1, min(n, arguments.points)).astype(int))
        if rows.size < n:
            note(arguments, f"note: {rows.size} of {n} points are drawn; --points draws more.")
        K = X[np.ix_(rows, rows)] if isinstance(kernel, Precomputed) else kernel(X[rows])
        _draw(K, None if labels is None else labels[rows], arguments.picture, data["kernel"])
        data["picture"] = arguments.picture
    if small is not None:
        data |= {"matrix": small.texts, "rank": small.rank}
    show(arguments, data, lambda out: _render(out, found, arguments.picture, small))
    return Exit.FINE


def _points(arguments: argparse.Namespace, kernel: Any) -> tuple[Any, Any]:
    """The points, encoded and scaled as for training, and labels to sort them by."""
    given = written(arguments.data, labels=False)
    if given is not None:
        rows = [[_number(cell) for cell in row] for row in given[0]]
        if len({len(row) for row in rows}) != 1:
            raise DataError(f"The points must have the same number of coordinates: {arguments.data!r}.")
        return np.array(rows), np.array(given[1]) if given[1] else None
    table = read(arguments)
    if no_target(arguments, table):
        table, labels = replace(table, target=None), None
    else:
        table, labels, _ = table.split(arguments.target)
        labels = labels.astype(str) if labels.dtype == object else labels
    return prepared(arguments, table, kernel), labels


def _matrix(arguments: argparse.Namespace) -> Any:
    """The matrix of values that the table is."""
    table = read(arguments)
    if table.sparse:
        raise DataError(f"{table.source} is sparse: a matrix of kernel values is expected.")
    K = np.column_stack([finite_numbers(table, place) for place in range(len(table.names))])
    if K.shape[0] != K.shape[1]:
        raise DataError(f"{table.source} is {K.shape[0]} x {K.shape[1]}: a matrix of kernel values is square.")
    return K


def _draw(K: Any, labels: Any, path: str, title: str) -> None:
    with canvas(path) as plot:
        plot.gram(K, labels=labels, title=brief(title))


def _number(cell: str) -> float:
    try:
        return float(Fraction(cell))
    except (ValueError, ZeroDivisionError):
        raise DataError(f"{cell!r} is not a number: write points such as 1,3 or 1/2,3.") from None


@dataclass(frozen=True)
class _Written:
    """The matrix of few points, as text: exact where its values are fractions, rounded otherwise."""

    texts: list[list[str]]
    rank: int | None

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.texts, strict=True)]
        lines = ["  " + "  ".join(t.rjust(w) for t, w in zip(row, widths, strict=True)) for row in self.texts]
        if self.rank is not None:
            n = len(self.texts)
            found = f"positive definite, rank {n}" if self.rank == n else f"positive semidefinite, rank {self.rank}"
            lines.append(f"  exactly              {found}")
        return "\n".join(lines)


def _small(arguments: argparse.Namespace, kernel: Any, X: Any) -> _Written | None:
    """The matrix where there are few points."""
    from ..explain.algebra import solve
    from ..explain.exact import NotByHandError
    from ..explain.sample import Sample, read_sample

    if X.shape[0] > _FEW:
        return None
    given = written(arguments.data, labels=False)
    if given is not None or isinstance(kernel, Precomputed):
        try:
            K = Sample(**read_sample(X.tolist() if given is None else given[0], kernel, "")).K
            return _Written(
                [[str(v) for v in row] for row in K], len(K) - len(solve(K, [K[0][0] * 0] * len(K)).directions)
            )
        except (NotByHandError, ValueError):  # of other values, rounded ones; of a matrix that is none, the evidence
            pass
    values = X if isinstance(kernel, Precomputed) else kernel.resolve(X)(X)
    return _Written([[f"{float(v):.4g}" for v in row] for row in values], None)


def _render(out: Any, found: Any, picture: str | None, small: _Written | None) -> None:
    text = str(found)
    if small is not None:
        first, _, rest = text.partition("\n")
        text = f"{first}\n{small}\n{rest}"
    out.print(brief(text), soft_wrap=True, markup=False)
    if picture:
        out.print(f"drawn in {picture}", soft_wrap=True, markup=False)

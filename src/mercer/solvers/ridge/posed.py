"""Ridge: what kernel ridge regression minimises, over rows that are arrays, or pieces that somebody else reads; and the
certificate of its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...amounts import AT_A_TIME, FINE_TOLERANCE
from ...columns import pieces
from ...kernels import Kernel
from ...kernels.points import count, held_width, is_sparse, stack, take
from ...memory import DOUBLE, BudgetError, format_bytes
from ...solution import Certificate, WorstCertificate
from ...types import Array, Points
from .row_sums import DataPiece, Stream

TARGET = "target"
"""What columns are called in certificates: target 0, target 1, ..."""


@dataclass(frozen=True, eq=False)
class Ridge:
    """min J(w) = 1/2 sum_i w_i (f(x_i) - t_i)^2 + lambda/2 |w|^2, for each target; w_i > 0.

    The rows are a stream.
    """

    stream: Stream
    mass: float
    centre: Array
    """The weighted mean of each target, or 0 where b is 0."""

    bias: bool
    budget: int
    """Bytes that a fit may take."""

    arrays: Any
    """All rows as one piece, where they are arrays; else None."""
    pool: Any = None
    """Rows drawn at random, where there are no arrays."""

    kernel: Any = None
    penalty: float = 1.0
    """lambda."""
    generator: Any = None
    loo: bool = False
    """Whether the answer must have what leave-one-out residuals need: a precise factor, or all rows in it."""
    tol: float = FINE_TOLERANCE
    """What the solver is asked for; it may use it to choose how much it does at a time."""

    @property
    def some(self) -> DataPiece:
        """Rows that are here: all of them, or those that were drawn at random."""
        return self.arrays or self.pool  # type: ignore[no-any-return]

    def require_room(self, size: int, what: str) -> None:
        """Raise where normal equations of so many features are larger than all that a fit may take."""
        needed = bytes_of_squares(size)
        if needed > self.budget:
            raise BudgetError(
                f"The normal equations of {size} {what} take {format_bytes(needed)}, more than "
                f"memory={format_bytes(self.budget)}: allow more, or take fewer."
            )

    def drawn(self, size: int, generator: np.random.Generator | None = None) -> DataPiece:
        """So many rows at random; all of them, in random order, where there are not more."""
        generator = self.generator if generator is None else generator
        rows = slice(0, size) if self.arrays is None else generator.permutation(self.stream.n)[:size]
        return self.some.rows(rows)


@dataclass(frozen=True, eq=False)
class RidgeCertificate(WorstCertificate):
    """What is proved of an answer, in values of J, and how well it solves its equations.

    relative_residual is |t - f(x) - lambda beta / w| / |t| over the training points (t centred where b is free); in
    features, the residual of the normal equations in parts of that of f = 0. Of several targets this is the one with
    the largest gap, and `parts` holds all of them.

    With landmarks, all of this is about the problem that they pose: the best f that is a sum over landmarks. What is
    known of the full problem is full_residual: the relative residual of its equations on a sample of rows, for
    beta = w (t - f(x)) / lambda.
    """

    relative_residual: float = 0.0
    full_residual: float | None = None

    def __str__(self) -> str:
        text = super().__str__() if self.parts else Certificate.__str__(self)
        text = f"{text}\n  relative residual {self.relative_residual:.1e}"
        if self.full_residual is None:
            return text
        return f"{text}\n  full problem, without landmarks: relative residual {self.full_residual:.1e} on a sample"


def of_arrays(X: Points, T: Array, weight: Array, bias: bool, budget: int, **rest: Any) -> Ridge:
    """Data that is there; no copies are made."""
    whole, n = DataPiece(X, T, weight), len(T)

    def read() -> Iterator[DataPiece]:
        return map(whole.rows, pieces(n, max(1, AT_A_TIME.values // held_width(X))))

    centre = weighted_mean(T, weight) if bias else np.zeros(T.shape[1])
    return Ridge(Stream(read, n, T.shape[1], budget), float(weight.sum()), centre, bias, budget, whole, **rest)


def weighted_mean(T: Array, weight: Array) -> Array:
    """Of each column; of a constant one exactly its value, so that nothing is left of it."""
    low, high = T.min(axis=0), T.max(axis=0)
    return np.asarray(np.where(low == high, low, weight @ T / weight.sum()))


def of_chunks(
    chunks: Any,
    admit: Callable[[Any, Any, Any], Any],
    bias: bool,
    budget: int,
    most: int,
    generator: np.random.Generator,
) -> Ridge:
    """Data that is read piece by piece, each time anew; `admit` checks what is read. At most `most` rows are kept."""

    targets = 0  # of the first piece

    def read() -> Iterator[DataPiece]:
        nonlocal targets
        for number, chunk in enumerate(chunks() if callable(chunks) else chunks):
            if not isinstance(chunk, tuple) or not 2 <= len(chunk) <= len(DataPiece._fields):
                raise ValueError("Each piece must be (X, y) or (X, y, sample_weight).")
            X, y, *weight = chunk
            piece = DataPiece(*admit(X, y, *(weight or [None])))
            targets = targets or piece.T.shape[1]
            if piece.T.shape[1] != targets:
                raise ValueError(
                    f"Piece {number} has {piece.T.shape[1]} targets, but {targets} are expected, as in piece 0: "
                    "all pieces must have the same."
                )
            kept = np.flatnonzero(piece.weight)
            if kept.size:
                yield piece if kept.size == piece.weight.size else piece.rows(kept)

    n, mass, totals = 0, 0.0, np.zeros(1)
    pool, keys = None, np.empty(0)
    for piece in read():
        n += count(piece.X)
        mass += float(piece.weight.sum())
        totals = totals + piece.weight @ piece.T
        new = generator.random(count(piece.X))
        pool, keys = _least(pool, keys, piece, new, most)
    if pool is None:
        raise ValueError("There are no pieces, or none with a row of positive weight: nothing to learn from.")
    if next(read(), None) is None:
        raise ValueError(
            "The pieces could be read only once, and a fit reads them several times: give the function that makes the "
            "iterator, or a list."
        )
    stream = Stream(lambda: _all_of(read(), n), n, targets, budget)
    return Ridge(stream, mass, totals / mass if bias else np.zeros(targets), bias, budget, None, pool)


def _all_of(pieces: Iterator[DataPiece], n: int) -> Iterator[DataPiece]:
    """The pieces, which must have n rows in all."""
    seen = 0
    for piece in pieces:
        seen += count(piece.X)
        if seen <= n:
            yield piece
    if seen != n:
        raise ValueError(
            f"The pieces had {n} rows with a weight when they were first read, but {seen} now: each reading must give "
            "the same rows."
        )


def _least(pool: DataPiece | None, keys: Array, piece: DataPiece, new: Array, most: int) -> tuple[DataPiece, Array]:
    """Of the rows so far and the new ones those with the least keys, in order of these: rows drawn at random."""
    if pool is not None and keys.size == most:  # most of the new ones will not be needed
        needed = np.flatnonzero(new < keys[-1])
        if needed.size == 0:
            return pool, keys
        piece, new = piece.rows(needed), new[needed]
    both = piece if pool is None else _joined(pool, piece)
    keys = np.concatenate([keys, new])
    order = np.argsort(keys)[:most]
    return DataPiece(take(both.X, order), both.T[order], both.weight[order]), keys[order]


def _joined(a: DataPiece, b: DataPiece) -> DataPiece:
    return DataPiece(stack(a.X, b.X), np.concatenate([a.T, b.T]), np.concatenate([a.weight, b.weight]))


def is_chunks(X: Any) -> bool:
    """Whether X, without targets, stands for pieces: a function that gives an iterator of them, or something to go
    through. So does an empty list: that there are no pieces is what is wrong with it.
    """
    if is_sparse(X) or hasattr(X, "shape") or isinstance(X, str | bytes):
        return False
    listed = isinstance(X, list | tuple) and (len(X) == 0 or isinstance(X[0], tuple))
    return callable(X) or listed or hasattr(X, "__next__")


def bytes_of_squares(size: int) -> int:
    """What normal equations of so many features take."""
    return AT_A_TIME.copies * DOUBLE * size**2


def width_of_features(kernel: Kernel, X: Points) -> int | None:
    """The number of explicit features; None where there are none. Seen on one point."""
    features = kernel.features(X[0:1])
    return None if features is None else int(features.shape[1])

"""Ridge regression through landmarks on rows that are spread over blocks: all it needs are sums over the rows.

Targets and weights of a block's rows are sent once and held there; where they were lost, they are sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any
from uuid import uuid4

import numpy as np

from ..arithmetic import by_default
from ..columns import product_between
from ..kernels import Kernel
from ..kernels.points import take
from ..shards.afar import SpreadPoints
from ..shards.block import Block
from ..shards.engine import WorkersLostError
from ..shards.messages import Lost
from ..solvers.ridge import Ridge
from ..solvers.ridge.posed import of_arrays, values_within
from ..solvers.ridge.row_sums import Features, Moments, Piece, Stream, Sums, moments, sums
from ..types import Array, Index, Points

_TRIES = 10  # as often targets may be lost in one pass


class SpreadRows:
    """Pieces of training data, in the place of chunks: points that are elsewhere, with targets and weights of here."""

    def __init__(self, points: SpreadPoints, y: Array, weight: Array) -> None:
        self.points, self.several = points, y.ndim == 2
        self.T, self.weight = y.reshape(len(points), -1), weight
        self.engine, self.name = points.engine, f"targets-{uuid4().hex}"

    def __call__(self) -> Iterator[Any]:
        """Block by block, here."""
        for part in self.points.parts.values():
            yield self.points[part.places], self.T[part.places], self.weight[part.places]

    def data(self, bias: bool, budget: int, most: int, generator: np.random.Generator) -> Ridge:
        """What a fit sees; `most` rows are drawn at random."""
        mass = float(self.weight.sum())
        centre = self.weight @ self.T / mass if bias else np.zeros(self.T.shape[1])
        drawn = generator.permutation(len(self.points))[:most]
        pool = Piece(self.points[drawn], self.T[drawn], self.weight[drawn])
        stream = Stream(
            lambda: (Piece(*piece) for piece in self()), len(self.points), self.T.shape[1], values_within(budget),
            afar=self,
        )  # fmt: skip
        return Ridge(stream, mass, centre, bias, budget, None, pool)

    def whole(self, bias: bool, budget: int) -> Ridge:
        """All of it, where it is."""
        return of_arrays(self.points, self.T, self.weight, bias, budget)

    # Sums, block by block.

    def sums(
        self, features: Features, coefficients: Array, dtype: Any, centre: Array | None, errors: Array | None
    ) -> list[Sums]:
        """What each block adds; errors are filled, where they are given."""
        told = _given(features), coefficients, np.dtype(dtype).name, centre, errors is not None
        found = self._pass(sums_of_rows, told)
        for number, part in self.points.parts.items():
            if errors is not None:
                errors[part.places] = found[number][1]
        return [reply[0] for reply in found.values()]

    def moments(self, features: Features, centre: Array, L: Array | None) -> Iterator[Moments]:
        """The normal equations: the sum of those of all blocks."""
        first, *others = self._pass(moments_of_rows, (_given(features), centre, L)).values()
        yield reduce(Moments.plus, others, first)

    def scores(self, kernel: Kernel, points: Points, errors: Array) -> Array:
        """sum_i w_i e_i k(x_i, .) at some points."""
        parts = self.points.parts
        told = {b: (part.rows, self.weight[part.places, None] * errors[part.places]) for b, part in parts.items()}
        return np.asarray(sum(self.engine.ask(scores_of_rows, told, kernel, points).values()))

    def _pass(self, verb: Callable[..., Any], told: Any) -> dict[int, Any]:
        """The replies of all blocks, in order; those that do not hold their targets get them, and are asked again."""
        replies: dict[int, Any] = {}
        missing = list(self.points.parts)
        for _ in range(_TRIES):
            replies |= self.engine.ask(verb, dict.fromkeys(missing, self.name), told)
            missing = [number for number in missing if isinstance(replies[number], Lost)]
            if not missing:
                return {number: replies[number] for number in sorted(replies)}
            parts = {number: self.points.parts[number] for number in missing}
            told_anew = {b: (self.name, p.rows, self.T[p.places], self.weight[p.places]) for b, p in parts.items()}
            self.engine.ask(hold, told_anew)
        raise WorkersLostError(f"Blocks were lost {_TRIES} times in one pass: the workers do not live long enough.")


def _given(features: Features) -> tuple[Kernel, Points, int]:
    return features.kernel, features.landmarks, features.size


# What blocks do.


def hold(block: Block, name: str, rows: Index, T: Array, weight: Array) -> None:
    """Keep targets and weights of some rows."""
    block.held[name] = (rows, T, weight)


def _piece(block: Block, name: str) -> Piece | None:
    found = block.held.get(name)
    if found is None:
        return None
    rows, T, weight = found
    whole = np.array_equal(rows, np.arange(block.X.shape[0]))
    return Piece(block.X if whole else take(block.X, rows), T, weight)


def _stream(piece: Piece, targets: int) -> Stream:
    return Stream(lambda: iter([piece]), len(piece.weight), targets)


@by_default
def sums_of_rows(block: Block, name: str, told: Any) -> tuple[Sums, Array | None] | Lost:
    """See `solvers.ridge.row_sums.sums`; one more target than there are is 1 everywhere."""
    piece = _piece(block, name)
    if piece is None:
        return Lost()
    features, coefficients, dtype, centre, wanted = told
    if coefficients.shape[1] > piece.T.shape[1]:
        piece = piece._replace(T=np.column_stack([piece.T, np.ones(len(piece.T))]))
    errors = np.empty((len(piece.weight), coefficients.shape[1])) if wanted else None
    stream = _stream(piece, coefficients.shape[1])
    return sums(stream, Features(*features), coefficients, dtype, centre=centre, errors=errors), errors


@by_default
def moments_of_rows(block: Block, name: str, told: Any) -> Moments | Lost:
    """See `solvers.ridge.row_sums.moments`."""
    piece = _piece(block, name)
    if piece is None:
        return Lost()
    features, centre, L = told
    *_, total = moments(_stream(piece, piece.T.shape[1]), Features(*features), centre, L)
    assert total is not None
    return total


@by_default
def scores_of_rows(block: Block, rows: Index, beta: Array, kernel: Kernel, points: Points) -> Array:
    """sum_i beta_i k(x_i, .) at some points."""
    return product_between(kernel, points, take(block.X, rows), beta, np.float64)

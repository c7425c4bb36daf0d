"""Ridge regression through landmarks on rows that are spread over blocks: all it needs are sums over the rows.

Targets and weights of a block's rows are sent once and held there; where they were lost, they are sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from ..amounts import ROUNDS
from ..arithmetic import by_default
from ..columns import SCRATCH, pieces, product_between
from ..columns.columns import PIECE
from ..kernels import Kernel
from ..memory import DOUBLE
from ..shards.afar import Share, SpreadPoints, put
from ..shards.block import Block
from ..shards.compact import Brief, Rows, in_brief, run_of, size_of
from ..shards.engine import WorkersLostError
from ..shards.messages import Lost
from ..solvers.ridge import Ridge
from ..solvers.ridge.row_sums import DataPiece, Moments, RowsOfFeatures, Stream, Sums, moments, sums
from ..types import Array, Points

_LOST_AGAIN = f"Blocks were lost {ROUNDS.again} times in one pass: the workers do not live long enough."


class SpreadRows:
    """Training data in place of chunks: points that are spread over blocks, and targets and weights that are here."""

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
        pool = DataPiece(self.points[drawn], self.T[drawn], self.weight[drawn])
        stream = Stream(
            lambda: (DataPiece(*piece) for piece in self()), len(self.points), self.T.shape[1], budget, self,
        )  # fmt: skip
        return Ridge(stream, mass, centre, bias, budget, None, pool)

    # Sums, block by block.

    def sums(
        self, features: RowsOfFeatures, coefficients: Array, dtype: Any, centre: Array | None, errors: Array | None
    ) -> list[Sums]:
        """What each block adds; errors are filled, where they are given: blocks keep theirs until they have sent them,
        as many at a time as there is room for.
        """
        wanted = 0 if errors is None else errors.shape[1]
        told = _given(features), coefficients, np.dtype(dtype).name, centre, wanted
        found = self._pass(sums_of_rows, told, self.points.parts)
        if errors is not None:
            for parts in self.points.waves(np.arange(len(self.points)), DOUBLE * wanted):
                put(errors, parts, self._errors(parts, told))
        return list(found.values())

    def _errors(self, parts: dict[int, Share], told: Any) -> dict[int, Array]:
        """Those of some rows; a block that was lost goes through its rows again."""
        asked = {b: (self.name, in_brief(self.points.place[part.places])) for b, part in parts.items()}
        for _ in range(ROUNDS.again):
            found = self.engine.ask(errors_at, asked)
            lost = [b for b, reply in found.items() if isinstance(reply, Lost)]
            if not lost:
                return found
            self._pass(sums_of_rows, told, lost)
        raise WorkersLostError(_LOST_AGAIN)

    def moments(self, features: RowsOfFeatures, centre: Array, L: Array | None) -> Iterator[Moments]:
        """The normal equations: the sum of those of all blocks."""
        first, *others = self._pass(moments_of_rows, (_given(features), centre, L), self.points.parts).values()
        yield reduce(Moments.plus, others, first)

    def scores(self, kernel: Kernel, points: Points, errors: Array) -> Array:
        """sum_i w_i e_i k(x_i, .) at some points."""
        parts = self.points.parts
        told = {b: (in_brief(p.rows), self.weight[p.places, None] * errors[p.places]) for b, p in parts.items()}
        return np.asarray(sum(self.engine.ask(scores_of_rows, told, kernel, points).values()))

    def _pass(self, verb: Callable[..., Any], told: Any, numbers: Iterable[int]) -> dict[int, Any]:
        """The replies of blocks, in order; those that do not hold their targets get them, and are asked again."""
        replies: dict[int, Any] = {}
        missing = list(numbers)
        for _ in range(ROUNDS.again):
            replies |= self.engine.ask(verb, dict.fromkeys(missing, self.name), told)
            missing = [number for number in missing if isinstance(replies[number], Lost)]
            if not missing:
                return {number: replies[number] for number in sorted(replies)}
            parts = {number: self.points.parts[number] for number in missing}
            told_anew = {b: self._told(part) for b, part in parts.items()}
            self.engine.ask(hold, told_anew)
        raise WorkersLostError(_LOST_AGAIN)

    def _told(self, part: Share) -> tuple[str, Rows, Array, Brief]:
        return self.name, in_brief(part.rows), self.T[part.places], Brief.of(self.weight[part.places])


def _given(features: RowsOfFeatures) -> tuple[Kernel, Points, int]:
    return features.kernel, features.landmarks, features.size


# What blocks do.


def hold(block: Block, name: str, rows: Rows, T: Array, weight: Brief) -> None:
    """Keep targets and weights of some rows."""
    block.held[name] = _HeldTargets(rows, T, weight)


class _HeldTargets(NamedTuple):
    """Some rows of a block, with targets and weights."""

    rows: Rows
    T: Array
    weight: Brief
    errors: Array | None = None
    """Of the last pass that was to keep them."""

    def stream(self, X: Points, ones: bool = False) -> Stream:
        """The rows, some at a time; with one more target, which is 1 everywhere."""
        n = size_of(self.rows)

        def read() -> Iterator[DataPiece]:
            for part in pieces(n, PIECE):
                some = slice(part.start, min(part.stop, n))
                T = np.column_stack([self.T[some], np.ones(some.stop - some.start)]) if ones else self.T[some]
                yield DataPiece(X[run_of(self.rows, some)], T, self.weight.at(some))

        return Stream(read, n, self.T.shape[1] + ones, SCRATCH // 2)


@by_default
def sums_of_rows(block: Block, name: str, told: Any) -> Sums | Lost:
    """See `solvers.ridge.row_sums.sums`; one more target than there are is 1 everywhere."""
    held: _HeldTargets | None = block.held.get(name)
    if held is None:
        return Lost()
    features, coefficients, dtype, centre, wanted = told
    stream = held.stream(block.X, ones=coefficients.shape[1] > held.T.shape[1])
    held = block.held[name] = held._replace(errors=None)  # never those of two passes
    errors = np.empty((stream.n, wanted)) if wanted else None
    block.held[name] = held._replace(errors=errors)
    return sums(stream, RowsOfFeatures(*features), coefficients, dtype, centre=centre, errors=errors)


def errors_at(block: Block, name: str, places: Rows) -> Array | Lost:
    """Those of the last pass, at some places."""
    held: _HeldTargets | None = block.held.get(name)
    return Lost() if held is None or held.errors is None else np.asarray(held.errors[places])


@by_default
def moments_of_rows(block: Block, name: str, told: Any) -> Moments | Lost:
    """See `solvers.ridge.row_sums.moments`."""
    held = block.held.get(name)
    if held is None:
        return Lost()
    features, centre, L = told
    *_, total = moments(held.stream(block.X), RowsOfFeatures(*features), centre, L)
    assert total is not None
    return total


@by_default
def scores_of_rows(block: Block, rows: Rows, beta: Array, kernel: Kernel, points: Points) -> Array:
    """sum_i beta_i k(x_i, .) at some points."""
    total, n = np.zeros((points.shape[0], beta.shape[1])), size_of(rows)
    for part in pieces(n, PIECE):
        some = slice(part.start, min(part.stop, n))
        total += product_between(kernel, points, block.X[run_of(rows, some)], beta[some], np.float64)
    return total

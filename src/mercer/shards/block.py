"""Block: some rows of X where they live, and what is done with them: functions (block, message) -> reply.

A block's rows can be had again from wherever they came. What it knows of problems (coefficients and F) is soft: it is
not copied with the block, and who misses it is told `Lost`, and tells the block anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..amounts import AT_A_TIME
from ..arithmetic import by_default
from ..columns import sums_between
from ..columns.choose import way_of
from ..kernels import Kernel
from ..kernels.adaptive import variance
from ..kernels.pairwise import linear_scores, linear_weights, rows_at_a_time
from ..kernels.points import Chosen, is_sparse, nbytes, squared_norms, take, vectors
from ..types import Array, Index, Points
from .compact import Brief, Rows, run_of, size_of, some_of
from .messages import Ask, Begin, Candidates, Facts, Lost, Moved, Refresh, Rescaled, Slopes, Summary, Support
from .piece import Piece


class Block:
    """Rows of X; `number` is its place among the blocks."""

    def __init__(self, number: int, X: Points) -> None:
        self.number, self.X = number, X
        self.pieces: dict[str, _Known] = {}
        self.held: dict[str, Any] = {}  # what else it was told
        self.lock = threading.Lock()

    def __reduce__(self) -> Any:
        return Block, (self.number, self.X)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + nbytes(self.X)


class _Known(NamedTuple):
    """A problem at a round, and what was replied then."""

    round: int
    piece: Piece
    reply: Summary


def admitted(number: int, X: Any) -> Block:
    """A block of rows of numbers: a matrix, dense or CSR, or a data frame; it may be empty."""
    if hasattr(X, "iloc"):
        X = np.ascontiguousarray(X.to_numpy())
    if hasattr(X, "shape") and len(X.shape) == 2 and X.shape[0] == 0:
        return Block(number, np.zeros((0, X.shape[1])))
    try:
        return Block(number, vectors(X, "X"))
    except ValueError as error:
        raise ValueError(f"Block {number} of X: {error}") from None


@by_default
def facts(block: Block) -> Facts:
    """What the block is."""
    X = block.X
    values = X.data if is_sparse(X) else X
    largest = float(max(values.max(), -values.min())) if values.size else 0.0
    return Facts(
        X.shape[0], X.shape[1], X.dtype.name, is_sparse(X), nbytes(X), largest, X[_witnesses(X)]
    )  # fmt: skip


def _witnesses(X: Points) -> Index:
    """The longest row, by squares and by absolute values; and one that is not of zeros and ones, if any is."""
    longest, widest, other = (-1.0, 0), (-1.0, 0), -1
    for part, some in _strips(X, slice(0, X.shape[0])):
        start = part.start
        squares, sizes = squared_norms(some), np.asarray(abs(some).sum(axis=1)).reshape(-1)
        longest = max(longest, (float(squares.max()), start + int(squares.argmax())))
        widest = max(widest, (float(sizes.max()), start + int(sizes.argmax())))
        if other < 0:
            values = some.data if is_sparse(some) else some
            odd = ((values != 0) & (values != 1)).reshape(-1)
            place = int(odd.argmax()) if odd.any() else -1
            if place >= 0:
                row = np.searchsorted(some.indptr, place, "right") - 1 if is_sparse(some) else place // X.shape[1]
                other = start + int(row)
    rows = [longest[1], widest[1], *([other] if other >= 0 else [])]
    return np.unique(rows) if X.shape[0] else np.empty(0, np.intp)


# Problems.


@by_default
def begin(block: Block, message: Begin) -> Summary:
    """Take a problem as it stands."""
    way = way_of(message.kernel, (block.X, *message.witnesses), message.dtype)  # points of other blocks will meet these
    piece = Piece(way, block.X, message)
    reply = piece.summary()
    with block.lock:
        block.pieces[message.problem] = _Known(message.round, piece, reply)
    return reply


@by_default
def ask(block: Block, message: Ask) -> Candidates | Lost:
    """Who violates most."""
    with block.lock:
        known = block.pieces.get(message.problem)
        if known is None or known.round != message.round:
            return Lost()
        return known.piece.answer(message, block.X)


@by_default
def move(block: Block, question: Ask | None, message: Moved) -> Summary | Lost:
    """Some points have new coefficients; who violates most then?"""

    def follow(piece: Piece) -> float:
        mine = np.flatnonzero(message.block == block.number)
        return piece.follow(message.points, message.delta, message.place[mine], message.beta[mine])

    reply = _changed(block, message, follow)
    if isinstance(reply, Lost) or question is None:
        return reply
    named = ask(block, question)
    return named if isinstance(named, Lost) else replace(reply, named=named)


@by_default
def rescale(block: Block, message: Rescaled) -> Summary | Lost:
    """Every coefficient is so many times what it was."""
    return _changed(block, message, lambda piece: piece.scale(message.factor))


def _changed(block: Block, message: Moved | Rescaled, change: Callable[[Piece], float]) -> Summary | Lost:
    """A change of the round before, which tells by how much the dual has risen; nothing, where it was made already."""
    with block.lock:
        known = block.pieces.get(message.problem)
        if known is None or not message.round - 1 <= known.round <= message.round:
            return Lost()
        if known.round < message.round:
            del block.pieces[message.problem]  # until F is whole again
            gain = change(known.piece)
            known = block.pieces[message.problem] = _Known(message.round, known.piece, known.piece.summary(gain))
        return known.reply


@by_default
def slopes(block: Block, problem: str, number: int, places: Rows) -> Slopes | Lost:
    """F after this round, at some places."""
    with block.lock:
        known = block.pieces.get(problem)
        if known is None or known.round != number:
            return Lost()
        return Slopes(known.piece.F[places], known.piece.error)  # F stays as it is until the reply is there


@by_default
def refresh(block: Block, message: Refresh) -> Summary | Lost:
    """K beta as it really is."""
    with block.lock:
        known = block.pieces.get(message.problem)
        if known is None:
            return Lost()
        known.piece.stand(message.beta, message.places, message.scores)
        reply = known.piece.summary()
        block.pieces[message.problem] = _Known(message.round, known.piece, reply)
        return reply


def forget(block: Block, problem: str) -> None:
    """The problem is solved."""
    with block.lock:
        block.pieces.pop(problem, None)


# Points and sums, of which nothing is known beforehand.


def points_at(block: Block, rows: Rows) -> Points:
    """Some points."""
    return chosen(block.X, rows, take)


@by_default
def diagonal_at(block: Block, rows: Rows, kernel: Kernel) -> Array:
    """k(x, x) of some points."""
    out = np.empty(size_of(rows))
    for part, some in _strips(block.X, rows):
        out[part] = kernel.diag(some)
    return out


@by_default
def sums_at(block: Block, rows: Rows, sums: Array | None, support: Support) -> Array:
    """sums + sum_j weights_j k(z_j, x) at some points, a row for each problem, of values of the support's precision."""
    found = sums_with(support, chosen(block.X, rows, Chosen))
    if sums is not None:
        found += sums
    return found


def sums_with(support: Support, X: Any) -> Array:
    """sum_j weights_j k(z_j, x) at some points, a row for each problem."""
    edges = [0, len(support.weights)]
    return np.asarray(sums_between(support.kernel, X, support.points, support.weights, edges, support.dtype)[0])


@by_default
def weights_at(block: Block, rows: Rows, V: Array) -> Array:
    """w = sum_i v_i x_i of some points, a row for each problem."""
    return linear_weights(chosen(block.X, rows, Chosen), V)


@by_default
def scores_at(block: Block, rows: Rows, W: Array) -> Array:
    """<w, x> of some points, a column for each problem."""
    return linear_scores(chosen(block.X, rows, Chosen), W)


@by_default
def moments(block: Block, rows: Rows, weight: Brief) -> Array:
    """The sum of the weights, and the mean and the variance of all entries: a row for every strip of some points."""
    found = []
    for part, X in _strips(block.X, rows):
        w, sums = weight.at(part), np.asarray(X.sum(axis=1, dtype=np.float64)).reshape(-1)
        if w.any():
            found.append((float(w.sum()), float(w @ sums) / float(w.sum() * X.shape[1]), variance(X, w)))
    return np.array(found).reshape(-1, 3)


def chosen(X: Points, rows: Rows, copy: Callable[[Points, Index], Any]) -> Any:
    """These rows of a block, as they are where that takes no copy."""
    if isinstance(rows, slice) and (size_of(rows) == X.shape[0] or not is_sparse(X)):
        return X if size_of(rows) == X.shape[0] else X[rows]
    return copy(X, some_of(rows, slice(0, size_of(rows))))


def _strips(X: Points, rows: Rows) -> Iterator[tuple[slice, Points]]:
    """These rows, as many at a time as a worker has room for beside the block."""
    step, n = max(1, rows_at_a_time(X) // AT_A_TIME.copies), size_of(rows)  # sums of sparse strips copy them
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        yield part, X[run_of(rows, part)]

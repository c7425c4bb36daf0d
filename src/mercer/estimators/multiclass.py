"""One against one: the pairs of classes, LIBSVM's layout of their coefficients, and their votes.

Points are sorted by class. A point of class c has a coefficient in each of the k - 1 pairs of c with another class o:
it stands in row o of the layout, or in row o - 1 where o > c. So k - 1 rows hold what k (k - 1) / 2 pairs have found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, combinations

import numpy as np

from .._core.core import CHOICE
from ..amounts import AT_A_TIME
from ..columns import pieces
from ..parallel import for_each
from ..types import Array, Index

core = CHOICE.functions


def pairs(k: int) -> Iterator[tuple[int, int]]:
    """(0, 1), (0, 2), ..., (1, 2), ...: the pairs of k classes."""
    return combinations(range(k), 2)


def class_slices(sizes: Sequence[int]) -> list[slice]:
    """Where each class stands, of classes with these sizes one after the other."""
    return [slice(end - size, end) for end, size in zip(accumulate(sizes), sizes, strict=True)]


def paired(sizes: Sequence[int]) -> tuple[Index, Index, Array]:
    """The points of each pair of classes, those of the first and then those of the second, all in one row; where each
    pair ends; and their labels.
    """
    every, classes = np.arange(sum(sizes)), [c for pair in pairs(len(sizes)) for c in pair]
    own = [every[place] for place in class_slices(sizes)]
    counts = np.array([sizes[c] for c in classes])
    labels = np.array([1.0, -1.0] * (counts.size // 2)).repeat(counts)
    return np.concatenate([own[c] for c in classes]), np.ascontiguousarray(counts.cumsum()[1::2]), labels


def pack(betas: Sequence[Array], sizes: Sequence[int]) -> Array:
    """The layout (k - 1, n) of the coefficients of each pair, first those of its first class."""
    places = class_slices(sizes)
    out = np.zeros((len(sizes) - 1, sum(sizes)))
    for (i, j), beta in zip(pairs(len(sizes)), betas, strict=True):
        out[j - 1, places[i]], out[i, places[j]] = beta[: sizes[i]], beta[sizes[i] :]
    return out


def unpack(layout: Array, sizes: Sequence[int]) -> list[Array]:
    """The coefficients of each pair: `pack`, undone."""
    places = class_slices(sizes)
    return [np.concatenate([layout[j - 1, places[i]], layout[i, places[j]]]) for i, j in pairs(len(sizes))]


def join(sums: Array) -> Array:
    """Sums over pairs (m, pairs) from sums over each class (k, k - 1, m), which are those of the layout's rows."""
    first, second = np.triu_indices(len(sums), 1)
    return np.asarray((sums[first, second - 1] + sums[second, first]).T)


def apart(scores: Array, k: int) -> Array:
    """`join`, undone: sums over each class (k, k - 1, n) that give these scores (n, pairs)."""
    first, second = np.triu_indices(k, 1)
    parts = np.zeros((k, k - 1, len(scores)))
    parts[first, second - 1] = scores.T
    return parts


def cast(
    sums: Callable[[slice], Array], n: int, k: int, biases: Array, ties: bool = True, threads: int = 1
) -> tuple[Array, Array]:
    """The votes for each class and its margins, (n, k), from sums over each class (k, k - 1, .) at a slice of n points.

    A score above 0 (with `ties`, of 0 too) is a vote for the first class of its pair. A margin is the sum of the scores
    of pairs that the class comes first in, minus the others. With threads, two slices are worked on at a time.
    """
    won, margin = np.empty((2, n, k))

    def task(at: slice) -> None:
        core.votes(np.ascontiguousarray(sums(at)), biases, ties, won[at], margin[at])

    every = pieces(n, max(1, AT_A_TIME.values // (2 * k * (k - 1))))
    for_each(every, task, min(threads, 2) if len(every) > 1 else 1)
    return won, margin


def decision(won: Array, margin: Array) -> Array:
    """For each class the pairs that it wins, and less than 1/3 for by how much; `won` and `margin` are overwritten."""
    size = np.abs(margin)
    size += 1.0
    size *= 3.0
    margin /= size
    won += margin
    return won

"""One against one: the pairs of classes, LIBSVM's layout of their coefficients, and their votes.

Points are sorted by class. A point of class c has a coefficient in each of the k - 1 pairs of c with another class o:
it stands in row o of the layout, or in row o - 1 where o > c. So k - 1 rows hold what k (k - 1) / 2 pairs have found.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..columns import pieces
from ..types import Array

_ENTRIES = 1_000_000  # scores that are counted at a time


def pairs(k: int) -> list[tuple[int, int]]:
    """(0, 1), (0, 2), ..., (1, 2), ...: the pairs of k classes."""
    return list(combinations(range(k), 2))


def class_slices(sizes: Sequence[int]) -> list[slice]:
    """Where each class stands, of classes with these sizes one after the other."""
    ends = np.cumsum(sizes)
    return [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]


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


def join(parts: Sequence[Array]) -> Array:
    """Sums over pairs (m, pairs) from sums over each class (m, k - 1), column by column as in the layout."""
    first, second = np.triu_indices(len(parts), 1)
    sums = np.stack(parts)
    return np.asarray((sums[first, :, second - 1] + sums[second, :, first]).T)


def votes(scores: Array, k: int) -> Array:
    """For each class the pairs that it wins, and less than 1/3 for by how much: (n, k) from (n, pairs).

    A positive score is a vote for the first class of its pair.
    """
    first, second = np.triu_indices(k, 1)
    step = max(1, _ENTRIES // first.size)
    if len(scores) > step:
        return np.vstack([votes(scores[part], k) for part in pieces(len(scores), step)])
    own, cells = k * np.arange(len(scores))[:, None], len(scores) * k  # the cells of a row, in one long row of all
    won = np.bincount((own + np.where(scores >= 0.0, first, second)).ravel(), minlength=cells)
    won_by = np.bincount((own + first).ravel(), scores.ravel(), cells)
    lost_by = np.bincount((own + second).ravel(), scores.ravel(), cells)
    margin = won_by - lost_by
    return np.asarray((won + margin / (3.0 * (np.abs(margin) + 1.0))).reshape(-1, k))

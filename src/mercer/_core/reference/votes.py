"""One against one: what the pairs of k classes vote for, without a table of their scores."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ...types import Array


def votes(sums: Array, biases: Array, ties: bool, won: Array, margin: Array) -> None:
    """For each point the pairs that each class has won, and by how much: both (points, classes).

    sums[c, o - (o > c), t] is what the support vectors of class c add to the score of its pair with class o at point t.
    A score is that of both classes and the bias of the pair (0, 1), (0, 2), ..., (1, 2), ...; above 0 (with `ties`, or
    0) it is a vote for the first class. margin <- the scores of the pairs that a class comes first in, minus those of
    the others.
    """
    won[:], margin[:] = 0.0, 0.0
    against = np.zeros(margin.shape)
    for (i, j), bias in zip(combinations(range(len(sums)), 2), biases, strict=True):
        score = sums[i, j - 1] + sums[j, i] + bias
        first = score >= 0.0 if ties else score > 0.0
        won[:, i] += first
        won[:, j] += ~first
        margin[:, i] += score
        against[:, j] += score
    margin -= against

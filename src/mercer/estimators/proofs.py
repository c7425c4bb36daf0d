"""Answers in rows of the user's X; and the proof that classes cannot be separated, as a user can check it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..kernels import Kernel, Linear
from ..kernels.points import take
from ..problem import Task
from ..solution import Inseparable, Solution
from ..types import Array, Index, Points
from .tasks import Training


def told(
    proof: Inseparable, y: Array, rows: Index, n: int, kernel: Kernel, points: Points, at: Index | None = None
) -> Inseparable:
    """The proof for all n rows of X; its points, of classes y, are these `rows` of X.

    With the linear kernel it also holds the sums by which the classes meet. Its points stand `at` these places among
    the `points` (None: it has all of them).
    """
    weights, sides = np.zeros(n), np.zeros(n)
    weights[rows], sides[rows] = proof.weights, y
    sums = sums_of(proof.weights, y, points, at) if isinstance(kernel, Linear) else None
    return replace(proof, weights=weights, y=sides, sums=sums)


def sums_of(weights: Array, y: Array, points: Points, at: Index | None = None) -> Array:
    """sum_i weights_i x_i over each class."""
    used = np.flatnonzero(weights)
    X = take(points, used if at is None else at[used])
    by_class = weights[used] * (y[used] == np.array([[1.0], [-1.0]]))
    return np.asarray((X.T @ by_class.T).T, np.float64)


def with_proof(solution: Solution, task: Task, training: Training) -> Solution:
    """The same, with the proof that there is no answer in rows of the user's X."""
    proof = solution.certificate.proof
    if proof is None:
        return solution
    own = np.arange(training.rows.size) if task.rows is None else task.rows
    proof = told(proof, task.y, training.rows[own], training.n, training.kernel, training.points, own)
    return replace(solution, certificate=replace(solution.certificate, proof=proof))


def in_rows_of_the_user(solution: Solution, training: Training) -> Solution:
    """The same with zeros for the rows that had no weight."""
    if training.rows.size == training.n:
        return solution
    beta, residuals = np.zeros(training.n), np.zeros(training.n)
    beta[training.rows], residuals[training.rows] = solution.beta, solution.certificate.residuals
    return replace(solution, beta=beta, certificate=replace(solution.certificate, residuals=residuals))

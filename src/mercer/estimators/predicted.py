"""What is certified is what `predict` computes, on the points as they were given.

A linear machine predicts by w and b, which are rounded sums over points that may have been moved to their mean. So its
objective is taken from f(x_i) as it predicts them. Other machines on float32 points predict with float32 kernel values
where these change the objective little, as a sample of the points shows: that is added to the certificate's rounding.
Where they change more, kernel values are float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..amounts import A_DIGIT, AT_A_TIME, MEASURED, ROUNDING
from ..examination import at_most, drawn
from ..kernels.points import common_dtype, count, squared_norms, take
from ..losses import HardMargin, Squared
from ..problem import Task, objective
from ..solution import Certificate, Solution, Status
from ..solvers.ridge.row_sums import DataPiece
from ..types import Index, Points
from .tasks import Training

_SAMPLE = AT_A_TIME.sampled_rows  # Float32 values are tried on so many rows,
_LEAST = 16  # of which each problem has at least so many.
_MOST_IN_DOUBLE = _SAMPLE  # Float64 values of no more support vectors cost little, and float32 ones would save nothing.
_SHARE = A_DIGIT  # The part of the tolerance that their rounding may take, where the gap leaves it.


def as_predicted(machine: Any, training: Training, solutions: list[Solution], moved: bool) -> list[Solution]:
    """The solutions of a fitted machine, with certificates of what it predicts at the points of its training, which may
    have been moved to their mean.
    """
    points, tasks = training.points, training.tasks
    lost = Status.WORKERS_LOST in [solution.certificate.status for solution in solutions]
    if machine._coef is not None and not lost:
        return _linear(machine, points, tasks, solutions) if moved or not machine._own_w else solutions
    machine._single = False
    few = len(machine.support_) <= _MOST_IN_DOUBLE or common_dtype(points, machine.support_vectors_) != np.float32
    if lost or few or machine._expanded is not None:
        return solutions
    if len(tasks) > _SAMPLE:  # rows of each, with scores of all: to try float32 values would take more than they save
        return solutions
    bounds = _rounding_of_single(machine, points, tasks, solutions)
    changed = []
    for solution, bound in zip(solutions, bounds, strict=True):
        before = solution.certificate
        after = replace(before, rounding=before.rounding + bound)
        worse = before.status is Status.CONVERGED and after.relative_gap > machine.tol
        if worse or not bound <= _SHARE * machine.tol * abs(before.primal):
            return solutions
        changed.append(replace(solution, certificate=after))
    machine._single = True
    return changed


def _linear(machine: Any, points: Points, tasks: Sequence[Task], solutions: list[Solution]) -> list[Solution]:
    certificates = linear_as_predicted(machine, points, tasks, [solution.certificate for solution in solutions])
    return [replace(s, certificate=_with_status(c, machine.tol)) for s, c in zip(solutions, certificates, strict=True)]


def linear_as_predicted(
    machine: Any, points: Points, tasks: Sequence[Task], certificates: Sequence[Certificate]
) -> list[Certificate]:
    """The certificates, with the objectives of w and b as a linear machine predicts by them."""
    scores, found = machine._f(points), []
    for number, (task, certificate) in enumerate(zip(tasks, certificates, strict=True)):
        f = scores[:, number] if task.rows is None else scores[task.rows, number]
        w, b = machine._coef[number], float(machine.intercept_[number])
        primal = objective(task, float(w @ w), f, b)
        at_zero = certificate.primal == certificate.dual == 0.0 and abs(primal) <= _rounding_of_zero(machine, number)
        found.append(certificate if at_zero else _with_primal(certificate, primal))
    return found


def _rounding_of_zero(machine: Any, number: int) -> float:
    """What |w|^2 may be, where it ought to be 0: a small part of (sum |beta_i| |x_i|)^2."""
    if not hasattr(machine, "dual_coef_"):
        return 0.0
    lengths = np.sqrt(squared_norms(machine.support_vectors_))
    return ROUNDING.of_a_number * float(np.abs(machine.dual_coef_[number]) @ lengths) ** 2


def ridge_as_predicted(
    machine: Any, X: Points, rows: Index, data: DataPiece, solutions: list[Solution]
) -> list[Solution]:
    """The same for ridge regression with the linear kernel, in values of J; `data` is of these rows of X."""
    found, W, b = [], np.atleast_2d(machine._coef), np.ravel(machine.intercept_)
    scores, penalty = np.reshape(machine._mean(X), (count(X), -1))[rows], float(machine.alpha_)
    for j, solution in enumerate(solutions):
        task = Task(data.T[:, j], Squared(), data.weight / penalty)
        primal = penalty * objective(task, float(W[j] @ W[j]), scores[:, j], float(b[j]))
        certificate = solution.certificate
        lost = primal - certificate.primal
        if abs(lost) > ROUNDING.of_a_difference * abs(primal) and np.isfinite(lost):  # in sums that gave the dual too
            rounding = certificate.rounding + abs(lost)
            certificate = replace(certificate, primal=primal, dual=certificate.dual + lost, rounding=rounding)
        found.append(replace(solution, certificate=_with_status(certificate, machine.tol)))
    return found


def _with_primal(certificate: Certificate, primal: float) -> Certificate:
    """The certificate of an f with this objective; a dual above it can only be rounding."""
    dual = certificate.dual
    if not np.isfinite(certificate.primal):
        return certificate
    if abs(primal - certificate.primal) <= ROUNDING.of_a_difference * max(abs(primal), abs(dual)):
        return certificate
    rounding = certificate.rounding + max(dual - primal, 0.0)
    return replace(certificate, primal=primal, dual=min(dual, primal), rounding=rounding)


def _with_status(certificate: Certificate, tol: float) -> Certificate:
    """Rounding that takes the gap beyond the tolerance is no success."""
    return certificate.ended(Status.STALLED, tol) if certificate.converged else certificate


def _rounding_of_single(machine: Any, points: Points, tasks: Sequence[Task], solutions: list[Solution]) -> list[float]:
    """By how much float32 kernel values in predictions may change each objective."""
    bounds, size = [], max(_LEAST, _SAMPLE // len(tasks))
    pulls = [s.beta if s.dual_beta is None else s.dual_beta for s in solutions]  # minus C times slopes of the loss
    samples = [drawn(np.abs(pull), min(size, pull.size)) for pull in pulls]
    at = [rows if task.rows is None else task.rows[rows] for task, rows in zip(tasks, samples, strict=True)]
    chosen, place = np.unique(np.concatenate(at), return_inverse=True)
    some, start = take(points, chosen), 0
    machine._single = True
    single = machine._sums(some)
    machine._single = False
    errors = single - machine._sums(some)
    for number, (task, pull, rows) in enumerate(zip(tasks, pulls, samples, strict=True)):
        error, total = errors[place[start : start + rows.size], number], float(np.abs(pull).sum())
        start += rows.size
        if isinstance(task.loss, HardMargin):
            bounds.append(MEASURED * total * float(np.abs(error).max()))  # of the least margin
        else:
            bounds.append(at_most(total, np.sign(pull[rows]) * error))
    return bounds

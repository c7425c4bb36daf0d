"""An answer of Mercer's as LIBSVM would hand it over, and how to get it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..estimators.base import Machine
from ..estimators.checks import ScaleWarning
from ..estimators.one_class import OneClassSVM
from ..kernels import Precomputed
from ..solution import Certificate, Status, worst
from ..types import Array, Index
from .quick import few_dense, solve_quickly

log = logging.getLogger("mercer.dropin")
_FINE = (Status.CONVERGED, Status.STALLED)
_GAP = 1e-5  # the relative gap to reach
_TRIES, _FINER = 3, 0.1  # so often a gap that was too large for the violation is asked to be finer, by this factor


def told(name: str, certificate: Certificate) -> None:
    """Say in the log that Mercer found the answer, and how good it is."""
    if log.isEnabledFor(logging.INFO):
        log.info("%s.fit: by Mercer, %s", name, certificate.words())


@contextmanager
def quietly() -> Iterator[None]:
    """Without the advice that Mercer's own machines give: what was not reached goes to scikit-learn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ScaleWarning)
        yield


class RefusedError(Exception):
    """Why scikit-learn has to do it."""


@dataclass(frozen=True, eq=False)
class Answer:
    """Support vectors sorted by class, coefficients of each problem as rows, and what is proved of them."""

    support: Index
    per_class: Array
    coefficients: Array
    intercepts: Array
    certificate: Certificate
    rounds: list[int]


def answer(machine: Machine, X: Any, y: Array, weight: Array, tol: float) -> Answer:
    """What the machine finds, to a KKT violation of `tol`; RefusedError where that is not reached."""
    few = few_dense(X)
    found = None if few is None else _of_few(machine, few, y, weight, tol)
    return _of_machine(machine, X if few is None else few, y, weight, tol) if found is None else found


def _of_few(machine: Machine, X: Array, y: Array, weight: Array, tol: float) -> Answer | None:
    """The quick way, where it leads to the end."""
    rows, given = None, isinstance(machine.kernel, Precomputed)
    if not weight.all():
        rows = np.flatnonzero(weight)
        X, y, weight = X[np.ix_(rows, rows)] if given else X[rows], y[rows], weight[rows]
    order, group, tasks = machine._plan(y, weight)
    if order is not None:
        X, rows = X[np.ix_(order, order)] if given else X[order], order if rows is None else rows[order]
    found = solve_quickly(machine.kernel, X, tasks, tol, _GAP)
    if found is None:
        return None
    sizes = np.bincount(group)
    layout = machine._pack([one.beta for one in found], sizes.tolist())
    used = np.flatnonzero(layout.any(axis=0) if len(layout) > 1 else layout[0])
    used = used[group[used].argsort(kind="stable")]
    return Answer(
        used if rows is None else rows[used], np.bincount(group[used], minlength=sizes.size), layout[:, used],
        np.array([one.b for one in found]), worst([one.certificate for one in found], [t.name for t in tasks], _GAP),
        [1] * len(found),
    )  # fmt: skip


def light(certificate: Any) -> Any:
    """The certificate without the share of each point, which would be as long as the training set."""
    parts = tuple(map(light, getattr(certificate, "parts", ())))
    return replace(certificate, residuals=np.zeros(0), **({"parts": parts} if parts else {}))


def _of_machine(machine: Machine, X: Any, y: Array, weight: Array, tol: float) -> Answer:
    """The way of Mercer's own machines, until the conditions of optimality hold as well."""
    gap = _GAP
    for _ in range(_TRIES):
        with quietly():
            machine.set_params(tol=gap).fit(X, y, None if (weight == 1.0).all() else weight)
        bad = [c.status.word for c in machine.certificates_ if c.status not in (None, *_FINE)]
        if bad:
            raise RefusedError(f"the status is {bad[0]}")
        if max(c.kkt_violation for c in machine.certificates_) <= tol:
            break
        gap *= _FINER
    else:
        raise RefusedError(f"the KKT conditions fail by more than tol={tol:g}")
    if machine.support_.size == 0 and isinstance(machine, OneClassSVM):
        raise RefusedError("f = 0 is the best answer, which has no support vectors")
    solutions = machine.solution_ if isinstance(machine.solution_, tuple) else (machine.solution_,)
    return Answer(
        machine.support_, machine.n_support_, machine.dual_coef_, machine.intercept_, light(machine.certificate_),
        [max(1, solution.iterations) for solution in solutions],
    )  # fmt: skip

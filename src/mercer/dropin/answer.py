"""An answer of Mercer's as LIBSVM would hand it over, and how to get it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._core.core import CHOICE
from ..columns import padded, padded_square
from ..estimators.checks import ScaleWarning
from ..estimators.machine import Machine
from ..estimators.multiclass import pack, pairs
from ..estimators.one_class import OneClassSVM
from ..estimators.together import Lot, Settled, settled
from ..gram import DenseGram
from ..gram.gram import Aim, Parts
from ..kernels import Kernel
from ..kernels.points import Domain, is_sparse
from ..solution import Certificate, Status, worst
from ..types import Array, Index

core = CHOICE.functions
_NO_CLASSES = np.zeros(0, np.intp)
log = logging.getLogger("mercer.dropin")
_FINE = (Status.CONVERGED, Status.STALLED)
_GAP = 1e-5  # the relative gap to reach
_POINTS_AT_ONCE = 1500  # of no more points K is computed at once
_DENSE = 2_000_000  # entries of sparse ones, up to which they may be made dense
_CLOSE = 100  # points, up to which to find a faster way would take longer
_PART = 0.01  # of the violation is what pairs aim at: a step of SMO more or less must not decide who is better
_STEPS, _MORE_STEPS, _WORK = 10, 50, 15_000  # pairs for each point, at most: more, where there are few points
_CLEARLY = 0.5  # times tol: LIBSVM ends with a violation that is a little below it
_TRIES, _FINER = 6, 0.1  # so often a gap that was too large for the violation is asked to be finer, by this factor


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


class LibsvmAnswer(NamedTuple):
    """Support vectors sorted by class (and how many there are of each, where there are classes), coefficients of each
    problem as rows, and what is proved of them.
    """

    support: Index
    per_class: Array
    coefficients: Array
    intercepts: Array
    certificate: Certificate
    rounds: list[int]


def small_dense(X: Any) -> Array | None:
    """The points as a dense array, where they are few; sparse ones with many columns are not."""
    if X.shape[0] > _POINTS_AT_ONCE or (is_sparse(X) and X.shape[0] * X.shape[1] > _DENSE):
        return None
    return np.asarray(X.toarray() if is_sparse(X) else X)


class Problems(NamedTuple):
    """The order of the points (None: as they are), the class of each then (None: there are none), and what is posed."""

    order: Index | None
    group: Index | None
    posed: Lot


def of_small(
    kernel: Kernel,
    X: Array,
    y: Array,
    weight: Array | None,
    pose: Callable[[Array, Array | None], Problems],
    tol: float,
) -> LibsvmAnswer | None:
    """What one native call finds with K of all points; None where it does not come to a KKT violation of `tol`."""
    rows, given = None, kernel.domain is Domain.VALUES
    if weight is not None and not weight.all():
        rows = np.flatnonzero(weight)
        X, y, weight = X[np.ix_(rows, rows)] if given else X[rows], y[rows], weight[rows]
    order, group, problems = pose(y, weight)
    if order is not None:
        X, rows = X[np.ix_(order, order)] if given else X[order], order if rows is None else rows[order]
    found = settled_exactly(kernel, X, problems, tol, _GAP)
    if found is None:
        return None
    if len(found) == 1:
        layout, certificate = found[0].beta[None], found[0].certificate
        used = found[0].beta.nonzero()[0]
    else:
        assert group is not None
        sizes = np.bincount(group).tolist()
        layout = pack([one.beta for one in found], sizes)
        used = np.flatnonzero(layout.any(axis=0))
        names = [f"{i} against {j}" for i, j in pairs(len(sizes))]
        certificate = worst([one.certificate for one in found], names, _GAP)
    per_class = _NO_CLASSES
    if group is not None:
        used = used[group[used].argsort(kind="stable")]
        per_class = np.bincount(group[used], minlength=layout.shape[0] + 1)
    return LibsvmAnswer(
        used if rows is None else rows[used], per_class, layout.take(used, axis=1), np.array([one.b for one in found]),
        certificate, [1] * len(found),
    )  # fmt: skip


def matrix_of(kernel: Kernel, X: Array) -> Array:
    """K in float64, with zeros around it; RefusedError where some of the points show that the kernel is indefinite."""
    n = len(X)
    if kernel.domain is Domain.VALUES:
        K = np.zeros((padded(n),) * 2)
        K[:n, :n] = X
    else:
        K = padded_square(kernel, X, exact=n <= _CLOSE)
    if not kernel.known_definite():
        doubt = DenseGram(K[:n, :n], kernel, X).doubt
        if doubt is not None:
            raise RefusedError(doubt)
    return K


def settled_exactly(kernel: Kernel, X: Array, problems: Lot, tol: float, gap: float) -> list[Settled] | None:
    """Every problem to this KKT violation and relative gap, by one native call; None where pairs do not settle one."""
    n, K = len(X), matrix_of(kernel, X)
    how = Aim(problems.bias, 0.5 * gap, _PART * tol, max(_STEPS, min(_MORE_STEPS, _WORK // n)))

    def call(parts: Parts, how: Aim) -> bool:
        core.settle_parts(K, *parts, how)
        return True

    found = settled(call, problems, how, shares=False)
    good = all(one.certificate.kkt_violation <= tol and one.certificate.relative_gap <= gap for one in found)
    return found if good else None


def _require_fine(certificates: Sequence[Certificate]) -> None:
    bad = [c.status.word for c in certificates if c.status not in (None, *_FINE)]
    if bad:
        raise RefusedError(f"the status is {bad[0]}")


def light(certificate: Any) -> Any:
    """The certificate without the share of each point, which would be as long as the training set."""
    parts = tuple(map(light, getattr(certificate, "parts", ())))
    return replace(certificate, residuals=np.zeros(0), **({"parts": parts} if parts else {}))


def of_machine(machine: Machine, X: Any, y: Array, weight: Array, tol: float) -> LibsvmAnswer:
    """What the machine finds, to finer and finer gaps until the conditions of optimality hold to `tol` as well.

    RefusedError where that is not reached.
    """
    gap, violation = _GAP, np.inf
    for _ in range(_TRIES):
        with quietly():
            machine.set_params(tol=gap).fit(X, y, None if (weight == 1.0).all() else weight)
        _require_fine(machine.certificates_)
        violation = max(c.kkt_violation for c in machine.certificates_)
        if violation <= _CLEARLY * tol:
            break
        gap *= _FINER
    if violation > tol:
        raise RefusedError(f"the KKT conditions fail by more than tol={tol:g}")
    if machine.support_.size == 0 and isinstance(machine, OneClassSVM):
        raise RefusedError("f = 0 is the best answer, which has no support vectors")
    solutions = machine.solution_ if isinstance(machine.solution_, tuple) else (machine.solution_,)
    return LibsvmAnswer(
        machine.support_, machine.n_support_, machine.dual_coef_, machine.intercept_, light(machine.certificate_),
        [max(1, solution.iterations) for solution in solutions],
    )  # fmt: skip

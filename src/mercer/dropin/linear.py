"""scikit-learn's LinearSVC, trained by Mercer: liblinear's problem, in which the intercept is penalised.

    min 1/2 |w|^2 + sum_i C_i loss(y_i <w, z_i>),    z = (x, s), intercept = s w_last, with s = intercept_scaling

It is validated as there, and whatever is not plain goes to scikit-learn, whose errors and warnings are raised then.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
import sklearn.svm
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from ..amounts import A_DIGIT, AT_A_TIME, LARGEST
from ..columns import pieces
from ..estimators.checks import classes_of, validated
from ..estimators.fitting import fit_machines
from ..estimators.together import posed
from ..gram import Design, LinearGram
from ..kernels import Linear
from ..kernels.pairwise import linear_weights
from ..kernels.points import is_sparse
from ..limits import Deadline
from ..losses import Hinge, Loss, SquaredHinge
from ..parallel import crew_kept, in_order, one_blas_thread, thread_count
from ..problem import Task
from ..solution import Certificate, Status, worst
from ..solvers import CoordinateDescent
from ..types import Array, Index
from .answer import RefusedError, light, log, settled_exactly, told
from .documented import documented
from .hinge import HingeProblem
from .interior import interior
from .newton import newton
from .passes import by_passes

# The relative gap to reach, in parts of tol, and at the usual tol at least: liblinear ends with objectives that are
# larger than the best ones by more than the first part, and by about the second. And the KKT violation to reach by
# passes, in parts of tol: of the hinge loss, a pass more or less must not decide who is better.
_GAPS, _VIOLATIONS = {"hinge": 1e-4, "squared_hinge": 1e-5}, {"hinge": 0.1, "squared_hinge": 1.0}
_TOL, _ROUNDED = 1e-4, 1e-12
_NEAR = 1e-6  # by pairs, the KKT violation is to be small too
# Entries of X, up to which it may be copied; columns, up to which Newton's method is the quickest.
_SMALL, _NARROW = 2_000_000, 300
# For the hinge loss, where passes take long, interior points are the quickest up to so many columns and points; of few
# points with more columns, pairs on all of K are.
_SLIM, _SOME, _FEW = 100, 4000, 300
# Until then passes may end sooner.
_VISITS, _PASSES, _PASSES_WIDE, _TRIAL = 25_000, 30, 500, 2.0
_FILLED = 0.25  # of the entries, up to which many of them are held as sparse rows
_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64], "order": "C", "accept_large_sparse": False}
_DEFAULT_ITERATIONS = 1000
_LOSSES: dict[str, Loss] = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}


class _Aims(NamedTuple):
    """The relative gap to reach, the tol of liblinear, and the KKT violation that passes end with."""

    gap: float
    tol: float
    violation: float


class _Fitted(NamedTuple):
    coef: Array
    intercept: Array
    certificate: Certificate
    rounds: int


@documented
class LinearSVC(sklearn.svm.LinearSVC):  # type: ignore[misc]  # noqa: D101
    certificate_: Certificate

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.__dict__.pop("certificate_", None)
        name = type(self).__name__
        try:
            self._validate_params()
            self._require_possible()
            with crew_kept():
                found = self._solved(X, y, sample_weight)
        except (RefusedError, ValueError, TypeError, ArithmeticError, MemoryError) as error:
            log.info("%s.fit: by scikit-learn, because %s", name, error)
            super().fit(X, y, sample_weight)
            return self
        told(name, found.certificate)
        self.coef_, self.intercept_, self.certificate_, self.n_iter_ = found
        return self

    fit.__doc__ = sklearn.svm.LinearSVC.fit.__doc__

    def _require_possible(self) -> None:
        """Raise with the reason, where Mercer does not do what is asked for."""
        if self.penalty != "l2":
            raise RefusedError("the penalty is l1")
        if self.multi_class != "ovr":
            raise RefusedError("multi_class is crammer_singer")
        if self.loss == "hinge" and self.dual is False:
            raise RefusedError("liblinear has no hinge loss with dual=False")
        if self.max_iter != _DEFAULT_ITERATIONS:
            raise RefusedError("max_iter counts iterations of liblinear")
        if self.verbose:
            raise RefusedError("verbose shows the lines of liblinear")

    def _solved(self, X: Any, y: Any, sample_weight: Any) -> _Fitted:
        X, y = validated(self, X, y, **_CHECKS)
        self.classes_, group = classes_of(self, y)
        by_class = self._class_weights(y, sample_weight)
        if sample_weight is None:
            weight = np.ones(y.size)
        else:
            X, group, weight = self._of_weight(X, group, _check_sample_weight(sample_weight, X, dtype=np.float64))
        scaling = float(self.intercept_scaling) if self.fit_intercept else 0.0
        gap = max(_GAPS[self.loss] * min(self.tol, _TOL), _ROUNDED)
        aims = _Aims(gap, self.tol, _VIOLATIONS[self.loss] * self.tol)
        W, certificates, rounds = _solutions(X, self._tasks(group, weight, by_class), scaling, aims)
        certificate = worst(certificates, [f"{label} against the rest" for label in self.classes_], aims.gap)
        return _Fitted(*_parted(W, scaling), certificate, rounds)

    def _of_weight(self, X: Any, group: Index, weight: Array) -> tuple[Any, Index, Array]:
        """The points of positive weight."""
        if not (weight >= 0).all():
            raise RefusedError("a weight is below 0")
        if not (np.bincount(group, weight) > 0).all():
            raise RefusedError("a class has no point of positive weight")
        kept = weight > 0
        return (X, group, weight) if kept.all() else (X[kept], group[kept], weight[kept])

    def _tasks(self, group: Index, weight: Array, by_class: Array) -> list[Task]:
        """Each class against the rest; of more than two, the weight of a class is for its own points alone."""
        several, tasks = self.classes_.size > 2, []
        for own in range(self.classes_.size) if several else [1]:
            mine = group == own
            C = self.C * weight * np.where(mine, by_class[own], 1.0 if several else by_class[0])
            tasks.append(Task(np.where(mine, 1.0, -1.0), _LOSSES[self.loss], C, bias=False))
        return tasks

    def _class_weights(self, y: Array, sample_weight: Any) -> Array:
        if self.class_weight is None:  # theirs takes a tenth of a millisecond to say so, of one for a fit of few points
            return np.ones(self.classes_.size)
        weights = {} if sample_weight is None or self.class_weight != "balanced" else {"sample_weight": sample_weight}
        return np.asarray(compute_class_weight(self.class_weight, classes=self.classes_, y=y, **weights))


_Found: TypeAlias = tuple[Array, list[Certificate], int]
"""w of z = (x, s) for each task, as rows, what is proved of it, and the most rounds."""


def _solutions(X: Any, tasks: list[Task], scaling: float, aims: _Aims) -> _Found:
    """The answers of all tasks, by what is the quickest."""
    found, starts, X = None, None, _without_zeros(X)
    if isinstance(tasks[0].loss, Hinge):
        found, starts = _of_hinge(X, tasks, scaling, aims)
    elif not is_sparse(X) and X.size <= _SMALL and X.shape[1] < _NARROW:
        Z = _whole(X, scaling)
        found = _together([newton(Z, task.loss.terms(task.y, task.C), aims.gap) for task in tasks])
    elif X.shape[1] > LARGEST.columns:
        found, starts = _of_passes(Design(X, scaling**2), tasks, aims, _PASSES_WIDE)
    return found or _by_descent(X, tasks, scaling, aims.gap, starts)


def _without_zeros(X: Any) -> Any:
    """Many points as sparse rows, where most of their entries are 0."""
    if is_sparse(X) or X.size <= _SMALL:
        return X
    some = X[:: max(1, len(X) // AT_A_TIME.sampled_rows)]
    if np.count_nonzero(some) > _FILLED * some.size:
        return X
    values, columns, counts = zip(
        *in_order(pieces(len(X), AT_A_TIME.rows), lambda rows: _filled(X[rows]), thread_count()), strict=True
    )
    begin = np.cumsum(np.concatenate([np.zeros(1, np.intp), *counts]))
    places = np.int32 if begin[-1] <= np.iinfo(np.int32).max else np.intp
    return sp.csr_array((np.concatenate(values), np.concatenate(columns), begin.astype(places)), X.shape)


def _filled(X: Array) -> tuple[Array, Array, Array]:
    """The entries that are not 0, their columns, and how many each row has."""
    filled = X != 0.0
    at, count = np.flatnonzero(filled), np.count_nonzero(filled, axis=1)
    return X.ravel()[at], (at - np.repeat(np.arange(len(X)) * X.shape[1], count)).astype(np.int32), count


def _of_passes(design: Design, tasks: list[Task], aims: _Aims, most: float) -> tuple[_Found | None, list[Array]]:
    """By so many passes at most, and the coefficients they have led to; of many points with some columns that are not
    soon decided, others are quicker.
    """
    most = _VISITS + most * design.n
    quick = design.sparse and _SLIM <= design.width <= LARGEST.columns
    how = aims.gap, aims.violation, most, min(_TRIAL * design.n, most) if quick else most
    with one_blas_thread():
        passed = [by_passes(_weighed(design, task), *how) for task in tasks]
    starts = [np.zeros(design.n) for _ in tasks]
    for task, start, one in zip(tasks, starts, passed, strict=True):
        start[task.C > 0.0] = one.beta
    good = [(one.w, one.certificate, one.rounds) for one in passed if one.w is not None and one.certificate is not None]
    return _together(good) if len(good) == len(tasks) else None, starts


def _of_hinge(X: Any, tasks: list[Task], scaling: float, aims: _Aims) -> tuple[_Found | None, list[Array]]:
    """By passes, as long as there are few; else by what is the quickest for so many points and columns."""
    (n, columns), sparse = X.shape, is_sparse(X)
    slim, few = not sparse and columns < _SLIM, not sparse and n <= _FEW
    most = _PASSES if columns <= LARGEST.columns else _PASSES_WIDE
    found, starts = _of_passes(Design(X, scaling**2), tasks, aims, most)
    if found is not None:
        return found, starts
    gap, tol, _ = aims
    if slim and len(X) <= _SOME:
        inner = [interior(_weighed(Design(_whole(X, scaling)), t), gap, A_DIGIT * tol) for t in tasks]
        return _together(inner), starts
    if few:
        Z = _whole(X, scaling)
        quick = settled_exactly(Linear(), Z, posed(tasks, len(Z)), tol, _NEAR)
        if quick is not None:
            return (linear_weights(Z, np.array([s.beta for s in quick])), [s.certificate for s in quick], 1), starts
    return None, starts


def _whole(X: Array, scaling: float) -> Array:
    """Rows z = (x, s)."""
    return np.column_stack([X, np.full(len(X), scaling)]) if scaling else X


def _weighed(design: Design, task: Task) -> HingeProblem:
    """The problem on points that have a weight: a class may have none."""
    if task.C.all():
        return HingeProblem(design, task.y, task.C, task.loss)
    some = np.flatnonzero(task.C)
    return HingeProblem(Design(design.Z[some], design.constant), task.y[some], task.C[some], task.loss)


def _together(found: list[tuple[Array, Certificate, int]]) -> _Found | None:
    """The answers of all tasks; None, where one has not converged."""
    if not all(certificate.converged for _, certificate, _ in found):
        return None
    return np.array([w for w, _, _ in found]), [c for _, c, _ in found], max(n for _, _, n in found)


def _by_descent(X: Any, tasks: list[Task], scaling: float, gap: float, starts: list[Array] | None) -> _Found:
    """The same by Mercer's coordinate descent and Newton steps, at any size, from these coefficients."""
    forever = Deadline.after(None)
    gram = LinearGram(X, scaling**2)
    solutions = fit_machines(gram, tasks, CoordinateDescent(), tol=gap, max_iter=None, deadline=forever, starts=starts)
    if any(solution.status is Status.INTERRUPTED for solution in solutions):
        raise KeyboardInterrupt
    bad = [s.status for s in solutions if s.status not in (Status.CONVERGED, Status.STALLED)]
    if bad:
        raise RefusedError(f"the status is {bad[0].word}")
    beta = np.array([solution.beta for solution in solutions])
    W = linear_weights(gram.points, beta)
    if scaling:
        W = np.column_stack([W, scaling * beta.sum(axis=1)])
    return (
        W,
        [light(solution.certificate) for solution in solutions],
        max(1, *(solution.iterations for solution in solutions)),
    )


def _parted(W: Array, scaling: float) -> tuple[Array, Any]:
    """Coefficients and intercept of w for z = (x, s); 0.0 is the intercept of machines without, as there."""
    return (W[:, :-1].copy(), scaling * W[:, -1]) if scaling else (W, 0.0)

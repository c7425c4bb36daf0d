"""How good is a fitted machine? The certificate of anybody's answer, recomputed from the kernel and the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from ..amounts import ROUNDING
from ..arithmetic import by_default
from ..gram import unformed
from ..kernels import Linear
from ..kernels.points import count
from ..problem import Problem
from ..solution import Certificate, Status, worst
from ..solvers.base import repaired
from ..solvers.ridge import NystromCG
from ..solvers.ridge.linear_system import System
from ..solvers.ridge.posed import TARGET, of_arrays
from ..types import Array, Points
from .certifying_linear import BOUND, certify_linear
from .from_sklearn import as_machine, ridge_kernel
from .machine import Machine
from .online import Online
from .predicted import linear_as_predicted
from .ridge import KernelRidge
from .ridge_answer import certified_landmarks
from .tasks import Training


@by_default
def certify(estimator: Any, X: Points, y: Any = None, sample_weight: Any = None) -> Certificate:
    """The certificate of a fitted SVC, SVR, OneClassSVM, LinearSVC, KernelRidge (Mercer's, scikit-learn's or
    scikit-learn-intelex's) or KernelLogistic on the data that it was trained on.

    The primal value is that of the estimator's own coefficients and intercept. The dual value is that of the same
    coefficients, moved into their bounds and to their sum where rounding has taken them out; scikit-learn's LinearSVC
    has none, so that its problem is solved here for a dual value. Of several problems
    (classes, targets) it is the certificate of the worst, and its `parts` holds all of them. On other data than that of
    the training the gap is large, or the shapes do not fit and that is an error. A Perceptron or KernelPerceptron is
    judged on any data: see MarginCertificate. Of a pipeline it is the last step that is judged.
    """
    check_is_fitted(estimator)
    if hasattr(estimator, "steps"):
        X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        return certify(estimator.steps[-1][1], X, y, sample_weight)
    if isinstance(estimator, Online):
        return estimator.certified(X, y)
    names = {cls.__name__ for cls in type(estimator).__mro__}
    if "KernelRidge" in names:
        return _certify_ridge(estimator, X, y, sample_weight)
    if "LinearSVC" in names and not isinstance(estimator, Machine):
        return certify_linear(estimator, X, y, sample_weight)
    machine = _translated(estimator, X)
    training = machine._training(X, y, sample_weight)
    _require_same_classes(estimator, machine)
    betas = _coefficients(estimator, machine, training, X)
    own = isinstance(estimator, Machine)
    biases, points = estimator._biases() if own else np.ravel(estimator.intercept_), training.points
    centre = estimator._centre(training) if own else None
    if centre is not None:
        points, biases = points - centre, biases + estimator.coef_ @ centre
    gram = unformed(training.kernel, points)
    duals = _dual_points(estimator) if own else [None] * len(betas)
    certificates = [
        _examined(task.problem(gram), beta, b, dual)
        for task, beta, b, dual in zip(training.tasks, betas, biases, duals, strict=True)
    ]
    if own and estimator._coef is not None and isinstance(training.kernel, Linear):
        certificates = linear_as_predicted(estimator, training.points, training.tasks, certificates)
    if gram.doubt is not None:
        certificates = [replace(certificate, status=Status.INDEFINITE) for certificate in certificates]
    return worst(certificates, [task.name for task in training.tasks], machine.tol)


def _certify_ridge(estimator: Any, X: Points, y: Any, sample_weight: Any) -> Certificate:
    """Of the problem that `fit` poses on the same data."""
    own = isinstance(estimator, Machine)
    coefficients = np.asarray(estimator.dual_coef_, np.float64)
    targets, n = np.asarray(y, np.float64), count(X)
    landmarks = own and estimator.has_landmarks_
    fitting = targets.ndim == coefficients.ndim and targets.shape[1:] == coefficients.shape[1:] and len(targets) == n
    if not fitting or (len(coefficients) != n and not landmarks):
        raise ValueError(
            f"The estimator was fitted on {len(coefficients)} points and targets of shape {coefficients.shape}, but X "
            f"has {n} rows and y the shape {targets.shape}: certify needs the data of the training."
        )
    machine: Any = estimator._unfitted() if own else KernelRidge(ridge_kernel(estimator))
    training = (machine.set_params(solver=NystromCG()) if landmarks else machine)._training(X, y, sample_weight)
    penalties = np.asarray(estimator.alpha_ if own else estimator.alpha, np.float64)
    if not (penalties > 0).all():
        raise ValueError(f"A certificate of kernel ridge regression needs alpha > 0, not {estimator.alpha!r}.")
    if landmarks:
        found = certified_landmarks(estimator, replace(training.problem, penalty=estimator.alpha_))
        return worst(found, TARGET, estimator.tol)
    betas = coefficients.reshape(n, -1)[training.rows]
    if np.count_nonzero(betas) != np.count_nonzero(coefficients):
        raise ValueError(_OTHER_WEIGHTS)
    biases = np.broadcast_to(estimator.intercept_ if own else 0.0, betas.shape[1])
    if training.centre is not None:
        biases = biases + np.reshape(estimator.coef_, (-1, training.centre.size)) @ training.centre
    ridge, (X, T, weight) = training.problem, training.problem.arrays
    gram, found = unformed(ridge.kernel, X), []
    for j, penalty in enumerate(np.broadcast_to(penalties, betas.shape[1]).tolist()):
        one = slice(j, j + 1)
        system = System(of_arrays(X, T[:, one], weight, ridge.bias, ridge.budget, penalty=penalty), gram)
        found += system.answer(betas[:, one], None, biases[one]).certificates
    return worst(found, TARGET, estimator.tol if own else BOUND)


_OTHER_WEIGHTS = "The estimator has coefficients for points of weight 0: sample_weight is not what it was fitted with."


def _translated(estimator: Any, X: Points) -> Machine:
    """An unfitted machine of Mercer's with the settings of the estimator, its kernel resolved."""
    if isinstance(estimator, Machine):
        if not hasattr(estimator, "dual_coef_"):
            raise ValueError(
                f"This {type(estimator).__name__} learned by partial_fit from points that it did not keep, so that it "
                "has no coefficients to certify: fit on all of them gives a certificate."
            )
        return estimator._unfitted()
    return as_machine(estimator, X)


def _require_same_classes(estimator: Any, machine: Machine) -> None:
    ours, theirs = getattr(machine, "classes_", None), getattr(estimator, "classes_", None)
    if ours is not None and (theirs is None or not np.array_equal(ours, theirs)):
        raise ValueError(f"y has the classes {ours}, but the estimator was fitted on {theirs}.")


def _coefficients(estimator: Any, machine: Machine, training: Training, X: Points) -> list[Array]:
    """beta of each problem, for the points of the training set."""
    support, dual = _support_rows(estimator, training, X), estimator.dual_coef_
    dual = np.asarray(dual.todense() if hasattr(dual, "todense") else dual, np.float64)
    n = max(estimator.shape_fit_[0], int(support.max(initial=-1)) + 1)
    if n != training.n:
        raise ValueError(
            f"The estimator was fitted on {n} points, but X has {training.n} rows: certify needs the training data."
        )
    full = np.zeros((len(dual), training.n))
    full[:, support] = dual
    layout = full[:, training.rows]
    if np.count_nonzero(layout) != np.count_nonzero(full):
        raise ValueError(_OTHER_WEIGHTS)
    return machine._unpack(layout, np.bincount(training.group).tolist())


def _support_rows(estimator: Any, training: Training, X: Points) -> Array:
    """Where the support vectors stand in X. LIBSVM, in scikit-learn, counts only the points that have a weight."""
    support, kept = np.asarray(estimator.support_), np.sort(training.rows)
    if isinstance(estimator, Machine) or kept.size == training.n or support.max(initial=-1) >= kept.size:
        return support
    vectors = estimator.support_vectors_
    if vectors.shape[0] == support.size:
        found = check_array(X, accept_sparse="csr")[support]
        if abs(found - vectors).max() <= ROUNDING.of_a_sum * abs(found).max():
            return support
    return np.asarray(kept[support])


def _dual_points(machine: Any) -> list[Array | None]:
    """The dual point of each answer, where that is not its beta: of a constant f, say."""
    found = machine.solution_
    return [solution.dual_beta for solution in (found if isinstance(found, tuple) else [found])]


def _examined(problem: Problem, beta: Array, b: float, dual: Array | None = None) -> Certificate:
    """Of an answer and a dual point: beta itself, unless there is another; on other points than those of the training
    it is still moved to where it proves something.
    """
    if not np.isfinite(beta).all() or not np.isfinite(b):
        return problem.certify(np.full(problem.n, np.nan))  # nothing is proved
    if problem.loss.quadratic:
        point = beta if dual is None or dual.size != problem.n else dual
        return problem.certify(beta, float(b), repaired(problem, point))
    slopes = problem.loss.slope(problem.y, problem.gram.product64(beta) + float(b))  # a dual point whatever beta is
    return problem.certify(beta, float(b), repaired(problem, -problem.C * slopes))

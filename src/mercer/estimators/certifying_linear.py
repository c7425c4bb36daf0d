"""The certificate of scikit-learn's LinearSVC, which keeps w and b, and no dual coefficients.

    min 1/2 |w|^2 + 1/2 (b / s)^2 + sum_i C_i loss(y_i, <w, x_i> + b),     s = intercept_scaling

The primal value is that of w and b. The dual value is that of a dual point which is found here, by solving the same
problem: K = X X' + s^2.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_array, check_consistent_length

from ..amounts import FINE_TOLERANCE
from ..driver import solve
from ..gram import LinearGram
from ..kernels.points import count, row_weights
from ..losses import Hinge, Loss, SquaredHinge
from ..problem import Problem
from ..solution import Certificate, worst
from ..solvers import CoordinateDescent
from ..types import Array, Points
from .checks import classes_of, name_of

_LOSSES: dict[str, Loss] = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}
BOUND = FINE_TOLERANCE
"""The relative gap that is reached for machines of others, whose own tolerance says nothing of it."""


def certify_linear(estimator: Any, X: Points, y: Any, sample_weight: Any) -> Certificate:
    """The worst certificate of its problems."""
    if estimator.penalty != "l2" or estimator.multi_class != "ovr":
        raise ValueError(
            "certify knows LinearSVC with penalty='l2' and multi_class='ovr'; with "
            f"penalty={estimator.penalty!r} and multi_class={estimator.multi_class!r} it solves another problem."
        )
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    y = np.asarray(y)
    check_consistent_length(X, y)
    if X.shape[1] != estimator.coef_.shape[1]:
        raise ValueError(f"The estimator was fitted on {estimator.coef_.shape[1]} features, but X has {X.shape[1]}.")
    weight = row_weights(sample_weight, count(X))
    kept = np.flatnonzero(weight)
    points = X if kept.size == weight.size else X[kept]
    gram = LinearGram(points, float(estimator.intercept_scaling) ** 2 if estimator.fit_intercept else 0.0)
    classes, group = classes_of(estimator, y)
    if not np.array_equal(classes, estimator.classes_):
        raise ValueError(f"y has the classes {classes}, but the estimator was fitted on {estimator.classes_}.")
    counted = {"sample_weight": weight} if "sample_weight" in signature(compute_class_weight).parameters else {}
    by_class = compute_class_weight(estimator.class_weight, classes=classes, y=y, **counted)  # as its version did
    found, names = [], []
    intercepts = np.broadcast_to(estimator.intercept_, len(estimator.coef_))
    for number, (w, b) in enumerate(zip(estimator.coef_, intercepts, strict=True)):
        own = number if classes.size > 2 else 1
        # As liblinear has it: of more than two classes, the weight of a class is for its own points alone.
        rest = 1.0 if classes.size > 2 else by_class[0]
        C = estimator.C * weight * np.where(group == own, by_class[own], rest)
        side = np.where(group == own, 1.0, -1.0)
        problem = Problem(gram, side[kept], _LOSSES[estimator.loss], C[kept], bias=False)
        found.append(_examined(problem, np.asarray(w, np.float64), float(b)))
        names.append(f"{name_of(classes[own])} against the rest")
    return worst(found, names, BOUND)


def _examined(problem: Problem, w: Array, b: float) -> Certificate:
    """The objective of w and b, and a bound for all others."""
    assert isinstance(problem.gram, LinearGram)
    scale = problem.gram.constant
    if b and not scale:
        raise ValueError(f"The estimator has fit_intercept=False, so intercept_ must be 0, not {b!r}.")
    f = np.asarray(problem.gram.points @ w, np.float64) + b
    losses = problem.C * problem.loss.value(problem.y, f)
    primal = 0.5 * float(w @ w + (b * b / scale if scale else 0.0)) + float(losses.sum())
    solution = solve(problem, CoordinateDescent(), tol=BOUND)
    bound, beta = solution.certificate, solution.beta if solution.dual_beta is None else solution.dual_beta
    shares = losses + problem.conjugates(beta) + beta * f
    violation = problem.violation(beta, f)
    return Certificate(primal, bound.dual, bound.rounding, violation, bound.feasibility, residuals=shares)

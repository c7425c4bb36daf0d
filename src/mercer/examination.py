"""From coefficients to a certificate.

Three steps: K beta is computed anew from the kernel and the points (`recomputed`), sums over the points give the two
objectives and what else is reported (`accounts`), and then it is judged what all that proves (`examine`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ._core.core import CHOICE
from .losses import HardMargin, Logistic, violation
from .rounding import rounding_of_scores
from .solution import Certificate, Inseparable, Status
from .types import Array, inner

if TYPE_CHECKING:
    from .problem import Problem

_NOTHING = 1e-15  # values below this part of the terms that they are sums of are rounding
_TINY = 1e-300  # objectives below this are zero
_SHARE = 0.3  # of the tolerance, that the rounding of float32 values may take; predictions may take some, too
_LEAST, _FEW = 512, 2500  # points; for fewer, all is float64: even what is to be checked, and what is nearly known
_NEGATIVE, _NEGATIVE_SINGLE = 1e-12, 1e-6  # what rounding makes of a zero beta'K beta, in float64 and in float32
_REACH = 3.0  # times the error of K beta: b is found from it, too
_MOST, _LOOKS = 0.5, 4  # of the points may matter, for float64 to be worth it; and so often others may turn out to
INFEASIBLE = 1e-9  # coefficients may leave their bounds by this much, relative to the largest of them
_INSEPARABLE = 1e-7  # two convex combinations that are nearer than this, relative to the size of the points, meet


def examine(
    problem: Problem,
    beta: Array,
    b: float | None = None,
    dual_beta: Array | None = None,
    *,
    status: Status | None = None,
    scores: Array | None = None,
    weights: Array | None = None,
    tol: float = np.inf,
    near: Near | None = None,
) -> tuple[Certificate, Array, float]:
    """The certificate, K beta and b; see Problem.certify.

    With `scores`, those are not recomputed but checked on a sample. With `weights`, the answer is f = Z w + b for the
    explicit features Z of K, and beta a dual point alone. Where K beta is `near`ly known, it is recomputed with float32
    values; but where rounding would be too much for a relative gap of `tol`, with float64 ones, where it matters.
    """
    if b and not problem.bias:
        raise ValueError(f"This problem has no bias, so b must be 0, not {b!r}.")
    beta = _coefficients(problem, beta, "beta")
    other = beta if dual_beta is None else _coefficients(problem, dual_beta, "dual_beta")
    if not np.isfinite(beta).all() or not np.isfinite(other).all():
        bad = Certificate(np.inf, -np.inf, 0.0, np.inf, np.inf, status, np.full(problem.n, np.inf))
        return bad, np.full(problem.n, np.nan), 0.0
    near = near if other is beta and problem.n > _FEW else None
    rough = near is not None and near.single and not _too_rough(problem, beta, near.scores, tol)
    if weights is not None:
        products = Products(problem.gram.design.dots(weights), problem.gram.recompute(other))
    elif scores is not None and problem.n > _LEAST:
        products = Products(*_columns(scores), exact=False)
    elif rough:
        products = recomputed(problem, beta, other, near, np.float32)
    else:
        products = recomputed(problem, beta, other, near)
    bias = problem.best_bias(products.scores) if b is None else float(b)
    found = accounts(problem, beta, bias, other, products)
    primal, dual = found.primal, found.dual
    if weights is not None:
        primal = problem.primal_of(weights, bias, products.scores)
    rounding = 0.0
    if not products.exact:
        rounding = rounding_of_scores(problem, beta, bias, other, products.scores, products.dual_scores, primal)
    if near is not None and rough and rounding > _SHARE * tol * max(abs(primal), abs(dual)):
        return examine(problem, beta, b, status=status, near=near._replace(single=False))
    if _is_nothing(problem, beta, other, primal, dual):
        primal = dual = 0.0  # all of it is rounding: 0/0 := 0
    proof = _inseparable(problem, other) if _nearly_inseparable(problem, other, products) else None
    if proof is not None:
        status = Status.INFEASIBLE
    elif _indefinite(problem, beta, other, products, found.norm):
        status = Status.INDEFINITE
    elif dual > primal:
        rounding += excess(primal, dual, problem.loss_of_nothing)
        dual = primal
    certificate = Certificate(
        primal, dual, rounding, found.violation, found.feasibility, status, found.residuals, proof
    )
    return certificate, products.scores, bias


def _coefficients(problem: Problem, beta: Array, name: str) -> Array:
    beta = np.ascontiguousarray(beta, np.float64)
    if beta.shape != (problem.n,):
        raise ValueError(f"{name} must have one coefficient per point: {problem.n}, not {beta.shape}.")
    return beta


# K beta, and how exact it is.


class Near(NamedTuple):
    """K beta as a solver believes it to be (None: it is elsewhere); by how much it is wrong at most, a bound that is
    proved, or infinite; and whether float32 values may do, with their rounding measured on a sample.
    """

    scores: Array | None
    error: float
    single: bool


def recomputed(
    problem: Problem, beta: Array, other: Array, near: Near | None, dtype: DTypeLike = np.float64
) -> Products:
    """K beta and K other from the points, of values of this precision."""
    if not beta.any() and not other.any():
        return Products(np.zeros(problem.n), np.zeros(problem.n))
    exact = np.dtype(dtype) == np.float64
    found = None if near is None or not np.isfinite(near.error) else where_it_matters(problem, beta, near, dtype)
    if found is not None:
        return Products(found, found, exact)
    both = beta if other is beta else np.column_stack([beta, other])
    return Products(*_columns(problem.gram.recompute(both, dtype=dtype)), exact)


def where_it_matters(problem: Problem, beta: Array, near: Near, dtype: DTypeLike = np.float64) -> Array | None:
    """K beta anew at the support vectors and wherever there may be a loss; elsewhere it changes no objective, and
    is as it was. None, where that would be most points.
    """
    if isinstance(problem.loss, HardMargin) or near.scores is None:
        return None
    exact, b, reach = near.scores.copy(), problem.best_bias(near.scores), _REACH * near.error
    matters, known = beta != 0.0, np.zeros(problem.n, bool)
    for _ in range(_LOOKS):
        matters = matters | _may_have_loss(problem, exact + b, reach)
        if np.count_nonzero(matters) > _MOST * problem.n:
            return None
        new = np.flatnonzero(matters & ~known)
        if new.size == 0:
            return exact
        exact[new] = problem.gram.recompute(beta, new, dtype)
        known, b, reach = matters, problem.best_bias(exact), near.error
    return None


def _too_rough(problem: Problem, beta: Array, scores: Array | None, tol: float) -> bool:
    """Whether float32 values, of which these scores are sums, would be too much for a relative gap of `tol`."""
    if scores is None:
        return False  # nobody knows yet
    b = problem.best_bias(scores)
    primal = problem.primal(beta, b, scores)
    return rounding_of_scores(problem, beta, b, beta, scores, scores, primal) > _SHARE * tol * abs(primal)


def _may_have_loss(problem: Problem, f: Array, error: float) -> Array:
    """Whether a point may have a loss, if f may be wrong by so much: a convex loss is 0 between two zeros of it."""
    loss, y = problem.loss, problem.y
    return (loss.value(y, f - error) > 0.0) | (loss.value(y, f + error) > 0.0)


class Products(NamedTuple):
    """K beta and K dual_beta, and whether all of it is float64."""

    scores: Array
    dual_scores: Array
    exact: bool = True


def _columns(products: Array) -> tuple[Array, Array]:
    """Of beta and of the dual point: one for both, where they are one."""
    return (products, products) if products.ndim == 1 else (products[:, 0].copy(), products[:, 1].copy())


# Sums over the points.


class Accounts(NamedTuple):
    """What sums over the points give: the objectives, the conditions of optimality, the shares in the gap."""

    primal: float
    dual: float
    norm: float
    """beta'K beta of the dual point."""
    violation: float
    feasibility: float
    residuals: Array


def accounts(problem: Problem, beta: Array, b: float, other: Array, products: Products) -> Accounts:
    """The accounts of f = K beta + b and the dual point; in one native pass, but for unusual losses."""
    s, s_dual = products.scores, products.dual_scores
    if isinstance(problem.loss, Logistic):
        return _logistic_accounts(problem, beta, b, other, products)
    if not problem.loss.quadratic or isinstance(problem.loss, HardMargin):
        feasibility = problem.feasibility(other)
        dual = problem.dual(other, s_dual) if feasibility <= INFEASIBLE else -np.inf
        return Accounts(
            problem.primal(beta, b, s), dual, inner(other, s_dual), problem.violation(other, s_dual), feasibility,
            _residuals(problem, s + b, other),
        )  # fmt: skip
    t, residuals = problem.terms, np.empty(problem.n)
    sums = CHOICE.functions.account(t.q, t.r, t.eps, t.lo, t.hi, other, s_dual, s, b, residuals)
    return accounts_from(sums, problem, None if other is beta else inner(beta, s), b, residuals)


def accounts_from(sums: Sequence[float], problem: Any, square: float | None, b: float, residuals: Array) -> Accounts:
    """The accounts from the sums that `account` gives, and beta'K beta where that is not the dual point's."""
    loss, conjugate, norm, top, bottom, outside, total, largest = sums
    primal = 0.5 * (norm if square is None else square) + loss + problem.mass * b
    feasibility = relative_infeasibility(problem, outside, total, largest)
    dual = 0.0 - 0.5 * norm - conjugate if feasibility <= INFEASIBLE else -np.inf  # 0.0: no -0
    return Accounts(primal, dual, norm, violation(top, bottom, problem.bias), feasibility, residuals)


def relative_infeasibility(problem: Any, outside: float, total: float, largest: float) -> float:
    """By how much coefficients leave their bounds or their sum, relative to the largest of them, from how far they are
    outside, their sum, and the largest.
    """
    astray = abs(total - problem.mass) / max(1.0, problem.n**0.5) if problem.bias else 0.0
    violated = max(outside, astray)
    if violated == 0.0:
        return 0.0
    return float(violated / largest) if largest > 0.0 else float("inf")


def _logistic_accounts(problem: Problem, beta: Array, b: float, other: Array, products: Products) -> Accounts:
    """The same for the logistic loss."""
    s, s_dual, C = products.scores, products.dual_scores, problem.C
    f, losses, h = s + b, C * problem.loss.value(problem.y, s + b), problem.conjugates(other)
    residuals = losses + h + other * f
    loss, conjugate, feasibility = float(losses.sum()), float(h.sum()), problem.feasibility(other)
    norm = inner(other, s_dual)
    dual = 0.0 - 0.5 * abs(norm) - conjugate if feasibility <= INFEASIBLE else -np.inf  # a norm below 0 is all rounding
    primal = 0.5 * inner(beta, s) + loss + problem.mass * b
    return Accounts(primal, dual, norm, problem.violation(other, s_dual), feasibility, residuals)


def _residuals(problem: Problem, f: Array, beta: Array) -> Array:
    """The share of each point in the gap."""
    h = problem.conjugates(beta)
    if isinstance(problem.loss, HardMargin):
        scale = problem.loss.feasible_scale(problem.y, f)
        return h + beta * f * (scale if np.isfinite(scale) else 1.0)
    return np.asarray(problem.C * problem.loss.value(problem.y, f) + h + beta * f)


# What it proves.


def excess(primal: float, dual: float, nothing: float) -> float:
    """A dual value above the primal can only be rounding, which is at least as much; 0, where that is no news in sums
    as large as the loss of f = 0.
    """
    return dual - primal if dual - primal > _NOTHING * nothing + _TINY else 0.0


def _is_nothing(problem: Problem, beta: Array, other: Array, primal: float, dual: float) -> bool:
    """Whether both objectives are rounding: tiny parts of the terms that they are sums of."""
    size = max(abs(primal), abs(dual))
    if problem.mass:  # f = 0 costs nothing, and the dual is a norm alone
        return size <= _NOTHING * _largest_norm(problem, other) + _TINY
    if not (dual < primal and size <= _NOTHING * problem.loss_of_nothing + _TINY):
        return False
    return size <= _NOTHING * _largest_norm(problem, beta) + _TINY


def _largest_norm(problem: Problem, beta: Array) -> float:
    """(sum |beta_i| |phi(x_i)|)^2: beta'K beta is no larger, and its rounding errors are in parts of this."""
    root = inner(np.abs(beta), np.sqrt(np.abs(problem.gram.diag())))
    return root * root  # infinite where it overflows


def _indefinite(problem: Problem, beta: Array, other: Array, products: Products, norm: float) -> bool:
    """Whether beta'K beta, of the dual point or of its difference from beta, is below zero by more than rounding."""
    part = _NEGATIVE if products.exact else _NEGATIVE_SINGLE
    least = 0.0 if products.exact else _NOTHING * problem.loss_of_nothing  # scores of a solver may be wrong by more

    def negative(norm: float, difference: Array, whole: Array) -> bool:
        if norm >= -least:
            return False
        size = _largest_norm(problem, difference)
        return bool(norm < -part * max(size, np.sqrt(size * _largest_norm(problem, whole))))

    if negative(norm, other, other):
        return True
    if other is beta:
        return False
    return negative(inner(beta - other, products.scores - products.dual_scores), beta - other, beta)


def may_be_inseparable(problem: Problem, beta: Array, scores: Array | None, square: float = _INSEPARABLE**2) -> bool:
    """Whether a hard margin looks hopeless, worth a certificate: the squared distance is small, as far as one knows."""
    if not isinstance(problem.loss, HardMargin) or scores is None:
        return False
    total, norm = 0.5 * float(np.abs(beta).sum()), inner(beta, scores)
    return total > 0.0 and norm <= square * total**2 * float(np.abs(problem.gram.diag()).max())


def _nearly_inseparable(problem: Problem, beta: Array, products: Products) -> bool:
    """The same, from scores that may be float32: whether the distance is worth one more product K v."""
    rounding = 0.0 if products.exact else _NEGATIVE_SINGLE
    return may_be_inseparable(problem, beta, products.dual_scores, 4.0 * _INSEPARABLE**2 + rounding)


def _inseparable(problem: Problem, beta: Array) -> Inseparable | None:
    """The proof that the classes meet, where the coefficients of beta on their right sides are one."""
    y = problem.y
    weights = np.maximum(y * beta, 0.0)
    groups = (y > 0, y < 0) if problem.bias else (y != 0,)
    for group in groups:
        total = float(weights[group].sum())
        if total <= 0.0:
            return None
        weights[group] /= total
    signed = y * weights
    distance = float(np.sqrt(max(float(signed @ problem.gram.product64(signed)), 0.0)))
    bound = _INSEPARABLE * float(np.sqrt(np.abs(problem.gram.diag()).max()))
    return Inseparable(weights, distance, bound, np.sign(y)) if distance <= bound else None

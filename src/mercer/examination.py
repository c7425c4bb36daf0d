"""From coefficients to a certificate.

Three steps: K beta is computed anew from the kernel and the points (`recomputed`), sums over the points give the two
objectives and what else is reported (`accounts`), and then it is judged what all that proves (`examine`).

What rounding may have done is measured on a sample (`rounding_of_scores`): a sum over points of what the error of a
score does is estimated from points drawn with the probability of their steepness times sqrt(k(x,x)), of which errors
are parts: its mean and four standard deviations of that. At coefficients that are at a bound, the same is done to
primal and dual, so that the gap is known much better than both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ._core.core import CHOICE
from .arithmetic import inner
from .inseparable import nearly_inseparable, proof_of
from .losses import HardMargin, Logistic, violation
from .solution import Certificate, Status
from .types import Array, Index

if TYPE_CHECKING:
    from .problem import Problem

_ROUNDED = 1e-15  # values below this part of the terms that they are sums of are rounding
_TINY = 1e-300  # objectives below this are zero
_SHARE = 0.3  # of the tolerance: more rounding in float32 values may be why a gap was not reached
_LEAST, _ALL_DOUBLE = 512, 1500  # points; for fewer, all is float64: what is to be checked, and what is nearly known
_NEGATIVE, _NEGATIVE_SINGLE = 1e-12, 1e-6  # what rounding makes of a zero beta'K beta, in float64 and in float32
_TRIES = 4  # so often points that were left out may turn out to matter
_SPARED = 0.05  # To prove that points do not matter takes no more than this part of all kernel values until now; else
_SOME, _SURELY = 64, 4.0  # some of them are looked at: no error is larger than so many times the largest of theirs.
INFEASIBLE = 1e-9  # coefficients may leave their bounds by this much, relative to the largest of them
_SAMPLE = 256  # rows on which rounding is measured, at most,
_PART = 8  # and of n one in so many
_PAYS = 4  # of more coefficients than so many samples, float32 values save more than a sample in float64 takes
_DEVIATIONS = 4.0  # of the mean of their errors


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
    values; but where these leave a relative gap of `tol` open, with float64 ones, where it matters.
    """
    if b and not problem.bias:
        raise ValueError(f"This problem has no bias, so b must be 0, not {b!r}.")
    beta = np.ascontiguousarray(beta, np.float64)
    other = beta if dual_beta is None else np.ascontiguousarray(dual_beta, np.float64)
    if not np.isfinite(beta).all() or not np.isfinite(other).all():
        bad = Certificate(np.inf, -np.inf, 0.0, np.inf, np.inf, status, np.full(problem.n, np.inf))
        return bad, np.full(problem.n, np.nan), 0.0
    near = near if other is beta and problem.n > _ALL_DOUBLE else None
    hard = isinstance(problem.loss, HardMargin)  # one margin, the least, tells all: float32 leaves it open
    rough = near is not None and near.single and not hard and np.count_nonzero(beta) > _PAYS * _SAMPLE
    if weights is not None:
        products = Products(problem.gram.design.dots(weights), problem.gram.recompute(other))
    elif scores is not None and problem.n > _LEAST:
        products = Products(*_columns(scores), exact=False)
    else:
        products = recomputed(problem, beta, other, near, np.float32 if rough else np.float64)
    bias = problem.best_bias(products.scores) if b is None else float(b)
    found = accounts(problem, beta, bias, other, products)
    primal = found.primal if weights is None else problem.primal_of(weights, bias, products.scores)
    dual = found.dual
    rounding, allowed = 0.0, tol * max(abs(primal), abs(dual))
    if not products.exact:
        may = rounding_of_scores(problem, beta, bias, other, products.scores, products.dual_scores, primal)
        known = may.values <= allowed < np.inf
        rounding = may.hidden if known else max(may.gap, may.values)
        unproved = primal - dual + rounding > allowed and may.gap > _SHARE * allowed
        if near is not None and rough and (unproved or may.values > allowed):
            return examine(problem, beta, b, status=status, near=near._replace(single=False))
    tiny = max(abs(primal), abs(dual)) <= _ROUNDED * (np.inf if problem.mass else problem.loss_at_zero) + _TINY
    if tiny and _is_zero(problem, beta, other, primal, dual):
        primal = dual = 0.0  # all of it is rounding: 0/0 := 0
    hopeless = hard and nearly_inseparable(problem, other, products)
    proof = proof_of(problem, other) if hopeless else None
    if proof is not None:
        status = Status.INFEASIBLE
    elif (found.norm < 0.0 or other is not beta) and _indefinite(problem, beta, other, products, found.norm):
        status = Status.INDEFINITE
    elif dual > primal:
        rounding += excess(primal, dual, problem.loss_at_zero)
        dual = primal
    proved = Certificate(primal, dual, rounding, found.violation, found.feasibility, status, found.residuals, proof)
    return proved, products.scores, bias


# K beta, and how exact it is.


class Near(NamedTuple):
    """K beta as a solver believes it to be (None: it is elsewhere); by how much it is wrong at most, at each point or
    at any: a bound that is proved, or infinite; whether float32 values may do, with their rounding measured on a
    sample; and whether such a sample may take the place of the bound, where that would cost too much.
    """

    scores: Array | None
    error: Array | float
    single: bool
    sampled: bool


def recomputed(problem: Problem, beta: Array, other: Array, near: Near | None, dtype: DTypeLike) -> Products:
    """K beta and K other from the points, of values of this precision."""
    if not beta.any() and not other.any():
        return Products(np.zeros(problem.n), np.zeros(problem.n))
    exact = np.dtype(dtype) == np.float64
    found = None if near is None or not np.isfinite(near.error).all() else where_it_matters(problem, beta, near, dtype)
    if found is not None:
        return Products(found, found, exact)
    if other is beta:
        found = problem.gram.recompute(beta, dtype=dtype)
        return Products(found, found, exact)
    return Products(*_columns(problem.gram.recompute(np.column_stack([beta, other]), dtype=dtype)), exact)


def where_it_matters(problem: Problem, beta: Array, near: Near, dtype: DTypeLike = np.float64) -> Array | None:
    """K beta anew at the support vectors and wherever there may be a loss; elsewhere it changes no objective, and
    is as it was. None, where others turn out to matter again and again.
    """
    if isinstance(problem.loss, HardMargin) or near.scores is None:
        return None
    loss, y, exact, error = problem.loss, problem.y, near.scores.copy(), near.error
    matters, known = beta != 0.0, np.zeros(problem.n, bool)
    support = np.count_nonzero(matters)
    for _ in range(_TRIES):
        new = np.flatnonzero(matters & ~known)
        exact[new] = problem.gram.recompute(beta, new, dtype)
        known |= matters
        f = exact + problem.best_bias(exact)  # a convex loss is 0 between two zeros of it
        matters = ~known & ((loss.value(y, f - error) > 0.0) | (loss.value(y, f + error) > 0.0))
        if near.sampled and support * np.count_nonzero(matters) > _SPARED * problem.gram.values:
            error = np.minimum(error, _on_a_sample(problem, beta, exact, np.flatnonzero(matters)))
            matters &= (loss.value(y, f - error) > 0.0) | (loss.value(y, f + error) > 0.0)
        if not matters.any():
            return exact
    return None


def _on_a_sample(problem: Problem, beta: Array, scores: Array, places: Index) -> Array:
    """By how much the scores at these places may be wrong, from some of them: an estimate, in parts of |phi(x)|, since
    errors of points far out are larger.
    """
    length = np.sqrt(np.maximum(np.abs(problem.gram.diag()), _TINY))
    some = places[np.unique(np.linspace(0, places.size - 1, _SOME).astype(np.intp))]
    parts = np.abs(scores[some] - problem.gram.recompute(beta, some)) / length[some]
    return np.asarray(_SURELY * float(parts.max()) * length)


class Products(NamedTuple):
    """K beta and K dual_beta, and whether all of it is float64."""

    scores: Array
    dual_scores: Array
    exact: bool = True


def _columns(products: Array) -> tuple[Array, Array]:
    """Of beta and of the dual point: one for both, where they are one."""
    return (products, products) if products.ndim == 1 else (products[:, 0].copy(), products[:, 1].copy())


# What rounding may have done, measured on a sample of the points.


def drawn(weight: Array, size: int) -> Index:
    """So many rows, the same every time, each with a probability in proportion to its weight >= 0; some come twice."""
    total = np.cumsum(weight)
    if not 0.0 < total[-1] < np.inf:
        return np.linspace(0, weight.size - 1, size).astype(np.intp)
    rows = np.searchsorted(total, total[-1] * _places(size), side="right")
    return np.asarray(np.minimum(rows, np.flatnonzero(weight)[-1]))


@cache
def _places(size: int) -> Array:
    """One number in each of so many equal parts of [0, 1)."""
    return np.asarray((np.arange(size) + np.random.default_rng(0).random(size)) / size)


class Uncertainty(NamedTuple):
    """What rounding may have done."""

    hidden: float
    """By how much the true gap may be larger."""
    gap: float
    """By how much the gap may be wrong."""
    values: float
    """And primal and dual."""


def _less_than(total: float, errors: Array) -> float:
    """What sum_i weight_i error_i is at most, from the errors of rows that were `drawn`; total is that of weights."""
    if not np.isfinite(errors).all():
        return float("inf")
    return total * (float(errors.mean()) + _DEVIATIONS * float(errors.std()) / sqrt(errors.size))


def at_most(total: float, errors: Array) -> float:
    """What |sum_i weight_i error_i| is at most."""
    return max(_less_than(total, errors), _less_than(total, -errors))


def rounding_of_scores(
    problem: Problem, beta: Array, b: float, other: Array, scores: Array, dual_scores: Array, primal: float
) -> Uncertainty:
    """By how much the gap may be wrong, and by how much primal and dual, because K beta and K other, the dual point's,
    are.

    The error of a score changes C_i loss(f_i) + beta_i f_i / 2 in the primal, and -other_i f_i / 2 in the dual. Where
    coefficients are at a bound, these are the same: the gap does not change. So half of the rows are drawn by what they
    may do to primal and dual, and half by what to the gap. What is summed is no slope but the change itself, kinks and
    all. Points that cannot be drawn have neither coefficient nor slope; they may have one within the largest error.
    """
    y, C, f = problem.y, problem.C, scores + b
    hard = isinstance(problem.loss, HardMargin)
    scale = problem.loss.feasible_scale(y, f) if hard else 1.0
    if not np.isfinite(scale):
        return Uncertainty(np.inf, np.inf, np.inf)
    slope = 0.0 if hard else C * problem.loss.slope(y, f)
    own, lift = 0.5 * scale * scale * beta, 0.5 * other
    length = np.sqrt(np.maximum(np.abs(problem.gram.diag()), _TINY))
    weight = np.zeros(problem.n)
    for steepness in (np.abs(slope + own) + np.abs(lift), np.abs(slope + own + lift)):
        part = steepness * length
        weight += part / max(float(part.sum()), _TINY)
    total = float(weight.sum())
    rows, place = np.unique(drawn(weight, min(_SAMPLE, max(1, problem.n // _PART))), return_inverse=True)
    both = beta if other is beta else np.column_stack([beta, other])
    exact = problem.gram.recompute(both, rows).reshape(rows.size, -1)
    error, dual_error = scores[rows] - exact[:, 0], dual_scores[rows] - exact[:, -1]
    parts = error / length[rows]
    largest, typical = float(np.abs(parts).max()), float(np.sqrt(np.mean(parts * parts)))
    wrong, wrong_dual = own[rows] * error, -lift[rows] * dual_error
    if hard:
        left = 1.0 - 3.0 * largest * float(length.max()) * scale  # of the least margin
        beside = primal * (left**-2 - 1.0) if left > 0.0 else np.inf
    else:
        at, value = (y[rows], f[rows]), problem.loss.value
        wrong += C[rows] * (value(*at) - value(at[0], at[1] - error))
        idle = np.flatnonzero(weight == 0.0)
        ends = [np.abs(problem.loss.slope(y[idle], f[idle] + e * length[idle])) for e in (-largest, largest)]
        beside = typical * float((C[idle] * np.maximum(*ends) * length[idle]).sum())
    chance = np.where(weight[rows] > 0.0, weight[rows], 1.0)
    lost, lost_dual, of_gap = [(errors / chance)[place] for errors in (wrong, wrong_dual, wrong - wrong_dual)]
    return Uncertainty(
        max(_less_than(total, -of_gap), 0.0) + beside,
        at_most(total, of_gap) + beside,
        max(at_most(total, lost) + beside, at_most(total, lost_dual)),
    )


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


def excess(primal: float, dual: float, at_zero: float) -> float:
    """A dual value above the primal can only be rounding, which is at least as much; 0, where that is no news in sums
    as large as the loss of f = 0.
    """
    return dual - primal if dual - primal > _ROUNDED * at_zero + _TINY else 0.0


def _is_zero(problem: Problem, beta: Array, other: Array, primal: float, dual: float) -> bool:
    """Whether both objectives, tiny parts of what f = 0 costs (if it costs anything), are tiny parts of the terms that
    the norm is a sum of too: then they are rounding.
    """
    if not (dual < primal or problem.mass):
        return False
    source = other if problem.mass else beta  # with a mass the dual is a norm alone
    return max(abs(primal), abs(dual)) <= _ROUNDED * _largest_norm(problem, source) + _TINY


def _largest_norm(problem: Problem, beta: Array) -> float:
    """(sum |beta_i| |phi(x_i)|)^2: beta'K beta is no larger, and its rounding errors are in parts of this."""
    root = inner(np.abs(beta), np.sqrt(np.abs(problem.gram.diag())))
    return root * root  # infinite where it overflows


def _indefinite(problem: Problem, beta: Array, other: Array, products: Products, norm: float) -> bool:
    """Whether beta'K beta, of the dual point or of its difference from beta, is below zero by more than rounding."""
    part = _NEGATIVE if products.exact else _NEGATIVE_SINGLE
    least = 0.0 if products.exact else _ROUNDED * problem.loss_at_zero  # scores of a solver may be wrong by more

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

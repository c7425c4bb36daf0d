"""The support vector machine, worked out by hand."""

from __future__ import annotations

from typing import Any

from ..kernels import Kernel, Linear
from .cases import Finding, State, Verdict
from .exact import Vector, fraction, labels, refuse_many, sympy
from .gram import gram, read_kernel
from .picture import Picture
from .setting import Setting
from .steps import Solution
from .svm_answer import conditions, intercept, margin, multipliers, weights
from .svm_cases import cases, family, inseparable
from .svm_dual import data, dual, elimination, gram_matrix

MOST_POINTS_HARD, MOST_POINTS_SOFT = 10, 8


def svm(X: Any, y: Any, C: Any = None, kernel: Kernel | str = Linear()) -> Solution:  # noqa: B008 - kernels never change
    """The support vector machine, worked out exactly: hard margin, or soft margin where C is given.

    X holds the points (numbers, or text such as "1/3"), or their Gram matrix with kernel="precomputed"; y two classes.
    Kernels are those with rational values: linear, poly, intersection, chi2, and their sums and products.
    """
    sympy()
    e = _setting(X, y, C, kernel)
    sections = (data(e), gram_matrix(e), dual(e), elimination(e), cases(e))
    margin_kind = "hard margin" if e.C is None else f"soft margin, C = {e.C}"
    title = f"Support vector machine, {margin_kind}: {e.n} points"
    accepted = [verdict for verdict in e.verdicts if verdict.finding is Finding.OPTIMAL]
    if not accepted:
        return Solution(title, (*sections, inseparable(e)), {"separable": False}, Picture.of(e))
    best, *ties = sorted(accepted, key=lambda v: (len(v.members(State.FREE)), v.alpha), reverse=True)
    alpha, b = best.alpha, best.b
    assert alpha is not None
    assert b is not None
    others = [verdict for verdict in ties if verdict.alpha != alpha]
    rest = [
        multipliers(e, alpha),
        *([family(e, best, others)] if others else []),
        weights(e, alpha),
        intercept(e, best),
        margin(e, alpha, b),
        conditions(e, alpha, b),
    ]
    return Solution(title, (*sections, *rest), _answer(e, best, alpha, others), Picture.of(e, alpha, b))


def _setting(X: Any, y: Any, C: Any, kernel: Kernel | str) -> Setting:
    kernel = read_kernel(kernel, "mercer.SVC")
    bound = None if C is None or C in (float("inf"), "inf") else fraction(C, "C")
    refuse_many(X, MOST_POINTS_HARD if bound is None else MOST_POINTS_SOFT, "mercer.SVC")
    if bound is not None and bound <= 0:
        raise ValueError(f"C must be greater than 0, or None for the hard margin, not {C}.")
    points, K = gram(kernel, X)
    return Setting(points, labels(y, len(K)), K, bound, kernel)


def _answer(e: Setting, best: Verdict, alpha: Vector, others: list[Verdict]) -> dict[str, Any]:
    square = e.dual.squared_norm(alpha)
    root = sympy().sqrt(sympy().Rational(square.numerator, square.denominator))
    values: dict[str, Any] = {"separable": True} if e.C is None else {}
    values |= {
        "alpha": alpha,
        "support": tuple(i for i, a in enumerate(alpha) if a),
        "b": best.b,
        "t": -best.b if best.b is not None else None,
        "squared_norm": square,
        "margin": 1 / root if square else None,
        "value": e.dual.dual_value(alpha),
    }
    if e.linear:
        values["w"] = e.w(alpha)
    if best.interval is not None:
        values["b_interval"] = best.interval
    if others:
        values["vertices"] = tuple(verdict.alpha for verdict in (best, *others))
    return values

"""The support vector machine, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from ..kernels import Kernel, Linear
from .exact import fraction, labels, refuse_many, require_few, require_word, sympy
from .picture import Picture
from .sample import read_sample
from .steps import Section, Solution
from .svm_answer import answer, conditions, intercept, margin, multipliers, weights
from .svm_cases import cases, family, inseparable
from .svm_dual import data, dual, elimination, gram_matrix
from .svm_duality import duality
from .svm_features import in_features
from .svm_problem import SvmProblem
from .svm_program import program
from .svm_short import short
from .world import exact, root

MOST_POINTS_HARD, MOST_POINTS_SOFT = 10, 8


def svm(
    X: Any,
    y: Any,
    C: Any = None,
    kernel: Kernel | str = Linear(),  # noqa: B008 - kernels never change
    new: Any = None,
    detail: str = "full",
) -> Solution:
    """The support vector machine, worked out exactly: hard margin, or soft margin where C is given.

    X holds the points (numbers, or text such as "1/3"), or their Gram matrix with kernel="precomputed"; y two classes.
    Kernels are those with rational values: linear, poly, intersection, chi2, their sums and products, and features of
    one's own. `new` is a point (or several) to classify. detail="short" gives seven steps, from G to the margin, and
    the new points; "duality" derives the dual in full, "program" gives the matrices of the quadratic programs,
    "features" solves on phi(x) itself, beside the kernel.
    """
    sympy()
    bound = None if C is None or (isinstance(C, str | float) and C in (inf, "inf")) else fraction(C, "C")
    refuse_many(X, MOST_POINTS_HARD if bound is None else MOST_POINTS_SOFT, "mercer.SVC")
    if bound is not None and bound <= 0:
        raise ValueError(f"C must be greater than 0, or None for the hard margin, not {C}.")
    fields = read_sample(X, kernel, "mercer.SVC", new, gaussian=True)
    rows = fields["gram"] if fields["points"] is None else fields["points"]
    return SvmProblem(**fields, labels=labels(y, len(rows)), C=bound, detail=detail).solve()


def worked(e: SvmProblem) -> Solution:
    """The solution, from the data alone."""
    require_word("detail", e.detail, DETAILS)
    require_few(e.n, MOST_POINTS_HARD if e.C is None else MOST_POINTS_SOFT, "mercer.SVC")
    margin_kind = "hard margin" if e.C is None else f"soft margin, C = {e.C}"
    title = f"Support vector machine, {margin_kind}: {e.n} points"
    sections: tuple[Section, ...]
    if not e.optima:
        told = (data(e), gram_matrix(e)) if e.detail == "short" else (*_beginning(e), cases(e))
        sections = duality(e) if e.detail == "duality" else (*told, inseparable(e))
        return Solution(title, sections, {"separable": False}, Picture.of(e, e.y), e)
    sections = _TOLD[e.detail](e)
    picture = Picture.of(e, e.y, e.alpha, e.b, e.C, margins=True)
    return Solution(title, sections, _values(e), picture, e)


def _full(e: SvmProblem) -> tuple[Section, ...]:
    return *_beginning(e), cases(e), *_end(e)


def _short(e: SvmProblem) -> tuple[Section, ...]:
    return *short(e), *answer(e)[1:]


_TOLD: dict[str, Callable[[SvmProblem], tuple[Section, ...]]] = {
    "full": _full, "short": _short, "duality": duality, "program": program,
    "features": in_features,
}  # fmt: skip
DETAILS = tuple(_TOLD)


def _beginning(e: SvmProblem) -> tuple[Section, ...]:
    return data(e), gram_matrix(e), dual(e), elimination(e)


def _end(e: SvmProblem) -> tuple[Section, ...]:
    ties = (family(e),) if len(e.optima) > 1 else ()
    return multipliers(e), *ties, weights(e), intercept(e), margin(e), conditions(e), *answer(e)


def _values(e: SvmProblem) -> dict[str, Any]:
    square, best = e.squared_norm(e.beta(e.alpha)), e.optima[0]
    values: dict[str, Any] = {"separable": True} if e.C is None else {}
    values |= {
        "alpha": e.alpha,
        "support": tuple(i for i, a in enumerate(e.alpha) if a),
        "b": e.b,
        "t": -e.b,
        "squared_norm": square,
        "margin": 1 / root(exact(square)) if square else None,
        "value": e.dual.dual_value(e.alpha),
    }
    if e.linear:
        values["w"] = e.weights(e.beta(e.alpha))
    if best.interval is not None:
        values["b_interval"] = best.interval
    if len(e.optima) > 1:
        values["vertices"] = tuple(verdict.alpha for verdict in e.optima)
    if e.new:
        values["new"] = tuple(e.value_at(number) for number in range(len(e.new)))
    return values

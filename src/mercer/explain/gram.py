"""Kernels of mercer.kernels, evaluated exactly: where their values are fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from ..kernels import (
    Chi2,
    Constant,
    ExpChi2,
    FromFeatures,
    Gaussian,
    Intersection,
    Kernel,
    Linear,
    Polynomial,
    Power,
    Precomputed,
    Product,
    Scaled,
    Sum,
)
from ..kernels import kernel as as_kernel
from ..kernels.adaptive import Adaptive
from . import letters
from .exact import NotByHandError, Rows, fraction, points, quoted, sympy
from .exponential import exponential
from .formula import Call, Chain, Formula, Inner, Norm, Number, Quotient, Symbol, combination, equals, formula
from .formula import Product as Times
from .formula import Sum as Plus

POLYNOMIAL = (Linear, Polynomial, Constant, Sum, Product, Scaled, Power)
"""Kernels that are polynomials in <x, z>; their parts must be such kernels too."""


_FARTHEST = 200
"""The largest gamma |x - z|^2 that is written as exp of it."""
WITH_EXP = (Gaussian, ExpChi2)
"""Kernels whose values are exp of a fraction."""
MOST_WITH_EXP = 4
"""So many points are worked out with such a kernel."""


def any_kernel(kernel: Any) -> Kernel:
    """The kernel, from an object or from text."""
    if not isinstance(kernel, str | Kernel) and not callable(kernel):
        raise TypeError(
            f"A kernel is text such as 'poly(degree=2)' or an object such as Linear(), not {quoted(kernel)}."
        )
    return as_kernel(kernel)


def read_kernel(kernel: Kernel | str, instead: str, gaussian: bool = False) -> Kernel:
    """The kernel, if its values are fractions (or exp of them, with `gaussian`); `instead` names what to use else."""
    kernel = any_kernel(kernel)
    if isinstance(kernel, FromFeatures):
        return kernel
    for part in all_parts(kernel):
        if isinstance(part, WITH_EXP) and gaussian:
            continue
        if not isinstance(part, (*POLYNOMIAL, Intersection, Chi2, Precomputed)):
            raise NotByHandError(
                f"{type(part).__name__} has values that are no fractions, so there is no exact solution by hand: use "
                f"{instead}, or one of linear, poly, intersection, chi2, precomputed and their sums and products."
            )
    require_numbers(kernel)
    if isinstance(kernel, Precomputed) or not any(isinstance(part, Precomputed) for part in all_parts(kernel)):
        return kernel
    raise NotByHandError("Precomputed values cannot be mixed with other kernels here: give the finished Gram matrix.")


def require_numbers(kernel: Kernel) -> None:
    """Raise where a parameter waits for data: what is found from data is no fraction that anybody would write."""
    for part in all_parts(kernel):
        if isinstance(part, Adaptive) and isinstance(getattr(part, part.adapts), str):
            raise NotByHandError(f"{part!r} waits for data: give {part.adapts} as a number, such as 1/2.")


def all_parts(kernel: Kernel) -> list[Kernel]:
    """The kernel and all that it is made of."""
    return [kernel, *(deep for part in kernel.parts() for deep in all_parts(part))]


def has_exp(kernel: Kernel) -> bool:
    """Whether its values have exp in them."""
    return any(isinstance(part, WITH_EXP) for part in all_parts(kernel))


def is_linear(kernel: Kernel) -> bool:
    """The plain inner product, whose w can be written down."""
    return isinstance(kernel, Linear)


def is_polynomial(kernel: Kernel) -> bool:
    """A polynomial in the coordinates, so that f(x) can be multiplied out."""
    return all(isinstance(part, POLYNOMIAL) for part in all_parts(kernel))


def value(kernel: Kernel, x: Sequence[Any], z: Sequence[Any]) -> Any:
    """k(x, z) of fractions, or of symbols where the kernel is a polynomial."""
    match kernel:
        case Linear():
            return sum((a * b for a, b in zip(x, z, strict=True)), Fraction(0))
        case Polynomial(degree, gamma, coef0):
            return (fraction(gamma) * value(Linear(), x, z) + fraction(coef0)) ** int(degree)
        case Constant(constant):
            return fraction(constant)
        case Intersection():
            return sum((_least(a, b) for a, b in zip(x, z, strict=True)), Fraction(0))
        case Chi2():
            return sum((a * b / (a + b) for a, b in zip(x, z, strict=True) if a + b), Fraction(0))
        case Sum(left, right):
            return value(left, x, z) + value(right, x, z)
        case Product(left, right):
            return value(left, x, z) * value(right, x, z)
        case Scaled(factor, inner):
            return fraction(factor) * value(inner, x, z)
        case Power(inner, exponent):
            return value(inner, x, z) ** int(exponent)
        case Gaussian(gamma):
            return _gaussian(fraction(gamma), sum((a - b) ** 2 for a, b in zip(x, z, strict=True)))
        case ExpChi2(gamma):
            return _gaussian(fraction(gamma), sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b))
    raise TypeError(f"{kernel!r} has no exact values.")


def _gaussian(gamma: Fraction, square: Any) -> Any:
    """exp(-gamma times the square of a distance), of a fraction or of letters."""
    if isinstance(square, int | Fraction):
        if gamma * square > _FARTHEST:
            raise NotByHandError(
                f"A kernel value below exp(-{_FARTHEST}) is too small to be written out: take nearer points, or a "
                "smaller gamma."
            )
        return exponential(-gamma * Fraction(square))
    sp = sympy()
    return sp.exp(-sp.Rational(gamma.numerator, gamma.denominator) * square)


def _least(a: Any, b: Any) -> Any:
    try:
        return min(a, b)
    except TypeError:  # of letters
        return sympy().Min(a, b)


def written(kernel: Kernel, x: Sequence[Fraction], z: Sequence[Fraction]) -> Formula:
    """k(x, z) with the numbers put in but nothing computed."""
    return _shape(kernel, lambda: _inner(x, z), lambda cell: _added([cell(a, b) for a, b in zip(x, z, strict=True)]))


def _added(terms: list[Formula]) -> Formula:
    return Plus(tuple(terms)) if len(terms) > 1 else terms[0]


def general(kernel: Kernel, inner: Formula, coordinates: Callable[[str], Formula]) -> Formula:
    """k(x, z) in letters: `inner` stands for <x, z>, coordinates("min") for sums over coordinates."""
    names = {_minimum: "min", _chi2: "chi2", _square: "square", _relative: "relative"}
    return _shape(kernel, lambda: inner, lambda cell: coordinates(names[cell]))


def _shape(kernel: Kernel, inner: Callable[[], Formula], summed: Callable[[Any], Formula]) -> Formula:
    match kernel:
        case Linear():
            return inner()
        case Polynomial(degree, gamma, coef0):
            body = combination([fraction(coef0), fraction(gamma)], [Number(Fraction(1)), inner()])
            return body if degree == 1 else body ** int(degree)
        case Constant(constant):
            return Number(fraction(constant))
        case Intersection():
            return summed(_minimum)
        case Chi2():
            return summed(_chi2)
        case Sum(left, right):
            return _shape(left, inner, summed) + _shape(right, inner, summed)
        case Product(left, right):
            return _shape(left, inner, summed) * _shape(right, inner, summed)
        case Scaled(factor, part):
            return Number(fraction(factor)) * _shape(part, inner, summed)
        case Power(part, exponent):
            return _shape(part, inner, summed) ** int(exponent)
        case Gaussian(gamma):
            return Call("exp", (combination([-fraction(gamma)], [summed(_square)]),))
        case ExpChi2(gamma):
            return Call("exp", (combination([-fraction(gamma)], [summed(_relative)]),))
    raise TypeError(f"{kernel!r} has no formula.")


def _inner(x: Sequence[Fraction], z: Sequence[Fraction]) -> Formula:
    terms = tuple(Number(a) * Number(b) for a, b in zip(x, z, strict=True))
    return terms[0] if len(terms) == 1 else Plus(terms)


def _minimum(a: Fraction, b: Fraction) -> Formula:
    return Call("min", (formula(a), formula(b)))


def _square(a: Fraction, b: Fraction) -> Formula:
    return (Number(a) - Number(b)) ** 2


def _chi2(a: Fraction, b: Fraction) -> Formula:
    return Quotient(Number(a) * Number(b), Number(a) + Number(b)) if a + b else Number(Fraction(0))


def _relative(a: Fraction, b: Fraction) -> Formula:
    return Quotient(_square(a, b), Number(a) + Number(b)) if a + b else Number(Fraction(0))


def kernel_formula(kernel: Kernel) -> Chain:
    """k(x, z) = its formula."""
    x, z = Symbol("x", "j"), Symbol("z", "j")
    sums: dict[str, Formula] = {
        "min": letters.over(Call("min", (x, z)), "j"),
        "square": Norm(letters.x - letters.z) ** 2,
        "chi2": letters.over(Times((x, z)) / (x + z), "j"),
        "relative": letters.over((x - z) ** 2 / (x + z), "j"),
    }
    body = general(kernel, Inner(letters.x, letters.z), lambda kind: sums[kind])
    return equals(Call(letters.k, (letters.x, letters.z)), body)


def given_matrix(kernel: Precomputed, given: Rows) -> Rows:
    """The Gram matrix that was given, in the kernel or in place of the points."""
    if kernel.matrix is None:
        K = given
    else:
        matrix: Rows = points(kernel.matrix.tolist(), "matrix")
        kernel.check([float(row[0]) for row in given], "X")
        K = tuple(tuple(matrix[int(i[0])][int(j[0])] for j in given) for i in given)
    if len(K) != len(K[0]):
        raise ValueError(f"A Gram matrix is square, but X has {len(K)} rows and {len(K[0])} columns.")
    for i, row in enumerate(K):
        for j in range(i):
            if row[j] != K[j][i]:
                raise ValueError(f"A Gram matrix is symmetric, but K[{i}][{j}] = {row[j]} and K[{j}][{i}] = {K[j][i]}.")
    return K


def require_histograms(kernel: Kernel, given: Rows) -> None:
    """Raise where a kernel of histograms would meet a negative entry."""
    for part in all_parts(kernel):
        if isinstance(part, Intersection | Chi2 | ExpChi2) and any(entry < 0 for x in given for entry in x):
            least = min(entry for x in given for entry in x)
            raise ValueError(
                f"{type(part).__name__} is a kernel of histograms and needs entries >= 0, but X has {least}: shift or "
                "count the data, or use another kernel."
            )

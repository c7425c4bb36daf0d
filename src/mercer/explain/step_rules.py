"""Rules for the size of steps, as formulas in t: whether their sum is infinite, and that of their squares finite."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from .algebraic import from_sympy
from .exact import NotByHandError, fraction, sympy
from .expression import expression
from .formula import Formula

_POWERS = [Fraction(k, 2) for k in range(9)]


@dataclass(frozen=True)
class Rule:
    """eta_t as an expression in t = 1, 2, ..."""

    body: Any

    @property
    def t(self) -> Any:
        """The letter t."""
        return sympy().Symbol("t", real=True)

    def size(self, t: int) -> Fraction:
        """eta_t, where it is a fraction."""
        found = self.body.xreplace({self.t: sympy().Integer(t)})
        if not found.is_Rational:
            raise NotByHandError(f"eta is {found} in step {t}, no fraction: take a rule such as 1/4 or 1/(t + 1).")
        return fraction(found)

    @cached_property
    def power(self) -> Fraction:
        """p, where eta_t is like c / t^p for large t."""
        sp = sympy()
        t = sp.Symbol("t", positive=True)
        for p in _POWERS:
            limit = sp.limit(self.body.xreplace({self.t: t}) * t ** sp.Rational(p.numerator, p.denominator), t, sp.oo)
            if limit.is_finite and limit != 0:
                return p
        raise NotByHandError(f"{self.body} is not like c / t^p with p from 0 to 4: take a rule such as 1/(t + 1).")

    @property
    def sum_infinite(self) -> bool:
        """sum 1/t^p is infinite for p <= 1."""
        return self.power <= 1

    @property
    def squares_finite(self) -> bool:
        """sum 1/t^2p is finite for 2p > 1."""
        return 2 * self.power > 1

    @property
    def written(self) -> Formula:
        """The rule as a formula."""
        return from_sympy(self.body)


def read_rule(source: Any) -> Rule:
    """A number or a formula in t, positive."""
    body = expression(source, "the rule", kinks=False)
    rule = Rule(body)
    if body.free_symbols - {rule.t}:
        others = ", ".join(sorted(str(s) for s in body.free_symbols - {rule.t}))
        raise ValueError(f"A step rule is a formula in t, such as 1/(t + 1), but this one has {others}.")
    if not all(body.xreplace({rule.t: sympy().Integer(t)}).is_positive for t in (1, 2, 3, 100)):
        raise ValueError(f"Steps must be greater than 0: {source} is not.")
    return rule

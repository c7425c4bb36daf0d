"""The data of one exercise on support vector machines, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import letters
from .algebra import solve, times
from .cases import Case, Dual, Finding, State, Verdict, all_hold, meeting_hulls, try_all
from .exact import Labels, Rows, Vector, dot, sympy
from .formula import Formula, Symbol, combination, formula
from .sample import Sample
from .world import World, exact, root, vector

if TYPE_CHECKING:
    from .steps import Solution, Step

_LETTERS = {State.FREE: "F", State.ZERO: "0", State.BOUND: "C"}


def scope_of(case: Case) -> str:
    """The scope of what is said of a case."""
    return f"case {''.join(_LETTERS[state] for state in case)}"


@dataclass(frozen=True)
class SvmProblem(Sample):
    """Points with labels, and C (None: hard margin). `detail` is how much is told: "full" or "short"."""

    labels: Labels
    C: Fraction | None
    detail: str = "full"

    def solve(self) -> Solution:
        """See `svm`."""
        from .svm import worked

        return self.within_limits(lambda: worked(self))

    @property
    def y(self) -> tuple[int, ...]:
        """The labels."""
        return self.labels.signs

    @cached_property
    def dual(self) -> Dual:
        """The dual problem."""
        return Dual(self.K, self.y, self.C)

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What became of each case."""
        return try_all(self.dual)

    @cached_property
    def optima(self) -> tuple[Verdict, ...]:
        """The optimal multipliers, each with the case that it solves: corners of all optima, most free ones first."""
        found = [verdict for verdict in self.verdicts if verdict.finding is Finding.OPTIMAL]
        found.sort(key=lambda v: (len(v.members(State.FREE)), v.alpha), reverse=True)
        first: dict[Vector | None, Verdict] = {}
        for verdict in found:
            first.setdefault(verdict.alpha, verdict)
        return tuple(first.values())

    @property
    def alpha(self) -> Vector:
        """The multipliers of the first optimum."""
        alpha = self.optima[0].alpha
        assert alpha is not None
        return alpha

    @property
    def b(self) -> Fraction:
        """The intercept of the first optimum."""
        b = self.optima[0].b
        assert b is not None
        return b

    @cached_property
    def signed_gram(self) -> Rows:
        """G_ij = y_i y_j K_ij."""
        return tuple(tuple(self.y[i] * self.y[j] * v for j, v in enumerate(row)) for i, row in enumerate(self.K))

    def beta(self, alpha: Vector) -> Vector:
        """alpha_i y_i."""
        return tuple(s * a for s, a in zip(self.y, alpha, strict=True))

    def value_at(self, number: int) -> Fraction:
        """f of a new point."""
        return dot(self.beta(self.alpha), self.new_values(number)) + self.b

    # What the letters stand for.

    def world(self, scope: str) -> World:
        """See Problem. The multipliers are letters at first, and numbers in what follows."""
        kind, _, rest = scope.partition(" ")
        if kind == "data":
            return self._with_labels()
        if kind in ("unknown", "eliminated"):
            return self._unknown(kind == "eliminated")
        if kind == "system":
            return self._with_labels().also(families={Symbol("alpha"): [exact(a) for a in self.free_solution or ()]})
        if kind == "case":
            return self._case(rest)
        if kind == "hulls":
            plus, minus = meeting_hulls(self.dual)
            return self._with_labels().also(
                {Symbol("c", bold=True): vector([p - m for p, m in zip(plus, minus, strict=True)])}
            )
        from . import svm_duality, svm_features, svm_program

        if scope in svm_duality.SCOPES:
            return svm_duality.world(self, scope)
        solved = self._solved(self.alpha, self.b)
        if kind == "explicit":
            return svm_features.world(self, solved)
        if kind in svm_program.SCOPES:
            return svm_program.world(self, scope, solved)
        return self.at_new(solved, int(rest) - 1) if kind == "new" else solved

    def _with_labels(self) -> World:
        sp, world = sympy(), self.base
        G = [[exact(v) for v in row] for row in self.signed_gram]
        signs = [sp.Integer(s) for s in self.y]
        letters_ = {letters.y: vector(signs), letters.G: sp.ImmutableMatrix(G)}
        if self.linear:
            letters_[Symbol("S", bold=True)] = sp.ImmutableMatrix(
                [[exact(s * v) for v in x] for s, x in zip(self.y, self.vectors, strict=True)]
            )
        if self.C is not None:
            letters_[letters.C] = exact(self.C)
        return world.also(letters_, {Symbol("y"): signs, Symbol("G"): G})

    def _unknown(self, eliminated: bool) -> World:
        """The multipliers are letters; without the last one where the equality has eliminated it."""
        sp, world = sympy(), self._with_labels()
        alphas = [sp.Symbol(letters.alpha(i).key, real=True) for i in range(self.n)]
        if eliminated:
            alphas[-1] = -self.y[-1] * sum(s * a for s, a in zip(self.y[:-1], alphas[:-1], strict=True))
        column = sp.Matrix(alphas)
        q = sp.expand((column.T * world.letters[letters.G] * column)[0, 0])
        L = sum(alphas) - q / 2
        functions = {letters.q: lambda *_: q, letters.L: lambda *_: L}
        return world.also({letters.alpha_bold: column, **functions}, {Symbol("alpha"): alphas})

    @cached_property
    def free_solution(self) -> Vector | None:
        """Where the derivatives of the dual are 0 and sum alpha_i y_i = 0, if at one point: by elimination with b."""
        A = [[*row, Fraction(s)] for s, row in zip(self.y, self.signed_gram, strict=True)]
        A.append([*map(Fraction, self.y), Fraction(0)])
        outcome = solve(A, [Fraction(1)] * self.n + [Fraction(0)])
        return None if outcome.particular is None else outcome.particular[:-1]

    def _case(self, states: str) -> World:
        by_letter = {letter: state for state, letter in _LETTERS.items()}
        case = tuple(by_letter[letter] for letter in states)
        outcome = solve(*self.dual.system(case))
        if outcome.particular is None:
            return self._with_labels()
        free = iter(outcome.particular[:-1])
        C = self.C or Fraction(0)
        alpha = tuple(next(free) if s is State.FREE else C if s is State.BOUND else Fraction(0) for s in case)
        return self._solved(alpha, outcome.particular[-1] if State.FREE in case else None)

    def _solved(self, alpha: Vector, b: Fraction | None) -> World:
        """The multipliers are numbers; b is one too, where it is known."""
        sp, world = sympy(), self._with_labels()
        beta = [exact(v) for v in self.beta(alpha)]
        numbers = [exact(a) for a in alpha]
        intercept = sp.Symbol("b", real=True) if b is None else exact(b)
        world = self.function(world, beta, intercept)
        scores = times(self.K, self.beta(alpha))
        letters_: dict[Symbol, Any] = {letters.alpha_bold: vector(numbers)}
        families: dict[Symbol, Any] = {Symbol("alpha"): numbers}
        if b is not None:
            letters_ |= {letters.b: intercept, letters.t: -intercept}
            reached = [s * (score + b) for s, score in zip(self.y, scores, strict=True)]
            families[Symbol("xi")] = [exact(max(Fraction(0), 1 - m)) for m in reached]
        square = self.squared_norm(self.beta(alpha))
        if square:
            letters_[Symbol("m")] = 1 / root(exact(square))
        return world.also(letters_, families)

    # Proofs beyond relations between numbers.

    def prove_cases(self, step: Step) -> bool:
        """Each verdict is right; and as many cases are shown, or counted, as there are."""
        from .svm_cases import shown_cases

        return all_hold(self.dual, self.verdicts) and shown_cases(step) == self.dual.count

    def prove_singular(self, step: Step) -> bool:
        """The linear system without bounds has no solution, or many."""
        from .svm_dual import reduce

        reduced = reduce(self)
        outcome = solve(reduced.H, reduced.g)
        words = "".join(part for part in step.statement.parts if isinstance(part, str))
        return not outcome.unique and ("no solution" in words) == (outcome.particular is None)


def added(values: Vector) -> Formula:
    """The values that are not 0, added up but not computed."""
    kept = [formula(v) for v in values if v]
    return combination([1] * len(kept), kept)

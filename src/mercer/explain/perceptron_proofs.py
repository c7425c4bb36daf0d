"""What is proved of a perceptron's run beyond relations between numbers: its words, its table, its classes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .exact import dot
from .formula import Formula, Number, Point, formula
from .meaning import value
from .steps import Step, Table


def word(mistake: bool) -> str:
    """How a table tells a mistake."""
    return "yes" if mistake else "no"


class Proofs:
    """The proofs that steps of a PerceptronProblem, which inherits them, name."""

    def prove_run(self: Any, step: Step) -> bool:
        """The words of the table: a mistake where y_i f(x_i) <= 0, and the points one after the other."""
        (table,) = step.mathematics
        assert isinstance(table, Table)
        for row, scope in zip(table.rows, table.scopes, strict=True):
            if scope:
                number = int(scope.partition(" ")[2])
                turn, i, score, mistake = (row[j].parts[0] for j in range(4))
                right = (Number(Fraction(number // self.n + 1)), Number(Fraction(number % self.n + 1)))
                assert isinstance(score, Formula)
                if (turn, i) != right or mistake != word(bool(value(score).evalf(50) <= 0)):
                    return False
        return True

    def prove_indicators(self: Any, step: Step) -> bool:
        """The indicator is 1 where y_i f(x_i) <= 0, and only then something is added."""
        (table,) = step.mathematics
        assert isinstance(table, Table)
        for number, row in enumerate(table.rows):
            i = number % self.n
            mistake = self.y[i] * dot(self.K[i], self.run.beta(self._counts[number])) <= 0
            if row[3].parts != (Number(Fraction(int(mistake))),) or (row[4].parts == ("nothing",)) == mistake:
                return False
        return True

    def prove_apart(self: Any, step: Step) -> bool:
        """In the last component shown, one class is above the other."""
        (table,) = step.mathematics
        assert isinstance(table, Table)
        sides: dict[Any, list[Any]] = {}
        for row in table.rows:
            label, shown = row[0].parts[0], row[2].parts[0]
            assert isinstance(shown, Point)
            sides.setdefault(label, []).append(value(shown.entries[-1]).evalf(30))
        one, other = sides.values()
        return bool(min(one) > max(other) or min(other) > max(one))

    def prove_same(self: Any, step: Step) -> bool:
        """The values of the run on features are those of the run by the kernel."""
        (table,) = step.mathematics
        assert isinstance(table, Table)
        return [row[2].parts for row in table.rows] == [(formula(look.score),) for look in self.run.looks]

    def prove_converges(self: Any, step: Step) -> bool:
        """Every point has y_i f(x_i) > 0."""
        values = [dot(row, self.beta) for row in self.K]
        return bool(all(s * f > 0 for s, f in zip(self.y, values, strict=True)))

    def prove_linear(self: Any, step: Step) -> bool:
        """What is said of the linear kernel."""
        words = "".join(part for part in step.statement.parts if isinstance(part, str))
        if "converges too" in words:
            return bool(self.plain.prove_converges(step))
        return (self.plain.run.cycle() is not None) == ("does not end" in words)

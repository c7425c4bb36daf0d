"""The run of a perceptron, exactly: f = eta sum_j alpha_j y_j k(x_j, .), and alpha_i + 1 on each mistake."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .algebra import times
from .exact import Rows, Vector

MOST_PASSES = 200


@dataclass(frozen=True)
class Look:
    """One look at a point: its pass and number, y_i f(x_i) before, and the counts of mistakes after."""

    turn: int
    i: int
    score: Fraction
    mistake: bool
    alpha: tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """The whole run."""

    K: Rows
    y: tuple[int, ...]
    eta: Fraction
    looks: tuple[Look, ...]

    @property
    def alpha(self) -> tuple[int, ...]:
        """The counts of mistakes at the end."""
        return self.looks[-1].alpha

    @property
    def converged(self) -> bool:
        """Whether the last pass made no mistake."""
        return not any(look.mistake for look in self.looks[-len(self.y) :])

    def beta(self, alpha: tuple[int, ...]) -> Vector:
        """The factors of f."""
        return tuple(self.eta * a * s for a, s in zip(alpha, self.y, strict=True))

    def cycle(self) -> tuple[int, ...] | None:
        """The mistakes between two ends of passes with the same f; None where there are no such two."""
        n = len(self.y)
        seen: dict[Vector, tuple[int, ...]] = {}
        for alpha in ((0,) * n, *(look.alpha for look in self.looks[n - 1 :: n])):
            before = seen.setdefault(times(self.K, self.beta(alpha)), alpha)
            if before != alpha:
                return tuple(b - a for a, b in zip(before, alpha, strict=True))
        return None


def follow(K: Rows, y: tuple[int, ...], eta: Fraction, most: int = MOST_PASSES) -> Run:
    """Run until a pass makes no mistake, until f comes back at the end of a pass, or for `most` passes."""
    alpha, looks = [0] * len(y), []
    scores = [Fraction(0)] * len(y)
    ends = {tuple(scores)}
    for turn in range(1, most + 1):
        before = tuple(alpha)
        for i, sign in enumerate(y):
            score = sign * scores[i]
            if score <= 0:
                alpha[i] += 1
                scores = [f + eta * sign * k for f, k in zip(scores, K[i], strict=True)]
            looks.append(Look(turn, i, score, score <= 0, tuple(alpha)))
        if tuple(alpha) == before or tuple(scores) in ends:
            break
        ends.add(tuple(scores))
    return Run(K, y, eta, tuple(looks))

"""The certificate of kernel ridge regression, in values of J(w) = 1/2 sum_i w_i (f(x_i) - t_i)^2 + lambda/2 |w|^2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...solution import Certificate, WorstCertificate, worst


@dataclass(frozen=True, eq=False)
class RidgeCertificate(WorstCertificate):
    """What is proved of an answer, and how well it solves its equations.

    relative_residual is |t - f(x) - lambda beta / w| / |t| over the training points (t centred where b is free); in
    features, the residual of the normal equations in parts of that of f = 0. Of several targets this is the one with
    the largest gap, and `parts` holds all of them.

    With landmarks, all of this is about the problem that they pose: the best f that is a sum over landmarks. What is
    known of the full problem is full_residual: the relative residual of its equations on a sample of rows, for
    beta = w (t - f(x)) / lambda.
    """

    relative_residual: float = 0.0
    full_residual: float | None = None

    def __str__(self) -> str:
        text = super().__str__() if self.parts else Certificate.__str__(self)
        text = f"{text}\n  relative residual {self.relative_residual:.1e}"
        if self.full_residual is None:
            return text
        return f"{text}\n  full problem, without landmarks: relative residual {self.full_residual:.1e} on a sample"


def of_targets(certificates: Sequence[Certificate], tol: float) -> Certificate:
    """The worst of several targets."""
    return worst(certificates, [f"target {number}" for number in range(len(certificates))], tol)

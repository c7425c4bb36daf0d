"""The certificate of kernel ridge regression, in values of J(w) = 1/2 sum_i w_i (f(x_i) - t_i)^2 + lambda/2 |w|^2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..examination import examine
from ..losses import Squared
from ..problem import Problem
from ..solution import Certificate, Status
from ..solvers.conjugate import norms
from ..solvers.linear import Block, System
from ..solvers.weights import FeatureProblem, Weights
from ..types import Array
from .certificates import WorstCertificate, number_of_worst


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


def certified(system: System, block: Block, penalty: float) -> list[RidgeCertificate]:
    """The certificate of each target, from K beta as it was recomputed; `penalty` is lambda."""
    scores = system.product(block.beta) if block.scores is None else block.scores
    residuals = system.relative(system.residual(block.beta, block.b, scores))
    found = []
    for j, residual in enumerate(residuals):
        problem = Problem(system.gram, system.centred[:, j], Squared(), 1.0 / system.r, system.bias)
        beta, b = np.ascontiguousarray(block.beta[:, j]), float(block.b[j] - system.centre[j])
        certificate, _, _ = examine(problem, beta, b, scores=np.ascontiguousarray(scores[:, j]))
        found.append(in_values_of_J(certificate, penalty, float(residual)))
    return found


def of_weights(problem: FeatureProblem, answer: Weights, status: Status | None, tol: float) -> list[RidgeCertificate]:
    """The certificate of each target, from one pass over the rows; J >= 0 is all that is known without it."""
    if answer.measured is None:
        return [RidgeCertificate(np.inf, 0.0, 0.0, np.inf, 0.0, status, relative_residual=1.0) for _ in answer.primal]
    found = []
    violations = norms(answer.measured.residual) / problem.penalty  # f of w and that of beta differ by |z| times this
    for j, primal in enumerate(answer.primal.tolist()):
        certificate = RidgeCertificate(
            primal, primal - float(answer.gap[j]), kkt_violation=float(violations[j]),
            relative_residual=float(answer.relative[j]),
        )  # fmt: skip
        found.append(replace(certificate, status=Status.CONVERGED if certificate.relative_gap <= tol else status))
    return found


def in_values_of_J(certificate: Certificate, penalty: float, residual: float) -> RidgeCertificate:  # noqa: N802
    """The certificate of the problem with C_i = w_i / lambda, times lambda."""
    values = {f.name: getattr(certificate, f.name) for f in fields(Certificate)}
    values |= {name: penalty * values[name] for name in ("primal", "dual", "rounding", "residuals")}
    return RidgeCertificate(**values, relative_residual=residual)


def of_all(certificates: Sequence[Any], tol: float) -> RidgeCertificate:
    """The worst of several."""
    number = number_of_worst(certificates, tol)
    found: RidgeCertificate = certificates[number]
    return found if len(certificates) == 1 else replace(found, name=f"target {number}", parts=tuple(certificates))


def objective(system: System, block: Block, penalty: float) -> tuple[float, float]:
    """J and its lower bound, summed over the targets, as the solver sees them."""
    scores = block.scores if block.scores is not None else system.product(block.beta)
    norm = float(np.einsum("ij,ij->", block.beta, scores))
    t = system.centred
    misfit: Array = t - (block.b - system.centre) - scores
    cost = float(np.einsum("ij,ij,i->", misfit, misfit, 1.0 / system.r))
    dual = float(np.einsum("ij,ij->", t, block.beta) - 0.5 * np.einsum("ij,ij,i->", block.beta, block.beta, system.r))
    return penalty * 0.5 * (norm + cost), penalty * (dual - 0.5 * norm)

"""Coordinate descent in the dual, for explicit features: K = Z Z' + c with Z at hand, and nothing of size n x n.

    minimise  1/2 |w|^2 + sum (r_i/2 beta_i^2 - q_i beta_i + eps_i |beta_i|),  w = sum beta_i z_i,  lo <= beta <= hi

One coefficient after the other goes to its best value, in random order; since w is held, that costs one row of Z (see
descent.py, where the bias is explained too). Points that seem optimal are left out until the round ends (shrinking).

Passes are cheap and soon come near; the last digits can take thousands of them. Newton steps take over (see
proximal_point.py), where they promise to be faster: few features, or few free coefficients. With r > 0 and few features
they begin at once, from the answer for some of the points.

References: Hsieh, Chang, Lin, Keerthi, Sundararajan 2008; Yu, Huang, Lin 2011 (logistic loss).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from .._core.core import CHOICE
from ..amounts import LARGEST, ROUNDS, SHARE
from ..gram import Design
from ..limits import deadline, flop_seconds
from ..losses import HardMargin
from ..problem import Problem
from ..types import Array
from .base import Iterate, Solver, repaired
from .descent import CoordinatePasses, balanced, best_constant
from .features_or_kernels import Features
from .nanoseconds import of_a_factor, of_a_pass, of_squares
from .newton.proximal_point import STEPS_IN_VAIN, ProximalPoint
from .some_points import PART_OF_GRADIENT, STEPS, how_many

_ROUNDS_BEFORE = 3  # Newton steps come after so many rounds, where r is 0: a good start saves many of them.
_IN_TIME = 2.0  # So many Newton steps must be possible before the deadline, or passes go on.
_ROWS_PER_FEATURE = 40  # Newton steps at once begin with so many points for each feature, at least.


@dataclass(frozen=True)
class CoordinateDescent(Solver):
    """Passes over the points in random order, one coefficient at a time; then Newton steps.

    Parameters
    ----------
    newton : bool, default=True
        Whether Newton steps follow.
    random_state : int, default=None
        The seed of the order.
    feasible : bool, default=False
        Whether the coefficients of the answer are a dual point themselves, which takes two more passes a round; else
        they are near one.
    weights : bool, default=False
        Whether, where that does not reach the tolerance, the answer is a w beside the dual point: features may be so
        large that sum beta_i z_i has few digits left, and f = <w, z> + b has all of them.
    """

    newton: bool = True
    random_state: int | None = None
    feasible: bool = False
    weights: bool = False

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if problem.gram.design is None:
            raise ValueError(
                f"CoordinateDescent needs explicit features, K = Z Z', which {problem.gram!r} does not have: take "
                "LinearGram, LowRankGram or a kernel with features; or Decomposition(), which needs none."
            )
        require_no_mass(self, problem)

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        descent = CoordinatePasses(problem, Features(problem.gram.design), start, self.random_state)
        yield best_constant(problem)
        if self.newton and start is None and _worth_newton_at_once(descent):
            _start_from_a_part(descent)
            yield from _newton_steps(descent, self)
            return
        while True:
            descent.round()
            yield replace(_dual_point(problem, descent.beta), done=descent.idle) if self.feasible else descent.iterate()
            if self.newton and _worth_newton(descent):
                yield from _newton_steps(descent, self)
                return
            if descent.idle:
                return


def require_no_mass(solver: Solver, problem: Problem) -> None:
    """Raise for a hard margin, and for sums of beta other than 0."""
    if isinstance(problem.loss, HardMargin) or problem.mass:
        raise ValueError(
            f"{type(solver).__name__} serves hinge, squared hinge, epsilon-insensitive, squared and logistic loss, not "
            f"{problem.loss!r}{' with a mass' if problem.mass else ''}: take Decomposition()."
        )


def _worth_newton(descent: CoordinatePasses) -> bool:
    """Whether Newton steps would take less time for a digit than passes do."""
    problem, design = descent.problem, _design(descent)
    if not problem.loss.quadratic:
        return False
    if descent.rounds < (1 if problem.terms.curved else _ROUNDS_BEFORE):
        return False
    if descent.rounds >= ROUNDS.in_vain and design.width <= LARGEST.columns:  # however cheap passes are
        return True
    free = int(np.count_nonzero(problem.bounds.free(descent.beta)))
    step, passing = _newton_step(design, free), of_a_pass(design)
    if step >= descent.passes_per_digit * passing:
        return False
    # By what a pass has taken, there is time for some steps.
    return _IN_TIME * step * descent.pass_seconds <= passing * deadline().left()


def _worth_newton_at_once(descent: CoordinatePasses) -> bool:
    """Whether Newton steps are so cheap that no pass is needed before them."""
    problem, design = descent.problem, _design(descent)
    size = _some(design)
    if not problem.loss.quadratic or not problem.terms.curved or not size:
        return False
    if _newton_step(design, design.n // 2) >= descent.passes_per_digit * of_a_pass(design):
        return False
    left = deadline().left()
    return left == np.inf or size * design.width**2 * flop_seconds() <= SHARE.some * left


def _some(design: Design) -> int:
    """How many points Newton steps begin with; 0 for all of them."""
    return how_many(design.n, _ROWS_PER_FEATURE * design.width)


def _start_from_a_part(descent: CoordinatePasses) -> None:
    """Put the descent where Newton steps with some of the points lead, each of them standing for several."""
    design, size = _design(descent), _some(_design(descent))
    order = np.arange(design.n)
    CHOICE.functions.shuffle(order, descent.words)
    rows = np.sort(order[:size])
    terms = descent.problem.terms.at(rows)
    terms = replace(terms, r=terms.r * (size / design.n))
    none = np.zeros(size), np.zeros(design.width)
    newton = ProximalPoint(Design(design.Z[rows], design.constant), terms, *none, 0.0, descent.problem.bias)
    enough = PART_OF_GRADIENT * newton.place.size
    for _ in range(STEPS):
        newton.advance()
        if newton.stuck or newton.place.size <= enough:
            break
    descent.beta[rows], descent.image, descent.b = newton.place.v, newton.place.w, newton.b


def _design(descent: CoordinatePasses) -> Design:
    """Z of the problem."""
    return _design_of(descent.problem)


def _design_of(problem: Problem) -> Design:
    design: Design = problem.gram.design
    return design


def _newton_steps(descent: CoordinatePasses, solver: CoordinateDescent) -> Generator[Iterate, Array | None, None]:
    """Newton steps from where the descent stands, as long as they help."""
    problem = descent.problem
    newton = ProximalPoint(_design(descent), problem.terms, descent.beta, descent.image, descent.b, problem.bias)
    best = apart = best_constant(problem)  # steps between two centres can lead astray
    earlier, since = (np.nan, np.nan), 0
    while True:
        now = (newton.dual, newton.place.size)
        last = (newton.stuck or now == earlier) and not newton.rounded  # equal: steps are lost to rounding
        earlier = now
        if solver.weights:
            apart = min(apart, _weights_and_dual_point(problem, newton), key=_gap)
        if solver.feasible:
            before = best
            best = min(best, _dual_point(problem, newton.place.v), key=_gap)
            since = since + 1 if best is before else 0
            last = last or since >= STEPS_IN_VAIN
            recomputed = yield replace(best, done=last)
        else:
            recomputed = yield _two_points(problem, newton, last)
        if last:
            if solver.weights and _gap(apart) < _gap(best):  # coefficients alone have led as far as they can
                yield replace(apart, done=True)
            return
        if newton.rounded and (newton.stuck or recomputed is not None):  # float32 has led as far as it can
            newton.refresh()
        newton.advance()


def _two_points(problem: Problem, newton: ProximalPoint, last: bool) -> Iterate:
    """Where Newton steps have led: a primal and a dual point."""
    place = newton.place
    beta, dual, gap = place.beta, newton.dual, newton.gap
    if problem.bias and place.total != 0.0:
        beta = balanced(beta)
        dual, was = problem.dual(beta), dual
        gap += was - dual
    scores = place.f - newton.b if problem.bias else place.f
    return Iterate(place.v, scores, newton.b, dual, gap=gap, done=last, dual_beta=beta)


def _dual_point(problem: Problem, beta: Array) -> Iterate:
    """The dual point next to these coefficients, as both."""
    beta = repaired(problem, beta)
    scores = problem.gram @ beta
    b, dual = problem.best_bias(scores), problem.dual(beta, scores)
    return Iterate(beta, scores, b, dual, gap=problem.primal(beta, b, scores) - dual)


def _weights_and_dual_point(problem: Problem, newton: ProximalPoint) -> Iterate:
    """w where Newton steps have led, and the dual point next to theirs."""
    beta, w = repaired(problem, newton.place.beta), newton.place.w.copy()
    scores, dual = _design_of(problem).dots(w), problem.dual(beta)
    b = problem.best_bias(scores)
    return Iterate(beta, scores, b, dual, gap=problem.primal_of(w, b, scores) - dual, weights=w)


def _gap(iterate: Iterate) -> float:
    return np.inf if iterate.gap is None else iterate.gap


def _newton_step(design: Design, free: int) -> float:
    """Nanoseconds, about, of a Newton step with so many free coefficients; half of the Hessian is kept from before."""
    side = min(design.width, free)
    in_points = design.sparse and free < design.width  # products of sparse rows with each other
    squares = of_a_pass(design) * (free / design.n) * side if in_points else of_squares(design, free, side)
    if design.Z.dtype == np.float32 and not design.sparse:
        squares *= 0.5
    return 2.0 * of_a_pass(design) + squares + of_a_factor(side)

"""The dual (or primal) as a general quadratic program, handed to a QP solver through qpsolvers: an oracle for others.

    minimise  1/2 x'P x + q'x   subject to  G x <= h,  A x = b

In classification x is alpha, with beta_i = alpha_i y_i; for one class and for squared loss x is beta; for
epsilon-insensitive loss x holds alpha and alpha*, and beta = alpha - alpha*.

With form="primal" it is the primal, in x = (w, b, xi) where the kernel has explicit features, in (beta, b, xi) with
w = sum beta_i phi(x_i) elsewhere; the multipliers of the margins are alpha.

What a QP solver says of its own answer is not trusted: coefficients are put within their bounds, and `solve` certifies
them. Where no hard margin is found, the nearest points of the two classes are given: they prove that there is none.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..amounts import A_DIGIT, LARGEST, ROUNDING
from ..limits import deadline
from ..losses import EpsilonInsensitive, HardMargin, Hinge
from ..problem import Problem
from ..solution import relative
from ..ties import ROUNDING as NEARLY
from ..types import Array
from .base import Iterate, Solver, Work
from .triangular import factor_work

_EXACT = ROUNDING.of_a_difference
_EPS = {"eps_abs": NEARLY, "eps_rel": NEARLY}
_TIGHT: dict[str, dict[str, Any]] = {  # Settings that make a solver more exact than it is by itself.
    "clarabel": {"tol_gap_abs": _EXACT, "tol_gap_rel": _EXACT, "tol_feas": _EXACT},
    "cvxopt": {"abstol": _EXACT, "reltol": _EXACT, "feastol": _EXACT},
    "osqp": {**_EPS, "max_iter": 1_000_000},
    "piqp": _EPS,
    "proxqp": _EPS,
    "scs": _EPS,
}
_TIME_LIMIT = {"clarabel": "time_limit", "osqp": "time_limit", "scs": "time_limit_secs"}
_FACTORS = 300
"""An interior point method takes as long as so many dense factors: one in each step, by routines for sparse matrices.
"""


class Assembled(NamedTuple):
    """min 1/2 x'P x + q'x  subject to  G x <= h,  A x = b; None where there is no such constraint."""

    P: Array
    q: Array
    G: Array | None
    h: Array | None
    A: Array | None
    b: Array | None


@dataclass(frozen=True)
class QP(Solver, names=("qp",)):
    """The dual, or the primal, solved by a general QP solver.

    Parameters
    ----------
    solver : str, default="clarabel"
        Any solver that qpsolvers finds, by name.
    form : {"dual", "primal"}, default="dual"
        Which of the two programs is solved.
    """

    solver: str = "clarabel"
    form: str = "dual"
    needs_quadratic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form not in ("dual", "primal"):
            raise ValueError(f"QP: form must be 'dual' or 'primal', not {self.form!r}.")

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if self.form == "primal" and not isinstance(problem.loss, Hinge | HardMargin):
            raise ValueError(f"QP(form='primal') is for the hinge loss and the hard margin, not for {problem.loss!r}.")

    @staticmethod
    def assemble(problem: Problem) -> Assembled:
        """The dual of a problem as matrices to look at; in classification P = (y y') o K, q = -1, A = y'."""
        if isinstance(problem.loss, EpsilonInsensitive):
            return _assemble_in_two(problem)
        t, side = problem.terms, _side(problem)
        P = np.outer(side, side) * _matrix(problem, problem.n) + np.diag(t.r)
        ends = np.sort(np.stack([side * t.lo, side * t.hi]), axis=0)
        return Assembled(P, -side * t.q, *_bounds(*ends), *_sum(problem, side))

    @staticmethod
    def assemble_primal(problem: Problem) -> Assembled:
        """The primal in (w, b, xi): P = 1 for w, q = C for xi, and the rows -y_i (z_i, 1, 0 .. 1 .. 0) x <= -1."""
        Z, P = _features(problem)
        n, width, y = problem.n, Z.shape[1], _side(problem)
        slacks = 0 if isinstance(problem.loss, HardMargin) else n
        size = width + int(problem.bias) + slacks
        whole = np.zeros((size, size))
        whole[:width, :width] = P
        q = np.concatenate([np.zeros(size - slacks), problem.C if slacks else np.zeros(0)])
        bias = -y[:, None] if problem.bias else np.zeros((n, 0))
        G = np.hstack([-y[:, None] * Z, bias, -np.eye(n)[:, :slacks]])
        signs = np.hstack([np.zeros((slacks, size - slacks)), -np.eye(slacks)])
        return Assembled(whole, q, np.vstack([G, signs]), np.repeat([-1.0, 0.0], [n, slacks]), None, None)

    def first_work(self, problem: Problem) -> Work:
        """P, and the steps of an interior point method, which cannot be broken off in the middle of one."""
        n = problem.n
        variables = 2 * n if isinstance(problem.loss, EpsilonInsensitive) else n
        return Work(values=n * n, flops=_FACTORS * factor_work(variables))

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        """One answer; for a hard margin that it does not prove, the nearest points. A start is of no use here."""
        program = self.assemble(problem)
        if self.form == "primal":
            _, multipliers = _solved(self.assemble_primal(problem), self.solver)
            x = np.maximum(multipliers[: problem.n], 0.0)
        else:
            x = _minimise(program, self.solver)
        beta = _within_bounds(problem, _beta(problem, x))
        yield Iterate(_polished(problem, program, beta), done=True)
        if isinstance(problem.loss, HardMargin):
            nearest = _nearest_points(problem)
            x = _sharpened(nearest, _minimise(nearest, self.solver))
            yield Iterate(_scaled_to_margin(problem, _within_bounds(problem, _side(problem) * x)), done=True)


def _side(problem: Problem) -> Array:
    """The sign of each coefficient: y in classification, 1 elsewhere."""
    t = problem.terms
    return np.where(t.hi > 0, 1.0, -1.0)


def _matrix(problem: Problem, variables: int) -> Array:
    """K in float64, whatever the form of the Gram matrix."""
    if variables > LARGEST.points_held:
        raise ValueError(
            f"QP takes up to {LARGEST.points_held} variables, since P is a full matrix; here there are {variables}. "
            "Use Decomposition() for the same answer."
        )
    return problem.gram.product64(np.eye(problem.n))


def _assemble_in_two(problem: Problem) -> Assembled:
    """With beta = alpha - alpha*, |beta| becomes alpha + alpha*: P = [[K, -K], [-K, K]], q = eps -/+ y."""
    t, sign = problem.terms, np.array([[1.0, -1.0], [-1.0, 1.0]])
    P = np.kron(sign, _matrix(problem, 2 * problem.n))
    q = np.concatenate([t.eps - t.q, t.eps + t.q])
    upper = np.concatenate([t.hi, -t.lo])
    return Assembled(P, q, *_bounds(np.zeros(upper.size), upper), *_sum(problem, np.repeat([1.0, -1.0], problem.n)))


def _bounds(lower: Array, upper: Array) -> tuple[Array | None, Array | None]:
    """lower <= x <= upper as G x <= h, without what is infinite."""
    below, above = np.isfinite(lower), np.isfinite(upper)
    if not below.any() and not above.any():
        return None, None
    unit = np.eye(lower.size)
    return np.concatenate([-unit[below], unit[above]]), np.concatenate([0.0 - lower[below], upper[above]])


def _sum(problem: Problem, row: Array) -> tuple[Array | None, Array | None]:
    """sum beta = mass, where there is a bias."""
    return (row[None, :], np.array([problem.mass])) if problem.bias else (None, None)


def _nearest_points(problem: Problem) -> Assembled:
    """min 1/2 |sum a_i y_i phi(x_i)|^2, a >= 0, summing to 1 over each class; over all points, where b is 0."""
    side = _side(problem)
    P = np.outer(side, side) * _matrix(problem, problem.n)
    classes = np.stack([side > 0, side < 0]) if problem.bias else np.ones((1, side.size), bool)
    classes = classes[classes.any(axis=1)].astype(np.float64)
    none = np.zeros(side.size)
    return Assembled(P, none, *_bounds(none, none + np.inf), classes, np.ones(len(classes)))


def _features(problem: Problem) -> tuple[Array, Array]:
    """Z with f = Z w + b, and the matrix of |w|^2: explicit features, or K where w is a combination of points."""
    design = problem.gram.design
    if design is not None and design.width <= problem.n:
        unit = np.eye(design.width)
        return np.column_stack([design.dots(row) for row in unit]), unit
    K = _matrix(problem, 2 * problem.n + 1)
    return K, K


def _minimise(program: Assembled, solver: str) -> Array:
    """x from the QP solver."""
    return _solved(program, solver)[0]


def _solved(program: Assembled, solver: str) -> tuple[Array, Array]:
    """x and the multipliers of G x <= h; the solver is given numbers near 1 whatever the units of the data are."""
    import qpsolvers
    from scipy.sparse import csc_array

    if solver not in qpsolvers.available_solvers:
        installed = ", ".join(qpsolvers.available_solvers) or "none"
        raise ValueError(f"The QP solver {solver!r} is not installed; there is: {installed}.")
    P, q, G, h, A, b = program
    if G is None and A is None:
        return np.linalg.solve(P, -q), np.zeros(0)  # nothing but a linear system
    unit, cost = _units(program)
    form: Any = csc_array if solver in qpsolvers.sparse_solvers else np.asarray
    scaled = qpsolvers.Problem(
        form(P * (unit * unit / cost)),
        q * (unit / cost),
        None if G is None else form(G),
        None if h is None else h / unit,
        None if A is None else form(A),
        None if b is None else b / unit,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how the solver ended; the certificate says how good its answer is
        found = qpsolvers.solve_problem(scaled, solver=solver, **_TIGHT.get(solver, {}), **_time_limit(solver))
    x, z = found.x, found.z if found.z is not None else np.zeros(0)
    if x is None or not np.isfinite(x).all():
        return np.zeros(q.size), np.zeros(0 if h is None else h.size)
    return unit * np.where(np.abs(x) <= NEARLY, 0.0, x), (cost / unit) * np.asarray(z)


def _time_limit(solver: str) -> dict[str, Any]:
    """The setting of a solver that ends it in time, where it has one."""
    left = deadline().left()
    return {_TIME_LIMIT[solver]: left} if solver in _TIME_LIMIT and left < np.inf else {}


def _units(program: Assembled) -> tuple[float, float]:
    """A unit of x, in which it is neither tiny nor huge, and one of the objective."""
    curvature, slope = float(np.abs(program.P).max()), float(np.abs(program.q).max())
    sizes = [float(np.abs(v).max(initial=0.0)) for v in (program.h, program.b) if v is not None]
    if slope > 0.0 and curvature > 0.0:
        sizes.append(slope / curvature)
    unit = min((size for size in sizes if size > 0.0), default=1.0)
    return unit, max(unit * slope, unit * unit * curvature) or 1.0


def _beta(problem: Problem, x: Array) -> Array:
    """The coefficients that a solution stands for."""
    if isinstance(problem.loss, EpsilonInsensitive):
        return np.asarray(x[: problem.n] - x[problem.n :])
    return _side(problem) * x


def _within_bounds(problem: Problem, beta: Array) -> Array:
    """Coefficients within their bounds, at them where they nearly are, and with the right sum."""
    t = problem.terms
    near = NEARLY * float(np.abs(beta).max(initial=0.0))
    for end in (np.zeros_like(beta), t.lo, t.hi):
        beta = np.where(np.abs(beta - end) <= near, end, beta)
    beta = t.box.nearest(beta)
    if not problem.bias:
        return beta
    inside = np.where((beta == 0.0) & (t.eps > 0.0), 0.0, np.minimum(beta - t.lo, t.hi - beta))
    beta = _share(beta, problem.mass, inside)  # first those between their bounds share what is lacking, and then all
    upwards = float(beta.sum()) < problem.mass
    return t.box.nearest(_share(beta, problem.mass, t.hi - beta if upwards else beta - t.lo))


def _share(beta: Array, mass: float, room: Array) -> Array:
    """Bring the sum as near to the mass as the room of each coefficient allows, each moved by its part of the room."""
    lack = mass - float(beta.sum())
    room = np.where(np.isfinite(room), room, 1.0 + float(np.abs(beta).max()) + abs(lack))
    total, rounding = float(room.sum()), ROUNDING.of_a_number * float(np.abs(beta).sum())
    return beta + room * (np.clip(lack, -total, total) / total) if total > 0.0 and abs(lack) > rounding else beta


def _polished(problem: Problem, program: Assembled, beta: Array) -> Array:
    """Each coefficient at the end that it tends to; the others where their optimality conditions, linear ones, hold.

    An interior point method leaves coefficients a little off their bounds: where the force towards a bound is larger
    than the distance from it, both in units of the problem, the bound is meant.
    """
    t, n, side = problem.terms, problem.n, _side(problem)
    M = program.P[:n, :n] * np.outer(side, side)  # K + diag(r)
    unit, cost = _units(program)
    force = cost / unit
    F = (t.q - M @ beta - problem.best_bias(M @ beta - t.r * beta)) / force
    pull = F - t.eps / force * np.sign(beta)
    at_hi, at_lo = (t.hi - beta) / unit < pull, (beta - t.lo) / unit < -pull
    at_zero = np.abs(beta) / unit < t.eps / force - np.abs(F)
    polished = np.where(at_hi, t.hi, np.where(at_lo, t.lo, np.where(at_zero, 0.0, beta)))
    free = np.flatnonzero(~(at_hi | at_lo | at_zero))
    if free.size:
        left = (t.q - M @ polished - t.eps * np.sign(polished))[free] / force
        matrix, lack = M[np.ix_(free, free)] * (unit / force), (problem.mass - float(polished.sum())) / unit
        if problem.bias:
            matrix = np.pad(matrix, (0, 1), constant_values=1.0)
            matrix[-1, -1], left = 0.0, np.append(left, lack)
        polished[free] += unit * np.linalg.lstsq(matrix, left)[0][: free.size]
    polished = _within_bounds(problem, polished)
    before, after = (_relative_gap(problem, M, point) for point in (beta, polished))
    return polished if after <= max(before, _EXACT) else beta


def _relative_gap(problem: Problem, M: Array, beta: Array) -> float:
    """The relative gap, as far as the QP knows it."""
    scores = M @ beta - problem.terms.r * beta
    primal, dual = problem.primal(beta, problem.best_bias(scores), scores), problem.dual(beta, scores)
    return relative(max(primal - dual, 0.0), primal, dual)


def _sharpened(nearest: Assembled, x: Array) -> Array:
    """Nearest points anew from the larger weights alone, where they are nearer: an objective of 1e-14 is 1e-7 apart."""
    P, A = nearest.P / (float(np.abs(nearest.P).max()) or 1.0), np.asarray(nearest.A)
    candidates = [x]
    for part in A_DIGIT ** np.arange(1, 7):
        used = np.flatnonzero(x > part * x.max(initial=0.0))
        rows = A[:, used]
        system = np.block([[P[np.ix_(used, used)], rows.T], [rows, np.zeros((len(A), len(A)))]])
        weights = np.zeros_like(x)
        weights[used] = np.linalg.lstsq(system, np.repeat([0.0, 1.0], [used.size, len(A)]))[0][: used.size]
        weights = np.maximum(weights, 0.0)
        totals = A @ weights
        if (totals > 0.5).all():
            candidates.append(weights / (A.T @ totals))
    return min(candidates, key=lambda weights: float(weights @ P @ weights))


def _scaled_to_margin(problem: Problem, beta: Array) -> Array:
    """Nearest points as coefficients of the hard margin: divided by half their squared distance, where it is not 0."""
    norm, total = float(beta @ problem.gram.product64(beta)), float(np.abs(beta).sum())
    return beta * (total / norm) if norm > 0.0 else beta

"""Newton steps for all free coefficients at once, where explicit features (or free coefficients) are few.

With r > 0 (squared hinge, squared loss) the primal is smooth:  beta(f)_i = argmin h_i(s) + f_i s  is piecewise linear,
and the primal's gradient is w - Z'beta(f). Newton's method on it ends after a few steps. Without r (hinge,
epsilon-insensitive) a term sigma/2 |beta - centre|^2 makes it so; whenever a minimum is found, its beta is the next
centre and sigma falls (the proximal point method, which needs no sigma -> 0 to be exact). The Hessian

    I + sum over free points of z_i z_i' / (r_i + sigma)

is updated by the points that join or leave. A bias, free or penalised, is one more row of the system.

Most points are so far from where their beta would change that the next steps do not move them: steps are taken with the
others alone (a `_Piece`), and then all points are looked at.

After each round there is a primal point w = Z'v and a dual point beta(f), so that the gap is at hand.
Reference: Li, Sun, Toh 2018 (semismooth Newton, augmented Lagrangian).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..._core.core import CHOICE
from ...gram import Design
from ...limits import deadline, flop_seconds, look, require
from ...parallel import for_each, thread_count
from ...types import Array, inner

core = CHOICE.functions

_R = 1  # the row of r among the terms q, r, eps, lo, hi
_FIRST = 0.8  # sigma at the beginning, in parts of 1 / (largest coefficient)
_FALL = 0.4  # sigma falls to this part,
_FAST_FALL = 0.1  # or to this one, where one step was enough,
_INNER = 2.0  # when the gradient is no larger than so many times sqrt(sigma) |beta - centre|
_LEAST = 1e-12  # sigma falls no further than to this part of the first
_NEAR = 1.5  # points take part whose beta would change if f moved by so many times what it moved in the last round,
_FEW = 0.6  # if they are fewer than this part of all,
_FEW_SMOOTH = 0.1  # or than this one, where r > 0: steps with all points are few then;
_STEPS = 10  # steps with them, at most,
_SMALLER = 0.1  # or until the gradient is this small beside what it was
_SEARCHES = 15  # steps of a line search
_FLAT = 0.2  # which ends when the slope is this part of the first
_VALUES, _ROWS = 2**15, 512  # of dense features at a time: so many, but of no fewer rows
_WIDE = 128  # with so many dense float32 features or more, products for the Hessian are float32,
_SINGLE = 2e6  # up to this trace: what is rounded is small beside the I in it then
_CANCELS = 1e8  # D |z|^2: from here on half of the digits of H^-1 by points are lost,
_STEADY = 500  # and with no more features than this, H itself is factored
_WORTH_THREADS = 500_000  # entries of rows to be squared
_NOTHING = 1e-14  # a gradient below this part of |w| is rounding,
_MOST_STEPS = 200  # and so is what so many steps with one centre leave of it


class _Place:
    """w and the weight of the bias, sum beta and Z'beta of a beta: what the gradient is made of."""

    w: Array
    image: Array
    extra: float
    total: float
    column: float
    free_bias: bool

    def _slopes(self) -> None:
        """The gradient, and its size."""
        self.gradient = self.w - self.image
        penalty = 0.0 if self.free_bias else self.extra
        self.gradient_extra = penalty - self.column * self.total if self.column else 0.0
        self.size = np.sqrt(inner(self.gradient, self.gradient) + self.gradient_extra**2)


class ProximalNewton(_Place):
    """Where the method stands: v and w = Z'v, the weight of the constant column or the bias, and f = Z w + theirs."""

    def __init__(self, design: Design, terms: Array, beta: Array, w: Array, b: float, free_bias: bool) -> None:
        self.design, self.terms, self.free_bias = design, terms, free_bias
        self.v, self.centre, self.w = beta.copy(), beta.copy(), w.copy()
        constant = np.sqrt(design.constant)
        self.column = 1.0 if free_bias else float(constant)  # what stands in the column of the bias; 0: none
        self.extra = b if free_bias else float(constant * beta.sum())  # and its weight
        smooth = bool(terms[_R].all())
        self.sigma = 0.0 if smooth else _FIRST / (float(np.abs(beta).max()) or 1.0)
        self.least = _LEAST * self.sigma
        self.f = design.dots(self.w) + self.column * self.extra
        n = design.n
        self.beta, self.rate, self.slack = np.empty(n), np.empty(n), np.empty(n)
        self.known, self.image = beta.copy(), w.copy()  # the image Z'beta of this beta is known
        self.squares = Squares(design)
        self.rounded = self.squares.single  # whether w may be only nearly Z'v
        self.margin, self.stuck, self.steps = np.inf, False, 0
        self._look()

    @property
    def gap(self) -> float:
        """The primal value of v less the dual one of beta, where its sum is right."""
        # Where sigma is 0, beta is where the losses, as the largest -h(s) - f s, are found.
        loss = _losses(self.f, self.terms) if self.sigma else -self.conjugate - inner(self.f, self.beta)
        own = 0.0 if self.free_bias else self.extra**2
        return float(0.5 * (inner(self.w, self.w) + own) + loss - self.dual)

    @property
    def b(self) -> float:
        """The bias."""
        return self.extra if self.free_bias else 0.0

    @property
    def dual(self) -> float:
        """The dual value of beta, where its sum is right."""
        norm = inner(self.image, self.image) + self.design.constant * self.total**2
        return float(-0.5 * norm - self.conjugate)

    def _look(self) -> None:
        """beta(f) of all points, and its image Z'beta: the old one, and that of what has changed."""
        self.total, self.conjugate, self.distance, self.reach = core.proximal_point(
            self.f, self.terms, self.centre, self.sigma, self.beta, self.rate, self.slack
        )
        self.image += self.design.combination(self.beta - self.known)
        self.known[:] = self.beta
        self._slopes()

    def refresh(self) -> None:
        """Begin anew from v, all in float64: after steps with a float32 Hessian w is only nearly Z'v."""
        self.squares, self.rounded = Squares(self.design, single=False), False
        self.w = self.design.combination(self.v)
        if not self.free_bias:
            self.extra = self.column * float(self.v.sum())
        self.f = self.design.dots(self.w) + self.column * self.extra
        self.known[:], self.image = 0.0, np.zeros_like(self.w)
        self.margin = np.inf
        self._look()

    def advance(self) -> None:
        """The next centre, where this minimum is found; then Newton steps with the points that they may move."""
        if self.sigma and _found(self):
            # Free points are as far from their kinks as sigma lets them, and will move there.
            self.margin = max(self.margin, 2.0 * self.sigma * self.reach)
            self.centre[:] = self.beta
            self.sigma = max((_FALL if self.steps > 1 else _FAST_FALL) * self.sigma, self.least)
            self.steps = 0
            self.squares.forget()
            self.known[:], self.image = 0.0, np.zeros_like(self.w)  # rounding errors do not add up for long
            self._look()
        near = np.flatnonzero(self.slack <= self.margin)
        before, size = (self.w, self.extra, self.v, self.f), self.size
        if near.size > (_FEW if self.sigma else _FEW_SMOOTH) * self.design.n:
            self._take(_Piece(self, None), 1)
        else:
            self._take(_Piece(self, near), _STEPS)
            if not self.size < size:  # the others matter: as if it had not been
                self.w, self.extra, self.v, self.f = before
                self._look()
                self._take(_Piece(self, None), 1)
        self.stuck = self.stuck or (self.sigma > 0.0 and self.steps >= _MOST_STEPS)
        moved = self.moved
        self.margin = max(_NEAR * moved, _FALL * self.margin) if np.isfinite(self.margin) else _NEAR * moved

    def _take(self, piece: _Piece, steps: int) -> None:
        """Let a piece take steps, and go where it has gone."""
        self.stuck = not piece.run(steps)
        self.steps += piece.steps
        self.w, self.extra = piece.w, piece.extra
        self.moved = piece.moved
        if piece.rows is not None:
            self.v = self.beta + piece.left * (self.v - self.beta)
            self.v[piece.rows] = piece.v
            before, self.f = self.f, self.design.dots(self.w) + self.column * self.extra
            self.moved = float(np.abs(self.f - before).max())
            self._look()
        else:  # its arrays are those of the whole, and up to date
            self.total, self.conjugate, self.distance = piece.total, piece.conjugate, piece.distance
            self.reach, self.image = piece.reach, piece.image
            self.known[:] = self.beta
            self._slopes()


def _found(place: Any) -> bool:
    """Whether a minimum is near enough for the next centre."""
    return bool(place.size <= _INNER * np.sqrt(place.sigma * place.distance) + _rounding(place))


def _rounding(place: Any) -> float:
    """A gradient of this size cannot be told from 0."""
    return _NOTHING * float(np.sqrt(inner(place.w, place.w)) + abs(place.extra) + 1e-300)


class _Piece(_Place):
    """Newton steps that change the coefficients of some points only; of all, where rows is None."""

    def __init__(self, whole: ProximalNewton, rows: Any) -> None:
        self.rows, self.free_bias, self.column, self.sigma = rows, whole.free_bias, whole.column, whole.sigma
        self.w, self.extra, self.left = whole.w.copy(), whole.extra, 1.0
        take = slice(None) if rows is None else rows
        self.terms = whole.terms if rows is None else whole.terms.take(rows, axis=1)
        self.centre = whole.centre[take]
        self.v, self.f = whole.v[take], whole.f[take]  # its own, where rows are taken
        self.beta, self.rate, self.slack = whole.beta[take], whole.rate[take], whole.slack[take]
        self.moved, self.conjugate, self.reach = 0.0, whole.conjugate, whole.reach
        if rows is None:
            self.design, self.squares = whole.design, whole.squares
            self.rest, self.rest_total, self.rest_distance = np.zeros_like(self.w), 0.0, 0.0
            self.image, self.total, self.distance = whole.image.copy(), whole.total, whole.distance
        else:
            self.design = Design(whole.design.Z[rows], whole.design.constant)
            self.squares = Squares(self.design, whole.squares.single)
            own = self.design.combination(self.beta)
            self.rest, self.rest_total = whole.image - own, whole.total - float(self.beta.sum())
            self.rest_distance = max(whole.distance - float(((self.beta - self.centre) ** 2).sum()), 0.0)
            self.image, self.total, self.distance = whole.image.copy(), whole.total, whole.distance
        self._slopes()

    def run(self, most: int) -> bool:
        """Take steps; False where none is left to take."""
        enough, self.steps = _SMALLER * self.size, 0
        for number in range(most):
            if number and (self.size <= enough or (self.sigma and _found(self))):
                break
            if not self._step():
                return number > 0
            self.steps += 1
        return True

    def _step(self) -> bool:
        try:
            dw, extra = self._direction()
        except np.linalg.LinAlgError:  # the system cannot be told from a singular one
            return False
        slope = inner(self.gradient, dw) + self.gradient_extra * extra
        if not slope < 0.0 or not np.isfinite(slope) or self.size <= _rounding(self):
            return False
        df = self.design.dots(dw) + self.column * extra
        step = self._search(dw, extra, df, slope)
        self.v += step * (self.beta - self.rate * df - self.v)
        self.f += step * df
        self.moved += step * float(np.abs(df).max(initial=0.0))
        self.left *= 1.0 - step
        self.w += step * dw
        self.extra += step * extra
        before = self.beta.copy()
        total, self.conjugate, distance, self.reach = core.proximal_point(
            self.f, self.terms, self.centre, self.sigma, self.beta, self.rate, self.slack
        )
        self.image = self.image + self.design.combination(self.beta - before)
        self.total, self.distance = self.rest_total + total, self.rest_distance + distance
        self._slopes()
        return True

    def _search(self, dw: Array, extra: float, df: Array, slope: float) -> float:
        """A step along the direction at which the objective, convex, is nearly least."""
        own = 0.0 if self.free_bias else 1.0
        linear = inner(self.w - self.rest, dw) + own * self.extra * extra
        linear -= self.column * extra * self.rest_total
        square = inner(dw, dw) + own * extra * extra

        def slope_at(step: float) -> float:
            along = core.proximal_slope(self.f, df, step, self.terms, self.centre, self.sigma)
            return linear + step * square - float(along)

        low, high, step = 0.0, 1.0, 1.0
        slope_low, slope_high = slope, slope_at(1.0)
        if slope_high <= _FLAT * abs(slope):
            return 1.0
        for _ in range(_SEARCHES):
            part = slope_low / (slope_low - slope_high)
            step = low + min(max(part, 0.1), 0.9) * (high - low)
            now = slope_at(step)
            if abs(now) <= _FLAT * abs(slope):
                break
            if now > 0.0:
                high, slope_high = step, now
            else:
                low, slope_low = step, now
        return step

    def _direction(self) -> tuple[Array, float]:
        """Minus the inverse Hessian times the gradient: of w, and of the weight of the bias."""
        system = self.squares.system(self.rate, self.sigma or 1.0)
        first = system.solve(self.gradient)
        if not self.column:
            return -first, 0.0
        image, solved, rest = system.ones()
        corner = (0.0 if self.free_bias else 1.0) + self.column**2 * rest
        if not corner > 0.0:  # no free point holds the bias: it follows its slope
            return -first, -float(np.sign(self.gradient_extra))
        extra = (self.column * inner(image, first) - self.gradient_extra) / corner
        return -first - extra * self.column * solved, extra


def _losses(f: Array, terms: Array) -> float:
    """sum C_i loss(f_i), which is the largest -h_i(s) - f_i s, where r = 0."""
    q, _, eps, lo, hi = terms
    g = q - f
    return inner(np.maximum(np.abs(g) - eps, 0.0), np.where(g > 0.0, hi, -lo))


class _System(NamedTuple):
    """H = I + Z'DZ: the solution of H u = x; and with the vector of ones, Z'D1, H^-1 Z'D1 and 1'D1 - 1'DZ H^-1 Z'D1."""

    solve: Callable[[Array], Array]
    ones: Callable[[], tuple[Array, Array, float]]


class Squares:
    """sum over free points of z z', kept from step to step."""

    def __init__(self, design: Design, single: bool = True) -> None:
        self.design = design
        self.single = single and design.Z.dtype == np.float32 and not design.sparse and design.width >= _WIDE
        self.forget()

    def forget(self) -> None:
        """Begin anew with the next sum: rounding errors have added up, or all is different."""
        self.held: Any = None
        self.sum: Any = None

    def system(self, rate: Array, unit: float) -> _System:
        """The Hessian with D = rate, in the smaller of two forms; rate times `unit` seldom changes."""
        free = np.flatnonzero(rate)
        if free.size < self.design.width and not self._loses_digits(free, rate):
            return self._by_points(free, rate[free])
        return self._by_features(rate, unit)

    def _loses_digits(self, free: Array, rate: Array) -> bool:
        """Whether I - Z'(1/D + Z Z')^-1 Z would be a difference of nearly equal numbers, and the other way is cheap."""
        if self.design.width > _STEADY or free.size == 0:
            return False
        return bool((self.design.squared_norms[free] * rate[free]).max() > _CANCELS)

    def _by_features(self, rate: Array, unit: float) -> _System:
        from scipy.linalg import cho_factor, cho_solve

        if deadline().limited:
            require(self.design.width**3 / 3 * flop_seconds())
        self._update(rate, unit)
        H = self.sum / unit
        H[np.diag_indices_from(H)] += 1.0
        factor = cho_factor(H.T, lower=True, overwrite_a=True, check_finite=False)  # what is above the diagonal

        def solve(x: Array) -> Array:
            return np.asarray(cho_solve(factor, x, check_finite=False))

        def ones() -> tuple[Array, Array, float]:
            image = self.ones / unit
            solved = solve(image)
            return image, solved, max(float(rate.sum()) - inner(image, solved), 0.0)

        return _System(solve, ones)

    def _by_points(self, free: Array, rate: Array) -> _System:
        """H^-1 = I - Z'(1/D + Z Z')^-1 Z, with Z of the free points."""
        from scipy.linalg import cho_factor, cho_solve

        if free.size == 0:
            zeros = np.zeros(self.design.width)
            return _System(lambda x: x.copy(), lambda: (zeros, zeros, 0.0))
        if deadline().limited:
            require((self.design.width + free.size / 3) * free.size**2 * flop_seconds())
        Z = self.design.Z[free].astype(np.float64)
        K = (Z @ Z.T).toarray() if self.design.sparse else Z @ Z.T
        K[np.diag_indices_from(K)] += 1.0 / rate
        factor = cho_factor(K.T, lower=True, overwrite_a=True, check_finite=False)

        def ones() -> tuple[Array, Array, float]:
            solved = cho_solve(factor, np.ones(free.size), check_finite=False)
            return np.asarray(Z.T @ rate), np.asarray(Z.T @ solved), float(solved.sum())

        return _System(lambda x: np.asarray(x - Z.T @ cho_solve(factor, Z @ x, check_finite=False)), ones)

    def _update(self, rate: Array, unit: float) -> None:
        """The sum with weights `unit` rate: from the one before, where fewer points have changed than are free."""
        d = self.design.width
        wanted, change = unit * rate, None
        if self.held is not None:
            change = wanted - self.held
        if change is None or np.count_nonzero(change) > np.count_nonzero(rate):
            self.sum, self.ones, change = np.zeros((d, d)), np.zeros(d), wanted
        rows, self.held = np.flatnonzero(change), wanted
        pieces = np.array_split(rows, thread_count() if rows.size * d > _WORTH_THREADS else 1)
        add = self._sparse if self.design.sparse else self._dense
        sums: dict[int, tuple[Array, Array]] = {}
        for_each(range(len(pieces)), lambda k: sums.update({k: add(pieces[k], change)}), len(pieces))
        for k in range(len(pieces)):
            self.sum += sums[k][0]
            self.ones += sums[k][1]
        if self.single and np.trace(self.sum) > _SINGLE * unit:
            self.single = False
            self.forget()
            self._update(rate, unit)

    def _sparse(self, rows: Array, weight: Array) -> tuple[Array, Array]:
        """sum weight z z' and sum weight z over these rows."""
        start, column, value = self.design.arrays
        out, ones = np.zeros((self.design.width, self.design.width)), np.zeros(self.design.width)
        core.add_sparse_squares(start, column, value, rows, weight[rows], out, ones)
        return out, ones

    def _dense(self, rows: Array, weight: Array) -> tuple[Array, Array]:
        """As `_sparse`."""
        d = self.design.width
        out, ones = np.zeros((d, d)), np.zeros(d)
        strip = max(1, min(max(_VALUES // d, _ROWS), rows.size))
        Z, weighted = np.empty((2, strip, d), np.float32 if self.single else np.float64)
        for start in range(0, rows.size, strip):
            look()
            part = rows[start : start + strip]
            core.weighted_rows(self.design.arrays[0], part, weight, Z, weighted, ones)
            out += weighted[: part.size].T @ Z[: part.size]
        return out, ones

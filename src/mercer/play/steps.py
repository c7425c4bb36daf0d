"""The steps of the page, in Python: for animations. Written like steps.js, and compared with it step by step.

Every method gives beta, b, primal and dual after each step, and who was changed by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..kernels import kernel
from ..ties import first_largest
from ..types import Array
from .state import State, StateError, kernel_text

MOST_STEPS = 400
_SMALLEST_CURVATURE = 1e-12
_CLOSED = 1e-6
_TIE = 1e-10
_INNER, _ROUNDS = 1e-8, 12  # gap and rounds of the small problem inside a best step
_AT = 1e-9  # a point so near its margin is on it
_NEWTON_STEPS, _MOST_FREE = 64, 200


@dataclass(frozen=True)
class Shown:
    """f = sum beta k + b after a step; what is proved of it; which points the step has changed."""

    beta: Array
    b: float
    primal: float
    dual: float
    changed: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Terms:
    """h_i(s) = eps |s| - q_i s on [lo_i, hi_i], sum beta = mass: as in descent.js."""

    K: Array
    q: Array
    lo: Array
    hi: Array
    eps: float
    mass: float

    def best_bias(self, F: Array) -> float:
        breaks = np.sort(np.concatenate([(self.q - self.eps - F)[self.hi > 0], (self.q + self.eps - F)[self.lo < 0]]))
        width = max(float(self.hi.max()), -float(self.lo.min()))
        count = (float(self.hi.sum()) - self.mass) / width
        whole = round(count)
        if abs(count - whole) > 1e-9:
            return float(breaks[min(breaks.size - 1, int(count))])
        low, high = breaks[max(whole - 1, 0)], breaks[min(whole, breaks.size - 1)]
        return float(low + high) / 2

    def objectives(self, beta: Array, F: Array) -> tuple[float, float, float]:
        """b, primal, dual."""
        b = self.best_bias(F)
        d = self.q - F - b
        loss = np.where(d > self.eps, self.hi * (d - self.eps), np.where(d < -self.eps, self.lo * (d + self.eps), 0.0))
        square = float(beta @ F)
        dual = float(self.q @ beta) - self.eps * float(np.abs(beta).sum()) - square / 2
        return b, square / 2 + float(loss.sum()) + self.mass * b, dual


def signs(labels: Array) -> Array:
    """1 for the first class in the order circle, square, triangle; -1 for the other."""
    present = [c for c in (1, -1, 2) if (labels == c).any()]
    return np.where(labels == present[0], 1.0, -1.0)


def steps_of(state: State) -> list[Shown]:
    """All steps of the state's method; raises StateError where there are none."""
    s, n = state.settings, len(state.points)
    if n == 0 or s["machine"] == "ridge":
        raise StateError("There are no steps: give points, and a machine other than ridge, which is solved at once.")
    if s["machine"] in ("svc", "perceptron") and len(set(state.labels.tolist())) != 2:
        raise StateError(f"Steps are for two classes, and here are {len(set(state.labels.tolist()))}.")
    K = np.asarray(kernel(kernel_text(state)).resolve(state.X)(state.X, state.X), np.float64)
    if s["machine"] == "perceptron":
        return _perceptron(K, signs(state.labels))
    terms = _terms(state, K)
    if s["machine"] != "svc" or s["method"] == "pairs":
        return _pairs(terms)
    walks = {
        "subgradient": _subgradient, "subgradient-best": _combined, "stochastic": _stochastic,
        "stochastic-best": _drawn,
    }  # fmt: skip
    return walks[s["method"]](terms, s["C"])


def _terms(state: State, K: Array) -> _Terms:
    s, n = state.settings, len(state.points)
    if s["machine"] == "svr":
        return _Terms(K, state.points[:, 1], np.full(n, -s["C"]), np.full(n, s["C"]), s["epsilon"], 0.0)
    if s["machine"] == "oneclass":
        return _Terms(K, np.zeros(n), np.zeros(n), np.ones(n), 0.0, s["nu"] * n)
    y = signs(state.labels)
    return _Terms(K, y, np.where(y > 0, 0.0, -s["C"]), np.where(y > 0, s["C"], 0.0), 0.0, 0.0)


def _perceptron(K: Array, y: Array) -> list[Shown]:
    n, alpha, F, b = y.size, np.zeros(y.size), np.zeros(y.size), 0.0
    steps = [Shown(alpha.copy(), 0.0, np.inf, 0.0)]
    for _ in range(100):
        quiet = True
        for i in range(n):
            if y[i] * (F[i] + b) > 0:
                continue
            quiet = False
            alpha[i] += 1
            b += y[i]
            F += y[i] * K[i]
            if len(steps) < MOST_STEPS:
                margins = y * (F + b)
                norm = np.sqrt(max(float(alpha @ margins), 0.0))
                lower = float(margins.min()) / norm if norm > 0 else -np.inf
                steps.append(Shown(alpha * y, b, norm / float(alpha.sum()), lower, (i,)))
        if quiet:
            break
    return steps


def _choose(t: _Terms, beta: Array, F: Array) -> tuple[int, int, float, tuple[float, float]] | None:
    """The steepest way up, the partner that promises most, how far, and where the two are then."""
    v = t.q - F
    up = np.where(beta < t.hi, v - np.where(beta >= 0, t.eps, -t.eps), -np.inf)
    i = first_largest(up, _TIE)
    rise = up[i] - v + np.where(beta > 0, t.eps, -t.eps)
    curvature = np.maximum(t.K[i, i] + t.K.diagonal() - 2 * t.K[i], _SMALLEST_CURVATURE)
    able = (rise > 0) & (beta > t.lo)
    able[i] = False
    if not np.isfinite(up[i]) or not able.any():
        return None
    promised = np.where(able, rise * rise / curvature, -1.0)
    j = first_largest(promised, _TIE * float(promised.max()))
    if rise[j] < 1e-12 * max(1.0, float(np.abs(v).max())):
        return None
    top = 0.0 if t.eps > 0 and beta[i] < 0 else float(t.hi[i])
    bottom = 0.0 if t.eps > 0 and beta[j] > 0 else float(t.lo[j])
    size = min(float(rise[j] / curvature[j]), top - float(beta[i]), float(beta[j]) - bottom)
    ends = (top if size == top - beta[i] else beta[i] + size, bottom if size == beta[j] - bottom else beta[j] - size)
    return i, j, size, ends


def _pairs(t: _Terms) -> list[Shown]:
    beta = np.zeros(t.q.size)
    if t.mass:  # the first points, as far as the mass reaches
        beta = np.clip(t.mass - np.arange(t.q.size), 0.0, 1.0)
    F = t.K @ beta
    steps: list[Shown] = []
    changed: tuple[int, ...] = ()
    while len(steps) < MOST_STEPS:
        b, primal, dual = t.objectives(beta, F)
        steps.append(Shown(beta.copy(), b, primal, dual, changed))
        pair = _choose(t, beta, F)
        if pair is None or primal - dual <= _CLOSED * max(abs(primal), abs(dual)):
            break
        i, j, size, (beta[i], beta[j]) = pair
        F += size * (t.K[i] - t.K[j])
        changed = (i, j)
    return steps


def _slopes(t: _Terms, C: float, F: Array, b: float) -> Array:
    """C y where y f < 1; where b sits on kinks, left and right of it are mixed until they sum to 0."""

    def at(shift: float) -> Array:
        return np.where(t.q * (F + b + shift) < 1, C * t.q, 0.0)

    point, size = at(0.0), 1e-12 * (1 + abs(b) + float(np.abs(F).max()))
    if point.sum() == 0:
        return point
    left, right = at(-size), at(size)
    more, less = float(left.sum()), float(right.sum())
    return (more * right - less * left) / (more - less) if more > less and more >= 0 >= less else point


_Next = Callable[[Array, Array, float, int], tuple[Array, Array, tuple[int, ...]]]


def _walk(t: _Terms, next_: _Next) -> list[Shown]:
    """beta, K beta and who was changed, step after step, until primal and dual have met."""
    beta, F, best = np.zeros(t.q.size), np.zeros(t.q.size), -np.inf
    steps: list[Shown] = []
    changed: tuple[int, ...] = ()
    for k in range(1, MOST_STEPS + 1):
        b, primal, dual = t.objectives(beta, F)
        best = max(best, dual)
        steps.append(Shown(beta, b, primal, best, changed))
        if primal - best <= _CLOSED * max(abs(primal), abs(best)):
            break
        beta, F, changed = next_(beta, F, b, k)
    return steps


def _subgradient(t: _Terms, C: float) -> list[Shown]:
    def step(beta: Array, F: Array, b: float, k: int) -> tuple[Array, Array, tuple[int, ...]]:
        s = _slopes(t, C, F, b)
        return beta + (s - beta) / k, F + (t.K @ s - F) / k, _who(s)

    return _walk(t, step)


def _combined(t: _Terms, C: float) -> list[Shown]:
    """The best of all combinations of the dual points so far."""
    rows: list[Array] = []
    a = np.zeros(0)

    def step(_: Array, F: Array, b: float, k: int) -> tuple[Array, Array, tuple[int, ...]]:
        nonlocal a
        rows.append(_slopes(t, C, F, b))
        S = np.stack(rows)
        images = S @ t.K
        inner = _Terms(images @ S.T, S @ t.q, np.zeros(k), np.ones(k), 0.0, 1.0)
        a = _settled(inner, np.append(a, 1.0 if k == 1 else 0.0))
        beta = a @ S
        return np.where(np.abs(beta) > C * (1 - 1e-12), C * np.sign(beta), beta), a @ images, _who(rows[-1])

    return _walk(t, step)


def _drawn(t: _Terms, C: float) -> list[Shown]:
    """The best machine of all points that have joined so far; each pass in a new order."""
    n, word = t.q.size, 1
    rows: list[int] = []
    order = list(range(n))
    a = np.zeros(0)

    def step(_: Array, F: Array, b: float, k: int) -> tuple[Array, Array, tuple[int, ...]]:
        nonlocal a, word
        if (k - 1) % n == 0:
            order[:], word = _shuffled(n, word)
        i = order[(k - 1) % n]
        if t.q[i] * (F[i] + b) <= 1 + _AT and i not in rows:
            rows.append(i)
            a = np.append(a, 0.0)
        a = _settled(_Terms(t.K[np.ix_(rows, rows)], t.q[rows], t.lo[rows], t.hi[rows], 0.0, 0.0), a) if rows else a
        beta = np.zeros(n)
        beta[rows] = a
        return beta, t.K @ beta, (i,)

    return _walk(t, step)


def _shuffled(n: int, word: int) -> tuple[list[int], int]:
    """Fisher and Yates, with the numbers of the page."""
    order = list(range(n))
    for k in range(n - 1, 0, -1):
        word = (word * 1664525 + 1013904223) & 0xFFFFFFFF
        other = min(k, int((word + 0.5) / 4294967296 * (k + 1)))
        order[k], order[other] = order[other], order[k]
    return order, word


def _settled(t: _Terms, beta: Array) -> Array:
    """Pair steps with Newton steps between, as in descent.js, until the gap is small."""
    beta = beta.copy()
    F = t.K @ beta
    _newton(t, beta, F)
    for _ in range(_ROUNDS):
        _, primal, dual = t.objectives(beta, F)
        if primal - dual <= _INNER * max(abs(primal), abs(dual)):
            break
        for _ in range(max(20, -(-beta.size // 4))):
            pair = _choose(t, beta, F)
            if pair is None:
                return beta
            i, j, size, (beta[i], beta[j]) = pair
            F += size * (t.K[i] - t.K[j])
        _newton(t, beta, F)
    return beta


def _newton(t: _Terms, beta: Array, F: Array) -> None:
    """All free multipliers at once, as far as the box allows; in place."""
    for _ in range(_NEWTON_STEPS):
        free = np.flatnonzero((beta != 0) & (beta > t.lo) & (beta < t.hi))
        if not 2 <= free.size <= _MOST_FREE:
            return
        K, slope = t.K[np.ix_(free, free)], (t.q - F)[free]
        u, z = np.linalg.solve(K + np.diag(1e-10 * (1 + K.diagonal())), np.column_stack([slope, np.ones(free.size)])).T
        d = u - u.sum() / z.sum() * z
        d -= d.mean()
        wall = np.where(d > 0, t.hi[free], t.lo[free])
        room = np.divide(wall - beta[free], d, out=np.full(free.size, np.inf), where=d != 0)
        cut = int(room.argmin())
        gain, bend = float(d @ slope), float(d @ K @ d)
        if not gain > 0:
            return
        reach = min(1.0, max(float(room[cut]), 0.0))
        size = min(reach, gain / bend) if bend > 0 else reach
        beta[free] += size * d
        F += size * (d @ t.K[free])
        if not (size == reach < 1):
            return
        beta[free[cut]] = wall[cut]


def _who(s: Array) -> tuple[int, ...]:
    return tuple(np.flatnonzero(s).tolist())


def _stochastic(t: _Terms, C: float) -> list[Shown]:
    n, word = t.q.size, 1
    beta, F, best, b, mean = np.zeros(n), np.zeros(n), -np.inf, 0.0, np.zeros(n)
    steps: list[Shown] = []
    changed: tuple[int, ...] = ()
    for k in range(1, MOST_STEPS + 1):
        bias, primal, _ = t.objectives(beta, F)
        mean = mean + (_slopes(t, C, F, bias) - mean) / k  # a mean of dual points is one
        best = max(best, float(t.q @ mean) - float(mean @ t.K @ mean) / 2)
        steps.append(Shown(beta, bias, primal, best, changed))
        word = (word * 1664525 + 1013904223) & 0xFFFFFFFF
        i = min(n - 1, int((word + 0.5) / 4294967296 * n))
        add = n * C * t.q[i] / k if t.q[i] * (F[i] + b) < 1 else 0.0
        beta, F = beta * (1 - 1 / k), F * (1 - 1 / k) + add * t.K[i]
        beta[i] += add
        b = t.best_bias(F)
        changed = (i,)
    return steps

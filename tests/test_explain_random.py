"""Every kind of worked solution over random problems, against floating point that knows nothing of it."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
import sympy as sp

import mercer
from mercer import explain
from mercer.explain.meaning import value
from mercer.explain.steps import Table

F = Fraction


def floats(numbers):
    return np.array([float(v) for v in numbers])


def points(random, n, d=2, reach=3):
    grid = [list(p) for p in np.ndindex(*(2 * reach + 1,) * d)]
    return [[v - reach for v in p] for p in random.sample(grid, n)]


def tables(solution):
    return [body for step in solution.steps() for body in step.mathematics if isinstance(body, Table)]


def test_maps():
    random = Random(1)
    for _ in range(4):
        a, b, c = (random.randint(-3, 3) for _ in range(3))
        solution = explain.maps([f"{a}*x1", f"{b}*x1*x2"], [f"{a}*x1 + {c}*x2", f"{b}*x1*x2"])
        x, z = np.array([0.5, -2.0]), np.array([1.5, 3.0])
        for kernel, first in zip(solution.answer["kernels"], (a * x[0], a * x[0] + c * x[1]), strict=True):
            second = a * z[0] if kernel is solution.answer["kernels"][0] else a * z[0] + c * z[1]
            expected = first * second + b * b * x.prod() * z.prod()
            at = {"x_1": x[0], "x_2": x[1], "z_1": z[0], "z_2": z[1]}
            found = sp.sympify(kernel)
            assert float(found.subs({s: at[s.name] for s in found.free_symbols})) == pytest.approx(expected)
        assert solution.answer["same"] == (c == 0) and solution.check()


def test_neighbours():
    random = Random(2)
    for _ in range(3):
        X = points(random, 3)
        y, x = [1, -1, random.choice([1, -1])], [F(random.randint(-4, 4), 3), F(1, 5)]
        solution = explain.neighbours(X, y, x, [1, 3])
        squares = ((np.array(X) - floats(x)) ** 2).sum(axis=1)
        assert solution.answer["nearest"] == int(np.argmin(squares)) + 1
        for gamma, shown in zip((1, 3), solution.answer["values"], strict=True):
            assert float(shown) == pytest.approx(np.exp(-gamma * squares) @ y, abs=1e-5)


def test_principal_components():
    random = Random(3)
    for n in (2, 2, 3):
        X = points(random, n, 1)
        solution = explain.pca(X, "poly" if n == 2 else "linear")
        K = mercer.kernel("poly" if n == 2 else "linear")(np.array(X, float))
        H = np.eye(n) - 1 / n
        values = np.sort(np.linalg.eigvalsh(H @ K @ H))[::-1]
        assert floats(solution.answer["eigenvalues"]) == pytest.approx(values[values > 1e-9])


def test_the_series_with_a_width():
    """The features in the table, multiplied and added up, against the kernel."""
    terms = 9
    (table,) = (t for t in tables(explain.rbf(terms)) if len(t.rows) == terms)
    features = [value(row[-1].parts[0]) for row in table.rows]
    random = np.random.default_rng(4)
    for x, z, sigma in random.uniform(0.5, 1.0, (3, 3)):

        def at(body, u, sigma=sigma):
            return float(body.subs({s: sigma if s.name == "sigma" else u for s in body.free_symbols}))

        total = sum(at(body, x) * at(body, z) for body in features)
        assert total == pytest.approx(np.exp(-((x - z) ** 2) / (2 * sigma**2)), rel=1e-2)


def test_functions_of_the_space():
    random = Random(5)
    for kernel in ("linear", "poly(degree=1)", "poly"):
        f, g = ([(random.randint(-2, 2) or 1, p) for p in points(random, 2)] for _ in range(2))
        x = points(random, 1)[0]
        answer = explain.rkhs(f, g, kernel, at=x).answer
        k = mercer.kernel(kernel)
        (a, P), (c, Q) = ((np.array([w for w, _ in h], float), np.array([p for _, p in h], float)) for h in (f, g))
        assert float(answer["inner"]) == pytest.approx(a @ k(P, Q) @ c)
        assert float(answer["squared_norm"]) == pytest.approx(a @ k(P) @ a)
        assert float(answer["f"]) == pytest.approx((a @ k(P, np.array([x], float)))[0])
        if "second" in answer:
            again, places = floats(answer["second"]), np.array([floats(p) for p in answer["points"]])
            assert again @ k(places) @ again == pytest.approx(a @ k(P) @ a), "the norm is that of f, not of its form"


def test_shrinking_weights():
    random = Random(6)
    for _ in range(3):
        X, t, lambdas = points(random, 4), [random.randint(-3, 3) for _ in range(4)], [F(1, 3), 2, 10]
        found = explain.shrinkage(X, t, lambdas).answer["weights"]
        A = np.array(X, float)
        for weight, w in zip(lambdas, found, strict=True):
            assert floats(w) == pytest.approx(np.linalg.solve(A.T @ A + float(weight) * np.eye(2), A.T @ t))


@pytest.mark.parametrize("detail", ["short", "duality", "program", "features"])
def test_machines_in_every_detail(detail):
    """Primal and dual value of a random machine meet, by numbers alone; and what is shown of it is true."""
    random = Random(7)
    for C in (F(1, 2), F(3)):
        X, y = points(random, 4), [1, -1, random.choice([1, -1]), random.choice([1, -1])]
        solution = explain.svm(X, y, C=C, kernel="poly" if detail == "features" else "linear", detail=detail)
        K = mercer.kernel("poly" if detail == "features" else "linear")(np.array(X, float))
        alpha, b = floats(solution.answer["alpha"]), float(solution.answer["b"])
        beta = alpha * y
        slack = np.maximum(0, 1 - y * (K @ beta + b)).sum()
        dual = alpha.sum() - beta @ K @ beta / 2
        assert beta @ K @ beta / 2 + float(C) * slack == pytest.approx(dual) == float(solution.answer["value"])
        assert solution.check(), str(solution.check())


def test_features_beside_the_kernel():
    """w with its roots gives the values of the kernel machine, at every point of a grid."""
    random = Random(8)
    grid = np.array(points(random, 6), float)
    X, y = points(random, 4), [1, 1, -1, -1]
    solution = explain.svm(X, y, C=1, kernel="poly", detail="features")
    steps = [step for section in solution.sections for step in section.parts]
    w = next(step.mathematics[0] for step in steps if "is a vector" in str(step.statement)).members[-1]
    features = next(step.mathematics[0] for step in steps).members[-1]
    phi = sp.lambdify(sp.symbols("x_1 x_2", real=True), list(value(features)))
    machine = mercer.SVC("poly", C=1.0, tol=1e-9).fit(X, y)
    by_w = np.array([phi(*x) for x in grid]) @ floats(value(w)) + float(solution.answer["b"])
    assert by_w == pytest.approx(machine.decision_function(grid), abs=1e-5)
    with pytest.raises(explain.NotByHandError, match="polynomial kernel"):
        explain.svm(X, y, C=1, kernel="intersection" if min(map(min, X)) >= 0 else "rbf(gamma=1)", detail="features")


def test_ridge_derived():
    random = Random(9)
    for _ in range(2):
        X, t = points(random, 3), [random.randint(-3, 3) for _ in range(3)]
        solution = explain.ridge(X, t, "1/2", detail="duality")
        A = np.array(X, float)
        K = A @ A.T
        a = np.linalg.solve(K + 0.5 * np.eye(3), t)
        assert floats(solution.answer["a"]) == pytest.approx(a)
        J = a @ K @ K @ a / 2 - a @ K @ t + np.dot(t, t) / 2 + 0.25 * a @ K @ a
        assert float(solution.answer["value"]) == pytest.approx(J) and solution.check()


def test_perceptrons_derived():
    """alpha counts the mistakes of a run of plain floats."""
    random = Random(10)
    for kernel in ("linear", "poly"):
        X = points(random, 4)
        y = [1 if u + 2 * v + 0.5 > 0 else -1 for u, v in X]
        y = y if len(set(y)) == 2 else [1, *[-s for s in y[1:]]]
        K = mercer.kernel(kernel)(np.array(X, float))
        alpha, turns = np.zeros(4), 0
        while turns < 30:
            turns += 1
            before = alpha.copy()
            for i in range(4):
                alpha[i] += y[i] * (alpha * y @ K[i]) <= 0
            if (alpha == before).all():
                break
        solution = explain.perceptron(X, y, kernel=kernel, detail="derivation")
        if solution.answer["converged"]:
            assert solution.answer["alpha"] == tuple(alpha) and solution.answer["passes"] == turns
        assert solution.check(), str(solution.check())


def test_descent():
    """The steps of random functions, by floating point."""
    random = Random(11)
    for _ in range(3):
        a, c, m = random.randint(1, 3), random.randint(-2, 2), random.randint(1, 3)
        start = [random.randint(-3, 3) or 1, random.randint(1, 3)]
        solution = explain.descent(f"{a}*(u - {c})^2 + {m}*abs(v)", start, 4, "1/(t + 3)")
        w, best = np.array(start, float), np.inf
        for t in range(1, 5):
            best = min(best, a * (w[0] - c) ** 2 + m * abs(w[1]))
            slope = np.array([2 * a * (w[0] - c), m * np.sign(w[1])])
            w = w - slope / (t + 3)
            if w[1] == 0:
                break
        else:
            best = min(best, a * (w[0] - c) ** 2 + m * abs(w[1]))
            assert floats(solution.answer["w"]) == pytest.approx(w)
            assert float(solution.answer["best_value"]) == pytest.approx(best)
        assert floats(solution.answer["optimum"]) == pytest.approx([c, 0])


def test_stochastic_steps():
    random = Random(12)
    for order in ("epochs", "random"):
        X, y = points(random, 3), [1, -1, random.choice([1, -1])]
        answer = explain.stochastic(X, y, "1/3", 5, "1/(t + 1)", order, seed=random.randint(0, 99)).answer
        w, b = np.zeros(2), 0.0
        for t, i in enumerate(answer["drawn"], 1):
            eta, short = 1 / (t + 1), y[i - 1] * (np.dot(X[i - 1], w) + b) < 1
            w = (1 - eta) * w + short * eta * y[i - 1] * np.array(X[i - 1])
            b += short * eta * y[i - 1]
        assert floats(answer["w"]) == pytest.approx(w) and float(answer["b"]) == pytest.approx(b)


def test_every_kind_has_a_random_check():
    """Here, or in the file that is named."""
    elsewhere = {"exercise", "gram", "hinge", "kernel_trick", "lagrangian", "duality", "smo", "subgradient"}
    kinds = {name for name in explain.__all__ if name.islower()} - {"from_json"}
    here = {
        "maps", "neighbours", "pca", "rbf", "rkhs", "shrinkage", "svm", "ridge", "perceptron", "descent", "stochastic",
    }  # fmt: skip
    assert kinds == here | elsewhere

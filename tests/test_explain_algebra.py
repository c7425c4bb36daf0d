"""Worked solutions of the kernel trick and of small problems with constraints."""

from __future__ import annotations

import importlib
import sys
from cProfile import Profile

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import mercer
from mercer import explain

x, y = sympy.symbols("x y")
HALF = sympy.Rational(1, 2)


def test_the_quadratic_kernel_in_the_plane():
    solution = explain.kernel_trick("poly")
    text = solution.to_text(width=200)
    assert solution.answer["features"] == 6
    for piece in ("√2 x₁", "x₂²", "√2 x₁x₂", "1 + 2(x₁z₁ + x₂z₂) + (x₁z₁ + x₂z₂)²", "(1 + ⟨𝐱, 𝐳⟩)²"):
        assert piece in text
    assert solution.check()


@pytest.mark.parametrize(("degree", "d"), [(1, 3), (2, 1), (2, 4), (3, 2), (4, 2), (5, 1)])
def test_polynomial_kernels_of_any_degree_and_dimension(degree, d):
    kernel = mercer.kernel(f"poly(degree={degree}, gamma=0.5, coef0=2)")
    rng = np.random.default_rng(degree + d)
    u, v = rng.integers(-3, 4, size=(2, d)).tolist()
    solution = explain.kernel_trick(kernel, u, v)
    assert solution.check()
    assert float(solution.answer["value"]) == pytest.approx(kernel([u], [v])[0, 0])


def test_the_algebra_of_kernels_has_feature_maps_too():
    solution = explain.kernel_trick("linear*poly + 3", [1, "1/2"], [2, 2])
    assert solution.check()
    assert solution.answer["value"] == 3 * 16 + 3


def test_names_can_be_given():
    solution = explain.kernel_trick("poly", ["a", "b"], ["c", "d"])
    assert "k((a, b), (c, d))" in solution.to_text(width=200)
    assert solution.check()


@pytest.mark.parametrize(("u", "v", "terms"), [("1/2", 1, 6), ([1, 2], ["1/2", -1], 4), (0, 3, 5), (-2, 1, 12)])
def test_the_series_of_the_gaussian_stays_within_its_remainder(u, v, terms):
    solution = explain.kernel_trick("rbf(gamma=0.5)", u, v, terms=terms)
    assert solution.check()
    assert "starts at k = 0" in solution.to_text()
    points = [[float(sympy.Rational(str(e))) for e in np.atleast_1d(np.array(p, object))] for p in (u, v)]
    assert float(solution.answer["value"]) == pytest.approx(mercer.kernel("rbf(gamma=0.5)")(points)[0, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: explain.kernel_trick("rbf"), "gamma as a number"),
        (lambda: explain.kernel_trick("laplacian"), "no feature map"),
        (lambda: explain.kernel_trick("poly(degree=9)", [1, 2, 3], [1, 2, 3]), "features, more than"),
        (lambda: explain.kernel_trick("poly", [1, 2], [1]), "same number of coordinates"),
        (lambda: explain.kernel_trick("poly(coef0=-1)", [1, 2], [1, 1]), "negative factor"),
        (lambda: explain.kernel_trick("rbf(gamma=1)", 1, 1, terms=99), "terms must be"),
        (lambda: explain.kernel_trick("poly", [], []), "no coordinates"),
        (lambda: explain.lagrangian("x*y", ["x + y = 4"]), "maximise or minimise"),
        (lambda: explain.lagrangian("max xy", ["x + y = 4"]), r"Write x\*y"),
        (lambda: explain.lagrangian("max x", ["x < 1"]), "strict inequality"),
        (lambda: explain.lagrangian("max x", ["x"]), "one sign"),
        (lambda: explain.lagrangian("max __import__('os')", []), "not understood"),
        (lambda: explain.lagrangian("max x**99999", []), "exponent"),
        (lambda: explain.lagrangian("max 1/0*x", []), "divides by zero"),
        (lambda: explain.lagrangian("max x +", []), "cannot be read"),
        (lambda: explain.lagrangian("max 3", []), "no variable"),
        (lambda: explain.lagrangian("max a+b+c+d+e", []), "at most 4"),
        (lambda: explain.lagrangian("max x**9", ["x<=1"]), "degree"),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


PROBLEMS = [
    ("max x*y", ["x + y = 4"], "global", {(2, 2)}),
    ("min x^2 + y^2", ["x + y >= 2"], "global", {(1, 1)}),
    ("max x + y", ["x^2 + y^2 <= 1"], "global", {(sympy.sqrt(2) / 2,) * 2}),
    ("min x", ["x^2 <= 0"], "global", {(0,)}),
    ("min (x-2)^2 + (y-1)^2", ["x + y <= 2", "x >= 0", "y >= 0"], "global", {(1 + HALF, HALF)}),
    ("max 2x + 3y", ["x + y <= 4", "x + 3y <= 6", "x >= 0", "y >= 0"], "global", {(3, 1)}),
    ("max log(x) + log(y)", ["x + y = 2"], "global", {(1, 1)}),
    ("min x^4 + y^4", ["x + y = 2"], "global", {(1, 1)}),
    ("min exp(x) - x", [], "global", {(0,)}),
    ("max x^2*y", ["x^2 + y^2 = 3"], "global", {(-sympy.sqrt(2), 1), (sympy.sqrt(2), 1)}),
    ("max x*y", [], "unbounded", {(0, 0)}),
    ("min x^2", ["x >= 1", "x <= 0"], "infeasible", set()),
    ("min x + y", ["x*y = 4", "x >= 0", "y >= 0"], "local", {(2, 2)}),
    ("min x^2 + y^2", ["x + y = 2", "2x + 2y = 4"], "global", {(1, 1)}),
    ("min x", ["x >= 1", "2x >= 2"], "global", {(1,)}),
    ("min x", [], "unbounded", set()),
    ("max x", ["1 = 2", "x <= 3"], "infeasible", set()),
    ("min x", ["x^3 - y^2 >= 0"], "global", {(0, 0)}),
    ("max x", ["y <= (1-x)^3", "y >= 0"], "global", {(1, 0)}),
    ("min (x-2)^2 + (y-1)^2", ["x + y <= 2", "x^2 <= y"], "global", {(1, 1)}),
    ("min (x-3)^2 + (y-2)^2", ["x^2 + y^2 <= 5", "x + 2y <= 4", "x >= 0", "y >= 0"], "global", {(2, 1)}),
    ("min x^2", ["t <= -1", "t >= 1"], "infeasible", set()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("objective", "constraints", "status", "points"),
    PROBLEMS,
    ids=[f"{p[0]}, {len(p[1])} constraints, {p[2]}" for p in PROBLEMS],
)
def test_small_problems(objective, constraints, status, points):
    solution = explain.lagrangian(objective, constraints)
    assert solution.answer["status"] == status
    assert set(solution.answer["solutions"]) == points
    report = solution.check()
    assert report, str(report)


def test_sympy_in_and_a_whole_family_out():
    solution = explain.lagrangian((x + y) ** 2, [], sense="min")
    assert solution.answer["value"] == 0
    assert solution.check()
    solution = explain.lagrangian(x * y, sympy.Eq(x + y, 4), sense="max")
    assert set(solution.answer["solutions"]) == {(2, 2)}


@settings(max_examples=5)
@given(st.lists(st.integers(-3, 3), min_size=8, max_size=8))
def test_convex_problems_agree_with_a_numerical_solver(numbers):
    a, b, c, d, p, q, r, s = numbers
    objective = f"min (x - {a})^2 + 2*(y - {b})^2 + ({c})*x*y/2".replace("- -", "+ ")
    constraints = [f"({p})*x + ({q})*y <= {abs(r) + 1}", f"x >= {d}", f"y <= {s}"]
    if p == q == 0:
        constraints = constraints[1:]

    def f(v):
        return (v[0] - a) ** 2 + 2 * (v[1] - b) ** 2 + c * v[0] * v[1] / 2

    rows = [lambda v: abs(r) + 1 - p * v[0] - q * v[1], lambda v: v[0] - d, lambda v: s - v[1]]
    numeric = minimize(f, [max(d, 0), min(s, 0)], constraints=[{"type": "ineq", "fun": row} for row in rows], tol=1e-10)
    solution = explain.lagrangian(objective, constraints)
    assert solution.check()
    if numeric.success and solution.answer["status"] == "global":
        assert float(solution.answer["value"]) == pytest.approx(numeric.fun, abs=1e-5)
    if solution.answer["status"] == "none":
        assert not numeric.success


def test_the_letters_are_those_that_were_asked_for():
    for solution in (
        explain.kernel_trick("poly", ["x1", "x2"], ["y1", "y2"]),
        explain.kernel_trick("rbf(gamma=1)", "x", "y"),
    ):
        text = solution.to_text()
        assert "k(𝐱, 𝐲)" in text and "𝐳" not in text and "z" not in text.replace("zero", "").replace("size", "")
        assert solution.check()


def test_why_there_are_no_multipliers():
    text = explain.lagrangian("max x", ["y <= (1-x)^3", "y >= 0"]).to_text(width=300)
    assert "∇f = (1, 0)" in text and "no multipliers exist" in text and "x³ − 3x² + 3x − 1 ≤ 0" in text


def test_a_family_that_no_point_of_satisfies_the_constraints():
    text = explain.lagrangian("min x^2", ["t <= -1", "t >= 1"]).to_text(width=300)
    assert (
        "t arbitrary, x = 0" in text and "no values of the free variables" in text and "t + 1 + 1 − t = 2 > 0" in text
    )


def test_roots_without_a_formula_are_rejected_by_their_digits():
    solution = explain.lagrangian("min (x-2)^2 + (y-1)^2", ["x + y <= 2", "x^2 <= y"])
    assert "x ≈ 1.16537" in solution.to_text(width=300)
    with pytest.raises(explain.NotByHandError, match="cannot be written"):
        explain.lagrangian("min (x-2)^2 + (y-1)^2", ["x^2 <= y"])


def test_a_problem_that_is_too_hard_ends(monkeypatch):
    monkeypatch.setattr(importlib.import_module("mercer.explain.lagrangian"), "SECONDS", 1.0)
    hard = ["x^5*y + z^4 - w^3 = 2", "x^3 + y^5 + z*w = 1", "x*y*z*w >= -3"]
    with pytest.raises(explain.NotByHandError, match=r"not done within 1 s|cannot be written|no way"):
        explain.lagrangian("min x^6 + y^4*z^2 + w^4 - x*y*z", hard)


def test_limits_of_time_go_together_with_profilers():
    """cProfile's profiler is no function that could be called: it is put back as it was."""
    profiler = Profile()
    profiler.enable()
    found = explain.lagrangian("min x^2", ["x >= 1"])
    seen = sys.getprofile()
    profiler.disable()
    assert found.answer["value"] == 1
    assert seen is None or seen is profiler

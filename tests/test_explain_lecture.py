"""The rest of the lecture: duality, programs, subgradients, descent."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from random import Random

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import linprog

import mercer
from mercer import explain
from mercer.driver import solve
from mercer.explain.convex import Convex, weights_of
from mercer.explain.minimum import minimum
from mercer.explain.step_rules import read_rule
from mercer.kernels import FromFeatures
from mercer.losses import HardMargin, Hinge
from mercer.solvers import QP, Automatic, InverseTime, StochasticSubgradient, Subgradient
from mercer.solvers import solver as as_solver

THREE = [[1, 3], [2, 1], [0, 1]], [1, 1, -1]
XOR = [[1, 1], [-1, -1], [-1, 1], [1, -1]], [-1, -1, 1, 1]
LECTURE = Path(__file__).parents[1] / "docs" / "lecture.md"
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `([^`]+)` \|$", LECTURE.read_text(), re.MULTILINE)
F = Fraction


def radius(X):
    return (X[:, :1] ** 2 + X[:, 1:] ** 2) ** 0.5


@cache
def solved(call):
    """What a call of the lecture gives: worked out once for all tests."""
    names = {"explain": explain, "three": THREE, "xor": XOR, "FromFeatures": FromFeatures, "radius": radius}
    return eval(call, names)


@pytest.mark.parametrize("call", list(dict.fromkeys(row[2] for row in ROWS)))
def test_every_call_of_the_lecture(call):
    solution = solved(call)
    assert solution.check(), str(solution.check())
    assert max(map(len, solution.to_text().splitlines())) <= 100
    assert solution.to_latex().isascii() and solution.to_html() and solution.to_markdown()


def test_the_lecture_is_whole():
    assert len(ROWS) == LECTURE.read_text().count("| `explain.") > 60
    assert len({row[0] for row in ROWS}) == 5


# Duality.


@pytest.mark.parametrize(
    ("problem", "primal", "dual"),
    [
        ('"min x^2", ["x >= 1"]', 1, 1),
        ('"min (x-2)^2 + (y-1)^2", ["x + y <= 2", "x^2 <= y"]', 1, 1),
        ('"min exp(-x)", ["x^2/y <= 0", "y > 0"]', 1, 0),
        ('"min x^2", ["x >= 1", "x <= -1"]', None, "infinity"),
        ('"max x*y", ["x + y = 4"]', 4, "infinity"),
        ('"min x", ["x^2 <= 0"]', 0, 0),
        ('"min x + y", ["x + 2*y >= 2", "x >= 0", "y >= 0"]', 1, 1),
        ('"max 4 - x^2 - y^2", ["x + y = 2"]', 2, 2),
    ],
)
def test_values_of_primal_and_dual(problem, primal, dual):
    solution = solved(f"explain.duality({problem})")
    assert solution.answer["primal"] == primal and solution.answer["dual"] == dual
    assert solution.check()


def test_the_dual_of_a_lagrangian():
    assert explain.lagrangian("min x^2", ["x >= 1"], dual=True) == solved('explain.duality("min x^2", ["x >= 1"])')


def test_where_duality_fails_it_is_said():
    gap = solved('explain.duality("min exp(-x)", ["x^2/y <= 0", "y > 0"])')
    assert gap.answer["gap"] == 1 and gap.answer["strict"] is None
    assert "There is a gap: duality fails" in gap.to_text() and "nowhere below 0" in gap.to_text()
    assert "the wrong way" in solved('explain.duality("max x*y", ["x + y = 4"])').to_text(300)
    assert "no multipliers reach it" in solved('explain.duality("min x", ["x^2 <= 0"])').to_text(300)
    harder = solved('explain.duality("min (x-3)^2", ["x^2 <= 4"])')
    assert harder.answer["strict"] == (0,) and "So it is no easier." in harder.to_text()
    assert "contradiction" in solved('explain.duality("min x^2", ["x >= 1", "x <= -1"])').to_text(300)


def test_dual_functions_of_random_quadratic_programs():
    """h at random multipliers is the least value of the Lagrangian, found by numbers alone."""
    random = Random(3)
    for _ in range(3):
        a, b, c = (random.randint(1, 4) for _ in range(3))
        solution = explain.duality(f"min {a}*(x - {b})^2", [f"x <= {b - c}"])
        assert solution.answer["primal"] == solution.answer["dual"] == a * c * c
        mu = F(random.randint(1, 9), 2)
        h = sp.sympify(solution.answer["h"]).subs("mu", sp.Rational(mu.numerator, mu.denominator))
        xs = np.linspace(-20, 20, 400_001)
        assert float(h) == pytest.approx((a * (xs - b) ** 2 + float(mu) * (xs - b + c)).min(), abs=1e-6)


def test_the_dual_of_the_machine_in_full():
    soft = solved('explain.svm(*three, C="1/4", detail="duality")').to_text(300)
    assert "Σᵢ (C − αᵢ − βᵢ) ξᵢ" in soft and "1/2 ⟨𝐰, 𝐰⟩ − ⟨𝐰, 𝐰⟩ + Σᵢ αᵢ" in soft
    assert "C = αᵢ + βᵢ; otherwise it is −∞" in soft and "2 + 1 + 3 = 6" in soft
    assert "The dual grows for ever" in explain.svm(*XOR, detail="duality").to_text(300)
    ridge = explain.ridge([[1, 0], [0, 1], [1, 1]], [1, 2, 2], "1/2", detail="duality").to_text(300)
    assert "∂q/∂a₁ = 2a₁ + 2a₃" in ridge and "3 × 2" in ridge
    with pytest.raises(ValueError, match="detail must be"):
        explain.svm(*THREE, detail="long")


# Quadratic programs.


def test_the_matrices_of_the_program_are_those_of_the_solver():
    X, y = np.array(THREE[0], float), np.array(THREE[1], float)
    problem = mercer.Problem.of("linear", X, y, Hinge(), 0.25)
    parts = QP.assemble_primal(problem)
    from mercer.explain.svm_program import _primal_parts

    exact = solved('explain.svm(*three, C="1/4", detail="program")').problem
    for ours, theirs in zip(_primal_parts(exact), parts[:4], strict=True):
        assert np.array_equal(np.array([[float(v) for v in row] for row in ours]), np.atleast_2d(theirs.T).T)


@pytest.mark.parametrize("kernel", ["linear", "rbf(gamma=0.5)", "poly"])
@pytest.mark.parametrize("C", [0.3, 20.0, None])
def test_the_primal_program_gives_the_same_machine(kernel, C):
    generator = np.random.default_rng(1)
    X = generator.normal(size=(24, 2))
    y = np.sign(X[:, 0] + X[:, 1] + (0.0 if C is None else 0.4 * generator.normal(size=24)))
    X += 0.3 * y[:, None]
    loss = HardMargin() if C is None else Hinge()
    problem = mercer.Problem.of(kernel, X, y, loss, 1.0 if C is None else C)
    found, best = (solve(problem, QP(form=form), tol=1e-7) for form in ("primal", "dual"))
    assert found.certificate.converged
    assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-6)
    assert (found.beta * y >= 0).all(), "alpha comes back with the sign of its label"


def test_the_primal_program_is_refused_elsewhere():
    X, y = np.arange(8.0).reshape(4, 2), np.arange(4.0)
    with pytest.raises(ValueError, match="hinge loss and the hard margin"):
        mercer.SVR(solver=QP(form="primal")).fit(X, y)
    with pytest.raises(ValueError, match="'dual' or 'primal'"):
        QP(form="both")
    assert as_solver("qp(form='primal')") == QP(form="primal")


def test_paths_keep_raw_values_and_iterates():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(20, 2))
    y = np.sign(X[:, 0] + 0.5 * generator.normal(size=20))
    problem = mercer.Problem.of("linear", X, y, Hinge(), 1.0)
    rule = InverseTime(1.0, 1.0)
    for method in (Subgradient(rule), StochasticSubgradient(rule, random_state=1)):
        path = method.path(problem, 8, iterates=True)
        assert path.values.shape == path.b.shape == (8,) and path.beta.shape == (8, 20)
        assert (np.diff(path.values) > 0).any(), "a raw value rises now and then"
        assert np.array_equal(path.best, np.minimum.accumulate(path.values))
        for beta, b, value in zip(path.beta, path.b, path.values, strict=True):
            w = X.T @ beta
            hinge = np.maximum(0, 1 - y * (X @ w + b)).sum()
            assert value == pytest.approx(w @ w / 2 + hinge, rel=1e-9)
        assert method.path(problem, 3).beta is None


@pytest.mark.parametrize("kernel", ["linear", "rbf(gamma=0.5)"])
@pytest.mark.parametrize("rule", [InverseTime(1.0, 1.0), Automatic()])
@pytest.mark.parametrize("method", [Subgradient, StochasticSubgradient])
def test_histories_keep_raw_values_and_iterates(method, rule, kernel):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(20, 2))
    y = np.sign(X[:, 0] + 0.5 * generator.normal(size=20))
    problem = mercer.Problem.of(kernel, X, y, Hinge(), 1.0)
    seed = {} if method is Subgradient else {"random_state": 1}
    kept = solve(problem, method(rule, keep=True, **seed), tol=0.0, max_iter=8).history
    plain = solve(problem, method(rule, **seed), tol=0.0, max_iter=8).history
    assert len(kept) == 8 and [step.raw for step in kept] == [step.raw for step in plain]
    for step in kept:
        f = problem.gram @ step.beta
        hinge = np.maximum(0, 1 - y * (f + step.b)).sum()
        assert step.raw == pytest.approx(step.beta @ f / 2 + hinge, rel=1e-9)
    assert all(step.beta is None and step.b is None for step in plain)
    raw = np.array([step.raw for step in kept])
    assert (np.diff(raw) > 0).any() or rule == Automatic(), "a raw value rises now and then"
    if method is Subgradient:
        assert [step.primal for step in kept] == pytest.approx(np.minimum.accumulate(raw).tolist())
    path = method(rule, **seed).path(problem, 5)
    first = 0 if method is Subgradient else 1  # the other begins with f = b
    assert path.values.tolist() == [step.raw for step in kept[first : first + 5]]


def test_histories_of_fitted_machines_and_their_files(tmp_path):
    X = np.random.default_rng(3).normal(size=(30, 2))
    machine = mercer.SVC(solver="subgradient(step=inversetime(1.0, 1.0), keep=True)", tol=0.3)
    history = machine.fit(X, np.sign(X[:, 0])).solution_.history
    assert all(step.raw is not None and step.beta.shape == (30,) for step in history)
    mercer.save(machine, tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert again.solution_.history == history and again.solver == machine.solver


# Subgradients.


@pytest.mark.parametrize(
    ("f", "at", "corners"),
    [
        ("abs(w1) + 2*abs(w2)", [1, 0], {(1, -2), (1, 2)}),
        ("|w1| + 2|w2|", [0, 0], {(1, 2), (1, -2), (-1, 2), (-1, -2)}),
        ("max(w, w^2)", 1, {(1,), (2,)}),
        ("max(w, w^2)", "1/2", {(1,)}),
        ("w1^2 + 2*w2^2", [1, 1], {(2, 4)}),
        ("max(0, 1 - w1 - w2) + max(0, 1 + w1 - 2*w2)", [F(1, 3), F(2, 3)], {(0, 0), (-1, -1), (1, -2), (0, -3)}),
        ("abs(w)^2 + max(0, w)^2", 0, {(0,)}),
        ("exp(abs(w))", 0, {(-1,), (1,)}),
        ("max(w1, w2, w3)", [1, 1, 0], {(1, 0, 0), (0, 1, 0)}),
    ],
)
def test_sets_of_subgradients(f, at, corners):
    solution = explain.subgradient(f, at)
    assert set(solution.answer["corners"]) == corners
    assert solution.answer["differentiable"] == (len(corners) == 1)
    assert solution.check()


def test_is_it_a_subgradient():
    yes = explain.subgradient("abs(w1) + 2*abs(w2)", [1, 0], [1, "-3/2"])
    no = explain.subgradient("max(w, w^2)", 1, "5/2")
    assert yes.answer["is_subgradient"] and not no.answer["is_subgradient"]
    assert yes.check() and no.check()
    assert "Yes" in yes.to_text() and "its plane is above f" in no.to_text()


def test_subgradients_of_random_functions_lie_below():
    """Every corner gives a plane below f, and no vector well outside the set does: by numbers alone."""
    random = Random(5)
    grid = np.array(list(product(np.linspace(-4, 4, 33), repeat=2)))
    for _ in range(8):
        lines = [[random.randint(-2, 2) for _ in range(3)] for _ in range(3)]
        affine = [f"{a}*u + {b}*v + {c}" for a, b, c in lines]
        at = [F(random.randint(-2, 2)), F(random.randint(-2, 2))]
        body = f"max({affine[0]}, {affine[1]}) + abs({affine[2]})"
        if len(sp.sympify(body.replace("max", "Max").replace("abs", "Abs")).free_symbols) < 2:
            continue
        values = np.maximum(*(grid @ line[:2] + line[2] for line in lines[:2])) + abs(grid @ lines[2][:2] + lines[2][2])
        here = np.array([float(c) for c in at])
        start = max(here @ line[:2] + line[2] for line in lines[:2]) + abs(here @ lines[2][:2] + lines[2][2])
        corners = np.array([[float(v) for v in c] for c in explain.subgradient(body, at).answer["corners"]])
        for v in corners:
            assert (values >= start + (grid - here) @ v - 1e-9).all()
        for d in np.array(list(product((-1, 0, 1), repeat=2))):
            if d.any():
                outside = corners[np.argmax(corners @ d)] + 0.5 * d
                assert (values < start + (grid - here) @ outside - 1e-9).any()


@pytest.mark.parametrize("f", ["w^3", "-abs(w)", "u*v", "min(w, 2*w)", "abs(w) - w^2", "abs(w^2 - 1)"])
def test_functions_that_are_not_convex_are_refused_with_a_witness(f):
    with pytest.raises(explain.NotByHandError, match=r"above the chord") as caught:
        explain.subgradient(f, [0, 0] if "u" in f else 0)
    text = str(caught.value)
    assert "between" in text and "f is" in text


@pytest.mark.parametrize(
    "text", ["9**9**9", "(" * 3000 + "w" + ")" * 3000, "__import__('os').getcwd()", "w.real", "max(w)", "abs(w, 1)",
             "((((((((((((w + 9**12)**12)**12)**12)**12)**12)**12)**12)**12)**12)**12)**12)", "lambda: 0", ""]
)  # fmt: skip
def test_odd_texts_end_in_one_sentence(text):
    for call in (explain.subgradient, explain.descent):
        with pytest.raises(ValueError, match=r"\.$") as caught:
            call(text, 0)
        assert len(str(caught.value)) < 400
    with pytest.raises(ValueError, match=r"\.$"):
        explain.duality(f"min {text}", [])
    with pytest.raises(ValueError, match=r"\.$"):
        explain.maps(text)


# Descent.


def test_a_subgradient_is_no_descent_direction_and_yet_brings_nearer():
    solution = solved('explain.descent("abs(w1) + 2*abs(w2)", [3, 0], 6, "1/(t + 1)")')
    run = solution.problem.run
    assert [stage.slope for stage in run[:2]] == [3, -5], "uphill along -v, however short the step; then downhill"
    for t in (F(1, 10**6), F(1, 10), 1, 5):
        assert abs(3 - t) + 2 * abs(-2 * t) >= 3, "at (3, 0) along -(1, 2)"
    assert run[1].value > run[0].value, "f rises"
    far = [sum(v * v for v in stage.w) for stage in run]
    assert all(b < a for a, b in pairwise(far)), "and yet each step comes nearer"
    assert solution.answer["optimum"] == (0, 0) and solution.check()


def test_gradient_steps_by_hand():
    solution = explain.descent("w1^2 + 2*w2^2", [3, 1], 2, "1/8")
    assert solution.answer["w"] == (F(27, 16), F(1, 4))  # (1 - 1/4)^2 3 and (1 - 1/2)^2
    assert explain.descent("max(w, w^2) + abs(w - 1)", 3, 4).answer["least"] == 1


def test_minima_of_random_functions():
    """The minimum of a piecewise linear function by a linear program."""
    random = Random(2)
    for _ in range(3):
        lines = [[random.randint(-3, 3) for _ in range(3)] for _ in range(2)] + [[3, 1, 0], [-3, 0, 0], [0, -2, 1]]
        x, y = sp.symbols("x y", real=True)
        body = sp.Max(*(a * x + b * y + c for a, b, c in lines))
        found = minimum(Convex(body, (x, y)))
        best = linprog([0, 0, 1], A_ub=[[a, b, -1] for a, b, _ in lines], b_ub=[-c for *_, c in lines],
                       bounds=[(None, None)] * 3)  # fmt: skip
        assert found is not None and float(Convex(body, (x, y)).at(found)) == pytest.approx(best.fun, abs=1e-9)


@pytest.mark.parametrize(
    ("rule", "infinite", "finite"),
    [("1/4", True, False), ("1/t", True, True), ("1/sqrt(t)", True, False), ("1/t^2", False, True),
     ("3/(2*t + 5)", True, True), ("(t + 1)/t^3", False, True)],
)  # fmt: skip
def test_step_rules(rule, infinite, finite):
    found = read_rule(rule)
    assert (found.sum_infinite, found.squares_finite) == (infinite, finite)


@pytest.mark.parametrize("rule", ["-1/t", "1/s", "0", "t - 2"])
def test_step_rules_that_are_none(rule):
    with pytest.raises(ValueError, match=r"greater than 0|a formula in t"):
        read_rule(rule)


def test_weights_of_corners():
    square = [(F(1), F(1)), (F(-1), F(1)), (F(-1), F(-1)), (F(1), F(-1))]
    found = weights_of((F(1, 2), F(1, 3)), square)
    assert sum(found) == 1 and min(found) >= 0
    assert tuple(sum(w * c[j] for w, c in zip(found, square, strict=True)) for j in (0, 1)) == (F(1, 2), F(1, 3))
    assert weights_of((F(2), F(0)), square) is None


@pytest.mark.parametrize("order", ["epochs", "random"])
def test_stochastic_steps_by_floating_point(order):
    X, y = np.array([[1.0, 3], [2, 1], [0, 1], [1, 1]]), np.array([1, 1, -1, -1])
    solution = explain.stochastic(X, y, "1/2", 9, "1/(t + 2)", order, average_from=4, seed=3)
    w, b, seen = np.zeros(2), 0.0, []
    for t, i in enumerate(solution.answer["drawn"], 1):
        eta, short = 1 / (t + 2), y[i - 1] * (X[i - 1] @ w + b) < 1
        w = (1 - eta) * w + short * eta * 4 * 0.5 * y[i - 1] * X[i - 1]
        b += short * eta * 4 * 0.5 * y[i - 1]
        seen.append(np.append(w, b))
    assert np.allclose(seen[-1], [float(v) for v in (*solution.answer["w"], solution.answer["b"])])
    assert np.allclose(
        np.mean(seen[3:], axis=0), [float(v) for v in (*solution.answer["mean_w"], solution.answer["mean_b"])]
    )
    if order == "epochs":
        assert sorted(solution.answer["drawn"][:4]) == [1, 2, 3, 4]


def test_hinge_form_of_random_machines():
    random = Random(8)
    for _ in range(3):
        X = [[random.randint(-3, 3) for _ in range(2)] for _ in range(4)]
        y = [1, -1, *(random.choice([1, -1]) for _ in range(2))]
        w, b, C = [random.randint(-2, 2) for _ in range(2)], random.randint(-2, 2), F(random.randint(1, 4), 2)
        solution = explain.hinge(X, y, C, w, b)
        slacks = np.maximum(0, 1 - np.array(y) * (np.array(X) @ w + b))
        assert [float(v) for v in solution.answer["slacks"]] == slacks.tolist()
        assert float(solution.answer["value"]) == pytest.approx(np.dot(w, w) / 2 + float(C) * slacks.sum())
        assert solution.check()

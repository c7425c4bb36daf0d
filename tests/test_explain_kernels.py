"""Kernels by hand, pair steps, the Gaussian kernel with exp as an exact number."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

import mercer
from mercer import explain
from mercer.explain.exponential import bounds, exponential
from mercer.kernels import Gaussian

THREE = [[1, 3], [2, 1], [0, 1]], [1, 1, -1]
XOR = [[1, 1], [-1, -1], [-1, 1], [1, -1]], [-1, -1, 1, 1]
F = Fraction


def test_gram_matrices():
    solution = explain.gram(THREE[0])
    assert solution.answer["rank"] == 2 and solution.answer["semidefinite"]
    witness = explain.gram([[1, 2], [2, 1]], "precomputed").answer
    assert not witness["semidefinite"] and witness["value"] < 0
    random = Random(1)
    for _ in range(6):
        X = [[random.randint(-3, 3) for _ in range(2)] for _ in range(random.randint(2, 5))]
        for kernel in ("linear", "poly", "poly(degree=1)"):
            found = explain.gram(X, kernel)
            K = np.array([[float(v) for v in row] for row in found.answer["K"]])
            assert found.answer["rank"] == np.linalg.matrix_rank(K)
            assert found.check()


def test_one_function_two_representations():
    solution = explain.rkhs([(1, [1, 2]), (-2, [0, 1])], [(1, [1, 1])], "poly(degree=1)", at=[2, 2])
    weights, places = solution.answer["second"], solution.answer["points"]
    assert weights[:2] != (1, -2)
    for x in product((-1, 0, 2), repeat=2):
        one = sum(a * (1 + np.dot(p, x)) for a, p in ((1, (1, 2)), (-2, (0, 1))))
        assert one == sum(
            float(a) * (1 + np.dot([float(v) for v in p], x)) for a, p in zip(weights, places, strict=True)
        )
    assert solution.answer["f"] == 1 and solution.answer["inner"] == 0
    assert explain.rkhs([(2, 3)]).answer["squared_norm"] == 36


def test_maps_of_one_kernel():
    three = explain.maps("sqrt(2)*x", ["x", "-x"], ["x", 0, "x"])
    assert three.answer["same"] and {str(k) for k in three.answer["kernels"]} == {"2*x*z"}
    other = explain.maps(["x1", "x2"], ["x1 + x2"])
    assert not other.answer["same"] and "number 2 differs" in other.to_text()


def test_pair_steps():
    solution = explain.smo(*THREE, C="1/4")
    assert solution.answer["optimal"] and solution.answer["alpha"] == explain.svm(*THREE, C="1/4").answer["alpha"]
    assert solution.answer["pairs"] == ((1, 3), (2, 1))
    assert explain.smo(*XOR, kernel="poly").answer["alpha"] == (F(1, 8),) * 4
    long = explain.smo(*THREE, steps=12)
    assert not long.answer["optimal"]
    assert float(long.answer["value"]) == pytest.approx(5 / 8, abs=1e-5), "it comes near"
    with pytest.raises(ValueError, match="give C"):
        explain.smo(*XOR)


def test_pair_steps_of_random_problems_end_at_the_optimum_or_come_near():
    random = Random(6)
    for _ in range(5):
        X = random.sample([[u, v] for u in range(-2, 3) for v in range(-2, 3)], 4)
        y = [1, -1, *(random.choice([1, -1]) for _ in range(2))]
        found = explain.smo(X, y, C=1, steps=25)
        best = explain.svm(X, y, C=1).answer["value"]
        assert float(found.answer["value"]) == pytest.approx(float(best), rel=1e-3) and found.answer["value"] <= best
        assert found.answer["optimal"] == (found.answer["value"] == best)


@pytest.mark.parametrize(
    ("solution", "old", "new"),
    [
        (lambda: explain.stochastic(*THREE, steps=3), '"steps": 3', '"steps": 1000000000'),
        (lambda: explain.descent("w^2", 1, 3), '"steps": 3', '"steps": 1000000000'),
        (lambda: explain.smo(*THREE, C=1, steps=3), '"steps": 3', '"steps": 1000000000'),
        (lambda: explain.rbf(3), '"terms": 3', '"terms": 1000000000'),
    ],
)
def test_forged_files_end_at_once(solution, old, new):
    tree = solution().to_json()
    assert old in tree
    assert not explain.from_json(tree.replace(old, new)).check()


def test_shrinkage_and_neighbours():
    found = explain.shrinkage([[1, 0], [0, 1], [1, 1]], [1, 2, 2], ["1/2", 3])
    for lam, w in zip((0.5, 3.0), found.answer["weights"], strict=True):
        X = np.array([[1, 0], [0, 1], [1, 1]])
        assert np.allclose([float(v) for v in w], np.linalg.solve(X.T @ X + lam * np.eye(2), X.T @ [1, 2, 2]))
    votes = explain.neighbours([0, 1, 3], [1, -1, 1], "3/2", [1, 4])
    assert votes.answer["nearest"] == 2
    for gamma, value in zip((1, 4), votes.answer["values"], strict=True):
        assert float(value) == pytest.approx(
            sum(s * np.exp(-gamma * (1.5 - x) ** 2) for x, s in ((0, 1), (1, -1), (3, 1))), abs=1e-6
        )


def test_the_perceptron_derived():
    solution = explain.perceptron(*XOR, kernel="poly", detail="derivation")
    text = solution.to_text()
    assert "By components 2 and 6 alone" in text and "(0, 0, 0, 0, 0, −4√2)" in text
    chart = explain.perceptron([[1, 3], [2, 1], [0, -1], [-1, 2]], [1, 1, -1, -1], detail="derivation").picture
    assert len(chart.panels) == 6


def test_widths_in_place_of_gamma(tmp_path):
    """rbf(sigma=...) in the parser, in a machine, in its file."""
    assert mercer.kernel("rbf(sigma=2)") == Gaussian(0.125)
    X = np.random.default_rng(0).normal(size=(20, 2))
    machine = mercer.SVC(kernel="rbf(sigma=2)").fit(X, np.sign(X[:, 0]))
    mercer.save(machine, tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert np.array_equal(again.decision_function(X), machine.decision_function(X))
    assert machine.kernel_ == Gaussian(sigma=2.0)


# The Gaussian kernel with exp as an exact number.


def test_numbers_with_exp():
    random = Random(4)
    for _ in range(60):
        powers = [F(random.randint(-4, 4), random.choice([1, 2, 3])) for _ in range(3)]
        numbers = a, b, c = [random.randint(-3, 3) * exponential(power) for power in powers]
        floats = [float(v) for v in numbers]
        assert float(a * b - c) == pytest.approx(floats[0] * floats[1] - floats[2], rel=1e-12, abs=1e-12)
        assert (a < b) == (floats[0] < floats[1]) or floats[0] == pytest.approx(floats[1])
        assert a + b - b == a and (not c or a * c / c == a)
    one = exponential(F(-1)) * exponential(F(1))
    assert one == 1 and isinstance(one, F)
    square = exponential(F(-1, 2)) ** 2
    assert square == exponential(F(-1)) and hash(square) == hash(exponential(F(-1)))
    tiny = exponential(F(-1)) - F(3678794411714423215955237701614608674458111310317678, 10**52)
    assert 0 < abs(tiny) < F(1, 10**51), "signs are right however small the number is"
    low, high = bounds(F(7, 3), 30)
    assert low < high and float(low) == pytest.approx(np.exp(-7 / 3)) and high - low < F(1, 10**28)


def test_gaussian_machines_exactly():
    two = explain.svm([[0], [1]], [1, -1], kernel="rbf(gamma=1)")
    assert two.answer["alpha"][0] == 1 / (1 - exponential(F(-1))) and two.check()
    assert explain.from_json(two.to_json()) == two
    assert "1 / (1 − exp(−1))" in two.to_text()
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1, -1, 1])
    exact = explain.svm(X, y, C=2, kernel="rbf(sigma=1)", new=[3])
    machine = mercer.SVC(kernel="rbf(sigma=1)", C=2, tol=1e-10).fit(X, y)
    assert float(exact.answer["new"][0]) == pytest.approx(machine.decision_function([[3.0]])[0], abs=1e-6)
    assert float(exact.answer["b"]) == pytest.approx(float(machine.intercept_[0]), abs=1e-6)


def test_gaussian_machines_of_random_points():
    """Points without any pattern, soft margin: the machine of the solver, proved optimal."""
    random = Random(2)
    for n, C in ((4, 1), (3, "1/3"), (3, 10)):
        X = [[random.randint(-20, 20) / 10 for _ in range(2)] for _ in range(n)]
        y = [1, -1, random.choice([1, -1]), random.choice([1, -1])][:n]
        exact = explain.svm(X, y, C=C, kernel="rbf(gamma=0.5)", new=[0, 0])
        machine = mercer.SVC(kernel="rbf(gamma=0.5)", C=float(F(C)), tol=1e-9).fit(X, y)
        assert float(exact.answer["new"][0]) == pytest.approx(machine.decision_function([[0.0, 0.0]])[0], abs=1e-5)
        assert exact.problem.dual.dual_value(exact.answer["alpha"]) == exact.answer["value"]
    assert exact.check()


def test_exponentiated_chi_squared_exactly():
    random = Random(7)
    for kind in (explain.svm, explain.perceptron):
        X, y = [[random.randint(0, 3) for _ in range(3)] for _ in range(3)], [1, -1, 1]
        exact = kind(X, y, kernel="expchi2(gamma=0.5)", new=[1, 0, 2])
        beta = np.array([float(a) for a in exact.answer["alpha"]]) * y
        k = mercer.kernel("expchi2(gamma=0.5)")(np.array([[1.0, 0, 2]]), np.array(X, float))
        assert float(exact.answer["new"][0]) == pytest.approx((k @ beta)[0] + float(exact.answer.get("b", 0)))
        assert exact.check()
    with pytest.raises(ValueError, match="entries >= 0"):
        explain.gram([[1, -1]], "expchi2(gamma=1)")


def test_signs_of_numbers_with_exp_are_proved():
    tiny = exponential(F(-1)) - F(367879441171442321595523770161, 10**30)
    for number in (tiny, 1 / tiny, tiny * tiny * tiny, -tiny):
        assert (number > 0) == (float(number) > 0) and number != 0
    x = exponential(F(-1, 100))
    assert 1 / (1 - x) == (1 + x) / (1 - x * x) and isinstance((1 - x) ** 2 / (1 - 2 * x + x * x), F)
    assert len(((1 - x**9) / (1 - x)).parts()[0]) == 9 and str(exponential(F(2))) == "exp(2)"


def test_gaussian_ridge_and_perceptron_exactly():
    ridge = explain.ridge([[0], [1]], [1, 2], "1/2", kernel="rbf(gamma=1)", new=[2])
    a = np.linalg.solve(np.array([[1.5, np.exp(-1)], [np.exp(-1), 1.5]]), [1, 2])
    assert np.allclose([float(v) for v in ridge.answer["a"]], a) and ridge.check()
    perceptron = explain.perceptron([[0], [1], [2]], [1, -1, 1], kernel="rbf(gamma=1)")
    assert perceptron.answer["alpha"] == (1, 1, 1) and perceptron.check()
    assert "exp(−4)" in perceptron.to_text() and perceptron.to_latex().isascii()


def test_no_exercise_with_exp_takes_long(monkeypatch):
    from mercer.explain import sample

    with pytest.raises(explain.NotByHandError, match="nearer points"):
        explain.svm([[0], [10**6]], [1, -1], kernel="rbf(gamma=1)")
    monkeypatch.setattr(sample, "SECONDS_WITH_EXP", 0.2)
    with pytest.raises(explain.NotByHandError, match="not done within"):
        explain.svm([[0], [1], [3], ["7/2"]], [1, -1, 1, -1], kernel="rbf(gamma=1)", C=1)

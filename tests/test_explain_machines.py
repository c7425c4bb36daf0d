"""Worked solutions of perceptrons and kernel ridge regression."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import kernel_ridge

import mercer
from mercer import KernelRidge, explain

XOR = [[1, 1], [-1, -1], [-1, 1], [1, -1]]
XOR_LABELS = [-1, -1, 1, 1]
numbers = st.sampled_from([Fraction(n, d) for n in range(-4, 5) for d in (1, 2, 3)])


def test_xor_is_learnt_with_the_quadratic_kernel_and_cycles_with_the_linear_one():
    solution = explain.perceptron(XOR, XOR_LABELS, kernel="poly")
    assert solution.answer["converged"]
    assert solution.answer["alpha"] == (1, 1, 1, 1)
    text = solution.to_text(width=300)
    assert "f(𝐱) = −(1 + x₁ + x₂)²" in text and "= −8x₁x₂" in text
    assert "−𝐱₁ − 𝐱₂ + 𝐱₃ + 𝐱₄ =" in text, "why the linear kernel cycles"
    assert solution.check()
    linear = explain.perceptron(XOR, XOR_LABELS)
    assert not linear.answer["converged"]
    assert "It cycles for ever" in linear.to_text()
    assert linear.check()


@pytest.mark.parametrize("eta", [1, "1/2", 3])
def test_primal_and_dual_perceptron_agree(eta):
    X, y = [[1, 3], [2, 1], [0, -1], [-1, 1]], [1, 1, -1, -1]
    solution = explain.perceptron(X, y, eta=eta)
    assert solution.check()
    rate, w, mistakes = Fraction(eta), np.zeros(2, dtype=object), [0] * 4
    for _ in range(solution.answer["passes"]):
        for i in range(4):
            if y[i] * (w @ np.array(X[i])) <= 0:
                w = w + rate * y[i] * np.array(X[i])
                mistakes[i] += 1
    assert tuple(w) == solution.answer["w"]
    assert tuple(mistakes) == solution.answer["alpha"]


@settings(max_examples=20)
@given(st.data())
def test_every_assertion_of_a_perceptron_holds(data):
    n, d = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 2))
    X = data.draw(st.lists(st.tuples(*[numbers] * d), min_size=n, max_size=n))
    y = [1, -1, *data.draw(st.lists(st.sampled_from([1, -1]), min_size=n - 2, max_size=n - 2))]
    kernel = data.draw(st.sampled_from([None, "poly", "linear + 1"]))
    solution = explain.perceptron(X, y, kernel)
    report = solution.check()
    assert report, str(report)
    if solution.answer["converged"]:
        k = mercer.kernel(kernel or "linear")
        points = np.array([[float(v) for v in x] for x in X])
        beta = np.array([a * s for a, s in zip(solution.answer["alpha"], y, strict=True)], float)
        assert (np.array(y) * (k(points, points) @ beta) > 0).all()


def test_long_runs_are_cut_only_beyond_a_hundred_looks():
    X, y = [[i, (i * 7) % 5, 1] for i in range(6)], [1, 1, -1, 1, -1, -1]

    def rows(solution):
        return solution.sections[1].parts[0].mathematics[0].rows

    assert len(rows(explain.perceptron([[1, 4, 1], [3, 2, 1], [2, 2, 1]], [1, 1, -1]))) > 40
    cut, whole = explain.perceptron(X, y), explain.perceptron(X, y, all=True)
    assert len(rows(cut)) == 41 and len(rows(whole)) == 138 == 6 * whole.answer["passes"]
    assert "of 138 looks the first and last 20" in cut.to_text()
    assert cut.check() and whole.check()


def test_ridge_by_hand():
    solution = explain.ridge([[1, 0], [0, 1], [1, 1]], [1, 2, 2], 1)
    assert solution.answer["a"] == (Fraction(3, 8), Fraction(7, 8), Fraction(1, 4))
    assert solution.answer["w"] == (Fraction(5, 8), Fraction(9, 8))
    assert solution.answer["value"] == Fraction(21, 16)
    text = solution.to_text()
    assert "The minus stays" in text and "a weight that is chosen" in text and "need not be invertible" in text
    assert solution.check()


@settings(max_examples=30)
@given(st.data())
def test_ridge_agrees_with_kernel_ridge(data):
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    pool = data.draw(st.lists(st.tuples(*[numbers] * d), min_size=1, max_size=n))
    X = [data.draw(st.sampled_from(pool)) for _ in range(n)]
    t = data.draw(st.lists(numbers, min_size=n, max_size=n))
    weight = data.draw(st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(7)]))
    kernel = data.draw(st.sampled_from(["linear", "poly", "poly(degree=3, gamma=0.5, coef0=0)", "linear + 1"]))
    solution = explain.ridge(X, t, weight, kernel)
    points, targets = np.array([[float(v) for v in x] for x in X]), np.array([float(v) for v in t])
    predictions = np.array([float(v) for v in solution.answer["predictions"]])
    k = mercer.kernel(kernel)
    theirs = kernel_ridge.KernelRidge(alpha=float(weight), kernel="precomputed").fit(k(points, points), targets)
    np.testing.assert_allclose(theirs.dual_coef_, [float(v) for v in solution.answer["a"]], atol=1e-7)
    ours = KernelRidge(kernel, alpha=float(weight)).fit(points, targets)
    scale = 1 + np.abs(targets).max()
    np.testing.assert_allclose(ours.predict(points), predictions, atol=1e-5 * scale)


@settings(max_examples=20)
@given(st.data())
def test_every_assertion_of_ridge_holds(data):
    n, d = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 2))
    X = data.draw(st.lists(st.tuples(*[numbers] * d), min_size=n, max_size=n))
    t = data.draw(st.lists(numbers, min_size=n, max_size=n))
    report = explain.ridge(X, t, "1/3", data.draw(st.sampled_from(["linear", "poly", "linear + 2"]))).check()
    assert report, str(report)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: explain.ridge([[1]], [1], 0), "lambda must be greater than 0"),
        (lambda: explain.ridge([[1], [2]], [1], 1), "One value per point"),
        (lambda: explain.ridge([[1]], ["x"], 1), "must be a number"),
        (lambda: explain.ridge([[1]] * 13, [1] * 13, 1), "mercer.KernelRidge"),
        (lambda: explain.ridge([[1]], [1], 1, "laplacian"), "mercer.KernelRidge"),
        (lambda: explain.ridge([[1]], [1], 1, "rbf"), "waits for data"),
        (lambda: explain.ridge([[i] for i in range(5)], [1] * 5, 1, "rbf(gamma=1)"), "the most is 4"),
        (lambda: explain.perceptron([[1], [2]], [1, -1], eta=0), "eta must be greater than 0"),
        (lambda: explain.perceptron([[1], [2]], [1, -1], kernel="laplacian"), "mercer.KernelPerceptron"),
        (lambda: explain.perceptron([[1]] * 21, [1, -1] * 10 + [1]), "mercer.KernelPerceptron"),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()

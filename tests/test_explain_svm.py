"""Worked solutions of support vector machines: known answers, agreement with SVC, and every assertion checked."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer
from mercer import SVC, explain
from mercer.explain.cases import Finding
from mercer.explain.exact import NotByHandError

XOR = [[1, 1], [-1, -1], [-1, 1], [1, -1]]
XOR_LABELS = [-1, -1, 1, 1]


def texts(solution: explain.Solution) -> str:
    return solution.to_text(width=400)


def test_the_exercise_of_three_points():
    solution = explain.svm([[1, 3], [2, 1], [0, 1]], [1, 1, -1])
    answer = solution.answer
    assert answer["alpha"] == (Fraction(1, 4), Fraction(3, 8), Fraction(5, 8))
    assert answer["w"] == (1, Fraction(1, 2))
    assert answer["t"] == Fraction(3, 2) and answer["b"] == Fraction(-3, 2)
    assert answer["margin"] == 2 / sympy.sqrt(5)
    text = texts(solution)
    assert "5α₁² + 4α₁α₂ + 4α₂²" in text
    assert "1/4 𝐱₁ + 3/8 𝐱₂ − 5/8 𝐱₃" in text
    assert "2 / √5" in text
    assert "one often sees 3α₂²" in text, "the footnote of this exercise"
    assert solution.check()


def test_a_second_exercise():
    answer = explain.svm([[3, -1], [4, 3], [1, 1]], [1, 1, -1]).answer
    assert answer["alpha"] == (Fraction(11, 50), Fraction(3, 25), Fraction(17, 50))
    assert answer["w"] == (Fraction(4, 5), Fraction(-1, 5))
    assert answer["b"] == Fraction(-8, 5)


def test_xor_with_the_quadratic_kernel():
    solution = explain.svm(XOR, XOR_LABELS, kernel="poly")
    assert solution.answer["alpha"] == (Fraction(1, 8),) * 4
    assert solution.answer["b"] == 0
    assert solution.answer["margin"] == sympy.sqrt(2)
    assert "= −x₁x₂" in texts(solution)
    assert solution.check()


def test_all_cases_are_shown_up_to_sixteen_and_each_rejection_names_its_condition():
    text = texts(explain.svm(XOR, XOR_LABELS, kernel="poly"))
    section = text[text.index("5. The cases") : text.index("6. The support")]
    assert section.count("rejected") == 15 and section.count("accepted") == 1
    assert "y₄ f(𝐱₄) = −1/3 < 1" in section
    assert "Σᵢ αᵢyᵢ = 0 cannot hold" in section


def test_many_cases_are_summarised_by_reason():
    solution = explain.svm([[0, 0], [1, 1], [2, 2], [0, 3]], [-1, -1, 1, 1], C="1/3")
    text = texts(solution)
    section = text[text.index("5. The cases") : text.index("6. The support")]
    assert "3⁴ = 81" in section
    counts = [int(line.split()[0]) for line in section.splitlines() if line.strip()[:1].isdigit() and "jected" in line]
    assert sum(counts) + 1 == 81
    assert solution.check()


def test_inseparable_points_are_proved_inseparable():
    solution = explain.svm(XOR, XOR_LABELS)
    assert solution.answer == {"separable": False}
    assert "1/2 𝐱₃ + 1/2 𝐱₄ = 1/2 (−1, 1) + 1/2 (1, −1) = (0, 0)" in texts(solution)
    assert solution.check()


def test_inseparable_points_in_feature_space():
    solution = explain.svm([[1], [1], [2]], [1, -1, 1], kernel="poly")
    assert solution.answer == {"separable": False}
    assert solution.check()


def test_ties_are_said_to_be_ties():
    solution = explain.svm(XOR, [1, -1, -1, 1], kernel="linear")
    assert len(solution.answer["vertices"]) == 2
    assert "There are ties" in texts(solution)
    assert solution.check()


def test_an_interval_of_intercepts_is_derived_end_by_end():
    solution = explain.svm([[0], [4], [5]], [-1, 1, 1], C="1/100")
    low, high = solution.answer["b_interval"]
    assert low < high and solution.answer["b"] == (low + high) / 2
    text = texts(solution)
    section = text[text.index("8. The intercept") : text.index("9. The margin")]
    for i, sign in ((1, "≥"), (2, "≤"), (3, "≥")):
        assert f"b {sign} y{'₀₁₂₃'[i]} − ⟨𝐰, 𝐱{'₀₁₂₃'[i]}⟩ =" in section
    assert f"{low} ≤ b ≤ {high}".replace("-", "−") in section
    assert solution.check()
    wider = solution.to_json().replace(f'"{low}"', '"-2"')
    assert not explain.from_json(wider).check()


def test_the_margin_of_a_kernel_is_a_distance_in_feature_space():
    text = texts(explain.svm(XOR, XOR_LABELS, kernel="poly"))
    assert "distance from the hyperplane in feature space" in text and "not one in the picture" in text
    assert "feature space" not in texts(explain.svm([[0, 0], [1, 1]], [1, -1]))
    assert "through the origin of feature space" in texts(explain.perceptron(XOR, XOR_LABELS, kernel="poly"))


def test_ties_are_explained():
    text = texts(explain.svm(XOR, [1, -1, -1, 1]))
    assert "α₂ = 0, so 𝐱₂ is not free" in text, "a free multiplier that is 0"
    assert "those that are 0 here are positive in others" in text
    assert "no influence" not in text and text.count("a support vector in another optimum") == 2


def test_a_constant_f_has_no_sign_to_go_by():
    text = texts(explain.svm([[0, 0], [0, 0]], [1, -1], C=1))
    assert "the sign of f" not in text and "it decides nothing" in text
    text = texts(explain.svm([[0, 0], [0, 0], [0, 0]], [1, 1, -1], C=1))
    assert "every point is put into class +1" in text


def test_definiteness_is_said_with_the_rank():
    assert "𝐆 is positive semidefinite, rank(𝐆) = 2: it is singular" in texts(
        explain.svm([[1, 3], [2, 1], [0, 1]], [1, 1, -1])
    )
    assert "𝐊 is positive definite: rank(𝐊) = 4" in texts(explain.svm(XOR, XOR_LABELS, kernel="poly"))


@pytest.mark.parametrize("given", [["0", "1", "1"], ["1", "2", "2"], [0, 1, 1], ["-", "+", "+"], ["-1", "1", "+1"]])
def test_labels_as_text_are_read_as_numbers(given):
    solution = explain.svm([[0], [2], [3]], given)
    assert solution.answer["w"] == (1,) and solution.answer["b"] == -1
    assert solution.check()


def test_a_new_point_in_every_kind():
    X, y = [[1, 3], [2, 1], [0, 1]], [1, 1, -1]
    solution = explain.svm(X, y, new=[1, 2])
    text = texts(solution)
    assert solution.answer["new"] == (Fraction(1, 2),)
    for piece in ("1 · 1 + 3 · 2 = 7", "f(𝐱) = 1/4 · 7 + 3/8 · 4 − 5/8 · 2 − 3/2 = 1/2", "f(𝐱) > 0: class +1"):
        assert piece in text
    several = explain.svm(XOR, XOR_LABELS, kernel="poly", new=[[2, 3], [0, 5]])
    assert several.answer["new"] == (-6, 0) and "in neither class" in texts(several)
    values = explain.svm([[2, 0], [0, 2]], ["a", "b"], kernel="precomputed", new=[1, 3])
    assert "class b" in texts(values) and values.answer["new"] == (1,)
    perceptron = explain.perceptron(XOR, XOR_LABELS, kernel="poly", new=["1/2", 1])
    assert perceptron.answer["new"] == (-4,)
    ridge = explain.ridge([[1], [2]], [1, 2], 1, new=3)
    assert ridge.answer["new"] == (Fraction(5, 2),) and "this is the prediction" in texts(ridge)
    for worked in (solution, several, values, perceptron, ridge):
        assert worked.check(), str(worked.check())
        assert "f(𝐱) =" in texts(worked)
    with pytest.raises(ValueError, match="needs 2 coordinates"):
        explain.svm(X, y, new=[1])


def test_features_of_ones_own():
    def phi(x):
        return [x[0] * x[1], x[0], 1]

    kernel = mercer.kernels.FromFeatures(phi)
    solution = explain.svm(XOR, XOR_LABELS, kernel=kernel, new=[2, 3])
    assert solution.answer["w"] == (-1, 0, 0) and solution.answer["new"] == (-6,)
    assert solution.check() and explain.from_json(solution.to_json()).check()
    assert "distance from the hyperplane in feature space" in texts(solution)
    assert explain.ridge(XOR, XOR_LABELS, 1, kernel=kernel, new=[2, 3]).check()
    assert explain.perceptron(XOR, XOR_LABELS, kernel=kernel).check()
    with pytest.raises(NotByHandError, match="simple fractions"):
        explain.svm(XOR, XOR_LABELS, kernel=mercer.kernels.FromFeatures(lambda x: np.exp(x)))


def test_input_of_many_kinds():
    by_text = explain.svm([["1/3", "0.1"], [1, 2]], ["-", "+"])
    by_number = explain.svm(np.array([[1 / 3, 0.1], [1, 2]]), np.array([-1.0, 1.0]))
    assert by_text.answer["alpha"] == by_number.answer["alpha"]
    assert "1/10" in texts(by_number)
    named = explain.svm([[0], [1]], ["cat", "dog"])
    assert "Class dog is written +1" in texts(named)
    matrix = explain.svm([["1/2", 0], [0, "1/2"]], [1, -1], kernel="precomputed")
    assert matrix.answer["alpha"] == (2, 2)
    assert matrix.check()


@pytest.mark.parametrize(
    "kernel", ["intersection", "chi2", "poly(degree=3)", "2*linear + 1", "linear*poly", "linear**2"]
)
def test_kernels_with_rational_values(kernel):
    X, y = [[0, 1], [2, 1], [3, 4]], [1, -1, 1]
    solution = explain.svm(X, y, C=2, kernel=kernel)
    assert solution.check()
    machine = SVC(kernel, C=2, tol=1e-10).fit(np.array(X, float), y)
    assert machine.certificate_.dual == pytest.approx(float(solution.answer["value"]), rel=1e-8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.0, 1.0]] * 11, [1, -1] * 5 + [1]), "SVC"),
        (([[0], [1]], [1, -1], None, "laplacian"), "Laplacian.*mercer.SVC"),
        (([[0], [1]], [1, -1], None, "rbf"), "waits for data"),
        (([[i] for i in range(5)], [1, -1, 1, -1, 1], None, "rbf(gamma=1)"), "the most is 4.*mercer.SVC"),
        (([[0], [1]], [1, 1]), "Two classes"),
        (([[0], [1], [2]], [1, 2, 3]), "Two classes are needed, but y has 3"),
        (([[0], [1]], [1]), "One label per point"),
        (([[0], [float("nan")]], [1, -1]), "finite"),
        (([[0], ["a"]], [1, -1]), "must be a number"),
        (([[0], [1, 2]], [1, -1]), "same number of coordinates"),
        (([], []), "no points"),
        (([[0], [1]], [1, -1], 0), "greater than 0"),
        (([[-1], [1]], [1, -1], None, "chi2"), "histograms"),
        (([[1, 2], [2, 1]], [1, -1], None, "precomputed"), "not positive semidefinite"),
        (([[1, 2], [3, 1]], [1, -1], None, "precomputed"), "symmetric"),
        (([[1, 2]], [1], None, "precomputed"), "square"),
    ],
)
def test_bad_input_gets_one_clear_error(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        explain.svm(*arguments)


def test_eight_points_soft_and_ten_hard():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, size=(8, 2)), [1, -1] * 4
    assert explain.svm(X, y, C=1).answer["value"] > 0
    X = [[i, 0] for i in range(10)]
    assert explain.svm(X, [-1] * 5 + [1] * 5).answer["w"] == (2, 0)
    with pytest.raises(NotByHandError, match="SVC"):
        explain.svm([[i] for i in range(9)], [1, -1, 1] * 3, C=1)


numbers = st.sampled_from([Fraction(n, d) for n in range(-4, 5) for d in (1, 2, 3)])


@st.composite
def problems(draw):
    """Small problems, many of them degenerate: duplicates, points on a line, ties, one point per class."""
    d = draw(st.integers(1, 2))
    n = draw(st.integers(2, 5))
    pool = draw(st.lists(st.tuples(*[numbers] * d), min_size=1, max_size=n))
    X = [draw(st.sampled_from(pool)) for _ in range(n)]
    y = [1, -1, *(draw(st.sampled_from([1, -1])) for _ in range(n - 2))]
    kernel = draw(st.sampled_from(["linear", "linear", "poly", "poly(degree=3, coef0=0.5)"]))
    C = draw(st.sampled_from([None, None, Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(10)]))
    return X, y, C, kernel


@settings(max_examples=50)
@given(problems())
def test_agrees_with_svc(problem):
    X, y, C, kernel = problem
    solution = explain.svm(X, y, C=C, kernel=kernel)
    points = np.array([[float(v) for v in x] for x in X])
    machine = SVC(kernel, C=float("inf") if C is None else float(C), tol=1e-9)
    if C is None and not solution.answer["separable"]:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert machine.fit(points, y).certificate_.status.name == "INFEASIBLE"
        return
    machine.fit(points, y)
    value = float(solution.answer["value"])
    assert machine.certificate_.dual == pytest.approx(value, rel=1e-6, abs=1e-9)
    beta = np.array([float(a) * s for a, s in zip(solution.answer["alpha"], y, strict=True)])
    k = mercer.kernel(kernel)
    ours = k(points, points) @ beta + float(solution.answer["b"])
    scale = 1 + np.abs(ours).max()
    if "b_interval" not in solution.answer:
        np.testing.assert_allclose(machine.decision_function(points), ours, atol=2e-3 * scale)


@settings(max_examples=20)
@given(problems())
def test_every_assertion_holds(problem):
    X, y, C, kernel = problem
    solution = explain.svm(X, y, C=C, kernel=kernel)
    report = solution.check()
    assert report, str(report)
    assert report.checked >= 7


def test_findings_all_have_words():
    from mercer.explain.svm_cases import _REASONS

    assert set(_REASONS) == set(Finding)

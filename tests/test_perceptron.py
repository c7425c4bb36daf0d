"""Perceptrons: primal = dual step for step, a plain oracle for everything, the margin, proofs, streams, budgets."""

from __future__ import annotations

import os
import pickle
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from mercer import KernelPerceptron, LinearSVC, Perceptron, Problem, certify, solve
from mercer.kernels import FromFunction, Gaussian, Linear, Polynomial, Precomputed
from mercer.losses import HardMargin
from mercer.online import Update, kernel_values
from mercer.solution import Status

from .heard import hear
from .zoo import XOR, as_sparse, common_letters, needs_callbacks, two_classes, words

VARIANTS = ["plain", "averaged", "voted"]


def separable(n=120, seed=0, d=5):
    """Whole numbers, so that nothing is rounded, and a margin."""
    generator = np.random.default_rng(seed)
    X = generator.integers(-6, 7, (n, d)).astype(float)
    w = generator.normal(size=d)
    far = np.abs(X @ w) > 1.0
    return X[far], np.where(X[far] @ w > 0, 1.0, -1.0)


def by_hand(K, y, epochs, budget=None):
    """The dual perceptron as one would write it: alpha, the trace, all f as coefficients (one per point seen)."""
    n = len(y)
    alpha, weight, since, trace, seen, functions = np.zeros(n, int), np.zeros(n), np.zeros(n), [], 0, []
    for epoch in range(1, epochs + 1):
        before = len(trace)
        for i in range(n):
            score = sum(weight[j] * y[j] * K[j, i] for j in range(n))
            if y[i] * score <= 0:
                if budget is not None and weight[i] == 0 and np.count_nonzero(weight) == budget:
                    held = np.flatnonzero(weight)
                    change = weight[held] * np.sqrt(K[held, held])
                    weight[held[np.lexsort((since[held], change))[0]]] = 0
                since[i] = seen if weight[i] == 0 else since[i]
                weight[i] += 1
                alpha[i] += 1
                trace.append(Update(epoch, i, score, alpha[i], 0))
            seen += 1
            functions.append(weight * y)
        if len(trace) == before:
            break
    return alpha, weight, trace, np.array(functions)


def same_traces(one, other):
    assert [(u.epoch, u.point, u.alpha, u.machine) for u in one] == [
        (u.epoch, u.point, u.alpha, u.machine) for u in other
    ]
    assert_allclose([u.score for u in one], [u.score for u in other], atol=1e-9)


@pytest.mark.digits
def test_xor_is_learned_with_the_quadratic_kernel():
    X, y = XOR
    for kernel in ("(1 + linear)**2", Polynomial()):
        model = KernelPerceptron(kernel).fit(X, y)
        assert_array_equal(model.mistakes_, [1, 1, 1, 1])
        assert model.certificate_.converged and model.score(X, y) == 1.0
        assert_allclose([model.certificate_.lower, model.certificate_.upper], np.sqrt(2))
        assert model.certificate_.relative_gap <= 1e-12
        assert_allclose(model.dual_coef_[0], y)


@pytest.mark.parametrize("model", [Perceptron(), KernelPerceptron("linear"), Perceptron(bias=True, eta=0.1)], ids=repr)
def test_xor_is_proved_inseparable_by_a_line(model):
    X, y = XOR
    model.fit(X, y)
    certificate = model.certificate_
    assert certificate.status is Status.INFEASIBLE and not certificate.converged
    assert "the hulls of the two classes meet" in str(certificate)
    assert "\n  0.5 x[0] + 0.5 x[1] = (0, 0)\n  0.5 x[2] + 0.5 x[3] = (0, 0)" in str(certificate)
    weights = certificate.proof.weights
    assert (weights >= 0).all() and weights.sum() == pytest.approx(1.0)
    assert_allclose((weights * y) @ X, 0.0, atol=1e-12)


@pytest.mark.digits
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_primal_and_dual_agree_step_for_step(seed, bias, shuffle):
    settings_ = {"bias": bias, "shuffle": shuffle, "random_state": seed, "trace": True, "max_epochs": 60}
    for X, y in (separable(seed=seed), two_classes(50, seed)):
        primal, kernel = Perceptron(**settings_).fit(X, y), KernelPerceptron(Linear(), **settings_).fit(X, y)
        same_traces(primal.trace_, kernel.trace_)
        assert_array_equal(primal.mistakes_, kernel.mistakes_)
        assert_allclose(primal.coef_, kernel.coef_, atol=1e-9)
        assert_allclose(primal.intercept_, kernel.intercept_)
        assert primal.certificate_.status is kernel.certificate_.status
        assert primal.n_iter_ == kernel.n_iter_
        assert_allclose(primal.certificate_.upper, kernel.certificate_.upper, atol=1e-9)
        assert_allclose(primal.coef_[0], (primal.mistakes_ * y) @ X, atol=1e-9)


def test_eta_scales_the_weights_and_nothing_else():
    X, y = separable()
    one, half = Perceptron(trace=True).fit(X, y), Perceptron(eta=0.5, trace=True).fit(X, y)
    assert_allclose(half.coef_, 0.5 * one.coef_)
    assert_array_equal(half.mistakes_, one.mistakes_)
    assert half.certificate_.upper == pytest.approx(one.certificate_.upper)
    assert half.certificate_.lower == pytest.approx(one.certificate_.lower)


@pytest.fixture(params=["held", "streamed", "streamed in small pieces"])
def way(request, monkeypatch):
    """Kernel values held at once, or rows computed when they are needed; small blocks, so that there are many."""
    monkeypatch.setattr(kernel_values, "_BLOCK", 7)
    monkeypatch.setattr(kernel_values, "_CHEAP_BLOCK", 7)
    if request.param != "held":
        monkeypatch.setattr(kernel_values, "_HELD", 0)
    if request.param == "streamed in small pieces":
        monkeypatch.setattr(kernel_values, "_BUFFER", 1000)
    return request.param


@pytest.mark.digits
@pytest.mark.parametrize("kernel", [Gaussian(0.3), Polynomial(), Linear()], ids=repr)
@pytest.mark.parametrize("budget", [None, 1, 5])
def test_it_is_what_one_would_write(way, kernel, budget):
    X, y = two_classes(40)
    K = kernel(X)
    model = KernelPerceptron(kernel, max_epochs=4, budget=budget, trace=True).fit(X, y)
    alpha, weight, trace, _ = by_hand(K, y, 4, budget)
    same_traces(model.trace_, trace[: len(model.trace_)])
    if model.certificate_.status is not Status.INFEASIBLE:  # which ends it before its time
        assert_array_equal(model.mistakes_, alpha)
        assert_array_equal(model.support_, np.flatnonzero(weight))
        assert_allclose(model.dual_coef_[0], (weight * y)[weight > 0])
    assert budget is None or model.support_.size <= budget


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), d=st.integers(1, 3), budget=st.sampled_from([None, 2, 4]))
def test_it_is_what_one_would_write_for_any_points(seed, n, d, budget):
    generator = np.random.default_rng(seed)
    X, y = generator.integers(-2, 3, (n, d)).astype(float), np.append([1.0, -1.0], generator.choice([-1.0, 1.0], n - 2))
    model = KernelPerceptron(Polynomial(), max_epochs=6, budget=budget, trace=True).fit(X, y)
    _, _, trace, _ = by_hand(Polynomial()(X), y, 6, budget)
    same_traces(model.trace_, trace[: len(model.trace_)])
    if model.certificate_.status is Status.CONVERGED:
        assert len(trace) == len(model.trace_) and model.score(X, y) == 1.0


@pytest.mark.parametrize("bias", [False, True])
def test_the_mean_and_the_votes_of_all_functions(way, bias):
    X, y = two_classes(40)
    K = Gaussian(0.3)(X) + bias
    options = {"max_epochs": 3, "bias": bias}
    _, weight, _, functions = by_hand(K, y, 3)
    scores = functions @ K
    plain, averaged, voted = (KernelPerceptron(Gaussian(0.3), v, **options).fit(X, y) for v in VARIANTS)
    assert_allclose(plain.decision_function(X), weight * y @ K, atol=1e-9)
    assert_allclose(averaged.decision_function(X), scores.mean(axis=0), atol=1e-9)
    assert_allclose(voted.decision_function(X), np.sign(scores).mean(axis=0), atol=1e-9)
    assert_array_equal(plain.mistakes_, averaged.mistakes_)
    assert_array_equal(plain.mistakes_, voted.mistakes_)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0), Polynomial()], ids=repr)
def test_the_margin_is_between_its_bounds(kernel, bias):
    X, y = separable(40)
    best = solve(Problem.of(kernel + 1 if bias else kernel, X, y, HardMargin(), bias=False), tol=1e-8).certificate
    margin = 1 / np.sqrt(2 * best.primal)
    for variant in VARIANTS:
        model = KernelPerceptron(kernel, variant, bias=bias, max_epochs=3_000).fit(X, y)
        certificate = model.certificate_
        assert certificate.status is Status.CONVERGED
        assert certificate.lower <= margin * (1 + 1e-6) and margin * (1 - 1e-6) <= certificate.upper
        assert certificate.dual <= best.primal * (1 + 1e-6) and certificate.primal >= best.dual * (1 - 1e-6)
        if variant != "averaged":
            assert certificate.lower > 0.0
        again = certify(model, X, y)
        assert_allclose([again.lower, again.upper], [certificate.lower, certificate.upper], rtol=1e-9)
        for step in model.solution_.history:
            assert step.dual <= best.primal * (1 + 1e-6) and step.primal >= best.dual * (1 - 1e-6)
        assert [step.iteration for step in model.solution_.history] == list(range(1, model.n_iter_ + 1))
    if kernel == Linear():
        primal = Perceptron(bias=bias).fit(X, y)
        assert primal.certificate_.lower <= margin * (1 + 1e-6) and margin * (1 - 1e-6) <= primal.certificate_.upper
        assert_allclose(certify(primal, X, y).lower, primal.certificate_.lower)


def test_damage_is_caught():
    X, y = separable(40)
    model = KernelPerceptron(Gaussian(0.1)).fit(X, y)
    model.dual_coef_ = -model.dual_coef_
    assert certify(model, X, y).lower < 0.0


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_cycle_is_a_proof(shuffle):
    data = [
        (np.array([[1.0], [2.0]]), np.array([1.0, -1.0])),
        (np.array([[3.0, 1.0], [1.0, 2.0], [5.0, 4.0], [-2.0, 1.0]]), np.array([1.0, 1.0, -1.0, 1.0])),
        (separable(30)[0], np.random.default_rng(0).choice([-1.0, 1.0], len(separable(30)[0]))),
    ]
    for X, y in data:
        if shuffle and len(y) > 4:
            continue  # it wanders, and may come back late
        for model in (
            Perceptron(max_epochs=20_000, shuffle=shuffle, random_state=0),
            KernelPerceptron("linear", max_epochs=20_000, shuffle=shuffle, random_state=0),
        ):
            certificate = model.fit(X, y).certificate_
            assert certificate.status is Status.INFEASIBLE
            weights = certificate.proof.weights
            assert (weights >= 0).all() and weights.sum() == pytest.approx(1.0)
            assert np.linalg.norm((weights * y) @ X) == pytest.approx(certificate.proof.distance, abs=1e-7)
            assert certificate.proof.distance <= certificate.proof.bound


def test_the_limit_says_that_the_data_may_not_be_separable():
    X, y = two_classes(60)
    for model in (Perceptron(max_epochs=5), KernelPerceptron("linear", max_epochs=5)):
        certificate = model.fit(X, y).certificate_
        assert certificate.status is Status.OUT_OF_ITERATIONS and model.n_iter_ == 5
        assert "may not be separable" in str(certificate) and "wrong side" in str(certificate)
        assert certificate.lower < 0.0 < certificate.upper


def test_opposite_labels_at_one_point_are_proved():
    X, y = two_classes(60)
    X, y = np.concatenate([X[:1], X]), np.append(-y[0], y)
    for kernel in (Gaussian(1.0), Linear()):
        certificate = KernelPerceptron(kernel, max_epochs=300).fit(X, y).certificate_
        assert certificate.status in (Status.INFEASIBLE, Status.OUT_OF_ITERATIONS, Status.STALLED)
        assert certificate.lower <= 0.0


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("budget", [None, 9])
def test_a_stream_in_pieces_is_one_pass(variant, budget, way):
    if variant != "plain":
        budget = None
    X, y = two_classes(60)
    for kernel in (Gaussian(0.3), Linear()):
        settings_ = {"kernel": kernel, "variant": variant, "budget": budget, "bias": True, "max_epochs": 1}
        whole, stream = KernelPerceptron(**settings_).fit(X, y), KernelPerceptron(**settings_)
        mistakes = []
        for start, stop in ((0, 1), (1, 20), (20, 21), (21, 60)):
            stream.partial_fit(X[start:stop], y[start:stop], classes=[-1.0, 1.0])
            mistakes.append(stream.mistakes_)
            assert budget is None or len(stream.support_vectors_) <= budget
        assert_array_equal(np.concatenate(mistakes), whole.mistakes_)
        assert_allclose(stream.decision_function(X), whole.decision_function(X), atol=1e-9)
        assert_array_equal(stream.support_, whole.support_)
        assert certify(stream, X, y).lower == pytest.approx(whole.certificate_.lower)
        assert not hasattr(stream, "certificate_")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("budget", [None, 30])
def test_a_stream_of_reals_and_of_zeros_and_ones_is_one_pass(dtype, budget, way):
    """Zeros and ones have kernel values by a way of their own, which must not be taken where real points are held."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(120, 8)).astype(dtype)
    y = np.where(X @ np.arange(8) > 0.0, 1, -1)
    bits = np.arange(120) // 20 % 2 == 1  # every other piece
    X[bits] = X[bits] > 0.0
    whole = KernelPerceptron(Gaussian(0.1), budget=budget, max_epochs=1).fit(X, y)
    stream, mistakes = KernelPerceptron(Gaussian(0.1), budget=budget), []
    for start in range(0, 120, 20):
        piece = X[start : start + 20]
        piece = as_sparse(piece) if start == 60 else piece
        mistakes.append(stream.partial_fit(piece, y[start : start + 20], classes=[-1, 1]).mistakes_)
    assert_array_equal(np.concatenate(mistakes), whole.mistakes_)
    assert_allclose(stream.decision_function(X), whole.decision_function(X), atol=1e-4)
    assert budget is None or whole.mistakes_.sum() > budget


def test_a_stream_of_the_primal_perceptron():
    X, y = two_classes(60)
    whole, stream = Perceptron(0.5, max_epochs=1, bias=True).fit(X, y), Perceptron(0.5, bias=True)
    for start in range(0, 60, 20):
        stream.partial_fit(X[start : start + 20], y[start : start + 20], classes=[-1.0, 1.0])
    assert_allclose(stream.coef_, whole.coef_)
    assert_allclose(stream.intercept_, whole.intercept_)
    assert certify(stream, X, y).upper == pytest.approx(whole.certificate_.upper)
    stream.fit(X, y)
    assert_allclose(stream.mistakes_, Perceptron(0.5, bias=True).fit(X, y).mistakes_)


def test_an_endless_stream_runs_in_bounded_memory():
    generator = np.random.default_rng(0)
    model = KernelPerceptron(Gaussian(1.0), budget=50)
    for _ in range(60):
        X = generator.normal(size=(100, 2))
        y = np.where(np.hypot(*X.T) > 1.2, "out", "in")
        model.partial_fit(X, y, classes=["in", "out"])
        assert len(model.support_vectors_) <= 50
        assert len(pickle.dumps(model)) < 20_000
    X = generator.normal(size=(500, 2))
    assert model.score(X, np.where(np.hypot(*X.T) > 1.2, "out", "in")) > 0.85


@pytest.mark.parametrize("machine", [Perceptron(), KernelPerceptron(), LinearSVC()], ids=repr)
def test_a_first_piece_that_is_refused_settles_nothing(machine):
    X, y = load_iris(return_X_y=True)
    wrong = [(X, y, [0, 1], "y holds 2, which"), (np.full((2, 3), np.nan), [0, 1], [0, 1], "NaN"), (X, y, [1], "two")]
    for points, labels, classes, message in wrong:
        with pytest.raises(ValueError, match=message):
            machine.partial_fit(points, labels, classes=classes)
    assert machine.partial_fit(X, y, classes=[0, 1, 2]).predict(X).shape == (150,)
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] are not those of the first call"):
        machine.partial_fit(X, y, classes=[0, 1])


def test_a_stream_names_its_classes():
    X, y = two_classes(20)
    for model in (Perceptron(), KernelPerceptron()):
        with pytest.raises(ValueError, match="classes must be passed on the first call"):
            model.partial_fit(X, y)
        with pytest.raises(ValueError, match="needs at least two classes"):
            model.partial_fit(X, y, classes=[1.0])
        model.partial_fit(X, y, classes=[-1.0, 1.0, 7.0]).partial_fit(X[:3], np.full(3, 7.0))
        assert model.decision_function(X).shape == (20, 3)
        with pytest.raises(ValueError, match=r"y holds 5\.0, which is none of the classes"):
            model.partial_fit(X[:1], [5.0])
        with pytest.raises(ValueError, match="are not those of the first call"):
            model.partial_fit(X, y, classes=[-1.0, 1.0])
        with pytest.raises(ValueError, match="features"):
            model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="partial_fit needs points"):
        KernelPerceptron(Precomputed()).partial_fit(np.eye(20), y, classes=[-1.0, 1.0])


@pytest.mark.parametrize("variant", VARIANTS)
def test_several_classes(variant):
    X, y = load_iris(return_X_y=True)
    model = KernelPerceptron(Gaussian(1.0), variant, trace=True, max_epochs=300).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.mistakes_.shape == (3, 150) and len(model.certificates_) == 3
    assert {update.machine for update in model.trace_} == {0, 1, 2}
    assert "against the rest" in str(model.certificate_)
    for c in range(3):
        alone = KernelPerceptron(Gaussian(1.0), variant, max_epochs=300).fit(X, y == c)
        assert_array_equal(alone.mistakes_, model.mistakes_[c])
        if variant == "plain":
            assert_allclose(alone.decision_function(X), model.decision_function(X)[:, c], atol=1e-9)
    primal = Perceptron(bias=True, max_epochs=300).fit(X, y)
    assert primal.coef_.shape == (3, 4) and primal.mistakes_.shape == (3, 150)
    assert primal.certificates_[0].converged  # the first class can be told from the others by a plane
    assert primal.score(X, y) > 0.6


def test_points_of_every_kind(tmp_path):
    X, y = separable(60)
    dense = KernelPerceptron(Gaussian(0.1)).fit(X, y)
    for kernel, points in ((Gaussian(0.1), as_sparse(X)), (Precomputed(), Gaussian(0.1)(X))):
        for variant in VARIANTS:
            other = KernelPerceptron(kernel, variant).fit(points, y)
            assert_array_equal(other.mistakes_, dense.mistakes_)
            assert other.score(points, y) > 0.9
            assert certify(other, points, y).upper == pytest.approx(other.certificate_.upper)
    assert_array_equal(Perceptron().fit(as_sparse(X), y).mistakes_, Perceptron().fit(X, y).mistakes_)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_array_equal(Perceptron().fit(mapped, y).mistakes_, Perceptron().fit(X, y).mistakes_)
    texts = words(60)
    labels = np.array(["many" if text.count("a") > 1 else "few" for text in texts])
    model = KernelPerceptron(FromFunction(common_letters), bias=True).fit(texts, labels)
    assert model.score(texts, labels) > 0.8
    stream = KernelPerceptron(FromFunction(common_letters), bias=True).partial_fit(texts[:30], labels[:30], labels)
    assert stream.partial_fit(texts[30:], labels[30:]).predict(texts).shape == (60,)


def test_float32_keeps_its_word():
    X, y = two_classes(1500)
    X, kernel = X.astype(np.float32), Gaussian(1.0)
    model = KernelPerceptron(kernel, max_epochs=3).fit(X, y)
    points, held, beta = X.astype(np.float64), model.support_vectors_.astype(np.float64), model.dual_coef_[0]
    norm = np.sqrt(beta @ kernel(held) @ beta)
    lower, upper = (y * (kernel(points, held) @ beta)).min() / norm, norm / np.abs(beta).sum()
    for certificate in (model.certificate_, certify(model, X, y), certify(model, points, y)):
        assert certificate.lower <= lower and upper <= certificate.upper
        assert certificate.lower == pytest.approx(lower, abs=1e-3)


def test_limits_and_watchers(capsys, way):
    X, y = two_classes(300)
    for model in (Perceptron(time_limit=1e-9), KernelPerceptron(Gaussian(1.0), time_limit=1e-9)):
        with pytest.warns(ConvergenceWarning, match="out of time"):
            model.fit(X, y)
        assert model.certificate_.status is Status.OUT_OF_TIME and model.n_iter_ == 1
    KernelPerceptron("linear", max_epochs=3, verbose=True).fit(X, y)
    assert "KernelPerceptron  round 1" in capsys.readouterr().err


def test_ctrl_c_ends_with_what_there_is(monkeypatch):
    monkeypatch.setattr(kernel_values, "_BLOCK", 7)
    monkeypatch.setattr(kernel_values, "_CHEAP_BLOCK", 7)
    monkeypatch.setattr(kernel_values, "_HELD", 0)
    X, y = two_classes(60)
    calls = []

    def kernel(x, z):
        calls.append(1)
        if len(calls) == 3000:
            os.kill(os.getpid(), signal.SIGINT)
        return float(x @ z)

    model = KernelPerceptron(FromFunction(kernel))
    with pytest.raises(KeyboardInterrupt, match="KernelPerceptron keeps its best answer so far: some points are on"):
        model.fit(X, y)
    assert model.certificate_.status is Status.INTERRUPTED and model.mistakes_.any()

    def ring(self, number, step):
        if step.iteration == 5:
            signal.raise_signal(signal.SIGINT)

    hear(monkeypatch, ring)
    endless = Perceptron(max_epochs=10**9)
    with pytest.raises(KeyboardInterrupt, match="Perceptron keeps its best"):
        endless.fit(X, y)
    assert endless.certificate_.status is Status.INTERRUPTED and 5 <= endless.n_iter_ <= 6
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class _Told:
    """scikit-learn's callback, as far as it is asked."""

    def __init__(self):
        self.tasks = []

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **data):
        self.tasks.append(context.task_name)

    def on_fit_task_end(self, estimator, context, **data):
        return False

    def teardown(self, estimator, context):
        pass


@needs_callbacks
def test_callbacks_are_told():
    X, y = separable(40)
    for model in (Perceptron(), KernelPerceptron()):
        told = _Told()
        model.set_callbacks(told).fit(X, y)
        assert told.tasks.count("round") == model.n_iter_
        told = _Told()
        model.set_callbacks(told).fit(X, np.arange(len(y)) % 3)
        assert told.tasks.count("problem") == 3


def test_settings_that_make_no_sense():
    X, y = separable(40)
    for wrong, message in (
        ({"variant": "best"}, "variant must be 'plain' or 'averaged' or 'voted', not 'best'"),
        ({"budget": 0}, "budget must be a whole number, 1 or more, not 0"),
        ({"budget": 5, "variant": "voted"}, "takes no budget"),
        ({"budget": 5, "variant": "averaged"}, "takes no budget"),
        ({"max_epochs": 0}, "max_epochs must be a whole number, 1 or more, not 0"),
        ({"bias": 1}, "bias must be True or False"),
        ({"time_limit": -1}, "time_limit must be None or a number of seconds"),
    ):
        with pytest.raises(ValueError, match=message):
            KernelPerceptron(**wrong).fit(X, y)
    with pytest.raises(ValueError, match="eta must be a finite number greater than 0"):
        Perceptron(eta=0).fit(X, y)
    for model in (Perceptron(), KernelPerceptron()):
        with pytest.raises(ValueError, match="needs at least two classes"):
            model.fit(X, np.ones(len(y)))


def test_ugly_points_end():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    for X in (np.zeros((4, 2)), np.full((4, 2), 1e-150), np.full((4, 2), 1e150), np.ones((4, 1))):
        for model in (Perceptron(max_epochs=20), KernelPerceptron("linear", max_epochs=20)):
            certificate = model.fit(X, y).certificate_
            assert not certificate.converged and not certificate.lower > 0.0


def test_it_is_searched_and_kept():
    X, y = two_classes(80)
    search = GridSearchCV(KernelPerceptron(), {"kernel__gamma": [0.1, 1.0], "variant": VARIANTS}, cv=2).fit(X, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(again.decision_function(X), search.decision_function(X))


def separable_points():
    X = np.random.default_rng(1).normal(size=(40, 3))
    f = X @ [1.0, 2.0, -1.0]
    return X[abs(f) > 0.5], np.sign(f[abs(f) > 0.5])


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e160, 1e300])
def test_points_beyond_float64_are_refused_and_nothing_is_proved_of_them(scale):
    X, y = separable_points()
    with pytest.raises(ValueError, match="scale the data first"):
        Perceptron().fit(X * scale, y)
    with pytest.raises(ValueError, match="scale the data first"):
        Perceptron().fit(as_sparse(X * scale), y)
    assert Perceptron().fit(np.zeros((2, 1)), [0, 1]).certificate_.status is Status.INFEASIBLE


@pytest.mark.parametrize("scale", [1e-20, 1e-100])
def test_what_is_separated_is_not_proved_inseparable(scale):
    X, y = separable_points()
    machine = KernelPerceptron("linear", bias=True).fit(X * scale, y)
    assert (machine.score(X * scale, y) == 1.0) <= (machine.certificate_.proof is None)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160])
def test_values_that_underflow_prove_nothing(scale):
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [-2.0, 1.0]]) * scale, [1, 1, 0, 0]
    machine = KernelPerceptron("linear", max_epochs=20).fit(X, y)
    assert machine.certificate_.proof is None
    assert machine.certificate_.status is not Status.INFEASIBLE


@pytest.mark.parametrize("make", [lambda: Perceptron(max_epochs=20), lambda: KernelPerceptron("linear", max_epochs=20)])
def test_points_beside_which_others_vanish_prove_nothing(make):
    X, y = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1e-200]], [1, 0, 1]  # (1, 1) separates them
    certificate = make().fit(X, y).certificate_
    assert certificate.proof is None


def test_zeros_are_a_proof():
    X, y = [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]], [1, 1, 0]
    for machine in (Perceptron(max_epochs=50), KernelPerceptron("linear", max_epochs=50)):
        assert machine.fit(X, y).certificate_.status is Status.INFEASIBLE


@pytest.mark.parametrize("machine", [Perceptron(), KernelPerceptron("linear")], ids=repr)
def test_numbers_as_text_are_taken_by_fit_and_by_predict(machine):
    X, y = [["1", "2"], ["-1", "-2.5"]], ["a", "b"]
    assert machine.fit(X, y).predict(X).tolist() == y
    with pytest.raises(ValueError, match="could not convert"):
        machine.predict([["1", "two"]])

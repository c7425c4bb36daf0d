"""LinearSVC: agreement with scikit-learn and with SVC, several classes, and points that are not copied."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_matrix, csr_array, csr_matrix, random_array
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import mercer
from mercer import SVC, LinearSVC
from mercer.kernels import Linear
from mercer.losses import Hinge, SquaredHinge
from mercer.solution import Status
from mercer.solvers import CoordinateDescent

CANCER, CANCER_Y = load_breast_cancer(return_X_y=True)
SCALED = scale(CANCER)
DIGITS, DIGITS_Y = load_digits(return_X_y=True)
DIGITS = DIGITS / 16
FINE = {"tol": 1e-10}
LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}
every_loss = pytest.mark.parametrize("loss", LOSSES)


def theirs(C=1.0, **settings):
    return svm.LinearSVC(C=C, tol=1e-9, max_iter=1_000_000, random_state=0, dual=True, **settings)


class TestAgreesWithScikitLearn:
    @every_loss
    @pytest.mark.parametrize("C", [0.01, 1.0])
    def test_penalised_bias(self, loss, C):
        ours = LinearSVC(C, loss, "penalised", **FINE).fit(SCALED, CANCER_Y)
        other = theirs(C, loss=loss).fit(SCALED, CANCER_Y)
        assert_allclose(ours.coef_, other.coef_, atol=1e-4)
        assert_allclose(ours.intercept_, other.intercept_, atol=1e-4)
        assert ours.coef_.shape == (1, 30) and ours.intercept_.shape == (1,)
        assert ours.decision_function(SCALED).shape == (569,)

    @pytest.mark.parametrize("bias", [True, "penalised", False])
    def test_logistic_loss(self, bias):
        ours = LinearSVC(0.1, "logistic", bias, random_state=0, **FINE).fit(SCALED, CANCER_Y)
        solver = {"solver": "liblinear"} if bias == "penalised" else {"fit_intercept": bias}
        other = LogisticRegression(C=0.1, tol=1e-10, max_iter=100_000, **solver).fit(SCALED, CANCER_Y)
        assert_allclose(ours.coef_, other.coef_, atol=1e-4)
        assert_allclose(ours.intercept_, other.intercept_, atol=1e-4)
        assert ours.certificate_.relative_gap <= 1e-10
        chunk = LinearSVC(0.1, "logistic", bias).partial_fit(SCALED, CANCER_Y, classes=[0, 1])
        assert chunk.score(SCALED, CANCER_Y) > 0.9

    @every_loss
    def test_no_bias(self, loss):
        ours = LinearSVC(0.1, loss, False, **FINE).fit(SCALED, CANCER_Y)
        other = theirs(0.1, loss=loss, fit_intercept=False).fit(SCALED, CANCER_Y)
        assert_allclose(ours.coef_, other.coef_, atol=1e-4)
        assert_array_equal(ours.intercept_, [0.0])

    @every_loss
    def test_several_classes(self, loss):
        X, y = DIGITS[:500], DIGITS_Y[:500]
        ours = LinearSVC(0.1, loss, "penalised", **FINE).fit(X, y)
        other = theirs(0.1, loss=loss).fit(X, y)
        assert_allclose(ours.decision_function(X), other.decision_function(X), atol=1e-3)
        assert (ours.predict(X) == other.predict(X)).mean() > 0.99  # the rest are ties
        assert ours.coef_.shape == (10, 64) and ours.decision_function(X).shape == (500, 10)
        assert len(ours.solution_) == len(ours.certificates_) == 10
        assert "against the rest" in str(ours.certificate_)

    def test_weights(self):
        weight = np.random.default_rng(0).gamma(1.0, size=569)
        settings = {"class_weight": {0: 3.0, 1: 0.5}}
        ours = LinearSVC(0.1, bias="penalised", **FINE, **settings).fit(SCALED, CANCER_Y, weight)
        other = theirs(0.1, **settings).fit(SCALED, CANCER_Y, weight)
        assert_allclose(ours.coef_, other.coef_, atol=1e-4)
        balanced = LinearSVC(0.1, bias="penalised", class_weight="balanced", **FINE).fit(SCALED, CANCER_Y)
        assert_allclose(balanced.coef_, theirs(0.1, class_weight="balanced").fit(SCALED, CANCER_Y).coef_, atol=1e-4)


class TestAgreesWithSVC:
    def test_free_bias(self):
        ours = LinearSVC(0.5, "hinge", **FINE).fit(SCALED, CANCER_Y)
        other = SVC(Linear(), 0.5, **FINE).fit(SCALED, CANCER_Y)
        assert_allclose(ours.coef_, other.coef_, atol=1e-5)
        assert_allclose(ours.intercept_, other.intercept_, atol=1e-5)
        assert ours.certificate_.primal == pytest.approx(other.certificate_.primal)
        assert_array_equal(ours.support_, np.sort(other.support_))

    def test_weights_that_are_zero(self):
        weight = (np.arange(569) % 3 > 0).astype(float)
        ours = LinearSVC(**FINE).fit(SCALED, CANCER_Y, weight)
        part = LinearSVC(**FINE).fit(SCALED[weight > 0], CANCER_Y[weight > 0])
        assert_allclose(ours.coef_, part.coef_, atol=1e-8)
        assert ours.solution_.beta.size == 569 and not ours.solution_.beta[weight == 0].any()


@every_loss
@pytest.mark.parametrize("bias", [True, "penalised", False])
def test_the_certificate_is_true(loss, bias):
    machine = LinearSVC(2.0, loss, bias).fit(SCALED, CANCER_Y)
    certificate = machine.certificate_
    y = np.where(CANCER_Y == 1, 1.0, -1.0)
    f = SCALED @ machine.coef_[0] + machine.intercept_[0]
    penalty = machine.intercept_[0] ** 2 if bias == "penalised" else 0.0
    primal = 0.5 * (np.sum(machine.coef_**2) + penalty) + 2.0 * LOSSES[loss].value(y, f).sum()
    assert primal == pytest.approx(certificate.primal, rel=1e-9)
    assert certificate.relative_gap <= 1e-4
    best = LinearSVC(2.0, loss, bias, **FINE).fit(SCALED, CANCER_Y).certificate_
    assert certificate.dual <= best.primal * (1 + 1e-12)
    judged = mercer.certify(machine, SCALED, CANCER_Y)
    assert judged.primal == pytest.approx(certificate.primal)
    assert judged.dual <= best.primal * (1 + 1e-12)
    assert judged.relative_gap < 0.1


@pytest.mark.parametrize("bias", [True, "penalised", False])
def test_every_form_of_points_gives_the_same(bias, tmp_path):
    X = np.where(np.abs(SCALED) > 0.8, SCALED, 0.0)
    best = LinearSVC(bias=bias, **FINE).fit(X, CANCER_Y)
    np.save(tmp_path / "points.npy", X)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(30)])
    for other in (mapped, csr_matrix(X), csr_array(X), csc_matrix(X), np.asfortranarray(X), frame, X.tolist()):
        machine = LinearSVC(bias=bias, **FINE).fit(other, CANCER_Y)
        assert_allclose(machine.coef_, best.coef_, atol=1e-7)
        assert_allclose(machine.decision_function(other), best.decision_function(X), atol=1e-6)
    assert list(LinearSVC().fit(frame, CANCER_Y).feature_names_in_) == list(frame.columns)
    single = LinearSVC(bias=bias, **FINE).fit(X.astype(np.float32), CANCER_Y)
    assert_allclose(single.coef_, best.coef_, atol=1e-4)


@pytest.mark.parametrize("bias", [True, "penalised"])
def test_points_are_not_copied(bias, tmp_path):
    generator = np.random.default_rng(0)
    np.save(tmp_path / "points.npy", generator.normal(size=(20_000, 100)).astype(np.float32))
    X = np.load(tmp_path / "points.npy", mmap_mode="r")
    y = X[:, 0] + generator.normal(size=20_000) > 0
    machine = LinearSVC(0.01, bias=bias)
    machine.fit(X, y)  # what is loaded when it is first needed is there then
    tracemalloc.start()
    machine.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    per_point = peak / 20_000
    assert per_point < 400  # bytes: as much as the points themselves, and far from 8 n
    assert machine.certificate_.converged


def test_many_sparse_features():
    generator = np.random.default_rng(0)
    X = random_array((3000, 20_000), density=0.002, random_state=generator, format="csr")
    y = np.asarray(X @ generator.normal(size=20_000)) > 0
    for loss in LOSSES:
        machine = LinearSVC(1.0, loss, tol=1e-6).fit(X, y)
        assert machine.certificate_.converged
        assert machine.score(X, y) > 0.95


def test_pipelines_grids_and_copies():
    grid = GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [0.01, 1.0]}, cv=3)
    assert grid.fit(CANCER, CANCER_Y).best_score_ > 0.95
    machine = LinearSVC(solver="coordinate_descent(newton=false)", max_iter=5000)
    machine.set_params(solver__newton=True)
    assert machine.solver == CoordinateDescent(True)
    machine.fit(SCALED, CANCER_Y)
    again = pickle.loads(pickle.dumps(machine))
    assert_array_equal(again.decision_function(SCALED), machine.decision_function(SCALED))
    assert clone(machine).get_params() == machine.get_params()


def test_seeds():
    few = {"tol": 1e-15, "max_iter": 3, "solver": "coordinate_descent(newton=false)"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [
            LinearSVC(random_state=seed, **few).fit(SCALED, CANCER_Y).coef_
            for seed in (None, None, 1, 1, np.random.RandomState(3), np.random.RandomState(3))
        ]
    for one, other in ((0, 1), (2, 3), (4, 5)):
        assert_array_equal(fits[one], fits[other])
    assert not np.array_equal(fits[0], fits[2])


def test_labels_of_any_kind():
    names = np.array(["malignant", "benign"])[CANCER_Y]
    machine = LinearSVC(0.1).fit(SCALED, names)
    assert list(machine.classes_) == ["benign", "malignant"]
    assert (machine.predict(SCALED) == names).mean() > 0.95


def test_limits_are_kept_and_said():
    with pytest.warns(ConvergenceWarning, match="out of iterations"):
        machine = LinearSVC(tol=1e-12, max_iter=2).fit(DIGITS, DIGITS_Y)
    assert machine.certificate_.status is Status.OUT_OF_ITERATIONS
    with pytest.warns(ConvergenceWarning, match="out of time"):
        machine = LinearSVC(tol=1e-12, time_limit=1e-9).fit(DIGITS, DIGITS_Y)
    assert machine.predict(DIGITS).shape == (1797,)


def test_progress(capsys):
    LinearSVC(verbose=True).fit(SCALED, CANCER_Y)
    assert "relative gap" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0.0}, "C must be a finite number greater than 0"),
        ({"C": float("inf")}, "C must be a finite number greater than 0"),
        ({"loss": "log"}, "loss must be 'hinge' or 'squared_hinge' or 'logistic', not 'log'"),
        ({"bias": "free"}, "bias must be True or 'penalised' or False, not 'free'"),
        ({"solver": "simplex"}, "simplex"),
        ({"tol": 0}, "tol"),
        ({"class_weight": {0: -1.0}}, "class weights must be finite and greater than 0"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        LinearSVC(**settings).fit(SCALED, CANCER_Y)


def test_one_class_is_an_error():
    with pytest.raises(ValueError, match="only one class: 1"):
        LinearSVC().fit(SCALED, np.ones(569, int))


@pytest.mark.parametrize("bias", [True, "penalised", False])
@every_loss
def test_raw_features_and_large_weights(loss, bias):
    X, y = make_classification(300, 6, random_state=0)
    X = X * 10.0 ** np.arange(-3, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for C in (1e-8, 1.0, 1e6):
            machine = LinearSVC(C, loss, bias, time_limit=5.0).fit(X, y)
            assert machine.certificate_.primal <= C * 300 * (1 + 1e-9)


def test_model_files(tmp_path):
    for X, y in ((SCALED, CANCER_Y), (DIGITS, DIGITS_Y)):
        machine = LinearSVC(bias="penalised").fit(X, y)
        mercer.save(machine, tmp_path / "machine.mercer")
        again = mercer.load(tmp_path / "machine.mercer")
        assert_array_equal(again.decision_function(X), machine.decision_function(X))
        assert again.certificate_.relative_gap == machine.certificate_.relative_gap


class TestPartialFit:
    @every_loss
    @pytest.mark.parametrize("bias", [True, "penalised", False])
    @pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
    def test_chunks(self, loss, bias, form):
        machine = LinearSVC(0.01, loss, bias)
        for start in range(0, 569, 100):
            part = slice(start, start + 100)
            machine.partial_fit(form(SCALED[part]), CANCER_Y[part], classes=[0, 1])
        assert machine.score(form(SCALED), CANCER_Y) > 0.93
        assert machine.n_iter_ == 6 and machine.coef_.shape == (1, 30)
        assert not hasattr(machine, "certificate_")

    def test_several_classes_and_weights(self):
        machine = LinearSVC(0.1, class_weight={3: 2.0})
        for start in range(0, 1797, 300):
            part = slice(start, start + 300)
            weight = np.arange(start, min(start + 300, 1797)) % 5 > 0
            machine.partial_fit(DIGITS[part], DIGITS_Y[part], np.arange(10), weight.astype(float))
        assert machine.score(DIGITS, DIGITS_Y) > 0.85
        assert machine.coef_.shape == (10, 64) and machine.decision_function(DIGITS).shape == (1797, 10)

    def test_one_chunk_is_one_pass(self):
        machine = LinearSVC(0.1, "hinge", "penalised").partial_fit(SCALED, CANCER_Y, [0, 1])
        with pytest.raises(ValueError, match="LinearSVC learned by partial_fit from points that it did not keep"):
            mercer.certify(machine, SCALED, CANCER_Y)
        best = LinearSVC(0.1, "hinge", "penalised", **FINE).fit(SCALED, CANCER_Y).certificate_
        y = np.where(CANCER_Y == 1, 1.0, -1.0)
        w, b = machine.coef_[0], machine.intercept_[0]
        value = 0.5 * (w @ w + b * b) + 0.1 * np.maximum(0.0, 1 - y * (SCALED @ w + b)).sum()
        assert best.primal <= value <= 1.5 * best.primal

    def test_it_goes_on_from_a_fit(self):
        machine = LinearSVC(0.1).fit(SCALED[:300], CANCER_Y[:300])
        machine.partial_fit(SCALED[300:], CANCER_Y[300:])
        assert machine.score(SCALED, CANCER_Y) > 0.95
        assert not hasattr(machine, "solution_")
        assert machine.fit(SCALED, CANCER_Y).certificate_.converged

    @pytest.mark.parametrize(
        ("settings", "classes", "message"),
        [
            ({}, None, "classes must be passed on the first call"),
            ({}, [1, 2], "y holds 0, which is none of the classes"),
            ({"solver": "coordinate_descent"}, [0, 1], "partial_fit learns by StochasticSubgradient"),
            ({"class_weight": "balanced"}, [0, 1], "cannot be balanced"),
        ],
        ids=range(4),
    )
    def test_what_it_refuses(self, settings, classes, message):
        with pytest.raises(ValueError, match=message):
            LinearSVC(**settings).partial_fit(SCALED, CANCER_Y, classes)

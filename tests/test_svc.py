"""Support vector classification: known answers, agreement with scikit-learn, and all that may be asked of a fit."""

from __future__ import annotations

import pickle
import signal
import threading
import tracemalloc
import warnings

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from mercer import SVC
from mercer.estimators import IndefiniteKernelWarning, ScaleWarning
from mercer.kernels import Chi2, FromFunction, Gaussian, Linear, Polynomial, Precomputed
from mercer.progress import Watch
from mercer.solution import Solution, Status, Step
from mercer.solvers import Decomposition

from .heard import hear
from .zoo import common_letters, needs_callbacks, words

CANCER, CANCER_Y = load_breast_cancer(return_X_y=True)
SCALED = scale(CANCER)
DIGITS, DIGITS_Y = load_digits(return_X_y=True)
BLOBS, BLOBS_Y = make_blobs(150, centers=4, cluster_std=2.5, random_state=3)
CROSS = np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]])
CROSS_Y = np.array([1, 1, -1, -1])


class TestKnownAnswers:
    def test_three_points(self):
        X, y = [[1.0, 3], [2, 1], [0, 1]], [1, 1, -1]
        for C in (float("inf"), 100.0):
            machine = SVC(Linear(), C=C, tol=1e-10).fit(X, y)
            assert_allclose(machine.coef_, [[1, 0.5]], atol=1e-8)
            assert_allclose(machine.intercept_, [-1.5], atol=1e-8)
            assert_allclose(machine.dual_coef_[0], [-0.625, 0.25, 0.375], atol=1e-8)
            assert_array_equal(machine.support_, [2, 0, 1])
            assert_allclose(machine.certificate_.primal, 0.625)

    def test_exclusive_or(self):
        machine = SVC(Polynomial(), C=float("inf"), tol=1e-10).fit(CROSS, CROSS_Y)
        assert_allclose(machine.decision_function(CROSS), CROSS_Y, atol=1e-8)
        assert machine.certificate_.converged

    def test_inseparable(self):
        machine = SVC(Linear(), C=float("inf")).fit(CROSS, CROSS_Y)
        assert machine.certificate_.status is Status.INFEASIBLE
        proof = machine.certificate_.proof
        for label in (1, -1):
            assert_allclose(proof.weights[label == CROSS_Y].sum(), 1)
        assert proof.distance <= proof.bound
        assert "cannot be separated" in str(machine.certificate_)
        for method in (machine.predict, machine.decision_function, machine.contributions):
            with pytest.raises(NotFittedError, match="choose a finite C"):
                method(CROSS)

    def test_inseparable_pair_of_several(self):
        X, y = np.vstack([CROSS, [[9.0, 9], [9, 8]]]), [1, 1, 2, 2, 3, 3]
        machine = SVC(Linear(), C=float("inf")).fit(X, y)
        assert machine.certificate_.status is Status.INFEASIBLE
        assert [c.status for c in machine.certificates_[1:]] == [Status.CONVERGED] * 2
        with pytest.raises(NotFittedError, match="has no answer"):
            machine.predict(X)


class TestAgreesWithScikitLearn:
    @pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
    def test_two_classes(self, C):
        ours, theirs = SVC(C=C, tol=1e-9).fit(SCALED, CANCER_Y), svm.SVC(C=C, tol=1e-8).fit(SCALED, CANCER_Y)
        assert_allclose(ours.decision_function(SCALED), theirs.decision_function(SCALED), atol=1e-4)
        assert_array_equal(ours.predict(SCALED), theirs.predict(SCALED))
        assert_array_equal(ours.n_support_, theirs.n_support_)
        assert_array_equal(ours.support_, theirs.support_)
        assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
        assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-3 * C)
        assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
        assert ours.decision_function(SCALED).dtype == np.float64
        assert_allclose(ours.pairwise_decision_function(SCALED)[:, 0], -ours.decision_function(SCALED))

    @pytest.mark.digits
    def test_ten_classes(self):
        ours = SVC(tol=1e-9).fit(DIGITS, DIGITS_Y)
        theirs = svm.SVC(tol=1e-8, break_ties=True).fit(DIGITS, DIGITS_Y)
        assert_allclose(ours.decision_function(DIGITS), theirs.decision_function(DIGITS), atol=1e-4)
        assert_array_equal(ours.predict(DIGITS), theirs.predict(DIGITS))
        assert_array_equal(ours.support_, theirs.support_)
        assert_array_equal(ours.n_support_, theirs.n_support_)
        assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
        assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
        theirs.set_params(decision_function_shape="ovo")
        assert_allclose(ours.pairwise_decision_function(DIGITS), theirs.decision_function(DIGITS), atol=1e-4)
        assert len(ours.certificates_) == len(ours.solution_) == 45
        assert ours.certificate_.relative_gap == max(c.relative_gap for c in ours.certificates_)
        assert "the worst of 45 problems, 0 against 1: converged" in str(ours.certificate_)  # all within tol: the first
        assert "the worst of 45 problems" in ours.certificate_._repr_html_()
        assert isinstance(ours.n_iter_, int) and ours.n_iter_ >= 1

    def test_linear_pairs(self):
        ours, theirs = (
            SVC("linear", tol=1e-10).fit(BLOBS, BLOBS_Y),
            svm.SVC(kernel="linear", tol=1e-9).fit(BLOBS, BLOBS_Y),
        )
        assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        assert_allclose(ours.decision_function(BLOBS), theirs.decision_function(BLOBS), atol=1e-4)

    @pytest.mark.parametrize("seed", range(6))
    def test_weights(self, seed):
        generator = np.random.default_rng(seed)
        X, y = make_classification(80, 5, n_informative=4, n_redundant=0, n_classes=2 + seed % 2, random_state=seed)
        weight = generator.gamma(1.0, size=80) * (generator.random(80) < 0.8)
        settings = {"C": 3.0, "class_weight": {0: 2.0, 1: 0.5}}
        gamma = 0.3
        ours = SVC(Gaussian(gamma), tol=1e-10, **settings).fit(X, y, sample_weight=weight)
        theirs = svm.SVC(gamma=gamma, tol=1e-9, **settings).fit(X, y, sample_weight=weight)
        assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
        assert not np.isin(np.flatnonzero(weight == 0), ours.support_).any()
        if y.max() == 1:
            assert ours.solution_.beta.shape == ours.certificate_.residuals.shape == (80,)

    def test_one_against_the_rest(self):
        machine = SVC(multiclass="ovr", tol=1e-9).fit(BLOBS, BLOBS_Y)
        gamma = machine.kernel_.gamma
        for label in machine.classes_:
            one = svm.SVC(gamma=gamma, tol=1e-8).fit(BLOBS, BLOBS_Y == label)
            assert_allclose(machine.decision_function(BLOBS)[:, label], one.decision_function(BLOBS), atol=1e-4)
        assert machine.dual_coef_.shape == (4, machine.support_.size)
        with pytest.raises(ValueError, match="no pairs"):
            machine.pairwise_decision_function(BLOBS)

    def test_many_points_in_single_precision(self):
        X, y = make_classification(2500, 10, random_state=0)
        theirs = svm.SVC(tol=1e-8).fit(X, y).decision_function(X)
        assert_allclose(SVC(tol=1e-8).fit(X, y).decision_function(X), theirs, atol=1e-4)
        single = SVC(tol=1e-6).fit(X.astype(np.float32), y)
        assert_allclose(single.decision_function(X), theirs, atol=1e-2)
        for scale_ in (1e120, 1e-120):  # too large and too small for single precision
            assert SVC().fit(X * scale_, y).score(X * scale_, y) > 0.9

    def test_balanced(self):
        y = BLOBS_Y == 0
        ours = SVC(Gaussian(0.1), class_weight="balanced", tol=1e-10).fit(BLOBS, y)
        theirs = svm.SVC(gamma=0.1, class_weight="balanced", tol=1e-9).fit(BLOBS, y)
        assert_allclose(ours.decision_function(BLOBS), theirs.decision_function(BLOBS), atol=1e-4)

    def test_balanced_weights_are_repetitions(self):
        """Classes are balanced by the weights of their points, as by scikit-learn's LinearSVC, though not its SVC."""
        times = np.random.default_rng(0).integers(0, 4, BLOBS_Y.size)
        fine = SVC(Gaussian(0.1), class_weight="balanced", tol=1e-10)
        weighted = clone(fine).fit(BLOBS, BLOBS_Y, sample_weight=times)
        repeated = clone(fine).fit(np.repeat(BLOBS, times, axis=0), np.repeat(BLOBS_Y, times))
        assert_allclose(weighted.decision_function(BLOBS), repeated.decision_function(BLOBS), atol=1e-6)


class TestBias:
    def test_no_bias_is_the_problem_without_b(self):
        machine = SVC(bias=False, tol=1e-10).fit(SCALED, CANCER_Y)
        assert machine.intercept_ == 0
        assert machine.certificate_.converged
        assert SVC(bias=True, tol=1e-10).fit(SCALED, CANCER_Y).certificate_.primal < machine.certificate_.primal

    def test_no_bias_goes_through_the_origin(self):
        machine = SVC(Linear(), bias=False, C=float("inf"), tol=1e-10).fit([[2.0, 0], [4, 0], [0, 2]], [1, 1, 0])
        assert_allclose(machine.decision_function([[0.0, 0]]), 0)
        assert_allclose(machine.decision_function([[2.0, 0], [0, 2]]), [1, -1], atol=1e-8)


class TestInputs:
    def test_labels_of_any_kind(self):
        names = np.array(["cherry", "apple", "pear", "fig"])[BLOBS_Y]
        machine = SVC().fit(BLOBS, names)
        assert machine.score(BLOBS, names) > 0.6
        assert_array_equal(machine.classes_, ["apple", "cherry", "fig", "pear"])
        assert "'apple' against" in str(machine.certificate_) or "against" in machine.certificate_.name
        assert set(SVC().fit(SCALED, CANCER_Y.astype(bool)).predict(SCALED)) == {True, False}

    def test_text_for_kernel_and_solver(self):
        machine = SVC("2*rbf(gamma=0.5) + linear", solver="decomposition(working_set=64)").fit(BLOBS, BLOBS_Y)
        assert machine.kernel_ == 2 * Gaussian(0.5) + Linear()
        assert machine.solution_[0].solver == Decomposition(64)
        assert machine.get_params()["kernel"] == "2*rbf(gamma=0.5) + linear"

    @pytest.mark.parametrize("form", [csr_matrix, csr_array])
    @pytest.mark.parametrize("index", [np.int32, np.int64])
    def test_sparse(self, form, index):
        X = np.where(SCALED > 0.5, SCALED, 0.0)
        sparse = form(X)
        sparse.indices, sparse.indptr = sparse.indices.astype(index), sparse.indptr.astype(index)
        for kernel in (Gaussian(), Linear()):
            ours, dense = SVC(kernel, tol=1e-8).fit(sparse, CANCER_Y), SVC(kernel, tol=1e-8).fit(X, CANCER_Y)
            assert_allclose(ours.decision_function(sparse), dense.decision_function(X), rtol=1e-5, atol=1e-5)
            assert_allclose(ours.decision_function(X), dense.decision_function(sparse), atol=1e-5)
        assert ours.coef_.shape == (1, 30)
        assert_array_equal(
            SVC().fit(form(BLOBS), BLOBS_Y).predict(form(BLOBS)), SVC().fit(BLOBS, BLOBS_Y).predict(BLOBS)
        )

    def test_data_frame(self):
        frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
        machine = make_pipeline(StandardScaler(), SVC()).fit(frame, y)
        assert machine.score(frame, y) > 0.97
        with pytest.warns(ScaleWarning, match="of 'worst area' is 568.9"):
            direct = SVC().fit(frame, y)
        assert_array_equal(direct.feature_names_in_, frame.columns)
        assert direct.n_features_in_ == 30
        with pytest.raises(ValueError, match="feature names"):
            direct.predict(frame[frame.columns[::-1]])
        assert isinstance(pandas.Series(direct.predict(frame)), pandas.Series)

    def test_given_values(self):
        K = rbf_kernel(BLOBS, gamma=0.1)
        machine = SVC(Precomputed(), tol=1e-9).fit(K, BLOBS_Y)
        expected = SVC(Gaussian(0.1), tol=1e-9).fit(BLOBS, BLOBS_Y)
        assert_allclose(machine.decision_function(K[:7]), expected.decision_function(BLOBS[:7]), atol=1e-5)
        assert machine.certificate_.converged
        assert_allclose(machine.contributions(K[:7]).values, expected.contributions(BLOBS[:7]).values, atol=1e-4)
        weight = np.arange(150) % 3
        weighted = SVC("precomputed", tol=1e-9).fit(K, BLOBS_Y, sample_weight=weight)
        plain = SVC(Gaussian(0.1), tol=1e-9).fit(BLOBS, BLOBS_Y, sample_weight=weight)
        assert_allclose(weighted.decision_function(K), plain.decision_function(BLOBS), atol=1e-5)
        assert cross_val_score(SVC(Precomputed()), K, BLOBS_Y, cv=3).min() > 0.5
        with pytest.raises(ValueError, match="one column per training point"):
            SVC(Precomputed()).fit(K[:, :9], BLOBS_Y)

    def test_objects(self):
        X = words(60)
        y = ["many" if word.count("a") > 1 else "few" for word in X]
        machine = SVC(FromFunction(common_letters), C=10.0).fit(X, y)
        assert machine.score(X, y) > 0.9
        assert machine.support_vectors_ == [X[i] for i in machine.support_]
        assert machine.predict(["aaa", "b"]).tolist() == ["many", "few"]
        assert machine.contributions(["aab"], top=2).indices.shape == (1, 2)

    def test_one_class_only(self):
        with pytest.raises(ValueError, match="only one class: 1"):
            SVC().fit([[0.0], [1.0]], [1, 1])
        with pytest.raises(ValueError, match="only one class: 0"):
            SVC().fit([[0.0], [1.0]], [0, 1], sample_weight=[1, 0])

    def test_a_class_without_weight_is_left_out(self):
        weight = (BLOBS_Y != 2).astype(float)
        machine = SVC().fit(BLOBS, BLOBS_Y, sample_weight=weight)
        assert_array_equal(machine.classes_, [0, 1, 3])
        kept = BLOBS_Y != 2
        assert_array_equal(machine.predict(BLOBS), SVC().fit(BLOBS[kept], BLOBS_Y[kept]).predict(BLOBS))

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"C": 0}, "C must be a finite number greater than 0, or infinite"),
            ({"C": -1.0}, "not -1.0"),
            ({"C": "1"}, "not '1'"),
            ({"C": float("nan")}, "not nan"),
            ({"tol": 0.0}, "tol must be a finite number greater than 0"),
            ({"max_iter": 0}, "max_iter must be None or a whole number"),
            ({"time_limit": -1}, "time_limit must be None or a number of seconds"),
            ({"multiclass": "crammer"}, "multiclass must be 'ovo' or 'ovr', not 'crammer'"),
            ({"bias": "penalised"}, "bias must be True or False"),
            ({"class_weight": {0: -1.0}}, "class weights must be finite and greater than 0"),
            ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dictionary .*, not 'even'"),
            ({"class_weight": [1.0, 2.0]}, r"not \[1.0, 2.0\]"),
            ({"kernel": "rfb"}, "rfb"),
            ({"solver": "nothing"}, "nothing"),
            ({"memory": "lots"}, "not an amount of memory"),
        ],
    )
    def test_settings(self, settings, message):
        with pytest.raises(ValueError, match=message):
            SVC(**settings).fit(BLOBS, BLOBS_Y)

    def test_settings_of_numpy_are_numbers(self):
        assert (
            SVC(C=np.float32(2), tol=np.float64(1e-3), max_iter=np.int64(1000))
            .fit(BLOBS, BLOBS_Y)
            .score(BLOBS, BLOBS_Y)
        )

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_not_finite(self, value):
        X = BLOBS.copy()
        X[3, 1] = value
        with pytest.raises(ValueError, match="NaN|infinity"):
            SVC().fit(X, BLOBS_Y)
        with pytest.raises(ValueError, match="NaN|infinity"):
            SVC().fit(BLOBS, BLOBS_Y).predict(X)

    def test_other_ugly_inputs(self):
        with pytest.raises(ValueError, match=">= 0"):
            SVC().fit(BLOBS, BLOBS_Y, sample_weight=-np.ones(150))
        with pytest.raises(ValueError, match="150 finite numbers"):
            SVC().fit(BLOBS, BLOBS_Y, sample_weight=np.ones(3))
        with pytest.raises(ValueError, match="weights are zero"):
            SVC().fit(BLOBS, BLOBS_Y, sample_weight=np.zeros(150))
        with pytest.raises(ValueError, match="inconsistent"):
            SVC().fit(BLOBS, BLOBS_Y[:9])
        with pytest.raises(ValueError, match="Chi2|negative|>= 0"):
            SVC(Chi2()).fit(BLOBS, BLOBS_Y)
        with pytest.raises(ValueError, match="y"):
            SVC(FromFunction(common_letters)).fit(["a", "b"], None)
        with pytest.raises(NotFittedError):
            SVC().predict(BLOBS)
        for X in (np.zeros((6, 2)), np.ones((6, 1)), np.full((6, 2), 1e-160), np.eye(6) * 1e120):
            assert SVC().fit(X, [0, 1] * 3).predict(X).shape == (6,)
        assert SVC().fit([[0.0], [1.0]], [0, 1]).predict([[0.0], [1.0]]).tolist() == [0, 1]
        assert SVC().fit(np.repeat(BLOBS, 3, axis=0), np.repeat(BLOBS_Y, 3)).score(BLOBS, BLOBS_Y) > 0.6


class TestTheAnswer:
    def test_linear_weights(self):
        assert not hasattr(SVC().fit(BLOBS, BLOBS_Y), "coef_")
        with pytest.raises(AttributeError, match="linear kernel only"):
            SVC().fit(BLOBS, BLOBS_Y).coef_

    def test_contributions_of_two_classes(self):
        machine = SVC().fit(SCALED, CANCER_Y)
        everything = machine.contributions(SCALED[:40], top=10_000)
        assert everything.values.shape == (40, machine.support_.size)
        assert_allclose(everything.values.sum(axis=1) + machine.intercept_, machine.decision_function(SCALED[:40]))
        best = machine.contributions(SCALED[:40])
        assert best.indices.shape == best.values.shape == (40, 5)
        assert_array_equal(best.values, everything.values[:, :5])
        assert (np.diff(np.abs(best.values)) <= 0).all()
        beta = machine.solution_.beta[best.indices[0]]
        assert_allclose(best.values[0], beta * machine.kernel_(SCALED[:1], SCALED[best.indices[0]])[0])
        with pytest.raises(ValueError, match="top"):
            machine.contributions(SCALED, top=0)

    @pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
    def test_contributions_of_several_classes(self, multiclass):
        machine = SVC(multiclass=multiclass).fit(BLOBS, BLOBS_Y)
        found = machine.contributions(BLOBS, top=1000)
        winners = machine.predict(BLOBS)
        if multiclass == "ovr":
            expected = machine.decision_function(BLOBS)[np.arange(150), winners] - machine.intercept_[winners]
            assert_allclose(found.values.sum(axis=1), expected)
            return
        pairwise, number = machine.pairwise_decision_function(BLOBS) - machine.intercept_, 0
        expected = np.zeros(150)
        for i in range(4):
            for j in range(i + 1, 4):
                expected += pairwise[:, number] * (1.0 * (winners == i) - 1.0 * (winners == j))
                number += 1
        assert_allclose(found.values.sum(axis=1), expected)

    def test_copies(self):
        for y in (CANCER_Y, np.arange(569) % 3):
            machine = SVC(Gaussian(0.1)).fit(SCALED, y)
            other = pickle.loads(pickle.dumps(machine))
            assert_array_equal(other.decision_function(SCALED), machine.decision_function(SCALED))
            assert str(other.certificate_) == str(machine.certificate_)
            assert clone(machine).get_params() == machine.get_params()

    def test_grid_search(self):
        grid = {"kernel__gamma": [0.01, 0.1], "C": [0.1, 1.0]}
        for kernel in (Gaussian(), "rbf"):
            search = GridSearchCV(SVC(kernel), grid, cv=3).fit(SCALED, CANCER_Y)
            assert search.best_score_ > 0.95
            assert search.best_estimator_.kernel_.gamma in (0.01, 0.1)
        theirs = GridSearchCV(svm.SVC(), {"gamma": [0.01, 0.1], "C": [0.1, 1.0]}, cv=3).fit(SCALED, CANCER_Y)
        assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=0.01)
        pipeline = make_pipeline(StandardScaler(), SVC())
        assert (
            GridSearchCV(pipeline, {"svc__kernel__gamma": [0.01, 0.1]}, cv=3).fit(CANCER, CANCER_Y).best_score_ > 0.95
        )

    def test_parameters(self):
        machine = SVC(Gaussian() + Linear()).set_params(kernel__left__gamma=2.0, C=3)
        assert machine.kernel == Gaussian(2.0) + Linear() and machine.C == 3
        assert SVC("rbf + linear").set_params(kernel__left__gamma=2.0).kernel == Gaussian(2.0) + Linear()
        with pytest.raises(ValueError, match="no parameter 'gama'"):
            SVC().set_params(kernel__gama=1.0)


class TestLimits:
    def test_out_of_iterations(self):
        X, y = make_classification(300, 5, flip_y=0.3, random_state=0)
        with pytest.warns(ConvergenceWarning, match="out of iterations.*relative gap is .*1.0e-10 was asked for"):
            machine = SVC(Gaussian(1.0), C=1e4, solver=Decomposition(16), tol=1e-10, max_iter=1).fit(X, y)
        assert machine.certificate_.status is Status.OUT_OF_ITERATIONS
        assert np.isfinite(machine.decision_function(X)).all()
        assert machine.n_iter_ == 1

    def test_out_of_time_covers_all_problems(self):
        with pytest.warns(ConvergenceWarning, match="of 45 problems.*out of time"):
            machine = SVC(time_limit=1e-6).fit(DIGITS, DIGITS_Y)
        assert {c.status for c in machine.certificates_[1:]} == {Status.OUT_OF_TIME}
        assert machine.predict(DIGITS).shape == DIGITS_Y.shape
        assert all(np.isfinite(c.gap) for c in machine.certificates_)

    @pytest.mark.parametrize("C", [1, 100])
    def test_unscaled_data_ends_honestly(self, C):
        machine = SVC(Linear(), C=C, time_limit=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(CANCER, CANCER_Y)
        certificate = machine.certificate_
        assert certificate.converged == (certificate.relative_gap <= machine.tol)
        assert certificate.dual <= certificate.primal
        assert machine.score(CANCER, CANCER_Y) > 0.5

    def test_memory_too_small(self):
        with pytest.raises(ValueError, match="memory budget of 2 kB is too small"):
            SVC(memory="2kB").fit(SCALED, CANCER_Y)

    @pytest.mark.parametrize("classes", [2, 10])
    def test_the_least_memory_is_enough(self, classes):
        X, y = DIGITS, DIGITS_Y % classes
        with pytest.raises(ValueError, match="at least") as refused:
            SVC(memory="2kB").fit(X, y)
        least = str(refused.value).split("at least ")[1].split(" is needed")[0]
        with pytest.warns(ConvergenceWarning, match="out of iterations"):
            SVC(memory=least, max_iter=1, tol=1e-12).fit(X, y)

    def test_little_memory(self):
        X, y = make_classification(1600, 5, n_classes=3, n_informative=4, n_redundant=0, random_state=0)
        ours, theirs = SVC(memory="12MB").fit(X, y), SVC().fit(X, y)
        assert_allclose(ours.pairwise_decision_function(X), theirs.pairwise_decision_function(X), atol=0.05)

    def test_interrupted(self, monkeypatch):
        rung = []

        def ring(self, number, step):
            if not rung and threading.current_thread() is threading.main_thread():
                rung.append(number)
                signal.raise_signal(signal.SIGINT)

        hear(monkeypatch, ring)
        machine = SVC()
        with pytest.raises(KeyboardInterrupt, match="SVC keeps its best answer so far"):
            machine.fit(DIGITS, DIGITS_Y)
        statuses = [c.status for c in machine.certificates_]
        assert Status.INTERRUPTED in statuses
        assert set(statuses) <= {Status.CONVERGED, Status.INTERRUPTED}  # another thread may solve some meanwhile
        assert machine.predict(DIGITS).shape == DIGITS_Y.shape


def minus_distance(x: float, z: float) -> float:
    return -abs(x[0] - z[0])


class TestIndefinite:
    def test_a_warning_with_the_figure(self):
        X = np.linspace(0, 1, 30).reshape(-1, 1)
        y = (X[:, 0] > 0.4).astype(int)
        with pytest.warns(IndefiniteKernelWarning, match="least eigenvalue on 30 of the points is -"):
            machine = SVC(FromFunction(minus_distance)).fit(X, y)
        assert machine.certificate_.status is Status.INDEFINITE
        assert machine.predict(X).shape == (30,)

    def test_not_symmetric(self):
        K = rbf_kernel(BLOBS)
        K[3, 5] += 0.5
        with pytest.warns(IndefiniteKernelWarning, match="not symmetric.*0.5"):
            SVC(Precomputed()).fit(K, BLOBS_Y)

    @pytest.mark.parametrize("classes", [2, 3])
    def test_what_is_certified_of_such_a_matrix_is_what_is_predicted(self, classes):
        generator = np.random.default_rng(0)
        X = generator.normal(size=(60, 3))
        K, y = rbf_kernel(X) + 0.1 * generator.normal(size=(60, 60)), np.digitize(X[:, 0], [0.0, 0.7][: classes - 1])
        with pytest.warns(IndefiniteKernelWarning):
            machine = SVC(Precomputed()).fit(K, y)
        scores = machine.decision_function(K)[:, None] if classes == 2 else machine.pairwise_decision_function(K)
        for number, (i, j) in enumerate([(1, 0)] if classes == 2 else [(0, 1), (0, 2), (1, 2)]):
            rows = np.flatnonzero((y == i) | (y == j))
            if classes == 3:
                rows = np.concatenate([np.flatnonzero(y == i), np.flatnonzero(y == j)])
            solution = machine.solution_ if classes == 2 else machine.solution_[number]
            square = solution.beta @ K[np.ix_(rows, rows)] @ solution.beta
            losses = np.maximum(0.0, 1.0 - np.where(y[rows] == i, 1.0, -1.0) * scores[rows, number])
            assert machine.certificates_[number].primal == pytest.approx(0.5 * square + losses.sum(), rel=1e-9)

    def test_rounding_is_no_reason(self):
        K = rbf_kernel(BLOBS.astype(np.float32)).astype(np.float64)
        assert SVC(Precomputed()).fit(K, BLOBS_Y).certificate_.converged


class TestProgress:
    def test_lines(self, capfd):
        SVC(verbose=True).fit(SCALED, CANCER_Y)
        SVC(verbose=True).fit(BLOBS, BLOBS_Y)
        out, err = capfd.readouterr()
        assert out == ""
        assert "SVC  round 1  primal" in err and "support vectors" in err and "converged" in err
        assert "6 of 6 problems solved" in err

    def test_live(self, capfd, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
        SVC(verbose=True).fit(SCALED, CANCER_Y)
        out, err = capfd.readouterr()
        assert out == ""
        assert "relative gap" in err

    @needs_callbacks
    def test_progress_bar(self, capsys):
        from sklearn.callback import ProgressBar

        for y in (CANCER_Y, np.arange(569) % 3):
            machine = SVC().set_callbacks(ProgressBar()).fit(SCALED, y)
            assert "SVC - fit" in capsys.readouterr().out
            assert not hasattr(machine, "_callback_fit_ctx")
        search = GridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=2).set_callbacks(ProgressBar()).fit(SCALED, CANCER_Y)
        assert search.best_score_ > 0.9
        assert "SVC - fit" in capsys.readouterr().out

    @needs_callbacks
    def test_score_at_the_end(self):
        from sklearn.callback import ScoringMonitor

        monitor = ScoringMonitor(scoring="accuracy")
        machine = SVC().set_callbacks(monitor).fit(SCALED, CANCER_Y)
        assert [entry["accuracy"] for entry in monitor.get_logs().data] == [machine.score(SCALED, CANCER_Y)]

    @needs_callbacks
    def test_a_callback_may_stop(self):
        stop = Stop()
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            machine = SVC().set_callbacks(stop).fit(DIGITS, DIGITS_Y)
        statuses = [c.status for c in machine.certificates_]
        assert statuses.count(Status.CONVERGED) >= 3
        assert set(statuses) == {Status.CONVERGED, Status.INTERRUPTED}

    def test_a_watch_says_nothing(self):
        assert not Watch().round(0, Step(1, 1.0, 1.0, 1, 0.1))
        assert not Watch().done(0, Solution(np.zeros(1), 0.0, SVC().fit(BLOBS, BLOBS_Y).certificate_))


class Stop:
    """A callback that stops a fit after three problems."""

    ended = 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.ended += 1
        return self.ended >= 3


def test_many_classes_of_float32_points_take_no_more_memory_than_their_pairs():
    generator = np.random.default_rng(0)
    y = np.repeat(np.arange(24), 12)
    X = (generator.normal(size=(288, 3)) + generator.normal(size=(24, 3))[y]).astype(np.float32)
    tracemalloc.start()
    machine = SVC().fit(X, y)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(machine.support_) > 256
    assert not machine._single
    assert machine.certificate_.converged
    assert most < 30e6  # bytes; 16 rows of each of 276 pairs, with scores of all pairs, would be 10 MB a copy

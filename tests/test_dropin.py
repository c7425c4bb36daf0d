"""mercer.dropin: scikit-learn's classes with Mercer's solvers inside. Its own tests are run by tests/peer.py."""

from __future__ import annotations

import inspect
import logging
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.kernel_ridge
import sklearn.svm
from scipy.sparse import csr_array, csr_matrix, random_array
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.utils.estimator_checks import estimator_checks_generator

import mercer
from mercer import dropin
from mercer.dropin.hinge import HingeProblem
from mercer.dropin.interior import interior
from mercer.dropin.passes import Passed, by_passes
from mercer.gram import Design
from mercer.kernels.points import is_sparse
from mercer.losses import Hinge, SquaredHinge
from mercer.solution import Certificate

THEIRS = {
    "SVC": sklearn.svm.SVC,
    "SVR": sklearn.svm.SVR,
    "OneClassSVM": sklearn.svm.OneClassSVM,
    "LinearSVC": sklearn.svm.LinearSVC,
    "KernelRidge": sklearn.kernel_ridge.KernelRidge,
}
X, y = make_classification(160, 6, n_informative=4, n_classes=3, random_state=7)
X_numbers, t = make_regression(120, 5, noise=5.0, random_state=3)
t = t / t.std()


def data_of(name):
    return (X_numbers, t) if name in ("SVR", "KernelRidge") else (X, y)


SETTINGS = {
    "SVC": [
        {}, {"C": 30.0}, {"kernel": "poly", "coef0": 1.0}, {"kernel": "linear", "C": 0.1}, {"gamma": 0.7, "tol": 1e-2},
        {"class_weight": "balanced", "decision_function_shape": "ovo"}, {"break_ties": True},
    ],
    "SVR": [{}, {"C": 10.0, "epsilon": 0.01}, {"kernel": "linear"}, {"kernel": "poly", "degree": 2}],
    "OneClassSVM": [{}, {"nu": 0.1}, {"kernel": "poly", "coef0": 1.0}],
    "LinearSVC": [
        {}, {"C": 0.01, "loss": "hinge", "max_iter": 1000}, {"intercept_scaling": 10.0}, {"fit_intercept": False},
        {"class_weight": "balanced"},
    ],
    "KernelRidge": [{"kernel": "rbf"}, {"kernel": "poly", "gamma": 0.2}, {}, {"kernel": "rbf", "alpha": 1e-3}],
}  # fmt: skip
CASES = [(name, settings) for name, several in SETTINGS.items() for settings in several]


@pytest.mark.parametrize(("name", "settings"), CASES, ids=lambda value: str(value))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_never_worse(name, settings):
    """At the same tol, the objective and the violation are no larger, and predictions are nearly the same."""
    points, targets = data_of(name)
    ours, theirs = (cls(**settings).fit(points, targets) for cls in (getattr(dropin, name), THEIRS[name]))
    own, other = (mercer.certify(machine, points, targets) for machine in (ours, theirs))
    for a, b in zip(getattr(own, "parts", None) or [own], getattr(other, "parts", None) or [other], strict=True):
        assert a.primal <= b.primal * (1 + 1e-9)
        assert a.kkt_violation <= max(b.kkt_violation, 1e-8)
    assert ours.certificate_.converged
    assert ours.certificate_.primal == pytest.approx(own.primal, rel=1e-6)
    if name == "SVC":  # of each pair: votes may flip where f is 0
        ours.decision_function_shape = theirs.decision_function_shape = "ovo"
    scores = "predict" if name in ("SVR", "KernelRidge") else "decision_function"
    found, expected = (getattr(machine, scores)(points) for machine in (ours, theirs))
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert np.abs(found - expected).max() <= 0.05 * np.abs(expected).max()


@pytest.mark.parametrize("name", THEIRS)
def test_parameters_and_documentation_are_theirs(name):
    ours, theirs = getattr(dropin, name), THEIRS[name]
    assert inspect.signature(ours) == inspect.signature(theirs)
    assert repr(ours()) == repr(theirs())
    assert clone(ours()).get_params() == theirs().get_params()
    text = inspect.getdoc(ours)
    assert "certificate_ : mercer.solution.Certificate" in text
    assert text.partition("Attributes")[0] == inspect.getdoc(theirs).partition("Attributes")[0]
    for method in ("fit", "predict"):
        assert getattr(ours, method).__doc__ == getattr(theirs, method).__doc__
    with pytest.raises(TypeError, match="unexpected keyword"):
        ours(nothing=1)


@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM"])
@pytest.mark.parametrize("convert", [np.asarray, csr_matrix])
def test_attributes_are_of_the_same_kinds(name, convert):
    points, targets = data_of(name)
    ours, theirs = (cls().fit(convert(points), targets) for cls in (getattr(dropin, name), THEIRS[name]))
    assert set(vars(ours)) - set(vars(theirs)) == {"certificate_"}
    for key, value in vars(theirs).items():
        own = getattr(ours, key)
        assert type(own) is type(value), key
        if hasattr(value, "dtype"):
            assert (own.dtype, own.ndim) == (value.dtype, value.ndim), key
    assert ours.n_support_.sum() == len(ours.support_)
    np.testing.assert_array_equal(convert(points)[ours.support_][:3] @ points[0], ours.support_vectors_[:3] @ points[0])


REFUSED = [
    ("SVC", {"kernel": "sigmoid"}, "sigmoid"),
    ("SVC", {"max_iter": 5}, "max_iter"),
    ("SVR", {"kernel": "poly", "coef0": -1.0}, "coef0 < 0"),
    ("SVC", {"gamma": 0.0}, "gamma is 0"),
    ("LinearSVC", {"penalty": "l1", "dual": False, "random_state": 0}, "l1"),
    ("LinearSVC", {"multi_class": "crammer_singer", "random_state": 0}, "crammer_singer"),
    ("LinearSVC", {"max_iter": 7}, "max_iter"),
    ("KernelRidge", {"kernel": "laplacian"}, "laplacian"),
    ("KernelRidge", {"alpha": 0.0}, "alpha"),
]


@pytest.mark.parametrize(("name", "settings", "why"), REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_what_mercer_does_not_do_goes_to_scikit_learn(name, settings, why, caplog):
    points, targets = data_of(name)
    ours = getattr(dropin, name)().fit(points, targets)
    assert ours.certificate_.converged
    caplog.clear()
    with caplog.at_level(logging.INFO, "mercer.dropin"):
        ours.set_params(**settings).fit(points, targets)
    (record,) = caplog.records
    assert record.name == "mercer.dropin"
    assert "by scikit-learn, because" in record.getMessage() and why in record.getMessage()
    assert not hasattr(ours, "certificate_")  # the one of the fit before is gone
    theirs = THEIRS[name](**settings).fit(points, targets)
    np.testing.assert_allclose(ours.predict(points), theirs.predict(points))


def test_the_log_says_what_mercer_found(caplog):
    with caplog.at_level(logging.INFO, "mercer.dropin"):
        dropin.SVC().fit(X, y)
    assert "SVC.fit: by Mercer, all are within" in caplog.text


def test_predictions_follow_the_attributes():
    """Who changes a model, or has one of scikit-learn's, gets what its attributes say."""
    theirs = sklearn.svm.SVC().fit(X, y)
    ours = dropin.SVC()
    ours.__dict__.update(vars(theirs))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9)
    ours._intercept_ = ours._intercept_ + 100.0
    assert set(ours.predict(X)) == {0}


def test_the_same_values_of_a_kernel_give_the_same_predictions_to_the_last_digit():
    points = np.random.default_rng(0).integers(-3, 4, (40, 3)).astype(float)
    targets, K = points[:, 0] + np.abs(points[:, 1]), points @ points.T  # whole numbers: every K is exact
    linear = dropin.SVR(kernel="linear").fit(points, targets).predict(points)
    assert np.array_equal(linear, dropin.SVR(kernel="precomputed").fit(K, targets).predict(K))
    assert np.array_equal(linear, dropin.SVR(kernel=lambda A, B: A @ B.T).fit(points, targets).predict(points))


@pytest.mark.parametrize(
    "labels",
    [[3, 1, 3, 7], np.array([True, False, True, True]), np.array([0.0, -2.0, 5.0, 0.0]), np.array(list("abca"))],
    ids=lambda labels: np.asarray(labels).dtype.kind,
)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_targets_are_read_as_scikit_learn_reads_them(labels, class_weight):
    ours, theirs = dropin.SVC(class_weight=class_weight), sklearn.svm.SVC(class_weight=class_weight)
    for of_ours, of_theirs in zip(
        [ours._validate_targets(labels), ours.classes_, ours.class_weight_],
        [theirs._validate_targets(labels), theirs.classes_, theirs.class_weight_],
        strict=True,
    ):
        assert of_ours.dtype == of_theirs.dtype and np.array_equal(of_ours, of_theirs)


def test_targets_that_are_not_plain_raise_what_scikit_learn_raises():
    points = np.eye(4)
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        dropin.SVC().fit(points, np.ones(4, int))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        dropin.SVC().fit(points, np.array([0.5, 1.5, 2.5, 0.25]))
    with pytest.raises(ValueError, match="could not convert string to float"):
        dropin.SVR().fit(points, np.array(list("abca")))


def test_weights_of_zero_are_no_points():
    weight = np.arange(len(y)) % 4 > 0
    ours = dropin.SVC().fit(X, y, weight.astype(float))
    without = dropin.SVC(gamma=ours._gamma).fit(X[weight], y[weight])
    assert weight[ours.support_].all()
    np.testing.assert_array_equal(np.flatnonzero(weight)[without.support_], ours.support_)
    np.testing.assert_allclose(ours.dual_coef_, without.dual_coef_)


@pytest.mark.parametrize("name", THEIRS)
def test_many_points_go_the_way_of_mercers_machines(name, monkeypatch):
    """The two ways lead to one answer."""
    points, targets = data_of(name)
    few = getattr(dropin, name)(**SETTINGS[name][0]).fit(points, targets)
    monkeypatch.setattr(dropin.answer, "_POINTS_AT_ONCE", 0)
    monkeypatch.setattr(dropin.linear, "_SMALL", 0)
    many = getattr(dropin, name)(**SETTINGS[name][0]).fit(points, targets)
    assert many.certificate_.converged
    assert many.certificate_.primal == pytest.approx(few.certificate_.primal, rel=2e-5)
    np.testing.assert_array_equal(few.predict(points).shape, many.predict(points).shape)


@pytest.mark.parametrize("C", [1e-6, 0.01, 1.0, 1000.0])
def test_interior_points_lead_to_the_least_hinge_losses(C):
    """Where other ways lead, and in few steps whatever C is."""
    signs = np.where(y == 1, 1.0, -1.0)
    weights = C * np.linspace(0.5, 2.0, len(y))
    w, certificate, rounds = interior(HingeProblem(Design(X), signs, weights), 1e-9, 1e-6)
    assert certificate.converged
    assert certificate.relative_gap <= 1e-9
    assert certificate.kkt_violation <= 1e-6
    assert certificate.primal == pytest.approx(0.5 * w @ w + weights @ np.maximum(1.0 - signs * (X @ w), 0.0), rel=1e-8)
    assert rounds <= 40


def test_interior_points_that_come_to_no_end_say_so():
    signs = np.where(y == 1, 1.0, -1.0)
    assert not interior(HingeProblem(Design(X), signs, np.ones(len(y))), 0.0, 0.0)[1].converged


@pytest.mark.parametrize("C", [1e-6, 0.01, 1.0])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_passes_lead_to_the_least_losses(C, form, loss):
    """A small C needs few of them; and a block makes the answer exact."""
    signs = np.where(y == 1, 1.0, -1.0)
    posed = HingeProblem(Design(form(X), 4.0), signs, C * np.linspace(0.5, 2.0, len(y)), loss)
    _, rounds, w, certificate = by_passes(posed, 1e-9, 1e-6, 1e6, 1e6)
    f = X @ w[:-1] + 2.0 * w[-1]
    assert certificate.converged
    assert certificate.relative_gap <= 1e-9
    assert certificate.kkt_violation <= 1e-6
    assert certificate.primal == pytest.approx(0.5 * w @ w + posed.C @ loss.value(signs, f), rel=1e-8)
    if isinstance(loss, Hinge):  # of its square all points are free: a block would be as large
        assert rounds <= (10 if C < 1.0 else 40)


def test_passes_end_where_others_are_faster():
    signs = np.where(y == 1, 1.0, -1.0)
    posed = HingeProblem(Design(X), signs, np.full(len(y), 1e4))
    for limits, most in (((20.0 * len(y), 20.0 * len(y)), 10), ((1e9, 2.0 * len(y)), 2)):
        passed = by_passes(posed, 1e-9, 1e-6, *limits)
        assert passed.certificate is None
        assert passed.rounds <= most
        assert (signs * passed.beta >= 0.0).all()


def wide():
    """Points with many more columns than points, most of their entries 0, and labels."""
    generator = np.random.default_rng(0)
    Z = random_array((400, 3000), density=0.03, rng=generator, format="csr")
    return Z, np.where(np.asarray(Z[:, :300].sum(axis=1)) > np.median(np.asarray(Z[:, :300].sum(axis=1))), 1.0, -1.0)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_blocks_save_passes(loss, monkeypatch):
    """Where passes make little headway."""
    Z, signs = wide()
    posed, counted = HingeProblem(Design(Z, 100.0), signs, np.full(len(signs), 10.0), loss), []
    for worth in (dropin.passes._Descent.worth_a_block, lambda self, enough: False):
        monkeypatch.setattr(dropin.passes._Descent, "worth_a_block", worth)
        passed = by_passes(posed, 1e-8, 1e-5, 1e6, 1e6)
        assert passed.certificate.converged
        counted.append(passed.rounds)
    assert counted[0] <= 0.5 * counted[1]


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_nobody_in_a_block_crosses_a_bound(loss):
    """The others stay where they are, what is carried along is right, and the violation within is gone."""
    Z, signs = wide()
    C = np.full(len(signs), 0.05)
    descent, t = dropin.passes._Descent(HingeProblem(Design(Z, 1.0), signs, C, loss)), loss.terms(signs, C)
    descent.round(2.0 * len(signs))
    descent.size = 150
    inside, before, dual = np.sort(descent.order[:150]), descent.beta.copy(), descent._objectives(*standing(descent))[1]
    descent.settle_block(1e-9)
    moved = np.flatnonzero(descent.beta != before)
    assert np.isin(moved, inside).all()
    assert t.box.outside(descent.beta) == 0.0
    np.testing.assert_allclose(descent.w, Z.T @ descent.beta, atol=1e-12)
    np.testing.assert_allclose(descent.f, Z @ descent.w + descent.beta.sum(), atol=1e-12)
    assert t.at(inside).violation(descent.beta[inside], descent.f[inside], False) <= 1e-8
    assert descent._objectives(*standing(descent))[1] > dual


def standing(descent):
    """What objectives are computed from."""
    return descent.w, float(descent.beta.sum()), descent.f


def test_points_of_zeros_are_sparse_rows(monkeypatch):
    """Where there are many: the same answer, whatever they are."""
    monkeypatch.setattr(dropin.linear, "_SMALL", 1000)
    Z, signs = wide()
    rows = dropin.linear._without_zeros(Z.toarray())
    assert is_sparse(rows)
    np.testing.assert_array_equal(rows.toarray(), Z.toarray())
    assert rows.nnz == Z.nnz
    assert not is_sparse(dropin.linear._without_zeros(X))
    for loss in ("hinge", "squared_hinge"):
        found = [dropin.LinearSVC(loss=loss).fit(points, signs).coef_ for points in (Z.toarray(), Z)]
        np.testing.assert_array_equal(*found)


def test_many_sparse_rows_of_some_columns_take_newton_steps_unless_passes_soon_decide(monkeypatch):
    generator = np.random.default_rng(0)
    Z = random_array((3000, 120), density=0.1, rng=generator, format="csr")
    labels = np.asarray(Z[:, :20].sum(axis=1)) + 0.1 * generator.normal(size=3000) > 1.0
    monkeypatch.setattr(dropin.linear, "_VISITS", 1000)
    found = []
    passes = dropin.linear.by_passes
    monkeypatch.setattr(dropin.linear, "by_passes", lambda *how: found.append(passes(*how)) or found[-1])
    for C, decided in ((1e-3, True), (10.0, False)):
        assert dropin.LinearSVC(loss="hinge", C=C).fit(Z, labels).certificate_.converged
        assert (found[-1].certificate is not None) == decided
    assert found[-1].rounds == 1


@pytest.mark.parametrize("settings", [{}, {"C": 100.0}, {"class_weight": "balanced"}, {"fit_intercept": False}])
def test_the_ways_to_the_hinge_loss_lead_to_one_answer(settings, monkeypatch):
    found = [dropin.LinearSVC(loss="hinge", **settings).fit(X, y)]
    monkeypatch.setattr(dropin.linear, "by_passes", lambda posed, *how: Passed(np.zeros(len(y)), 1))
    for slim, few in ((100, 0), (0, 1000), (0, 0)):  # by interior points, by pairs, by descent
        monkeypatch.setattr(dropin.linear, "_SLIM", slim)
        monkeypatch.setattr(dropin.linear, "_FEW", few)
        found.append(dropin.LinearSVC(loss="hinge", **settings).fit(X, y))
    for other in found[1:]:
        np.testing.assert_allclose(other.decision_function(X), found[0].decision_function(X), atol=2e-3)
        assert other.certificate_.converged


@pytest.mark.parametrize("name", THEIRS)
def test_pickles(name):
    points, targets = data_of(name)
    ours = getattr(dropin, name)().fit(points, targets)
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.predict(points), ours.predict(points))
    assert isinstance(again.certificate_, Certificate)
    assert again.certificate_.residuals.size == 0  # nothing as long as the training set


def test_sparse_points_with_many_columns_stay_sparse(monkeypatch):
    """Texts have a hundred thousand columns: nobody makes them dense."""
    points = csr_matrix((np.ones(80), (np.arange(80), np.arange(80) * 2_000)), shape=(80, 160_000))
    monkeypatch.setattr(type(points), "toarray", lambda *given: pytest.fail("they were made dense"))
    assert dropin.SVC(kernel="linear").fit(points, np.arange(80) % 2).certificate_.converged
    assert dropin.KernelRidge().fit(points, np.arange(80.0)).certificate_.converged


# Patching.


@pytest.mark.filterwarnings("ignore:Imported from scikit-learn")
def test_patched_within_a_block():
    originals = dict(THEIRS)
    with dropin.patched():
        for name in ("SVC", "SVR", "OneClassSVM", "LinearSVC"):
            assert getattr(sklearn.svm, name) is getattr(dropin, name)
        assert sklearn.kernel_ridge.KernelRidge is dropin.KernelRidge
        assert isinstance(sklearn.svm.SVC().fit(X, y).certificate_, Certificate)
        assert sklearn.svm._classes.SVC is originals["SVC"]  # where it is defined
        for name, original in originals.items():  # those who hold an original can still pickle it
            points, targets = data_of(name)
            model = pickle.loads(pickle.dumps(original().fit(points, targets)))
            assert model.predict(points).shape[0] == len(points)
    assert sklearn.svm.SVC is originals["SVC"]
    assert sklearn.kernel_ridge.KernelRidge is originals["KernelRidge"]
    with pytest.raises(RuntimeError), dropin.patched():
        raise RuntimeError
    assert sklearn.svm.SVC is originals["SVC"]


@pytest.mark.parametrize("targets", [np.column_stack([t, -t]), np.column_stack([t, -t])[:, 0], np.round(t)])
def test_targets_lie_in_memory_as_they_like(targets, caplog):
    with caplog.at_level(logging.INFO, "mercer.dropin"):
        ours = dropin.KernelRidge(kernel="rbf").fit(X_numbers, targets)
    assert "by Mercer" in caplog.text and ours.certificate_.converged
    theirs = sklearn.kernel_ridge.KernelRidge(kernel="rbf").fit(X_numbers, targets)
    np.testing.assert_allclose(ours.predict(X_numbers), theirs.predict(X_numbers), atol=1e-9)


def test_modules_that_hold_the_originals_are_named(monkeypatch, caplog):
    module = types.ModuleType("somebodys_module")
    module.Machine = sklearn.svm.SVC
    monkeypatch.setitem(sys.modules, "somebodys_module", module)
    caplog.set_level(logging.INFO, "mercer.dropin")
    monkeypatch.setitem(sys.modules, "__mp_main__", module)  # as multiprocessing does with __main__
    said = r"^Imported .*before mercer.dropin.patch.*Machine in somebodys_module"
    with pytest.warns(UserWarning, match=said) as by_hand:
        dropin.patch()
    dropin.unpatch()
    with pytest.warns(UserWarning, match=said) as in_a_block, dropin.patched():
        pass
    for told in (*by_hand, *in_a_block):
        assert told.filename == __file__ and "__mp_main__" not in str(told.message)
    assert "NuSVC and NuSVR stay scikit-learn's" in caplog.text


def test_a_script_is_run_with_the_classes_patched_in(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom sklearn.svm import SVC\nfrom sklearn.kernel_ridge import KernelRidge\n"
        "print(__name__, SVC.__module__, KernelRidge.__module__, *sys.argv[1:])\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "mercer.dropin", str(script), "--fast"], capture_output=True, text=True
    )
    assert run.stdout.split() == ["__main__", "mercer.dropin.support", "mercer.dropin.ridge", "--fast"], run.stderr
    run = subprocess.run([sys.executable, "-m", "mercer.dropin"], capture_output=True, text=True)
    assert run.returncode != 0 and "usage" in run.stderr
    for words, code, said in [
        (["--help"], 0, ""),
        (["nofile.py"], 2, "mercer.dropin: there is no file nofile.py.\n"),
        (["-m", "nomodule.at.all"], 2, "mercer.dropin: there is no module nomodule.\n"),
    ]:
        run = subprocess.run([sys.executable, "-m", "mercer.dropin", *words], capture_output=True, text=True)
        assert (run.returncode, run.stderr) == (code, said)


# The contract.


@pytest.mark.parametrize("name", THEIRS)
@pytest.mark.filterwarnings("ignore")
def test_no_estimator_check_fails_that_passes_without(name):
    for estimator, check in estimator_checks_generator(getattr(dropin, name)()):
        try:
            check(estimator)
        except Exception as error:
            with pytest.raises(type(error)):
                check(THEIRS[name]())


def test_iris_has_the_scores_that_people_know():
    X, y = load_iris(return_X_y=True)
    assert dropin.SVC().fit(X, y).score(X, y) == sklearn.svm.SVC().fit(X, y).score(X, y)


def test_a_gap_is_made_finer_until_the_kkt_conditions_hold():
    """A one-class machine has large gradients: a small relative gap may leave a large violation."""
    X = np.random.default_rng(0).normal(size=(2000, 10))
    machine = dropin.OneClassSVM(nu=0.2, tol=1e-6).fit(X)
    assert machine.certificate_.kkt_violation <= 1e-6

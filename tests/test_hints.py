"""What people bring along from scikit-learn is answered with where it is here."""

from __future__ import annotations

import inspect

import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, SVR, KernelKMeans, KernelPCA, KernelPerceptron, KernelRidge, LinearSVC, Perceptron
from mercer.features import GaussianSeries, Nystrom, PolynomialMap, PrototypeMap, RandomFourier, SpectralMap
from mercer.hints import KERNEL_SETTINGS, SKLEARN_SETTINGS

from .zoo import two_classes


def test_settings_of_scikit_learn():
    for name in KERNEL_SETTINGS | SKLEARN_SETTINGS:
        with pytest.raises(TypeError, match=f"SVC has no {name}: "):
            SVC(**{name: 1})
    with pytest.raises(TypeError, match=r'SVR has no gamma.*kernel="rbf\(gamma=0.1\)"'):
        SVR("rbf", gamma=0.1)
    with pytest.raises(TypeError, match="bias=True"):
        LinearSVC(fit_intercept=False)
    with pytest.raises(TypeError, match=r"Perceptron has no eta0\. Did you mean eta\?"):
        Perceptron(eta0=1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'gamma'"):
        LinearSVC(gamma=1)  # has no kernel to which it could belong
    for machine in (KernelPCA, KernelKMeans, KernelPerceptron, Nystrom, SpectralMap):
        with pytest.raises(TypeError, match=rf'{machine.__name__} has no gamma.*kernel="rbf\(gamma=0.1\)"'):
            machine(2, kernel="rbf", gamma=1)
    with pytest.raises(TypeError, match=r"SVC has no c\. Did you mean C\?"):
        SVC(c=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        SVC(nothing=1)
    assert list(inspect.signature(SVC).parameters)[:2] == ["kernel", "C"]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: LinearSVC(penalty="l1"), TypeError, r"has no penalty: it is always .*SelectFromModel"),
        (lambda: LinearSVC(dual=False), TypeError, "has no dual: primal and dual are solved together"),
        (lambda: LinearSVC(multi_class="ovr"), TypeError, "so leave it out"),
        (lambda: SVC(nu=0.5), TypeError, "has no nu: it is C"),
        (lambda: KernelRidge(kernel_params={}), TypeError, r'kernel_params: .*kernel="rbf\(gamma=0.1\)"'),
        (lambda: Nystrom(n_components=5), TypeError, "Nystrom has no n_components: it is landmarks=100"),
        (lambda: Nystrom(n_jobs=2), TypeError, "has no n_jobs: all cores"),
        (lambda: RandomFourier(gamma=2), TypeError, r'has no gamma: .*kernel="rbf\(gamma=0.1\)"'),
        (lambda: RandomFourier(n_component=5), TypeError, "Did you mean n_components"),
        (lambda: PrototypeMap(n_components=5), TypeError, "it is prototypes=10"),
        (lambda: PolynomialMap(interaction_only=True), TypeError, "so leave it out"),
        (lambda: PolynomialMap(include_bias=False), TypeError, "coef0=0 leaves the constant out"),
        (lambda: GaussianSeries(gamma=2), TypeError, r"it is sigma, with gamma = 1 / \(2 sigma\^2\)"),
        (lambda: mercer.NuSVC, ImportError, r"Mercer has no NuSVC: SVC\(C=...\) finds the same machines"),
        (lambda: exec("from mercer import NuSVC"), ImportError, "Mercer has no NuSVC"),
        (lambda: exec("from mercer import NuSVR"), ImportError, "epsilon in place of nu"),
        (lambda: SVC("sigmoid").fit(*two_classes()), ValueError, "sigmoid is not positive definite.* take rbf"),
        (lambda: mercer.kernel("sigmoid(gamma=2) + linear"), ValueError, "there is no kernel 'sigmoid'"),
        (lambda: mercer.kernel("cosine"), ValueError, r"It is normalized\(linear\)"),
        (lambda: SVC(solver="leastsquares").fit(*two_classes()), ValueError, "LeastSquares needs explicit features"),
        (lambda: SVC(solver="infeatures").fit(*two_classes()), ValueError, "InFeatures needs explicit features"),
        (lambda: KernelRidge(alpha="lou").fit(*two_classes()), ValueError, "not 'lou'. Did you mean loo?"),
        (lambda: KernelRidge(alpha="auto").fit(*two_classes()), ValueError, "or 'loo', not 'auto'. It may be: loo"),
        (lambda: KernelRidge(alpha=-1).fit(*two_classes()), ValueError, "greater than 0, not -1"),
    ],
)
def test_what_is_not_here(make, error, words):
    """One clear sentence each."""
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("machine", [SVC(), LinearSVC()], ids=repr)
@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
def test_probabilities_are_elsewhere(machine, method):
    """hasattr says no, as scikit-learn's own tools ask; calibration works all the same."""
    X, y = two_classes()
    assert not hasattr(machine, method)
    with pytest.raises(AttributeError, match=f"SVC has no {method}: for probabilities take KernelLogistic"):
        getattr(machine.fit(X, y), method)(X)
    assert CalibratedClassifierCV(machine, cv=2).fit(X, y).predict_proba(X).shape == (len(X), 2)


def test_solvers_that_can_serve_are_offered():
    """No step rules, none that stand in where time is short, and those of ridge regression for ridge regression."""
    with pytest.raises(ValueError, match="there is no solver 'smow'") as of_machines:
        SVC(solver="smow").fit(*two_classes())
    with pytest.raises(ValueError, match="there is no solver 'smow'") as of_ridge:
        KernelRidge(solver="smow").fit(*two_classes())
    assert "decomposition" in str(of_machines.value) and "cholesky" in str(of_ridge.value)
    for name in ("cholesky", "constantstep", "leastsquares"):
        assert name not in str(of_machines.value)
    for name in ("decomposition", "constantstep", "leastsquares"):
        assert name not in str(of_ridge.value)
    with pytest.raises(ValueError, match="Did you mean constant"):
        SVC(solver="subgradient(step=constnt(eta=1))").fit(*two_classes())


def test_nested_settings_without_their_holder():
    X, y = two_classes()
    with pytest.raises(ValueError, match="it is kernel__gamma"):
        GridSearchCV(SVC("rbf"), {"gamma": [0.1]}, error_score="raise").fit(X, y)
    with pytest.raises(ValueError, match="it is kernel__degree"):
        KernelRidge("poly").set_params(degree=3)
    with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
        SVC("no kernel").set_params(nothing=3)


def test_certify_looks_into_pipelines():
    X, y = two_classes()
    pipeline = make_pipeline(StandardScaler(), SVC(tol=1e-6)).fit(X, y)
    assert mercer.certify(pipeline, X, y).relative_gap < 1e-6
    assert mercer.certify(make_pipeline(SVC()).fit(X, y), X, y).relative_gap < 1e-4

"""Kernels as scikit-learn's users pass them: functions of two matrices, kernels of Gaussian processes."""

from __future__ import annotations

import copy
import pickle
import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn import svm
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel, sigmoid_kernel
from sklearn.model_selection import GridSearchCV

import mercer
from mercer import SVC, SVR, KernelLogistic, KernelPerceptron, KernelRidge, OneClassSVM, RKHSFunction
from mercer.features import Nystrom, SpectralMap
from mercer.kernels import FromBlocks, FromFunction, FromGaussianProcess, Gaussian, Laplacian, Linear, Matern

generator = np.random.default_rng(0)
X = generator.normal(size=(80, 3))
Z = generator.normal(size=(30, 3))
y = np.where(X[:, 0] * X[:, 1] > 0, "in", "out")
t = X[:, 0] + np.sin(2 * X[:, 1])

MACHINES = [
    (SVC, y), (SVR, t), (OneClassSVM, None), (KernelLogistic, y), (KernelRidge, t), (KernelPerceptron, y),
]  # fmt: skip
each_machine = pytest.mark.parametrize(("machine", "target"), MACHINES, ids=lambda m: getattr(m, "__name__", ""))
PROCESSES = [
    gp.RBF(2.0),
    gp.RBF([0.5, 1.0, 2.0]),
    gp.Matern(1.5, nu=2.5),
    gp.RationalQuadratic(2.0, 0.7),
    gp.DotProduct(0.5) ** 2,
    3.0 * gp.RBF(1.3) + gp.ConstantKernel(0.2) * gp.DotProduct(),
    gp.ConstantKernel(2.0) * gp.RBF(2.0) + gp.WhiteKernel(0.3),
]


def dot(A, B):
    return A @ B.T


def scores(machine, points):
    return getattr(machine, "decision_function", machine.predict)(points)


@each_machine
def test_a_function_is_of_two_matrices(machine, target):
    for function, kernel in ((dot, Linear()), (partial(rbf_kernel, gamma=0.4), Gaussian(0.4))):
        ours, theirs = (machine(kernel=k).fit(X, target) for k in (function, kernel))
        assert ours.kernel is function
        assert_allclose(scores(ours, Z), scores(theirs, Z), atol=2e-3)


@each_machine
def test_kernels_of_gaussian_processes(machine, target):
    kernel = 2.0 * gp.RBF(2.0) + gp.Matern(1.5, nu=0.5)
    same = 2 * Gaussian(sigma=2.0) + Matern(0.5, 1.5)
    ours, theirs = (machine(kernel=k).fit(X, target) for k in (kernel, same))
    assert_allclose(scores(ours, Z), scores(theirs, Z), atol=2e-3)


@pytest.mark.parametrize("kernel", PROCESSES, ids=repr)
def test_values_are_scikit_learns(kernel):
    ours = mercer.kernel(kernel)
    assert isinstance(ours, FromGaussianProcess)
    assert_allclose(ours(X, Z), kernel(X, Z), rtol=1e-12)
    assert_allclose(ours(X), kernel(X, X), rtol=1e-12)
    assert_allclose(ours.diag(X), np.diagonal(kernel(X, X)), rtol=1e-12)
    assert_allclose(ours.product(X, Z, np.ones(30)), kernel(X, Z).sum(axis=1), rtol=1e-11)
    assert_allclose(ours(csr_array(X), Z), kernel(X, Z), rtol=1e-12)
    single = ours(X.astype(np.float32), Z.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, kernel(X, Z), rtol=1e-4, atol=1e-4)
    found = mercer.evidence(kernel, X)
    assert found.positive_definite and found.proof


def test_the_same_machines_as_scikit_learns():
    for kernel in (gp.RBF(2.0), PROCESSES[5], partial(laplacian_kernel, gamma=0.3)):
        theirs = svm.SVC(kernel=kernel, tol=1e-6).fit(X, y)
        assert_allclose(
            SVC(kernel, tol=1e-8).fit(X, y).decision_function(Z), theirs.decision_function(Z), rtol=1e-3, atol=1e-4
        )
    process = GaussianProcessRegressor(2.0 * gp.RBF(2.0), alpha=0.1, optimizer=None).fit(X, t)
    ridge = KernelRidge(2.0 * gp.RBF(2.0), alpha=0.1, tol=1e-10).fit(X, t)
    assert_allclose(ridge.predict(Z), process.predict(Z), rtol=1e-5, atol=1e-6)


def test_functions_with_defaults_of_their_own():
    machine = SVC(kernel=laplacian_kernel).fit(X, y)
    assert_allclose(
        machine.decision_function(Z), SVC(Laplacian(1 / 3)).fit(X, y).decision_function(Z), rtol=1e-2, atol=2e-3
    )
    assert repr(machine.kernel_) == "<FromBlocks laplacian_kernel>"


def test_sparse_points():
    sparse, machine = csr_array(X), SVC(kernel=dot).fit(csr_array(X), y)
    assert_allclose(machine.decision_function(sparse), SVC(kernel=dot).fit(X, y).decision_function(X), atol=1e-3)
    assert_allclose(FromBlocks(dot)(sparse, Z), X @ Z.T, rtol=1e-12)


def test_elsewhere_than_in_machines():
    assert_allclose(Nystrom(dot, landmarks=3, random_state=0).fit(X).kernel_(X, Z), X @ Z.T)
    assert_allclose(
        SpectralMap(gp.RBF(2.0)).fit_transform(X) @ SpectralMap(gp.RBF(2.0)).fit(X).transform(X).T,
        gp.RBF(2.0)(X),
        atol=1e-6,
    )
    assert_allclose(RKHSFunction(dot, X, np.ones(80))(Z), Z @ X.sum(axis=0))
    assert_allclose(mercer.gram_of(dot, X) @ np.ones(80), X @ X.sum(axis=0))
    assert mercer.evidence(dot, X).positive_definite
    assert not mercer.evidence(partial(sigmoid_kernel, coef0=-1.0), X).positive_definite
    with pytest.warns(mercer.estimators.IndefiniteKernelWarning):
        SVC(partial(sigmoid_kernel, coef0=-1.0)).fit(X, y)


def test_the_function_is_kept_as_it_is():
    for kernel in (dot, laplacian_kernel):
        machine = clone(SVC(kernel=kernel))
        assert machine.kernel is kernel and machine.get_params()["kernel"] is kernel
        fitted = machine.fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))
        assert again.kernel is kernel
        assert_array_equal(again.predict(Z), fitted.predict(Z))
        assert_array_equal(copy.deepcopy(fitted).predict(Z), fitted.predict(Z))


def test_hyperparameters_are_reached():
    machine = SVC(2.0 * gp.RBF(2.0))
    assert machine.get_params()["kernel__k2__length_scale"] == 2.0
    other = clone(machine).set_params(kernel__k2__length_scale=3.0)
    assert machine.kernel == 2.0 * gp.RBF(2.0) and other.kernel == 2.0 * gp.RBF(3.0)
    search = GridSearchCV(machine, {"kernel__k2__length_scale": [0.1, 1.0]}, cv=2).fit(X, y)
    assert search.best_estimator_.kernel_.function == search.best_estimator_.kernel
    kernel = Linear() + gp.RBF(2.0)
    assert kernel.get_params()["right__function__length_scale"] == 2.0
    assert kernel.with_params(right__function__length_scale=3.0).right.function == gp.RBF(3.0)
    assert kernel.right.function == gp.RBF(2.0)
    with pytest.raises(ValueError, match="Invalid parameter"):
        kernel.with_params(right__function__gamma=3.0)
    with pytest.raises(ValueError, match="no parameter 'lengthscale'"):
        kernel.with_params(right__lengthscale=3.0)


def test_what_is_learned_does_not_change_with_the_kernel():
    kernel = gp.RBF(2.0)
    machine = SVC(kernel).fit(X, y)
    before = machine.decision_function(Z)
    kernel.set_params(length_scale=0.1)
    assert_array_equal(machine.decision_function(Z), before)


def test_algebra_with_scikit_learns():
    assert_allclose((Gaussian(0.5) + gp.RBF(2.0))(X, Z), Gaussian(0.5)(X, Z) + gp.RBF(2.0)(X, Z))
    assert_allclose((Gaussian(0.5) * gp.RBF(2.0))(X, Z), Gaussian(0.5)(X, Z) * gp.RBF(2.0)(X, Z))
    with pytest.raises(TypeError, match="is Mercer's: begin the sum or product with it"):
        mercer.kernel(gp.RBF(2.0) + Gaussian(0.5))


def test_noise_is_nothing_between_two_sets():
    kernel = gp.RBF(2.0) + gp.WhiteKernel(0.3)
    assert_allclose(mercer.kernel(kernel).diag(X), 1.0)
    assert_allclose(KernelRidge(kernel).fit(X, t).predict(Z), KernelRidge(gp.RBF(2.0)).fit(X, t).predict(Z))


def of_points(x, z):
    return float(np.exp(-np.sum((x - z) ** 2)))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (of_points, "FromFunction"),
        (lambda x, z: x @ z, "cannot be computed for matrices of .* x 3 and .* x 3"),
        (lambda A, B: B @ A.T, "must give a matrix of 80 x 30 for 80 and 30 points, but gave 30 x 80"),
        (lambda A, B: 1.0, "but gave one number"),
        (lambda A, B: np.ones(len(A)), "but gave 80. A function that is a kernel takes two matrices"),
        (lambda A, B: None, "FromFunction"),
        (lambda A, B: np.full((len(A), len(B)), "1"), "must give finite numbers"),
        (lambda A, B: A @ B.T * np.nan, "must give finite numbers"),
    ],
    ids=["points", "inner", "transposed", "scalar", "vector", "nothing", "text", "nan"],
)
def test_a_wrong_shape_says_so(function, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(ValueError, match=message):
            mercer.kernel(function)(X, Z)
        with pytest.raises(ValueError, match=r"FromFunction|finite|must give a matrix"):
            SVC(function).fit(np.vstack([X, Z])[:81], np.arange(81) % 2)


def test_a_function_of_two_points_is_from_function():
    machine = SVC(FromFunction(of_points), tol=1e-8).fit(X, y)
    expected = SVC(Gaussian(1.0), tol=1e-8).fit(X, y).decision_function(Z)
    assert_allclose(machine.decision_function(Z), expected, atol=1e-5)


def test_what_is_no_kernel():
    for wrong in (3, None, Gaussian, ["rbf"]):
        with pytest.raises(TypeError, match="a function of two matrices, not"):
            mercer.kernel(wrong)
    with pytest.raises(TypeError, match="needs a function of two matrices, not 3"):
        FromBlocks(3)
    with pytest.raises(TypeError, match="needs a kernel of scikit-learn's"):
        FromGaussianProcess(dot)
    with pytest.raises(ValueError, match="FromFunction"):
        mercer.kernel(dot)(["a", "b"])


@pytest.mark.parametrize("kernel", [dot, gp.RBF(2.0)], ids=["function", "process"])
def test_a_model_file_holds_no_function(kernel, tmp_path):
    for machine in (SVC(kernel), SVC(kernel).fit(X, y)):
        with pytest.raises(ValueError, match="cannot hold the kernel <From.*never code"):
            mercer.save(machine, tmp_path / "m.mercer")
    assert not list(tmp_path.iterdir())


def test_certify_knows_them():
    theirs = svm.SVC(kernel=gp.RBF(2.0), tol=1e-6).fit(X, y)
    assert mercer.certify(theirs, X, y).relative_gap < 1e-4

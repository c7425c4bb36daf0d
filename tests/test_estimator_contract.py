"""scikit-learn's contract, but for one check of perceptrons; what users of pipelines, grids and data frames expect."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    SVC,
    SVR,
    KernelKMeans,
    KernelLogistic,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    LinearSVC,
    OneClassSVM,
    Perceptron,
)  # fmt: skip
from mercer.kernels import Linear, Polynomial

TIGHT = {"tol": 1e-10}
ORDER = "what a perceptron learns depends on the order of its points, so a weight of 2 is not the point twice"


def exceptions(estimator):
    """Of the perceptrons, as of scikit-learn's own."""
    if not isinstance(estimator, Perceptron | KernelPerceptron):
        return {}
    return {f"check_sample_weight_equivalence_on_{kind}_data": ORDER for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [
        SVC(),
        SVR(),
        OneClassSVM(),
        SVC(Linear(), **TIGHT),
        SVC(multiclass="ovr", **TIGHT),
        SVC("rbf + 1", bias=False, **TIGHT),
        SVR(Linear(), bias=False, **TIGHT),
        OneClassSVM(Polynomial(), nu=0.2, **TIGHT),
        KernelLogistic(),
        KernelLogistic(Linear(), **TIGHT),
        LinearSVC(),
        LinearSVC(loss="hinge", **TIGHT),
        LinearSVC(loss="logistic", **TIGHT),
        LinearSVC(bias="penalised", **TIGHT),
        LinearSVC(bias=False, **TIGHT),
        KernelRidge(),
        KernelRidge(Polynomial(), alpha=0.1, bias=True),
        Perceptron(),
        Perceptron(eta=0.5, max_epochs=100, bias=True, shuffle=True, random_state=0),
        KernelPerceptron(),
        KernelPerceptron("linear", bias=True),
        KernelPerceptron(Polynomial(), "averaged", shuffle=True, random_state=0),
        KernelPerceptron(variant="voted"),
        KernelPerceptron(budget=100),
        KernelRidge(solver="conjugategradient", **TIGHT),
        KernelRidge(solver="nystrom(landmarks=1000)", bias=True, random_state=0),
        KernelRidge(loo=True, solver="cholesky"),
        KernelPCA(2),
        KernelPCA(kernel=Linear(), fit_inverse_transform=True),
        KernelKMeans(3, random_state=0),
    ],
    expected_failed_checks=exceptions,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)

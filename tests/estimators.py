"""One table of the estimators. The lists of the package, the command line and model files are checked against it."""

from __future__ import annotations

from dataclasses import dataclass

_MACHINE = {
    "support_": "s", "support_vectors_": "s d", "dual_coef_": "c s", "intercept_": "c", "n_support_": "c",
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """Name, module, what the command line calls it, what it learns from, and the shapes of what a model file holds.

    Shapes are sizes: n points, d features, s support vectors, c classes (of three; regression and outliers: 1), k
    components or clusters (2); a number is itself.
    """

    name: str
    module: str
    verb: str | None
    learns_from: str
    shapes: dict[str, str]


ESTIMATORS = (
    Entry("SVC", "estimators.svc", "svc", "labels", _MACHINE | {"classes_": "c", "dual_coef_": "2 s"}),
    Entry("SVR", "estimators.svr", "svr", "numbers", _MACHINE),
    Entry("OneClassSVM", "estimators.one_class", "oneclass", "none", _MACHINE),
    Entry("KernelLogistic", "estimators.logistic", "logistic", "labels", _MACHINE | {"classes_": "c"}),
    Entry(
        "LinearSVC", "estimators.linear_svc", "linear-svc", "labels",
        {"classes_": "c", "support_": "s", "dual_coef_": "c s", "intercept_": "c"},
    ),
    Entry(
        "Perceptron", "estimators.perceptron", "perceptron", "labels",
        {"classes_": "c", "coef_": "c d", "intercept_": "c", "n_mistakes_": "c", "mistakes_": "c n"},
    ),
    Entry(
        "KernelPerceptron", "estimators.kernel_perceptron", "perceptron", "labels",
        _MACHINE | {"classes_": "c", "mistakes_": "c n"},
    ),
    Entry("KernelRidge", "estimators.ridge", "ridge", "numbers", {"X_fit_": "n d", "dual_coef_": "n"}),
    Entry(
        "KernelPCA", "estimators.kernel_pca", None, "none",
        {"X_fit_": "n d", "eigenvalues_": "k", "eigenvectors_": "n k", "residuals_": "k"},
    ),
    Entry("KernelKMeans", "estimators.kernel_kmeans", None, "none", {"X_fit_": "n d", "labels_": "n"}),
)  # fmt: skip

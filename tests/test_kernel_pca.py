"""KernelPCA and KernelKMeans: scikit-learn as the oracle, and bounds that hold."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.decomposition
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles

from mercer import KernelKMeans, KernelPCA
from mercer.features import leading as module
from mercer.features.leading import leading
from mercer.kernels import FromFunction, Gaussian
from mercer.memory import BudgetError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 5))
NEW = RNG.normal(size=(20, 5))


@pytest.mark.parametrize(("kernel", "theirs"), [("rbf(gamma=0.3)", {"kernel": "rbf", "gamma": 0.3}),
                                                ("linear", {"kernel": "linear"}),
                                                ("poly(degree=2, gamma=0.5, coef0=1)", {"kernel": "poly", "degree": 2,
                                                                                        "gamma": 0.5})])  # fmt: skip
@pytest.mark.parametrize("n_components", [1, 4, None])
def test_components_are_those_of_scikit_learn(kernel, theirs, n_components):
    ours = KernelPCA(n_components, kernel).fit(X)
    oracle = sklearn.decomposition.KernelPCA(n_components, **theirs).fit(X)
    k = 5 if kernel == "linear" and n_components is None else len(ours.eigenvalues_)
    np.testing.assert_allclose(ours.eigenvalues_[:k], oracle.eigenvalues_[:k], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.abs(ours.transform(NEW))[:, :4], np.abs(oracle.transform(NEW))[:, :4], atol=1e-7)
    np.testing.assert_allclose(ours.fit_transform(X), ours.transform(X))
    assert ours.get_feature_names_out()[0] == "kernelpca0"


def test_parts_of_the_variance():
    ours = KernelPCA(kernel="linear").fit(X)
    pca = sklearn.decomposition.PCA().fit(X)
    np.testing.assert_allclose(ours.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-9)
    assert KernelPCA(3, "linear").fit(X).explained_variance_ratio_.sum() < 1


def test_the_way_back():
    machine = KernelPCA(10, "rbf(gamma=0.1)", fit_inverse_transform=True, alpha=0.01).fit(X)
    oracle = sklearn.decomposition.KernelPCA(10, kernel="rbf", gamma=0.1, fit_inverse_transform=True, alpha=0.01).fit(X)
    back = machine.inverse_transform(machine.transform(X))
    np.testing.assert_allclose(back, oracle.inverse_transform(oracle.transform(X)), atol=1e-6)
    assert np.linalg.norm(back - X) < 0.5 * np.linalg.norm(X - X.mean(axis=0))
    with pytest.raises(ValueError, match="fit_inverse_transform=True"):
        KernelPCA(2).fit(X).inverse_transform(X[:, :2])
    with pytest.raises(ValueError, match="no way back"):
        KernelPCA(2, fit_inverse_transform=True).fit(csr_matrix(X))


def test_sparse_points_objects_and_single_precision():
    dense, sparse = (KernelPCA(3, "rbf(gamma=0.2)").fit(points) for points in (X, csr_matrix(X)))
    np.testing.assert_allclose(dense.transform(NEW), sparse.transform(csr_matrix(NEW)), atol=1e-9)
    assert KernelPCA(2).fit(X.astype(np.float32)).transform(X.astype(np.float32)).dtype == np.float32
    words = ["aa", "ab", "bb", "ba", "cc"]
    shared = KernelPCA(2, FromFunction(lambda a, b: float(len(set(a) & set(b))))).fit(words)
    assert shared.transform(words).shape == (5, 2)


def test_settings():
    with pytest.raises(ValueError, match="n_components"):
        KernelPCA(0).fit(X)
    with pytest.raises(BudgetError, match="whole Gram matrix"):
        KernelPCA(2, memory="10kB").fit(X)


# Eigenvalues.


def spectrum(n=700, seed=1):
    generator = np.random.default_rng(seed)
    return Gaussian(0.3)(generator.normal(size=(n, 3)))


def test_few_eigenvalues_need_few_products(monkeypatch):
    """All columns together are far fewer than n, and every eigenvalue is within its residual of a true one."""
    K = spectrum()
    P = np.eye(len(K)) - 1 / len(K)
    true = np.linalg.eigvalsh(P @ K @ P)[::-1]
    widths = []
    apart = module._apart_from
    monkeypatch.setattr(module, "_apart_from", lambda u, W: widths.append(W.shape[1]) or apart(u, W))
    found = leading(K.copy(), 6)
    assert 0 < sum(widths) / 2 < len(K) // 4  # each block is made orthogonal twice
    assert np.abs(found.values - true[:6]).max() <= found.residuals.max() + 1e-12 * true[0]
    assert found.residuals.max() <= 1e-10 * true[0]
    np.testing.assert_allclose(P @ K @ P @ found.vectors, found.vectors * found.values, atol=1e-9 * true[0])


@pytest.mark.parametrize("rank", [1, 5, 11, 12, 13, 18, 24, 30])
def test_matrices_of_low_rank(rank):
    """Whatever of a block is left when all directions are found, is rounding, and must not count as a direction."""
    Z = np.random.default_rng(rank).normal(size=(200, rank)) * np.linspace(3.0, 1.0, rank)
    centred = Z - Z.mean(axis=0)
    true = np.append(np.linalg.eigvalsh(centred.T @ centred)[::-1], 0.0)
    found = leading(Z @ Z.T, 2)
    np.testing.assert_allclose(found.values, true[:2], atol=1e-12 * true[0])
    assert found.residuals.max() <= 1e-10 * true[0]


def test_where_lanczos_fails_lapack_takes_over(monkeypatch):
    K = spectrum(300)
    many = leading(K.copy(), 25)
    monkeypatch.setattr(module, "_lanczos", lambda *given: None)
    np.testing.assert_allclose(leading(K.copy(), 25).values, many.values, atol=1e-9)
    everything = leading(K.copy(), 300)
    np.testing.assert_allclose(everything.values[:25], many.values, atol=1e-9)


# Clusters.


def test_linear_clusters_are_those_of_k_means():
    points, _ = make_blobs(150, 3, centers=4, random_state=3)
    ours = KernelKMeans(4, "linear", random_state=0).fit(points)
    ordinary = KMeans(4, n_init=10, random_state=0).fit(points)
    assert ours.inertia_ == pytest.approx(ordinary.inertia_, rel=1e-9)
    assert len({*zip(ours.labels_.tolist(), ordinary.labels_.tolist(), strict=True)}) == 4
    np.testing.assert_array_equal(ours.predict(points), ours.labels_)


def test_clusters_that_no_line_parts():
    points, rings = make_circles(200, factor=0.2, noise=0.03, random_state=0)
    ours = KernelKMeans(2, "rbf(gamma=4)", random_state=0).fit(points)
    agree = np.mean(ours.labels_ == rings)
    assert max(agree, 1 - agree) == 1.0


@pytest.mark.parametrize("kernel", ["linear", "rbf(gamma=0.5)", "laplacian(gamma=0.3)"])
def test_no_clusters_cost_less_than_the_bound(kernel):
    points = np.random.default_rng(5).normal(size=(9, 2))
    for weight in (None, np.arange(1.0, 10.0)):
        ours = KernelKMeans(2, kernel, random_state=0).fit(points, sample_weight=weight)
        least = min(cost(ours.kernel_(points), pattern, weight) for pattern in range(1, 2**8))
        assert 0 <= ours.lower_bound_ <= least * (1 + 1e-12)
        assert ours.inertia_ >= least * (1 - 1e-12)
        assert ours.inertia_ == pytest.approx(cost_of(ours.kernel_(points), ours.labels_, weight))


def cost(K, pattern, weight):
    return cost_of(K, np.array([(pattern >> place) & 1 for place in range(len(K))]), weight)


def cost_of(K, labels, weight):
    """The objective by its definition."""
    weight = np.ones(len(K)) if weight is None else weight
    total = 0.0
    for label in np.unique(labels):
        own = labels == label
        w, inner = weight[own], K[np.ix_(own, own)]
        total += w @ inner.diagonal() - (w @ inner @ w) / w.sum()
    return total


def test_the_bound_is_reached_where_clusters_are_far_apart():
    points, _ = make_blobs(120, 12, centers=3, cluster_std=0.5, random_state=1)
    ours = KernelKMeans(3, "linear", random_state=0).fit(points)
    assert ours.lower_bound_ >= 0.5 * ours.inertia_
    assert KernelKMeans(1, "linear").fit(points).lower_bound_ == pytest.approx(KMeans(1).fit(points).inertia_)


def test_weights_are_repeated_points():
    points, _ = make_blobs(60, 2, centers=3, random_state=2)
    weight = np.arange(60) % 3
    a = KernelKMeans(3, "linear", random_state=0).fit(points, sample_weight=weight)
    b = KernelKMeans(3, "linear", random_state=0).fit(np.repeat(points, weight, axis=0))
    assert a.inertia_ == pytest.approx(b.inertia_)
    assert a.lower_bound_ == pytest.approx(b.lower_bound_, rel=1e-6)


def test_more_clusters_than_points():
    with pytest.raises(ValueError, match="more clusters than points"):
        KernelKMeans(9).fit(X[:5])

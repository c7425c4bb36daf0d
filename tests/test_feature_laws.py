"""Feature maps: the law phi(x) . phi(z) = k(x, z), known answers, and scikit-learn's contract."""

from __future__ import annotations

import pickle

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer.features
from mercer.features import (
    GaussianSeries,
    Nystrom,
    PolarMap,
    PolynomialMap,
    PrototypeMap,
    RandomFourier,
    SpectralMap,
)
from mercer.kernels import Chi2, FromFunction, Gaussian, Laplacian, Linear, Polynomial, Precomputed

from .zoo import FEATURES, common_letters, vectors, words

X, Z = vectors(60), vectors(15, seed=1)


def test_every_map_is_in_the_zoo():
    assert {type(phi).__name__ for phi in FEATURES} == set(mercer.features.__all__) - {"FeatureMap"}


@pytest.mark.parametrize("phi", FEATURES, ids=repr)
def test_the_kernel_trick(phi):
    phi = clone(phi).fit(X)
    kernel = phi.kernel_
    if isinstance(phi, SpectralMap):
        assert_allclose(phi.transform(X) @ phi.transform(X).T, kernel(X), atol=1e-8)
        return
    points = X[:15] if isinstance(phi, Nystrom) else Z
    values, expected = phi.transform(points) @ phi.transform(X).T, kernel(points, X)
    if phi.exact:
        assert_allclose(values, expected, rtol=1e-10, atol=1e-10)
    else:
        assert np.abs(values - expected).max() < 0.15
        assert np.sqrt(np.mean((values - expected) ** 2)) < 0.03
    assert_allclose(values, kernel(points, X), atol=0.15)


@pytest.mark.parametrize("phi", FEATURES, ids=repr)
def test_shapes_types_and_names(phi):
    phi = clone(phi).fit(X)
    features = phi.transform(Z)
    assert len(phi.get_feature_names_out()) == features.shape[1]
    single = clone(phi).fit(X.astype(np.float32)).transform(Z.astype(np.float32))
    assert single.dtype == np.float32
    assert_array_equal(clone(phi).fit(X).transform(Z), features)  # the same seed, the same map
    frame = clone(phi).set_output(transform="pandas").fit_transform(pandas.DataFrame(X, columns=list("abcd")))
    assert frame.shape == (60, features.shape[1])


@parametrize_with_checks(
    [
        PolynomialMap(),
        PolarMap(),
        PrototypeMap(random_state=0),
        GaussianSeries(),
        RandomFourier(random_state=0),
        Nystrom(random_state=0),
        Nystrom(selection="uniform", random_state=0),
        SpectralMap(),
        SpectralMap(n_components=2, center=True),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("phi", [PolarMap(), PrototypeMap(random_state=0)], ids=repr)
def test_the_induced_kernel_is_a_value(phi):
    phi = clone(phi).fit(X)
    kernel = phi.kernel_
    before = kernel(Z)
    phi.fit(Z[:, :2])
    assert_array_equal(kernel(Z), before)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    named = clone(phi).fit(frame)
    assert_allclose(named.kernel_(frame), named.kernel_(X))
    assert_array_equal(pickle.loads(pickle.dumps(named)).transform(frame), named.transform(frame))


class TestPolynomial:
    def test_the_lecture_map(self):
        a, b = 3.0, 5.0
        root = np.sqrt(2)
        expected = [[1, root * a, root * b, a * a, b * b, root * a * b]]
        phi = PolynomialMap().fit([[a, b]])
        assert_allclose(phi.transform([[a, b]]), expected, rtol=1e-15)
        assert list(phi.get_feature_names_out()) == ["1", "x0", "x1", "x0^2", "x1^2", "x0 x1"]
        assert list(phi.get_feature_names_out(["u", "v"])[-2:]) == ["v^2", "u v"]

    @pytest.mark.parametrize("degree", [1, 2, 3, 5])
    @pytest.mark.parametrize("coef0", [0.0, 0.5, 1.0])
    @pytest.mark.parametrize("d", [1, 2, 4])
    def test_all_degrees(self, degree, coef0, d):
        phi = PolynomialMap(degree, 0.7, coef0).fit(X[:, :d])
        assert phi.kernel_ == Polynomial(degree, 0.7, coef0)
        assert_allclose(
            phi.transform(X[:, :d]) @ phi.transform(Z[:, :d]).T, phi.kernel_(X[:, :d], Z[:, :d]), rtol=1e-9, atol=1e-9
        )

    def test_errors(self):
        with pytest.raises(ValueError, match="no real feature map"):
            PolynomialMap(coef0=-1).fit(X)
        with pytest.raises(ValueError, match="degree must be a whole number"):
            PolynomialMap(degree=0).fit(X)
        with pytest.raises(ValueError, match="lower its degree, or work with the kernel itself"):
            PolynomialMap(degree=20).fit(np.ones((2, 100)))


class TestPolar:
    def test_known_points(self):
        points = np.array([[0, 0], [1, 0], [0, 2], [-3, 0], [0, -1], [-1, -1], [-1.0, -0.0]])
        root = np.sqrt(2)
        expected = [
            [0, 0], [1, 0], [2, np.pi / 2], [3, np.pi], [1, -np.pi / 2], [root, -3 * np.pi / 4], [1, np.pi],
        ]  # fmt: skip
        assert_allclose(PolarMap().fit_transform(points), expected, atol=1e-15)

    @pytest.mark.parametrize("d", [1, 2, 3, 4])
    def test_there_and_back(self, d):
        phi = PolarMap().fit(X[:, :d])
        polar = phi.transform(X[:, :d])
        assert_allclose(polar[:, 0], np.linalg.norm(X[:, :d], axis=1))
        assert_allclose(phi.inverse_transform(polar), X[:, :d], atol=1e-12)
        assert np.all(polar[:, 1:-1] >= 0)
        assert np.all(np.abs(polar[:, 1:]) <= np.pi)
        assert_array_equal(phi.transform(np.zeros((1, d))), np.zeros((1, max(2, d))))

    def test_huge_and_tiny(self):
        for scale in (1e-300, 1e300):
            assert_allclose(PolarMap().fit_transform([[3 * scale, 4 * scale]])[0, 0], 5 * scale)


class TestGaussianSeries:
    def test_one_dimension(self):
        x, s = 0.8, 1.5
        expected = [np.exp(-x * x / (2 * s * s)) * x**k / (s**k * np.sqrt(f)) for k, f in enumerate([1, 1, 2, 6, 24])]
        assert_allclose(GaussianSeries(degree=4, sigma=s).fit_transform([[x]]), [expected], rtol=1e-14)

    @pytest.mark.parametrize("degree", [0, 1, 3, 8, 15])
    @pytest.mark.parametrize("d", [1, 2, 3])
    def test_the_truncation_error_is_a_bound(self, degree, d):
        phi = GaussianSeries(degree=degree, sigma=1.3).fit(X[:, :d])
        features = phi.transform(X[:, :d])
        error = np.abs(features @ features.T - Gaussian(sigma=1.3)(X[:, :d])).max()
        assert error <= phi.truncation_error_ + 1e-14
        assert phi.truncation_error_ <= error * 1.001 + 1e-13  # reached at the point farthest out
        assert phi.truncation_error(X[:5, :d]) <= phi.truncation_error_

    def test_errors(self):
        for wrong in ({"degree": -1}, {"degree": 1.5}, {"degree": 1000}, {"sigma": 0}):
            with pytest.raises(ValueError, match="degree|width"):
                GaussianSeries(**wrong).fit(X)
        with pytest.raises(ValueError, match="2 features"):
            GaussianSeries().fit(X).truncation_error(X[:, :2])

    def test_far_out(self):
        phi = GaussianSeries(degree=30).fit([[1.0]])
        assert_array_equal(phi.transform(np.array([[30.0]], np.float32)), np.zeros((1, 31)))
        assert_array_equal(GaussianSeries(degree=150).fit_transform([[1000.0]]), np.zeros((1, 151)))


def test_prototypes():
    corners = [[0, 0, 0, 0], [1, 1, 1, 1]]
    phi = PrototypeMap(prototypes=corners).fit(X)
    expected = [[np.exp(-np.sum((z - np.array(p)) ** 2)) for p in corners] for z in Z]
    assert_allclose(phi.transform(Z), expected, rtol=1e-12)
    assert PrototypeMap(prototypes=100).fit(X).transform(Z).shape == (15, 60)
    with pytest.raises(ValueError, match="the prototypes have 2 columns, but X has 4"):
        PrototypeMap(prototypes=[[1, 2]]).fit(X)
    with pytest.raises(ValueError, match="prototypes must be a whole number"):
        PrototypeMap(prototypes=0).fit(X)


class TestRandomFourier:
    def test_diagonal_is_one(self):
        features = RandomFourier(Laplacian(0.3), n_components=10).fit_transform(X)
        assert_allclose((features**2).sum(axis=1), 1)

    def test_sparse(self):
        phi = RandomFourier(random_state=0).fit(csr_array(X))
        assert_allclose(phi.transform(csr_array(Z)), phi.transform(Z), atol=1e-12)

    def test_errors(self):
        with pytest.raises(ValueError, match=r"Gaussian, Laplacian and Matern, not of Linear\(\)"):
            RandomFourier(Linear()).fit(X)
        with pytest.raises(ValueError, match="n_components must be a whole number, 1 or more"):
            RandomFourier(n_components=0).fit(X)

    def test_an_odd_number(self):
        maps = [RandomFourier(Gaussian(0.3), n_components=3, random_state=seed).fit(X) for seed in range(1500)]
        mean = np.mean([phi.transform(X[:5]) @ phi.transform(X[5:9]).T for phi in maps], axis=0)
        assert np.abs(mean - Gaussian(0.3)(X[:5], X[5:9])).max() < 0.08


class TestNystrom:
    @pytest.mark.parametrize("selection", ["uniform", "rpcholesky"])
    def test_exact_at_the_landmarks(self, selection):
        phi = Nystrom(Gaussian(0.3), landmarks=12, selection=selection, random_state=0).fit(X)
        landmarks = X[phi.landmark_indices_]
        assert_allclose(phi.transform(Z) @ phi.transform(landmarks).T, Gaussian(0.3)(Z, landmarks), atol=1e-8)
        assert np.all((phi.transform(Z) ** 2).sum(axis=1) <= 1 + 1e-10)

    def test_all_landmarks_is_the_kernel(self):
        phi = Nystrom(Gaussian(0.3), landmarks=1000, selection="uniform").fit(X)
        assert_allclose(phi.transform(X) @ phi.transform(X).T, Gaussian(0.3)(X), atol=1e-8)

    def test_pivoted_landmarks_are_better_on_clusters(self):
        generator = np.random.default_rng(0)
        points = np.vstack([generator.normal(size=(950, 2)) * 0.05, generator.normal(size=(50, 2)) * 5 + 10])
        error = {}
        for selection in ("uniform", "rpcholesky"):
            features = Nystrom(Gaussian(0.5), 40, selection, random_state=0).fit_transform(points)
            error[selection] = 1000 - (features**2).sum()
        assert error["rpcholesky"] < 0.5 * error["uniform"]

    def test_any_objects_and_sparse(self):
        phi = Nystrom(FromFunction(common_letters), landmarks=3, random_state=0).fit(words(20))
        assert phi.transform(words(5, seed=1)).shape == (5, 3)
        assert Nystrom(landmarks=5).fit(csr_array(X)).transform(csr_array(Z)).shape == (15, 5)

    def test_errors_and_odd_data(self):
        with pytest.raises(ValueError, match="selection must be"):
            Nystrom(selection="best").fit(X)
        with pytest.raises(ValueError, match="entries >= 0"):
            Nystrom(Chi2()).fit(X)
        with pytest.raises(ValueError, match="maps points, not kernel values"):
            Nystrom(Precomputed()).fit(X @ X.T)
        assert_array_equal(Nystrom(Linear()).fit_transform(np.zeros((3, 2))), np.zeros((3, 1)))
        assert Nystrom(Linear()).fit_transform(np.ones((30, 2))).shape == (30, 1)


class TestSpectral:
    def test_it_is_not_unique(self):
        phi = SpectralMap(Gaussian(0.3)).fit(X)
        other = phi.rotated(random_state=0)
        assert np.abs(phi.transform(X) - other.transform(X)).max() > 0.1
        assert_allclose(other.transform(X) @ other.transform(X).T, Gaussian(0.3)(X), atol=1e-8)
        assert_allclose(phi.transform(X) @ phi.transform(X).T, Gaussian(0.3)(X), atol=1e-8)
        assert_allclose(other.transform(Z) @ other.transform(Z).T, phi.transform(Z) @ phi.transform(Z).T, atol=1e-8)
        assert phi.exact and not SpectralMap(n_components=3).exact
        alone = SpectralMap(Linear()).fit(X[:, :1]).rotated()
        assert_allclose(alone.transform(X[:, :1]) @ alone.transform(X[:, :1]).T, X[:, :1] @ X[:, :1].T, atol=1e-10)

    @pytest.mark.parametrize(("text", "options"), [
        ("rbf(gamma=0.2)", {"kernel": "rbf", "gamma": 0.2}),
        ("poly(degree=3, gamma=0.5)", {"kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 1}),
        ("linear", {"kernel": "linear"}),
    ])  # fmt: skip
    def test_centred_it_is_kernel_pca(self, text, options):
        ours = SpectralMap(text, n_components=3, center=True).fit(X)
        theirs = KernelPCA(n_components=3, eigen_solver="dense", **options).fit(X)
        for points in (X, Z):
            a, b = ours.transform(points), theirs.transform(points)
            signs = np.sign((a * b).sum(axis=0))
            assert_allclose(a, b * signs, atol=1e-8)

    def test_duplicates_and_zeros(self):
        twice = np.vstack([X, X])
        features = SpectralMap(Linear()).fit_transform(twice)
        assert features.shape == (120, 4)
        assert_allclose(features @ features.T, twice @ twice.T, atol=1e-9)
        assert_array_equal(SpectralMap(Linear()).fit_transform(np.zeros((3, 2))), np.zeros((3, 1)))
        assert SpectralMap(Gaussian(1.0)).fit_transform(X[:1]).shape == (1, 1)

    def test_single_precision(self):
        single = X.astype(np.float32)
        features = SpectralMap(Gaussian(0.05)).fit_transform(single)
        assert features.dtype == np.float32
        assert np.abs(features @ features.T - Gaussian(0.05)(X)).max() < 1e-5
        rough = Nystrom(Gaussian(0.05), landmarks=60, selection="uniform").fit(single).transform(single)
        assert np.abs(rough @ rough.T - Gaussian(0.05)(X)).max() < 1e-4

    def test_what_is_held_is_a_copy(self):
        points = X.copy()
        phi = SpectralMap(Gaussian(0.3)).fit(points)
        before = phi.transform(Z)
        points[:] = 0
        assert_array_equal(phi.transform(Z), before)

    def test_row_numbers(self):
        features = SpectralMap(Precomputed(X @ X.T)).fit_transform(np.arange(60))
        assert_allclose(features @ features.T, X @ X.T, atol=1e-10)

    def test_indefinite(self):
        phi = SpectralMap(FromFunction(lambda x, z: np.tanh(x @ z - 1)))
        with pytest.warns(UserWarning, match="is not positive definite on these points: K has the eigenvalue -"):
            phi.fit(X)
        assert not phi.exact

    def test_words(self):
        texts = words(12)
        features = SpectralMap(FromFunction(common_letters)).fit_transform(texts)
        assert_allclose(features @ features.T, FromFunction(common_letters)(texts), atol=1e-8)


def test_in_a_pipeline_with_nested_parameters():
    pipeline = make_pipeline(RandomFourier(Gaussian(1.0), random_state=0), PolarMap())
    pipeline.set_params(randomfourier__kernel__gamma=0.25)
    assert pipeline.fit(X).steps[0][1].kernel_ == Gaussian(0.25)
    text = RandomFourier("rbf(gamma=1)")
    assert text.fit(X).kernel_ == Gaussian(1)

"""What single kernels promise: resolving, precision, known answers, custom points."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix, random_array
from sklearn.metrics import pairwise

import mercer
from mercer.kernels import (
    Centered,
    Chi2,
    ExpChi2,
    FromFeatures,
    FromFunction,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    Precomputed,
)

generator = np.random.default_rng(0)
X = generator.normal(size=(50, 6))
Z = generator.normal(size=(30, 6))


def test_agrees_with_scikit_learn():
    H, J = np.abs(X), np.abs(Z)
    for kernel, A, B, expected in [
        (Linear(), X, Z, pairwise.linear_kernel(X, Z)),
        (Polynomial(3, 0.5, 2.0), X, Z, pairwise.polynomial_kernel(X, Z, degree=3, gamma=0.5, coef0=2.0)),
        (Gaussian(0.2), X, Z, pairwise.rbf_kernel(X, Z, gamma=0.2)),
        (Laplacian(0.2), X, Z, pairwise.laplacian_kernel(X, Z, gamma=0.2)),
        (ExpChi2(0.3), H, J, pairwise.chi2_kernel(H, J, gamma=0.3)),
        (Normalized(Linear()), X, Z, pairwise.cosine_similarity(X, Z)),
    ]:
        assert_allclose(kernel(A, B), expected, rtol=1e-11, atol=1e-13)


class TestGaussian:
    def test_diagonal_is_exactly_one(self):
        for dtype in (np.float32, np.float64):
            for shift in (0, 1000, 1e6):
                K = Gaussian(0.5)((generator.normal(size=(900, 30)) + shift).astype(dtype))
                assert_array_equal(np.diagonal(K), 1)
                assert K.max() <= 1
                assert K.min() >= 0

    def test_far_from_the_origin(self):
        for gamma in (0.02, 0.5):
            far = (generator.normal(size=(1200, 50)) + 1000).astype(np.float32)
            other = (generator.normal(size=(800, 50)) + 1000).astype(np.float32)
            K, precise = Gaussian(gamma)(far, other), Gaussian(gamma)(far.astype(float), other.astype(float))
            assert np.abs(K - precise).max() < 1e-5
            exact = np.exp(-gamma * ((far[:20, None].astype(float) - other[None, :30].astype(float)) ** 2).sum(-1))
            assert np.abs(precise[:20, :30] - exact).max() < 1e-12

    def test_clusters_far_apart(self):
        """Centring cannot help here: near pairs far from the common mean."""
        clusters = generator.normal(size=(600, 5)) + 3000.0 * generator.integers(-1, 2, size=(600, 1))
        single = clusters.astype(np.float32)
        K, precise = Gaussian(1.0)(single), Gaussian(1.0)(single.astype(float))
        assert np.abs(K - precise).max() < 1e-5
        exact = np.exp(-((single[:, None].astype(float) - single[None].astype(float)) ** 2).sum(-1))
        assert np.abs(precise - exact).max() < 1e-12
        assert np.abs(Gaussian(1.0)(csr_matrix(single.astype(float))) - exact).max() < 1e-12
        assert mercer.evidence(Gaussian(1.0), single * 1000).positive_definite

    def test_huge_and_tiny_scales(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for scale in (1e-150, 1e-20, 1e15, 1e150):
                kernel = Gaussian(0.5 / scale / scale)
                assert_allclose(kernel(X * scale, Z * scale), Gaussian(0.5)(X, Z), rtol=1e-9)
            large = (X * 1e25).astype(np.float32)
            assert_allclose(Gaussian(0.5e-50)(large), Gaussian(0.5)(X), rtol=1e-4, atol=1e-6)
            with pytest.raises(ValueError, match="overflow on these points: scale"):
                Gaussian(1e-300)(X * 1e200)
            assert_array_equal(Gaussian(1e300)(X), np.eye(50))

    def test_scale(self):
        for A in (X, X.astype(np.float32), csr_matrix(X)):
            assert_allclose(Gaussian().resolve(A).gamma, 1 / (6 * X.var()), rtol=1e-6)
        weight = generator.integers(0, 4, size=50)
        repeated = np.repeat(X, weight, axis=0)
        for rule in ("scale", "median"):
            weighted = Gaussian(rule).resolve(X, sample_weight=weight).gamma
            assert_allclose(weighted, Gaussian(rule).resolve(repeated).gamma, rtol=1e-12)
        assert Gaussian().resolve(np.ones((3, 2))).gamma == 1.0
        assert Gaussian("median").resolve(np.ones((3, 2))).gamma == 1.0
        assert Gaussian(0.7).resolve(X) == Gaussian(0.7)

    def test_median(self):
        points = np.array([[0.0], [1.0], [3.0]])  # distances 1, 2, 3
        assert Gaussian("median").resolve(points).gamma == 1 / (2 * 2.0**2)
        many = generator.normal(size=(5000, 3))
        assert 0.05 < Gaussian("median").resolve(many).gamma < 0.2

    def test_resolving_reaches_every_part(self):
        kernel = 2 * Gaussian() + Normalized(Gaussian("median")) * Linear()
        resolved = kernel.resolve(X)
        assert "scale" not in repr(resolved) and "median" not in repr(resolved)
        assert resolved.left.kernel == Gaussian().resolve(X)
        resolved(X)

    def test_unresolved_is_an_error_that_says_so(self):
        for act in (lambda k: k(X), lambda k: k.diag(X), lambda k: k.product(X, X, np.ones(50))):
            with pytest.raises(ValueError, match=r"waits for training data: call kernel.resolve\(X\)"):
                act(Linear() + Gaussian())

    @pytest.mark.parametrize(
        ("weight", "fault"),
        [
            (-np.ones(50), "one is -1"),
            (np.zeros(50), "their sum is 0"),
            (np.full(50, 1e308), "their sum is inf"),
            (np.ones(3), r"its shape is \(3,\)"),
            (np.full(50, np.nan), "one is nan"),
            (["heavy"] * 50, "one is nan"),
        ],
        ids=["negative", "zero", "huge", "few", "nan", "words"],
    )
    def test_bad_weights(self, weight, fault):
        with pytest.raises(ValueError, match=f"sample_weight must be 50 finite numbers .*; {fault}"):
            Gaussian().resolve(X, sample_weight=weight)

    def test_width(self):
        assert Gaussian(sigma=2.0) == Gaussian(gamma=0.125)


def test_xor_kernel():
    points = np.array([[1, 1], [-1, -1], [-1, 1], [1, -1]])
    assert_array_equal(Polynomial()(points), [[9, 1, 1, 1], [1, 9, 1, 1], [1, 1, 9, 1], [1, 1, 1, 9]])


def test_histograms_with_empty_bins():
    H = np.array([[0.0, 0.0], [0.0, 1.0]])
    assert_array_equal(Chi2()(H), [[0, 0], [0, 0.5]])
    assert_array_equal(Intersection()(H), [[0, 0], [0, 1]])
    assert_allclose(ExpChi2(1.0)(H), [[1, np.exp(-1)], [np.exp(-1), 1]], rtol=1e-15)
    tiny = np.full((2, 2), 1e-320)
    assert np.isfinite(Chi2()(tiny)).all()


def test_normalised_zero_is_zero():
    points = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert_array_equal(Normalized(Linear())(points), [[0, 0], [0, 1]])


def test_centred():
    from sklearn.preprocessing import KernelCenterer

    K = Polynomial()(X)
    centring = KernelCenterer().fit(K)
    kernel = Centered(Polynomial()).resolve(X)
    assert_allclose(kernel(X), centring.transform(K.copy()), rtol=1e-10, atol=1e-10)
    assert_allclose(kernel(Z, X), centring.transform(Polynomial()(Z, X)), rtol=1e-10, atol=1e-10)
    assert_allclose(Centered(Linear()).resolve(X)(Z), (Z - X.mean(0)) @ (Z - X.mean(0)).T, atol=1e-12)
    weight = generator.integers(0, 3, size=50)
    assert_allclose(
        Centered(Linear()).resolve(X, weight)(Z),
        Centered(Linear()).resolve(np.repeat(X, weight, axis=0))(Z),
        atol=1e-12,
    )
    with pytest.raises(ValueError, match="waits for the points to centre on"):
        Centered(Linear())(X)
    assert mercer.kernel("centered(linear())") == Centered(Linear())
    assert "on 50 points" in repr(kernel)
    assert kernel.resolve(Z) is kernel


class TestPrecomputed:
    K = X @ X.T

    def test_x_is_the_block(self):
        assert_array_equal(Precomputed()(self.K), self.K)
        assert_array_equal(Precomputed()(self.K[:7], self.K), self.K[:7])
        assert_array_equal((2 * Precomputed() + Precomputed())(self.K), 3 * self.K)
        assert_array_equal(Precomputed().diag(self.K), np.diagonal(self.K))
        assert Precomputed()(self.K.astype(np.float32)).dtype == np.float32
        assert Precomputed() == Precomputed() and hash(Precomputed()) == hash(Precomputed())

    def test_x_is_row_numbers(self):
        kernel = Precomputed(self.K)
        assert_array_equal(kernel([3, 1], [2]), self.K[[3, 1]][:, [2]])
        assert_allclose(Normalized(kernel)(range(50)), Normalized(Linear())(X), atol=1e-12)
        assert kernel != Precomputed(self.K)
        assert repr(kernel) == "<Precomputed 50 x 50>"
        with pytest.raises(ValueError, match="read-only"):
            kernel.matrix[0, 0] = 1

    def test_errors(self):
        with pytest.raises(ValueError, match="one column per training point: 50 are expected"):
            Precomputed()(self.K[:, :4], self.K)
        with pytest.raises(ValueError, match="one column per training point"):
            Precomputed()(self.K[:4])
        with pytest.raises(ValueError, match="square"):
            Precomputed(self.K[:4])
        with pytest.raises(ValueError, match=r"outside 0 ... 49"):
            Precomputed(self.K)([50])
        with pytest.raises(ValueError, match="list of integers"):
            Precomputed(self.K)([0.5])
        with pytest.raises(ValueError, match="mixes precomputed values with a kernel on points"):
            (Precomputed() + Linear())(self.K)


def test_a_constant_takes_any_points():
    kernel = FromFunction(lambda x, z: len(set(x) & set(z)))
    assert_array_equal((kernel + 1)(["ab", "bc"]), [[3, 2], [2, 3]])
    assert_array_equal((2 + 3 * kernel)(["ab"]), [[8]])
    assert_array_equal((Precomputed() + 1)(np.eye(2)), np.eye(2) + 1)
    assert_array_equal(mercer.kernel("constant(2)")(["a", "b"]), np.full((2, 2), 2))
    with pytest.raises(ValueError, match="mixes precomputed values"):
        (Precomputed() + kernel)(np.eye(2))


def test_another_kernel_inside_is_centred_anew():
    kernel = Centered(Gaussian(0.5)).resolve(X)
    changed = kernel.with_params(kernel__gamma=5.0)
    assert changed == Centered(Gaussian(5.0))
    assert kernel.with_params(kernel=Gaussian(0.5)).centre is kernel.centre
    with pytest.raises(ValueError, match="sample_weight"):
        Centered(Linear()).resolve(X, np.zeros(50))


class TestFromFunction:
    def test_any_objects(self):
        graphs = [{"a": ["b"]}, {"a": ["b", "c"], "b": []}, {}]
        kernel = FromFunction(lambda g, h: len(g.keys() & h.keys()))
        assert_array_equal(kernel(graphs), [[1, 1, 0], [1, 2, 0], [0, 0, 0]])
        assert_array_equal(kernel(tuple(graphs), graphs[:1]), [[1], [1], [0]])
        sets = [{1, 2}, {2, 3}]
        assert_array_equal(FromFunction(lambda a, b: len(a & b))(sets), [[2, 1], [1, 2]])

    def test_rows_of_arrays_and_sparse_matrices(self):
        kernel = FromFunction(lambda x, z: x @ z)
        assert_allclose(kernel(X, Z), X @ Z.T, atol=1e-12)
        assert_allclose(kernel(csr_matrix(X), Z), X @ Z.T, atol=1e-12)
        assert_allclose((kernel + Linear())(X, Z), 2 * X @ Z.T, atol=1e-12)

    def test_identity(self):
        def same(x, z):
            return float(x == z)

        assert FromFunction(same) != FromFunction(same)
        kernel = FromFunction(same)
        assert kernel + Linear() == kernel + Linear()
        assert repr(kernel) == "<FromFunction same>"

    def test_errors(self):
        with pytest.raises(TypeError, match="needs a function"):
            FromFunction(3)
        with pytest.raises(TypeError, match="must give one number for two points, but gave list"):
            FromFunction(lambda x, z: [1, 2])(["a"])
        with pytest.raises(ValueError, match="gave nan for the points 'a' and 'a'"):
            FromFunction(lambda x, z: float("nan"))(["a"])
        with pytest.raises(TypeError, match="single text"):
            FromFunction(lambda x, z: 1)("abc")
        with pytest.raises(ZeroDivisionError):
            FromFunction(lambda x, z: 1 / 0)(["a"])


class TestFromFeatures:
    def test_of_one_point_or_of_all(self):
        expected = Linear()(X**2)
        assert_allclose(FromFeatures(lambda x: x**2)(X), expected, rtol=1e-12)
        assert_allclose(FromFeatures(lambda x: [x[j] ** 2 for j in range(6)])(X), expected, rtol=1e-12)
        assert_allclose(FromFeatures(lambda A: np.column_stack([A[:, j] ** 2 for j in range(6)]))(X), expected)
        assert_array_equal(FromFeatures(len)(["a", "bcd"]), [[1, 3], [3, 9]])

    def test_errors(self):
        with pytest.raises(TypeError, match="needs a function or a fitted transformer"):
            FromFeatures(3)
        with pytest.raises(ValueError, match="must hold numbers"):
            FromFeatures(lambda x: "text")(["a"])
        with pytest.raises(ValueError, match="contains NaN"):
            FromFeatures(lambda x: [np.nan])(["a"])


def test_wide_data_by_pieces():
    """More coordinates than are copied at a time, dense and sparse."""
    wide = np.abs(generator.normal(size=(20, 2500))) * (generator.random((20, 2500)) < 0.3)
    for kernel in (Gaussian(1e-3), Laplacian(1e-3), Chi2(), Intersection(), ExpChi2(1e-3), Linear()):
        expected = kernel(wide[:, :1000]) * 0 + kernel(wide)
        assert_allclose(kernel(csr_matrix(wide)), expected, rtol=1e-10)
    differences = wide[:, None] - wide[None]
    assert_allclose(Gaussian(1e-3)(wide), np.exp(-1e-3 * (differences**2).sum(-1)), rtol=1e-10)
    assert_allclose(Laplacian(1e-3)(wide), np.exp(-1e-3 * np.abs(differences).sum(-1)), rtol=1e-10)


def test_very_wide_sparse_text():
    documents = random_array((300, 40_000), density=1e-3, format="csr", random_state=0)
    assert_allclose(Linear()(documents), (documents @ documents.T).toarray(), atol=1e-12)
    assert_allclose(Intersection()(documents[:5]), [
        [documents[[i]].minimum(documents[[j]]).sum() for j in range(5)] for i in range(5)
    ], atol=1e-12)  # fmt: skip


def test_overflow_is_an_error():
    with pytest.raises(ValueError, match="overflow on these points"):
        Polynomial(degree=50)(X * 1e10)
    with pytest.raises(ValueError, match="overflow on these points"):
        Linear()((X * 1e30).astype(np.float32))
    with pytest.raises(ValueError, match="too large or too small"):
        Gaussian().resolve(X * 1e200)


def test_a_frame_of_one_column_of_text_is_a_list_of_texts():
    """A kernel on strings gets strings, and not arrays of one string."""
    from pandas import DataFrame

    words = ["abba", "baab", "abab", "xyzzy", "zyx", "yxz"]

    def common(x, z):
        return float(sum(x.count(letter) * z.count(letter) for letter in set(x)))

    kernel = FromFunction(common)
    expected = kernel(words)
    for X in (DataFrame({"word": words}), np.array(words)[:, None], np.array(words, object)[:, None]):
        np.testing.assert_array_equal(kernel(X), expected)
        machine = mercer.SVC(kernel).fit(X, [0, 0, 0, 1, 1, 1])
        assert machine.predict(X).tolist() == [0, 0, 0, 1, 1, 1] and machine.predict(words[:1]).tolist() == [0]
    assert kernel(words)[0, 1] == 8.0
    numbers = FromFunction(lambda x, z: float(x @ z))  # a column of numbers stays one of vectors
    np.testing.assert_array_equal(numbers(DataFrame({"a": [1.0, 2.0]})), [[1.0, 2.0], [2.0, 4.0]])

"""Evidence of positive definiteness, or a witness against it."""

from __future__ import annotations

from importlib import import_module
from math import tanh

import numpy as np
import pytest

import mercer
from mercer.gram.evidence import FULL
from mercer.kernels import Centered, FromFunction, Gaussian, Linear, Polynomial, Precomputed

from .zoo import vectors

pytestmark = pytest.mark.digits

X = vectors(40)
sigmoid = FromFunction(lambda x, z: tanh(x @ z - 1))


def negative(found, K):
    """Whether the witness shows what it claims."""
    return found.witness @ K @ found.witness < 0 and np.isclose(found.witness @ K @ found.witness, found.witness_value)


def test_sigmoid_has_a_witness():
    found = mercer.evidence(sigmoid, X)
    assert not found.positive_definite and found.symmetric
    assert negative(found, sigmoid(X))
    assert found.smallest_eigenvalue < 0
    assert found.proof == ()
    text = str(found)
    assert "NOT positive definite" in text and "witness" in text and "none known" in text
    assert len(text.splitlines()) <= 8


def test_sum_with_an_unknown_part_has_no_proof():
    assert mercer.evidence(Linear() + sigmoid, X).proof == ()


def test_perturbed_matrix():
    K = Gaussian(0.5)(X)
    assert mercer.evidence(K).positive_definite
    K[3, 7] += 2
    K[7, 3] += 2
    found = mercer.evidence(K)
    assert not found.positive_definite and found.symmetric
    assert negative(found, K)
    assert str(found).startswith("a matrix on 40 points: NOT positive definite")


def test_unsymmetric_matrix_names_the_worst_pair():
    K = Gaussian(0.5)(X)
    K[3, 7] += 0.01
    K[20, 11] += 0.25
    found = mercer.evidence(K)
    assert not found.symmetric and not found.positive_definite
    assert found.worst_pair == (11, 20)
    assert np.isclose(found.asymmetry, 0.25)
    assert "K[11, 20] and K[20, 11] differ by 0.25" in str(found)


def test_rounding_is_not_taken_for_asymmetry():
    single = X.astype(np.float32)
    assert mercer.evidence(single @ single.copy().T).symmetric
    assert mercer.evidence(Centered(Polynomial(3)), single * 1000).positive_definite


def test_unsymmetric_function():
    found = mercer.evidence(FromFunction(lambda x, z: float(x[0])), X)
    assert not found.symmetric


def test_closure_rules_are_told():
    found = mercer.evidence(2 * Gaussian() + Linear() * Polynomial(), X)
    assert found.positive_definite
    assert len(found.proof) == 6
    text = str(found)
    assert "a sum of positive definite kernels" in text and "(Schur)" in text and "Bochner" in text
    assert "scale" not in text  # resolved on X


def test_polynomial_with_negative_constant():
    kernel = Polynomial(degree=2, coef0=-1.0)
    found = mercer.evidence(kernel, X)
    assert not found.positive_definite and found.proof == ()
    assert negative(found, kernel(X))


def test_rounding_is_not_taken_for_a_witness():
    for kernel in (Linear(), Gaussian(1e-9), Polynomial(degree=9), Centered(Linear())):
        for scale in (1e-8, 1.0, 1e8):
            assert mercer.evidence(kernel, X * scale).positive_definite
    single = Gaussian(1e-3)(X.astype(np.float32))
    assert mercer.evidence(single).positive_definite
    assert mercer.evidence(Linear(), np.zeros((5, 2))).positive_definite
    assert mercer.evidence(Linear(), X.astype(np.float32)).positive_definite


def test_precomputed():
    assert mercer.evidence(Precomputed(), X @ X.T).positive_definite
    assert mercer.evidence(Precomputed(X @ X.T), np.arange(10)).positive_definite


def test_many_points_by_lanczos():
    many = np.random.default_rng(0).normal(size=(FULL + 100, 3))
    found = mercer.evidence(Gaussian(), many)
    assert found.positive_definite
    assert "Lanczos" in found.method and "Lanczos" in str(found)
    assert np.isclose(found.largest_eigenvalue, np.linalg.norm(Gaussian().resolve(many)(many), 2), rtol=1e-6)
    K = Gaussian(1.0)(many)
    K[np.ix_(range(50), range(50))] -= 0.5
    found = mercer.evidence(K)
    assert not found.positive_definite
    assert negative(found, K)
    assert mercer.evidence(Gaussian(), many, memory="2MB").positive_definite  # rows on demand
    assert mercer.evidence(Linear(), many).positive_definite  # low rank, an invariant subspace


def test_lanczos_on_an_unsymmetric_matrix(monkeypatch):
    monkeypatch.setattr(import_module("mercer.gram.evidence"), "FULL", 20)
    K = Gaussian(0.5)(X)
    K[3, 7] += 4
    found = mercer.evidence(K)
    assert found.worst_pair == (3, 7)
    assert negative(found, K)
    with pytest.raises(ValueError, match="give more memory=, or fewer points"):
        mercer.evidence(sigmoid, X, memory=1000)


def test_a_wrong_reason_is_told():
    class Wrong(Gaussian, names=()):
        def fill(self, A, B, out):
            super().fill(A, B, out)
            out -= 0.5

        def diagonal(self, A):
            return np.zeros(len(A))

    found = mercer.evidence(Wrong(1.0), X)
    assert "against its closure rules" in str(found)
    assert repr(found) == str(found)


def test_text():
    assert mercer.evidence("rbf(gamma=median) + linear", X).positive_definite


def test_errors():
    with pytest.raises(TypeError, match="needs points X"):
        mercer.evidence(Linear())
    with pytest.raises(TypeError, match="a kernel and points, or a matrix alone"):
        mercer.evidence(np.eye(2), X)
    with pytest.raises(ValueError, match="square"):
        mercer.evidence(np.ones((2, 3)))
    with pytest.raises(ValueError, match="contains NaN"):
        mercer.evidence(np.full((2, 2), np.nan))


def test_a_singular_matrix_is_semidefinite_with_its_rank():
    """Three coordinates give a Gram matrix of rank 3, whatever the number of points."""
    for kernel, rank in ((Linear(), 3), (Polynomial(degree=2), 10), (Linear() * Linear(), 6)):
        found = mercer.evidence(kernel, X[:, :3])
        assert found.rank == rank == np.linalg.matrix_rank(kernel.resolve(X[:, :3])(X[:, :3]))
        assert f"positive semidefinite on these points, rank {rank}" in str(found)
        assert found.positive_definite, "as a kernel it is"
    found = mercer.evidence(Gaussian(1.0), X)
    assert found.rank == len(X) and "positive definite on these points" in str(found) and "rank" not in str(found)
    assert "positive semidefinite on these points, rank 1" in str(mercer.evidence(np.ones((3, 3))))


def test_moved_points_tell_stationary_kernels():
    points = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]])
    expected = f"stationary and radial: k(x + 1, z + 1) = {np.exp(-5):.4g}, k(x, z) = {np.exp(-5):.4g}"
    assert mercer.evidence(Gaussian(1.0), points).invariance == expected
    assert expected in str(mercer.evidence(Gaussian(1.0), points))
    for kernel, words in {
        "2*rbf(gamma=1) + 3": "stationary and radial",
        "matern * rbf": "stationary and radial",
        "laplacian(gamma=1)": "stationary, not radial",
        "rbf(gamma=1) + linear": "not stationary: k(x + 1, z + 1) = 10.0",
        "linear": "not stationary: k(x + 1, z + 1) = 10, k(x, z) = 3",
    }.items():
        assert mercer.evidence(kernel, points).invariance.startswith(words), kernel
    assert mercer.evidence(FromFunction(lambda x, z: float(x @ x == z @ z)), points).invariance.startswith("no rule")
    assert mercer.evidence(np.eye(2)).invariance == ""

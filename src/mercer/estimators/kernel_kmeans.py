"""Kernel k-means: clusters in feature space, and how much better any other clusters could be."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted, validate_data

from ..amounts import AT_A_TIME, ROUNDING
from ..arithmetic import DefaultArithmetic
from ..columns import pieces
from ..features.base import double
from ..features.leading import leading
from ..hints import TellsWhere
from ..kernels import Gaussian, Kernel
from ..kernels import kernel as as_kernel
from ..kernels.points import Domain, count, objects
from ..params import RebuildsParameters, random_generator, require_integer
from ..types import Array, Index, Points
from .checks import sample_weights
from .kernel_pca import square_matrix


class _Clusters(NamedTuple):
    labels: Index
    objective: float
    rounds: int


class KernelKMeans(ClusterMixin, TellsWhere, RebuildsParameters, DefaultArithmetic, BaseEstimator):  # type: ignore[misc]
    """min sum_i c_i |phi(x_i) - m_(label of i)|^2, with m_j the mean of cluster j in feature space and weights c_i.

    Clusters are found from several beginnings, each improved until nobody moves. No clusters cost less than
    lower_bound_: the trace of K around its mean minus its n_clusters - 1 largest eigenvalues (Ding, He 2004).

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    kernel : Kernel, str or callable, default=Gaussian()
        An object, the same thing as text such as "rbf(gamma=0.5) + linear", or a function of two matrices, as in
        scikit-learn.
    n_init : int, default=4
        Beginnings: the first by leading components, the others by points drawn far from each other.
    max_iter : int, default=300
        Rounds for each.
    memory : int, float or str, default="2GB"
        What the Gram matrix may take, in bytes or as text.
    random_state : int or RandomState, default=None
        The seed of the beginnings.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each point; 0 is the heaviest.
    inertia_ : float
        The objective.
    lower_bound_ : float
        What no clusters can be below.
    kernel_ : Kernel
        The kernel, with its parameters found.
    X_fit_ : array or list of n_samples points
        The points of the training.
    n_iter_ : int
        The rounds of the best beginning.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    """

    lower_bound_: float
    _parsers: ClassVar[dict[str, Any]] = {"kernel": as_kernel}

    def __init__(
        self,
        n_clusters: int = 8,
        kernel: Any = Gaussian(),  # noqa: B008
        n_init: int = 4,
        max_iter: int = 300,
        memory: int | float | str = "2GB",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_init = n_init
        self.max_iter = max_iter
        self.memory = memory
        self.random_state = random_state

    def fit(self, X: Points, y: Any = None, sample_weight: Any = None) -> Self:
        """Find clusters of the points X with these weights."""
        for name in ("n_clusters", "n_init", "max_iter"):
            require_integer(self, name, at_least=1)
        kernel = as_kernel(self.kernel)
        X = self._admit(X, kernel, reset=True)
        n, k = count(X), int(self.n_clusters)
        if n < k:
            raise ValueError(f"n_samples={n} should be >= n_clusters={k}: there cannot be more clusters than points.")
        weight, points = sample_weights(sample_weight, n), double(X)
        self.kernel_ = kernel.resolve(points, weight)
        K = square_matrix(self, points)
        generator = random_generator(self.random_state)
        components = self._components(K.copy(), weight)
        best: _Clusters | None = None
        for number in range(int(self.n_init)):
            first = components if number == 0 else None
            found = _improved(K, weight, _begun(K, weight, k, generator, first), k, int(self.max_iter))
            if best is None or found.objective < best.objective:
                best = found
        assert best is not None
        by_mass = np.argsort(-np.bincount(best.labels, weight, k), kind="stable")  # the heaviest cluster is the first
        self.labels_ = np.argsort(by_mass)[best.labels].astype(np.int32)
        self.inertia_, self.n_iter_ = best.objective, best.rounds
        self.lower_bound_ = min(self.lower_bound_, self.inertia_)
        self._keep(K, weight, points, k)
        return self

    def predict(self, X: Points) -> Array:
        """The cluster whose mean is nearest."""
        check_is_fitted(self)
        X = double(self._admit(X, self.kernel_, reset=False))
        labels = np.empty(count(X), np.int32)
        for rows in pieces(count(X), AT_A_TIME.rows):
            labels[rows] = (self._lengths - 2.0 * (self.kernel_(X[rows], self.X_fit_) @ self._shares)).argmin(axis=1)
        return labels

    def _admit(self, X: Points, kernel: Kernel, reset: bool) -> Any:
        if kernel.domain is Domain.VALUES:
            raise ValueError("KernelKMeans takes points, not kernel values: use Precomputed(matrix).")
        if kernel.domain is Domain.OBJECTS:
            return objects(X)
        return validate_data(self, X, dtype=[np.float64, np.float32], accept_sparse="csr", reset=reset)

    def _components(self, A: Array, weight: Array) -> Array:
        """The leading components of the weighted points, one fewer than clusters; and what they prove."""
        roots = np.sqrt(weight)
        A *= roots
        A *= roots[:, None]
        u = roots / np.linalg.norm(roots)
        total = float(np.trace(A))
        around = total - float(u @ A @ u)
        wanted = int(self.n_clusters) - 1
        if wanted == 0:
            self.lower_bound_ = max(around - ROUNDING.of_a_sum * total, 0.0)
            return np.zeros((len(A), 1))
        values, vectors, residuals = leading(A, wanted, u)
        most = float(np.sum(np.maximum(values, 0.0) + residuals))
        self.lower_bound_ = max(around - most - ROUNDING.of_a_sum * total, 0.0)
        scaled = vectors * np.sqrt(np.maximum(values, 0.0))
        return np.asarray(np.divide(scaled, roots[:, None], where=roots[:, None] > 0, out=np.zeros_like(scaled)))

    def _keep(self, K: Array, weight: Array, points: Points, k: int) -> None:
        """What predictions are made of: the share of each point in the mean of its cluster, and |m|^2."""
        self._shares = _shares_of(self.labels_, weight, k)
        self._lengths = np.einsum("ij,ij->j", self._shares, K @ self._shares)
        self.X_fit_ = points

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _shares_of(labels: Array, weight: Array, k: int) -> Array:
    """m_j = sum_i share_ij phi(x_i); a cluster without weight has none."""
    shares = np.zeros((labels.size, k))
    shares[np.arange(labels.size), labels] = weight
    mass = shares.sum(axis=0)
    return np.asarray(np.divide(shares, mass, where=mass > 0, out=shares))


def _begun(K: Array, weight: Array, k: int, generator: np.random.Generator, components: Array | None) -> Index:
    """Labels to begin with: by ordinary k-means of the leading components, or by points far from each other."""
    seed = int(generator.integers(np.iinfo(np.int32).max))
    if components is not None:
        ordinary = KMeans(k, n_init=1, random_state=seed)
        return np.asarray(ordinary.fit_predict(components, sample_weight=weight))
    diagonal = K.diagonal()
    chosen = [int(generator.choice(len(K), p=weight / weight.sum()))]
    nearest = diagonal + diagonal[chosen[0]] - 2.0 * K[chosen[0]]
    for _ in range(k - 1):  # k-means++ in feature space
        part = weight * np.maximum(nearest, 0.0)
        part = part if part.sum() > 0.0 else weight
        chosen.append(int(generator.choice(len(K), p=part / part.sum())))
        nearest = np.minimum(nearest, diagonal + diagonal[chosen[-1]] - 2.0 * K[chosen[-1]])
    return np.asarray((diagonal[chosen] - 2.0 * K[:, chosen]).argmin(axis=1))


def _improved(K: Array, weight: Array, labels: Index, k: int, most: int) -> _Clusters:
    """Everybody to the nearest mean, until nobody moves (Lloyd); an empty cluster gets the point that is worst off."""
    diagonal, rounds = K.diagonal(), 0
    while True:
        shares = _shares_of(labels, weight, k)
        towards = K @ shares
        distances = np.einsum("ij,ij->j", shares, towards) - 2.0 * towards
        own = diagonal + distances[np.arange(labels.size), labels]
        objective = max(float(weight @ own), 0.0)
        if rounds == most:
            break
        distances[:, shares.sum(axis=0) == 0.0] = np.inf
        new = distances.argmin(axis=1)
        own = weight * (diagonal + distances[np.arange(labels.size), new])
        for empty in np.setdiff1d(np.arange(k), new[weight > 0]):
            place = int(own.argmax())
            new[place], own[place] = empty, -np.inf
        rounds += 1
        if np.array_equal(new, labels):
            break
        labels = new
    return _Clusters(labels, objective, rounds)

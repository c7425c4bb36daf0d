"""What a fitted KernelRidge says of new points: f(x), how far off it may be, and intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..amounts import AT_A_TIME
from ..columns import sums_between
from ..kernels.pairwise import linear_scores
from ..kernels.points import Domain, admit_both, count, cut, is_sparse, take
from ..memory import parse_bytes
from ..types import Array, Points
from .machine import Machine
from .ridge_interval import (
    LeftOut,
    drawn,
    jackknife_plus,
    left_out_by_factor,
    left_out_by_features,
    require_coverage,
    require_solved,
)
from .ridge_spread import FactorSpread, some_rows


class RidgePredictions(Machine):
    """Predictions from coefficients or weights of features; variances from the factors that the fit has left."""

    alpha_: float
    amplitude_: Any
    has_landmarks_: bool
    X_fit_: Any
    _feature_weights: Array | None
    _spread_: Any
    _spread_centre: Array | None
    _training_ridge: Any
    _left_out_: Any = None  # made where it is needed
    _left_points: Any = None
    _left_weight: Any = None
    _left_errors: Any = None

    def predict(self, X: Points, return_std: bool | str = False, amplitude: Any = None) -> Any:
        """f(x) and, with return_std, the standard deviation of a new target at x in the Gaussian-process reading.

        The prior has the covariance amplitude k(x, z), and the noise the variance amplitude lambda / w_i. So about 95%
        of new targets of weight 1 lie within 1.96 deviations of f(x), where the kernel suits the data.
        return_std="latent" leaves out their noise: it is the deviation of f(x) itself. amplitude is amplitude_, fitted
        to the targets, unless it is given: with amplitude=1, the latent deviation is that of scikit-learn's
        GaussianProcessRegressor(alpha=lambda, optimizer=None). Deviations have the shape of f(x). With landmarks and
        more rows than the solver's `sample`, they are estimated from that sample.
        """
        if not (isinstance(return_std, bool | np.bool_) or return_std == "latent"):
            raise ValueError(f"KernelRidge: return_std must be False, True or 'latent', not {return_std!r}.")
        X = self._admit(X)
        mean = self._mean(X)
        if not return_std:
            return mean
        scale = _amplitudes(self.amplitude_ if amplitude is None else amplitude, np.shape(self.intercept_))
        if self.kernel_.domain is Domain.VALUES:
            raise ValueError("return_std needs k(x, x) of the new points, which precomputed values do not have.")
        spread, noise = self._spread(), 0.0 if return_std == "latent" else self.alpha_
        variance = np.empty(count(X))
        for rows in self._some(X, spread):
            variance[rows] = spread.variance(self._around(X[rows]))
        return mean, np.sqrt(np.multiply.outer(variance + noise, scale))

    def predict_interval(self, X: Points, coverage: float = 0.9) -> tuple[Array, Array]:
        """The lower and the upper ends of intervals that hold new targets, each of the shape of f(x): jackknife+.

        Whatever the distribution: where training points and the new one are exchangeable (drawn independently, say),
        an interval holds the new target with a probability of at least 2 coverage - 1, and typically of about
        coverage. Unlike deviations, this does not rest on the kernel or on normal noise. alpha and the parameters of
        the kernel are held, so that it is exact where these were not chosen by means of the same data.

        It follows from the f found without each of the training points, in closed form: nothing is fitted again. The
        first call takes up to three times as long as the fit. Points without weight do not count, others count once:
        where there are weights, points together with them must be exchangeable. In explicit features or through
        landmarks, of more than 10,000 points so many are drawn at random and left out in turn, with the same
        guarantee. Landmarks are held too, and those of many rows need loo=True. With fewer points than
        coverage / (1 - coverage), intervals are infinite.
        """
        require_coverage(coverage)
        X = self._admit(X)
        left_out = self._left_out()
        means = self._mean(X).reshape(count(X), -1)
        ends = np.empty((2, *means.shape))
        for rows in self._some(X, left_out.spread, len(left_out.residuals)):
            shares = left_out.shares(self._around(self._known(X[rows])))
            ends[:, rows] = jackknife_plus(means[rows], shares, left_out.residuals, coverage)
        lower, upper = ends if np.ndim(self.intercept_) else ends[:, :, 0]
        return lower, upper

    def _mean(self, X: Points) -> Array:
        """f(x) of admitted points."""
        if self._coef is not None:
            scores = linear_scores(X, np.atleast_2d(self._coef))
            return np.asarray((scores if np.ndim(self.intercept_) else scores[:, 0]) + self.intercept_)
        if self._feature_weights is not None:
            w = self._feature_weights
            sums = np.empty((count(X), w.shape[1]))
            for rows in some_rows(count(X), len(w), AT_A_TIME.values_within(parse_bytes(self.memory))):
                sums[rows] = self.kernel_.features(cut(X, rows, np.float64)) @ w
            return np.asarray((sums if np.ndim(self.intercept_) else sums[:, 0]) + self.intercept_, np.float64)
        if self.kernel_.domain is Domain.VALUES:
            return np.asarray(X @ self.dual_coef_ + self.intercept_)
        X, Z, _ = admit_both(self.kernel_, X, self.X_fit_)
        coefficients = self.dual_coef_.reshape(count(Z), -1)
        sums = sums_between(self.kernel_, X, Z, coefficients, [0, count(Z)], np.float64)[0].T
        return np.asarray(sums.reshape(-1, *self.dual_coef_.shape[1:]) + self.intercept_)

    def _spread(self) -> Any:
        """What knows the variance; where the fit left no factor that is precise enough, it is made now, and kept."""
        if self._spread_ is None:
            if self.has_landmarks_:
                raise ValueError("Deviations and intervals need a fit that was not stopped before its first round.")
            rows, r = self._training_ridge
            points = self._known(self.X_fit_ if rows.size == count(self.X_fit_) else take(self.X_fit_, rows))
            self._spread_ = FactorSpread.of(
                self.kernel_, self._around(points), r, bool(self.bias), parse_bytes(self.memory)
            )
        return self._spread_

    def _left_out(self) -> LeftOut:
        """The points that are left out in turn; found once, and kept."""
        if self._left_out_ is None:
            require_solved(self.certificates_)
            self._left_out_ = self._found_left_out(self._spread())
        found: LeftOut = self._left_out_
        return found

    def _found_left_out(self, spread: Any) -> LeftOut:
        if self.has_landmarks_:
            if self._left_points is None:
                raise ValueError("predict_interval with landmarks for so many rows needs a fit with loo=True.")
            return left_out_by_features(spread, self._left_points, self._left_errors, self._left_weight)
        rows, r = self._training_ridge
        beta = self.dual_coef_.reshape(count(self.X_fit_), -1)[rows]
        if isinstance(spread, FactorSpread):
            return left_out_by_factor(spread, beta)
        some = drawn(rows.size)
        points, r = self._around(take(self.X_fit_, rows[some])), r[some]
        return left_out_by_features(spread, points, r[:, None] * beta[some], self.alpha_ / r)

    def _some(self, X: Points, spread: Any, width: int = 0) -> list[slice]:
        """Rows of X, so many at a time that what is computed of them takes little of the memory."""
        return some_rows(count(X), max(width, spread.width), AT_A_TIME.values_within(parse_bytes(self.memory)))

    def _known(self, X: Points) -> Points:
        """Of precomputed values, those with points of the training that have a weight."""
        return X[:, self._training_ridge[0]] if self.kernel_.domain is Domain.VALUES else X

    def _around(self, X: Points) -> Points:
        """Points as those of the training were centred."""
        if self._spread_centre is None:
            return X
        return (X.toarray() if is_sparse(X) else X) - self._spread_centre


def _amplitudes(amplitude: Any, shape: tuple[int, ...]) -> Array:
    """The prior variance of each target."""
    try:
        given = np.asarray(amplitude, np.float64)
        good = bool((given >= 0).all()) and given.shape in ((), shape)
    except (TypeError, ValueError):
        good = False
    if not good:
        raise ValueError(f"KernelRidge: amplitude must be a number >= 0, or one for each target, not {amplitude!r}.")
    return np.asarray(np.broadcast_to(given, shape))

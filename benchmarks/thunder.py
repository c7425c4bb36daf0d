"""thundersvm-cpu with scikit-learn's attributes, so that `mercer.certify` can judge it.

It is installed by `pip install thundersvm-cpu`, on Linux.

Like LIBSVM it numbers classes in the order in which y shows them, and of two classes the first one is positive.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Self

import numpy as np
from thundersvm import SVC as Thunder  # noqa: N811


class SVC(Thunder):  # type: ignore[misc]
    """Fits and predicts as it comes; `as_scikit_learn` is for the judge."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit; thundersvm takes numbers as labels, and no gamma="scale"."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.codes = codes.astype(np.float64)
        if self.gamma == "scale":
            self.gamma = 1.0 / (X.shape[1] * float(X.var(dtype=np.float64)))
        super().fit(X, self.codes)
        self.class_weight = None  # which fit has replaced by {}
        return self

    def predict(self, X: Any) -> Any:
        """The labels of y."""
        return self.classes_[np.asarray(super().predict(X), int)]

    def as_scikit_learn(self) -> Self:
        """Coefficients and intercepts of sorted classes, the second of two positive, as scikit-learn has them."""
        codes = self.codes.astype(int)
        _, first = np.unique(codes, return_index=True)
        place = np.argsort(np.argsort(first))  # of each class, in the order in which they were seen
        group, k = codes[self.support_], len(first)
        number = {pair: i for i, pair in enumerate(combinations(range(k), 2))}
        dual, intercept = np.zeros_like(self.dual_coef_), np.zeros(len(number))
        two = -1.0 if k == 2 else 1.0  # of two classes alone, scikit-learn turns the sign
        for (i, j), at in number.items():
            one, other = sorted((place[i], place[j]))
            sign = two * (1.0 if place[i] == one else -1.0)
            dual[j - 1, group == i] = sign * self.dual_coef_[place[j] - (place[j] > place[i]), group == i]
            dual[i, group == j] = sign * self.dual_coef_[place[i] - (place[i] > place[j]), group == j]
            intercept[at] = -sign * self.intercept_[number[one, other]]
        self.dual_coef_, self.intercept_ = dual, intercept
        return self

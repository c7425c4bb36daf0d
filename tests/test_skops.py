"""skops, the safe format for scikit-learn's estimators, holds every one of ours."""

from __future__ import annotations

import numpy as np
import pytest
import skops.io
from sklearn.base import clone

from mercer.solution import Status

from .test_models import MODELS, X, points_of, values
from .zoo import FEATURES


def loaded(estimator):
    data = skops.io.dumps(estimator)
    return skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))


@pytest.mark.parametrize("name", MODELS)
def test_machines(name):
    model = MODELS[name]()
    points = points_of(model)
    np.testing.assert_array_equal(values(loaded(model), points), values(model, points))


@pytest.mark.parametrize("phi", FEATURES, ids=repr)
def test_feature_maps(phi):
    fitted = clone(phi).fit(X)
    np.testing.assert_array_equal(loaded(fitted).transform(X), fitted.transform(X))


def test_a_status_is_the_same_one():
    for status in Status:
        assert loaded(status) is status

"""What people bring along from scikit-learn is answered with where it is here."""

from __future__ import annotations

import inspect

import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, SVR, KernelRidge, LinearSVC
from mercer.estimators.elsewhere import ELSEWHERE

from .zoo import two_classes


def test_settings_of_scikit_learn():
    for name in ELSEWHERE:
        with pytest.raises(TypeError, match=f"SVC has no {name}: "):
            SVC(**{name: 1})
    with pytest.raises(TypeError, match=r'SVR has no gamma.*kernel="rbf\(gamma=0.1\)"'):
        SVR("rbf", gamma=0.1)
    with pytest.raises(TypeError, match="bias=True"):
        LinearSVC(fit_intercept=False)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        SVC(nothing=1)
    assert list(inspect.signature(SVC).parameters)[:2] == ["kernel", "C"]


def test_nested_settings_without_their_holder():
    X, y = two_classes()
    with pytest.raises(ValueError, match="it is kernel__gamma"):
        GridSearchCV(SVC("rbf"), {"gamma": [0.1]}, error_score="raise").fit(X, y)
    with pytest.raises(ValueError, match="it is kernel__degree"):
        KernelRidge("poly").set_params(degree=3)
    with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
        SVC("no kernel").set_params(nothing=3)


def test_certify_looks_into_pipelines():
    X, y = two_classes()
    pipeline = make_pipeline(StandardScaler(), SVC(tol=1e-6)).fit(X, y)
    assert mercer.certify(pipeline, X, y).relative_gap < 1e-6
    assert mercer.certify(make_pipeline(SVC()).fit(X, y), X, y).relative_gap < 1e-4

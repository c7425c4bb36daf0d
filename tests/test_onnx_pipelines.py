"""ONNX models of pipelines: in onnxruntime they predict what the pipelines do, or one sentence names the step."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, QuantileTransformer, StandardScaler

from mercer import SVC, SVR
from mercer.io.onnx import to_onnx

from .pipelines import PIPELINES, X, t, y

NAMED = {  # pipelines that ONNX has no form for, and the step that says so
    "data frames within": "'columntransformer-2', ColumnTransformer",
    "rare categories": "'onehotencoder', OneHotEncoder",
    "ordinal": "'simpleimputer', SimpleImputer",
    "products": "'polynomialfeatures', PolynomialFeatures",
    "shapes": "'quantiletransformer', QuantileTransformer",
    "isotonic": "CalibratedClassifierCV: it is around a Pipeline",
    "scaled targets": "TransformedTargetRegressor",
    "logarithms of targets": "TransformedTargetRegressor",
    "one against one": "OneVsOneClassifier",
}
OF_TEXTS = {"texts": "TfidfVectorizer", "counts": "CountVectorizer"}


def run(path, points):
    """The outputs, by name."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    if isinstance(points, pd.DataFrame):
        feed = {
            name: points[[name]].to_numpy(object if points[name].dtype.kind not in "if" else float) for name in points
        }
    else:
        feed = {"X": np.asarray(points)}
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, feed), strict=True))


@pytest.mark.parametrize("name", [name for name in PIPELINES if name not in OF_TEXTS])
def test_pipelines(name, tmp_path):
    make, points = PIPELINES[name]
    model = make()
    if name in NAMED:
        with pytest.raises(ValueError, match="No ONNX model can be written of") as raised:
            to_onnx(model, tmp_path / "m.onnx")
        assert NAMED[name] in str(raised.value)
        assert "\n" not in str(raised.value)
        assert not list(tmp_path.iterdir())
        return
    found = run(to_onnx(model, tmp_path / "m.onnx"), points)
    first = next(iter(found.values()))
    np.testing.assert_allclose(first, model.predict(points), rtol=1e-9, atol=1e-9)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(points), atol=1e-9)


@pytest.mark.parametrize(("name", "step"), OF_TEXTS.items())
def test_texts(name, step, tmp_path):
    """onnxruntime needs a locale that not every machine has; then the step is named."""
    make, points = PIPELINES[name]
    try:
        path = to_onnx(make(), tmp_path / "m.onnx")
    except ValueError as error:
        path, said = None, str(error)
    if path is None:
        assert f"the step {step.lower()!r}, {step}" in said
        assert not list(tmp_path.iterdir())
    else:
        found = run(path, np.array(points, dtype=object)[:, None])
        np.testing.assert_array_equal(found["label"], make().predict(points))


def test_steps_in_double_precision(tmp_path):
    for machine in (
        make_pipeline(PowerTransformer(), SVR()).fit(X, t),
        make_pipeline(StandardScaler(), CalibratedClassifierCV(SVC(), method="isotonic", cv=2)).fit(X, y > 0),
        make_pipeline(StandardScaler(), CalibratedClassifierCV(SVC(), method="isotonic", cv=2)).fit(X, y),
    ):
        found = run(to_onnx(machine, tmp_path / "m.onnx"), X)
        if "probabilities" in found:
            np.testing.assert_allclose(found["probabilities"], machine.predict_proba(X), atol=1e-9)
        else:
            np.testing.assert_allclose(next(iter(found.values())), machine.predict(X), rtol=1e-9, atol=1e-9)


class Doubled(TransformerMixin, BaseEstimator):
    """A step of one's own."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return 2 * X


def test_a_model_that_would_be_wrong_is_not_written(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="the step 'doubled', Doubled"):
        to_onnx(make_pipeline(StandardScaler(), Doubled(), SVC()).fit(X, y), tmp_path / "m.onnx")
    machine = make_pipeline(QuantileTransformer(n_quantiles=20), SVC()).fit(X, y)
    monkeypatch.setattr(type(machine[0]), "transform", lambda self, X: X)  # the model knows nothing of that
    with pytest.raises(ValueError, match="the step 'quantiletransformer', QuantileTransformer: its model"):
        to_onnx(machine, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_skl2onnx_knows_the_machines_once_the_module_is_imported():
    code = (
        "import numpy as np, skl2onnx, mercer, mercer.io.onnx\n"
        "X = np.eye(8); y = np.arange(8) % 2\n"
        "model = skl2onnx.to_onnx(mercer.SVC().fit(X, y), X)\n"
        "print([output.name for output in model.graph.output])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "['label', 'decision']", run.stderr[-500:]


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_skl2onnx_knows_the_dropins_too():
    import skl2onnx

    from mercer import dropin

    machine = make_pipeline(StandardScaler(), dropin.SVC()).fit(X, y)
    single = X.astype(np.float32)
    data = skl2onnx.to_onnx(machine, single).SerializeToString()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    assert np.mean(session.run(None, {"X": single})[0] == machine.predict(X)) > 0.95

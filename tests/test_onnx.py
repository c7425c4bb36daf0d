"""ONNX models give what the machines give."""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
import pytest
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from mercer import SVC, SVR, KernelLogistic, KernelPerceptron, KernelRidge, LinearSVC, OneClassSVM, Perceptron
from mercer.io.onnx import to_onnx
from mercer.kernels import FromFunction

from .zoo import curve, histograms, two_classes, vectors

KERNELS = [
    "linear", "poly(degree=3, gamma=0.5)", "rbf", "laplacian(gamma=0.3)", "matern(nu=0.5)", "matern", "matern(nu=2.5)",
    "rational_quadratic(alpha=0.7)", "periodic(period=3)", "rbf + 1", "2*rbf*linear + poly", "(linear + 1)**3",
    "centered(rbf)",
]  # fmt: skip


def run(path, X) -> dict:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X}), strict=True))


def assert_same(machine, path, X, tolerance=1e-7) -> None:
    found = run(to_onnx(machine, path), X)
    if "prediction" in found:
        np.testing.assert_allclose(found["prediction"], machine.predict(X), rtol=tolerance, atol=tolerance)
        return
    np.testing.assert_allclose(found["decision"], machine.decision_function(X), rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(found["label"], machine.predict(X))
    if "probabilities" in found:
        np.testing.assert_allclose(found["probabilities"], machine.predict_proba(X), atol=tolerance)
        extreme = run(path, 1e3 * X)["probabilities"]
        np.testing.assert_allclose(extreme, machine.predict_proba(1e3 * X), atol=tolerance)
    assert ("probabilities" in found) == hasattr(machine, "predict_proba")


def three_classes(n=90):
    X = vectors(n)
    return X, np.array(["low", "mid", "top"])[np.digitize(X[:, 0] + 0.3 * X[:, 1] ** 2, [-0.3, 0.6])]


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels(tmp_path, kernel):
    assert_same(SVC(kernel).fit(*three_classes()), tmp_path / "m.onnx", vectors(70, seed=9))


@pytest.mark.parametrize("kernel", ["intersection", "chi2", "exp_chi2"])
def test_kernels_of_histograms(tmp_path, kernel):
    X = histograms(60)
    assert_same(SVR(kernel).fit(X, X.sum(axis=1)), tmp_path / "m.onnx", histograms(40, seed=3))


@pytest.mark.parametrize(
    "labels", [np.array([-1.0, 1.0]), np.array([0, 7], np.int32), np.array([False, True]), np.array(["no", "yes"])]
)
def test_labels(tmp_path, labels):
    X, y = two_classes()
    assert_same(SVC().fit(X, labels[(y > 0).astype(int)]), tmp_path / "m.onnx", X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "machine",
    [
        SVC(multiclass="ovr"),
        LinearSVC(C=0.01),
        make_pipeline(StandardScaler(), Perceptron(bias=True, max_epochs=3)),
        make_pipeline(StandardScaler(), KernelPerceptron(variant="averaged", bias=True, max_epochs=3)),
        make_pipeline(StandardScaler(), LinearSVC(bias="penalised", loss="hinge")),
        make_pipeline(StandardScaler(), KernelLogistic()),
        make_pipeline(StandardScaler(), KernelLogistic("linear")),
        make_pipeline(StandardScaler(), SVC("rbf(gamma=0.5)")),
        make_pipeline(MinMaxScaler(), SVC("linear", bias=False)),
    ],
    ids=str,
)
def test_classifiers(tmp_path, machine):
    X, y = three_classes()
    assert_same(machine.fit(1e3 + X, y), tmp_path / "m.onnx", 1e3 + vectors(50, seed=2))


@pytest.mark.parametrize(
    "machine", [SVR(), SVR("linear"), SVR(epsilon=100.0), make_pipeline(StandardScaler(), SVR("poly"))], ids=str
)
def test_regressors(tmp_path, machine):
    assert_same(machine.fit(*curve()), tmp_path / "m.onnx", vectors(50, seed=2))


@pytest.mark.parametrize(
    "machine",
    [KernelLogistic(), LinearSVC(), SVC("linear"), KernelPerceptron(), KernelPerceptron("poly", variant="averaged")],
    ids=str,
)
def test_two_classes(tmp_path, machine):
    assert_same(machine.fit(*two_classes()), tmp_path / "m.onnx", vectors(50, seed=2))


@pytest.mark.parametrize("machine", [KernelRidge(), KernelRidge("linear", bias=True), KernelRidge("poly")], ids=str)
def test_ridge(tmp_path, machine):
    X, t = curve()
    assert_same(machine.fit(X, t), tmp_path / "m.onnx", vectors(50, seed=2))
    assert_same(machine.fit(X, np.column_stack([t, -t, t**2])), tmp_path / "m.onnx", vectors(50, seed=2))
    assert_same(make_pipeline(StandardScaler(), machine).fit(X, t), tmp_path / "m.onnx", vectors(50, seed=2))


def test_one_class(tmp_path):
    assert_same(OneClassSVM(nu=0.2).fit(vectors(60)), tmp_path / "m.onnx", vectors(90, seed=2))


def test_sparse_training_and_single_precision(tmp_path):
    X, y = two_classes()
    machine = SVC().fit(csr_array(np.where(np.abs(X) > 0.5, X, 0.0)), y)
    assert_same(machine, tmp_path / "m.onnx", X)
    found = run(to_onnx(machine, tmp_path / "single.onnx", dtype=np.float32), X.astype(np.float32))
    np.testing.assert_allclose(found["decision"], machine.decision_function(X), atol=1e-5)


def test_errors(tmp_path, monkeypatch):
    X, y = two_classes()
    with pytest.raises(TypeError, match="No ONNX form is known of StandardScaler"):
        to_onnx(StandardScaler().fit(X), tmp_path / "m.onnx")
    with pytest.raises(ValueError, match="rows of numbers"):
        to_onnx(SVC("precomputed").fit(np.eye(60), y), tmp_path / "m.onnx")
    with pytest.raises(ValueError, match="cannot be written in ONNX"):
        to_onnx(SVC("normalized(poly)").fit(X, y), tmp_path / "m.onnx")
    with pytest.raises(ValueError, match="rows of numbers"):
        to_onnx(SVC(FromFunction(lambda x, z: float(x @ z))).fit(X, y), tmp_path / "m.onnx")
    with pytest.raises(ValueError, match="variant='averaged'"):
        to_onnx(KernelPerceptron(variant="voted").fit(X, y), tmp_path / "m.onnx")
    with pytest.raises(ValueError, match="float64 or float32"):
        to_onnx(SVC().fit(X, y), tmp_path / "m.onnx", dtype=int)
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'mercer\[onnx\]'"):
        to_onnx(SVC().fit(X, y), tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())

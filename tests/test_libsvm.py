"""LIBSVM's model files: written and read by the format's definition, checked against scikit-learn's own LIBSVM."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn import svm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler

from mercer import SVC, SVR, OneClassSVM
from mercer.io.libsvm import from_libsvm, to_libsvm

from .zoo import curve, two_classes, vectors

KERNELS = {
    "linear": ["kernel_type linear"],
    "rbf": ["kernel_type rbf", "gamma 0.3"],
    "poly": ["kernel_type polynomial", "degree 3", "gamma 0.3", "coef0 0.5"],
}
TYPES = {
    svm.SVC: "c_svc",
    svm.NuSVC: "nu_svc",
    svm.SVR: "epsilon_svr",
    svm.NuSVR: "nu_svr",
    svm.OneClassSVM: "one_class",
}


def three_classes(n: int = 90):
    X = vectors(n)
    return X, np.digitize(X[:, 0] + 0.3 * X[:, 1] ** 2, [-0.3, 0.6])


def as_text(machine, labels=()) -> str:
    """A machine of scikit-learn as a LIBSVM model, by the definition of the format."""
    k = max(2, len(labels))
    lines = [f"svm_type {TYPES[type(machine)]}", *KERNELS[machine.kernel], f"nr_class {k}"]
    lines += [f"total_sv {len(machine.support_)}", "rho " + " ".join(map(repr, (-machine._intercept_).tolist()))]
    if len(labels):
        lines += ["label " + " ".join(map(str, labels)), "nr_sv " + " ".join(map(str, machine.n_support_))]
    lines.append("SV")
    for vector, coefficients in zip(machine.support_vectors_, machine._dual_coef_.T, strict=True):
        entries = [f"{j}:{value!r}" for j, value in enumerate(vector.tolist(), 1) if value]
        lines.append(" ".join([*map(repr, coefficients.tolist()), *entries]))
    return "\n".join(lines) + "\n"


def scores_of_text(text: str, X) -> np.ndarray:
    """The values of all pairs, by the definition of the format."""
    head, body = text.split("\nSV\n")
    header = {name: values for name, *values in (line.split() for line in head.splitlines())}
    k = int(header["nr_class"][0])
    lines = [line.split() for line in body.splitlines()]
    coefficients = np.array([[float(t) for t in tokens[: k - 1]] for tokens in lines]).reshape(len(lines), k - 1)
    Z = np.zeros((len(lines), X.shape[1]))
    for row, tokens in zip(Z, lines, strict=True):
        for token in tokens[k - 1 :]:
            row[int(token.split(":")[0]) - 1] = float(token.split(":")[1])
    kind = header["kernel_type"][0]
    gamma = float(header.get("gamma", ["0"])[0])
    if kind == "rbf":
        K = np.exp(-gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2))
    elif kind == "polynomial":
        K = (gamma * X @ Z.T + float(header["coef0"][0])) ** int(header["degree"][0])
    else:
        K = X @ Z.T
    if "nr_sv" not in header:
        return (K @ coefficients[:, 0] - float(header["rho"][0]))[:, None]
    ends = np.cumsum([0, *map(int, header["nr_sv"])])
    place = [slice(a, b) for a, b in pairwise(ends)]
    columns, rho = [], iter(map(float, header["rho"]))
    for i in range(k):
        for j in range(i + 1, k):
            own = K[:, place[i]] @ coefficients[place[i], j - 1] + K[:, place[j]] @ coefficients[place[j], i]
            columns.append(own - next(rho))
    return np.column_stack(columns)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("labels", [(0, 1, 2), (7, -3, 5), (2, 0, 1)])
def test_reads_classifiers(tmp_path, kernel, labels):
    """The labels of a file may stand in any order. Where votes tie, margins decide (break_ties)."""
    X, y = three_classes()
    theirs = svm.SVC(kernel=kernel, gamma=0.3, coef0=0.5, C=2.0, break_ties=True).fit(X, y)
    (tmp_path / "model").write_text(as_text(theirs, labels))
    ours = from_libsvm(tmp_path / "model")
    new = vectors(200, seed=5)
    np.testing.assert_array_equal(ours.predict(new), np.array(labels)[theirs.predict(new)])
    order = np.argsort(labels)
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new)[:, order], atol=1e-9)
    assert ours.C == pytest.approx(2.0) and not ours.certificate_.converged
    assert "nothing useful is proved" in str(ours.certificate_)


@pytest.mark.parametrize("labels", [(-1, 1), (1, -1)])
@pytest.mark.parametrize("machine", [svm.SVC(gamma=0.3), svm.NuSVC(gamma=0.3), svm.SVC(kernel="linear")], ids=str)
def test_reads_two_classes(tmp_path, labels, machine):
    X, y = two_classes()
    machine.fit(X, y)
    (tmp_path / "model").write_text(as_text(machine, labels))
    sign = 1 if labels[0] < labels[1] else -1
    ours = from_libsvm(tmp_path / "model")
    np.testing.assert_allclose(ours.decision_function(X), sign * machine.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), sign * machine.predict(X))


@pytest.mark.parametrize(
    "machine", [svm.SVR(gamma=0.3), svm.NuSVR(kernel="poly", gamma=0.3, coef0=0.5), svm.SVR(kernel="linear")], ids=str
)
def test_reads_regressors(tmp_path, machine):
    X, y = curve()
    machine.fit(X, y)
    (tmp_path / "model").write_text(as_text(machine))
    np.testing.assert_allclose(from_libsvm(tmp_path / "model").predict(X), machine.predict(X), rtol=1e-9, atol=1e-9)


def test_reads_one_class(tmp_path):
    machine = svm.OneClassSVM(gamma=0.3, nu=0.3).fit(vectors(60))
    (tmp_path / "model").write_text(as_text(machine))
    ours = from_libsvm(tmp_path / "model")
    new = vectors(50, seed=4)
    np.testing.assert_allclose(ours.decision_function(new), machine.decision_function(new), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(new), machine.predict(new))


MACHINES = [
    SVC("rbf(gamma=0.3)", C=3.0),
    SVC("poly(degree=3, gamma=0.5)"),
    SVC("linear"),
    SVC("2*rbf(gamma=0.3)", bias=False),
]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
@pytest.mark.parametrize("sparse", [False, True])
def test_writes_classifiers(tmp_path, machine, sparse):
    X, y = three_classes()
    given_points = csr_array(np.where(np.abs(X) > 0.7, X, 0.0)) if sparse else X
    points = given_points.toarray() if sparse else X
    for target in (y, np.where(y == 1, -1, 1)):
        machine.fit(given_points, target)
        files = to_libsvm(machine, tmp_path / "model")
        assert files.labels == {int(c): int(c) for c in machine.classes_} and files.scaling is None
        scores = scores_of_text(files.model.read_text(), points)
        own = machine.pairwise_decision_function(points)
        np.testing.assert_allclose(scores, own if machine.classes_.size > 2 else -own, rtol=1e-7, atol=1e-9)
        back = from_libsvm(files.model, n_features=4)
        np.testing.assert_allclose(back.decision_function(points), machine.decision_function(points), atol=1e-9)
        np.testing.assert_array_equal(back.predict(points), machine.predict(points))


@pytest.mark.parametrize("machine", [SVR("rbf(gamma=0.3)"), OneClassSVM("poly"), SVR("linear", epsilon=100.0)], ids=str)
def test_writes_others(tmp_path, machine):
    X, y = curve()
    machine.fit(X, y)
    text = to_libsvm(machine, tmp_path / "model").model.read_text()
    values = machine.predict(X) if isinstance(machine, SVR) else machine.decision_function(X)
    if len(machine.support_):
        np.testing.assert_allclose(scores_of_text(text, X)[:, 0], values, rtol=1e-7, atol=1e-8)
    back = from_libsvm(tmp_path / "model", n_features=4)
    np.testing.assert_allclose(back.predict(X), machine.predict(X), rtol=1e-9, atol=1e-9)


def test_precomputed(tmp_path):
    X, y = three_classes()
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    machine = SVC("precomputed").fit(K, y)
    back = from_libsvm(to_libsvm(machine, tmp_path / "model").model, n_features=len(X))
    assert f" 0:{machine.support_[0] + 1}\n" in (tmp_path / "model").read_text()
    np.testing.assert_allclose(back.decision_function(K), machine.decision_function(K), atol=1e-12)


def test_labels_that_are_words(tmp_path):
    X, y = three_classes()
    machine = SVC().fit(X, np.array(["low", "mid", "top"])[y])
    files = to_libsvm(machine, tmp_path / "model")
    assert files.labels == {0: "low", 1: "mid", 2: "top"}
    np.testing.assert_array_equal(machine.classes_[from_libsvm(files.model).predict(X)], machine.predict(X))


@pytest.mark.parametrize(
    "scaler",
    [StandardScaler(), MinMaxScaler((0, 3)), MaxAbsScaler(), RobustScaler(), StandardScaler(with_mean=False)],
    ids=str,
)
def test_scaling_goes_into_a_file_for_svm_scale(tmp_path, scaler):
    X, y = three_classes()
    pipeline = make_pipeline(scaler, SVC()).fit(X, y)
    files = to_libsvm(pipeline, tmp_path / "model")
    assert files.scaling == tmp_path / "model.range"
    x, limits, *rows = files.scaling.read_text().splitlines()
    assert (x, limits) == ("x", "-1 1")
    low, high = np.array([list(map(float, row.split()))[1:] for row in rows]).T
    scaled = -1 + 2 * (X - low) / (high - low)  # what svm-scale computes
    np.testing.assert_allclose(
        from_libsvm(files.model).decision_function(scaled), pipeline.decision_function(X), atol=1e-9
    )


def test_what_libsvm_cannot_hold(tmp_path):
    X, y = three_classes()
    with pytest.raises(ValueError, match="multiclass='ovo'"):
        to_libsvm(SVC(multiclass="ovr").fit(X, y), tmp_path / "model")
    with pytest.raises(ValueError, match="linear, polynomial, rbf and precomputed, not Laplacian"):
        to_libsvm(SVC("laplacian").fit(X, y), tmp_path / "model")
    with pytest.raises(TypeError, match="LIBSVM has no StandardScaler"):
        to_libsvm(StandardScaler().fit(X), tmp_path / "model")
    with pytest.raises(ValueError, match="nothing for PolynomialFeatures"):
        to_libsvm(make_pipeline(PolynomialFeatures(), SVC()).fit(X, y), tmp_path / "model")
    assert not list(tmp_path.iterdir())


GOOD = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 2
rho 0.25
label 1 -1
nr_sv 1 1
SV
1 1:1
-1 2:3 1:4
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("svm_type c_svc", "hello", "line 1: this is no LIBSVM model file"),
        ("c_svc", "d_svc", "svm_type must be one of"),
        ("rbf", "sigmoid", "line 2: kernel_type must be one of"),
        ("gamma 0.5", "gamma -1", "line 3: .*gamma"),
        ("gamma 0.5", "gamma", "gamma must be followed by 1 value"),
        ("rho 0.25", "rho nan", "line 6: a finite number is expected, not 'nan'"),
        ("total_sv 2", "total_sv 3", "does not sum up"),
        ("nr_sv 1 1", "nr_sv 2 0", None),
        ("label 1 -1", "label 1 1", "line 7: .*different labels"),
        ("label 1 -1", "label 1 0.5", "whole numbers"),
        ("-1 2:3 1:4\n", "", "line 9: total_sv is 2, but 1 lines follow"),
        ("2:3", "x:3", "line 11: a new index and a value"),
        ("2:3", "0:3", "counted from 1"),
        ("2:3", "99999999999999999:3", "a new index and a value"),
        ("2:3 1:4", "1:3 1:4", "a new index"),
        ("1:1", "1:inf", "line 10: a finite number"),
        ("SV\n", "", "a line SV is missing"),
        ("nr_class 2", "nr_class 3", "line 4: nr_class is 3, but there are 2 classes"),
        ("nr_class 2", "", "line 9: nr_class must be followed by 1 value"),
        ("nr_sv 1 1", "nr_sv -1 3", "does not sum up"),
        ("nr_sv 1 1", "nr_sv 1 1e300", "whole numbers"),
        ("total_sv 2", "total_sv 1e300", "whole numbers"),
        ("label 1 -1", "label 1 1e300", "whole numbers"),
        ("rho 0.25", "rho 0.25 1", "rho must be followed by 1 value"),
        ("kernel_type rbf", "kernel_type precomputed", "needs 0:number"),
        (GOOD, "", "model is empty"),
    ],
)
def test_damaged_files(tmp_path, old, new, problem):
    assert old in GOOD
    (tmp_path / "model").write_text(GOOD)
    assert from_libsvm(tmp_path / "model").predict([[1.0, 0.0]]) == [1]
    (tmp_path / "model").write_text(GOOD.replace(old, new, 1))
    if problem is None:
        from_libsvm(tmp_path / "model")
    else:
        with pytest.raises(ValueError, match=problem):
            from_libsvm(tmp_path / "model")


@pytest.mark.parametrize(
    "numbers", [("0:1", "0:1"), ("0:1.5", "0:2"), ("0:1e300", "0:2"), ("0:-1", "0:2"), ("0:0", "0:1")]
)
def test_rows_of_values_are_row_numbers(tmp_path, numbers):
    first, second = numbers
    text = GOOD.replace("rbf", "precomputed").replace("1:1", first).replace("2:3 1:4", second)
    (tmp_path / "model").write_text(text)
    with pytest.raises(ValueError, match=r"needs 0:number|holds a number twice"):
        from_libsvm(tmp_path / "model")


def test_weights_that_nobody_could_hold(tmp_path):
    (tmp_path / "model").write_text(GOOD.replace("rbf", "linear").replace("2:3", "2147483647:3"))
    with pytest.raises(ValueError, match="A linear model of 2147483647 features"):
        from_libsvm(tmp_path / "model")
    (tmp_path / "model").write_text(GOOD.replace("2:3", "2147483647:3"))  # a sparse one with another kernel is small
    assert from_libsvm(tmp_path / "model").support_vectors_.shape == (2, 2147483647)


def test_width(tmp_path):
    (tmp_path / "model").write_text(GOOD)
    assert from_libsvm(tmp_path / "model", n_features=5).predict(np.eye(5)[:1]) == [1]
    with pytest.raises(ValueError, match="n_features=1 is too small"):
        from_libsvm(tmp_path / "model", n_features=1)


@given(st.data())
def test_random_damage(tmp_path_factory, data):
    """A changed file gives a clear error or a model that predicts."""
    at = data.draw(st.integers(0, len(GOOD) - 1))
    text = GOOD[:at] + data.draw(st.text(max_size=4)) + GOOD[at + data.draw(st.integers(0, 5)) :]
    path = tmp_path_factory.mktemp("damage") / "model"
    path.write_text(text)
    with suppress(ValueError):
        machine = from_libsvm(path)
        assert machine.predict(np.zeros((1, machine.n_features_in_))).shape == (1,)

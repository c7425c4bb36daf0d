"""Kernels that know the scale of the data: what "scale" and "median" stand for, and that the name alone is enough."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

import mercer
from mercer import SVC, SVR, KernelLogistic, KernelPerceptron, KernelRidge, OneClassSVM
from mercer.cli import main
from mercer.estimators import ScaleWarning
from mercer.estimators.checks import _far_apart
from mercer.kernels import (
    Centered,
    ExpChi2,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Normalized,
    Polynomial,
    RationalQuadratic,
)
from mercer.kernels.adaptive import Adaptive

generator = np.random.default_rng(0)
X = np.abs(generator.normal(size=(60, 5))) * [1.0, 10.0, 0.1, 3.0, 1.0] * (generator.random((60, 5)) < 0.8)
QUICK = {KernelPerceptron: {"bias": True, "max_epochs": 500}}  # so that it converges
WEIGHT = generator.integers(0, 4, 60)
KERNELS = [Gaussian, Laplacian, Matern, RationalQuadratic, ExpChi2, Polynomial]
WAITING = [
    *(cls(**{cls.adapts: word}) for cls in KERNELS for word in cls.words),
    Matern(0.5),
    2 * Laplacian() + Normalized(Matern(2.5, "median")) * Linear() ** 2,
]


def found(kernel):
    return getattr(kernel, kernel.adapts)


def chi2(A):
    sums = A[:, None] + A[None]
    return (((A[:, None] - A[None]) ** 2) / np.where(sums > 0, sums, 1.0)).sum(-1)


def distinct(D):
    return D[np.triu_indices(len(D), 1)][D[np.triu_indices(len(D), 1)] > 0]


def test_the_name_alone_waits_for_the_scale():
    for name in ("rbf", "laplacian", "matern", "rational_quadratic", "exp_chi2"):
        kernel = mercer.kernel(name)
        assert found(kernel) == "scale"
        assert mercer.kernel(repr(kernel)) == kernel
    assert mercer.kernel("poly") == Polynomial(degree=2, gamma=1, coef0=1)


def test_numbers_by_their_formulas():
    """Against the plain double sum over all pairs."""
    squares, absolute = cdist(X, X, "sqeuclidean"), cdist(X, X, "cityblock")
    d = X.shape[1]
    assert_allclose(Gaussian().resolve(X).gamma, 1 / (d * X.var()))
    assert Gaussian("auto").resolve(X).gamma == 1 / d
    assert_allclose(Gaussian("median").resolve(X).gamma, 1 / (2 * np.median(distinct(squares))))
    assert_allclose(Laplacian().resolve(X).gamma, 1 / absolute.mean())
    assert_allclose(Laplacian("median").resolve(X).gamma, 1 / np.median(distinct(absolute)))
    for kernel in (Matern(2.5), RationalQuadratic(2.0)):
        assert_allclose(kernel.resolve(X).length_scale, np.sqrt(squares.mean()) / 2)
        median = kernel.with_params(length_scale="median")
        assert_allclose(median.resolve(X).length_scale, np.sqrt(np.median(distinct(squares))))
    assert_allclose(ExpChi2().resolve(X).gamma, 1 / chi2(X).mean())
    assert_allclose(ExpChi2("median").resolve(X).gamma, 1 / np.median(distinct(chi2(X))))
    assert_allclose(Polynomial(3, "scale").resolve(X).gamma, 1 / (d * X.var()))
    assert_allclose(Polynomial(3, "median").resolve(X).gamma, 1 / np.median((X**2).sum(1)))


@pytest.mark.parametrize("kernel", WAITING, ids=repr)
def test_laws(kernel):
    """Sparse or dense, float32 or float64, weights or repeated rows, any unit: the same kernel."""
    Z = X[:7]
    resolved = kernel.resolve(X)
    expected = resolved(X, Z)
    assert not any(isinstance(value, str) for value in resolved.get_params().values())
    assert mercer.kernel(repr(resolved)) == resolved and resolved.resolve(Z) is resolved
    assert pickle.loads(pickle.dumps(kernel)) == kernel == clone(kernel)
    assert_allclose(kernel.resolve(csr_array(X))(X, Z), expected, rtol=1e-9)
    assert_allclose(kernel.resolve(X.astype(np.float32))(X, Z), expected, rtol=1e-4)
    weighted = kernel.resolve(X, WEIGHT)(X, Z)
    assert_allclose(weighted, kernel.resolve(np.repeat(X, WEIGHT, axis=0))(X, Z), rtol=1e-9)
    assert_allclose(weighted, kernel.resolve(csr_array(X), 3.0 * WEIGHT)(X, Z), rtol=1e-9)
    shuffled = generator.permutation(60)
    assert_allclose(kernel.resolve(X[shuffled])(X, Z), expected, rtol=1e-9)


@pytest.mark.parametrize("kernel", [k for k in WAITING if isinstance(k, Adaptive) and found(k) != "auto"], ids=repr)
def test_the_unit_does_not_matter(kernel):
    assert_allclose(kernel.resolve(1e4 * X)(1e4 * X), kernel.resolve(X)(X), rtol=1e-9)


@pytest.mark.parametrize("kernel", WAITING, ids=repr)
def test_a_kernel_that_waits_says_so(kernel):
    waits = r"waits for training data: call kernel.resolve\(X\) first, or give (gamma|length_scale) as a number"
    for act in (lambda: kernel(X), lambda: kernel.diag(X), lambda: kernel.product(X, X, np.ones(60))):
        with pytest.raises(ValueError, match=waits):
            act()


@pytest.mark.parametrize("cls", KERNELS)
def test_points_that_are_one_and_points_that_overflow(cls):
    for word in ("scale", "median"):
        kernel = cls(**{cls.adapts: word})
        if cls is not Polynomial or word == "scale":
            assert found(kernel.resolve(np.ones((3, 2)))) == 1.0
        assert found(kernel.resolve(np.zeros((1, 2)))) == 1.0
        with pytest.raises(ValueError, match="overflow"):
            kernel.resolve(np.array([[0.0, 0.0], [1.7e308, 1.7e308]]))
    with pytest.raises(ValueError, match=f"{cls.adapts} must be a number > 0, 'scale'.* or 'median', not 'wide'"):
        cls(**{cls.adapts: "wide"})
    with pytest.raises(ValueError, match=f"{cls.adapts} must be a finite number greater than 0"):
        cls(**{cls.adapts: 0.0})


def test_more_points_than_pairs_are_looked_at():
    many = generator.normal(size=(3000, 3))
    absolute = Laplacian("median").resolve(many).gamma
    assert_allclose(absolute, 1 / np.median(cdist(many, many, "cityblock")), rtol=0.05)
    positive = np.abs(many)
    gamma = ExpChi2().resolve(positive).gamma
    assert gamma == ExpChi2().resolve(positive).gamma
    some = positive[np.linspace(0, 2999, 1000).astype(int)]
    assert_allclose(gamma, 1 / chi2(some).mean(), rtol=1e-9)


def test_a_width():
    assert mercer.kernel("rbf(sigma=2)") == Gaussian(sigma=2.0) == Gaussian(0.125)
    assert Gaussian(0.3).with_params(sigma=2) == Gaussian(0.125)
    assert (Gaussian() + Linear()).with_params(left__sigma=2) == Gaussian(0.125) + Linear()
    assert SVC("rbf").set_params(kernel__sigma=2).kernel == Gaussian(0.125)
    for wrong in ({"gamma": 1, "sigma": 1}, {"sigma": 0}, {"sigma": "wide"}, {"sigma": True}):
        with pytest.raises(ValueError, match="must be"):
            Gaussian(**wrong)


def test_histograms_are_asked_for_before_they_are_measured():
    with pytest.raises(ValueError, match="needs entries >= 0, but X has -1"):
        ExpChi2().resolve(X - 1)


def test_worked_solutions_ask_for_a_number():
    for wrong in (
        lambda: mercer.explain.kernel_trick("poly(gamma=scale)"),
        lambda: mercer.explain.kernel_trick("rbf"),
        lambda: mercer.explain.svm([[0], [1]], [-1, 1], kernel="1 + poly(gamma=median)"),
    ):
        with pytest.raises(ValueError, match="waits for data: give gamma as a number"):
            wrong()


def test_centred():
    assert_allclose(Centered(Laplacian()).resolve(X)(X), Centered(Laplacian().resolve(X)).resolve(X)(X), rtol=1e-12)


def test_as_scikit_learns():
    y = generator.integers(0, 2, 60)
    for gamma in ("scale", "auto"):
        theirs = svm.SVC(kernel="rbf", gamma=gamma, tol=1e-6).fit(X, y)
        ours = SVC(Gaussian(gamma), tol=1e-8).fit(X, y)
        assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    theirs = svm.SVC(kernel="poly", degree=2, gamma="scale", coef0=1, tol=1e-6).fit(X, y)
    ours = SVC("poly(gamma=scale)", tol=1e-8).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


@pytest.mark.parametrize(
    "name", ["laplacian", "matern(nu=2.5)", "rational_quadratic", "poly(gamma=median)", "exp_chi2"]
)
def test_a_machine_is_saved_with_what_it_found(name, tmp_path):
    machine = KernelRidge(name).fit(X, X[:, 0])
    mercer.save(machine, tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    assert loaded.kernel_ == machine.kernel_ == mercer.kernel(name).resolve(X)
    assert mercer.kernel(loaded.kernel) == mercer.kernel(name)
    assert_allclose(loaded.predict(X), machine.predict(X))


def scaled(*scales, n=40, seed=3):
    return np.random.default_rng(seed).normal(size=(n, len(scales))) * scales


@pytest.mark.parametrize("machine", [SVC, SVR, OneClassSVM, KernelLogistic, KernelRidge, KernelPerceptron])
def test_columns_of_very_different_scales(machine):
    """One line, in a warning of its own, from every machine with such a kernel; a scaler is the remedy."""
    apart = scaled(5e-4, 1.0, 5e-4)
    y = np.where(apart[:, 1] > 0, 1, -1)
    for kernel in ("rbf", "laplacian(gamma=2)", "1 + 2*matern*linear", "poly"):
        with pytest.warns(
            ScaleWarning, match=r"deviation of column 1 is [01]\.\d+, of column \d is 0.000\d+\."
        ) as caught:
            machine(kernel=kernel, **QUICK.get(machine, {})).fit(apart, y)
        assert len(caught) == 1 and "\n" not in str(caught[0].message) and caught[0].filename == __file__
        assert f"make_pipeline(StandardScaler(), {machine.__name__}())" in str(caught[0].message)
    make_pipeline(StandardScaler(), machine(**QUICK.get(machine, {}))).fit(apart, y)


def test_ordinary_columns_are_not_bothered_about():
    y = np.arange(40) % 2
    rare = scaled(1.0, 1.0, n=5000)
    rare[:, 1] = 0.0
    rare[7, 1] = 5.0  # a column that is nearly always 0 deviates little
    rounded = np.column_stack([scaled(1.0)[:, 0], 0.1 + 1e-17 * np.arange(40), np.full(40, 3.0)])
    rounded[::2, 1] += 1e-17
    for points in (scaled(1.0, 900.0), rare, rounded, scaled(1e-9, 3e-9), csr_array(scaled(1.0, 30.0)), X):
        for form in (points, points.astype(np.float32)):
            assert _far_apart(form) is None
    far = scaled(1.0, 2000.0, 1.0)
    hidden = np.column_stack([rare * 100, scaled(0.01, n=5000)])  # behind the rare one, which deviates less
    assert _far_apart(hidden)[1][0] == 2
    for points in (far, far.astype(np.float32), csr_array(far), np.vstack([far] * 500)):
        assert _far_apart(points)[0][0] == 1
    SVC("linear").fit(scaled(1.0, 1e4), y)
    SVC("precomputed").fit(np.diag(np.geomspace(1, 1e5, 40)), y)


def test_columns_are_named_and_the_warning_can_be_silenced():
    import pandas

    frame = pandas.DataFrame(scaled(1.0, 3000.0), columns=["age", "income"])
    with pytest.warns(ScaleWarning, match="of 'income' is .*, of 'age' is"):
        SVC().fit(frame, np.arange(40) % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ScaleWarning)
        SVC().fit(frame, np.arange(40) % 2)


def call(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    ("kernel", "name"), [("laplacian", "gamma"), ("matern", "length_scale"), ("2*exp_chi2 + 1", "gamma")]
)
def test_the_command_line_tunes_each(kernel, name, tmp_path, capsys):
    path = tmp_path / "data.csv"
    np.savetxt(path, np.column_stack([X, X[:, 1] > X[:, 3]]), delimiter=",", fmt="%.6g")
    code, out, _ = call(capsys, "train", path, "--kernel", kernel, "--json", "--quiet")
    assert code == 0 and "scale'" not in json.loads(out)["kernel"]
    code, out, err = call(capsys, "tune", path, "--kernel", kernel, "--steps", 3, "--cv", 2)
    assert code == 0 and f"{name} = " in out and f"and {name}" in out and name in err
    option = f"--{name.replace('_', '-')}-range"
    code, out, _ = call(
        capsys, "tune", path, "--kernel", kernel, "--steps", 2, "--cv", 2, option, 0.5, 8, "--json", "-q"
    )
    assert code == 0 and json.loads(out)[name] == [0.5, 8] and json.loads(out)["best"][name] in (0.5, 8)
    other = "--gamma-range" if option == "--length-scale-range" else "--length-scale-range"
    for text, wrong in (("linear", option), (kernel, other)):
        code, _, err = call(capsys, "tune", path, "--kernel", text, wrong, 0.5, 8)
        assert code == 2 and f"{wrong}: this kernel has no" in err


def test_the_command_line_gives_advice_once_in_its_own_terms(tmp_path, capsys):
    path = tmp_path / "data.csv"
    points = scaled(1.0, 5000.0, n=60)
    np.savetxt(path, np.column_stack([points, points[:, 0] > 0]), delimiter=",", fmt="%.6g")
    code, _, err = call(capsys, "train", path, "--scale", "none", "--cv", 2)
    notes = [line for line in err.splitlines() if "very different scales" in line]
    assert code == 0 and len(notes) == 1 and "--scale standard" in notes[0] and "make_pipeline" not in err
    assert "scales" not in call(capsys, "train", path, "--cv", 2)[2]
    assert call(capsys, "tune", path, "--scale", "none", "--steps", 2, "--model", "ridge")[2].count("scales") == 1


DIGITS, CANCER = load_digits(return_X_y=True), load_breast_cancer(return_X_y=True)


@pytest.mark.filterwarnings("ignore::mercer.estimators.ScaleWarning")
@pytest.mark.parametrize(
    "scaler", [FunctionTransformer(), StandardScaler(), MinMaxScaler(clip=True)], ids=["raw", "standard", "minmax"]
)
@pytest.mark.parametrize(("points", "labels"), [DIGITS, CANCER], ids=["digits", "cancer"])
def test_each_name_alone_is_as_good_as_the_gaussian(points, labels, scaler):
    A, B, a, b = train_test_split(points, labels, train_size=350, test_size=200, random_state=0, stratify=labels)
    names = ["laplacian", "matern", "matern(nu=0.5)", "matern(nu=2.5)", "rational_quadratic"]
    names += [] if isinstance(scaler, StandardScaler) else ["exp_chi2"]

    def score(name):
        return make_pipeline(clone(scaler), SVC(name, tol=1e-3)).fit(A, a).score(B, b)

    aim = score("rbf") - 0.03
    found = {name: score(name) for name in names}
    assert {name: accuracy for name, accuracy in found.items() if accuracy < aim} == {}

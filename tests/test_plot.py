"""Pictures are drawn on the axes they are given, show what they say, and refuse what they cannot draw."""

from __future__ import annotations

import sys
import warnings

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from scipy.sparse import csr_array
from sklearn import svm
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import mercer
from mercer import SVC, SVR, KernelLogistic, KernelPerceptron, KernelRidge, LinearSVC, OneClassSVM, Perceptron, plot
from mercer.features import PolarMap, PolynomialMap, RandomFourier
from mercer.kernels import Gaussian, Linear
from mercer.solution import Step

from .zoo import PROBLEMS, SOLVERS, THREE_POINTS, vectors


@pytest.fixture(autouse=True)
def _closed():
    yield
    for number in plt.get_fignums():  # what cannot be rendered fails here
        plt.figure(number).canvas.draw()
    plt.close("all")


def plane(n: int = 80, classes: int = 2):
    X = vectors(n)[:, :2]
    return X, np.digitize(X[:, 0] + 0.5 * np.sin(3 * X[:, 1]), np.linspace(-0.5, 0.5, classes + 1)[1:-1])


def scatters(ax, label: str) -> list[PathCollection]:
    return [one for one in ax.collections if isinstance(one, PathCollection) and one.get_label() == label]


def contours(ax) -> dict:
    """The levels that are drawn as lines, with the style of their lines."""
    found = {}
    for one in ax.collections:
        if hasattr(one, "levels") and not one.filled:
            found |= {float(level): one.get_linestyle()[0][1] for level in one.levels}
    return found


# Gram matrices.


def test_gram_sorted_by_class(tmp_path):
    X = vectors(30)
    labels = np.array(["cat", "dog", "ant"])[np.arange(30) % 3]
    ax = plot.gram(Gaussian(1.0)(X), labels=labels, title="t")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["ant", "cat", "dog"]
    order = np.argsort(labels, kind="stable")
    np.testing.assert_allclose(ax.images[0].get_array(), Gaussian(1.0)(X[order]), rtol=1e-12)
    ax.figure.savefig(tmp_path / "gram.png")
    assert (tmp_path / "gram.png").stat().st_size > 5000


def test_gram_given_axes_and_signs():
    _, ax = plt.subplots()
    assert plot.gram(Linear()(vectors(9)), ax=ax) is ax
    low, high = ax.images[0].get_clim()
    assert low == -high


def test_gram_of_long_names_many_classes_and_numbers():
    K = np.eye(60)
    names = np.array(["a" * 50, "costs $5 to $10"])[np.arange(60) % 2]
    ax = plot.gram(K, labels=names)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a" * 17 + "…", r"costs \$5 to \$10"]
    assert ax.get_xticklabels()[0].get_rotation() == 45
    ax = plot.gram(K, labels=np.arange(60.0) % 11)
    assert [text.get_text() for text in ax.get_yticklabels()] == [str(k) for k in range(11)]
    assert not plot.gram(K, labels=np.arange(60)).lines  # a line between any two points would hide them


def test_gram_errors():
    with pytest.raises(ValueError, match="square"):
        plot.gram(np.ones((2, 3)))
    with pytest.raises(ValueError, match="One label per point"):
        plot.gram(np.eye(3), labels=[1, 2])
    with pytest.raises(ValueError, match=r"K\[1, 2\] is nan"):
        plot.gram(np.where(np.arange(9).reshape(3, 3) == 5, np.nan, 1.0))


# Boundaries.


def test_boundary_shows_margins_and_support_vectors():
    X, y = plane()
    machine = SVC("rbf(gamma=0.5)", C=1.5).fit(X, y)
    _, ax = plt.subplots()
    assert plot.boundary(machine, X, y, ax=ax, title="A title") is ax
    lines = contours(ax)
    assert set(lines) == {-1.0, 0.0, 1.0}
    assert lines[0.0] is None and lines[1.0] is not None and lines[-1.0] is not None  # the margins are dashed
    free, bound = scatters(ax, "free"), scatters(ax, "at the bound")
    alpha = np.abs(machine.dual_coef_[0])
    assert sum(len(one.get_offsets()) for one in bound) == np.sum(alpha >= 1.5 * (1 - 1e-6))
    for marks in (*free, *bound):
        for place, size in zip(marks.get_offsets(), marks.get_sizes(), strict=True):
            (row,) = np.flatnonzero((machine.support_vectors_ == place).all(axis=1))
            assert size == pytest.approx(max(110 * alpha[row] / alpha.max(), 16))  # in proportion, with a floor
    plain = sum(len(one.get_offsets()) for one in ax.collections if isinstance(one, PathCollection))
    assert plain == len(X)  # each point once
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:2] == ["class 0", "class 1"] and "margins, f(x) = ±1" in texts
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())


def test_boundary_of_the_three_points():
    X, y = THREE_POINTS
    ax = plot.boundary(SVC("linear", C=float("inf")).fit(X, y), X, y)
    assert not any(len(one.get_offsets()) for one in scatters(ax, "at the bound"))
    assert sum(len(one.get_offsets()) for one in scatters(ax, "free")) == 3


def test_points_with_weights_inside_the_margin_are_at_their_bound():
    X, y = plane()
    y[:10] = 1 - y[:10]
    machine = SVC("rbf(gamma=0.5)", C=1.0, tol=1e-8).fit(X, y, sample_weight=np.full(80, 0.5))
    found = sum(len(one.get_offsets()) for one in scatters(plot.boundary(machine, X, y), "at the bound"))
    signed = np.where(y == 1, 1, -1) * machine.decision_function(X)
    assert found == np.sum(signed < 0.95) > 10
    assert np.all(np.abs(machine.dual_coef_[0])[signed[machine.support_] < 0.95] > 0.5 - 1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "machine",
    [
        SVC("linear"),
        SVC(class_weight={0: 2.0}),
        SVC(class_weight="balanced"),
        SVC(bias=False, kernel="laplacian"),
        make_pipeline(StandardScaler(), SVC("poly")),
        GridSearchCV(SVC(), {"C": [1, 2]}, cv=2),
        LinearSVC(),
        make_pipeline(StandardScaler(), LinearSVC(loss="hinge", bias="penalised")),
        KernelLogistic(),
        KernelRidge(),
        Perceptron(bias=True),
        KernelPerceptron("poly"),
        svm.SVC(),
        svm.LinearSVC(),
        KNeighborsClassifier(),
        OneClassSVM(nu=0.3),
        svm.OneClassSVM(),
        SVR(),
        SVR(epsilon=10.0),
        LinearRegression(),
    ],
    ids=str,
)
def test_boundary_of_anything(machine):
    X, y = plane()
    machine.fit(X, y)
    outliers = isinstance(machine, OneClassSVM | svm.OneClassSVM)
    ax = plot.boundary(machine, X, None if outliers else y)
    assert ax.get_xlabel() == "x₁" and ax.get_ylabel() == "x₂"
    assert plot.boundary(machine, X) is not ax  # labels are not needed


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_boundary_of_several_classes(multiclass):
    X, y = plane(classes=4)
    names = np.array(["north", "east", "south", "west"])[y]
    ax = plot.boundary(SVC(multiclass=multiclass, C=5).fit(X, names), X, names)
    assert [text.get_text() for text in ax.get_legend().get_texts()][:4] == ["east", "north", "south", "west"]
    looks = {(tuple(one.get_facecolor()[0]), one.get_paths()[0].vertices.shape) for one in ax.collections[-8:]}
    assert len(looks) >= 4  # colours and shapes


def test_boundary_of_more_features():
    X = vectors(60)
    y = (X[:, 1] + X[:, 2] > 0).astype(int)
    machine = SVC().fit(X, y)
    ax = plot.boundary(machine, X, y)
    assert ax.get_xlabel().startswith("first principal direction (")
    ax = plot.boundary(machine, X, y, features=(1, 2))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x₂", "x₃")
    assert plot.boundary(machine, csr_array(X), y, projection=np.eye(4)[:2]).get_xlabel() == "first direction"
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    machine = make_pipeline(StandardScaler(), SVC()).fit(frame, y)
    assert plot.boundary(machine, frame, y, features=("c", "a")).get_xlabel() == "c"
    assert "principal" in plot.boundary(machine, frame, y).get_xlabel()


def test_boundary_of_a_machine_that_knows_names():
    """Names are shown as they are, and those of columns are given to the machine."""
    X, y = plane()
    frame, names = pd.DataFrame(X, columns=["price $", "cost in $"]), np.where(y == 1, "$5-$10", "_" + "x" * 40)
    machine = SVC(Gaussian(1.0)).fit(frame, names)
    for points, own in [(frame, names), (frame[:5], names[:5])]:
        ax = plot.boundary(machine, points, own)
        texts = [text.get_text() for text in ax.get_legend().get_texts()]
        assert r"\$5-\$10" in texts and "\u2009_" + "x" * 26 + "…" in texts
        assert ax.get_xlabel() == r"price \$"
        assert sum(len(one.get_offsets()) for one in [*scatters(ax, "free"), *scatters(ax, "at the bound")]) > 5


def test_boundary_of_a_table_with_words():
    frame = pd.DataFrame({"age": vectors(40)[:, 0], "colour": ["red", "blue"] * 20, "size": vectors(40)[:, 1]})
    y = (frame["age"] > 0).astype(int)
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    machine = make_pipeline(columns, SVC()).fit(frame, y)
    ax = plot.boundary(machine, frame, y, features=("age", "size"))
    assert sum(len(one.get_offsets()) for one in scatters(ax, "free")) > 0


@pytest.mark.parametrize(
    "machine", [SVC(), make_pipeline(StandardScaler(), SVC()), OneClassSVM(), svm.SVC(), make_pipeline(SVR(C=0.01))]
)
def test_support_vectors_on_other_data(machine):
    """They are where they were in training, of the class that they had."""
    X, y = plane(classes=3)
    machine.fit(X, y)
    vectors = X[(machine[-1] if hasattr(machine, "steps") else machine).support_]
    ax = plot.boundary(machine, X[:20] + 0.1)
    marks = [one for one in ax.collections if isinstance(one, PathCollection)]
    found = np.vstack(
        [one.get_offsets() for one in marks if one.get_label() in ("free", "at the bound")] or [marks[-1].get_offsets()]
    )
    np.testing.assert_allclose(np.sort(found, axis=0), np.sort(vectors, axis=0), atol=1e-9)


def test_support_vectors_that_are_lost():
    X, y = plane()
    machine = make_pipeline(PolynomialMap(), SVC("linear")).fit(X, y)
    assert scatters(plot.boundary(machine, X, y), "free")
    assert not scatters(plot.boundary(machine, X + 0.1, y), "free")


def test_bounds_with_balanced_classes():
    X, y = plane()
    y[X[:, 1] > 0.5] = 0
    machine = SVC(class_weight="balanced").fit(X, y)
    found = sum(len(one.get_offsets()) for one in scatters(plot.boundary(machine, X, y), "at the bound"))
    signed = np.where(y == 1, 1, -1) * machine.decision_function(X)
    assert found == np.sum(signed < 0.95) > 5


def test_support_vectors_of_linear_machines():
    X, y = plane()
    machine = LinearSVC().fit(X, y)
    ax = plot.boundary(machine, X, y)
    assert sum(len(one.get_offsets()) for one in scatters(ax, "free")) == len(machine.support_)
    assert set(contours(ax)) == {-1.0, 0.0, 1.0}
    assert not scatters(plot.boundary(machine, 1.1 * X, y), "free")


def test_the_colour_bar_of_a_regressor_covers_the_targets():
    X, _ = plane()
    t = 10 * np.sin(np.arange(len(X)))
    ax = plot.boundary(LinearRegression().fit(X, t), X, t)
    bar = ax.figure.axes[1]
    low, high = bar.get_ylim()
    assert low <= t.min() and high >= t.max()


def test_boundary_errors():
    X, y = plane()
    machine = SVC().fit(X, y)
    with pytest.raises(ValueError, match="X has 80 rows, but y 3"):
        plot.boundary(machine, X, [1, 2, 3])
    with pytest.raises(ValueError, match="the label 7, which the estimator does not know"):
        plot.boundary(machine, X, y + 7)
    with pytest.raises(ValueError, match="two different features"):
        plot.boundary(machine, X, y, features=(0, 0))
    with pytest.raises(ValueError, match="There is no feature 'z'"):
        plot.boundary(machine, X, y, features=("z", 1))
    with pytest.raises(ValueError, match="not both"):
        plot.boundary(machine, X, y, features=(0, 1), projection=np.eye(2))
    with pytest.raises(ValueError, match="two directions of 2 numbers"):
        plot.boundary(machine, X, y, projection=np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"mercer.plot.curve"):
        plot.boundary(SVC().fit(X[:, :1], y), X[:, :1], y)
    with pytest.raises(ValueError, match="rows and columns"):
        plot.boundary(machine, X[:, 0], y)
    with pytest.raises(ValueError, match="inliers"):
        plot.boundary(OneClassSVM().fit(X), X, y + 5)
    with pytest.raises(Exception, match="not fitted"):
        plot.boundary(SVC(), X, y)


def test_curve():
    x = np.sort(vectors(50)[:, :1], axis=0)
    t = np.sin(2 * x[:, 0])
    machine = SVR("rbf(gamma=1)", epsilon=0.05).fit(x, t)
    _, ax = plt.subplots()
    assert plot.curve(machine, x, t, ax=ax, title="t") is ax
    f, (low, high) = ax.lines[2].get_ydata(), (ax.lines[i].get_ydata() for i in (0, 1))
    np.testing.assert_allclose(f - 0.05, low)
    np.testing.assert_allclose(f + 0.05, high)
    assert ax.lines[0].get_linestyle() == "--"
    frame = pd.DataFrame({"time": x[:, 0]})
    assert plot.curve(make_pipeline(StandardScaler(), SVR()).fit(frame, t), frame, t).get_xlabel() == "time"
    ax = plot.curve(KernelRidge().fit(x, t), x, t)
    assert "f(x) ± 2 standard\ndeviations" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert plot.curve(LinearRegression().fit(x, t), x, t).lines[0].get_label() == "f(x)"
    with pytest.raises(ValueError, match="one feature, but X has 4"):
        plot.curve(machine, vectors(50), t)
    with pytest.raises(ValueError, match="One target per point"):
        plot.curve(machine, x, t[:3])


# How a fit came about.


@pytest.mark.parametrize("problem", [p for p in PROBLEMS if "hinge" in str(p) or "one class" in str(p)], ids=str)
def test_convergence_of_the_zoo(problem):
    solution = mercer.solve(problem.make(), SOLVERS[1], tol=1e-6)
    ax = plot.convergence(solution)
    primal = next(line for line in ax.lines if line.get_label() == "primal")
    np.testing.assert_array_equal(primal.get_ydata(), [step.primal for step in solution.history])
    (right,) = (other for other in ax.figure.axes if other is not ax)
    assert right.get_yscale() == "log"
    ax = plot.convergence(solution.history, "seconds", title="t")
    assert ax.get_xlabel() == "seconds"


def test_convergence_of_machines():
    X, y = plane(classes=3)
    _, ax = plt.subplots()
    assert plot.convergence(SVC().fit(X, y), ax=ax) is ax
    plot.convergence(make_pipeline(StandardScaler(), SVC("linear")).fit(X, y))
    for machine in (LinearSVC(), KernelLogistic(), KernelPerceptron("poly", max_epochs=9), Perceptron(max_epochs=9)):
        with warnings.catch_warnings(action="ignore"):
            machine.fit(X, y == 1)
        plot.convergence(machine)
        plot.convergence(machine, "seconds")
    with pytest.raises(TypeError, match="not KMeans"):
        plot.convergence(KMeans())
    with pytest.raises(ValueError, match="no history"):
        plot.convergence([])
    with pytest.raises(ValueError, match="'rounds' or 'seconds'"):
        plot.convergence(SVC().fit(X, y), "hours")


def test_the_band_stays_between_the_curves_on_a_logarithmic_axis():
    """Bounds of zero and below have no place there: the band then goes down to the lower end."""
    values = [(9.0, -2.0), (5.0, 0.0), (4.0, 0.5), (2.0, 1.9)]
    ax = plot.convergence([Step(k + 1, primal, dual, 1, 0.1 * k) for k, (primal, dual) in enumerate(values)])
    low = ax.get_ylim()[0]
    (band,) = ax.collections
    corners = {(x, y) for x, y in band.get_paths()[0].vertices.tolist()}
    assert ax.get_yscale() == "log"
    assert corners == {(k + 1.0, value) for k, pair in enumerate(values) for value in (pair[0], max(pair[1], low))}


def test_a_gap_of_one_value_is_seen():
    def gap_line(steps):
        ax = plot.convergence(steps)
        return next(other for other in ax.figure.axes if other is not ax).lines[0]

    steps = [Step(1, 3.0, 1.0, 1, 0.0), Step(2, 2.0, 2.0, 1, 0.1)]
    assert gap_line(steps).get_xdata().tolist() == [1] and gap_line(steps).get_marker() == "D"
    assert gap_line([steps[0], Step(2, 2.0, 1.5, 1, 0.1)]).get_marker() == ""


@pytest.mark.parametrize(
    "machine", [SVC(C=0.5), SVC(C=float("inf")), SVR(), OneClassSVM(), KernelPerceptron(), svm.SVC()], ids=str
)
def test_alphas(machine):
    X, y = plane()
    machine.fit(X, y)
    _, ax = plt.subplots()
    assert plot.alphas(machine, ax=ax) is ax
    heights = sorted(bar.get_height() for bar in ax.patches)
    np.testing.assert_allclose(heights, np.sort(machine.dual_coef_[0]))
    lines = {float(line.get_ydata()[0]) for line in ax.lines if line.get_linestyle() == "--"}
    assert all(abs(line) == getattr(machine, "C", 1.0) for line in lines)
    assert str(len(machine.support_)) in ax.get_title()


def test_alphas_of_others():
    X, y = plane(classes=3)
    plot.alphas(make_pipeline(StandardScaler(), SVC()).fit(X, y), title="t")
    plot.alphas(SVR(epsilon=100.0).fit(X, y))  # no support vectors at all
    with pytest.raises(TypeError, match="not KNeighborsClassifier"):
        plot.alphas(KNeighborsClassifier().fit(X, y))


# Searches.


def searched(**grid):
    X, y = plane()
    return GridSearchCV(SVC(), grid, cv=3).fit(X, y)


def test_grid():
    search = searched(C=[0.1, 1, 10], kernel__gamma=[0.01, 0.1])
    _, ax = plt.subplots()
    assert plot.grid(search, ax=ax) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("C", "gamma")
    table = ax.images[0].get_array()
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        column, row = [0.1, 1, 10].index(params["C"]), [0.01, 0.1].index(params["kernel__gamma"])
        assert table[row, column] == score
    best = max(search.cv_results_["mean_test_score"])
    assert ax.get_title().startswith(f"best {best:.4g}")
    other = plot.grid(search.cv_results_, x="gamma")
    assert (other.get_xlabel(), other.get_ylabel()) == ("gamma", "C")
    assert plot.grid(search, y="C").get_ylabel() == "C"
    assert plot.grid(searched(C=[1, 2], kernel=["linear", Gaussian(1.0)])).get_ylabel() == "kernel"


def test_path_of_a_search():
    _, ax = plt.subplots()
    assert plot.path(searched(C=[0.1, 1, 10]), ax=ax) is ax
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "C"
    ax = plot.path(searched(C=[0.1, 1, 10], kernel__gamma=[0.01, 0.1]))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["gamma = 0.01", "gamma = 0.1"]
    ax = plot.path(searched(kernel=["linear", "poly", "rbf"]), title="t")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["linear", "poly", "rbf"]


def test_path_of_leave_one_out_errors():
    X, t = vectors(60), np.sin(vectors(60)[:, 0])
    results = KernelRidge().path(X, t, np.logspace(-3, 2, 9))
    _, ax = plt.subplots()
    assert plot.path(results, ax=ax) is ax
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.ravel(results.errors))
    assert ax.get_xscale() == "log" and f"lambda$ = {results.best:.3g}" in ax.get_title()
    ax = plot.path(KernelRidge().path(X, np.column_stack([t, t**2]), np.logspace(-3, 2, 70)), title="t")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["target 0", "target 1"]


def test_search_errors():
    with pytest.raises(ValueError, match="no parameter 'degree'"):
        plot.grid(searched(C=[1, 2], kernel__gamma=[1, 2]), x="degree")
    with pytest.raises(ValueError, match=r"mercer.plot.path"):
        plot.grid(searched(C=[1, 2]))
    with pytest.raises(ValueError, match="has none"):
        plot.path(searched(C=[1]))
    with pytest.raises(TypeError, match="fitted grid search"):
        plot.path(SVC())


# Feature maps.


@pytest.mark.parametrize("phi", [PolarMap(), PolynomialMap(), RandomFourier(random_state=0), StandardScaler()], ids=str)
def test_feature_map(phi):
    X, y = plane()
    left, right = plot.feature_map(phi, X, y)
    assert left.get_title() == "before" and right.get_title() == f"after {type(phi).__name__}"
    assert sum(len(one.get_offsets()) for one in right.collections) == len(X)
    assert not hasattr(phi, "n_features_in_")  # what is given is not changed
    plot.feature_map(phi, X)


def test_feature_map_chooses_what_separates():
    X = vectors(100)[:, :2]
    rings = (np.linalg.norm(X, axis=1) > 1.2).astype(int)
    _, right = plot.feature_map(PolynomialMap(), X, rings)
    assert (right.get_xlabel(), right.get_ylabel()) == ("x₁²", "x₂²")
    phi = PolynomialMap().fit(X)
    _, right = plot.feature_map(phi, X, rings, components=(3, 4, 5))
    assert right.get_zlabel() == "√2 x₁ x₂"
    _, (left, right) = plt.subplots(1, 2)
    assert plot.feature_map(phi, X, rings, ax=(left, right)) == (left, right)
    _, right = plot.feature_map(PolynomialMap(), X[:, :1], np.abs(X[:, 0]) > 1)
    assert (right.get_xlabel(), right.get_ylabel()) == ("√2 x₁", "x₁²")  # rather than the constant 1
    plot.feature_map(PolynomialMap(), vectors(100), rings)


def test_feature_map_errors():
    X, y = plane()
    with pytest.raises(TypeError, match="must be a feature map"):
        plot.feature_map(Gaussian(1.0), X)
    with pytest.raises(ValueError, match="of the 6 features"):
        plot.feature_map(PolynomialMap(), X, components=(0, 9))
    with pytest.raises(ValueError, match="a pair of axes"):
        plot.feature_map(PolarMap(), X, ax=plt.subplots()[1])
    with pytest.raises(ValueError, match="projection='3d'"):
        plot.feature_map(PolynomialMap(), X, components=(3, 4, 5), ax=plt.subplots(1, 2)[1])
    with pytest.raises(ValueError, match="One label per point"):
        plot.feature_map(PolarMap(), X, y[:4])
    with pytest.raises(ValueError, match="a few classes"):
        plot.feature_map(PolarMap(), X, X[:, 0])


def test_what_to_do_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.delattr(matplotlib, "pyplot")
    with pytest.raises(ImportError, match=r"pip install 'mercer\[plot\]'"):
        plot.gram(np.eye(3))


def test_the_line_in_feature_space_and_the_boundary_that_it_is_before_the_map():
    X, y = np.array([[1.0, 1], [-1, -1], [-1, 1], [1, -1]]), [-1, -1, 1, 1]
    left, right = plot.feature_map(PolynomialMap(), X, y, boundary=True)
    assert (right.get_xlabel(), right.get_ylabel()) == ("√2 x₁", "√2 x₁ x₂")
    for axes in (left, right):
        levels = [list(lines.levels) for lines in axes.collections if hasattr(lines, "levels")]
        assert [-1, 0, 1] in levels
    with pytest.raises(ValueError, match="two classes"):
        plot.feature_map(PolynomialMap(), X, [0, 1, 2, 1], boundary=True)
    plt.close("all")


def test_numbers_in_small_heat_maps():
    few, many = plot.gram(np.array([[2.0, -1], [-1, 2]])), plot.gram(np.eye(11))
    assert [text.get_text() for text in few.texts] == ["2", "−1", "−1", "2"] and not many.texts
    plt.close("all")


def test_confusion():
    ax = plot.confusion([[3, 1], [0, 5]], ["no", "yes"], title="t")
    assert [text.get_text() for text in ax.texts] == ["3", "1", "0", "5"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["no", "yes"]
    assert ax.get_ylabel() == "true" and ax.get_title() == "t"
    with pytest.raises(ValueError, match="square"):
        plot.confusion(np.ones((2, 3)), ["a", "b"])

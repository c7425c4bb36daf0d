"""Search: the answers of GridSearchCV, with shared work; and what it proves of them."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine, make_moons
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, SVR, KernelLogistic, KernelRidge, LinearSVC, Search
from mercer._core.core import CHOICE
from mercer.search import one_standard_error

GRID = {"C": [0.1, 1, 10, 100], "kernel__gamma": [0.01, 0.1, 1.0]}
THEIRS = {"C": GRID["C"], "gamma": GRID["kernel__gamma"]}


def data(name):
    X, y = {"cancer": load_breast_cancer, "iris": load_iris, "wine": load_wine}[name](return_X_y=True)
    return StandardScaler().fit_transform(X), y


MOONS = make_moons(120, noise=0.3, random_state=0)


@pytest.mark.parametrize("name", ["cancer", "iris", "wine"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_scores_are_those_of_scikit_learn_at_a_small_tolerance(name, form):
    X, y = data(name)
    X = sparse.csr_matrix(X) if form == "sparse" else X
    ours = Search(SVC(), GRID, prune=False).fit(X, y)
    theirs = GridSearchCV(sklearn.svm.SVC(tol=1e-6), THEIRS).fit(X, y)
    assert ours.how_ == "60 of 60 fits shared their Gram matrices."
    assert ours.best_params_ == {"C": theirs.best_params_["C"], "kernel__gamma": theirs.best_params_["gamma"]}
    assert not ours.pruned_.any()
    scores, low, high = theirs.cv_results_["mean_test_score"], *ours.score_bounds_.T
    assert ((low - 1e-12 <= scores) & (scores <= high + 1e-12)).all()
    open_cells = high > low
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"][~open_cells], scores[~open_cells], rtol=1e-12)
    assert open_cells.mean() <= 0.25
    assert np.nanmax(ours.gaps_) <= 1e-5
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99


@pytest.mark.parametrize("setting", [{}, {"class_weight": "balanced"}, {"bias": False}, {"multiclass": "ovr"}], ids=str)
@pytest.mark.parametrize("name", ["moons", "wine"])
def test_exact_solutions_lie_within_the_bounds(name, setting):
    X, y = MOONS if name == "moons" else data(name)
    X, y = X[::2], y[::2]
    grid = {"C": [0.03, 1.0, 300.0], "kernel__gamma": [0.1, 1.0]}
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    found = Search(SVC(**setting), grid, cv=cv).fit(X, y)
    exact = GridSearchCV(SVC(tol=1e-10, **setting), grid, cv=cv).fit(X, y)
    scores, (low, high) = exact.cv_results_["mean_test_score"], found.score_bounds_.T
    assert ((low - 1e-12 <= scores) & (scores <= high + 1e-12)).all()
    assert (low <= high).all()
    least = 0.6 if CHOICE.core == "native" else 0.5  # where all coefficients are at their bounds, b is open
    assert (high - low == 0).mean() >= least
    if found.decided_:
        assert found.best_index_ == exact.best_index_


@pytest.mark.parametrize("name", ["cancer", "wine"])
def test_what_cannot_win_is_left_early_ranks_last_and_keeps_true_bounds(name):
    X, y = data(name)
    grid = {"C": [0.001, 0.1, 10.0, 1000.0], "kernel__gamma": [0.01, 0.3]}
    short = Search(SVC(), grid, refit=False).fit(X, y)
    whole = Search(SVC(), grid, refit=False, prune=False).fit(X, y)
    left = short.pruned_
    assert 0 < np.count_nonzero(left) < left.size
    assert f"{np.count_nonzero(left)} of 8 settings were left early" in short.how_
    assert short.best_index_ == whole.best_index_
    assert (short.cv_results_["rank_test_score"][left] == np.count_nonzero(~left) + 1).all()
    scores, (low, high) = whole.cv_results_["mean_test_score"], short.score_bounds_.T
    assert ((low - 1e-12 <= scores) & (scores <= high + 1e-12)).all()
    np.testing.assert_array_equal(short.cv_results_["mean_test_score"][~left], scores[~left])
    for settings in ({"scoring": "f1_macro"}, {"return_train_score": True}, {"refit": one_standard_error}):
        assert not Search(SVC(), grid, cv=3, **settings).fit(X, y).pruned_.any()


def test_bounds_of_what_is_not_solved_are_wide_and_still_hold(monkeypatch):
    """With a gap of 10%, labels are open; those of the exact machine are among them."""
    from mercer.search import aims, cells

    def nothing(found, *_):
        shape = found.low.shape[:2]
        return np.full(shape, np.inf), np.zeros(shape, bool)

    monkeypatch.setattr(cells, "FIRST_GOAL", 0.1)
    monkeypatch.setattr(cells, "ENOUGH", 0.0)
    monkeypatch.setattr(aims, "wanted", nothing)
    grid = {"C": [1.0, 30.0], "kernel__gamma": [0.3, 3.0]}
    for X, y in (MOONS, data("iris")):
        rough = Search(SVC(), grid, cv=3, prune=False).fit(X, y)
        exact = GridSearchCV(SVC(tol=1e-9), grid, cv=3).fit(X, y).cv_results_["mean_test_score"]
        low, high = rough.score_bounds_.T
        assert (high - low).max() > 0.05
        assert ((low <= exact + 1e-12) & (exact <= high + 1e-12)).all()
        assert not rough.decided_


def test_leaving_one_out_equals_as_many_exact_refits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=200) > 0.2).astype(int)
    grid = {"C": [0.3, 30.0], "kernel__gamma": [0.2]}
    found = Search(SVC(), grid, cv="loo", refit=False).fit(X, y)
    assert found.n_splits_ == 200
    assert np.array_equal(*found.score_bounds_.T)
    for number, C in enumerate(grid["C"]):
        machine = SVC("rbf(gamma=0.2)", C=C, tol=1e-10)
        refits = [machine.fit(np.delete(X, i, 0), np.delete(y, i)).score(X[[i]], y[[i]]) for i in range(200)]
        assert [found.cv_results_[f"split{i}_test_score"][number] for i in range(200)] == refits


def test_leaving_one_out_of_ridge_regression_takes_one_fit_for_each_setting(monkeypatch):
    X, y = load_diabetes(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:40], (y[:40] - y.mean()) / y.std()
    fits, plain = [], KernelRidge.fit
    monkeypatch.setattr(
        KernelRidge, "fit", lambda self, *data, **named: (fits.append(self), plain(self, *data, **named))[1]
    )
    how = {"cv": "loo", "scoring": "neg_mean_squared_error"}
    for bias, weight in ((False, None), (True, 1.0 + np.arange(40) / 40)):
        grid = {"alpha": [0.1, 10.0], "kernel__gamma": [0.1]}
        given = {} if weight is None else {"sample_weight": weight}
        fits.clear()
        found = Search(KernelRidge(bias=bias), grid, **how).fit(X, y, **given)
        assert len(fits) == 3  # two settings, and the best on all rows
        assert "80 of 80 fits shared" in found.how_
        exact = Search(KernelRidge(bias=bias, solver="cholesky"), grid, return_train_score=True, **how).fit(
            X, y, **given
        )
        assert exact.best_params_ == found.best_params_
        for i in range(40):
            name = f"split{i}_test_score"
            assert found.cv_results_[name] == pytest.approx(exact.cv_results_[name], rel=1e-5, abs=1e-8)
    fits.clear()  # the scale is that of the points which are left
    Search(KernelRidge(), {"alpha": [1.0]}, **how).fit(X, y)
    assert len(fits) == 41


def test_leaving_one_out_of_what_it_does_not_know_and_of_a_point_without_weight_in_the_answer(monkeypatch):
    X, y = MOONS
    assert Search(LogisticRegression(), {"C": [1.0]}, cv="loo").fit(X[:20], y[:20]).n_splits_ == 20
    from mercer.search import paths

    rounds = []

    class Counting:
        def __getattr__(self, name):
            return getattr(paths.CHOICE.functions, name)

        def settle_cells(self, K, terms, start, goals, beta, F, found, *others):
            paths.CHOICE.functions.settle_cells(K, terms, start, goals, beta, F, found, *others)
            rounds.append((found[1:, 3].copy(), beta[0] != 0.0))

    monkeypatch.setattr(paths, "core", Counting())
    Search(SVC(), {"C": [1.0], "kernel__gamma": [1.0]}, cv="loo", refit=False).fit(X, y)
    after, support = rounds[0]
    assert 0 < np.count_nonzero(support) < support.size
    assert not after[~support].any()  # nothing is left to do


def test_regression_dense_and_sparse():
    X, y = load_diabetes(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:150], (y[:150] - y.mean()) / y.std()
    grid = {"C": [0.1, 1.0, 10.0], "epsilon": [0.1, 0.5], "kernel__gamma": [0.01, 0.1]}
    ours = Search(SVR(), grid, scoring="r2").fit(X, y)
    plain = GridSearchCV(SVR(tol=1e-9), grid, scoring="r2").fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=1e-3)
    assert ours.best_params_ == plain.best_params_
    assert ours.score_bounds_ is None
    assert ours.decided_ is None
    assert ours.how_.startswith("60 of 60")
    thin = Search(SVR(), grid, scoring="r2").fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.cv_results_["mean_test_score"], ours.cv_results_["mean_test_score"], atol=1e-5)


def same(ours, plain, atol=0.0):
    """All that cv_results_ holds, but for times."""
    assert set(ours.cv_results_) == set(plain.cv_results_)
    for name, values in plain.cv_results_.items():
        if "time" in name:
            assert np.isfinite(ours.cv_results_[name]).all()
        elif name == "params":
            assert ours.cv_results_[name] == values
        elif values.dtype == object:
            assert list(ours.cv_results_[name]) == list(values)
        else:
            np.testing.assert_allclose(ours.cv_results_[name], values, atol=atol, err_msg=name)
    assert ours.best_index_ == plain.best_index_
    assert ours.n_splits_ == plain.n_splits_


def test_everything_that_grid_search_knows():
    """Several scorers, train scores, folds in any form, groups, weights, refit by name and by function."""
    X, y = MOONS
    groups = np.arange(len(y)) % 6
    cases = [
        {"scoring": ["accuracy", "roc_auc"], "refit": "roc_auc", "return_train_score": True},
        {"scoring": {"own": make_scorer(accuracy_score)}, "refit": "own", "cv": KFold(3)},
        {"scoring": "balanced_accuracy", "cv": ShuffleSplit(3, random_state=0)},
        {"refit": one_standard_error, "cv": list(KFold(4).split(X))},
        {"cv": GroupKFold(3)},
    ]
    for case in cases:
        params = {"groups": groups} if isinstance(case.get("cv"), GroupKFold) else {}
        ours = Search(SVC(), GRID, prune=False, **case).fit(X, y, **params)
        plain = GridSearchCV(SVC(tol=1e-8), GRID, **case).fit(X, y, **params)
        close = CHOICE.core != "native" and "return_train_score" in case  # nearly equal scores, in any order
        same(ours, plain, 1e-3 if close else 0.0)
        assert ours.how_.startswith(f"{12 * ours.n_splits_} of")
        assert ours.score(X, y) == pytest.approx(plain.score(X, y))
    tighter = {"C": [1, 10, 100], "kernel__gamma": [0.1, 1.0]}  # with all at their bounds, b would be anybody's
    weight, given = np.where(groups > 2, 2.0, 0.5) * (groups > 0), {"return_train_score": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn on weights in scorers
        same(
            Search(SVC(class_weight="balanced"), tighter, **given).fit(X, y, sample_weight=weight),
            GridSearchCV(SVC(class_weight="balanced", tol=1e-8), tighter, **given).fit(X, y, sample_weight=weight),
        )


def test_pipelines_fit_their_steps_inside_each_fold():
    X, y = load_wine(return_X_y=True)
    grid = {"svc__C": [0.1, 10.0], "svc__kernel__gamma": [0.01, 0.1], "standardscaler__with_std": [True, False]}
    ours = Search(make_pipeline(StandardScaler(), SVC()), grid, cv=3).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = GridSearchCV(make_pipeline(StandardScaler(), SVC(tol=1e-8)), grid, cv=3).fit(X, y)
    same(ours, plain)
    assert ours.how_.startswith("24 of 24")
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    assert Search(make_pipeline(StandardScaler(), SVC()), grid, cv=3).fit(frame, y).best_params_ == ours.best_params_


def test_other_kernels_words_for_gamma_and_classes_as_text():
    X, y = data("iris")
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    grid = [
        {"kernel": ["rbf", "poly(degree=2)", "rbf(gamma=0.5) + linear", mercer.kernel("laplacian")], "C": [0.5, 5.0]}
    ]
    ours = Search(SVC(), grid, cv=3).fit(X, names)
    plain = GridSearchCV(SVC(tol=1e-8), grid, cv=3).fit(X, names)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert ours.how_.startswith("24 of 24")
    assert set(ours.predict(X)) <= set(names)


@pytest.mark.parametrize("grid", [{"gamma": [1]}, [{"gamma": [1]}, {"C": [1, 2]}], {"C": [1], "kernel__gama": [1]}])
def test_a_name_that_the_machine_does_not_have_is_an_error_at_once(grid):
    X, y = MOONS
    with pytest.raises(ValueError, match="has no parameter 'gam") as raised:
        Search(SVC(), grid).fit(X, y)
    assert "\n" not in str(raised.value)


def test_what_it_does_not_know_is_fitted_plainly_and_it_says_so():
    X, y = MOONS
    logistic = Search(LogisticRegression(), {"C": [0.1, 1.0]}).fit(X, y)
    same(logistic, GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}).fit(X, y))
    assert logistic.how_ == (
        "Every setting was fitted by itself: work is shared for mercer's SVC, SVR, LinearSVC, KernelLogistic, "
        "not for sklearn.linear_model.LogisticRegression."
    )
    with pytest.raises(ValueError, match="grid='auto' needs work that is shared, .* name the values to try"):
        Search(LogisticRegression(), "auto").fit(X, y)
    own = Search(SVC(), {"C": [1.0]}, scoring=lambda machine, X, y: float(machine.score(X, y))).fit(X, y)
    assert "a scorer is a function" in own.how_
    hard = Search(SVC("rbf(gamma=20)"), {"C": [1.0, float("inf")]}, cv=3).fit(X, y)
    assert hard.how_ == "3 of 6 fits shared their Gram matrices."
    assert hard.score_bounds_ is None
    small = Search(SVC(), {"C": [1.0, 2.0]}, memory="100kB").fit(X, y)
    assert small.how_.startswith("0 of 10")


def test_errors_are_scores_or_raised():
    X, y = MOONS
    grid = {"C": [1.0, -1.0]}
    with pytest.warns(FitFailedWarning, match="5 fits failed"), pytest.warns(UserWarning, match="non-finite"):
        found = Search(SVC(), grid).fit(X, y)
    assert np.isnan(found.cv_results_["mean_test_score"][1])
    with pytest.raises(ValueError, match="C must be"):
        Search(SVC(), grid, error_score="raise").fit(X, y)
    with pytest.raises(ValueError, match="time_limit must be"):
        Search(SVC(), grid, time_limit=0).fit(X, y)


def test_it_is_an_estimator_clone_pickle_nested_html_and_saved(tmp_path):
    X, y = MOONS
    search = Search(SVC(), {"C": [1.0, 10.0]}, cv=3)
    assert is_classifier(search)
    assert clone(search).get_params()["estimator__C"] == 1.0
    again = pickle.loads(pickle.dumps(search.fit(X, y)))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert len(pickle.dumps(search)) < 100_000  # no Gram matrix in it
    assert "best_estimator_" in search._repr_html_()
    assert len(cross_val_score(clone(search), X, y, cv=3)) == 3
    mercer.save(search, tmp_path / "best.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "best.mercer").predict(X), search.predict(X))


def test_a_time_limit_leaves_at_least_one_setting_and_a_machine(monkeypatch):
    from mercer import limits

    X, y = MOONS
    for estimator in (SVC(), LogisticRegression()):
        name = "C"
        found = Search(estimator, {name: [0.1, 1.0, 10.0]}, time_limit=1e-9).fit(X, y)
        assert 1 <= len(found.cv_results_["params"]) <= 3
        assert found.best_estimator_.predict(X).shape == y.shape
    found = Search(SVC(), GRID, time_limit=1e-9).fit(X, y)
    assert [settings["kernel__gamma"] for settings in found.cv_results_["params"]] == [0.01] * 4
    assert len(Search(SVC(), GRID, time_limit=1e6).fit(X, y).cv_results_["params"]) == 12
    assert limits.now() > 0


def test_threads_change_nothing():
    X, y = data("wine")
    one, two = (Search(SVC(), GRID, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    same(one, two)
    np.testing.assert_array_equal(one.score_bounds_, two.score_bounds_)
    np.testing.assert_array_equal(one.gaps_, two.gaps_)


def test_edges_and_the_one_standard_error_rule():
    X, y = data("cancer")
    found = Search(SVC(), GRID).fit(X, y)
    assert found.at_edge_ == ["kernel__gamma"]
    simple = Search(SVC(), GRID, refit=one_standard_error).fit(X, y)
    results, best = simple.cv_results_, found.best_index_
    error = results["std_test_score"][best] / 2.0
    assert results["mean_test_score"][simple.best_index_] >= results["mean_test_score"][best] - error
    assert simple.best_params_["C"] <= found.best_params_["C"]


def test_a_search_that_was_killed_goes_on_in_a_new_process(tmp_path, monkeypatch):
    from mercer.search import cells

    path = tmp_path / "run.mercer"
    code = f"""
import os, signal
from sklearn.datasets import load_iris
from mercer import SVC, Search
from mercer.search import sheet

sheet._OFTEN = 0.0
keep = sheet.Sheet.keep
def killed(self):
    keep(self)
    if self.answers:
        os.kill(os.getpid(), signal.SIGKILL)
sheet.Sheet.keep = killed
X, y = load_iris(return_X_y=True)
Search(SVC(), {{"C": [0.1, 10.0], "kernel__gamma": [0.1, 1.0]}}, cv=3, n_jobs=1, checkpoint={str(path)!r}).fit(X, y)
"""
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120)
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()
    solved, real = [], cells.solve_all
    monkeypatch.setattr(cells, "solve_all", lambda *given: (solved.append(1), real(*given))[1])
    X, y = load_iris(return_X_y=True)
    grid = {"C": [0.1, 10.0], "kernel__gamma": [0.1, 1.0]}
    found = Search(SVC(), grid, cv=3, n_jobs=1, checkpoint=path).fit(X, y)
    assert len(solved) == 1  # of two: one was there
    same(found, Search(SVC(), grid, cv=3).fit(X, y))


def test_a_checkpoint_goes_on_where_it_was_and_refuses_other_data(tmp_path, monkeypatch):
    from mercer.archives.checkpoint import CheckpointError
    from mercer.search import cells

    X, y = data("iris")
    path, solved = tmp_path / "run.mercer", []
    real = cells.solve_all
    monkeypatch.setattr(cells, "solve_all", lambda *given: (solved.append(1), real(*given))[1])

    def search(grid, **settings):
        solved.clear()
        return Search(SVC(**settings), grid, cv=3, checkpoint=path, prune=False)

    part = {"C": [0.1, 10.0], "kernel__gamma": [0.1]}
    first = search(part).fit(X, y)
    assert len(solved) == 2  # every other C
    again = search(part).fit(X, y)
    assert solved == []
    same(again, first)
    np.testing.assert_array_equal(again.score_bounds_, first.score_bounds_)
    larger = search({"C": [0.1, 10.0], "kernel__gamma": [0.1, 1.0]}).fit(X, y)
    assert len(solved) == 1
    same(larger, Search(SVC(), {"C": [0.1, 10.0], "kernel__gamma": [0.1, 1.0]}, cv=3, prune=False).fit(X, y))
    smaller = search({"C": [0.01, 0.1, 10.0], "kernel__gamma": [0.1, 1.0]}).fit(X, y)
    assert len(smaller.cv_results_["params"]) == 6
    with pytest.raises(CheckpointError, match="other data or other settings"):
        search(part).fit(X + 1.0, y)
    with pytest.raises(CheckpointError, match="other data or other settings"):
        search(part, class_weight="balanced").fit(X, y)
    with pytest.raises(mercer.io.ModelError, match="checkpoint of work that is not finished"):
        mercer.load(path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        Search(SVC(), part, checkpoint=tmp_path / "nowhere" / "run.mercer").fit(X, y)


def test_what_is_finished_before_an_interruption_is_kept(tmp_path, monkeypatch):
    from mercer.search import cells

    X, y = data("iris")
    real, begun = cells.solve_all, []

    def interrupted(*given):
        begun.append(1)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return real(*given)

    grid = {"C": [1.0], "kernel__gamma": [0.1, 1.0]}
    search = Search(SVC(), grid, cv=3, n_jobs=1, checkpoint=tmp_path / "run.mercer")
    monkeypatch.setattr(cells, "solve_all", interrupted)
    with pytest.raises(KeyboardInterrupt, match="1 of 2 settings are finished and kept in .*run.mercer"):
        search.fit(X, y)
    begun[:] = [1]
    with pytest.raises(KeyboardInterrupt, match="0 of 2 settings are finished, and lost; with checkpoint="):
        Search(SVC(), grid, cv=3, n_jobs=1).fit(X, y)
    begun[:] = [1] * 10
    search.fit(X, y)
    assert len(begun) == 11  # one of two was there


def test_the_automatic_grid_ends_with_its_best_inside(monkeypatch):
    X, y = data("cancer")
    found = Search(SVC(), "auto", cv=3).fit(X, y)
    settings = found.cv_results_["params"]
    assert found.at_edge_ == []
    assert len({repr(one) for one in settings}) == len(settings) <= 60
    fixed = Search(SVC(), GRID, cv=3).fit(X, y)
    assert found.best_score_ >= fixed.best_score_ - 0.005
    assert found.how_.startswith(f"{3 * len(settings)} of {3 * len(settings)}")
    short = Search(make_pipeline(StandardScaler(), SVC()), "auto", cv=3, time_limit=1e-9).fit(X, y)
    assert 1 <= len(short.cv_results_["params"]) < 9
    assert short.best_estimator_.predict(X).shape == y.shape
    lines = Search(SVC("linear"), "auto", cv=3, scoring=["accuracy", "f1"], refit="f1").fit(X[::4], y[::4])
    assert list(lines.best_params_) == ["C"]
    for wrong in (Search(LogisticRegression(), "auto"), Search(SVC(), "everything")):
        with pytest.raises(ValueError, match="auto"):
            wrong.fit(X, y)


def test_tune_takes_arrays_sparse_matrices_and_frames_with_categories_and_gaps(monkeypatch):
    from mercer.search import tune as module

    X, y = load_wine(return_X_y=True)
    monkeypatch.setattr(sys.modules[module.__module__], "_MOST", 100)
    found = mercer.tune(X, y, cv=3)
    assert found.best_score_ > 0.9
    assert found.best_estimator_[-1].shape_fit_[0] == len(y)  # trained again on all rows
    assert "scored by cross-validation in 3 folds on 100 of 178 rows" in found.how_
    assert "trained again on all 178 rows" in found.how_
    frame = pd.DataFrame(X[:90, :3], columns=["a", "b", "c"])
    frame.loc[::7, "b"] = np.nan
    frame["d"] = np.where(y[:90] == 0, "red", "blue")
    frame.loc[3, "d"] = None
    text = np.array(["one", "two"])[y[:90]]
    words = mercer.tune(frame, text, cv=3, time_limit=1e-9)
    assert words.predict(frame.iloc[:2]).tolist() == ["one", "one"]
    assert "3 columns of numbers scaled, 1 of categories as zeros and ones" in words.how_
    thin = mercer.tune(sparse.csr_matrix(X[:90]), X[:90, 0] + 0.5, cv=3, time_limit=1e-9)
    assert thin.how_.startswith("SVR with a Gaussian kernel, columns divided by their largest value.")
    gaps = X[:90].copy()
    gaps[0, 0] = np.nan
    assert "gaps filled" in mercer.tune(gaps, y[:90], cv=3, time_limit=1e-9).how_


def test_tune_leaves_out_dates_and_free_text():
    n, rng = 60, np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=n), "when": pd.date_range("2020-01-01", periods=n)})
    frame["note"] = [f"this is {i}" for i in range(n)]
    with pytest.warns(UserWarning, match="tune leaves out column") as told:
        found = mercer.tune(frame, frame["a"] > 0, cv=2, time_limit=1e-9)
    assert [str(warning.message).split(": ")[0][-6:] for warning in told] == ["'when'", "'note'"]
    assert all(warning.filename == __file__ for warning in told)
    assert (
        "1 column of numbers scaled, 'when' left out (dates), 'note' left out (text with 60 different values in 60 rows"
        in found.how_
    )
    assert "categories as" not in found.how_
    with pytest.warns(UserWarning, match="holds dates"), pytest.raises(ValueError, match="no column is left"):
        mercer.tune(frame[["when"]], frame["a"] > 0)


def test_tune_takes_as_many_folds_as_there_are_rows_of_a_class():
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert "in 2 folds" in mercer.tune(X[:4], [0, 1, 0, 1], time_limit=1e-9).how_
    assert "in 3 folds" in mercer.tune(X, np.arange(40) < 3, time_limit=1e-9).how_
    assert mercer.tune(X, np.arange(40), time_limit=1e-9).how_.startswith("SVR")  # too many to be classes


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "needs targets y"),
        (np.array(["a", None] * 30, object), "y has a missing value in row 1 "),
        (
            np.array([f"name{i}" for i in range(60)]),
            "y is text with 60 different values in 60 rows, too many for classes",
        ),
        (np.arange(60) == 7, "y has one row only of class True: cross-validation needs"),
        (np.zeros(60), "at least two classes"),
        (np.zeros((60, 2)), "1d array"),
        (np.full(60, np.nan), "NaN"),
        (np.arange(50) % 2, r"\[60, 50\]"),
    ],
)
def test_tune_wants_one_target_for_each_row(y, message):
    with pytest.raises(ValueError, match=message):
        mercer.tune(np.arange(120.0).reshape(60, 2), y)


def test_folds_of_every_kind():
    """Two folds that train on the same rows; masks; rows drawn more than once, which are fitted plainly."""
    X, y = MOONS
    rows, rng = np.arange(len(y)), np.random.default_rng(0)
    mask = rows % 3 == 0
    twice = [(rows[:80], rows[80:100]), (rows[:80], rows[100:])]
    drawn = [(rng.choice(rows, 100), rows[:50]) for _ in range(2)]
    for cut, shared in ((twice, 6), ([(~mask, mask), (mask, ~mask)], 6), (drawn, 0)):
        grid = {"C": [0.1, 1.0, 10.0]}
        ours = Search(SVC(), grid, cv=cut, return_train_score=True).fit(X, y)
        same(ours, GridSearchCV(SVC(tol=1e-8), grid, cv=cut, return_train_score=True).fit(X, y))
        assert ours.how_.startswith(f"{shared} of 6")


@pytest.mark.parametrize(
    "machine",
    [
        LinearSVC(),
        LinearSVC(loss="logistic", bias="penalised"),
        LinearSVC(bias=False, class_weight="balanced"),
        KernelLogistic("rbf(gamma=0.3)"),
        KernelLogistic("poly(degree=2)", bias=False, class_weight={0: 2.0}),
    ],
    ids=str,
)
def test_losses_with_slopes_share_their_work_and_find_the_same(machine):
    grid = {"C": [0.1, 100.0, 3.0]}
    for X, y in (MOONS, data("iris")):
        shared = Search(machine, grid, cv=3, scoring="neg_mean_absolute_error", return_train_score=True).fit(X, y)
        plain = GridSearchCV(clone(machine).set_params(tol=1e-8), grid, cv=3, scoring="neg_mean_absolute_error").fit(
            X, y
        )
        assert shared.how_.startswith("9 of 9")
        assert shared.gaps_.max() <= 1e-5
        np.testing.assert_allclose(
            shared.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=0.011
        )
        assert shared.score_bounds_ is None
    probable = Search(KernelLogistic(), {"C": [1.0, 10.0]}, cv=3, scoring="neg_log_loss").fit(X, y)
    plain = GridSearchCV(KernelLogistic(tol=1e-8), {"C": [1.0, 10.0]}, cv=3, scoring="neg_log_loss").fit(X, y)
    found = probable.cv_results_["mean_test_score"]
    np.testing.assert_allclose(found, plain.cv_results_["mean_test_score"], rtol=0, atol=2e-3)


def test_sparse_points_and_weights_of_linear_machines():
    X, y = MOONS
    weight = np.where(np.arange(y.size) % 3, 1.0, 0.0)
    thin = Search(LinearSVC(), {"C": [0.1, 10.0]}, cv=3).fit(sparse.csr_matrix(X), y, sample_weight=weight)
    full = Search(LinearSVC(), {"C": [0.1, 10.0]}, cv=3).fit(X, y, sample_weight=weight)
    same(thin, full)
    assert thin.how_.startswith("6 of 6")
    assert "0 of 3 fits" in Search(LinearSVC(loss="hinge"), {"C": [1.0]}, cv=3).fit(X, y).how_


def test_without_bounds_fits_end_at_the_tolerance_of_the_machine():
    X, y = MOONS
    loose = Search(SVC(tol=1e-2), GRID, cv=3, bounds=False).fit(X, y)
    assert loose.score_bounds_ is None
    assert loose.decided_ is None
    assert 1e-5 < loose.gaps_.max() <= 1e-2


def test_votes_that_tie_ask_for_the_gap_that_tells_the_sums_apart():
    from mercer.search.bounds import Interval, right, wanted

    low = np.array([[[0.5]], [[-2.0]], [[0.6]]])  # 0 beats 1, 2 beats 0, 1 beats 2: one vote for each
    found = Interval(low, low + 1.0, np.zeros((3, 1)))
    sure, may = right(found, np.array([0]), 3, True)
    assert (may & ~sure).all()

    class Solved:
        dual, gap = np.full((1, 1), 100.0), np.zeros((1, 1))

    gaps, asked = wanted(found, [Solved] * 3, 0, may & ~sure, 3, True)
    assert asked.all()
    assert (gaps < 1e-3).all()

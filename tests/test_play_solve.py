"""The page's own solver, in a real browser: it proves what it says, and Mercer says the same."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA

from mercer import SVC
from mercer.kernels import kernel
from mercer.play.state import fitted, kernel_text, read
from mercer.solvers import Subgradient
from mercer.solvers.steps import InverseTime

from .browser import ask, chromium, opened  # noqa: F401 - a fixture

MACHINES = ("svc", "svr", "oneclass", "ridge", "perceptron")
KERNELS = ("linear", "poly", "rbf", "laplacian")


@pytest.fixture(scope="module")
def blank(chromium):  # noqa: F811
    with opened(chromium) as page:
        yield page


@pytest.mark.parametrize("machine", MACHINES)
def test_the_solver_agrees_with_mercer(blank, machine):
    """20 problems for each kernel: its own gap, and primal and dual beside Mercer's."""
    problems = blank.evaluate(ask("problems"), machine)
    assert len(problems) == 80
    for found in problems:
        state = read(found["state"])
        model = fitted(state, 1e-8)
        certificate = model.certificate_
        if machine == "perceptron":
            assert found["done"] == certificate.converged
            if found["done"]:  # else the last bits decide which mistakes are made
                assert found["mistakes"] == int(np.sum(model.mistakes_))
                assert found["primal"] == pytest.approx(certificate.upper, rel=1e-6)
                assert found["dual"] == pytest.approx(certificate.lower, rel=1e-6)
            continue
        assert found["relative"] <= 1e-6, state.settings
        size = max(abs(certificate.primal), abs(certificate.dual))
        if machine == "oneclass":  # its best may be 0: then what rounding makes of it counts as 0
            size = max(size, 1e-6 * float(kernel(kernel_text(state)).diagonal(state.X).max()))
        assert abs(found["primal"] - certificate.primal) <= 1e-6 * size, state.settings
        assert abs(found["dual"] - certificate.dual) <= 1e-6 * size, state.settings


@pytest.mark.parametrize("machine", ["svc", "svr", "oneclass", "ridge"])
def test_a_machine_that_follows_is_as_good_as_a_new_one(blank, machine):
    for relative, off in blank.evaluate(ask("follow"), {"machine": machine, "gamma": 1}):
        assert relative <= 1e-6
        assert off <= 1e-6


def test_three_classes_vote_as_mercer_does(blank):
    found = blank.evaluate(ask("threeClasses"))
    state = read(found["state"])
    model = fitted(state, 1e-9)
    assert found["relative"] <= 1e-6
    assert found["primal"] == pytest.approx(sum(c.primal for c in model.certificates_), rel=1e-6)
    pairs = [(-1, 1), (-1, 2), (1, 2)]  # Mercer's order of classes is sorted
    ours = {tuple(pair): np.array(found["scores"])[:, k] for k, pair in enumerate(found["pairs"])}
    scores = model.pairwise_decision_function(np.array(found["places"]))
    for k, (a, b) in enumerate(pairs):
        mine = ours[(a, b)] if (a, b) in ours else -ours[(b, a)]
        np.testing.assert_allclose(mine, scores[:, k], atol=1e-3)
    clear = np.abs(scores).min(axis=1) > 0.01
    assert np.array_equal(np.array(found["labels"])[clear], model.predict(np.array(found["places"]))[clear])


@pytest.mark.filterwarnings("ignore:.*max_iter")
def test_subgradient_steps_are_those_of_mercer(blank):
    """The same 80 problems, C = 1000 and near-ties among them: after 12 steps primal and dual are those of Mercer."""
    rounds, settings = 12, {"solver": Subgradient(InverseTime()), "tol": 1e-12, "max_iter": 12}
    for found in blank.evaluate(ask("walks"), {"method": "subgradient", "after": rounds}):
        state = read(found["state"])
        model = SVC(kernel_text(state), C=state.settings["C"], **settings).fit(state.X, state.y)
        best = model.certificate_
        assert found["some"] == pytest.approx([best.primal, best.dual], rel=1e-6), state.settings


@pytest.fixture(scope="module")
def best(blank):
    """Mercer's own answers to the 80 problems."""
    return [fitted(read(found["state"]), 1e-8).certificate_ for found in blank.evaluate(ask("problems"), "svc")]


@pytest.mark.parametrize("method", ["subgradient", "subgradient-best", "stochastic", "stochastic-best"])
def test_steps_on_random_problems(blank, best, method):
    """Whatever the step, primal and dual are bounds of Mercer's; with best steps they meet, and are Mercer's."""
    walks = blank.evaluate(ask("walks"), {"method": method, "after": 1})
    assert len(walks) == len(best) == 80
    for found, certificate in zip(walks, best, strict=True):
        primal, dual = found["all"]
        assert primal >= certificate.dual * (1 - 1e-6), found["state"]
        assert dual <= certificate.primal * (1 + 1e-6), found["state"]
        assert (found["stop"] == "done") == (found["relative"] <= 1e-6)
        if method.endswith("best"):
            assert found["relative"] <= 1e-6, found["state"]
            assert primal == pytest.approx(certificate.primal, rel=1e-6)
            assert dual == pytest.approx(certificate.dual, rel=1e-6)


@pytest.mark.parametrize("method", ["pairs", "subgradient", "subgradient-best", "stochastic", "stochastic-best"])
def test_every_step_brackets_the_best(blank, method):
    """Primal and dual of each step lie on their sides of the best; pair steps never lose any of the dual."""
    found = blank.evaluate(ask("steps"), {"method": method, "C": 1})
    best = fitted(read(found["state"]), 1e-9).certificate_
    steps = found["steps"]
    assert len(steps) > 10
    assert min(step["primal"] for step in steps) >= best.dual * (1 - 1e-9)
    assert max(step["dual"] for step in steps) <= best.primal * (1 + 1e-9)
    duals = np.array([step["dual"] for step in steps])
    assert np.all(np.diff(duals) >= -1e-9 * best.primal)
    assert steps[-1]["event"]["stop"] == ("limit" if method in ("subgradient", "stochastic") else "done")
    if method == "pairs":
        assert all(np.flatnonzero(np.diff([a["beta"], b["beta"]], axis=0)).size <= 2 for a, b in pairwise(steps))


@pytest.mark.parametrize("kernel_name", KERNELS)
def test_kernel_pca(blank, kernel_name):
    found = blank.evaluate(ask("pca"), kernel_name)
    state = read(found["state"])
    K = kernel(kernel_text(state))(state.points, state.points)
    oracle = KernelPCA(2, kernel="precomputed", eigen_solver="dense").fit(K)
    np.testing.assert_allclose(found["values"], oracle.eigenvalues_, rtol=1e-6)
    for axis, mine in enumerate((found["x"], found["y"])):
        theirs = oracle.transform(K)[:, axis]
        np.testing.assert_allclose(np.abs(mine), np.abs(theirs), atol=1e-4 * np.abs(theirs).max())
        assert max(mine) >= -min(mine) - 1e-9  # the largest entry points up

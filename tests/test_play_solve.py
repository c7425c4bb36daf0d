"""The page's own solver, in a real browser: it proves what it says, and Mercer says the same."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA

from mercer import SVC
from mercer.kernels import kernel
from mercer.play.state import fitted, kernel_text, read
from mercer.solvers import Subgradient
from mercer.solvers.steps import InverseTime

from .browser import chromium, opened  # noqa: F401 - a fixture

MACHINES = ("svc", "svr", "oneclass", "ridge", "perceptron")
KERNELS = ("linear", "poly", "rbf", "laplacian")

PROBLEMS = """async (machine) => {
  const { Machine } = await import('/assets/solve.js');
  const { uniforms } = await import('/assets/examples.js');
  const { makeState, point, viewOf, toPlain } = await import('/assets/state.js');
  const u = uniforms(12345), out = [];
  for (const kernel of ['linear', 'poly', 'rbf', 'laplacian']) for (let k = 0; k < 20; k++) {
    const n = 8 + Math.floor(u() * 32), C = [0.1, 1, 10, 1000][k % 4], apart = u() * 1.5;
    const points = Array.from({ length: n }, (_, i) => point(u() * 3 - 1.5 + (i % 2 ? apart : -apart) / 2, u() * 3 - 1.5, i % 2 ? 1 : -1));
    const flips = machine === 'perceptron' ? 1 : -1; // near-ties: the same place, or almost, and the other class
    for (let i = 0; i < n / 8; i++) points.push(point(points[i].x + (i % 2 ? 0 : 0.001), points[i].y, i % 3 ? points[i].label : flips * points[i].label));
    const state = makeState({ machine, kernel, C, gamma: [0.1, 1, 2][k % 3], degree: 2 + k % 3, coef0: k % 5 ? 1 : 0,
      epsilon: [0.05, 0.3][k % 2], nu: [0.05, 0.2, 0.5, 1][k % 4], lambda: [0.001, 0.1, 10][k % 3] }, viewOf(points), points);
    const m = new Machine();
    m.follow(state);
    const { primal, dual, relative, mistakes } = m.descend(1e-7, 4000);
    const fields = m.parts.map(() => new Float64Array(12 * 12));
    m.fill(10, fields);
    out.push({ state: toPlain(state), primal, dual, relative, mistakes, scores: Array.from(points, (_, i) => m.scoreOf(i)), done: m.run?.done ?? true });
  }
  return out;
}"""


@pytest.fixture(scope="module")
def blank(chromium):  # noqa: F811
    with opened(chromium) as page:
        yield page


@pytest.mark.parametrize("machine", MACHINES)
def test_the_solver_agrees_with_mercer(blank, machine):
    """20 problems for each kernel: its own gap, and primal and dual beside Mercer's."""
    problems = blank.evaluate(PROBLEMS, machine)
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


FOLLOW = """async (settings) => {
  const { Machine } = await import('/assets/solve.js');
  const { moons } = await import('/assets/examples.js');
  const S = await import('/assets/state.js');
  let state = S.makeState(settings, { x: 0, y: 0, half: 2 }, moons(50, 0.3));
  const warm = new Machine(), worst = [];
  const changes = [
    ...Array.from({ length: 8 }, (_, k) => (s) => S.moved(s, 5, 1.5 * Math.cos(k), 1.5 * Math.sin(k))),
    (s) => S.relabelled(s, 3), (s) => S.deleted(s, 7), (s) => S.added(s, 0.1, 0.2, 1), (s) => S.set(s, 'C', 1000), (s) => S.set(s, 'C', 0.1),
    (s) => S.set(s, 'gamma', 3), (s) => S.set(s, 'kernel', 'laplacian'), (s) => S.set(s, 'kernel', 'linear'), (s) => S.added(s, 0, 0, 2), (s) => S.cleared(s),
    (s) => S.added(s, 0.5, 0.5, 1), (s) => S.added(s, -0.5, 0.5, -1),
  ];
  for (const change of changes) {
    state = change(state);
    const cold = new Machine();
    warm.follow(state); cold.follow(state);
    const a = warm.descend(1e-7, 4000), b = cold.descend(1e-7, 4000);
    worst.push([a.relative, Math.abs(a.dual - b.dual) / Math.max(1e-9, Math.abs(b.dual))]);
  }
  return worst;
}"""


@pytest.mark.parametrize("machine", ["svc", "svr", "oneclass", "ridge"])
def test_a_machine_that_follows_is_as_good_as_a_new_one(blank, machine):
    for relative, off in blank.evaluate(FOLLOW, {"machine": machine, "gamma": 1}):
        assert relative <= 1e-6
        assert off <= 1e-6


THREE = """async () => {
  const { Machine, winner } = await import('/assets/solve.js');
  const { EXAMPLES } = await import('/assets/examples.js');
  const { toPlain } = await import('/assets/state.js');
  const state = EXAMPLES.clouds(), m = new Machine(), places = [];
  m.follow(state);
  const { relative, primal } = m.descend(1e-8, 4000);
  for (let x = -2; x <= 2; x += 0.25) for (let y = -2; y <= 2; y += 0.25) places.push([x, y]);
  const pairs = m.parts.map((part) => part.classes), scores = places.map(([x, y]) => m.scoresAt({ x, y }));
  return { state: toPlain(state), relative, primal, places, pairs, scores, labels: scores.map((s) => winner(pairs, s)) };
}"""


def test_three_classes_vote_as_mercer_does(blank):
    found = blank.evaluate(THREE)
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


STEPS = """async (settings) => {
  const { stepsOf } = await import('/assets/steps.js');
  const { moons } = await import('/assets/examples.js');
  const { makeState, toPlain } = await import('/assets/state.js');
  const state = makeState(settings, { x: 0, y: 0, half: 2 }, moons(24, 0.3));
  return { state: toPlain(state), steps: stepsOf(state).map(({ primal, dual, beta, event }) => ({ primal, dual, beta: Array.from(beta), event })) };
}"""


@pytest.mark.parametrize("kernel_name", KERNELS)
def test_subgradient_steps_are_those_of_mercer(blank, kernel_name):
    found = blank.evaluate(STEPS, {"method": "subgradient", "kernel": kernel_name, "C": 1})
    state = read(found["state"])
    rounds = 12
    with pytest.warns(match="max_iter"):
        model = SVC(kernel_text(state), C=1, solver=Subgradient(InverseTime()), tol=1e-12, max_iter=rounds).fit(
            state.X, state.y
        )
    steps = found["steps"][:rounds]
    assert min(step["primal"] for step in steps) == pytest.approx(model.certificate_.primal, rel=1e-6)
    assert max(step["dual"] for step in steps) == pytest.approx(model.certificate_.dual, rel=1e-6)


@pytest.mark.parametrize("method", ["pairs", "subgradient", "stochastic"])
def test_every_step_brackets_the_best(blank, method):
    """Primal and dual of each step lie on their sides of the best; pair steps never lose any of the dual."""
    found = blank.evaluate(STEPS, {"method": method, "C": 1})
    best = fitted(read(found["state"]), 1e-9).certificate_
    steps = found["steps"]
    assert len(steps) > 10
    assert min(step["primal"] for step in steps) >= best.dual * (1 - 1e-9)
    assert max(step["dual"] for step in steps) <= best.primal * (1 + 1e-9)
    duals = np.array([step["dual"] for step in steps])
    assert np.all(np.diff(duals) >= -1e-9 * best.primal)
    assert steps[-1]["event"]["stop"] == ("done" if method == "pairs" else "limit")
    if method == "pairs":
        assert all(
            np.flatnonzero(np.diff([a["beta"], b["beta"]], axis=0)).size <= 2
            for a, b in zip(steps, steps[1:], strict=False)
        )


PCA = """async (kernel) => {
  const { kernelPca } = await import('/assets/algebra.js');
  const { gram, kernelOf } = await import('/assets/kernel.js');
  const { moons } = await import('/assets/examples.js');
  const { makeState, toPlain } = await import('/assets/state.js');
  const state = makeState({ kernel }, { x: 0, y: 0, half: 2 }, moons(40, 0.3)), { values, x, y } = kernelPca(gram(state.points, kernelOf(state)));
  return { state: toPlain(state), values, x: Array.from(x), y: Array.from(y) };
}"""


@pytest.mark.parametrize("kernel_name", KERNELS)
def test_kernel_pca(blank, kernel_name):
    found = blank.evaluate(PCA, kernel_name)
    state = read(found["state"])
    K = kernel(kernel_text(state))(state.points, state.points)
    oracle = KernelPCA(2, kernel="precomputed", eigen_solver="dense").fit(K)
    np.testing.assert_allclose(found["values"], oracle.eigenvalues_, rtol=1e-6)
    for axis, mine in enumerate((found["x"], found["y"])):
        theirs = oracle.transform(K)[:, axis]
        np.testing.assert_allclose(np.abs(mine), np.abs(theirs), atol=1e-4 * np.abs(theirs).max())
        assert max(mine) >= -min(mine) - 1e-9  # the largest entry points up

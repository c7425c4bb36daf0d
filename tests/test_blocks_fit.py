"""Machines on rows that are spread over blocks, without a cluster: the same answers as on one machine."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from mercer import SVC, SVR, KernelLogistic, KernelRidge, LinearSVC, OneClassSVM, certify, load, save
from mercer.archives.checkpoint import CheckpointError
from mercer.estimators.on_blocks import fit_on_blocks, fit_ridge_on_blocks
from mercer.estimators.ridge_blocks import errors_at
from mercer.kernels import Gaussian
from mercer.losses import Hinge
from mercer.problem import Problem
from mercer.progress import Watch
from mercer.shards import afar
from mercer.shards import block as verbs
from mercer.shards.afar import SpreadGram, SpreadPoints
from mercer.shards.compact import size_of
from mercer.shards.engine import WorkersLostError
from mercer.shards.local import LocalEngine
from mercer.shards.messages import bytes_of
from mercer.solution import Status
from mercer.solvers.spread_decomposition import SpreadDecomposition

N = 420
ONE_CLASS = [50, 370]  # points are in the order of their targets then, so that the outer blocks have one class
CUTS = {
    "one": [],
    "two": [N // 2],
    "three": [140, 280],
    "seven": [60, 120, 180, 240, 300, 360],
    "uneven": [10, 17, 300],
    "one row": [1, 2, 200, N - 1],
    "empty": [0, 100, 100, 100, N],
    "one class": ONE_CLASS,
}


def data(seed=0, n=N, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=n) > 0, 1, -1)


def spread(machine, X, y, cuts, sample_weight=None, engine=None):
    pieces = [X[a:b] for a, b in zip([0, *cuts], [*cuts, X.shape[0]], strict=True)]
    engine = engine or LocalEngine(pieces)
    return fit_on_blocks(machine, engine, y, sample_weight)


def overlap(a, b):
    """Whether two certificates can both be true, and neither is empty."""
    return max(a.dual, b.dual) <= min(a.primal, b.primal) * (1 + 1e-12) and a.converged and b.converged


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize(
    "machine",
    [SVC(C=2.0), SVC(C=2.0, solver="decomposition(working_set=64)"), SVR(epsilon=0.2), OneClassSVM(nu=0.3)],
    ids=["svc", "rounds", "svr", "one"],
)
def test_the_same_answer_for_every_chunking(machine, cuts, tmp_path):
    X, y = data()
    y = y if isinstance(machine, SVC) else X[:, 0] + np.sin(X[:, 1])
    if cuts is ONE_CLASS:
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    sharp = clone(machine).set_params(tol=1e-10)
    here, there = clone(sharp).fit(X, y), spread(sharp, X, y, cuts)
    assert there.certificate_.converged
    assert np.abs(here.solution_.beta - there.solution_.beta).max() <= 1e-6
    whole = spread(clone(sharp), X, y, [])  # sums over blocks have one order
    assert whole.certificate_.primal == pytest.approx(there.certificate_.primal, rel=1e-9)
    assert there.kernel_ == here.kernel_
    kept = tmp_path / "machine.mercer"
    save(there, kept)
    np.testing.assert_array_equal(load(kept).predict(X), there.predict(X))
    np.testing.assert_array_equal(there.support_vectors_, X[there.support_])


def test_the_same_answer_where_values_are_first_float32():
    X, y = data(20, n=2000)
    sharp = SVC(C=2.0, tol=1e-10)
    here, there = clone(sharp).fit(X, y), spread(sharp, X, y, [300, 1500])
    assert there.certificate_.converged
    assert np.abs(here.solution_.beta - there.solution_.beta).max() <= 1e-6


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_the_default_tolerance(cuts):
    """Two intervals that overlap, and f that differ by no more than both gaps allow; k(x, x) is 1."""
    X, y = data(1)
    if cuts is ONE_CLASS:
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    here, there = SVC().fit(X, y), spread(SVC(), X, y, cuts)
    assert overlap(here.certificate_, there.certificate_)
    apart = np.abs((here._scores(X) - here.intercept_) - (there._scores(X) - there.intercept_)).max()
    assert apart <= np.sqrt(2 * here.certificate_.gap) + np.sqrt(2 * there.certificate_.gap)
    judged = certify(there, X, y)
    assert judged.primal == pytest.approx(there.certificate_.primal, rel=1e-12)
    assert judged.dual == pytest.approx(there.certificate_.dual, rel=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "poly(degree=2)", "laplacian", "rbf(gamma=0.3) + linear", "matern"])
def test_kernels(kernel):
    X, y = data(2)
    machine = SVC(kernel, tol=1e-6)
    here, there = SVC(kernel, tol=1e-6).fit(X, y), spread(machine, X, y, CUTS["uneven"])
    assert overlap(here.certificate_, there.certificate_)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", [True, False, "penalised"])
def test_linear_machines(loss, bias):
    X, y = data(14)
    X = X + 0.5 * y[:, None]
    machine = LinearSVC(loss=loss, bias=bias, tol=1e-6)
    here, there = clone(machine).fit(X, y), spread(machine, X, y, CUTS["uneven"])
    assert overlap(here.certificate_, there.certificate_)
    assert np.abs(here.coef_ - there.coef_).max() <= 1e-2 * np.abs(here.coef_).max()
    judged = certify(there, X, y)
    assert judged.primal == pytest.approx(there.certificate_.primal, rel=1e-9)
    with pytest.raises(ValueError, match="logistic"):
        spread(LinearSVC(loss="logistic"), X, y, [])


def apart(n=N):
    """Points of which no two classes are near one another."""
    X, _ = data(18, n)
    f = X[:, 0] + X[:, 1] * X[:, 2]
    keep = np.abs(f) > 0.2
    return X[keep], np.sign(f[keep])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("cuts", [[], [100], [3, 3, 200], [1, 250]])
def test_a_hard_margin(cuts, bias):
    """Every round rescales all coefficients, wherever they are."""
    X, y = apart()
    machine = SVC("rbf(gamma=2)", C=np.inf, bias=bias, tol=1e-10)
    here, there = clone(machine).fit(X, y), spread(clone(machine), X, y, cuts)
    assert there.certificate_.converged
    size = np.abs(here.solution_.beta).max()
    assert np.abs(here.solution_.beta - there.solution_.beta).max() <= 1e-6 * size
    judged = certify(there, X, y)
    assert judged.primal == pytest.approx(there.certificate_.primal, rel=1e-9)
    rounds = spread(clone(machine).set_params(tol=1e-4, solver="decomposition(working_set=48)"), X, y, cuts)
    assert rounds.solution_.iterations >= 10
    assert overlap(here.certificate_, rounds.certificate_)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_no_hard_margin(kernel):
    """The proof that classes meet, in rows of X; its points are fetched, and no others."""
    X, y = data(19)
    X[300] = X[20]
    y[300] = -y[20]
    machine = spread(SVC(kernel, C=np.inf), X, y, CUTS["uneven"])
    proof = machine.certificate_.proof
    assert machine.certificate_.status is Status.INFEASIBLE
    assert proof.weights.shape == (N,)
    gram = machine.kernel_(X)
    signed = proof.y * proof.weights
    assert np.sqrt(max(signed @ gram @ signed, 0.0)) <= 1e-6
    if kernel == "linear":
        np.testing.assert_allclose(proof.sums[0], (proof.weights * (proof.y > 0)) @ X, atol=1e-12)


def test_several_classes_weights_and_rows_without_weight():
    X, _ = data(3)
    y = np.array(["a", "b", "c"])[(np.abs(X[:, 0]) + X[:, 1] > 0.5).astype(int) + (X[:, 2] > 0.5)]
    weight = np.random.default_rng(0).integers(0, 3, size=N).astype(float)
    for multiclass in ("ovo", "ovr"):
        here = SVC(multiclass=multiclass, tol=1e-8, class_weight="balanced").fit(X, y, weight)
        there = spread(SVC(multiclass=multiclass, tol=1e-8, class_weight="balanced"), X, y, CUTS["seven"], weight)
        assert all(map(overlap, here.certificates_, there.certificates_))
        np.testing.assert_array_equal(here.predict(X), there.predict(X))
        np.testing.assert_array_equal(here.n_support_, there.n_support_)


def test_float32_sparse_and_no_bias():
    X, y = data(4, n=2000)
    X = np.where(np.abs(X) > 0.6, X, 0.0)
    for points in (X.astype(np.float32), csr_array(X), csr_array(X.astype(np.float32)), (X > 0).astype(float)):
        for bias in (True, False):
            here, there = SVC(bias=bias).fit(points, y), spread(SVC(bias=bias), points, y, [500, 1200])
            assert overlap(here.certificate_, there.certificate_)


def replies_of_rounds(engine):
    return engine.received["ask"] + engine.received["move"]


def test_a_round_is_one_exchange():
    """Blocks name their worst points when they are told of a move, and are asked only where nothing had moved."""

    class Told(LocalEngine):
        def __init__(self, chunks):
            super().__init__(chunks)
            self.verbs = []

        def _ask(self, verb, messages, shared):
            self.verbs.append(verb)
            return super()._ask(verb, messages, shared)

    X, y = data(22)
    X, y = X[np.argsort(y)], np.sort(y)
    for cuts in ([140, 280], [N // 2, N // 2 + 50]):  # the first blocks have one class
        engine = Told(np.split(X, cuts))
        machine = spread(SVC(solver="decomposition(working_set=32)"), X, y, [], engine=engine)
        assert overlap(machine.certificate_, SVC().fit(X, y).certificate_)
        rounds = machine.solution_.iterations
        assert rounds >= 10
        assert engine.verbs.count(verbs.move) == rounds
        anew = engine.verbs.count(verbs.begin) + engine.verbs.count(verbs.refresh)
        assert engine.verbs.count(verbs.ask) <= anew < 5


@pytest.mark.parametrize("bias", [True, False])
def test_the_gap_of_a_round_is_that_of_its_coefficients(bias):
    """At a bias that the working set tells: no less than at the best one, and late in a fit the same."""
    X, y = data(23)
    gram = SpreadGram(Gaussian(0.5), SpreadPoints(LocalEngine(np.split(X, [140, 280]))))
    problem = Problem(gram, y.astype(float), Hinge(), 1.0, bias=bias)
    rounds = SpreadDecomposition(working_set=48).iterates(problem, None)
    for number, iterate in zip(range(25), rounds, strict=False):
        scores = gram.recompute(iterate.beta)
        primal = problem.primal(iterate.beta, problem.best_bias(scores), scores)
        gap, rounding = primal - problem.dual(iterate.beta, scores), 1e-12 * primal
        assert iterate.dual == pytest.approx(problem.dual(iterate.beta, scores), rel=1e-9)
        assert gap - rounding <= iterate.gap
        assert number < 10 or iterate.gap <= 1.1 * gap + rounding


def test_points_of_many_columns_are_sent_when_they_are_taken():
    """Blocks name places, and of these only a working set is asked for: the same rounds."""
    rng = np.random.default_rng(21)
    X = rng.normal(size=(N, 600))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=N) > 0, 1, -1)
    kind = "decomposition(working_set=64)"
    found = []
    for points in (X, X[:, :400]):
        engine = LocalEngine(np.split(points, [140, 280]))
        machine = spread(SVC(solver=kind), points, y, [], engine=engine)
        assert overlap(machine.certificate_, SVC().fit(points, y).certificate_)
        found.append(replies_of_rounds(engine) / machine.solution_.iterations / points.shape[1])
    assert found[0] < 0.3 * found[1]


def test_one_block_of_bits_beside_others():
    """How values are computed must suit the points of other blocks too."""
    X, y = data(5)
    X[:200] = X[:200] > 0
    here, there = SVC(tol=1e-8).fit(X, y), spread(SVC(tol=1e-8), X, y, [200])
    assert overlap(here.certificate_, there.certificate_)


class Weighed(LocalEngine):
    """Knows the bytes of each message and of each reply of a round, for one block."""

    def __init__(self, chunks):
        super().__init__(chunks)
        self.told, self.replied = [], []

    def _ask(self, verb, messages, shared):
        replies = super()._ask(verb, messages, shared)
        if verb in (verbs.ask, verbs.move, verbs.rescale):
            self.told += [bytes_of(message) + bytes_of(shared) for message in messages.values()]
            self.replied += list(map(bytes_of, replies.values()))
        return replies


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_message_of_a_round_grows_with_the_points(dtype):
    """Each is as in the table of the design, however many the points: for B blocks and d columns, a block names q/B
    points that should rise and as many that should sink, and is told of those that moved.
    """
    d, q, blocks = 6, 64, 4
    point, few = d * np.dtype(dtype).itemsize, 100  # bytes; and of numbers beside those of points
    for n in (400, 1600, 6400):
        X, y = data(6, n=n, d=d)
        engine = Weighed(np.array_split(X.astype(dtype), blocks))
        machine = spread(SVC(solver=f"decomposition(working_set={q})"), X, y, [], engine=engine)
        rounds, most = machine.solution_.iterations, 1.5 * q  # of a working set, where most coefficients are free
        assert rounds >= 5
        assert max(engine.replied) <= 2 * q / blocks * (point + 56) + few
        assert max(engine.told) <= most * (point + 8) + 4 * 8 * most + few  # whose, where, beta, and which stay
        assert sum(engine.told) + sum(engine.replied) == sum(
            way[verb] for way in (engine.sent, engine.received) for verb in ("ask", "move")
        )


class Counting(LocalEngine):
    """Counts the rows at which K beta is computed anew."""

    rows = 0

    def chain(self, verb, rows, parts):
        self.rows += sum(map(size_of, rows.values()))
        return super().chain(verb, rows, parts)


def easy(n=3000):
    """Points most of which are far from the other class."""
    rng = np.random.default_rng(15)
    y = np.where(np.arange(n) % 2, 1, -1)
    return (rng.normal(size=(n, 6)) + y[:, None]).astype(np.float32), y


def test_a_certificate_looks_only_where_it_matters(monkeypatch):
    """Where F, as the blocks have it, proves that there is no loss, K beta is not computed anew."""
    monkeypatch.setattr(afar, "_HERE", 0)  # however few points, blocks compute the sums
    X, y = easy()
    engine = Counting(np.split(X, [1000, 1800]))
    machine = spread(SVC("rbf(gamma=0.1)"), X, y, [], engine=engine)
    assert machine.certificate_.converged
    assert 0 < engine.rows < 0.5 * len(y)
    judged = certify(machine, X, y)
    assert machine.certificate_.primal == pytest.approx(judged.primal, rel=1e-5)
    assert machine.certificate_.dual == pytest.approx(judged.dual, rel=1e-5)


@pytest.mark.parametrize("packed", [np.inf, 0.0])
def test_blocks_know_how_wrong_their_slopes_may_be(packed, monkeypatch):
    """The bound is proved from the points, ready or not, and from those that came from elsewhere."""
    X, y = easy()
    X[2500:] += 30.0  # far from the others, and alone in a block
    monkeypatch.setattr(LocalEngine, "packed", lambda self, number: packed)
    gram = SpreadGram(Gaussian(0.02), SpreadPoints(LocalEngine(np.split(X, [1000, 2500]))))
    problem = Problem(gram, y.astype(float), Hinge(), 1.0)
    rounds = SpreadDecomposition(working_set=200).iterates(problem, None)
    for _ in range(8):
        iterate = next(rounds)
        scores, error = iterate.fetch()
        assert np.abs(scores - gram.recompute(iterate.beta)).max() <= error < 0.1  # of a margin of 1
    next(rounds)
    assert iterate.fetch() is None  # F has changed


def test_a_block_told_twice_and_a_block_lost():
    class Clumsy(LocalEngine):
        def _ask(self, verb, messages, shared):
            replies = super()._ask(verb, messages, shared)
            if verb in (verbs.begin, verbs.ask, verbs.move, verbs.rescale, verbs.refresh):
                replies = super()._ask(verb, messages, shared)  # every task runs twice
            if verb in (verbs.move, verbs.rescale) and shared[0].round == self.when:
                self.when = -1
                self.blocks[1].pieces.clear()
                replies = super()._ask(verb, messages, shared)
            return replies

    kind = "decomposition(working_set=32)"
    soft, hard = SVC(tol=1e-8, solver=kind), SVC("rbf(gamma=2)", C=np.inf, tol=1e-5, solver=kind)
    for machine, (X, y) in ((soft, data(7)), (hard, apart())):
        calm = spread(clone(machine), X, y, [140, 280])
        engine = Clumsy(np.split(X, [140, 280]))
        engine.when = -1
        twice = spread(clone(machine), X, y, [], engine=engine)
        assert engine.rebuilt == 0
        assert twice.certificate_.primal == calm.certificate_.primal
        assert calm.solution_.iterations >= 10
        for when in (3, 4):  # a hard margin rescales in every other one
            engine = Clumsy(np.split(X, [140, 280]))
            engine.when = when
            lost = spread(clone(machine), X, y, [], engine=engine)
            assert engine.rebuilt == 1
            assert overlap(lost.certificate_, calm.certificate_)


def test_all_blocks_are_lost(tmp_path):
    """The last answer, its gap as the solver saw it; saved and loaded like any other."""

    class Gone(LocalEngine):
        left = 5

        def _ask(self, verb, messages, shared):
            self.left -= verb is verbs.move
            if self.left < 0:
                raise WorkersLostError("none is left")
            return super()._ask(verb, messages, shared)

        def chain(self, verb, rows, parts):
            if self.left < 0:
                raise WorkersLostError("none is left")
            return super().chain(verb, rows, parts)

    X, y = data(7)
    for labels in (y, np.where(X[:, 3] > 1.0, 2, y)):  # of three classes, two problems are not begun
        machine = SVC(solver="decomposition(working_set=32)", tol=1e-8)
        with pytest.warns(match="workers lost"):
            spread(machine, X, labels, [], engine=Gone(np.split(X, [140, 280])))
        assert {c.status for c in machine.certificates_} == {Status.WORKERS_LOST}
        assert 1e-8 < machine.certificates_[0].relative_gap < 1.0
        save(machine, tmp_path / "left.mercer")
        np.testing.assert_array_equal(load(tmp_path / "left.mercer").predict(X), machine.predict(X))
    engine = Gone(np.split(X, [140, 280]))
    engine.left = 0
    with pytest.raises(WorkersLostError):
        spread(SVC(), X, y, [], engine=engine)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: ([X[:10], X[10:, :2]], y), "columns: all must have the same"),
        (lambda X, y: ([csr_array(X[:10]), X[10:]], y), "sparse and others are dense"),
        (lambda X, y: ([X[:0], X[:0]], y[:0]), "no rows in any of its blocks"),
        (lambda X, y: ([X[:10], X[10:]], y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: ([X[:10], np.where(X[10:] > 2, np.nan, X[10:])], y), "Block 1 of X: X contains NaN"),
    ],
)
def test_what_does_not_fit_is_said(change, words):
    chunks, y = change(*data(8))
    with pytest.raises(ValueError, match=words):
        fit_on_blocks(SVC(), LocalEngine(chunks), y)


def test_what_blocks_cannot_do_is_said():
    X, y = data(9)
    with pytest.raises(ValueError, match="the solver is Decomposition"):
        spread(SVC(solver="qp"), X, y, [])


class Killed(BaseException):
    """What ends a process."""


def test_a_fit_goes_on_from_its_checkpoint(tmp_path):
    """After it was broken off, with other blocks: in fewer rounds, with the same answer; not on other data."""
    X, y = data(10)
    y = np.where(X[:, 3] > 1.0, 2, y)  # three classes
    machine = SVC(tol=1e-7, solver="decomposition(working_set=24)")
    path = tmp_path / "run.mercer"

    class End(Watch):
        seen = 0

        def round(self, number, step):
            self.seen += 1
            if self.seen == 45:
                raise Killed
            return False

    whole = spread(clone(machine), X, y, [100])
    assert sum(solution.iterations for solution in whole.solution_) > 50
    with pytest.raises(Killed):
        fit_on_blocks(clone(machine), LocalEngine(np.split(X, [100])), y, checkpoint=path, watch=End())
    again = fit_on_blocks(clone(machine), LocalEngine(np.split(X, [50, 300])), y, checkpoint=path)
    assert all(map(overlap, again.certificates_, whole.certificates_))
    assert sum(s.iterations for s in again.solution_) <= sum(s.iterations for s in whole.solution_) - 25
    after = fit_on_blocks(clone(machine), LocalEngine([X]), y, checkpoint=path)
    assert sum(s.iterations for s in after.solution_) <= 2 * len(after.solution_)
    for other, labels in ((X + 1e-9, y), (X, -y), (X[::-1], y)):
        with pytest.raises(CheckpointError, match="other data or other settings"):
            fit_on_blocks(clone(machine), LocalEngine([other]), labels, checkpoint=path)
    with pytest.raises(CheckpointError, match="other data or other settings"):
        fit_on_blocks(clone(machine).set_params(C=2.0), LocalEngine([X]), y, checkpoint=path)


def test_points_of_dask_are_sent_elsewhere():
    da = pytest.importorskip("dask.array", reason="dask is not installed: pip install 'mercer[distributed]'")
    X, y = data(11)
    for machine in (SVC(), LinearSVC(), KernelRidge()):
        with pytest.raises(TypeError, match=r"call mercer.distributed.fit\("):
            machine.fit(da.from_array(X), y)


def test_a_fit_on_one_machine_goes_on_too(tmp_path):
    X, y = data(12, n=3000)
    path, rounds = tmp_path / "run.mercer", []
    with pytest.warns(match="out of iterations"):
        SVC(C=100.0, max_iter=100, solver="decomposition(working_set=64)").fit(X, y, checkpoint=path)
    for given in (path, None):
        machine = SVC(C=100.0, solver="decomposition(working_set=64)").fit(X, y, checkpoint=given)
        assert machine.certificate_.converged
        rounds.append(machine.solution_.iterations)
    assert rounds[0] <= rounds[1] // 2


@pytest.mark.parametrize("cuts", [CUTS["one"], CUTS["uneven"], CUTS["empty"]])
def test_ridge_through_landmarks_by_sums_over_blocks(cuts):
    X, _ = data(13)
    y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
    weight = np.random.default_rng(0).integers(0, 3, size=N).astype(float)
    pieces = [X[a:b] for a, b in zip([0, *cuts], [*cuts, N], strict=True)]

    class Forgetful(LocalEngine):
        asked = passes = 0

        def _ask(self, verb, messages, shared):
            self.asked += 1
            self.passes += verb is errors_at
            if self.asked == 6 or self.passes == 2:
                self.passes += 1
                for block in self.blocks:
                    block.held.clear()  # as if their workers had died
            return super()._ask(verb, messages, shared)

    for targets in (y, y[:, 0]):
        machine = KernelRidge("rbf(gamma=0.2)", alpha=0.1, solver="nystrom(landmarks=60)", tol=1e-8, random_state=0)
        calm = fit_ridge_on_blocks(clone(machine), LocalEngine(pieces), targets, weight)
        engine = Forgetful(pieces)
        there = fit_ridge_on_blocks(machine, engine, targets, weight)
        assert there.certificate_.converged
        assert there.X_fit_.shape == (60, 4)
        assert engine.asked > 6
        assert engine.passes > 3
        assert there.certificate_.primal == calm.certificate_.primal
        kept = weight > 0
        here = clone(machine).fit([(X[kept], targets[kept], weight[kept])])
        # The landmarks differ, as rows are drawn in another order; certified on the data itself, both are right.
        judged = certify(there, X, targets, weight)
        assert judged.primal == pytest.approx(there.certificate_.primal, rel=1e-8)
        assert abs(there.score(X, targets) - here.score(X, targets)) < 0.05


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_exact_ridge_by_conjugate_gradients_on_blocks(kernel):
    """Products with K, and with the landmarks that precondition them, are of the blocks."""
    X, _ = data(16)
    y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
    weight = np.random.default_rng(0).integers(0, 3, size=N).astype(float)
    machine = KernelRidge(kernel, alpha=0.1, solver="conjugategradient(rank=40)", tol=1e-10)
    for targets in (y, y[:, 0]):
        here = clone(machine).fit(X, targets, weight)
        there = fit_ridge_on_blocks(clone(machine), LocalEngine(np.split(X, CUTS["uneven"])), targets, weight)
        assert there.certificate_.converged
        assert there.n_iter_ <= 1.5 * here.n_iter_
        np.testing.assert_allclose(there.predict(X), here.predict(X), atol=1e-8)
    with pytest.raises(ValueError, match="loo needs a factor"):
        fit_ridge_on_blocks(clone(machine).set_params(alpha="loo"), LocalEngine([X]), y)


def test_logistic_regression_through_landmarks_by_sums_over_blocks():
    """The gap is that of the full problem; with all points as landmarks, the answer is that of one machine."""
    X, y = data(17)
    machine = KernelLogistic("rbf(gamma=0.3)", solver="nystromnewton(landmarks=60)")
    for labels in (y, np.where(X[:, 3] > 1.0, 2, y)):
        with pytest.warns(match="landmarks stand for all points"):
            there = spread(clone(machine), X, labels, CUTS["uneven"])
        with pytest.warns(match="landmarks stand for all points"):
            here = clone(machine).fit(X, labels)
        for mine, theirs in zip(there.certificates_, here.certificates_, strict=True):
            assert mine.relative_gap < 0.05
            assert max(mine.dual, theirs.dual) <= min(mine.primal, theirs.primal)
        assert there.support_.size == 60
        judged = certify(there, X, labels)
        assert judged.primal == pytest.approx(there.certificate_.primal, rel=1e-9)
        assert judged.dual == pytest.approx(there.certificate_.dual, rel=1e-9)
        assert np.abs(there.predict_proba(X) - here.predict_proba(X)).max() < 0.2
    many = spread(clone(machine).set_params(solver="nystromnewton(landmarks=420)"), X, y, CUTS["seven"])
    assert many.certificate_.converged
    assert overlap(many.certificate_, clone(machine).set_params(solver="newton").fit(X, y).certificate_)
    with pytest.raises(ValueError, match="is NystromNewton"):
        spread(clone(machine).set_params(solver="newton"), X, y, [])

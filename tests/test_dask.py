"""Machines on a Dask cluster of processes: the same answers, whatever the data comes as, and whoever is lost."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
from contextlib import contextmanager
from time import sleep

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytest.importorskip("distributed", reason="dask is not installed: pip install 'mercer[distributed]'")

import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd
from distributed import Client, LocalCluster, get_task_stream

import mercer.distributed
from mercer import SVC, SVR, KernelLogistic, KernelPCA, KernelRidge, LinearSVC, OneClassSVM, Search
from mercer.cli import main
from mercer.estimators.on_blocks import fit_on_blocks
from mercer.kernels import Gaussian
from mercer.parallel import thread_count
from mercer.progress import Watch
from mercer.shards import afar
from mercer.shards import dask as engine_of_dask
from mercer.shards.block import admitted
from mercer.shards.dask import DaskEngine
from mercer.shards.local import LocalEngine
from mercer.solution import Status

CUTS = (50, 51, 180)


def data(n=300, d=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=n) > 0, 1, -1)


X, Y = data()
ROUNDS = SVC(tol=1e-7, solver="decomposition(working_set=24)")  # more than ten


@contextmanager
def at_most(seconds):
    """Nothing hangs: it would be an error here."""

    def late(*_):
        raise AssertionError(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def nannies():
    """Two workers of two threads, each with a nanny that starts it again."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        yield client


class Crew:
    """Workers of one thread without nannies."""

    def __init__(self, client):
        self.client, self.processes = client, []

    def start(self, number):
        line = [sys.executable, "-m", "distributed.cli.dask_worker", self.client.scheduler.address, "--no-nanny"]
        line += ["--nthreads", "1", "--no-dashboard", "--death-timeout", "60"]
        there = len(self.client.nthreads())
        self.processes += [subprocess.Popen(line, stderr=subprocess.DEVNULL) for _ in range(number)]
        self.client.wait_for_workers(there + number, timeout=60)

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def crew():
    """Four workers that nobody starts again."""
    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        crew = Crew(client)
        crew.start(4)
        yield crew
        crew.stop()


def placed(client, kind=DaskEngine):
    """A block for each worker."""
    workers = sorted(client.nthreads())
    pieces = np.array_split(X, len(workers))
    tasks = [
        client.submit(admitted, number, piece, workers=[worker], allow_other_workers=True, pure=False)
        for number, (worker, piece) in enumerate(zip(workers, pieces, strict=True))
    ]
    return kind(client, tasks)


def kill(client, worker):
    os.kill(client.run(os.getpid, workers=[worker])[worker], signal.SIGKILL)


class At(Watch):
    """Does something after a round."""

    def __init__(self, when, what):
        self.when, self.what = when, what

    def round(self, number, step):
        if step.iteration == self.when:
            self.what()
        return False


def calm():
    return fit_on_blocks(clone(ROUNDS), LocalEngine(np.array_split(X, 4)), Y)


def same(machine, other):
    """Two certificates that can both be true."""
    a, b = machine.certificate_, other.certificate_
    return a.converged and b.converged and max(a.dual, b.dual) <= min(a.primal, b.primal) * (1 + 1e-12)


# What data may be.


def chunks(data):
    return [data[a:b] for a, b in zip((0, *CUTS), (*CUTS, len(Y)), strict=True)]


def frame():
    return pd.DataFrame(X, columns=list("abcd"))


INPUTS = {
    "array": lambda: (da.from_array(X, chunks=((50, 1, 129, 120), 4)), da.from_array(Y, chunks=100)),
    "columns too": lambda: (da.from_array(X, chunks=((50, 1, 129, 120), 2)), Y),
    "float32": lambda: (da.from_array(X.astype(np.float32), chunks=((50, 1, 129, 120), 4)), Y),
    "frame": lambda: (dd.from_pandas(frame(), npartitions=3), dd.from_pandas(pd.Series(Y), npartitions=3)),
    "delayed": lambda: ([dask.delayed(c) for c in chunks(X)], [dask.delayed(c) for c in chunks(Y)]),
    "sparse": lambda: ([dask.delayed(csr_array)(c) for c in chunks(X)], Y),
    "numpy": lambda: (X, Y),
    "pandas": lambda: (frame(), pd.Series(Y)),
    "csr": lambda: (csr_array(X), Y),
}


@pytest.mark.parametrize("kind", INPUTS)
def test_what_data_may_be(kind, nannies):
    points, y = INPUTS[kind]()
    with at_most(60):
        machine = mercer.distributed.fit(SVC(), points, y, client=nannies)
    assert same(machine, SVC().fit(X, Y))
    assert machine.support_vectors_.dtype == (np.float32 if kind == "float32" else np.float64)
    assert hasattr(machine, "feature_names_in_") == (kind in ("frame", "pandas"))
    kept = pickle.loads(pickle.dumps(machine))
    shown = frame() if kind in ("frame", "pandas") else X
    np.testing.assert_array_equal(kept.predict(shown), machine.predict(shown))
    found = mercer.distributed.predict(machine, points)
    assert isinstance(found, da.Array)
    if kind in ("array", "frame", "sparse", "pandas"):
        np.testing.assert_array_equal(nannies.compute(found).result(timeout=60), machine.predict(shown))


def test_certificates_are_the_same_bits_for_every_number_of_workers(nannies, crew):
    pieces = chunks(X)
    weight = np.arange(len(Y)) % 3 + 0.5
    for machine in (SVC(), SVR(), OneClassSVM()):
        found = [fit_on_blocks(clone(machine), LocalEngine(pieces), Y, weight)]
        for client in (nannies, crew.client):
            parts = [dask.delayed(piece) for piece in pieces]
            found.append(mercer.distributed.fit(clone(machine), parts, Y, weight, client=client))
        certificates = [each.certificate_ for each in found]
        assert len({(c.primal, c.dual, c.rounding, c.kkt_violation) for c in certificates}) == 1
        assert len({each.solution_.beta.tobytes() for each in found}) == 1
        assert certificates[0].converged


def test_several_classes_and_values_of_the_function(nannies):
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
    machine = mercer.distributed.fit(SVC(), da.from_array(X, chunks=(110, 4)), y, client=nannies)
    assert all(certificate.converged for certificate in machine.certificates_)
    values = mercer.distributed.decision_function(machine, da.from_array(X, chunks=(110, 4)))
    assert values.shape == (300, 3)
    np.testing.assert_array_equal(nannies.compute(values).result(timeout=60), machine.decision_function(X))


def test_linear_machines_and_ridge(nannies):
    points = da.from_array(X, chunks=(110, 4))
    machine = mercer.distributed.fit(LinearSVC(), points, X[:, 0] + X[:, 1] > 0, client=nannies)
    assert machine.certificate_.converged
    ridge = KernelRidge("rbf(gamma=0.3)", alpha=0.1, solver="nystrom(landmarks=40)", random_state=0)
    ridge = mercer.distributed.fit(ridge, points, da.from_array(X[:, :2], chunks=(100, 2)), client=nannies)
    assert ridge.certificate_.converged
    found = mercer.distributed.predict(pickle.loads(pickle.dumps(ridge)), points)
    assert found.shape == (300, 2)
    np.testing.assert_allclose(nannies.compute(found).result(timeout=60), ridge.predict(X), rtol=1e-10)
    with pytest.raises(TypeError, match="KernelLogistic or KernelRidge, not KernelPCA"):
        mercer.distributed.fit(KernelPCA(), points, client=nannies)


def test_probabilities(nannies):
    points = da.from_array(X, chunks=(110, 4))
    machine = KernelLogistic("rbf(gamma=0.3)", solver="nystromnewton(landmarks=300)", tol=1e-3)
    machine = mercer.distributed.fit(machine, points, Y, client=nannies)
    assert machine.certificate_.converged
    found = mercer.distributed.predict_proba(machine, points)
    assert isinstance(found, da.Array)
    assert found.shape == (300, 2)
    np.testing.assert_array_equal(nannies.compute(found).result(timeout=60), machine.predict_proba(X))
    with pytest.raises(AttributeError, match="predict_proba"):
        mercer.distributed.predict_proba(LinearSVC().fit(X, Y), points)


def test_a_search_on_the_cluster(nannies, tmp_path):
    """The scores, the best and what is proved are those of this machine."""
    grid = {"C": [0.1, 1.0, 10.0], "kernel": ["rbf(gamma=0.3)", "rbf(gamma=1)"]}
    here = Search(SVC(), grid, cv=3, prune=False).fit(X, Y)
    with get_task_stream(nannies) as stream:
        there = Search(SVC(), grid, cv=3, client=nannies, checkpoint=tmp_path / "run.mercer").fit(X, Y)
    assert sum("mercer-answered" in task["key"] for task in stream.data) == 2  # a task for each kernel
    np.testing.assert_array_equal(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(there.score_bounds_, here.score_bounds_)
    assert there.best_params_ == here.best_params_
    assert there.how_ == here.how_ == "18 of 18 fits shared their Gram matrices."
    assert clone(there).client is nannies
    assert pickle.loads(pickle.dumps(there)).client is None
    with pytest.raises(ValueError, match="client is for work that is shared"):
        Search(KernelRidge(), {"alpha": [0.1, 1.0]}, client=nannies).fit(X, Y)


def _threads(block):
    return thread_count(), os.environ.get("OMP_NUM_THREADS")


def test_a_worker_with_two_threads_uses_two(nannies):
    replies = placed(nannies).ask(_threads, {0: (), 1: ()})
    assert list(replies.values()) == [(2, "1"), (2, "1")]  # the nanny holds BLAS to one


def test_workers_keep_no_messages_and_no_replies(nannies):
    """They are given up when they have been used, not when the client collects its garbage."""
    kept = ["nobody has looked"]

    def held():
        found = nannies.run(lambda dask_worker: list(dask_worker.data))
        return {key for keys in found.values() for key in keys if not key.startswith("admitted")}

    def look():
        for _ in range(100):
            kept[:] = sorted(held() - before)
            if not kept:
                return
            sleep(0.1)

    gc.collect()
    before = held()  # what earlier fits have left
    gc.disable()
    try:
        fit_on_blocks(clone(ROUNDS), placed(nannies), Y, watch=At(8, look))
    finally:
        gc.enable()
    assert not kept


def test_workers_do_not_remember_all_parts_of_a_sum(nannies, monkeypatch):
    """What a link of a chain needs stays until no link can be asked for again: chains are cut, and the sums stay."""
    monkeypatch.setattr(afar, "_PART_BYTES", 1)
    monkeypatch.setattr(engine_of_dask, "_SMALL_BYTES", 0)
    monkeypatch.setattr(engine_of_dask, "_SUMS", 1.0)
    v, seen = np.sin(np.arange(len(X))), []

    def links():
        held = nannies.run(lambda dask_worker: sum("sums-at" in key for key in dask_worker.state.tasks))
        return max(held.values())

    class Looked(afar.SpreadGram):
        def _support(self, *arguments):
            for part in super()._support(*arguments):
                yield part
                for _ in range(100):  # workers hear of it a little later
                    seen.append(links())
                    if seen[-1] <= most:
                        break
                    sleep(0.1)

    here = afar.SpreadGram(Gaussian(0.5), afar.SpreadPoints(LocalEngine(np.array_split(X, 2)))).recompute(v)
    for share, most in ((0.0, 0), (10.0, 4)):
        monkeypatch.setattr(engine_of_dask, "_REMEMBERED", share)
        there = Looked(Gaussian(0.5), afar.SpreadPoints(placed(nannies))).recompute(v)
        np.testing.assert_array_equal(here, there)
        assert seen[-1] <= most
        assert (seen[-1] > 1) == (share > 0.0)


DYING = """
import os, pickle, sys
from distributed import Client
from mercer.estimators import on_blocks, resumed
from mercer.progress import Watch
from mercer.shards.dask import DaskEngine

resumed.EVERY = 3
address, path = sys.argv[1:]
machine, X, y = pickle.load(sys.stdin.buffer)

class End(Watch):
    def round(self, number, step):
        if step.iteration == 8:
            os._exit(9)

client = Client(address)
on_blocks.fit_on_blocks(machine, DaskEngine.of(client, X), y, checkpoint=path, watch=End())
"""


def test_a_client_that_died_goes_on_in_a_new_process(nannies, tmp_path):
    path, address = tmp_path / "run.mercer", nannies.scheduler.address
    line = [sys.executable, "-c", DYING, address, str(path)]
    ended = subprocess.run(line, input=pickle.dumps((ROUNDS, X, Y)), timeout=120, check=False)
    assert ended.returncode == 9
    machine = mercer.distributed.fit(clone(ROUNDS), X, Y, client=nannies, checkpoint=path)
    whole = calm()
    assert same(machine, whole)
    assert machine.solution_.iterations <= whole.solution_.iterations - 3


# Who is lost.


def test_a_worker_is_killed_and_its_nanny_starts_another(nannies):
    engine = placed(nannies)
    with at_most(120):
        machine = fit_on_blocks(clone(ROUNDS), engine, Y, watch=At(3, lambda: kill(nannies, engine.homes[1])))
    assert machine.solution_.iterations >= 10
    assert same(machine, calm())
    assert engine.rebuilt == 1


def test_a_worker_is_killed_for_good(crew):
    engine = placed(crew.client)
    with at_most(120):
        machine = fit_on_blocks(clone(ROUNDS), engine, Y, watch=At(3, lambda: kill(crew.client, engine.homes[1])))
    assert same(machine, calm())
    assert engine.rebuilt == 1
    assert len(crew.client.nthreads()) == 3


def test_a_worker_joins_and_another_is_killed_in_the_certificate(crew):
    class Unlucky(DaskEngine):
        left = 1

        def chain(self, verb, rows, parts):
            if self.left:
                self.left -= 1
                kill(self.client, self.homes[2])
            return super().chain(verb, rows, parts)

    engine = placed(crew.client, Unlucky)
    with at_most(120):
        machine = fit_on_blocks(clone(ROUNDS), engine, Y, watch=At(3, lambda: crew.start(1)))
    assert engine.left == 0
    assert same(machine, calm())
    assert engine.rebuilt <= 1


def test_all_workers_are_lost(crew, monkeypatch):
    """The best answer so far, with an honest status; last, since nobody starts them again."""
    monkeypatch.setattr(engine_of_dask, "PATIENCE", 2.0)

    def kill_all():
        for worker in crew.client.nthreads():
            kill(crew.client, worker)

    with at_most(60), pytest.warns(match="workers lost"):
        machine = fit_on_blocks(clone(ROUNDS), placed(crew.client), Y, watch=At(5, kill_all))
    assert machine.certificate_.status is Status.WORKERS_LOST
    assert machine.solution_.iterations == 5
    assert machine.score(X, Y) > 0.6
    np.testing.assert_array_equal(machine.support_vectors_, X[machine.support_])
    with at_most(60), pytest.raises(mercer.distributed.WorkersLostError, match="start some"):
        mercer.distributed.fit(SVC(), X, Y, client=crew.client)


# The command line.


def test_the_command_line_trains_on_files(nannies, tmp_path, capsys):
    for number, (points, labels) in enumerate(zip(np.array_split(X, 3), np.array_split(Y, 3), strict=True)):
        table = frame().iloc[:0].reindex(range(len(points)))
        table[list("abcd")], table["label"] = 5.0 * points + 2.0, np.where(labels > 0, "yes", "no")
        table.to_parquet(tmp_path / f"part{number}.parquet")
    files, model = sorted(map(str, tmp_path.glob("*.parquet"))), str(tmp_path / "there.mercer")
    assert main(["train", *files, "-q", "--cluster", nannies.scheduler.address, "-o", model]) == 0
    assert "300 rows, 4 features, target 'label'" in capsys.readouterr().out
    whole = pd.concat([pd.read_parquet(file) for file in files])
    there, here = mercer.load(model), make_pipeline(StandardScaler(), SVC()).fit(whole[list("abcd")], whole["label"])
    np.testing.assert_array_equal(there.predict(whole[list("abcd")]), here.predict(whole[list("abcd")]))
    own = str(tmp_path / "own.mercer")
    assert main(["train", *files, "-q", "--workers", "2", "-o", own]) == 0
    np.testing.assert_array_equal(mercer.load(own).predict(whole[list("abcd")]), here.predict(whole[list("abcd")]))
    assert main(["train", *files]) == 2
    assert main(["train", *files, "--workers", "2", "--cv", "5"]) == 2
    assert "give --workers N or --cluster ADDRESS" in capsys.readouterr().err

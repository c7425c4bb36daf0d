"""Workers of one thread each against one process of one thread: seconds, rounds, kernel values, bytes of a round.

The clock runs while the machine is fitted, from points that are where they are worked on; to send them there took the
seconds that are told beside it. Seconds of the processor tell more where other work runs too: those of the client and
then of the busiest worker.

python benchmarks/distributed.py                         200,000 x 200 points, 1, 2 and 4 workers
python benchmarks/distributed.py --points free           nearly half of the points are support vectors, most free
python benchmarks/distributed.py --memory 250000         what a worker holds beside 200 MB of points, for a few rounds;
                                                         --points free --rounds 40: with many support vectors
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from warnings import catch_warnings, simplefilter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if path != HERE]  # where `distributed` is this file

import dask  # noqa: E402
import dask.array as da  # noqa: E402
import numpy as np  # noqa: E402
from distributed import Client, LocalCluster, wait  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402

from mercer import SVC, SVR, KernelRidge, LinearSVC, OneClassSVM  # noqa: E402
from mercer.estimators.on_blocks import fit_on_blocks, fit_ridge_on_blocks  # noqa: E402
from mercer.shards.dask import DaskEngine  # noqa: E402
from mercer.shards.engine import Verb  # noqa: E402


def bent(n: int, d: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that overlap a little: points near a bent surface of six dimensions. A tenth are support vectors."""
    Z = generator.standard_normal((n, 6), np.float32)
    A = generator.standard_normal((6, d), np.float32) / np.float32(np.sqrt(6))
    X = np.tanh(Z @ A) + np.float32(0.1) * generator.standard_normal((n, d), np.float32)
    return X, np.where(Z[:, 0] + Z[:, 1] * Z[:, 2] + 0.1 * generator.standard_normal(n) > 0, 1, -1)


def free(n: int, d: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points in all directions, far from one another: nearly half are support vectors, most of them free."""
    X = generator.standard_normal((n, d), np.float32)
    w = generator.standard_normal((d, 3)).astype(np.float32) / np.sqrt(d)
    f = X @ w
    return X, np.where(f[:, 0] + 0.5 * f[:, 1] * f[:, 2] + 0.1 * generator.standard_normal(n) > 0, 1, -1)


POINTS = {"bent": bent, "free": free}


def told(name: str, machine: SVC, seconds: float, cpu: float, base: tuple[float, float] | None, more: str = "") -> None:
    """One line of the table: seconds as they pass, and those of the processor on the longest path."""
    solution, gap = machine.solution_, machine.certificate_.relative_gap
    speed = "" if base is None else f"  {base[0] / seconds:.2f}x, of the processor {base[1] / cpu:.2f}x"
    values = solution.values / (solution.beta.size * max(solution.support.size, 1))
    print(
        f"{name:24} {seconds:7.1f} s  processor {cpu:6.1f} s  {solution.iterations:4} rounds  gap {gap:.1e}  "
        f"{solution.support.size} support vectors  {values:.2f} n |SV| values{speed}{more}",
        flush=True,
    )


def resident(peak: bool = False) -> int:
    """Bytes that this process holds, or has held at most since `forget_peak` (Linux)."""
    word = "VmHWM:" if peak else "VmRSS:"
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(word))


def forget_peak() -> None:
    """The peak is what is held now."""
    Path("/proc/self/clear_refs").write_text("5")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--points", choices=POINTS, default="bent")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--memory", type=int, metavar="ROWS", help="memory alone, of one worker with so many rows")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32", help="for --memory")
    parser.add_argument("--machine", choices=MACHINES, default="SVC", help="for --memory")
    parser.add_argument("--rounds", type=int, default=4, help="of the fit whose memory is measured")
    arguments = parser.parse_args()
    if arguments.memory:
        memory(arguments)
        return
    X, y = POINTS[arguments.points](arguments.rows, arguments.columns, np.random.default_rng(0))
    machine = SVC(C=arguments.C)
    began, busy = perf_counter(), process_time()
    machine.fit(X, y)
    base = perf_counter() - began, process_time() - busy
    told("one process", machine, *base, None)
    for number in arguments.workers:
        with cluster(number) as client:
            on_workers(machine, client, X, y, base)


@contextmanager
def cluster(workers: int) -> Iterator[Client]:
    """A client of so many workers of one thread, which have imported what they need."""
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        client.run(lambda: __import__("mercer.shards.dask"))
        yield client


def on_workers(machine: SVC, client: Client, X: np.ndarray, y: np.ndarray, base: tuple[float, float]) -> None:
    """The same on the workers of a client: two blocks each. The longest path is that of the client (which is also the
    scheduler) and then of the busiest worker.
    """
    number = len(client.nthreads())
    began = perf_counter()
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        parts = client.persist(da.from_array(X, chunks=(-(-len(X) // (2 * number)), -1)))
    wait(parts)
    sending, theirs = perf_counter() - began, client.run(process_time)
    began, busy = perf_counter(), process_time()
    engine = DaskEngine.of(client, parts)
    fit_on_blocks(machine, engine, y)
    seconds, cpu = perf_counter() - began, process_time() - busy
    cpu += max(after - theirs[worker] for worker, after in client.run(process_time).items())
    sent = sum(way[verb] for way in (engine.sent, engine.received) for verb in ("ask", "move"))
    more = f"  {sent / machine.solution_.iterations / 1e6:.2f} MB a round  points sent in {sending:.1f} s"
    told(f"{number} workers of one thread", machine, seconds, cpu, base, more)


class Counting(DaskEngine):
    """Knows how many support vectors the longest sum over them had."""

    most = 0

    def chain(self, verb: Verb, rows: dict[int, Any], parts: Iterable[Any]) -> dict[int, Any]:
        sizes: list[int] = []

        def counted() -> Iterator[Any]:
            for part in parts:
                sizes.append(len(part.weights))
                yield part

        found = super().chain(verb, rows, counted())
        self.most = max(self.most, sum(sizes))
        return found


def memory(arguments: argparse.Namespace) -> None:
    """What a worker holds at most while a machine is fitted, above what it holds after its imports; it makes its points
    itself, in pieces, as it would read them. The more rounds, the more support vectors are sent for the certificate.
    """
    rows, columns, kind = arguments.memory // 10, arguments.columns, POINTS[arguments.points]
    seeds = np.random.SeedSequence(0).spawn(10)
    with cluster(1) as client:
        before = client.run(resident)
        made = [dask.delayed(made_of, nout=2)(kind, rows, columns, arguments.dtype, seed) for seed in seeds]
        X, y = zip(*client.persist(made), strict=True)
        wait([*X, *y])
        targets = np.concatenate(client.gather(client.compute(list(y))))
        if arguments.machine in REGRESSORS:  # every row has a target of its own
            targets = targets + np.random.default_rng(0).standard_normal(targets.size)
        del y, made
        there = client.run(resident)
        client.run(forget_peak)
        most = fitted_there(MACHINES[arguments.machine](arguments.rounds), client, list(X), targets)
        peak = client.run(resident, True)
    data = 10 * rows * columns * np.dtype(arguments.dtype).itemsize
    for worker, held in before.items():
        parts = [(bytes_of_it[worker] - held) / data for bytes_of_it in (there, peak)]
        print(
            f"{arguments.machine}, {columns} columns, {arguments.dtype}, {data / 1e6:.0f} MB of points: the worker "
            f"holds {parts[0]:.2f} of it before, {parts[1]:.2f} at most in the fit (sums over {most} support vectors)",
            flush=True,
        )


Points = tuple[np.ndarray, np.ndarray]


def made_of(kind: Callable[..., Points], rows: int, columns: int, dtype: str, seed: np.random.SeedSequence) -> Points:
    """Points and targets, in this precision."""
    X, y = kind(rows, columns, np.random.default_rng(seed))
    return X.astype(dtype, copy=False), y.astype(np.int8)


REGRESSORS = {"SVR", "KernelRidge"}
MACHINES = {
    "SVC": lambda rounds: SVC(max_iter=rounds),
    "SVR": lambda rounds: SVR(max_iter=rounds),
    "OneClassSVM": lambda rounds: OneClassSVM(nu=0.001, max_iter=rounds),
    "LinearSVC": lambda rounds: LinearSVC(max_iter=rounds),
    "KernelRidge": lambda rounds: KernelRidge("rbf", solver="nystrom(landmarks=500)", random_state=0),
}


def fitted_there(machine: Any, client: Client, X: list[Any], y: np.ndarray) -> int:
    """Fit; how many support vectors the longest sum over them had."""
    engine = Counting.of(client, X)
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)
        if isinstance(machine, KernelRidge):
            fit_ridge_on_blocks(machine, engine, y)
        else:
            fit_on_blocks(machine, engine, y)
    return engine.most


if __name__ == "__main__":
    if os.environ.get("OMP_NUM_THREADS") != "1":
        raise SystemExit("Say OMP_NUM_THREADS=1 before it: one process of one thread is what workers are held against.")
    main()

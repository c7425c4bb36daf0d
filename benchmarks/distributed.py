"""Workers of one thread each against one process of one thread: seconds, rounds, kernel values, bytes of a round.

Seconds of the processor tell more where other work runs beside it: those of the client and then of the busiest worker.

python benchmarks/distributed.py                         200,000 x 200 points, 1, 2 and 4 workers
python benchmarks/distributed.py --rows 20000 --workers 2 --memory
"""

from __future__ import annotations

import argparse
import os
import sys
from time import perf_counter, process_time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if path != HERE]  # where `distributed` is this file

import dask.array as da  # noqa: E402
import numpy as np  # noqa: E402
from distributed import Client, LocalCluster, wait  # noqa: E402

from mercer import SVC  # noqa: E402
from mercer.estimators.on_blocks import fit_on_blocks  # noqa: E402
from mercer.shards.dask import DaskEngine  # noqa: E402


def points(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that overlap a little, in float32: points near a bent surface of six dimensions."""
    generator = np.random.default_rng(seed)
    Z = generator.standard_normal((n, 6), np.float32)
    A = generator.standard_normal((6, d), np.float32) / np.float32(np.sqrt(6))
    X = np.tanh(Z @ A) + np.float32(0.1) * generator.standard_normal((n, d), np.float32)
    return X, np.where(Z[:, 0] + Z[:, 1] * Z[:, 2] + 0.1 * generator.standard_normal(n) > 0, 1, -1)


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


def resident() -> int:
    """Bytes that this process holds, at most so far."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--memory", action="store_true", help="also what workers hold above what they held before")
    arguments = parser.parse_args()
    X, y = points(arguments.rows, arguments.columns)
    machine = SVC(C=arguments.C)
    began, busy = perf_counter(), process_time()
    machine.fit(X, y)
    base = perf_counter() - began, process_time() - busy
    told("one process", machine, *base, None)
    for number in arguments.workers:
        with (
            LocalCluster(n_workers=number, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
            Client(cluster) as client,
        ):
            on_workers(machine, client, X, y, base, arguments.memory)


def on_workers(
    machine: SVC, client: Client, X: np.ndarray, y: np.ndarray, base: tuple[float, float], memory: bool
) -> None:
    """The same on the workers of a client: two blocks each. The longest path is that of the client (which is also the
    scheduler) and then of the busiest worker.
    """
    number = len(client.nthreads())
    parts = client.persist(da.from_array(X, chunks=(-(-len(X) // (2 * number)), -1)))
    wait(parts)  # where they are at work, as X is for the one process
    client.run(lambda: __import__("mercer.shards.dask"))
    before, theirs = client.run(resident), client.run(process_time)
    began, busy = perf_counter(), process_time()
    engine = DaskEngine.of(client, parts)
    fit_on_blocks(machine, engine, y)
    seconds, cpu = perf_counter() - began, process_time() - busy
    cpu += max(after - theirs[worker] for worker, after in client.run(process_time).items())
    sent = sum(way[verb] for way in (engine.sent, engine.received) for verb in ("ask", "move"))
    more = f"  {sent / machine.solution_.iterations / 1e6:.2f} MB a round"
    if memory:
        held = [after - before[worker] for worker, after in client.run(resident).items()]
        more += f"  {max(held) / (X.nbytes / number):.2f} of its data held by a worker"
    told(f"{number} workers of one thread", machine, seconds, cpu, base, more)


if __name__ == "__main__":
    if os.environ.get("OMP_NUM_THREADS") != "1":
        raise SystemExit("Say OMP_NUM_THREADS=1 before it: one process of one thread is what workers are held against.")
    main()

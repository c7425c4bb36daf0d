"""How long does it take from Ctrl-C until a program has stopped?

Each case runs in a process of its own. Some time after it has begun, SIGINT goes to its process group, as a terminal
sends it, and the seconds until the process has ended are printed, with what it still said: of a machine, whether it
predicts, and its certificate.

    python benchmarks/ctrl_c.py                        all cases, SIGINT after 1 and after 3 seconds
    python benchmarks/ctrl_c.py grid evidence --after 0.5 2 4
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time

PATIENCE = 120.0  # seconds until a case that does not stop is killed

START = """
import numpy as np, sys, warnings
import mercer
from mercer import *
from mercer.kernels import FromFunction, Gaussian
from mercer.features import Nystrom, RandomFourier
from sklearn.model_selection import GridSearchCV, cross_val_score
random = np.random.default_rng(0)
def noise(n, d, classes=2):
    return random.normal(size=(n, d)), random.integers(classes, size=n)
def ready():
    print("ready", flush=True)
def fit(machine, X, y):
    machine.fit(X[:30], np.arange(30) % 2 if np.unique(y).size > 2 and y.dtype.kind == "i" else y[:30])  # compiles
    machine = type(machine)(**machine.get_params(deep=False))
    ready()
    try:
        machine.fit(X, y)
    except KeyboardInterrupt:
        try:
            machine.predict(X[:3])
            print(machine.certificate_.status.name.lower(), f"{machine.certificate_.relative_gap:.1e}")
        except Exception as error:
            print(type(error).__name__)
        raise
"""
SETS = {
    "svc": "fit(SVC(C=100.0, tol=1e-9), *noise(30_000, 10))",
    "svc, 300,000 points": "fit(SVC(C=100.0, tol=1e-9), *noise(300_000, 50))",
    "svc, ten classes": "fit(SVC(C=100.0, tol=1e-9), *noise(20_000, 10, 10))",
    "svc, a function as kernel": "fit(SVC(FromFunction(lambda x, z: float(x @ z)), C=1.0), *noise(5_000, 4))",
    "svr": "X, y = noise(30_000, 10); fit(SVR(C=100.0, tol=1e-9), X, X[:, 0] + y)",
    "one class": "fit(OneClassSVM(nu=0.5, tol=1e-9), *noise(100_000, 20))",
    "linear svc": "fit(LinearSVC(C=100.0, tol=1e-12, loss='hinge'), *noise(50_000, 500))",
    "logistic": "fit(KernelLogistic(tol=1e-12, memory='4GB'), *noise(6_000, 20))",
    "logistic, landmarks": "fit(KernelLogistic(tol=1e-12), *noise(60_000, 20))",
    "ridge": "X, y = noise(12_000, 20); fit(KernelRidge(alpha=1e-3, tol=1e-12), X, X[:, 0] + y)",
    "ridge, landmarks": "X, y = noise(200_000, 20); fit(KernelRidge(alpha=1e-3, tol=1e-12), X, X[:, 0] + y)",
    "ridge, leave one out": "X, y = noise(5_000, 20); fit(KernelRidge(alpha='loo'), X, X[:, 0] + y)",
    "perceptron": "fit(Perceptron(max_epochs=10**9), *noise(100_000, 50))",
    "kernel perceptron": "fit(KernelPerceptron(max_epochs=10**9), *noise(50_000, 20))",
    "loop": "X, y = noise(3_000, 10); ready()\nfor C in range(1, 1000): SVC(C=C, tol=1e-9).fit(X, y)",
    "grid, one process": """
X, y = noise(3_000, 10); search = GridSearchCV(SVC(tol=1e-9), {"C": np.arange(1, 200)}, cv=3, n_jobs=1)
ready(); search.fit(X, y)""",
    "grid, two processes": """
X, y = noise(3_000, 10); search = GridSearchCV(SVC(tol=1e-9), {"C": np.arange(1, 200)}, cv=3, n_jobs=2)
ready(); search.fit(X, y)""",
    "cross_val_score": "X, y = noise(6_000, 10); ready(); cross_val_score(SVC(C=100, tol=1e-9), X, y, cv=100)",
    "predict": """
X, y = noise(500_000, 50); y = y.astype(float); machine = SVR(C=1.0, tol=0.1).fit(X[:8_000], y[:8_000])
ready(); machine.predict(X); machine.predict(X)""",
    "evidence, all eigenvalues": """
X = noise(2_000, 5)[0]; ready()
while True: evidence(Gaussian(1.0), X)""",
    "evidence, Lanczos": "X = noise(30_000, 5)[0]; ready(); evidence(Gaussian(1.0), X)",
    "kernel values": """
X = noise(15_000, 50)[0]; ready()
while True: Gaussian(1.0)(X)""",
    "features": """
X = noise(300_000, 50)[0]; phi = RandomFourier(Gaussian(1.0), 1_000).fit(X); ready()
while True: phi.transform(X)""",
    "nystrom": """
X = noise(300_000, 50)[0]; phi = Nystrom(Gaussian(1.0), 1_000).fit(X[:5_000]); ready()
while True: phi.transform(X)""",
    "certify": """
X, y = noise(20_000, 10); machine = SVC(tol=0.9).fit(X, y); ready()
while True: certify(machine, X, y)""",
}


def case(code: str, after: float) -> tuple[float, int, str]:
    """The seconds from SIGINT to the end of the process, its exit code, and its last words."""
    command = [sys.executable, "-W", "ignore", "-c", START + code]
    started = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(command, **started) as process:
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(process.stderr.read() if process.stderr else "")
        time.sleep(after)
        if process.poll() is not None:
            return 0.0, process.returncode, "had ended before"
        began = time.perf_counter()
        os.killpg(process.pid, signal.SIGINT)
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return PATIENCE, process.wait(), "did not stop"
        seconds = time.perf_counter() - began
    last = (err.strip().splitlines() or [""])[-1]
    return seconds, process.returncode, f"{out.strip() or '-':24s} {last[:90]}"


def main() -> None:
    """Run the cases and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="the first words of some cases (default: all)")
    parser.add_argument("--after", type=float, nargs="+", default=[1.0, 3.0], help="seconds before SIGINT")
    given = parser.parse_args()
    for name, code in SETS.items():
        if given.names and not any(name.startswith(word) for word in given.names):
            continue
        for after in given.after:
            seconds, status, words = case(code, after)
            print(f"{name:28s} after {after:4.1f} s: {seconds:6.2f} s  exit {status:4d}  {words}", flush=True)


if __name__ == "__main__":
    main()

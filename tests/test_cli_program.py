"""The real program, in processes of its own: every verb, every exit code, Ctrl-C, pipes, and a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer.cli.main import VERBS

from . import PATIENCE

ROOT = Path(__file__).parents[1]
PROGRAM = [sys.executable, "-m", "mercer"]
HEAVY = ["numpy", "scipy", "sklearn", "matplotlib", "pandas", "sympy", "rich"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names
    lines = [",".join([*map(str, row), names[k]]) for row, k in zip(X, y, strict=True)]
    (folder / "iris.csv").write_text("\n".join(["a,b,c,d,species", *lines]) + "\n")
    rng = np.random.default_rng(0)
    noise = np.column_stack([rng.normal(size=(1400, 5)), rng.integers(0, 2, 1400)])
    np.savetxt(folder / "noise.csv", noise, delimiter=",", fmt="%.6g")
    return folder


def environment(**more):
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "MERCER_DEBUG": "", "COLUMNS": "200", **more}


def run(folder, *arguments, stdin=None, **more):
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(
        command, cwd=folder, env=environment(**more), input=stdin, capture_output=True, text=True, timeout=PATIENCE
    )


def test_every_verb(folder):
    """From a table to a model, and everything that can be done with it."""
    done = run(folder, "train", "iris.csv", "-o", "iris.mercer")
    assert done.returncode == 0, done.stderr
    assert "of the best possible" in done.stdout and "accuracy" in done.stdout
    assert "round" in done.stderr and "\x1b" not in done.stdout + done.stderr
    text = (folder / "iris.csv").read_text()
    done = run(folder, "predict", "iris.mercer", "-", stdin=text)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 151
    for verb, words in [
        (["evaluate", "iris.mercer", "iris.csv"], "accuracy"),
        (["tune", "iris.csv", "--steps", "2", "--cv", "2"], "best"),
        (["gram", "iris.csv", "--picture", "gram.png"], "positive semidefinite on these points, rank 149"),
        (["explain", "1,3:+ 2,1:+ 0,1:-"], "3/8"),
        (["plot", "iris.mercer", "-o", "gap.png"], "drawn in gap.png"),
        (["inspect", "iris.mercer"], "schema 1"),
        (["convert", "iris.mercer", "--to", "libsvm", "-o", "iris.model"], "svm-scale"),
    ]:
        done = run(folder, *verb)
        assert done.returncode == 0 and words in done.stdout, (verb, done.stdout, done.stderr)


def test_exit_codes(folder):
    """0 is above, 130 below."""
    (folder / "broken.mercer").write_bytes(b"PK\x03\x04 not a model")
    limits = ["train", "noise.csv", "--C", "1e5", "--tol", "1e-9", "--max-iter", "1", "--quiet", "-o", "limits.mercer"]
    for code, arguments in {
        2: ["train", "iris.csv", "--solver", "nope"],
        3: ["train", "iris.csv", "--target", "colour"],
        4: limits,
        5: ["inspect", "broken.mercer"],
    }.items():
        done = run(folder, *arguments)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
    assert not mercer.load(folder / "limits.mercer")[-1].certificate_.converged
    broken = "import sys, mercer.cli.inspect as verb, mercer.cli; verb.run = lambda a: 1 / 0; "
    broken += "sys.exit(mercer.cli.main(['inspect', 'x']))"
    done = subprocess.run(
        [sys.executable, "-c", broken], env=environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 1 and "internal error: ZeroDivisionError" in done.stderr


def test_interrupted_training_writes_the_best_so_far(folder):
    command = [
        *PROGRAM,
        "train",
        "noise.csv",
        "--kernel",
        "linear",
        "--C",
        "1e8",
        "--tol",
        "1e-13",
        "--time-limit",
        "120",
    ]
    command += ["--max-iter", "1000000", "-o", "so_far.mercer", "--json"]
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in process.stderr:
            if "round" in line:
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, (out, err)
    assert json.loads(out)["certificate"]["status"] == "interrupted"
    assert mercer.load(folder / "so_far.mercer").predict(np.zeros((1, 5))).shape == (1,)


def test_interrupted_while_reading(folder):
    with subprocess.Popen(
        [*PROGRAM, "train", "-"],
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdin.write("1,2\n" * 100_000)  # more than a pipe holds: now the program reads
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and err == "mercer train: interrupted\n"


def test_whoever_reads_may_go(folder):
    """`mercer ... | head -1` ends quietly."""
    command = f"{sys.executable} -m mercer explain '1,3:+ 2,1:+ 0,1:-' | head -n 1"
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0 and done.stderr == ""


def test_outputs_that_take_nothing(folder):
    """Closed streams and a full disk: a sentence, or silence, and never a traceback."""
    for redirection, code, words in [
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        (">/dev/full", 2, "mercer explain: stdout: No space left on device.\n"),
    ]:
        command = f"{sys.executable} -m mercer explain '1,3:+ 2,1:+ 0,1:-' {redirection}"
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == code and done.stderr == words


def test_a_result_that_cannot_be_written(folder):
    """As JSON the error would go where nothing goes: a sentence on stderr, whether stdout waits or not."""
    command = f"{sys.executable} -m mercer train iris.csv --quiet --json >/dev/full"
    for unbuffered in ("", "1"):
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment(PYTHONUNBUFFERED=unbuffered), capture_output=True,
            text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 2 and done.stderr == "mercer train: stdout: No space left on device.\n"


def test_characters_that_a_stream_lacks(folder):
    done = run(folder, "explain", "1,3:+ 2,1:+ 0,1:-", PYTHONIOENCODING="ascii")
    assert done.returncode == 0 and "3/8" in done.stdout and "?" in done.stdout and done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [("--help", 0), ("train --help", 0), ("train --bad", 2), ("nonsense", 2), ("tune", 2), ("explain --bad", 2)],
)
def test_help_and_usage_errors_import_the_chosen_verb_alone(arguments, code):
    verb = arguments.split()[0]
    script = "import sys; from mercer.cli import main; code = main(sys.argv[1:]); print('\\n', code, "
    script += f"*[name for name in {HEAVY!r} if name in sys.modules], *[v for v in main.__globals__['VERBS'] "
    script += "if f'mercer.cli.options.{v}' in sys.modules or f'mercer.cli.{v}' in sys.modules], "
    script += "any(f'mercer.cli.{v}' in sys.modules for v in main.__globals__['VERBS']))"
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments.split()],
        env=environment(), capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.stdout.split("\n")[-2].split() == [str(code), *([verb] if verb in VERBS else []), "False"], done.stderr


def on_a_terminal(folder, arguments, **more):
    """What a person sees who runs the program, and its exit code."""
    terminal, inside = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, *arguments], cwd=folder, env=environment(TERM="xterm-256color", **more), stdin=inside, stdout=inside,
        stderr=inside, close_fds=True,
    ) as process:  # fmt: skip
        os.close(inside)
        seen, end = b"", time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([terminal], [], [], 1.0)[0]:
                try:
                    data = os.read(terminal, 65536)
                except OSError:  # the program has closed it
                    break
                if not data:
                    break
                seen += data
    os.close(terminal)
    return process.returncode, seen.decode(errors="replace")


COLOUR = re.compile(r"\x1b\[[0-9;]*(3[0-9]|4[0-9]|9[0-9])[0-9;]*m")


def test_progress_on_a_terminal(folder):
    code, seen = on_a_terminal(folder, ["train", "noise.csv", "--C", "10", "-o", "t.mercer"])
    assert code == 0
    assert "relative gap" in seen and "support vectors" in seen and "of the best possible" in seen
    assert "\x1b[?25l" in seen and "\x1b[?25h" in seen  # a live line: the cursor is hidden, and given back


def test_grid_on_a_terminal_without_colour(folder):
    code, seen = on_a_terminal(folder, ["tune", "iris.csv", "--steps", "2", "--cv", "2"], NO_COLOR="1")
    assert code == 0 and "accuracy for each C and gamma" in seen
    assert not COLOUR.search(seen)

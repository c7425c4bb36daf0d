"""The packages that people install: python tests/wheels.py build, then python tests/wheels.py check.

`build` writes the source package, and from it, so that it has to contain what it needs, a wheel for Python 3.11 and
one for 3.12 and all that follow. `check` installs each in a new environment, runs fits there and asks which core ran:
the wheels on their Python, that for 3.12 on 3.13 too, and the source package where there is no compiler. A Python that
is not on this machine is named in one line.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
WHEELS = {"3.11": "cp311-cp311", "3.12": "cp312-abi3"}
CHECKS = (("3.11", "cp311-cp311"), ("3.12", "cp312-abi3"), ("3.13", "cp312-abi3"))
FIT = """
import logging, sys
logging.basicConfig(format="%(message)s", stream=sys.stdout)
import mercer, numpy as np
from mercer._core.core import CHOICE
X = np.random.default_rng(0).normal(size=(300, 2))
y = X[:, 0] * X[:, 1] > 0
for machine in (mercer.SVC(), mercer.LinearSVC(), mercer.KernelRidge(), mercer.KernelPerceptron("rbf")):
    machine.fit(X, y)
machine = mercer.SVC().fit(X, y)
assert machine.certificate_.status.name == "CONVERGED", machine.certificate_
assert machine.score(X, y) > 0.9
assert CHOICE.core == sys.argv[1], CHOICE
assert "site-packages" in mercer.__file__, mercer.__file__
print(f"converged on the {CHOICE.core} core {CHOICE.level}, Python {sys.version.split()[0]}")
"""


@cache
def python(version: str) -> str | None:
    """A Python of this version: on the PATH, or among those of pyenv."""
    own = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [sys.executable, shutil.which(f"python{version}"), *sorted(own.glob(f"{version}.*/bin/python{version}"))]
    return next((str(place) for place in places if place and _says(str(place)) == version), None)


def _says(place: str) -> str:
    """The version that a Python says it has; a stand-in that does not run has none."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([place, "-c", ask], capture_output=True, text=True, check=False).stdout.strip()


def _run(*command: object, **options: object) -> None:
    subprocess.run([str(part) for part in command], check=True, **options)  # type: ignore[call-overload]


def _the(pattern: str) -> Path:
    """The one file in dist of this name."""
    found = sorted(DIST.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"dist holds {len(found)} files {pattern}, not one: make wheel builds them anew.")
    return found[0]


def _missing(version: str, what: str) -> None:
    print(f"There is no Python {version} on this machine: {what}.", file=sys.stderr)


def build() -> None:
    """Build the source package and, from it, the wheels."""
    shutil.rmtree(DIST, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    for version, tag in WHEELS.items():
        if place := python(version):
            pip = [place, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", DIST]
            _run(*pip, _the("mercer-*.tar.gz"), cwd=DIST)
            print(f"built {_the(f'mercer-*-{tag}-*.whl').name}", flush=True)
        else:
            _missing(version, f"the wheel {tag} is not built")


def check() -> None:
    """Install each and fit."""
    for version, tag in CHECKS:
        if (place := python(version)) and list(DIST.glob(f"mercer-*-{tag}-*.whl")):
            _check(place, _the(f"mercer-*-{tag}-*.whl"), "native", dict(os.environ))
        else:
            _missing(version, f"the wheel {tag} is not tried there")
    with tempfile.TemporaryDirectory() as empty:
        bare = {name: value for name, value in os.environ.items() if name not in ("CXX", "CC")} | {"PATH": empty}
        _check(sys.executable, _the("mercer-*.tar.gz"), "reference", bare)


def _check(place: str, package: Path, core: str, environment: dict[str, str]) -> None:
    """In a new environment, out of sight of the sources."""
    with tempfile.TemporaryDirectory() as folder:
        _run(place, "-m", "venv", Path(folder, "env"))
        inside = Path(folder, "env", "Scripts" if os.name == "nt" else "bin", "python")
        pip = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run(*pip, package, cwd=folder, env=environment)
        print(f"{package.name}: ", end="", flush=True)
        _run(inside, "-c", FIT, core, cwd=folder, env=environment)


if __name__ == "__main__":
    {"build": build, "check": check}[sys.argv[1]]()

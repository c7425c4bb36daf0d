"""The tests of the native core, built with address and undefined-behaviour sanitizers: make sanitize."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = [f"tests/test_{name}.py" for name in ("tiles", "pairs", "points_loops", "newton_loops", "several", "votes")]
RUN = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
sys.path.insert(0, sys.argv[1])
import mercer._core.core, pytest
assert mercer._core.core.CHOICE.core == "native" and mercer.__file__.startswith(sys.argv[1]), mercer.__file__
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[2:]]))
"""


def main() -> int:
    """Build into a folder of its own, beside a copy of the package, and run the tests there."""
    environment = os.environ | {"PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])}
    with tempfile.TemporaryDirectory() as folder:
        build, package = Path(folder, "build"), Path(folder, "package")
        shutil.copytree(
            ROOT / "src" / "mercer", package / "mercer", ignore=shutil.ignore_patterns("*.so", "__pycache__")
        )
        settings = [
            "-G",
            "Ninja",
            "-DMERCER_SANITIZE=ON",
            "-DMERCER_STRICT=ON",
            f"-DPython_EXECUTABLE={sys.executable}",
        ]
        for command in (["-S", str(ROOT), "-B", str(build), *settings], ["--build", str(build)]):
            subprocess.run(["cmake", *command], check=True, env=environment)
        (built,) = build.glob("_native*")
        shutil.copy(built, package / "mercer" / "_core")
        cache = (build / "CMakeCache.txt").read_text().splitlines()
        compiler = next(line for line in cache if line.startswith("CMAKE_CXX_COMPILER:")).split("=")[1]
        environment |= {
            "LD_PRELOAD": " ".join(_library(compiler, name) for name in ("libasan.so", "libstdc++.so")),
            "ASAN_OPTIONS": "detect_leaks=0",  # Python itself leaves some
        }
        command = [sys.executable, "-c", RUN, str(package), *TESTS]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _library(compiler: str, name: str) -> str:
    command = [compiler, f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())

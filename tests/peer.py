"""scikit-learn's own tests, with Mercer's classes patched in: `python tests/peer.py`, or `... svm` for a part; `search`
is its tests of GridSearchCV with mercer.Search in place of it.

Every test that passes without them must pass with them, but for DIFFERENT. What fails is run again without them: a test
that fails then too says nothing of Mercer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import sklearn

PARTS = {
    "svm": "svm",
    "kernel_ridge": "tests/test_kernel_ridge.py",
    "calibration": "tests/test_calibration.py",
    "multiclass": "tests/test_multiclass.py",
    "pipeline": "tests/test_pipeline.py",
    "inspection": "inspection",
    "model_selection": "model_selection",
    "ensemble": "ensemble",
}
SEARCH = "sklearn/model_selection/tests/test_search.py"
DIFFERENT: dict[str, str] = {
    f"{SEARCH}::test_custom_run_search": "asks whether GridSearchCV has no more attributes than BaseSearchCV",
}
"""Tests that may fail with Mercer's classes, as pytest names them, each with its reason. At most five."""

_MANY = 20
HERE = Path(__file__).parent
SITE = Path(sklearn.__file__).parent.parent


def failing(tests: list[str], plugin: str, threads: str = "2") -> list[str]:
    """The tests that fail; all of them, where pytest itself does."""
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "--tb=short", "-n", threads]
    command += ["-c", str(HERE / "peer.ini"), "--rootdir", str(SITE)]
    command += ["-p", plugin] if plugin else []
    environment = os.environ | {"PYTHONPATH": str(HERE)}
    process = subprocess.Popen(
        [*command, *tests], cwd=SITE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    found = []
    for line in process.stdout or ():
        print(line, end="")
        if line.startswith(("FAILED ", "ERROR ")):
            found.append(line.split(" ", 1)[1].split(" - ")[0].strip())
    code = process.wait()
    if code not in (0, 1) or (code == 1 and not found):
        sys.exit(f"pytest ended with exit code {code}.")
    return found


def main() -> None:
    """Run the parts that the command line names, or all; exit code 1 where Mercer's classes make a test fail."""
    unknown = set(sys.argv[1:]) - {*PARTS, "search"}
    if unknown:
        sys.exit(f"{min(unknown)!r} is none of the parts {', '.join(PARTS)}, search.")
    assert len(DIFFERENT) <= 5, "so many differences are no drop-in"
    asked = sys.argv[1:] or [*PARTS, "search"]
    failed = failing([SEARCH], "search_in") if "search" in asked else []
    parts = [f"sklearn/{PARTS[part]}" for part in asked if part != "search"]
    failed += failing(parts, "patched_in") if parts else []
    found = [test for test in failed if test not in DIFFERENT]
    if found:
        print(f"\n{len(found)} failed; once more without Mercer:")
        without = failing(found, "")
        if len(without) > _MANY:
            sys.exit(f"{len(without)} tests fail without Mercer's classes, too: scikit-learn's tests do not run here.")
        found = [test for test in found if test not in without]
    if found:
        sys.exit("Mercer's classes make these fail:\n" + "\n".join(found))
    but = f", but for {len(DIFFERENT)}" if DIFFERENT else ""
    print(f"All tests that pass without Mercer's classes pass with them{but}.")


if __name__ == "__main__":
    main()

"""What one fit enters: the files and functions of ours, and how often a round goes from one file to another.

python tests/walk.py            # two classes
python tests/walk.py 10         # ten
"""

from __future__ import annotations

import sys
import threading
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any

import numpy as np

import mercer
from mercer import SVC, KernelRidge

_COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>"}
PACKAGE = str(Path(mercer.__file__).parent)


class Walk:
    """Every function entered, lambdas and generators included, in all threads. Comprehensions, functions up to
    Python 3.11 alone, are not counted.
    """

    def __init__(self) -> None:
        self.functions: set[tuple[str, str, int]] = set()
        self.path: list[tuple[str, str]] = []  # file and function, in the order of the calling thread
        self.main = threading.get_ident()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take note of a call."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE) or code.co_name in _COMPREHENSIONS:
            return
        self.functions.add((code.co_filename, code.co_qualname, code.co_firstlineno))
        if threading.get_ident() == self.main:
            self.path.append((code.co_filename, code.co_qualname))

    @property
    def files(self) -> list[str]:
        """The files entered."""
        return sorted({name[len(PACKAGE) + 1 :] for name, _, _ in self.functions})

    @property
    def changes(self) -> int:
        """From file to file in a typical round: the median of those that another one on the same problem follows."""
        found, begun = [], None
        for place, (_, name) in enumerate(self.path):
            if name == "Descent.__init__":
                begun = None
            elif name == "Descent.round":
                if begun is not None:
                    files = [file for file, _ in self.path[begun:place]]
                    found.append(sum(before != after for before, after in pairwise(files)))
                begun = place
        return int(median(found))


def ridge_walk(n: int = 3000) -> Walk:
    """The walk of a fit of KernelRidge."""
    X = np.random.default_rng(0).normal(size=(n, 8))
    KernelRidge().fit(X, X[:, 0])  # imports
    return walk_of(KernelRidge().fit, X, X[:, 0])


def walk(classes: int = 2, n: int = 20_000) -> Walk:
    """The walk of a fit of so many points."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, 8)).astype(np.float32)
    y = np.digitize(X[:, 0] * X[:, 1] + 0.3 * generator.normal(size=n), np.linspace(-1, 1, classes + 1)[1:-1])
    SVC().fit(X[:3000], y[:3000])  # imports
    return walk_of(SVC().fit, X, y)


def walk_of(fit: Any, *data: Any) -> Walk:
    """The walk of a call."""
    found = Walk()
    threading.setprofile(found)
    sys.setprofile(found)
    try:
        fit(*data)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return found


if __name__ == "__main__":
    found = walk(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    for name in found.files:
        here = sorted({function for file, function, _ in found.functions if file.endswith("/" + name)})
        print(f"{name}: {', '.join(here)}")
    print(f"{len(found.files)} files, {len(found.functions)} functions, {found.changes} changes of file in a round")

"""Questions to the fields of an estimator that came from a file; each answer that cannot be is an error of one phrase.

Dimensions are letters: "s d" is a matrix of s rows and d columns. A letter stands for one number throughout, which the
first array, or `expect`, settles.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from ..kernels import FromFeatures, Kernel
from ..kernels.points import Domain, count, is_sparse
from ..solution import Certificate, Solution
from ..types import Array


def parameter_names(cls: Any) -> list[str]:
    """Of a class of estimators; parts of estimators, which are no such class, have none."""
    names: list[str] = cls._get_param_names() if hasattr(cls, "_get_param_names") else []
    return names


class Fields:
    """What a file says that an estimator has learned; `settings` are its parameters."""

    def __init__(self, name: str, estimator: Any) -> None:
        self.name, self.estimator = name, estimator
        self.settings = set(parameter_names(type(estimator)))
        self.state = {key: value for key, value in vars(estimator).items() if key not in self.settings}
        self.lengths: dict[str, int] = {}

    def fail(self, attribute: str, problem: str) -> NoReturn:
        raise ValueError(f"{attribute} of its {self.name} {problem}")

    def has(self, attribute: str) -> bool:
        """Whether it is there, and not None."""
        return self.state.get(attribute) is not None

    def get(self, attribute: str) -> Any:
        """A field that must be there."""
        if attribute not in self.state:
            self.fail(attribute, "is missing")
        return self.state[attribute]

    def a(self, attribute: str, *kinds: type) -> Any:
        """A field of exactly one of these types."""
        value = self.get(attribute)
        if type(value) not in kinds:
            self.fail(attribute, f"is a {type(value).__name__}, not a {' or '.join(kind.__name__ for kind in kinds)}")
        return value

    def setting(self, name: str, *choices: Any) -> Any:
        """A parameter with one of these values."""
        value = getattr(self.estimator, name)
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            self.fail(name, f"is {value!r:.40}, not {' or '.join(map(repr, choices))}")
        return value

    # Numbers.

    def count(self, attribute: str, least: int = 0) -> int:
        """A whole number of at least so much."""
        value = self.get(attribute)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value < 2**62:
            self.fail(attribute, f"is {value!r:.40}, not a whole number of at least {least}")
        return int(value)

    def count_setting(self, name: str) -> int:
        """A parameter that is a whole number of at least 1."""
        value = getattr(self.estimator, name)
        if type(value) is not int or not 1 <= value < 2**62:
            self.fail(name, f"is {value!r:.40}, not a whole number of at least 1")
        return int(value)

    def number(self, attribute: str) -> float:
        """A finite number."""
        value = self.get(attribute)
        if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
            self.fail(attribute, f"is {value!r:.40}, not a finite number")
        return float(value)

    def numbers(self, attribute: str, dimensions: str) -> Array:
        """An array of finite numbers."""
        value = self._array(attribute, "f", dimensions)
        if not np.isfinite(value).all():
            self.fail(attribute, "holds values that are no finite numbers")
        return value

    def whole(self, attribute: str, dimensions: str, below: int = 2**62) -> Array:
        """An array of whole numbers from 0 on, below a number."""
        value = self._array(attribute, "iu", dimensions)
        if value.size and not (value.min() >= 0 and value.max() < below):
            self.fail(attribute, f"holds numbers outside 0 ... {below - 1}, from {value.min()} to {value.max()}")
        return value

    def indices(self, attribute: str, dimensions: str, below: int = 2**62) -> Array:
        """As `whole`, no number twice."""
        value = self.whole(attribute, dimensions, below)
        if np.unique(value).size != value.size:
            self.fail(attribute, "holds a number twice")
        return value

    def sizes(self, attribute: str, parts: int, total: str) -> None:
        """How many of the s there are in each part: they sum up to s."""
        value, s = self.whole(attribute, "parts"), self.lengths[total]
        if len(value) != parts or value.max(initial=0) > s or int(value.sum(dtype=np.int64)) != s:
            self.fail(attribute, f"must be {parts} number(s) that sum up to {s}, not {value.tolist()!s:.80}")

    def _array(self, attribute: str, kinds: str, dimensions: str) -> Array:
        value = self.get(attribute)
        letters = dimensions.split()
        if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind not in kinds or value.dtype.itemsize == 2:
            what = f"{value.dtype} values" if hasattr(value, "dtype") else f"a {type(value).__name__}"
            self.fail(attribute, f"holds {what}, not {'numbers' if kinds == 'f' else 'whole numbers'}")
        if value.ndim != len(letters):
            self.fail(attribute, f"has {value.ndim} dimension(s), not {len(letters)}")
        self.lasting(attribute, value.shape, letters)
        return np.asarray(value)

    # Lengths.

    def lasting(self, attribute: str, shape: Sequence[int], letters: Sequence[str]) -> None:
        """The shape must be what these letters stand for."""
        for length, letter in zip(shape, letters, strict=True):
            if self.lengths.setdefault(letter, length) != length:
                self.fail(attribute, f"has the shape {tuple(shape)}, which does not go with its other arrays")

    def expect(self, **lengths: int) -> None:
        """What letters must stand for, before or after arrays were looked at."""
        for letter, length in lengths.items():
            if self.lengths.setdefault(letter, length) != length:
                self.fail("an array", f"has {self.lengths[letter]} entries where {length} are expected")

    def width(self) -> int:
        """n_features_in_, which is d; the names of columns, where there are some, are as many."""
        d = self.count("n_features_in_", 1)
        self.expect(d=d)
        if self.has("feature_names_in_"):
            names = self.get("feature_names_in_")
            if not isinstance(names, np.ndarray) or names.shape != (d,):
                self.fail("feature_names_in_", f"must be {d} names")
        return d

    # What machines and maps are made of.

    def kernel(self, attribute: str = "kernel_") -> Kernel:
        """A kernel that waits for nothing."""
        kernel = self.get(attribute)
        if not isinstance(kernel, Kernel):
            self.fail(attribute, "is no kernel")
        kernel.require_resolved()
        return kernel

    def points(self, attribute: str, letter: str, kernel: Kernel) -> None:
        """So many points of a kernel."""
        points = self.get(attribute)
        wanted = getattr(kernel.phi, "n_features_in_", None) if isinstance(kernel, FromFeatures) else None
        if wanted is not None:
            self.expect(d=wanted)
        if wanted is not None or kernel.domain in (Domain.VECTORS, Domain.VALUES):
            if is_sparse(points):
                self._entries(attribute, points, letter)
            else:
                self.numbers(attribute, f"{letter} d")
            return
        if not isinstance(points, np.ndarray | list | tuple) and not is_sparse(points):
            self.fail(attribute, f"is a {type(points).__name__}, not a list of points")
        self.lasting(attribute, (count(points),), (letter,))

    def _entries(self, attribute: str, matrix: Any, letter: str) -> None:
        if matrix.dtype not in (np.float32, np.float64) or not np.isfinite(matrix.data).all():
            self.fail(attribute, "holds values that are no finite numbers")
        self.lasting(attribute, matrix.shape, (letter, "d"))

    def classes(self) -> int:
        """How many classes there are: two or more, different, in order."""
        classes = self.get("classes_")
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or classes.size < 2:
            self.fail("classes_", "must be two or more labels")
        if classes.dtype.kind == "f" and not np.isfinite(classes).all():
            self.fail("classes_", "holds values that are no finite numbers")
        if not np.array_equal(np.unique(classes), classes):
            self.fail("classes_", "must be different labels in their order")
        self.expect(k=classes.size)
        return int(classes.size)

    def answers(self, problems: int, kind: type = Certificate) -> None:
        """A certificate and a solution for each problem; after a piece of a stream there are none."""
        certificates = self.a("certificates_", tuple)
        if not certificates and not self.has("certificate_") and not self.has("solution_"):
            return
        if len(certificates) != problems or not all(isinstance(certificate, kind) for certificate in certificates):
            self.fail("certificates_", f"must be {problems} certificate(s)")
        if not isinstance(self.get("certificate_"), kind):
            self.fail("certificate_", "is no certificate")
        solution = self.get("solution_")
        solutions = solution if isinstance(solution, tuple) else (solution,)
        if len(solutions) != problems or not all(isinstance(one, Solution) for one in solutions):
            self.fail("solution_", f"must be {problems} solution(s)")

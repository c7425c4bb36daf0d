"""LIBSVM's model files: a header of names and values, then a line for each support vector.

    svm_type c_svc            or nu_svc, one_class, epsilon_svr, nu_svr
    kernel_type rbf           or linear, polynomial, precomputed; with degree, gamma, coef0 where it has them
    nr_class 2, total_sv 3, rho 0.5, label 1 -1, nr_sv 2 1      one to a line
    SV
    0.25 1:1 2:3              k - 1 coefficients of k classes, then the coordinates that are not 0, counted from 1

f(x) = sum_i coef_i k(x_i, x) - rho; of a pair of classes it is positive for the label that comes first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from ..archives.atomic import write_whole
from ..estimators import SVC, SVR, OneClassSVM
from ..estimators.machine import Machine
from ..estimators.multiclass import class_slices, pack, pairs, unpack
from ..kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed
from ..kernels.base import Scaled
from ..kernels.points import Domain
from ..solution import Certificate, Solution, one_or_all, worst
from ..types import Array, Points
from .consistent import require_consistent
from .scaling import affine, svm_scale_text

_TYPES: dict[str, type[Machine]] = {
    "c_svc": SVC, "nu_svc": SVC, "epsilon_svr": SVR, "nu_svr": SVR, "one_class": OneClassSVM,
}  # fmt: skip
_LARGEST_INDEX = 2**31 - 1
_MOST_WEIGHTS = 2**28  # of a linear model, over all its problems: 2 GB


class LibsvmFiles(NamedTuple):
    """What was written: the model, the file for `svm-scale -r` where data is to be scaled, and what the labels mean."""

    model: Path
    scaling: Path | None
    labels: dict[int, Any]


# Writing.


def to_libsvm(estimator: Any, path: str | os.PathLike[str]) -> LibsvmFiles:
    """Write a fitted SVC, SVR or OneClassSVM, or a pipeline of scalers and one of these, as a LIBSVM model file.

    svm-predict then gives the same scores. A pipeline's scaling goes into a second file, `path` + ".range", for
    `svm-scale -r`. Labels that are not whole numbers are numbered 0, 1, ...; see `labels` of the result. Where votes of
    three or more classes tie, LIBSVM takes the first class, and Mercer the one with the larger margins.
    """
    steps = [step for _, step in estimator.steps] if hasattr(estimator, "steps") else [estimator]
    machine = steps[-1]
    if not isinstance(machine, SVC | SVR | OneClassSVM):
        raise TypeError(f"LIBSVM has no {type(machine).__name__}: a fitted SVC, SVR or OneClassSVM is expected.")
    check_is_fitted(machine)
    scaling = affine(steps[:-1], machine)
    labels, lines = _written(machine)
    model = write_whole(path, "\n".join([*lines, ""]))
    beside = None if scaling is None else write_whole(f"{os.fspath(path)}.range", svm_scale_text(*scaling))
    return LibsvmFiles(model, beside, labels)


def _written(machine: Machine) -> tuple[dict[int, Any], list[str]]:
    """What the labels mean, and the lines of the file."""
    factor, kernel = _unscaled(machine.kernel_)
    coefficients, intercept, sizes = factor * machine.dual_coef_, machine.intercept_, machine.n_support_
    numbers: list[int] = []
    order = np.arange(len(machine.support_))
    if isinstance(machine, SVC):
        k = machine.classes_.size
        if k > 2 and not machine._paired():
            raise ValueError("LIBSVM has pairs of classes only: fit the SVC with multiclass='ovo'.")
        numbers = _label_numbers(machine.classes_)
        if k == 2:  # f is positive for classes_[1], which LIBSVM wants first
            order = np.concatenate([order[place] for place in reversed(class_slices(sizes.tolist()))])
            numbers, sizes = numbers[::-1], sizes[::-1]
    svm_type = {SVC: "c_svc", SVR: "epsilon_svr", OneClassSVM: "one_class"}[_base(machine)]
    lines = [f"svm_type {svm_type}", *_kernel_lines(kernel), f"nr_class {max(2, len(numbers))}"]
    lines += [f"total_sv {order.size}", f"rho {_spaced(-intercept + 0.0)}"]
    if numbers:
        lines += [f"label {' '.join(map(str, numbers))}", f"nr_sv {' '.join(map(str, sizes))}"]
    lines.append("SV")
    for number, coordinates in zip(order, _coordinates(machine, kernel, order), strict=True):
        lines.append(f"{_spaced(coefficients[:, number])} {coordinates}".rstrip())
    names = dict(zip(_label_numbers(machine.classes_), machine.classes_.tolist(), strict=True)) if numbers else {}
    return names, lines


def _base(machine: Machine) -> type[Machine]:
    return next(cls for cls in (SVC, SVR, OneClassSVM) if isinstance(machine, cls))


def _unscaled(kernel: Kernel) -> tuple[float, Kernel]:
    """c and k of a kernel c k: the factor goes into the coefficients."""
    factor = 1.0
    while isinstance(kernel, Scaled):
        factor, kernel = factor * kernel.factor, kernel.kernel
    return factor, kernel


def _label_numbers(classes: Array) -> list[int]:
    if classes.dtype.kind in "iufb" and np.all(classes == np.round(classes)):
        return [int(label) for label in classes]
    return list(range(classes.size))


def _kernel_lines(kernel: Kernel) -> list[str]:
    if isinstance(kernel, Linear):
        return ["kernel_type linear"]
    if isinstance(kernel, Gaussian):
        return ["kernel_type rbf", f"gamma {float(kernel.gamma)!r}"]
    if isinstance(kernel, Polynomial):
        gamma, coef0 = float(kernel.gamma), float(kernel.coef0)
        return ["kernel_type polynomial", f"degree {kernel.degree}", f"gamma {gamma!r}", f"coef0 {coef0!r}"]
    if kernel.domain is Domain.VALUES and isinstance(kernel, Precomputed):
        return ["kernel_type precomputed"]
    raise ValueError(f"LIBSVM knows the kernels linear, polynomial, rbf and precomputed, not {kernel!r}.")


def _coordinates(machine: Machine, kernel: Kernel, order: Array) -> Iterator[str]:
    """Each support vector as text."""
    if kernel.domain is Domain.VALUES:
        yield from (f"0:{number + 1}" for number in machine.support_[order])
        return
    rows = csr_array(machine.support_vectors_)[order]
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        entries = zip(rows.indices[start:end].tolist(), rows.data[start:end].tolist(), strict=True)
        yield " ".join(f"{index + 1}:{value!r}" for index, value in sorted(entries))


def _spaced(values: Array) -> str:
    return " ".join(repr(value) for value in np.ravel(values).tolist())


# Reading.


def from_libsvm(path: str | os.PathLike[str], n_features: int | None = None) -> Machine:
    """The SVC, SVR or OneClassSVM of a LIBSVM model file, ready to predict.

    The file holds neither the training data nor C: `C` is the largest coefficient, `support_` numbers the support
    vectors from 0, and nothing is proved by the certificate. It does not hold the number of features either: it is that
    of the largest index in the file unless `n_features` says more. Parameters for probabilities are not used.
    """
    text = Path(path).read_text(encoding="ascii", errors="replace")
    model = _Reader(os.fspath(path), text.splitlines()).read()
    machine = _machine(model, n_features)
    largest = float(np.abs(model.coefficients).max(initial=0.0))
    if not isinstance(machine, OneClassSVM):
        machine.set_params(C=largest or 1.0)
    require_consistent(type(machine).__name__, machine)
    return machine


@dataclass
class _Model:
    """A file's content."""

    kind: type[Machine]
    kernel: Kernel
    labels: list[int]
    sizes: list[int]
    rho: Array
    coefficients: Array
    """(k - 1, support vectors)"""
    rows: list[dict[int, float]] = field(default_factory=list)


class _Reader:
    """Reads a model line by line, and says in which line something is wrong."""

    def __init__(self, path: str, lines: list[str]) -> None:
        self.path, self.lines, self.at = path, lines, 0
        self.places: dict[str, int] = {}

    def fail(self, problem: str, of: str = "") -> NoReturn:
        """Raise for what is wrong in the line of a name of the header, or else in the line that is read."""
        raise ValueError(f"{self.path}, line {self.places.get(of, self.at)}: {problem}")

    def read(self) -> _Model:
        header = self.header()
        kind = self.choice(header, "svm_type", tuple(_TYPES))
        labels = self.integers(header, "label") if _TYPES[kind] is SVC else []
        k = max(2, len(labels))
        if _TYPES[kind] is SVC and (len(labels) < 2 or len(set(labels)) < len(labels)):
            self.fail(f"a classifier needs two or more different labels, not {labels}", "label")
        if self.integers(header, "nr_class", 1) != [k]:
            self.fail(f"nr_class is {' '.join(header['nr_class'])}, but there are {k} classes", "nr_class")
        total = self.integers(header, "total_sv", 1)[0]
        sizes = self.integers(header, "nr_sv", k) if labels else [total]
        rho = self.numbers(header, "rho", k * (k - 1) // 2)
        if min(sizes) < 0 or sum(sizes) != total:
            self.fail(f"nr_sv {sizes} does not sum up to total_sv {total}", "nr_sv")
        if total != len(self.lines) - self.at:
            self.fail(f"total_sv is {total}, but {len(self.lines) - self.at} lines follow")
        model = _Model(_TYPES[kind], self.kernel(header), labels, sizes, np.array(rho), np.empty((k - 1, total)))
        for number in range(total):
            self.at += 1
            tokens = self.lines[self.at - 1].split()
            if len(tokens) < k - 1:
                self.fail(f"{k - 1} coefficient(s) are expected")
            model.coefficients[:, number] = [self.number(token) for token in tokens[: k - 1]]
            model.rows.append(self.coordinates(tokens[k - 1 :]))
        return model

    def header(self) -> dict[str, list[str]]:
        if not self.lines:
            raise ValueError(f"{self.path} is empty.")
        found: dict[str, list[str]] = {}
        for line in self.lines:
            self.at += 1
            name, *values = line.split() or [""]
            if name == "SV":
                return found
            if self.at == 1 and name != "svm_type":
                self.fail("this is no LIBSVM model file, which begins with svm_type")
            found[name], self.places[name] = values, self.at
        return self.fail("the file ends before its support vectors (a line SV is missing)")

    def kernel(self, header: dict[str, list[str]]) -> Kernel:
        name = self.choice(header, "kernel_type", ("linear", "polynomial", "rbf", "precomputed"))
        if name == "linear":
            return Linear()
        if name == "precomputed":
            return Precomputed()
        gamma = self.numbers(header, "gamma", 1)[0]
        try:
            if name == "rbf":
                return Gaussian(gamma)
            return Polynomial(self.integers(header, "degree", 1)[0], gamma, self.numbers(header, "coef0", 1)[0])
        except ValueError as error:
            self.fail(str(error), "gamma" if name == "rbf" else "kernel_type")

    def choice(self, header: dict[str, list[str]], name: str, choices: tuple[str, ...]) -> str:
        given = " ".join(header.get(name, ["nothing"]))
        if given not in choices:
            self.fail(f"{name} must be one of {', '.join(choices)}, not {given}", name)
        return given

    def integers(self, header: dict[str, list[str]], name: str, count: int | None = None) -> list[int]:
        values = self.numbers(header, name, count)
        if any(value != int(value) or abs(value) > _LARGEST_INDEX for value in values):
            self.fail(f"{name} must be whole numbers, not {' '.join(header[name])}", name)
        return [int(value) for value in values]

    def numbers(self, header: dict[str, list[str]], name: str, count: int | None = None) -> list[float]:
        if name not in header or count not in (None, len(header[name])):
            self.fail(f"{name} must be followed by {count or 'its'} value(s)", name)
        return [self.number(token, name) for token in header[name]]

    def number(self, token: str, of: str = "") -> float:
        try:
            value = float(token)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            self.fail(f"a finite number is expected, not {token[:40]!r}", of)
        return value

    def coordinates(self, tokens: list[str]) -> dict[int, float]:
        row: dict[int, float] = {}
        for token in tokens:
            index, _, value = token.partition(":")
            if not index.isdecimal() or not int(index[:12]) <= _LARGEST_INDEX or int(index) in row:
                self.fail(f"a new index and a value, such as 3:0.5, are expected, not {token[:40]!r}")
            row[int(index)] = self.number(value)
        return row


def _machine(model: _Model, n_features: int | None) -> Machine:
    """The fitted machine; classes in the order of their labels, as everywhere in scikit-learn."""
    if model.kernel.domain is Domain.VALUES:
        numbers = [row.get(0, 0.0) for row in model.rows]
        if any(number % 1 or not 1 <= number <= _LARGEST_INDEX for number in numbers):
            raise ValueError("A model of a precomputed kernel needs 0:number, counted from 1, for each support vector.")
        support = np.array(numbers, np.intp) - 1
        vectors, width = np.empty((0, 0)), _width(int(support.max(initial=0)) + 1, n_features)
    else:
        width = _width(max((max(row, default=1) for row in model.rows), default=1), n_features)
        support, vectors = np.arange(len(model.rows)), _vectors(model.rows, width)
    if isinstance(model.kernel, Linear) and model.rho.size * width > _MOST_WEIGHTS:
        raise ValueError(f"A linear model of {width} features has more weights than anybody could hold.")
    machine = model.kind(kernel=model.kernel)
    coefficients, intercept, sizes = model.coefficients, -model.rho, np.array(model.sizes, np.int32)
    if isinstance(machine, SVC):
        machine.classes_ = np.array(sorted(model.labels))
        coefficients, intercept, order = _by_label(model, machine.classes_)
        support, sizes = support[order], sizes[np.argsort(model.labels)]
        if model.kernel.domain is not Domain.VALUES:
            support, vectors = np.arange(order.size), vectors[order]
    machine.n_features_in_ = width
    machine.shape_fit_ = (int(support.max(initial=0)) + 1, width)
    machine.kernel_, machine.support_, machine.support_vectors_ = model.kernel, support, vectors
    machine.dual_coef_, machine.intercept_, machine.n_support_ = coefficients, intercept, sizes
    machine.n_iter_ = 1
    machine._coef = machine._linear_weights() if isinstance(model.kernel, Linear) else None
    unknown = Certificate(np.nan, np.nan, kkt_violation=np.nan, feasibility=np.nan)
    betas = machine._unpack(coefficients, sizes.tolist())
    solutions = tuple(Solution(beta, float(b), unknown) for beta, b in zip(betas, intercept, strict=True))
    machine.solution_ = one_or_all(solutions)
    machine.certificates_ = tuple(unknown for _ in solutions)
    machine.certificate_ = worst(machine.certificates_, ["read from a LIBSVM model"] * len(solutions), machine.tol)
    return machine


def _width(least: int, given: int | None) -> int:
    if given is not None and given < least:
        raise ValueError(f"The model has a feature number {least}, so that n_features={given} is too small.")
    return least if given is None else given


def _vectors(rows: list[dict[int, float]], width: int) -> Points:
    """The support vectors, dense unless that would take more memory."""
    if any(0 in row for row in rows):
        raise ValueError("Indices are counted from 1; only a precomputed kernel has an index 0.")
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.array([index - 1 for row in rows for index in row], np.int32)
    values = np.array([value for row in rows for value in row.values()])
    sparse = csr_array((values, columns, ends.astype(np.int32)), shape=(len(rows), width))
    sparse.sort_indices()
    return sparse if 1.5 * values.size < len(rows) * width else sparse.toarray()


def _by_label(model: _Model, classes: Array) -> tuple[Array, Array, Array]:
    """Coefficients and intercepts with the classes sorted, and the order of the support vectors that goes with it."""
    places = class_slices(model.sizes)
    ranks = np.argsort(model.labels)  # the class at each place of the sorted ones
    order = np.concatenate([np.arange(sum(model.sizes))[places[c]] for c in ranks])
    if classes.size == 2:  # positive for classes_[1], and in the file for the first label
        sign = 1.0 if ranks[0] == 1 else -1.0
        return sign * model.coefficients[:, order], -sign * model.rho, order
    of_pair = dict(
        zip(pairs(classes.size), zip(unpack(model.coefficients, model.sizes), model.rho, strict=True), strict=True)
    )
    betas, intercepts = [], []
    for first, second in pairs(classes.size):
        i, j = int(ranks[first]), int(ranks[second])
        beta, rho = of_pair[min(i, j), max(i, j)]
        cut = model.sizes[min(i, j)]
        betas.append(beta if i < j else -np.concatenate([beta[cut:], beta[:cut]]))
        intercepts.append(-rho if i < j else rho)
    return pack(betas, [model.sizes[c] for c in ranks]), np.array(intercepts), order

"""What must hold of scikit-learn's machines with Mercer's solvers (mercer.dropin), from a file: see consistent.py.

What Mercer does not evaluate is evaluated by LIBSVM, in compiled code that trusts its arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels.points import is_sparse
from ..solution import Certificate
from .fields import Fields

_MOST_PROBLEMS = 2**20


def _settings(fields: Fields) -> None:
    """Settings that scikit-learn allows; a certificate, where Mercer found the answer."""
    fields.estimator._validate_params()
    if "certificate_" in fields.state and not isinstance(fields.state["certificate_"], Certificate):
        fields.fail("certificate_", "is no certificate")


def _support(fields: Fields, parts: int, rows: int, problems: int) -> None:
    """Support vectors and coefficients as LIBSVM holds them: of so many classes, rows of coefficients and problems."""
    _settings(fields)
    d = fields.width()
    fields.expect(r=rows, p=problems)
    sparse, given = fields.a("_sparse", bool), fields.setting("kernel", *_KERNELS) == "precomputed"
    n = fields.a("shape_fit_", tuple)
    if len(n) != 2 or type(n[0]) is not int or n[1] != d or not 0 < n[0] < 2**31 or (given and n[0] != d):
        fields.fail("shape_fit_", f"is {n!s:.60}, which does not go with its other arrays")
    _of_type(fields, np.int32, "support_", "_n_support")
    s = len(fields.indices("support_", "s", n[0]))
    if fields.name == "dropin.SVC":
        fields.sizes("_n_support", parts, "s")
    elif fields.whole("_n_support", "two").tolist() not in ([s, 0], [s, s]):
        fields.fail("_n_support", f"must begin with {s}")
    _vectors(fields, sparse, given)
    for attribute in ("dual_coef_", "_dual_coef_"):
        _coefficients(fields, attribute, sparse)
    for attribute in ("intercept_", "_intercept_"):
        _of_type(fields, np.float64, attribute)
        fields.numbers(attribute, "p")
    _turned(fields, rows == 1 and parts == 2 and fields.name.endswith("SVC"))
    _rest(fields, problems)


def _vectors(fields: Fields, sparse: bool, given: bool) -> None:
    vectors = fields.get("support_vectors_")
    if given:
        shape = (fields.lengths["s"], 0) if sparse else (0, 0)
        if np.shape(vectors) not in (shape, (0, 0)):
            fields.fail("support_vectors_", "must be empty, since the values of its kernel are given")
    elif sparse:
        _entries(fields, "support_vectors_", "s d")
        if vectors.indices.dtype != np.int32 or vectors.indptr.dtype != np.int32:
            fields.fail("support_vectors_", "has indices of another size")
    else:
        _of_type(fields, np.float64, "support_vectors_")
        fields.numbers("support_vectors_", "s d")


def _coefficients(fields: Fields, attribute: str, sparse: bool) -> None:
    if not sparse:
        _of_type(fields, np.float64, attribute)
        fields.numbers(attribute, "r s")
        return
    _entries(fields, attribute, "r s")
    matrix = fields.get(attribute)
    rows, s = matrix.shape
    if matrix.nnz != rows * s or not np.array_equal(matrix.indices, np.tile(np.arange(s), rows)):
        fields.fail(attribute, "has not every coefficient in its place")


def _entries(fields: Fields, attribute: str, dimensions: str) -> None:
    """A sparse matrix of finite numbers."""
    matrix = fields.get(attribute)
    if not is_sparse(matrix) or matrix.dtype != np.float64 or not np.isfinite(matrix.data).all():
        fields.fail(attribute, "is no sparse matrix of finite numbers")
    fields.lasting(attribute, matrix.shape, dimensions.split())


def _of_type(fields: Fields, wanted: type, *attributes: str) -> None:
    for attribute in attributes:
        if getattr(fields.get(attribute), "dtype", None) != wanted:
            fields.fail(attribute, f"must be an array of {np.dtype(wanted)}")


def _turned(fields: Fields, turned: bool) -> None:
    """What people see is what LIBSVM holds, but for its sign, of two classes."""
    sign = -1.0 if turned else 1.0
    for shown in ("dual_coef_", "intercept_"):
        one, other = fields.get(shown), fields.get(f"_{shown}")
        one, other = (part.data if is_sparse(part) else part for part in (one, other))
        if not np.array_equal(one, sign * other):
            fields.fail(shown, "is not that of its machine")


def _rest(fields: Fields, problems: int) -> None:
    """Probabilities, gamma, and what scikit-learn sets by itself."""
    a, b = (fields.numbers(name, f"{name}s") for name in ("_probA", "_probB"))
    _of_type(fields, np.float64, "_probA", "_probB")
    wanted = {0, 1} if fields.name == "dropin.SVR" else {0, problems}  # of a regression, its spread
    if a.size not in wanted or b.size not in {0, a.size}:
        fields.fail("_probA", f"must be {problems} number(s), or none")
    if fields.a("_effective_probability", bool) and not a.size:
        fields.fail("_probA", "is missing")
    if not fields.number("_gamma") >= 0:
        fields.fail("_gamma", "must not be below 0")
    if fields.a("fit_status_", int) not in (0, 1):
        fields.fail("fit_status_", "is neither 0 nor 1")
    fields.whole("_num_iter", "p")
    rounds = np.asarray(fields.get("n_iter_"))
    if rounds.dtype.kind not in "iu" or rounds.shape not in ((), (problems,)):
        fields.fail("n_iter_", "must be the number of rounds")
    for name, value in vars(type(fields.estimator)()).items():
        if name not in fields.settings and fields.get(name) != value:
            fields.fail(name, f"is {fields.get(name)!r:.40}, not {value!r}")


def _svc(fields: Fields) -> None:
    k = fields.classes()
    if k * (k - 1) // 2 > _MOST_PROBLEMS:
        fields.fail("classes_", "are too many")
    _of_type(fields, np.float64, "class_weight_")
    fields.numbers("class_weight_", "k")
    _support(fields, k, k - 1, k * (k - 1) // 2)


def _one_problem(fields: Fields) -> None:
    _support(fields, 2, 1, 1)


def _one_class(fields: Fields) -> None:
    _one_problem(fields)
    if not np.array_equal(fields.numbers("offset_", "p"), -fields.get("_intercept_")):
        fields.fail("offset_", "is not that of its machine")


def _linear_svc(fields: Fields) -> None:
    _settings(fields)
    k, _ = fields.classes(), fields.width()
    fields.expect(p=1 if k == 2 else k)
    fields.numbers("coef_", "p d")
    if np.ndim(fields.get("intercept_")):
        fields.numbers("intercept_", "p")
    elif fields.number("intercept_") or fields.estimator.fit_intercept:
        fields.fail("intercept_", "must be an array, where there is one")
    fields.count("n_iter_")


def _ridge(fields: Fields) -> None:
    _settings(fields)
    d, model, points = fields.width(), fields.estimator, fields.get("X_fit_")
    if is_sparse(points):
        if points.dtype.kind not in "iuf" or not np.isfinite(points.data).all():
            fields.fail("X_fit_", "holds values that are no finite numbers")
        fields.lasting("X_fit_", points.shape, ("n", "d"))
    elif getattr(points, "dtype", np.dtype(object)).kind in "iu":
        fields.whole("X_fit_", "n d") if (points >= 0).all() else fields.lasting("X_fit_", points.shape, ("n", "d"))
    else:
        fields.numbers("X_fit_", "n d")
    if model.kernel == "precomputed":
        fields.expect(n=d)
    fields.numbers("dual_coef_", "n m" if np.ndim(fields.get("dual_coef_")) == 2 else "n")


_KERNELS = ("rbf", "linear", "poly", "sigmoid", "precomputed")

DROPIN: dict[str, Callable[[Fields], Any]] = {
    "dropin.SVC": _svc,
    "dropin.SVR": _one_problem,
    "dropin.OneClassSVM": _one_class,
    "dropin.LinearSVC": _linear_svc,
    "dropin.KernelRidge": _ridge,
}

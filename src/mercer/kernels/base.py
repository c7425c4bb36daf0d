"""Kernel: a small immutable value, called on two sets of points; and its algebra.

A kernel of your own is a frozen dataclass with a `fill` that writes the values of one small block. Everything else
(threads, memory, checks of the input, precision, text, parameters, sums and products with other kernels) is done here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from ..params import Parameters, require_integer, require_number
from ..parse import parse, plain_name
from ..types import Array, Points
from .pairwise import raise_to
from .points import Domain, admit, common_dtype, count, diagonal, held_width, is_sparse

REGISTRY: dict[str, type[Kernel]] = {}
"""Every kernel that can be written as text, by its names."""
_REFUSED = {
    "sigmoid": "The sigmoid is not positive definite, so nothing could be proved of a fit: take rbf, or poly.",
    "cosine": "It is normalized(linear).",
}


class Kernel(Parameters):
    """k(x, z), a symmetric positive definite function of two points."""

    domain_of_its_own: ClassVar[Domain] = Domain.VECTORS
    symmetric: bool = True  # k(x, z) = k(z, x) by construction: one half of K can be mirrored
    serial: bool = False  # True where Python code is called for each point: threads would only wait for each other
    bounded: bool = False  # True where |k| <= 1 whatever the points: its values need no check for overflow
    tiles: int = 3  # how many blocks are alive at a time while one is filled, for the memory to be planned
    __array_ufunc__ = None  # np.float64(2) * kernel is ours to answer

    def __init_subclass__(cls, names: tuple[str, ...] | None = None, **options: Any) -> None:
        """Make the class known to the parser: by its own name, or by these names, or (with none) not at all."""
        super().__init_subclass__(**options)
        own = f"{cls.__module__}.{cls.__qualname__}"
        for name in (cls.__name__,) if names is None else names:
            taken = REGISTRY.get(plain_name(name), cls)
            if (before := f"{taken.__module__}.{taken.__qualname__}") != own:
                raise ValueError(f"The name {name!r} belongs to {before}: choose another.")
            REGISTRY[plain_name(name)] = cls

    # What a kernel of your own writes.

    def fill(self, A: Points, B: Points, out: Array) -> None:
        """out[i, j] <- k(A_i, B_j) for one small block. The one method that every kernel must have."""
        raise NotImplementedError(f"{type(self).__name__} must say how to fill a block: def fill(self, A, B, out).")

    def diagonal(self, A: Points) -> Array:
        """k(x, x) for each of the points. Worth writing wherever it is simpler than a block."""
        values, entry = np.empty(count(A), common_dtype(A)), np.empty((1, 1), common_dtype(A))
        for i in range(count(A)):
            self.fill(A[i : i + 1], A[i : i + 1], entry)
            values[i] = entry[0, 0]
        return values

    def reason(self) -> str | None:
        """Why it is positive definite, in one line; None if nobody knows."""
        return None

    def known_definite(self) -> bool:
        """Whether the closure rules say that it is positive definite."""
        return self.reason() is not None and all(map(Kernel.known_definite, self.parts()))

    def scratch_width(self, X: Points) -> int:
        """How many numbers stand for a point while a block is filled, for the memory to be planned."""
        return max((part.scratch_width(X) for part in self.parts()), default=held_width(X))

    def check(self, X: Points, name: str) -> None:
        """Raise a clear error if the kernel is not defined on these points."""
        for part in self.parts():
            part.check(X, name)

    def features(self, X: Points) -> Any:
        """phi(X) with k(x, z) = phi(x) . phi(z) exactly, where such a finite map is at hand; None otherwise."""
        return None

    # What every kernel can do.

    def __call__(self, X: Points, Z: Points = None) -> Array:
        """The block k(x_i, z_j); of X against itself if Z is left out."""
        from ..columns import block  # the engine, which stands on kernels

        return block(self, X, Z)

    def diag(self, X: Points) -> Array:
        """k(x_i, x_i), without forming a block."""
        self.require_resolved()
        X = admit(X, self.domain)
        self.check(X, "X")
        return diagonal(self, X)

    def product(self, X: Points, Z: Points, v: Array) -> Array:
        """sum_j k(x_i, z_j) v_j, without forming the block."""
        from ..columns import product_between

        return product_between(self, X, Z, v)

    def resolve(self, X: Points, sample_weight: Any = None) -> Self:
        """The kernel with "scale", "median" and the like replaced by numbers found from the training data."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        resolved = {n: k.resolve(X, sample_weight) for n, k in parts.items() if isinstance(k, Kernel)}
        return replace(self, **resolved) if any(resolved[n] is not parts[n] for n in resolved) else self  # type: ignore[type-var]

    def require_resolved(self) -> None:
        """Raise if a parameter still waits for data."""
        for part in self.parts():
            part.require_resolved()

    def parts(self) -> list[Kernel]:
        """The kernels that this one is made of."""
        return [value for value in vars(self).values() if isinstance(value, Kernel)]

    @property
    def domain(self) -> Domain:
        """What its points are: vectors, if any part needs them."""
        parts = self.parts()
        if not parts:
            return self.domain_of_its_own
        domains = {part.domain for part in parts} - {Domain.ANYTHING} or {Domain.ANYTHING}
        if Domain.VALUES in domains and len(domains) > 1:
            raise ValueError(
                f"{self!r} mixes precomputed values with a kernel on points, and X cannot be both: compute all of its "
                "values first."
            )
        return Domain.VECTORS if Domain.VECTORS in domains else domains.pop()

    # The algebra. `+ * **` build new kernels; nothing is multiplied out.

    def __add__(self, other: Any) -> Kernel:
        other = _as_kernel(other)
        return NotImplemented if other is None else Sum(self, other)

    def __radd__(self, other: Any) -> Kernel:
        if _is_number(other) and other == 0:
            return self  # so that sum([k1, k2]) is k1 + k2
        other = _as_kernel(other)
        return NotImplemented if other is None else Sum(other, self)

    def __mul__(self, other: Any) -> Kernel:
        if _is_number(other):
            return Scaled(other, self)
        other = _as_kernel(other)
        return NotImplemented if other is None else Product(self, other)

    def __rmul__(self, other: Any) -> Kernel:
        return Scaled(other, self) if _is_number(other) else NotImplemented

    def __truediv__(self, divisor: Any) -> Kernel:
        return Scaled(1.0 / divisor, self) if _is_number(divisor) else NotImplemented

    def __pow__(self, exponent: Any) -> Kernel:
        return Power(self, exponent) if _is_number(exponent) else NotImplemented


def kernel(text: Any) -> Kernel:
    """The kernel that a text describes: `kernel("2*rbf(gamma=0.5) + linear()")`; a kernel is given back as it is.

    As in scikit-learn, a function is one of two matrices; kernels of its Gaussian processes are taken, too.
    """
    if isinstance(text, Kernel):
        return text
    if isinstance(text, str):
        return cast(Kernel, parse(text, REGISTRY, "kernel", _REFUSED))
    from .blocks import FromBlocks, FromGaussianProcess, is_process

    if is_process(text) or (callable(text) and not isinstance(text, type)):
        return FromGaussianProcess(text) if is_process(text) else FromBlocks(text)
    given = f"the class {text.__name__}" if isinstance(text, type) else repr(text)
    raise TypeError(
        f"A kernel is an object such as Gaussian(), text such as 'rbf' or a function of two matrices, not {given}. "
        "A function of two points becomes a kernel by FromFunction(f)."
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _as_kernel(value: Any) -> Kernel | None:
    """A number as a constant, and a kernel of scikit-learn's as one of ours, so that both can be added to a kernel."""
    if isinstance(value, Kernel):
        return value
    if _is_number(value):
        return Constant(value)
    from .blocks import FromGaussianProcess, is_process

    return FromGaussianProcess(value) if is_process(value) else None


def _written(kernel: Kernel, level: int) -> str:
    """The text of an operand, in parentheses where its own operation binds less tightly than `level`."""
    own = {Sum: 1, Product: 2, Scaled: 2, Power: 3}.get(type(kernel), 4)
    return repr(kernel) if own >= level else f"({kernel!r})"


@dataclass(frozen=True)
class Constant(Kernel):
    """k(x, z) = value >= 0; `k + 1` means `k + Constant(1)`.

    Parameters
    ----------
    value : float, default=1.0
        The value, >= 0.
    """

    value: float = 1.0
    domain_of_its_own: ClassVar[Domain] = Domain.ANYTHING

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "value", at_least=0)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        out[...] = self.value

    def diagonal(self, A: Points) -> Array:
        """The value."""
        return np.full(count(A), self.value, common_dtype(A))

    def reason(self) -> str | None:
        return "the inner product of a constant feature"

    def features(self, X: Points) -> Any:
        """One constant feature."""
        return np.full((count(X), 1), np.sqrt(self.value), common_dtype(X))


class _Composite(Kernel, names=()):
    """A kernel made of others."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in {"kernel", "left", "right"} & self.get_params(deep=False).keys():
            if not isinstance(getattr(self, name), Kernel):
                raise TypeError(f"{type(self).__name__} needs a kernel, not {getattr(self, name)!r}.")

    @property
    def tiles(self) -> int:  # type: ignore[override]
        """Those of its parts, while the results of the parts before wait."""
        return max(part.tiles + waiting for waiting, part in enumerate(self.parts()))

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Symmetric if all its parts are."""
        return all(part.symmetric for part in self.parts())

    @property
    def serial(self) -> bool:  # type: ignore[override]
        """Serial if any part is."""
        return any(part.serial for part in self.parts())


@dataclass(frozen=True, repr=False)
class Sum(_Composite, names=()):
    """k(x, z) = left(x, z) + right(x, z).

    Parameters
    ----------
    left : Kernel
        The first summand.
    right : Kernel
        The second summand.
    """

    left: Kernel
    right: Kernel

    def fill(self, A: Points, B: Points, out: Array) -> None:
        self.left.fill(A, B, out)
        other = np.empty_like(out)
        self.right.fill(A, B, other)
        out += other

    def diagonal(self, A: Points) -> Array:
        return self.left.diagonal(A) + self.right.diagonal(A)

    def reason(self) -> str | None:
        return "a sum of positive definite kernels"

    def features(self, X: Points) -> Any:
        """Both maps side by side."""
        left, right = self.left.features(X), self.right.features(X)
        if left is None or right is None:
            return None
        if is_sparse(left) or is_sparse(right):
            from scipy.sparse import csr_array, hstack

            return hstack([csr_array(left), csr_array(right)], format="csr")
        return np.hstack([left, right])

    def __repr__(self) -> str:
        return f"{_written(self.left, 1)} + {_written(self.right, 2)}"


@dataclass(frozen=True, repr=False)
class Product(_Composite, names=()):
    """k(x, z) = left(x, z) right(x, z).

    Parameters
    ----------
    left : Kernel
        The first factor.
    right : Kernel
        The second factor.
    """

    left: Kernel
    right: Kernel

    def fill(self, A: Points, B: Points, out: Array) -> None:
        self.left.fill(A, B, out)
        other = np.empty_like(out)
        self.right.fill(A, B, other)
        out *= other

    def diagonal(self, A: Points) -> Array:
        return self.left.diagonal(A) * self.right.diagonal(A)

    def reason(self) -> str | None:
        return "a product of positive definite kernels (Schur)"

    def __repr__(self) -> str:
        return f"{_written(self.left, 2)}*{_written(self.right, 3)}"


@dataclass(frozen=True, repr=False)
class Scaled(_Composite, names=()):
    """k(x, z) = factor kernel(x, z), with factor >= 0.

    Parameters
    ----------
    factor : float
        The number, >= 0.
    kernel : Kernel
        What is scaled.
    """

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "factor", at_least=0)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        self.kernel.fill(A, B, out)
        out *= self.factor

    def diagonal(self, A: Points) -> Array:
        return self.factor * self.kernel.diagonal(A)

    def reason(self) -> str | None:
        return "a positive definite kernel times a number >= 0"

    def features(self, X: Points) -> Any:
        """The map times the root of the factor."""
        features = self.kernel.features(X)
        return None if features is None else features * float(np.sqrt(self.factor))

    def __repr__(self) -> str:
        return f"{self.factor!r}*{_written(self.kernel, 3)}"


@dataclass(frozen=True, repr=False)
class Power(_Composite, names=()):
    """k(x, z) = kernel(x, z) ** exponent, with a positive integer as exponent.

    Parameters
    ----------
    kernel : Kernel
        The base.
    exponent : int
        The exponent, 1 or more.
    """

    kernel: Kernel
    exponent: int

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer(self, "exponent", at_least=1)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        self.kernel.fill(A, B, out)
        raise_to(out, self.exponent)

    def diagonal(self, A: Points) -> Array:
        return self.kernel.diagonal(A) ** self.exponent

    def reason(self) -> str | None:
        return "a product of a positive definite kernel with itself"

    def __repr__(self) -> str:
        return f"{_written(self.kernel, 4)}**{self.exponent}"

"""Mercer's classes where scikit-learn's stand, and back.

Only names by which other modules hold a class are changed, never the class itself. A class is left where it is defined,
so that pickle still finds the originals; KernelRidge is defined where people import it from, so that its originals are
pickled in another way while it is patched.
"""

from __future__ import annotations

import copyreg
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from .answer import log
from .linear import LinearSVC
from .ridge import KernelRidge
from .support import SVC, SVR, OneClassSVM

_PUBLIC = {"sklearn.svm": (SVC, SVR, OneClassSVM, LinearSVC), "sklearn.kernel_ridge": (KernelRidge,)}
_ORIGINAL: dict[type, type] = {
    ours: next(cls for cls in ours.__mro__ if cls.__module__.startswith("sklearn."))
    for classes in _PUBLIC.values()
    for ours in classes
}


def patch() -> None:
    """Let every module of scikit-learn hold Mercer's classes in place of its own.

    Call it before `from sklearn.svm import SVC`: modules that hold the originals already are named in a warning.
    """
    _patch(level=3)


def _patch(level: int) -> None:
    """The same, with a warning whose line is so many calls away."""
    for home in _PUBLIC:
        import_module(home)
    _replace({original: ours for ours, original in _ORIGINAL.items()})
    copyreg.pickle(_ORIGINAL[KernelRidge], _as_it_stands)
    log.info("NuSVC and NuSVR stay scikit-learn's, because Mercer has C and epsilon in place of nu; so does LinearSVR")
    late = sorted({f"{name} in {key}" for key, _, name in _held(_ORIGINAL.values(), of_sklearn=False)})
    if late:
        warnings.warn(
            f"Imported from scikit-learn before mercer.dropin.patch(), and still the original: {', '.join(late)}. "
            "Call patch() before these imports.",
            stacklevel=level,
        )


def unpatch() -> None:
    """Give scikit-learn its own classes back."""
    _replace(_ORIGINAL)
    copyreg.dispatch_table.pop(_ORIGINAL[KernelRidge], None)


@contextmanager
def patched() -> Iterator[None]:
    """`patch()` within a block."""
    _patch(level=4)  # this, contextlib, whoever says `with`
    try:
        yield
    finally:
        unpatch()


def _replace(new: dict[type, type]) -> None:
    """In all modules of scikit-learn."""
    for _, module, name in _held(new, of_sklearn=True):
        old = getattr(module, name)
        if module.__name__ in _PUBLIC or module.__name__ != old.__module__:
            setattr(module, name, new[old])


def _held(classes: Any, of_sklearn: bool) -> Iterator[tuple[str, ModuleType, str]]:
    """The modules, and the names in them, by which these classes are held; in scikit-learn, or outside of it."""
    wanted = {id(cls) for cls in classes}
    for key, module in list(sys.modules.items()):
        if key == "__mp_main__":  # what multiprocessing calls __main__ too
            continue
        root = key.partition(".")[0]
        if not isinstance(module, ModuleType) or (root == "sklearn") != of_sklearn or key.startswith(__package__ or ""):
            continue
        for name, value in list(vars(module).items()):
            if id(value) in wanted:
                yield key, module, name


def _as_it_stands(instance: Any) -> Any:
    """How an original is pickled while another class has its name: it comes back as what has the name then."""
    cls = type(instance)
    return _rebuilt, (cls.__module__, cls.__qualname__), instance.__getstate__()


def _rebuilt(module: str, name: str) -> Any:
    cls = getattr(import_module(module), name)
    return cls.__new__(cls)

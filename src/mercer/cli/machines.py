"""The machine that the arguments describe."""

from __future__ import annotations

import argparse
from typing import Any

from sklearn.base import is_classifier, is_outlier_detector

from .. import estimators
from ..kernels import Polynomial, Precomputed
from ..kernels import kernel as parse
from ..solvers import solver as as_solver
from .exits import UsageError
from .options.machine import MACHINES

_WITH_KERNEL = {"perceptron": "KernelPerceptron"}
"""What it is where a kernel is named."""

_SETTINGS = (
    "C", "epsilon", "nu", "alpha", "bias", "class_weight", "solver", "tol", "time_limit", "max_iter", "memory",
)  # fmt: skip
_LIBSVM_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def kernel_of(arguments: argparse.Namespace) -> Any:
    """The kernel that the arguments describe."""
    if arguments.libsvm_kernel is not None and arguments.kernel is not None:
        raise UsageError("--kernel and -t both name a kernel: give one of them.")
    if arguments.libsvm_kernel == 3:
        raise UsageError("-t 3, the sigmoid kernel, is not positive definite: take -t 0, 1 or 2, or another --kernel.")
    if arguments.libsvm_kernel == 1:  # LIBSVM's own defaults
        kernel: Any = Polynomial(degree=3, coef0=0)
    else:
        number = arguments.libsvm_kernel
        kernel = parse(arguments.kernel or ("rbf" if number is None else _LIBSVM_KERNELS[number]))
    if isinstance(kernel, Precomputed):
        raise UsageError("A table of kernel values is for Python: SVC(Precomputed()). Name a kernel of the columns.")
    given = {name: getattr(arguments, name) for name in ("gamma", "degree", "coef0")}
    given = {name: value for name, value in given.items() if value is not None}
    unknown = [name for name in given if name not in kernel.get_params(deep=False)]
    if unknown:
        raise UsageError(f"The kernel {kernel!r} has no {unknown[0]}: write its parameters into --kernel.")
    return kernel.with_params(**given) if given else kernel


def machine_of(arguments: argparse.Namespace) -> Any:
    """The unfitted machine; settings that were not given are the machine's own."""
    named = any(value is not None for value in (arguments.kernel, arguments.libsvm_kernel, arguments.gamma))
    classes = MACHINES | (_WITH_KERNEL if named else {})
    machine = getattr(estimators, classes[arguments.model])()
    known = machine.get_params(deep=False)
    settings: dict[str, Any] = {name: getattr(arguments, name, None) for name in _SETTINGS}
    settings = {name: value for name, value in settings.items() if value is not None}
    if "bias" in known or "bias" in settings:  # ridge and perceptron have none of their own accord
        settings["bias"] = settings.get("bias") != "no"
    if "max_epochs" in known and "max_iter" in settings:
        settings["max_epochs"] = settings.pop("max_iter")
    if "kernel" in known:
        settings["kernel"] = kernel_of(arguments)
    elif named:
        raise UsageError(f"{arguments.model} has no kernel: it is linear.")
    for name in settings:
        if name not in known:
            raise UsageError(f"--{name.replace('_', '-')} is no setting of {arguments.model}.")
    if "random_state" in known:
        settings["random_state"] = arguments.seed
    if "solver" in settings:
        as_solver(settings["solver"])  # an error of its text is one of usage
    if settings.get("C") == float("inf") and arguments.model != "svc":
        raise UsageError("--C inf, the hard margin, is for svc.")
    return machine.set_params(**settings)


def targets_of(machine: Any) -> str:
    """What a machine learns from: "labels", "numbers" or "none"."""
    if is_outlier_detector(machine):
        return "none"
    return "labels" if is_classifier(machine) else "numbers"

"""The machines that can be trained, and how their settings are given. A new machine is one line of MACHINES."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import add_kernel, finite_positive, not_negative, number, positive, positive_or_loo, whole
from .exits import UsageError

MACHINES = {
    "svc": "SVC",
    "svr": "SVR",
    "oneclass": "OneClassSVM",
    "ridge": "KernelRidge",
    "logistic": "KernelLogistic",
    "perceptron": "Perceptron",
    "linear-svc": "LinearSVC",
}
"""The name on the command line: the class in mercer."""

_WITH_KERNEL = {"perceptron": "KernelPerceptron"}
"""What it is where a kernel is named."""

_SETTINGS = (
    "C", "epsilon", "nu", "alpha", "bias", "class_weight", "solver", "tol", "time_limit", "max_iter", "memory",
)  # fmt: skip
_LIBSVM_MODELS = {"0": "svc", "2": "oneclass", "3": "svr"}
_LIBSVM_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def add_machine(parser: Any) -> None:
    """Which machine, and its settings."""
    group = parser.add_argument_group("machine")
    group.add_argument("--model", choices=tuple(MACHINES), default="svc", help="default: svc")
    add_kernel(group)
    group.add_argument(
        "--C", "-c", type=positive, metavar="X", dest="C", help="the weight of mistakes; inf: hard margin"
    )
    group.add_argument("--epsilon", "-p", type=not_negative, metavar="X", help="svr: the half width of the tube")
    unit = number("a number with 0 < nu <= 1", lambda value: 0 < value <= 1)
    group.add_argument("--nu", "-n", type=unit, metavar="X", help="oneclass: the part of outliers, at most")
    group.add_argument(
        "--alpha",
        type=positive_or_loo,
        metavar="X",
        help="ridge: lambda; loo: the one with the least leave-one-out error",
    )
    group.add_argument("--bias", choices=("yes", "no"), help="whether there is a b (default: yes)")
    group.add_argument("--class-weight", choices=("balanced",), help="classes count alike, whatever their size")
    group.add_argument("--solver", metavar="TEXT", help="such as 'qp(solver=clarabel)'")
    libsvm = parser.add_argument_group("as in LIBSVM")
    libsvm.add_argument(
        "-s", type=_libsvm_model, metavar="N", dest="model", default=argparse.SUPPRESS, help="0 svc, 2 oneclass, 3 svr"
    )
    libsvm.add_argument("-t", type=int, choices=range(5), dest="libsvm_kernel", help="0 linear, 1 poly, 2 rbf")
    libsvm.add_argument(
        "-g", "--gamma", type=finite_positive, metavar="GAMMA", dest="gamma", help="gamma of the kernel"
    )
    libsvm.add_argument("-d", type=whole(1), metavar="DEGREE", dest="degree", help="degree of poly")
    libsvm.add_argument("-r", type=float, metavar="COEF0", dest="coef0", help="constant of poly")


def _libsvm_model(text: str) -> str:
    """A type for argparse: a machine as LIBSVM counts them."""
    if text not in _LIBSVM_MODELS:
        raise argparse.ArgumentTypeError(f"{text!r} is not 0, 2 or 3 (machines in terms of nu are left out)")
    return _LIBSVM_MODELS[text]


def kernel_of(arguments: argparse.Namespace) -> Any:
    """The kernel that the arguments describe."""
    from ..kernels import Polynomial, Precomputed
    from ..kernels import kernel as parse

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
    from .. import estimators
    from ..solvers import solver as as_solver

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
    """What a machine learns from: "labels", "numbers" or "nothing"."""
    from sklearn.base import is_classifier, is_outlier_detector

    if is_outlier_detector(machine):
        return "nothing"
    return "labels" if is_classifier(machine) else "numbers"

"""Which machine, and its settings. A new machine is one line of MACHINES."""

from __future__ import annotations

import argparse

from ..arguments import add_kernel, finite_positive, not_negative, number, positive, positive_or_loo, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
_LIBSVM_MODELS = {"0": "svc", "2": "oneclass", "3": "svr"}


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

"""Solvers: one file per algorithm. `solver` makes one from its text, such as "qp(solver=clarabel)"."""

from .auto import choose
from .base import Iterate, Solver, solver
from .coordinate import CoordinateDescent
from .decomposition import Decomposition
from .newton import Newton, NystromNewton
from .qp import QP
from .ridge import Cholesky, ConjugateGradient, NormalEquations, NystromCG
from .steps import Automatic, ConstantStep, InverseSqrt, InverseTime
from .stochastic import StochasticSubgradient
from .subgradient import Subgradient

__all__ = [
    "QP",
    "Automatic",
    "Cholesky",
    "ConjugateGradient",
    "ConstantStep",
    "CoordinateDescent",
    "Decomposition",
    "InverseSqrt",
    "InverseTime",
    "Iterate",
    "Newton",
    "NormalEquations",
    "NystromCG",
    "NystromNewton",
    "Solver",
    "StochasticSubgradient",
    "Subgradient",
    "choose",
    "solver",
]


def __dir__() -> list[str]:
    return __all__

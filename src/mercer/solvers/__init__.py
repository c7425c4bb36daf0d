"""Solvers: one file per algorithm. `solver` makes one from its text, such as "qp(solver=clarabel)"."""

from .auto import choose
from .base import Iterate, Solver, solver
from .cholesky import Cholesky
from .coordinate import CoordinateDescent
from .decomposition import Decomposition
from .newton import Newton, NystromNewton
from .qp import QP

__all__ = [
    "QP",
    "Cholesky",
    "CoordinateDescent",
    "Decomposition",
    "Iterate",
    "Newton",
    "NystromNewton",
    "Solver",
    "choose",
    "solver",
]

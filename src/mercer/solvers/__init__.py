"""Solvers: one file per algorithm. `solver` makes one from its text, such as "qp(solver=clarabel)"."""

from .auto import choose
from .base import Iterate, Solver, solver
from .decomposition import Decomposition
from .qp import QP

__all__ = ["QP", "Decomposition", "Iterate", "Solver", "choose", "solver"]

"""Kernel ridge regression: a linear system, or normal equations in features, of all targets at once."""

from .cholesky import Cholesky
from .full_cg import ConjugateGradient
from .normal_equations import NormalEquations
from .nystrom_cg import NystromCG
from .posed import Ridge

__all__ = ["Cholesky", "ConjugateGradient", "NormalEquations", "NystromCG", "Ridge"]

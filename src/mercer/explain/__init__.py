"""Worked solutions: exercises solved exactly, step by step, each step checked by machine.

Needs SymPy: `pip install 'mercer[explain]'`.
"""

from .check import Report
from .descent import descent
from .duality import duality
from .exact import NotByHandError
from .exercise import Exercise, exercise
from .hinge import hinge
from .kernel_matrix import gram
from .kernel_trick import kernel_trick
from .lagrangian import lagrangian
from .maps import maps
from .neighbours import neighbours
from .pca import pca
from .perceptron import perceptron
from .rbf_series import rbf
from .render.json import read as from_json
from .ridge import ridge
from .rkhs import rkhs
from .shrinkage import shrinkage
from .smo import smo
from .steps import Section, Solution, Step
from .stochastic import stochastic
from .subgradient import subgradient
from .svm import svm

__all__ = [
    "Exercise",
    "NotByHandError",
    "Report",
    "Section",
    "Solution",
    "Step",
    "descent",
    "duality",
    "exercise",
    "from_json",
    "gram",
    "hinge",
    "kernel_trick",
    "lagrangian",
    "maps",
    "neighbours",
    "pca",
    "perceptron",
    "rbf",
    "ridge",
    "rkhs",
    "shrinkage",
    "smo",
    "stochastic",
    "subgradient",
    "svm",
]


def __dir__() -> list[str]:
    return __all__

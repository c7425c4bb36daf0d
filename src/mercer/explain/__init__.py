"""Worked solutions: exercises solved exactly, step by step, each step checked by machine.

Needs SymPy: `pip install 'mercer[explain]'`.
"""

from .perceptron import perceptron
from .render.json import read as from_json
from .ridge import ridge
from .steps import Section, Solution, Step
from .svm import svm

__all__ = ["Section", "Solution", "Step", "from_json", "perceptron", "ridge", "svm"]

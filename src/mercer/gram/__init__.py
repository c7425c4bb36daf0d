"""K on a training set: dense, lazy or low rank behind one protocol, and evidence that it is positive definite."""

from .base import Gram, gram_of
from .dense import DenseGram
from .evidence import Evidence, evidence
from .lazy import LazyGram
from .lowrank import LowRankGram

__all__ = ["DenseGram", "Evidence", "Gram", "LazyGram", "LowRankGram", "evidence", "gram_of"]

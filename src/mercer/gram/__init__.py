"""K on a training set: dense, lazy or low rank behind one protocol, and evidence that it is positive definite."""

from .base import Gram, Held, gram_of
from .classes import ClassGram
from .dense import DenseGram
from .design import Design
from .evidence import Evidence, evidence
from .lazy import LazyGram, unformed
from .linear import LinearGram
from .lowrank import LowRankGram

__all__ = [
    "ClassGram",
    "DenseGram",
    "Design",
    "Evidence",
    "Gram",
    "Held",
    "LazyGram",
    "LinearGram",
    "LowRankGram",
    "evidence",
    "gram_of",
    "unformed",
]

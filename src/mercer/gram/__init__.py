"""K on a training set: dense, by rows or low rank behind one protocol, and evidence that it is positive definite."""

from .dense import DenseGram
from .design import Design
from .evidence import Evidence, evidence
from .gram import Gram, gram_of
from .linear import LinearGram
from .lowrank import LowRankGram
from .points import PointsGram, unformed

__all__ = [
    "DenseGram",
    "Design",
    "Evidence",
    "Gram",
    "LinearGram",
    "LowRankGram",
    "PointsGram",
    "evidence",
    "gram_of",
    "unformed",
]


def __dir__() -> list[str]:
    return __all__

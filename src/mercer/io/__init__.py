"""Files: tables in, models in and out (`save`, `load`); LIBSVM models and ONNX (`libsvm`, `onnx`)."""

from ..archives.archive import ModelError
from ..archives.atomic import place_for
from ..archives.values import StorageError
from .encode import Encoder, UnseenCategoryWarning
from .models import load, read_manifest, save
from .read import read_table
from .tables import DataError, Table

__all__ = [
    "DataError",
    "Encoder",
    "ModelError",
    "StorageError",
    "Table",
    "UnseenCategoryWarning",
    "load",
    "place_for",
    "read_manifest",
    "read_table",
    "save",
]


def __dir__() -> list[str]:
    return [*__all__, "libsvm", "onnx"]

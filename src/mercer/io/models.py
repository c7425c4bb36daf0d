"""Model files: archives whose manifest holds an estimator (see `codec`).

Reading runs no code of the file and imports nothing that the file names; whatever is not exactly as `save` writes it is
refused.
"""

from __future__ import annotations

import json
import os
from io import BytesIO
from typing import IO, Any

from ..archives.archive import FORMAT, Archive, guarded, pack
from ..archives.atomic import write_whole
from ..archives.values import StorageError
from .codec import Reader, Writer


def save(model: Any, path: str | os.PathLike[str], notes: dict[str, Any] | None = None) -> None:
    """Write a fitted estimator, or a pipeline of them, to a file.

    The file appears whole or not at all. Of a support vector machine only the support vectors are kept. `notes` is
    anything that JSON can hold, for `read_manifest`.
    """
    write_whole(path, dumps(model, notes))


def load(path: str | os.PathLike[str]) -> Any:
    """The estimator of a model file, ready to predict; raises ModelError for a file that is not sound."""
    with open(path, "rb") as file:
        return read(file, str(path))


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file says of itself, as plain JSON values, without the arrays."""
    with open(path, "rb") as file:
        manifest: dict[str, Any] = guarded(file, str(path), lambda archive: archive.manifest, FORMAT)
    return manifest


def dumps(model: Any, notes: dict[str, Any] | None = None) -> bytes:
    """The bytes of a model file."""
    try:
        json.dumps(notes, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StorageError(f"The notes of a model file are what JSON can hold: {error}.") from None
    writer = Writer()
    encoded = writer.encode(model)
    if not isinstance(encoded, dict) or "estimator" not in encoded:
        raise StorageError(f"A model file holds an estimator or a pipeline, not {type(model).__name__}.")
    return pack({"format": FORMAT, "notes": notes or {}, "model": encoded}, writer.arrays)


def loads(data: bytes) -> Any:
    """The estimator in the bytes of a model file."""
    return read(BytesIO(data), "The model")


def read(file: IO[bytes], name: str) -> Any:
    """The estimator of an open model file."""
    return guarded(file, name, _model, FORMAT)


def _model(archive: Archive) -> Any:
    model = archive.decoded("model", Reader)
    if not hasattr(model, "fit"):
        raise ValueError("it holds no estimator")
    return model

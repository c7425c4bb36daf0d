"""Checkpoints: what is finished so far of a long work, in a file from which a new process can go on.

It is an archive like that of a model: a manifest and arrays, read without running anything, and written whole or not
at all. The manifest says what kind of work it is, and the identity of its data and settings, a SHA-256:
nobody goes on with other data by mistake.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ..kernels.points import is_sparse
from .archive import CHECKPOINT, ModelError, guarded, pack
from .atomic import write_whole
from .values import PlainWriter


class CheckpointError(ModelError):
    """A checkpoint of other work, or of other data."""


def write(path: str | os.PathLike[str], kind: str, identity: str, content: Any) -> None:
    """Put content (plain values and arrays) in place of what the file holds now."""
    writer = PlainWriter()
    encoded = writer.encode(content, kind)
    told = {"format": CHECKPOINT, "kind": kind, "identity": identity, "content": encoded}
    write_whole(path, pack(told, writer.arrays))


def read(path: str | os.PathLike[str], kind: str, identity: str) -> Any:
    """The content of the file, or None where there is no file yet.

    Raises CheckpointError for a checkpoint of another kind or of other data, ModelError for a file that is not sound.
    """
    if not Path(path).exists():
        return None

    def content(archive: Any) -> Any:
        found = archive.manifest["kind"], archive.manifest["identity"]
        return found, archive.decoded("content") if found == (kind, identity) else None

    with open(path, "rb") as file:
        (found, of), value = guarded(file, str(path), content, CHECKPOINT)
    if found != kind:
        raise CheckpointError(f"{path} is the checkpoint of a {found!s:.40}, not of a {kind}: give another name.")
    if of != identity:
        raise CheckpointError(
            f"{path} is the checkpoint of a {kind} with other data or other settings: give another name, or delete it."
        )
    return value


def identity_of(*parts: Any) -> str:
    """The SHA-256 of data and settings: arrays and sparse matrices by their values, frames by their columns, anything
    else by its text.
    """
    digest = sha256()
    for part in parts:
        for tag, data in _pieces(part):
            digest.update(f"{tag} {len(data)}\n".encode())
            digest.update(data)
    return digest.hexdigest()


def _pieces(part: Any) -> list[tuple[str, bytes]]:
    """Names and bytes that tell a part from all others."""
    if is_sparse(part):
        rows = part.tocsr()
        rows.sort_indices()
        whole = [rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64), np.array(rows.shape)]
        return [("sparse", b""), *(piece for array in whole for piece in _pieces(array))]
    if hasattr(part, "columns") and hasattr(part, "to_numpy"):
        names = [("frame", repr([str(name) for name in part.columns]).encode())]
        return names + [piece for name in part.columns for piece in _pieces(np.asarray(part[name]))]
    if isinstance(part, np.ndarray) and part.dtype != object:
        little = np.ascontiguousarray(part).astype(part.dtype.newbyteorder("<"), copy=False)
        return [(f"{little.dtype.str} {part.shape}", little.tobytes())]
    if isinstance(part, np.ndarray):
        return [(f"objects {part.shape}", repr(part.ravel().tolist()).encode())]
    if isinstance(part, list | tuple):
        return [(f"{len(part)} parts", b""), *(piece for item in part for piece in _pieces(item))]
    return [("text", repr(part).encode())]

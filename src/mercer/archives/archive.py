"""Archives: a zip of manifest.json and .npy arrays, of which every byte is checked.

The manifest holds what it is all about (see `values`), versions, and the size and the SHA-256 of every array and of
itself. Entries are stored as they are, not compressed: so nothing that a file asks for is larger than the file. Reading
runs no code of the file and imports nothing that the file names; whatever is not exactly as it is written is refused.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from typing import IO, Any

import numpy as np

from ..types import Array
from .values import PlainReader

FORMAT, CHECKPOINT, SCHEMA = "mercer model", "mercer checkpoint", 1
_MANIFEST = "manifest.json"
_MOST_ENTRIES = 20_000
_HEAD = 1024  # bytes from which a file of another kind is known
_LONGEST_MESSAGE = 200
_LONGEST = 2**40  # side of an array
_DTYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
_KINDS = {
    FORMAT: ("is a model, not a checkpoint", "mercer.load reads it"),
    CHECKPOINT: (
        "is a checkpoint of work that is not finished, not a model", "give it as checkpoint= to go on from it"
    ),
}  # fmt: skip
"""What a file of Mercer's is, where another was expected, and what to do with it."""
_THEN = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes


class ModelError(ValueError):
    """A model file that is damaged, unsafe, or of another version."""


def pack(told: dict[str, Any], arrays: dict[str, Array]) -> bytes:
    """An archive of what a manifest tells, and of the arrays to which it refers."""
    contents = {name: _npy(array) for name, array in arrays.items()}
    told_of_arrays = {name: {"bytes": len(data), "sha256": sha256(data).hexdigest()} for name, data in contents.items()}
    first = {"format": told["format"], "schema": SCHEMA, "versions": _versions()}
    manifest = {**first, **told, "arrays": told_of_arrays}
    manifest["sha256"] = _digest(manifest)
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        text = json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False)
        for name, data in {_MANIFEST: text.encode(), **contents}.items():
            archive.writestr(zipfile.ZipInfo(name, _THEN), data)
    return buffer.getvalue()


def guarded(file: IO[bytes], name: str, work: Callable[[Archive], Any], kind: str) -> Any:
    """Whatever is wrong with the file, in one sentence."""
    try:
        return work(Archive(file, kind))
    except (OSError, MemoryError):
        raise
    except _OtherFileError as error:
        raise ModelError(f"{name} {error.told(kind)}.") from None
    except (zipfile.BadZipFile, EOFError):
        file.seek(0)
        raise ModelError(f"{name} {_seen_as(file.read(_HEAD)).told(kind)}.") from None
    except Exception as error:  # a file can be wrong in more ways than can be listed
        what = (str(error).split("\n")[0].rstrip(".") or type(error).__name__)[:_LONGEST_MESSAGE]
        what = f"{what} is missing" if isinstance(error, KeyError) else what
        raise ModelError(f"{name} cannot be loaded: {what}.") from None


class _OtherFileError(ValueError):
    """A file of another kind: what it is, and what whoever wants a model may do."""

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what, advice)
        self.what, self.advice = what, advice

    def told(self, wanted: str) -> str:
        """Both, after the name of the file; a checkpoint that is none stays as it is, since it may be somebody's."""
        if wanted == CHECKPOINT and self.what != _KINDS[FORMAT][0]:
            return f"{self.what}, and so no checkpoint to go on from: give checkpoint= another name, or move that file"
        return f"{self.what}: {self.advice}" if self.advice else self.what


def _seen_as(head: bytes) -> _OtherFileError:
    """What a file that is no archive is, seen from its first bytes."""
    written = "mercer train and mercer.save write those"
    if not head:
        return _OtherFileError("is empty")
    if head.startswith(b"PK\x03\x04"):
        return _OtherFileError("is damaged, or its end is missing", "copy it again, or train it again")
    if head.startswith(b"svm_type"):
        return _OtherFileError("is a model file of LIBSVM", "mercer convert reads it, and mercer.io.libsvm.from_libsvm")
    if head.startswith(b"\x80") and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return _OtherFileError(
            "is a pickle, which can run any code when it is loaded", "load it in Python, and mercer.save what it holds"
        )
    if head.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ")):
        return _OtherFileError("is compressed", "unpack it first")
    if head.startswith(b"\x08") and b"onnx" in head:
        return _OtherFileError("is an ONNX model, which an ONNX runtime reads and Mercer does not")
    if b"\0" not in head:
        return _OtherFileError("is text, not a file of Mercer", written)
    return _OtherFileError("is no file of Mercer", written)


def _archive_seen_as(names: set[str]) -> _OtherFileError:
    """What an archive without a manifest is."""
    if any(name.endswith(".npy") for name in names):
        return _OtherFileError("is an archive of NumPy's arrays, not a file of Mercer")
    if "schema.json" in names:
        return _OtherFileError("is a file of skops, which skops.io.load reads")
    return _OtherFileError("is an archive that Mercer has not written")


class Archive:
    """A zip whose entries are what its manifest says, each read once and checked."""

    def __init__(self, file: IO[bytes], kind: str) -> None:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        self.zip = zipfile.ZipFile(file)
        entries = self.zip.infolist()
        if _MANIFEST not in (names := {entry.filename for entry in entries}):
            raise _archive_seen_as(names)
        if len(entries) > _MOST_ENTRIES:
            raise ValueError(f"it has {len(entries)} entries")
        if len({entry.filename for entry in entries}) != len(entries):
            raise ValueError("it has two entries of the same name")
        for entry in entries:
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
                raise ValueError("it has compressed entries, which save never writes")
        if sum(entry.file_size for entry in entries) > size:
            raise ValueError("its entries are larger than the file")
        self.manifest = self._manifest(kind)
        if {entry.filename for entry in entries} != {_MANIFEST, *self.manifest["arrays"]}:
            raise ValueError("its entries are not those of its manifest")
        self.unread = set(self.manifest["arrays"])

    def _manifest(self, kind: str) -> dict[str, Any]:
        data = self.zip.read(_MANIFEST)
        try:
            manifest: Any = json.loads(data.decode(), parse_constant=_no_constant, object_pairs_hook=_distinct)
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise ValueError("its manifest is no JSON text") from None
        told: dict[str, Any] = manifest if isinstance(manifest, dict) else {}
        found = told.get("format")
        if found != kind and found in _KINDS:
            raise _OtherFileError(*_KINDS[found])
        if found != kind:
            raise ValueError(f"its manifest is not that of a {kind.removeprefix('mercer ')} of Mercer")
        if told["schema"] != SCHEMA:
            raise ValueError(
                f"it is of schema {told['schema']!r:.40}, and this version of Mercer reads schema {SCHEMA}"
            )
        if told.pop("sha256", None) != _digest(told):
            raise ValueError("its manifest was changed or damaged (its SHA-256 is another)")
        if not isinstance(told["arrays"], dict):
            raise ValueError("its manifest has no table of arrays")
        return told

    def decoded(self, key: str, reader: type[PlainReader] = PlainReader) -> Any:
        """The value that the manifest has there."""
        value = reader(self._array).decode(self.manifest[key])
        if self.unread:
            raise ValueError(f"it has arrays that nothing refers to, such as {min(self.unread)!r:.60}")
        return value

    def _array(self, name: str) -> Array:
        if name not in self.unread:
            raise ValueError(f"it refers to {name!r:.60} twice, or in vain")
        self.unread.remove(name)
        data, told = self.zip.read(name), self.manifest["arrays"][name]
        if len(data) != told["bytes"] or sha256(data).hexdigest() != told["sha256"]:
            raise ValueError(f"{name} was changed or damaged (its SHA-256 is another)")
        return _from_npy(data, name)


def _npy(array: Array) -> bytes:
    """An array in NumPy's format, which keeps its order in memory."""
    buffer = BytesIO()
    little = array.dtype.newbyteorder("<")
    np.lib.format.write_array(buffer, np.asarray(array).astype(little, copy=False), allow_pickle=False)
    return buffer.getvalue()


def _from_npy(data: bytes, name: str) -> Array:
    """`_npy`, undone: a new array of its own, made only where shape and size agree."""
    stream = BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"{name} is not in version 1.0 of NumPy's format")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.str.lstrip("<|") not in _DTYPES and dtype.kind != "U":
        raise ValueError(f"{name} is an array of {dtype}")
    count, left = math.prod(shape), len(data) - stream.tell()
    if min(shape, default=1) < 0 or dtype.itemsize * count != left or max(shape, default=0) > _LONGEST:
        raise ValueError(f"{name} has the shape {shape}, but {left} bytes")
    if dtype.kind == "U" and left and np.frombuffer(data, "<u4", offset=stream.tell()).max() > 0x10FFFF:
        raise ValueError(f"{name} holds characters that do not exist")
    values = np.frombuffer(data, dtype, offset=stream.tell()) if left else np.zeros(0, dtype)
    return values.reshape(shape, order="F" if fortran else "C").copy(order="K")


def _digest(manifest: dict[str, Any]) -> str:
    """The SHA-256 of the manifest, in one way of writing it."""
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode()).hexdigest()


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    from .. import __version__

    return {"mercer": __version__, **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")}}


def _no_constant(text: str) -> Any:
    raise ValueError(f"its manifest holds {text}")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("its manifest gives a name twice")
    return dict(pairs)

"""A file is written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def place_for(path: str | os.PathLike[str]) -> Path:
    """The path, if a file can be written there: worth asking before a long training."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: give the name of a file.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} to.")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise PermissionError(f"{target} cannot be written: permission denied.")
    return target


def write_whole(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write the file beside its place and move it there, so that nobody ever sees a half of it."""
    target = place_for(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        if target.exists() and not target.is_file():  # a device or a pipe, which must stay one
            target.write_bytes(data)
        else:
            _replace(target.resolve(), data)  # where a link leads
    except OSError as error:
        raise OSError(f"{target} cannot be written: {error.strerror}.") from error
    return target


def _replace(target: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, _permissions(target))
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _permissions(target: Path) -> int:
    """Those of the file that is replaced, or what the user's mask leaves (mkstemp's own are for secrets)."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

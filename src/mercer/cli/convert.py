"""mercer convert: model files to and from other programs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..archives.atomic import write_whole
from ..io import Encoder, ModelError, save
from ..io.codec import Writer
from ..io.libsvm import from_libsvm, to_libsvm
from ..io.onnx import to_onnx
from .data import first_step
from .exits import Exit, UsageError
from .output import note, pairs, plain, show
from .places import require_place
from .using import loaded

_ENDINGS = {".mercer": "mercer", ".model": "libsvm", ".onnx": "onnx", ".json": "json"}

_WRITTEN = {"mercer": "model file", "libsvm": "LIBSVM model", "onnx": "ONNX model", "json": "model as JSON"}


def run(arguments: argparse.Namespace) -> int:
    """Read one form, write the other."""
    of_libsvm = _is_libsvm(arguments.model)
    model = _from_libsvm(arguments) if of_libsvm else loaded(arguments.model)
    to = arguments.to or _ENDINGS.get(Path(arguments.output or "").suffix.lower()) or ("mercer" if of_libsvm else None)
    if to is None:
        known = ", ".join(f"{ending} ({name})" for ending, name in _ENDINGS.items())
        where = f"{arguments.output}: the ending tells none of {known}. " if arguments.output else ""
        raise UsageError(f"{where}Say what to convert to: --to mercer, libsvm, onnx or json.")
    if arguments.output is None and to != "json":
        raise UsageError("Say where it goes: -o FILE.")
    if arguments.output:
        require_place(arguments, arguments.output, _WRITTEN[to], [arguments.model])
    if to == "libsvm":
        require_place(arguments, f"{arguments.output}.range", "file of svm-scale", [arguments.model])
    if to == "json":
        return _json(arguments, model)
    data: dict[str, Any] = {"model": arguments.model, "to": to, "output": arguments.output}
    if to == "mercer":
        save(model, arguments.output)
    else:
        model, columns = _without_encoder(model)
        if columns:
            note(arguments, f"note: the {to} model takes encoded columns: {', '.join(columns)}.")
        data |= _to_onnx(model, arguments.output) if to == "onnx" else _to_libsvm(model, arguments.output)
    show(arguments, data, lambda out: _render(out, data))
    return Exit.FINE


def _is_libsvm(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(8) == b"svm_type"
    except OSError:
        return False  # loading says what is wrong


def _from_libsvm(arguments: argparse.Namespace) -> Any:
    try:
        return from_libsvm(arguments.model, arguments.features)
    except ValueError as error:
        raise ModelError(str(error)) from None


def _without_encoder(model: Any) -> tuple[Any, list[str]]:
    """The steps that take numbers, and the columns that they take where those are not the columns of the table."""
    encoder = first_step(model)
    if not isinstance(encoder, Encoder):
        return model, []
    rest = model[1:]
    rest = rest if len(rest.steps) > 1 else rest.steps[0][1]
    same = encoder.sparse_ or set(encoder.kinds_) == {"number"}
    return rest, [] if same else encoder.get_feature_names_out().tolist()


def _to_onnx(model: Any, path: str) -> dict[str, Any]:
    try:
        to_onnx(model, path)
    except (ImportError, TypeError, ValueError) as error:
        raise UsageError(str(error)) from None
    return {}


def _to_libsvm(model: Any, path: str) -> dict[str, Any]:
    try:
        written = to_libsvm(model, path)
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None
    scaling = None if written.scaling is None else str(written.scaling)
    return {"scaling": scaling, "labels": {str(key): str(value) for key, value in written.labels.items()}}


def _json(arguments: argparse.Namespace, model: Any) -> int:
    """The whole model as one JSON object: the form of the manifest, with the arrays in place."""
    writer = Writer()
    data = {"model": writer.encode(model)}
    data["arrays"] = {name: plain(array) for name, array in writer.arrays.items()}
    text = json.dumps(data, ensure_ascii=False)
    if arguments.output:
        write_whole(arguments.output, text + "\n")
        note(arguments, f"written to {arguments.output}.")
    if arguments.json or not arguments.output:
        print(json.dumps({"to": "json", "output": arguments.output}) if arguments.output else text)
    return Exit.FINE


def _render(out: Any, data: dict[str, Any]) -> None:
    rows = {"written": data["output"]}
    if data.get("scaling"):
        rows["scale the data by"] = f"svm-scale -r {data['scaling']} DATA"
    if any(key != value for key, value in data.get("labels", {}).items()):
        rows["labels"] = ", ".join(f"{key} is {value}" for key, value in data["labels"].items())
    pairs(out, rows)

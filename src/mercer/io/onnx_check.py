"""An ONNX model is tried before it is written: onnxruntime must take it, and find what `predict` finds."""

from __future__ import annotations

import re
import warnings
from typing import Any, NoReturn

import numpy as np

from ..types import Array
from .onnx_inputs import NUMBER, kinds_of, numbered, rows_of

_CLOSE = {8: 1e-5, 4: 1e-2}  # relative errors of numbers that may be, by the bytes of an input
_FLIPPED = 0.1  # of the labels may be others with float32 inputs


class Inputs:
    """The inputs of the model of a pipeline: X, or one for each column where some hold texts."""

    def __init__(self, estimator: Any, dtype: Any) -> None:
        self.dtype, self.kinds = np.dtype(dtype), kinds_of(estimator)
        self.names = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
        words = [kind != NUMBER for kind in self.kinds]
        self.mixed = any(words) and not all(words)
        self.texts = any(words) and not self.mixed
        self.bare = hasattr(_first(estimator), "vocabulary_")  # a list of texts, not a table of them

    def types(self) -> list[tuple[str, Any]]:
        """As skl2onnx wants to know them."""
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType

        number = {8: DoubleTensorType, 4: FloatTensorType}[self.dtype.itemsize]
        if self.mixed:
            if len(self.names) != len(self.kinds):
                raise ValueError("Columns of texts beside columns of numbers need names: fit it on a data frame.")
            kinds = [number if kind == NUMBER else StringTensorType for kind in self.kinds]
            return [(name, kind([None, 1])) for name, kind in zip(self.names, kinds, strict=True)]
        return [("X", (StringTensorType if self.texts else number)([None, len(self.kinds)]))]

    def rows(self) -> tuple[Any, dict[str, Array]]:
        """Some rows, for `predict` and for the model."""
        columns = rows_of(self.kinds)
        columns = [c if c.dtype == object else c.astype(self.dtype) for c in columns]
        if self.mixed:
            feed = {name: column[:, None] for name, column in zip(self.names, columns, strict=True)}
        else:
            feed = {"X": np.column_stack(columns)}
        if self.bare:
            return columns[0].tolist(), feed
        if self.names:
            import pandas as pd

            return pd.DataFrame(dict(zip(self.names, columns, strict=True))), feed
        return np.column_stack(columns), feed


def _first(estimator: Any) -> Any:
    return _first(estimator.steps[0][1]) if hasattr(estimator, "steps") else estimator


def tried(estimator: Any, dtype: Any, name: str, ways: dict[str, Any]) -> bytes:
    """The model, once it has been tried; ValueError with one sentence that names the step which cannot be written.

    `ways` are what skl2onnx is told beside its own.
    """
    inputs = Inputs(estimator, dtype)
    types = inputs.types()
    try:
        data = _converted(estimator, types, name, ways)
        difference = _difference(data, estimator, inputs)
    except Exception as error:  # skl2onnx and onnxruntime raise whatever they like
        _blame(estimator, inputs, error, ways)
    if difference:
        _blame(estimator, inputs, ValueError(difference), ways)
    return data


def _converted(estimator: Any, types: Any, name: str, ways: dict[str, Any]) -> bytes:
    import skl2onnx

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own doings
        model = skl2onnx.convert_sklearn(numbered(estimator), name=name, initial_types=types, **ways)
    return bytes(model.SerializeToString())


def _difference(data: bytes, estimator: Any, inputs: Inputs) -> str:
    """What onnxruntime finds otherwise than the pipeline; nothing, where they agree."""
    rows, feed = inputs.rows()
    found = _run(data, feed)[0]
    wanted = np.asarray(estimator.predict(rows) if hasattr(estimator, "predict") else _dense(estimator.transform(rows)))
    found = np.asarray(_dense(found))
    if found.size != wanted.size:
        return f"its model gives values of shape {found.shape}, not {wanted.shape}"
    found = found.reshape(wanted.shape)
    if wanted.dtype.kind == "f":
        limit = _CLOSE[inputs.dtype.itemsize] * (1.0 + np.abs(wanted).max())
        return "" if np.abs(found - wanted).max() <= limit else "its model predicts other numbers"
    wanted = wanted.astype(np.int64) if wanted.dtype.kind == "b" else wanted
    flipped = float(np.mean(found.astype(str) != wanted.astype(str)))
    return "" if flipped <= (0.0 if inputs.dtype.itemsize == 8 else _FLIPPED) else "its model predicts other labels"


def _run(data: bytes, feed: dict[str, Array]) -> list[Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what is wrong is raised, too
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    found: list[Any] = session.run(None, feed)
    return found


def _dense(values: Any) -> Any:
    return values.toarray() if hasattr(values, "toarray") else values


def _blame(estimator: Any, inputs: Inputs, error: Exception, ways: dict[str, Any]) -> NoReturn:
    """Raise with the first step that cannot be written alone, or the last one."""
    if not hasattr(estimator, "steps"):
        _refuse(type(estimator).__name__, error)
    for place, (name, step) in enumerate(estimator.steps[:-1], start=1):
        try:
            head = estimator[:place]
            why = _difference(_converted(head, inputs.types(), "part", ways), head, inputs)
        except Exception as problem:
            _refuse(f"the step {name!r}, {type(step).__name__}", problem)
        if why:
            _refuse(f"the step {name!r}, {type(step).__name__}", ValueError(why))
    name, step = estimator.steps[-1]
    _refuse(f"the step {name!r}, {type(step).__name__}", error)


def _refuse(what: str, error: Exception) -> NoReturn:
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", str(error).strip())
    first = re.split(r"\n|\. | in operator | operator=| with name", text)[0].rstrip(".")[:200] or type(error).__name__
    raise ValueError(f"No ONNX model can be written of {what}: {first}.") from None

"""What must hold of estimators that are made of others, from a file: see consistent.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .fields import Fields
from .widths import width_in, width_out

_MOST_COLUMNS = 1_000_000

# Steps side by side.


def _column_transformer(fields: Fields) -> None:
    """Each transformer takes the columns that it names, and what it gives has its place."""
    d, model = fields.width(), fields.estimator
    if d > _MOST_COLUMNS:
        fields.fail("n_features_in_", f"is {d}, more than {_MOST_COLUMNS}")
    fitted, columns = fields.a("transformers_", list), fields.a("_columns", list)
    _require_named(fields, "transformers_", fitted, 3)
    asked = _require_named(fields, "transformers", model.transformers, 3)
    if [name for name, *_ in fitted][: len(asked)] != asked or len(columns) != len(asked):
        fields.fail("transformers_", "does not go with the setting transformers")
    rest = fields.a("_remainder", tuple)
    places = {name: positions(fields, own) for (name, *_), own in zip(fitted, columns, strict=False)}
    left = sorted(set(range(d)) - {place for own in places.values() for place in own})
    if len(rest) != 3 or rest[0] != "remainder" or positions(fields, rest[2]) != left:
        fields.fail("_remainder", f"must be the columns {left}, which nobody takes")
    places["remainder"] = left
    if fields.get("_transformer_to_input_indices") != places:
        fields.fail("_transformer_to_input_indices", "does not go with the columns")
    given = model.__dict__.get("output_indices_")
    if not isinstance(given, dict) or set(given) != {*(name for name, *_ in fitted), "remainder"}:
        fields.fail("output_indices_", "must have a place for each transformer")
    if len(fitted) - len(asked) != bool(left):
        fields.fail("transformers_", "must have one for the columns that nobody takes, if there are any, and no more")
    _require_places(fields, fitted, places, given)
    fields.a("sparse_output_", bool)


def _require_named(fields: Fields, attribute: str, steps: Any, parts: int) -> list[str]:
    """The names of steps, all different."""
    good = isinstance(steps, list) and all(
        isinstance(step, tuple) and len(step) == parts and isinstance(step[0], str) for step in steps
    )
    if not good or len({step[0] for step in steps}) != len(steps) or not steps:
        fields.fail(attribute, "must be a list of steps with different names")
    return [step[0] for step in steps]


def _require_places(fields: Fields, fitted: list[Any], places: dict[str, list[int]], given: dict[str, Any]) -> None:
    """What each transformer gives follows what the one before it gives; it takes as many columns as it names."""
    start = 0
    for name, transformer, columns in fitted:
        if positions(fields, columns) != places[name]:
            fields.fail("transformers_", f"has {name!r:.40} with other columns than were found")
        width: int | None = 0
        if transformer == "passthrough":
            width = len(places[name])
        elif transformer != "drop":
            if not hasattr(transformer, "transform"):
                fields.fail("transformers_", f"has {name!r:.40}, which transforms nothing")
            taken = width_in(transformer)
            if taken is not None and taken != len(places[name]):
                fields.fail("transformers_", f"has {name!r:.40}, which takes {taken} columns of {len(places[name])}")
            width = width_out(transformer)
        place = given[name]
        if not isinstance(place, slice) or type(place.start) is not int or type(place.stop) is not int:
            fields.fail("output_indices_", "must be slices")
        length = place.stop - place.start
        if (length or width) and (place.start != start or (width is not None and length != width)):
            fields.fail("output_indices_", f"has another place for {name!r:.40}")
        start = max(start, place.stop)


def positions(fields: Fields, columns: Any) -> list[int]:
    """The numbers of columns that are named by numbers, names, a slice or a mask."""
    d = fields.lengths["d"]
    names = fields.state.get("feature_names_in_")
    names = None if names is None else names.tolist()
    if isinstance(columns, np.ndarray):
        columns = columns.tolist()
    if isinstance(columns, slice):
        start, stop = columns.start, columns.stop
        start = _position(fields, start, names) if isinstance(start, str) else start
        stop = _position(fields, stop, names) + 1 if isinstance(stop, str) else stop  # names include their end
        return list(range(d)[start : stop : columns.step])
    if isinstance(columns, list) and columns and all(isinstance(value, bool) for value in columns):
        if len(columns) != d:
            fields.fail("_columns", f"has a mask of {len(columns)} columns, not {d}")
        return np.flatnonzero(columns).tolist()
    return [_position(fields, value, names) for value in (columns if isinstance(columns, list) else [columns])]


def _position(fields: Fields, column: Any, names: list[Any] | None) -> int:
    """The number of one column; from the end, where it is negative."""
    d = fields.lengths["d"]
    if isinstance(column, str) and names is not None and column in names:
        return names.index(column)
    if not isinstance(column, int | np.integer) or isinstance(column, bool) or not -d <= column < d:
        fields.fail("_columns", f"names {column!r:.40}, which is none of {d} columns")
    return int(column) % d


def _feature_union(fields: Fields) -> None:
    steps = fields.estimator.transformer_list
    _require_named(fields, "transformer_list", steps, 2)
    transformers = [step for _, step in steps if step not in ("drop", "passthrough")]
    if not all(hasattr(step, "transform") for step in transformers):
        fields.fail("transformer_list", "has a step that transforms nothing")
    if len({width_in(step) for step in transformers} - {None}) > 1:
        fields.fail("transformer_list", "has steps that take different numbers of columns")


# Machines around machines.


def _fitted(fields: Fields, attribute: str, machines: Any, count: int | None = None) -> list[Any]:
    """So many fitted machines, of as many columns as this one."""
    if not isinstance(machines, list | tuple) or not machines or (count is not None and len(machines) != count):
        fields.fail(attribute, f"must be {count or 'some'} fitted machines")
    for machine in machines:
        if not hasattr(machine, "predict") and not hasattr(machine, "predict_proba"):
            fields.fail(attribute, "holds something that predicts nothing")
        if width_in(machine) is None and not _is_of_texts(machine):
            fields.fail(attribute, "holds a machine that is not fitted")
    widths = {width_in(machine) for machine in machines}
    wanted = fields.count("n_features_in_", 1) if "n_features_in_" in fields.state else None
    if len(widths) > 1 or (wanted is not None and widths != {wanted}):
        fields.fail(attribute, "holds machines of other columns")
    return list(machines)


def _is_of_texts(machine: Any) -> bool:
    """Whether the machine is a pipeline that begins with what takes no columns."""
    return hasattr(machine, "steps") and width_out(machine.steps[0][1]) is not None


def _calibrated_classifier_cv(fields: Fields) -> None:
    fields.classes()
    classes = fields.get("classes_")
    for each in _fitted(fields, "calibrated_classifiers_", fields.get("calibrated_classifiers_")):
        if type(each).__name__ != "_CalibratedClassifier" or not np.array_equal(each.classes, classes):
            fields.fail("calibrated_classifiers_", "holds something else, or is of other classes")


def _calibrated_classifier(fields: Fields) -> None:
    classes, calibrators = fields.get("classes"), fields.a("calibrators", list)
    method = fields.get("method")
    wanted = {"sigmoid": "_SigmoidCalibration", "isotonic": "IsotonicRegression", "temperature": "_TemperatureScaling"}
    if method not in wanted or not all(type(each).__name__ == wanted[method] for each in calibrators):
        fields.fail("calibrators", f"does not go with the method {method!r:.40}")
    machine = fields.get("estimator")
    own = getattr(machine, "classes_", None)
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or own is None or not np.isin(own, classes).all():
        fields.fail("classes", "are not those of the machine")
    one = method == "temperature" or len(own) == 2
    if len(calibrators) != (1 if one else len(own)) or (len(own) == 2) != (classes.size == 2):
        fields.fail("calibrators", f"must be {1 if one else len(own)}")


def _sigmoid_calibration(fields: Fields) -> None:
    fields.number("a_")
    fields.number("b_")


def _temperature_scaling(fields: Fields) -> None:
    fields.number("beta_")


def _isotonic_regression(fields: Fields) -> None:
    """Thresholds in order; the function through them is made anew."""
    x = fields.numbers("X_thresholds_", "m")
    fields.numbers("y_thresholds_", "m")
    least, most = fields.number("X_min_"), fields.number("X_max_")
    fields.setting("out_of_bounds", "clip", "nan", "raise")
    if x.size == 0 or not (np.diff(x) > 0).all() or least != x[0] or most != x[-1]:
        fields.fail("X_thresholds_", "is not in order, or has other ends")
    fields.estimator._build_f(fields.get("X_thresholds_"), fields.get("y_thresholds_"))


def _transformed_target_regressor(fields: Fields) -> None:
    _fitted(fields, "regressor_", [fields.get("regressor_")])
    if not hasattr(fields.get("transformer_"), "inverse_transform"):
        fields.fail("transformer_", "cannot be undone")
    if fields.count("_training_dim", 1) > 2:
        fields.fail("_training_dim", "is neither 1 nor 2")
    if width_in(fields.get("transformer_")) not in (None, _targets(fields.get("regressor_"))):
        fields.fail("transformer_", "is one of other targets")


def _targets(regressor: Any) -> int:
    """How many targets it has."""
    last = regressor.steps[-1][1] if hasattr(regressor, "steps") else regressor
    if hasattr(last, "estimators_"):
        return len(last.estimators_)
    ridge = type(last).__name__ == "KernelRidge" and np.ndim(last.dual_coef_) == 2
    return int(last.dual_coef_.shape[1]) if ridge else 1


def _multi_output(fields: Fields) -> None:
    machines = _fitted(fields, "estimators_", fields.a("estimators_", list))
    if fields.name == "MultiOutputClassifier":
        classes = fields.a("classes_", list)
        same = len(classes) == len(machines) and all(
            np.array_equal(own, machine.classes_) for own, machine in zip(classes, machines, strict=True)
        )
        if not same:
            fields.fail("classes_", "are not those of the machines")


def _one_vs_rest(fields: Fields) -> None:
    labels = fields.get("label_binarizer_")
    if type(labels).__name__ != "LabelBinarizer":
        fields.fail("label_binarizer_", "is no LabelBinarizer")
    k = labels.classes_.size
    if "classes_" in fields.state and not np.array_equal(fields.get("classes_"), labels.classes_):
        fields.fail("classes_", "are not those of the labels")
    binary = labels.y_type_ == "binary"
    _binary(fields, _fitted(fields, "estimators_", fields.get("estimators_"), 1 if binary else k))


def _one_vs_one(fields: Fields) -> None:
    k = fields.classes()
    _binary(fields, _fitted(fields, "estimators_", fields.get("estimators_"), k * (k - 1) // 2))
    if fields.get("pairwise_indices_") is not None:
        fields.fail("pairwise_indices_", "is of precomputed values, which files do not hold here")


def _binary(fields: Fields, machines: Sequence[Any]) -> None:
    """Each tells two classes apart."""
    if any(len(getattr(machine, "classes_", (0, 1))) != 2 for machine in machines):
        fields.fail("estimators_", "holds a machine of other than two classes")


def _label_binarizer(fields: Fields) -> None:
    classes = fields.get("classes_")
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not np.array_equal(np.unique(classes), classes):
        fields.fail("classes_", "must be different labels in their order")
    kind = fields.get("y_type_")
    good = {"binary": classes.size == 2, "multiclass": classes.size > 2, "multilabel-indicator": classes.size > 0}
    if not good.get(kind, False):
        fields.fail("y_type_", f"is {kind!r:.40}, which does not go with {classes.size} classes")
    fields.a("sparse_input_", bool)


WRAPPERS: dict[str, Callable[[Fields], Any]] = {
    "ColumnTransformer": _column_transformer,
    "FeatureUnion": _feature_union,
    "CalibratedClassifierCV": _calibrated_classifier_cv,
    "_CalibratedClassifier": _calibrated_classifier,
    "_SigmoidCalibration": _sigmoid_calibration,
    "_TemperatureScaling": _temperature_scaling,
    "IsotonicRegression": _isotonic_regression,
    "TransformedTargetRegressor": _transformed_target_regressor,
    "MultiOutputRegressor": _multi_output,
    "MultiOutputClassifier": _multi_output,
    "OneVsRestClassifier": _one_vs_rest,
    "OneVsOneClassifier": _one_vs_one,
    "LabelBinarizer": _label_binarizer,
}

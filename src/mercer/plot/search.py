"""What a grid search found, by the names and values of its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ties import first_largest
from ..types import Array


@dataclass(frozen=True, eq=False)
class Scores:
    """Mean and standard deviation of the scores of each candidate, and what each was given."""

    given: dict[str, list[Any]]
    """For each parameter with several values, the value of each candidate."""
    mean: Array
    std: Array
    label: str

    @property
    def names(self) -> list[str]:
        """The parameters that were varied."""
        return list(self.given)

    @property
    def best(self) -> float:
        """The best mean score."""
        return float(np.nanmax(self.mean))

    @property
    def best_values(self) -> dict[str, Any]:
        """The values of the best candidate."""
        at = first_largest(self.mean)
        return {name: values[at] for name, values in self.given.items()}

    def summary(self) -> str:
        """The best score and where it is."""
        return f"best {self.best:.4g} at " + ", ".join(
            f"{self.short(n)} = {as_text(v)}" for n, v in self.best_values.items()
        )

    def values(self, name: str) -> list[Any]:
        """The values of a parameter, in order."""
        values = list(dict.fromkeys(self.given[name]))
        return sorted(values, key=float) if all(map(is_number, values)) else values

    def short(self, name: str) -> str:
        """The last part of a name: gamma of svc__kernel__gamma."""
        return name.rsplit("__", 1)[-1]

    def choose(self, count: int, wanted: list[str]) -> list[str]:
        """So many of the parameters: those wanted, then those with the most values."""
        found = []
        for name in wanted:
            matches = [known for known in self.names if known == name or self.short(known) == name]
            if not matches:
                raise ValueError(f"The search has no parameter {name!r} with several values, only {self.names}.")
            found.append(matches[0])
        rest = sorted((n for n in self.names if n not in found), key=lambda name: -len(self.values(name)))
        return [*found, *rest][:count]

    def table(self, across: str, up: str) -> Array:
        """The best mean score for each pair of values; a row for each value of `up`."""
        columns, rows = self.values(across), self.values(up)
        out = np.full((len(rows), len(columns)), np.nan)
        for a, b, score in zip(self.given[across], self.given[up], self.mean, strict=True):
            place = rows.index(b), columns.index(a)
            out[place] = np.fmax(out[place], score)
        return out


def scores_of(search: Any) -> Scores:
    """Read a fitted search, or its cv_results_."""
    results = getattr(search, "cv_results_", search)
    if not isinstance(results, dict) or "mean_test_score" not in results or "params" not in results:
        raise TypeError(
            f"A fitted grid search with one score (or its cv_results_) is expected, not {type(search).__name__}."
        )
    params = results["params"]
    names = list(dict.fromkeys(name for one in params for name in one))
    given = {name: [_plain(one.get(name)) for one in params] for name in names}
    varied = {name: values for name, values in given.items() if len(set(values)) > 1}
    mean = np.asarray(results["mean_test_score"], np.float64)
    if not np.isfinite(mean).any():
        raise ValueError("None of the fits of this search has a score: look at its error messages.")
    std = np.asarray(results.get("std_test_score", np.zeros(mean.size)), np.float64)
    scoring = getattr(search, "scoring", None)
    label = f"mean {scoring} in cross-validation" if isinstance(scoring, str) else "mean score in cross-validation"
    return Scores(varied, mean, std, results.get("label", label.replace("_", " ")))


def _plain(value: Any) -> Any:
    """A value that can be compared and hashed: a kernel by its text."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or isinstance(value, int | float | str) else repr(value)


def is_number(value: Any) -> bool:
    """Whether the value has a place on an axis."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_text(value: Any) -> str:
    """The value, short."""
    return f"{value:.4g}" if is_number(value) else str(value)

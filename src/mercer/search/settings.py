"""Settings of a machine that may be the last step of a pipeline."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline


def key_of(settings: dict[str, Any]) -> str:
    """A text that tells settings from others."""
    return repr(sorted((name, repr(value)) for name, value in settings.items()))


def last_step(estimator: Any) -> Any:
    """The machine itself, of a pipeline too."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def prefix_of(estimator: Any) -> str:
    """What stands before the names of the machine's parameters."""
    return f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""

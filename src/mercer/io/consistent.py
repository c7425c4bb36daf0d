"""What must hold of an estimator that comes from a file, one rule for each kind.

Compiled code trusts shapes, indices and counts, so every number that is used as one is compared here with the arrays
that it counts, before anything is computed. A new estimator is one rule.
"""

from __future__ import annotations

from typing import Any

from .consistent_columns import COLUMNS
from .consistent_dropin import DROPIN
from .consistent_machines import MACHINES
from .consistent_steps import STEPS
from .consistent_wrappers import WRAPPERS
from .fields import Fields

RULES = MACHINES | DROPIN | STEPS | COLUMNS | WRAPPERS
"""The rule of each class that a model file may hold."""

_OF_STEPS = ("Pipeline", "FeatureUnion")  # have learned nothing themselves
_CONFIGS = [{"transform": container} for container in ("default", "pandas", "polars")]


def require_consistent(name: str, estimator: Any) -> None:
    """Raise where what an estimator has learned does not belong together, or lacks a part."""
    fields = Fields(name, estimator)
    if fields.state.pop("_sklearn_output_config", _CONFIGS[0]) not in _CONFIGS:
        fields.fail("_sklearn_output_config", "is none that set_output makes")
    if not fields.state and name not in _OF_STEPS:
        return  # not fitted
    if hasattr(estimator, "_check"):
        estimator._check()  # its settings
    RULES[name](fields)

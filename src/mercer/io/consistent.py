"""What must hold of an estimator that comes from a file, one rule for each kind.

Compiled code trusts shapes, indices and counts, so every number that is used as one is compared here with the arrays
that it counts, before anything is computed. A new estimator is one rule.
"""

from __future__ import annotations

from typing import Any

from .consistent_machines import MACHINES
from .consistent_steps import STEPS
from .fields import Fields

RULES = MACHINES | STEPS
"""The rule of each class that a model file may hold."""


def require_consistent(name: str, estimator: Any) -> None:
    """Raise where what an estimator has learned does not belong together, or lacks a part."""
    fields = Fields(name, estimator)
    if not fields.state and name != "Pipeline":
        return  # not fitted
    if hasattr(estimator, "_check"):
        estimator._check()  # its settings
    RULES[name](fields)

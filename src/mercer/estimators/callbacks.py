"""scikit-learn's callbacks (progress bars and the like): told of each round, or of each problem of several.

Older versions of scikit-learn have none; then estimators have no `set_callbacks` either, and fit as they do without.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from ..progress import Watch
from ..solution import Solution, Step
from ..types import Points

__all__ = ["CallbackSupportMixin", "Hooks", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _around
except ModuleNotFoundError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def _around(fit: Any) -> Any:
        """The fit alone; wrapped, because warnings count the frames up to the user's line."""

        @wraps(fit)
        def alone(*args: Any, **more: Any) -> Any:
            return fit(*args, **more)

        return alone


_Fit = TypeVar("_Fit", bound=Callable[..., Any])


def with_callbacks(fit: _Fit) -> _Fit:
    """The fit, of whose beginning and end callbacks are told; type checkers and editors see its own signature."""
    return cast(_Fit, _around(fit))


class Hooks(Watch):
    """Calls the hooks of an estimator's callbacks; to be made within `fit`, under `with_callbacks`, where there are any
    (`_skl_callbacks`): a context takes half a millisecond.
    """

    def __init__(self, estimator: Any, total: int, X: Points, y: Any, sample_weight: Any) -> None:
        self.total = total
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self.data = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
        self.context: Any = estimator._init_callback_context(max_subtasks=total if total > 1 else None)
        self.context.call_on_fit_task_begin(**self.data)

    def round(self, number: int, step: Step) -> bool:
        return self.total == 1 and self._task("round")

    def done(self, number: int, solution: Solution) -> bool:
        return self.total > 1 and self._task("problem")

    def _task(self, name: str) -> bool:
        task = self.context.subcontext(task_name=name).call_on_fit_task_begin(**self.data)
        return bool(task.call_on_fit_task_end(**self.data))

    def close(self) -> None:
        """The end of the fit, with a fitted estimator."""
        self.context.call_on_fit_task_end(**self.data, reconstruction_attributes={})

"""The page in a notebook. Needs anywidget: `pip install 'mercer[widget]'`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anywidget
import numpy as np
import traitlets

from ..types import Array
from .answers import answer
from .bundle import asset, widget
from .state import State, StateError, fitted, of_points, read
from .worked import worked


class Playground(anywidget.AnyWidget):
    """A page where a kernel machine moves, in a notebook: what is dragged there is here, and what is set here is there.

    Parameters
    ----------
    X : array-like of shape (n, 2), default=None
        The points; for machine="svr" and "ridge" one column.
    y : array-like of shape (n,), default=None
        Up to three classes, or the targets.
    settings : settings by name
        machine ("svc", "svr", "oneclass", "ridge", "perceptron"), kernel ("linear", "poly", "rbf", "laplacian", or any
        other as text), C, gamma, degree, coef0, epsilon, nu, alpha (of ridge).

    Attributes
    ----------
    X : ndarray of shape (n, 2)
        The points as they are now; may be set (both at once: `set_points`).
    y : ndarray of shape (n,)
        Their classes or targets; may be set.
    estimator : estimator
        The machine, fitted to them.
    certificate : Certificate
        How good it is.
    state : dict
        Everything, as plain data.
    """

    _esm = widget()
    _css = asset("page.css")
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, X: Any = None, y: Any = None, **settings: Any) -> None:
        self._names: dict[int, Any] = {1: 1, -1: -1, 2: 2}
        self._fitted: tuple[str, Any] | None = None
        given = _settings(settings)
        if X is not None:
            given = {**given, **self._points(X, y, given.get("machine", "svc"))}
        super().__init__(state=read(given).to_plain())
        self.on_msg(self._asked)

    @traitlets.validate("state")
    def _valid(self, proposal: Mapping[str, Any]) -> dict[str, Any]:
        """What comes from the browser is checked like what comes from anywhere."""
        try:
            return read(proposal["value"]).to_plain()
        except StateError as error:
            raise traitlets.TraitError(str(error)) from None

    def _points(self, X: Any, y: Any, machine: str) -> dict[str, Any]:
        rows = np.asarray(X, np.float64)
        if machine in ("svr", "ridge"):
            return {"points": [[float(x), float(t), 1] for x, t in zip(rows.ravel(), np.ravel(y), strict=True)]}
        labels = np.ones(len(rows), int) if y is None else np.asarray(y)
        state = of_points(rows, labels)
        self._names = {int(c): label for c, label in zip(state.labels, labels.tolist(), strict=True)}
        return {"points": state.to_plain()["points"], "view": list(state.view)}

    def _read(self) -> State:
        return read(self.state)

    @property
    def X(self) -> Array:  # noqa: N802 - the name that everybody gives it
        """The points, as the machine sees them."""
        return self._read().X

    @X.setter
    def X(self, X: Any) -> None:  # noqa: N802
        self.set_points(X, self.y)

    @property
    def y(self) -> Array | None:
        """The classes, as they were given, or the targets; None for one-class."""
        state = self._read()
        if state.y is None or state.regression:
            return state.y
        return np.array([self._names.get(int(c), int(c)) for c in state.labels])

    @y.setter
    def y(self, y: Any) -> None:
        self.set_points(self.X, y)

    def set_points(self, X: Any, y: Any = None) -> None:
        """Other points, in one go."""
        self.state = {**self.state, "view": None, **self._points(X, y, self.state["machine"])}

    def set_params(self, **settings: Any) -> None:
        """Other settings: machine, kernel, C, gamma, ..."""
        self.state = {**self.state, **_settings(settings)}

    @property
    def estimator(self) -> Any:
        """The machine, fitted to the points; fitted again only when they or the settings have changed."""
        key = repr({k: v for k, v in self.state.items() if k not in ("view", "step", "method")})
        if self._fitted is None or self._fitted[0] != key:
            self._fitted = key, fitted(self._read())
        return self._fitted[1]

    @property
    def certificate(self) -> Any:
        """What is proved of the estimator."""
        return self.estimator.certificate_

    def _asked(self, _: Any, message: Any, __: Any) -> None:
        """A question of the page: a fit of a kernel as text or of many points, or a worked solution."""
        if not isinstance(message, Mapping):
            return
        try:
            state = read(message.get("state"))
            if message.get("what") == "fit":
                reply: dict[str, Any] = answer(state)
            else:
                solution = worked(state)
                reply = {"html": solution.html, "latex": solution.latex}
        except StateError as error:
            self.send({"number": message.get("number"), "error": str(error)})
        else:
            self.send({"number": message.get("number"), "answer": reply})


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the names of Mercer's estimators; a kernel that the page has not is one as text."""
    settings = dict(given)
    if "alpha" in settings:
        settings["lambda"] = settings.pop("alpha")
    kernel = settings.get("kernel")
    if kernel is not None and str(kernel) not in ("linear", "poly", "rbf", "laplacian", "text"):
        settings |= {"kernel": "text", "text": str(kernel)}
    return settings

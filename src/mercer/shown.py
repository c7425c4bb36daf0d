"""How notebooks show things: tables in HTML, and what scikit-learn's view of an estimator says of its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; every text is escaped."""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    cells = ["".join(f"<td>{escape(text)}</td>" for text in row) for row in rows]
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table><caption>{escape(caption)}</caption><tr>{names}</tr>{body}</table>"


class Described:
    """An estimator whose HTML view shows what its docstring says of each parameter and each attribute.

    scikit-learn's view does so where the names are links to a page; ours lead to the place where they stand.
    """

    def _get_params_html(self, *given: Any, **named: Any) -> Any:
        return _linked(super()._get_params_html(*given, **named))  # type: ignore[misc]

    def _get_fitted_attr_html(self, *given: Any, **named: Any) -> Any:
        return _linked(super()._get_fitted_attr_html(*given, **named))  # type: ignore[misc]


def _linked(described: Any) -> Any:
    described.doc_link = getattr(described, "doc_link", "") or "#"
    return described

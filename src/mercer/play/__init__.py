"""A page where kernel machines move: drag a point, and the boundary and its proof follow.

`mercer play` opens it, `mercer play --export page.html` writes it as one file, `Playground(X, y)` shows it in a
notebook (extra `widget`).
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .widget import Playground

__all__ = ["Playground"]


def __getattr__(name: str) -> Any:
    """The widget is imported when it is asked for: it needs anywidget."""
    if name == "Playground":
        from .widget import Playground

        return Playground
    raise AttributeError(f"module 'mercer.play' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

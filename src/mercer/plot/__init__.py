"""Pictures (needs matplotlib: `pip install 'mercer[plot]'`). Each takes an optional `ax` and returns it."""

from .gram import gram

__all__ = ["gram"]

"""Drawn examples are the same in every run, and a slow machine fails none of them."""

from hypothesis import settings

settings.register_profile("mercer", derandomize=True, deadline=None)
settings.load_profile("mercer")

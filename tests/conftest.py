"""Drawn examples are the same in every run, and a slow machine fails none of them; Ctrl-C works in the tests.

Tests marked with `both_ways` run twice: with the loops of small problems, and with the compiled ones.
"""

import signal

import pytest
from hypothesis import settings

import mercer._core.small

settings.register_profile("mercer", derandomize=True, deadline=None)
settings.load_profile("mercer")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job that a shell started in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=["NumPy", "compiled"])
def both_ways(request, monkeypatch):
    """Small blocks are left to NumPy; here they are compiled too."""
    if request.param == "compiled":
        monkeypatch.setattr(mercer._core.small, "_SMALL", -1)

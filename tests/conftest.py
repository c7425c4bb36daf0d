"""Drawn examples are the same in every run, and a slow machine fails none of them; Ctrl-C works in the tests."""

import signal

from hypothesis import settings

settings.register_profile("mercer", derandomize=True, deadline=None)
settings.load_profile("mercer")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job that a shell started in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

"""Drawn examples are the same in every run, and a slow machine fails none of them; Ctrl-C works in the tests."""

import signal

import pytest
from hypothesis import settings

from mercer._core.core import CHOICE

NEEDS_SPEED = (
    "test_blocks_fit.py::",
    "test_blocks_memory.py::test_rows_of_landmarks[csr",
    "test_certificate_law.py::test_the_law_for_more_points",
    "test_dask.py::",
    "test_docs.py::test_document[docs/tuning.md]",
    "test_estimator_contract.py::test_scikit_learn_contract[Perceptron()",
    "test_small.py::test_large_c_where_steps_of_pairs_would_take_minutes",
    "test_svc.py::TestAgreesWithScikitLearn::test_many_points_in_single_precision",
    "test_walk.py::",
)
"""Tests that take minutes on the reference core: thousands of points, or thousands of passes over them."""

NATIVE_BYTES = ("test_linear_svc.py::test_points_are_not_copied",)
"""Tests of bounds on memory that only the native core keeps: the reference holds temporaries of all points."""

settings.register_profile("mercer", derandomize=True, deadline=None)
settings.load_profile("mercer")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job that a shell started in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the native core's speed; skip what needs its thrift where it is not there."""
    reference = CHOICE.core == "reference"
    for item in items:
        if reference and any(name in item.nodeid for name in NATIVE_BYTES):
            item.add_marker(pytest.mark.skip(reason="the reference takes more memory than is allowed here"))
        if any(name in item.nodeid for name in NEEDS_SPEED):
            item.add_marker("speed")

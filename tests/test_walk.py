"""How far a reader of one fit has to go: files and functions entered, and from file to file in a round."""

import pytest

from .walk import ridge_walk, walk

FILES, FUNCTIONS, CHANGES = 51, 365, 20
RIDGE_FILES, RIDGE_FUNCTIONS = 52, 291


@pytest.mark.parametrize("classes", [2, 10])
def test_the_walk_of_a_fit(classes):
    found = walk(classes)
    assert len(found.files) <= FILES
    assert len(found.functions) <= FUNCTIONS
    assert found.changes <= CHANGES


def test_the_walk_of_ridge_regression():
    found = ridge_walk()
    assert len(found.files) <= RIDGE_FILES
    assert len(found.functions) <= RIDGE_FUNCTIONS

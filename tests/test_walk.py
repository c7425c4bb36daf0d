"""How far a reader of one fit has to go: files and functions entered, and from file to file in a round."""

import pytest

from .walk import ridge_walk, walk

CHANGES = 20


@pytest.mark.parametrize(("classes", "files", "functions"), [(2, 28, 191), (10, 33, 229)])
def test_the_walk_of_a_fit(classes, files, functions):
    found = walk(classes)
    assert len(found.files) <= files
    assert len(found.functions) <= functions
    assert found.changes <= CHANGES


def test_the_walk_of_ridge_regression():
    found = ridge_walk()
    assert len(found.files) <= 26
    assert len(found.functions) <= 139

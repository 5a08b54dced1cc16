"""The example that leads through the claims reader says what the reader does."""

import doctest

import sandbox_grader.claims


def test_the_example_of_the_package_is_true():
    failed, tried = doctest.testmod(sandbox_grader.claims)
    assert tried >= 6
    assert failed == 0

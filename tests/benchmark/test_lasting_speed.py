"""The measurement of implicit steps at both levels over explicit ones: its bodies are pressed."""

import itertools
import math

import numpy as np
import pytest

from dolfinx_impact.benchmark.speed import lasting


@pytest.mark.parametrize("count", [1, pytest.param(5, marks=pytest.mark.nightly)])
def test_bodies_are_pressed_and_compared(count):
    """Both kinds of steps of the first bodies have closed points; the numbers are those of the table."""
    for turns in itertools.islice(lasting.bodies([], cells=3), count):
        seconds = {}
        for row, action in turns.actions.items():
            action.call()
            seconds[row] = np.ones(1)
            scheme = getattr(action.call, "__self__", None)
            assert scheme is None or scheme.r.max() > 0
        named = {number.name: number.value for number in turns.numbers(seconds)}
        assert all(math.isfinite(value) and value > 0 for value in named.values()) and len(named) == 4

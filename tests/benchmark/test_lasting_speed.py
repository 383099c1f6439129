"""The measurement of implicit steps at both levels over explicit ones: its bodies are pressed."""

import math

import numpy as np
import pytest

from dolfinx_impact.benchmark.speed import lasting


@pytest.mark.slow
def test_bodies_are_pressed_and_compared():
    """Both kinds of steps of every body have closed points; the numbers are those of the table."""
    for turns in lasting.bodies([], cells=3):
        seconds = {}
        for row, action in turns.actions.items():
            action.call()
            seconds[row] = np.ones(1)
            scheme = getattr(action.call, "__self__", None)
            assert scheme is None or scheme.r.max() > 0
        named = {number.name: number.value for number in turns.numbers(seconds)}
        assert all(math.isfinite(value) and value > 0 for value in named.values()) and len(named) == 4

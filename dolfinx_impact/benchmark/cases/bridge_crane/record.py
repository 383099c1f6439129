"""The vertical ground acceleration of the bridge crane: Fekak et al. (2017) print no accelerogram.

Kanai and Tajimi's spectrum with Clough and Penzien's high pass; 1.1 s are in ``meshes/crane-record.csv``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....signals import Signal

DT, SAMPLES = 1e-3, 4002
PEAK = 3.0  # m/s2, over the whole table
RISE = 0.5  # s
GROUND, HIGH_PASS, DAMPING = 6.0, 1.0, 0.6  # Hz, Hz, -
_MODE = np.arange(1, 79)
FREQUENCIES = 0.5 + 0.25 * _MODE  # Hz
# The golden ratio times the squares: spread evenly over the circle, without order.
PHASES = 2 * np.pi * np.mod(0.6180339887498949 * _MODE**2, 1.0)  # rad


def spectrum(f: NDArray) -> NDArray:
    """Power at the frequencies ``f`` [Hz], without a scale: soft ground times high pass, same shape."""
    ground, high_pass = (f / GROUND) ** 2, (f / HIGH_PASS) ** 2
    kanai_tajimi = (1 + 4 * DAMPING**2 * ground) / ((1 - ground) ** 2 + 4 * DAMPING**2 * ground)
    clough_penzien = high_pass**2 / ((1 - high_pass) ** 2 + 4 * DAMPING**2 * high_pass)
    return kanai_tajimi * clough_penzien


def record() -> Signal:
    """The acceleration [m/s2], positive upwards: 4002 samples, 1 ms apart, 3 m/s2 at the largest.

    A sum of 78 cosines with amplitudes ``sqrt(S_k)`` under an envelope that rises to one in 0.5 s.
    """
    t = DT * np.arange(SAMPLES)
    waves = np.sqrt(spectrum(FREQUENCIES)) * np.cos(2 * np.pi * np.outer(t, FREQUENCIES) + PHASES)
    shaped = np.minimum(1.0, t / RISE) * waves.sum(axis=1)
    return Signal(DT, PEAK / np.abs(shaped).max() * shaped, unit="m/s2", name="crane")

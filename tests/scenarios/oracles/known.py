"""Masses, weights and columns of blocks from their lengths alone, in the base frame."""

from __future__ import annotations

import math

import numpy as np

from .. import program
from ..compose import Scenario


def area(s: Scenario, i: int) -> float:
    """Of the horizontal section of a block [m2]."""
    width = s.blocks[i].width
    if s.hypothesis == "axisymmetric":
        return math.pi * width**2
    return width if s.gdim == 2 else width**2


def mass(s: Scenario, i: int) -> float:
    """Of a block, without that of mass scaling [kg]."""
    b = s.blocks[i]
    if s.floor == "corner" and i == 0:
        wall = 0.3 * 0.6
        return program.RHO * b.density * (2.4 * 0.3 + wall)
    return program.RHO * b.density * b.height * area(s, i)


def volume(s: Scenario, i: int) -> float:
    """Of a block [m3]."""
    return mass(s, i) / (program.RHO * s.blocks[i].density)


def loads(s: Scenario, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Constant forces on a block, its weight with them, and amplitudes of those with the signal [N]."""
    steady, waving = np.zeros((2, s.gdim))
    other = waving if s.wave else steady
    other[-1] -= s.push * volume(s, i)
    other[0] += program.lean(s) * s.push * volume(s, i)
    if s.traction and i == len(s.blocks) - 1:
        other[-1] += s.traction * area(s, i)
    steady[-1] -= s.gravity * mass(s, i)
    return steady, waving


def weight(s: Scenario) -> float:
    """Of all movable blocks, with constant loads [N]."""
    return -float(sum(loads(s, i)[0][-1] for i in s.movable))


def settled(s: Scenario) -> float:
    """Displacement of the top of a column of one width on a rigid floor, nu = 0, small strains [m]."""
    above, down = -s.traction * area(s, len(s.blocks) - 1), 0.0
    for i in reversed(s.movable):
        b, own = s.blocks[i], s.gravity * mass(s, i) + s.push * volume(s, i)
        down += (above + 0.5 * own) * b.height / (program.E * b.modulus * area(s, i))
        above += own
    return -down


def rotation(x: np.ndarray, u: np.ndarray, m: np.ndarray) -> float:
    """Mean rotation of nodes in the plane of the first and last direction [rad]."""
    x, u = x[:, [0, -1]], u[:, [0, -1]]
    a = x - np.average(x, axis=0, weights=m)
    b = x + u - np.average(x + u, axis=0, weights=m)
    return math.atan2(float(m @ (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])), float(m @ np.sum(a * b, axis=1)))

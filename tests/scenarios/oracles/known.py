"""Masses, weights and columns of blocks from their lengths alone, in the base frame."""

from __future__ import annotations

import math

import numpy as np

from .. import program
from ..compose import Scenario
from ..kinds import SIMPLICES


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


def passes_pressure(s: Scenario) -> bool:
    """Whether the joints of a column pass a uniform pressure on: those of triangles match, node by node.

    Facets of P2 and P3 triangles and tetrahedra are divided into linear ones, whose nodal forces under a
    uniform pressure are not those of the element; the page on surfaces says so.
    """
    return len({b.across for b in s.blocks}) == 1 or s.cell not in SIMPLICES


def dragged(s: Scenario) -> bool:
    """Whether a floor that moves drags what stands on it by its friction, below the middle: it is tilted."""
    return s.friction > 0 and s.drive != 0


def leaning(s: Scenario) -> float:
    """Rotation of the top of a column of triangles or tetrahedra by the moment of its nodal weights [rad].

    A cell with one diagonal gives a third of its weight to the ends of the diagonal and a sixth to the other
    nodes: within a row of cells the upper nodes carry ``rho g b hx hy / 12`` about the middle, the lower ones
    the opposite, so that a bar of the section b^3 / 12 is bent by ``rho g hx hy / (E b^2)``.
    """
    if s.cell not in ("triangle", "tetrahedron"):
        return 0.0
    bent = 0.0
    for i, b in enumerate(s.blocks):
        weight = s.gravity * mass(s, i) / volume(s, i) + s.push
        cell = b.width / b.across * b.height / b.up
        bent += weight * cell / (program.E * b.modulus * b.width**2) * b.height
    return bent


def rotation(x: np.ndarray, u: np.ndarray, m: np.ndarray) -> float:
    """Mean rotation of nodes in the plane of the first and last direction [rad]."""
    x, u = x[:, [0, -1]], u[:, [0, -1]]
    a = x - np.average(x, axis=0, weights=m)
    b = x + u - np.average(x + u, axis=0, weights=m)
    return math.atan2(float(m @ (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])), float(m @ np.sum(a * b, axis=1)))

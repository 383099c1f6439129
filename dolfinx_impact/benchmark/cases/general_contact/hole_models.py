"""A sphere of hexahedra above a square opening in a frame that is held."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from numpy.typing import NDArray

from .... import NeoHookean, Solid, mesh
from ...boxes import create
from ...case import Values

#: Length of the sides of the frame's section over the opening.
FRAME = 0.4
#: Half of the cube in the middle of the sphere over the radius.
CUBE = 0.45
#: Height of the sphere's centre above where it would rest, or fall through, over the radius, at the start.
ABOVE = 2e-3
#: Damping over the frequency of a fall through a radius.
DAMPING = 3.0


def _stack(at: NDArray, levels: NDArray, axis: int, sign: float) -> tuple[NDArray, NDArray]:
    """Points, shape (layers + 1, n + 1, n + 1, 3), and cells of the stack on a face of the unit cube."""
    s, t = np.meshgrid(at, at, indexing="ij")
    face = np.stack([np.ones_like(s), s, sign * t], axis=-1) * [sign, 1.0, 1.0]
    face = np.roll(face, axis, axis=-1)
    sphere = face / np.linalg.norm(face, axis=-1, keepdims=True)
    points = levels[:, None, None, None] * sphere + (1 - levels)[:, None, None, None] * CUBE * face
    return points, _grid(points.shape[:3])


def _grid(shape: tuple[int, ...]) -> NDArray:
    """Cells of a grid of nodes, in the order of DOLFINx, shape (n, 8)."""
    i = np.arange(math.prod(shape)).reshape(shape)
    ends = slice(None, -1), slice(1, None)
    return np.stack([i[a, b, c].ravel() for c, b, a in itertools.product(ends, repeat=3)], axis=1)


def ball(cells: int) -> tuple[NDArray, NDArray]:
    """The unit ball: a cube, ``cells`` along its edge, and stacks of cells from its faces to the sphere.

    Returns:
        Points, shape (n, 3), and hexahedra in the order of DOLFINx, shape (m, 8).
    """
    at = np.tan(np.linspace(-math.pi / 4, math.pi / 4, cells + 1))
    cube = CUBE * np.stack(np.meshgrid(at, at, at, indexing="ij"), axis=-1)
    parts = [(cube, _grid(cube.shape[:3]))]
    levels = np.linspace(0.0, 1.0, max(2, round(cells * (1 - CUBE) / 1.5)) + 1)
    parts += [_stack(at, levels, axis, sign) for axis in range(3) for sign in (1.0, -1.0)]
    sizes = [points.size // 3 for points, _ in parts]
    before = np.cumsum([0, *sizes])
    every = np.concatenate([points.reshape(-1, 3) for points, _ in parts])
    _, first, same = np.unique(np.round(every, 9), axis=0, return_index=True, return_inverse=True)
    cells_ = np.concatenate([numbers + start for (_, numbers), start in zip(parts, before)])
    return every[first], same.ravel()[cells_]


def start_height(p: Values) -> float:
    """Height of the centre above the edges at the start [m]: near rest, or at the edges' plane."""
    R = p["radius"]
    rest = math.sqrt(max(R**2 - p["opening"] ** 2 / 4, 0.0))
    return float(rest + ABOVE * R)


def _frame(p: Values) -> dmesh.Mesh:
    """Four bars with mitred ends; each has a kite as its section, whose tip is an edge of the opening.

    The tip points against the force of a sphere that rests on it. Collective.
    """
    lean = math.asin(min(1.0, p["opening"] / (2 * p["radius"])))
    half, size = math.radians(p["wedge"]) / 2, FRAME * p["opening"]
    angles, sizes = lean + half * np.array([0.0, -1.0, 1.0, 0.0]), size * np.array([0.0, 1.0, 1.0, 1.5])
    out, up = sizes * np.sin(angles), -sizes * np.cos(angles)
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    points = np.empty((4, 4, 3))
    points[..., :2] = corners[:, None] * (p["opening"] / 2 + out)[None, :, None]
    points[..., 2] = up
    sides = np.arange(4)
    ends = np.stack([sides, (sides + 1) % 4], axis=1)
    cells = (4 * ends[:, None, :] + np.arange(4)[None, :, None]).reshape(4, 8)
    return create(points.reshape(-1, 3), cells, "hexahedron")


def make_bodies(p: Values) -> Solid:
    """Sphere and frame; the frame is held. Collective."""
    points, cells = ball(p["cells"])
    centre = np.array([0.0, 0.0, start_height(p)])
    sphere = create(p["radius"] * points + centre, cells, "hexahedron")
    parts: dict[str, Any] = {"sphere": sphere, "frame": _frame(p)}
    return Solid(
        mesh.join(parts),
        density=p["rho"],
        law=NeoHookean(p["E"], p["nu"]),
        gravity=(0.0, 0.0, -p["gravity"]),
        fixed=["frame/boundary"],
        damping=DAMPING * math.sqrt(p["gravity"] / p["radius"]),
    )

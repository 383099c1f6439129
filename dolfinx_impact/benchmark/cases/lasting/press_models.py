"""Peg, rigid wall and elastic slot of the press fit, and how deep points are inside, by a test of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from dolfinx import fem, la
from mpi4py import MPI
from numpy.typing import NDArray

from .... import NamedMesh, Solid, StVenantKirchhoff, mesh
from ....contact.obstacles import Shape
from ...boxes import box
from ...case import Values

#: Half of the width and the height of the peg, its speed [m, m/s].
HALF, HEIGHT, SPEED = 10e-3, 30e-3, 0.75
#: Height of the peg's lower end above the place where the rigid wall is straight, at the start [m].
ABOVE = 4e-3
#: The wall opens in a parabola of this height to this slope.
ROUND, SLOPE = 2e-3, 0.1
#: The lowest part of the peg is tapered in front of the slot: height, part of the width at its end.
TAPER, NARROW = 5e-3, 0.08
#: The jaws of the slot: their outer sides, lower and upper ends [m].
OUTER, LOW, HIGH = 30e-3, -30e-3, -0.01e-3
PEG, SIDES = "peg", {"left": -1.0, "right": 1.0}
JAWS = tuple(SIDES)


def jaw_cells(p: Values) -> tuple[int, int]:
    """Cells of a jaw across and along: 6 x 10 beside a peg of 8 x 12."""
    return max(2, round(6 * p["columns"] / 4)), max(2, round(10 * p["rows"] / 12))


def half_peg(p: Values) -> Solid:
    """The half of the peg right of its axis, driven at its top. Collective."""
    top = ABOVE + HEIGHT
    named = mesh.named(
        box([[0.0, ABOVE], [HALF, top]], [p["columns"], p["rows"]]),
        side=lambda x: np.isclose(x[0], HALF),
        axis=lambda x: np.isclose(x[0], 0.0),
        top=lambda x: np.isclose(x[1], top),
    )
    return _solid(named, p, "top", {"axis": (0,)})


def peg_and_slot(p: Values) -> Solid:
    """The peg, its lower end tapered, above the two jaws of the slot. Collective."""
    peg = box([[-HALF, 0.0], [HALF, HEIGHT]], [2 * p["columns"], p["rows"]])
    x = peg.mesh.geometry.x
    x[:, 0] *= 1 - NARROW * np.maximum(1 - x[:, 1] / TAPER, 0.0)
    parts: dict[str, Any] = {PEG: mesh.named(peg, top=lambda x: np.isclose(x[1], HEIGHT))}
    inner, fixed = HALF - p["interference"], dict[str, tuple[int, ...]]()
    for name, sign in SIDES.items():
        low, high = sorted((sign * inner, sign * OUTER))
        jaw = box([[low, LOW], [high, HIGH]], jaw_cells(p))
        parts[name] = mesh.named(jaw, outer=lambda x: np.isclose(np.abs(x[0]), OUTER))
        fixed[f"{name}/outer"] = (0, 1)
    return _solid(mesh.join(parts), p, f"{PEG}/top", fixed)


def _solid(named: NamedMesh, p: Values, top: str, fixed: dict[str, tuple[int, ...]]) -> Solid:
    law: Any = StVenantKirchhoff(p["E"], p["nu"])
    driven = {top: {1: lambda t: -SPEED * t}}
    return Solid(named, density=p["rho"], law=law, fixed={top: (0,), **fixed}, prescribed=driven)


class Opening(Shape):
    """A rigid wall, ``x = place`` for y < 0, that opens above: a parabola, then a straight line.

    Args:
        place: Where it is straight [m].
    """

    flat = False
    _name = "wall that opens"

    def __init__(self, place: float) -> None:
        self.place = place
        super().__init__(2)

    def width(self, y: NDArray) -> NDArray:
        """The x of the wall at the heights, shape (p,) [m]."""
        curved: NDArray = np.clip(y, 0.0, ROUND)
        found: NDArray = self.place + SLOPE * (0.5 * curved**2 / ROUND + np.maximum(y - ROUND, 0.0))
        return found

    def slope(self, y: NDArray) -> NDArray:
        """Its derivative, shape (p,)."""
        found: NDArray = SLOPE * np.clip(y, 0.0, ROUND) / ROUND
        return found

    def gap(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Signed distances, shape (p,) [m]."""
        y, normal = self._nearest(x)
        found: NDArray = (x[:, 0] - self.width(y)) * normal[:, 0] + (x[:, 1] - y) * normal[:, 1]
        return found

    def normal(self, x: NDArray, t: float = 0.0) -> NDArray:
        """Unit vectors from the wall to the peg, shape (p, 2)."""
        return self._nearest(x)[1]

    def _nearest(self, x: NDArray) -> tuple[NDArray, NDArray]:
        """Heights of the nearest points of the wall, by Newton's iteration, and the normals there."""
        y = x[:, 1].copy()
        for _ in range(30):
            slope, out = self.slope(y), x[:, 0] - self.width(y)
            bend = np.where((y >= 0.0) & (y < ROUND), SLOPE / ROUND, 0.0)
            change = (y - x[:, 1] - out * slope) / np.maximum(1 + slope**2 - out * bend, 0.5)
            y -= change
            if not np.abs(change).max(initial=0.0) > 1e-17:
                break
        slope = self.slope(y)
        return y, np.column_stack([-np.ones_like(slope), slope]) / np.hypot(1.0, slope)[:, None]


class InWall:
    """Depth of the side of the half peg behind the wall, along x, where it is largest.

    Args:
        body: The half peg.
        wall: The wall.
    """

    def __init__(self, body: Solid, wall: Opening) -> None:
        self._body, self._wall, self._side = body, wall, body.nodes("side")

    def __call__(self, u: NDArray) -> float:
        """The largest depth at displacements ``u`` [m], 0 for none. Collective."""
        x = (self._body.x[:, :2] + u.reshape(-1, 2))[self._side]
        here = float((x[:, 0] - self._wall.width(x[:, 1])).max(initial=0.0))
        return float(self._body.comm.allreduce(here, op=MPI.MAX))


class InForeignCells:
    """Depth of nodes of peg and jaws in deformed cells of each other: their distance to its outline.

    Args:
        body: Peg and jaws.
    """

    def __init__(self, body: Solid) -> None:
        self._body, owned = body, body.mesh.topology.index_map(2).size_local
        self._u = la.vector(body.space.dofmap.index_map, 2)
        cells = np.asarray(body.space.dofmap.list)
        self._cells, self._edges, self._nodes = {}, {}, {}
        for part in (PEG, *JAWS):
            mine = body.named.cells(part)
            self._cells[part] = cells[mine[mine < owned]][:, [0, 1, 3, 2]]
            facets = body.named.facets(f"{part}/boundary")
            each = (facets[k : k + 1] for k in range(facets.size))
            ends = [fem.locate_dofs_topological(body.space, 1, facet, False) for facet in each]
            self._edges[part] = np.array(ends, dtype=np.intp).reshape(-1, 2)
            self._nodes[part] = body.nodes(f"{part}/boundary")

    def __call__(self, u: NDArray) -> float:
        """The largest depth at displacements ``u`` [m], 0 for none. Collective."""
        self._u.array[:] = u
        self._u.scatter_forward()
        x, comm = self._body.x[:, :2] + self._u.array.reshape(-1, 2), self._body.comm
        at = {part: np.concatenate(comm.allgather(x[nodes])) for part, nodes in self._nodes.items()}
        depth = 0.0
        for part, others in ((PEG, JAWS), *((jaw, (PEG,)) for jaw in JAWS)):
            points = np.concatenate([at[other] for other in others])
            inside = comm.allreduce(_inside(x[self._cells[part]], points).astype(np.int32), op=MPI.SUM) > 0
            distance = _distance(x[self._edges[part]], points)
            comm.Allreduce(MPI.IN_PLACE, distance, op=MPI.MIN)
            depth = max(depth, float(distance[inside].max(initial=0.0)))
        return depth


def _inside(cells: NDArray, points: NDArray) -> NDArray:
    """Whether points, shape (p, 2), are in one of the cells, corners in turn, shape (n, 4, 2)."""
    edge, arm = np.roll(cells, -1, axis=1) - cells, points[:, None, None] - cells
    turns = edge[..., 0] * arm[..., 1] - edge[..., 1] * arm[..., 0]
    found: NDArray = ((turns >= 0).all(axis=2) | (turns <= 0).all(axis=2)).any(axis=1)
    return found


def _distance(edges: NDArray, points: NDArray) -> NDArray:
    """Distances of points, shape (p, 2), to the nearest of the edges, shape (n, 2, 2) [m]."""
    first, along = edges[:, 0], edges[:, 1] - edges[:, 0]
    arm = points[:, None] - first
    part = np.clip((arm * along).sum(axis=2) / (along**2).sum(axis=1), 0.0, 1.0)
    found: NDArray = np.linalg.norm(arm - part[..., None] * along, axis=2).min(axis=1, initial=np.inf)
    return found

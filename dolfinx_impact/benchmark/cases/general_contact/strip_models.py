"""Strip and plates of the folded strip, the way of the plates, and the strip's measured bending stiffness."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .... import (
    MovingObstacle,
    Plane,
    RigidContact,
    Solid,
    SparseRows,
    Static,
    StVenantKirchhoff,
    mesh,
    parallel,
)
from ...boxes import box
from ...case import Values

#: Length of the strip over the first distance of the middle lines; 2.19 of it are free.
LENGTH = 3.0
#: Length of a cell over the thickness, about.
ASPECT = 1.25
#: First frequency of bending of the free arc: ``FREQUENCY sqrt(B/rho t)/arc^2``.
FREQUENCY = 20.0
#: Least distance of the plates over the thickness, and largest one over the least.
LEAST, MOST = 10.0, 1.5
#: Deflection of the cantilever over its length.
SMALL = 1e-6
DENSITY = 7850.0  #: Of the strip [kg/m3]; it rests when forces are taken.


def distances(p: Values) -> list[float]:
    """Distances of the plates in their order [m]."""
    try:
        found = [float(word) for word in str(p["gaps"]).split(",")]
    except ValueError:
        raise ValueError(f"gaps must be numbers with commas between them, not {p['gaps']!r}") from None
    return found


def stiffness(p: Values) -> float:
    """Bending stiffness of the strip as a plate, ``E w t^3/12 (1 - nu^2)`` [N m2]."""
    return float(p["E"] / (1 - p["nu"] ** 2) * p["thickness"] ** 3 / 12 * p["width"])


def period(p: Values, distance: float) -> float:
    """First period of bending of the free arc between plates of a distance [s]."""
    arc = 2.2 * (distance - p["thickness"])
    mass = DENSITY * p["thickness"] * p["width"]
    return 2 * math.pi * arc**2 / (FREQUENCY * math.sqrt(stiffness(p) / mass))


def half_length(p: Values) -> float:
    """Half of the length of the strip [m]."""
    return float(LENGTH / 2 * (distances(p)[0] - p["thickness"]))


def strip_mesh(p: Values) -> mesh.NamedMesh:
    """The strip, flat, with its ends and the side that is outside of the fold by name. Collective."""
    t, half = p["thickness"], half_length(p)
    along = 2 * math.ceil(half / (ASPECT * t))
    return mesh.named(
        box([[-half, -t / 2], [half, t / 2]], [along, p["cells"]]),
        left=lambda x: np.isclose(x[0], -half),
        right=lambda x: np.isclose(x[0], half),
        outside=lambda x: np.isclose(x[1], -t / 2),
    )


def _solid(p: Values, **more: object) -> Solid:
    law = StVenantKirchhoff(p["E"], p["nu"])
    options: dict = {"density": DENSITY, "law": law, "degree": 2, "cross_section": p["width"], **more}
    return Solid(strip_mesh(p), **options)


def make_strip(p: Values) -> Solid:
    """The strip, free, damped by its mass as its first mode in bending is critically. Collective."""
    return _solid(p, damping=4 * math.pi / period(p, distances(p)[0]))


def folded(body: Solid, p: Values) -> NDArray:
    """Displacements from flat to half a circle and two straight legs on the plates, shape (size,) [m].

    It is no equilibrium: the force of the plates would be twice the right one, with moments at the legs.
    """
    radius = (distances(p)[0] - p["thickness"]) / 2
    s, depth = body.x[:, 0], body.x[:, 1]
    angle = np.clip(s / radius, -math.pi / 2, math.pi / 2)
    legs = np.maximum(np.abs(s) - math.pi / 2 * radius, 0.0)
    x = (radius - depth) * np.cos(angle) - legs
    y = (radius - depth) * np.sin(angle)
    return np.column_stack([x - s, y - depth]).ravel()


def middle(body: Solid) -> SparseRows:
    """Displacements along x and y of the nodes of the middle line, from one end to the other. Collective."""
    nodes = np.flatnonzero(np.abs(body.x[: body.owned // 2, 1]) < 1e-9 * body.length)
    dofs = (2 * nodes[:, None] + np.arange(2)).reshape(-1, 1)
    order = np.column_stack([np.repeat(body.x[nodes, 0], 2), np.tile([0.0, 1.0], nodes.size)])
    return SparseRows(dofs, np.ones(dofs.shape), order, ["ux", "uy"] * nodes.size)


class Schedule:
    """Distance of the plates over time: it stays at each value for a time, and changes in one between.

    Args:
        distances: The values [m].
        stay, change: These times [s].
    """

    def __init__(self, distances: Sequence[float], stay: float, change: float) -> None:
        #: Ends of the times in which the plates stay, shape (n,) [s].
        self.ends = stay + (stay + change) * np.arange(len(distances))
        self.begins = self.ends - stay
        self._t = np.column_stack([self.begins, self.ends]).ravel()
        self._d = np.repeat(np.asarray(distances), 2)

    def __call__(self, t: float) -> float:
        """Distance at a time [m]."""
        return float(np.interp(t, self._t, self._d))


def schedule(p: Values, stay: float, change: float) -> Schedule:
    """The way of the plates; ``stay`` and ``change`` in first periods."""
    found = distances(p)
    return Schedule(found, *(part * period(p, found[0]) for part in (stay, change)))


def plates(body: Solid, p: Values, way: Schedule) -> list[RigidContact]:
    """Contact of the outside with the lower and the upper plate, which move alike. Collective."""
    start, found = distances(p)[0] / 2, []
    for up in (1.0, -1.0):
        plane = Plane((0.0, -up * start), (0.0, up))
        moving = MovingObstacle(
            plane, translation=((0.0, up), lambda t: start - way(t) / 2), time_scale=float(way.ends[0])
        )
        found.append(RigidContact(body, "outside", moving, gap_tolerance=p["gap_tolerance"]))
    return found


def measured_stiffness(p: Values) -> float:
    """Bending stiffness of the strip of this mesh as a cantilever, ``F l^3/3d`` [N m2]. Collective."""
    t, length = p["thickness"], 2 * half_length(p)
    pressure = SMALL * 3 * stiffness(p) / length**2 / (t * p["width"])
    body = _solid(p, fixed=["left"], traction={"right": (0.0, pressure)})
    static = Static(body, 1.0)
    static.start(0.0, 0.0)
    static.step()
    ends = body.nodes("right")
    deflection = parallel.largest(body.comm, static.u[2 * ends + 1])
    return float(pressure * t * p["width"] * length**3 / (3 * deflection))

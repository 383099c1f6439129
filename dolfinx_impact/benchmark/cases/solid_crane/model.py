"""Parts, bodies and contact of the solid crane: the frame of ``bridge-crane`` with equivalent solids.

A box beam is a full rectangle of its height with the width that gives both bending stiffnesses the same
ratio. Its Young's modulus gives them their values, its Poisson's ratio the torsional stiffness its value, its
density the mass of the part. Wheels and rails, short pieces of it below the wheels, are of steel.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .... import LinearElastic, NamedMesh, NodePairs, Section, Solid, SparseRows, named
from ....systems.loads import Signal
from ...boxes import Brick, BrickGrid, Interval, bricks_mesh
from ...case import Values, vertical
from ..bridge_crane import model as frame

SPAN, OFFSET, REACH = 11.0, 1.2, 2.4  #: Half lengths: girders along x, their distance, end-carriages [m].
HEIGHTS = {"girders": 1.2, "end-carriages": 0.5, "trolley": 0.4}  #: Of the boxes [m].
TREAD, RAIL, WHEEL = 0.15, 0.1, 0.1  #: Side of the square treads; heights of rails and wheels [m].
CLEARANCE = 1e-3  #: Distance at which the treads are drawn [m]: gaps are given, so that it has no effect.
PARTS = ("girders", "end-carriages", "rails", "trolley", "wheels")
EXPLICIT = ("rails", "wheels")
CENTRES = [(x, y) for x in (-1.0, 1.0) for y in (-OFFSET, OFFSET)]  #: Wheels 1 to 4 from the middle [m].


@dataclass(frozen=True)
class Beam:
    """A full rectangle in the place of a box."""

    width: float  #: [m]
    height: float  #: [m]
    E: float  #: Young's modulus [Pa]
    nu: float  #: Poisson's ratio.


#: Larger ones are left: so little compressible a solid would not be stiff in torsion alone.
_LARGEST = 0.47


def equivalent(section: Section, height: float) -> Beam:
    """The rectangle with the stiffnesses of a steel section of this height [m].

    Its torsional stiffness is larger where that would take nearly incompressible material: the trolley's, by
    15 %, with the Poisson's ratio of steel.
    """
    width = height * math.sqrt(section.Iz / section.Iy)
    rectangle, steel = Section.rectangle(width, height), frame.STEEL["nu"]
    softer = section.Iy / rectangle.Iy
    nu = (1 + steel) * softer * rectangle.J / section.J - 1
    return Beam(width, height, softer * frame.STEEL["E"], nu if nu <= _LARGEST else steel)


BEAMS = {name: equivalent(frame.SECTIONS[name], height) for name, height in HEIGHTS.items()}


def crane_mesh(p: Values, comm: MPI.Comm) -> NamedMesh:
    """The mesh, its cells named as in :data:`PARTS`; facets ``crane wheels``, and ``treads`` of both kinds.

    Bridge and trolley are grids of their own; their treads lie one above the other, node by node. Collective.

    Args:
        p: ``trolley``, position of its middle [m]; ``treads``, elements along a tread; ``layers``, those over
            the height of a rail and of a wheel; ``coarse``, largest size of the other elements [m].
        comm: Communicator.
    """
    top = HEIGHTS["girders"] / 2 + RAIL
    facets: dict[str, Any] = {
        "crane wheels": lambda x: np.abs(np.abs(x[1]) - REACH) < 1e-6,
        "rail treads": lambda x: np.abs(x[2] - top) < 1e-6,
        "wheel treads": lambda x: np.abs(x[2] - top - CLEARANCE) < 1e-6,
    }
    return named(bricks_mesh([_bridge(p), _trolley(p)], PARTS, comm), **facets)


def divided(edges: Sequence[float], largest: float, fine: Sequence[Interval] = (), parts: int = 1) -> NDArray:
    """Planes of a grid: the edges, and between them elements of at most the ``largest`` size [m].

    Args:
        edges: Coordinates that must be planes [m].
        fine: Intervals between edges that have a given number of ``parts`` instead.
    """
    ends = np.sort([*edges, *(end for interval in fine for end in interval)])
    ends = ends[np.append(True, np.diff(ends) > 1e-9)]
    planes = [ends[:1]]
    for a, b in zip(ends[:-1], ends[1:]):
        inside = any(low < (a + b) / 2 < high for low, high in fine)
        count = parts if inside else int(np.ceil((b - a) / largest - 1e-9))
        planes.append(np.linspace(a, b, count + 1)[1:])
    return np.concatenate(planes)


def _around(middle: float, width: float) -> Interval:
    return middle - width / 2, middle + width / 2


def _treads(p: Values) -> tuple[list[Interval], list[Interval]]:
    """Extents of the treads along x and along y [m]."""
    along = [_around(p["trolley"] + x, TREAD) for x in (-1.0, 1.0)]
    return along, [_around(y, TREAD) for y in (-OFFSET, OFFSET)]


def _bridge(p: Values) -> BrickGrid:
    girder, carriage = BEAMS["girders"], BEAMS["end-carriages"]
    along, across = _treads(p)
    ends = [_around(sign * (SPAN + carriage.width / 4), carriage.width) for sign in (-1, 1)]
    sides = [_around(y, girder.width) for y in (-OFFSET, OFFSET)]
    top, half = girder.height / 2, carriage.height / 2
    x = divided([*itertools.chain(*ends)], p["coarse"], along, p["treads"])
    y = divided([-REACH, REACH, *itertools.chain(*sides)], p["coarse"], across, p["treads"])
    z = divided([-top, -half, half, top], p["coarse"], [(top, top + RAIL)], p["layers"])
    bricks = [Brick("end-carriages", end, (-REACH, REACH), (-half, half)) for end in ends]
    bricks += [Brick("girders", (ends[0][1], ends[1][0]), side, (-top, top)) for side in sides]
    bricks += [Brick("rails", *each, (top, top + RAIL)) for each in itertools.product(along, across)]
    return BrickGrid((x, y, z), bricks)


def _trolley(p: Values) -> BrickGrid:
    beam, (along, across) = BEAMS["trolley"], _treads(p)
    low = HEIGHTS["girders"] / 2 + RAIL + CLEARANCE
    floor = low + WHEEL
    over = (floor, floor + beam.height)
    columns = [_around(p["trolley"] + x, beam.width) for x in (-1.0, 1.0)]
    rows = [_around(y, beam.width) for y in (-OFFSET, OFFSET)]
    x = divided([*itertools.chain(*columns)], p["coarse"], along, p["treads"])
    y = divided([*itertools.chain(*rows)], p["coarse"], across, p["treads"])
    z = divided([floor, floor + beam.height], p["coarse"], [(low, floor)], p["layers"])
    bricks = [Brick("trolley", column, (rows[0][0], rows[1][1]), over) for column in columns]
    bricks += [Brick("trolley", (columns[0][0], columns[1][1]), row, over) for row in rows]
    bricks += [Brick("wheels", *each, (low, floor)) for each in itertools.product(along, across)]
    return BrickGrid((x, y, z), bricks)


def densities() -> dict[str, float]:
    """Densities of all parts [kg/m3]: rails belong to the girders, wheels to the trolley, by mass."""
    girder, carriage, trolley = (BEAMS[name] for name in HEIGHTS)
    piece = 4 * TREAD**2  # area of the treads
    steel = frame.STEEL["density"]
    girders = 2 * (2 * SPAN - carriage.width / 2) * girder.width * girder.height
    lengths = frame.LENGTHS["end-carriages"], frame.LENGTHS["trolley"]
    return {
        "girders": (frame.MASSES["girders"] - steel * piece * RAIL) / girders,
        "end-carriages": frame.MASSES["end-carriages"] / (lengths[0] * carriage.width * carriage.height),
        "rails": steel,
        "trolley": (frame.MASSES["trolley"] - steel * piece * WHEEL) / (lengths[1] * trolley.width**2),
        "wheels": steel,
    }


def crane_solid(
    named: NamedMesh, p: Values, record: Signal | None, cells: Sequence[str] | None = None
) -> Solid:
    """The crane, or the part of it on named cells, under gravity and vertical shaking. Collective.

    Args:
        named: Its mesh.
        p: ``alpha``, mass-proportional damping [1/s].
        record: Acceleration of the ground, positive upwards [m/s2], or None.
        cells: Names of the cells; all by default.
    """
    parts, density = list(PARTS) if cells is None else list(cells), densities()
    steel = LinearElastic(frame.STEEL["E"], frame.STEEL["nu"])
    laws = {name: LinearElastic(beam.E, beam.nu) for name, beam in BEAMS.items()}
    shaken = None if record is None else ((0.0, 0.0, 1.0), record)
    return Solid(
        named,
        density={part: density[part] for part in parts},
        law={part: laws.get(part, steel) for part in parts},
        degree=2,
        cells=None if cells is None else parts,
        gravity=(0.0, 0.0, -frame.GRAVITY),
        ground_acceleration=shaken,
        fixed=["crane wheels"] if "end-carriages" in parts else [],
        damping=p["alpha"],
    )


def bodies(named: NamedMesh, p: Values, record: Signal | None, divided: bool) -> tuple[Solid, ...]:
    """Rails with wheels, and all other parts; or the undivided crane. Collective."""
    if not divided:
        return (crane_solid(named, p, record),)
    rest = named.other_cells(EXPLICIT)
    return crane_solid(named, p, record, EXPLICIT), crane_solid(named, p, record, rest)


def wheels(body: Solid, **options: Any) -> NodePairs:
    """The treads of the wheels on those of the rails; options as for :class:`.NodePairs`. Collective."""
    return NodePairs(body, "rail treads", "wheel treads", (0.0, 0.0, 1.0), **options)


def wheel_of(x: NDArray, p: Values) -> NDArray:
    """Number of the wheel, 0 to 3, that places near the treads belong to, shape (n,)."""
    right, back = x[:, 0] > p["trolley"], x[:, 1] > 0
    return 2 * right.astype(np.intp) + back


def wheel_rows(body: Solid, p: Values) -> SparseRows:
    """W in the middles of the treads: of wheels 1 to 4, then of the rails below. Collective."""
    top = HEIGHTS["girders"] / 2 + RAIL
    places = [(p["trolley"] + x, y, z) for z in (top + CLEARANCE, top) for x, y in CENTRES]
    return vertical(body, places, [f"w_{part}_{k}" for part in ("trolley", "girder") for k in range(1, 5)])

"""Beams, wheels and partitions of the bridge crane, as Fekak et al. (2017), Sect. 3.2, specify it.

Girders along x, end-carriages along y, z up; the walls are so thick that the masses are the paper's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .... import Frame, NamedMesh, NodePairs, Section, mesh
from ....algebra.operators import SparseRows, coordinate_order
from ....systems.body import Body
from ....systems.loads import Signal

STEEL = {"density": 7850.0, "E": 2.1e11, "nu": 0.3}  # kg/m3, Pa, -
GRAVITY = 10.0  # m/s2, the paper's
#: The paper's masses [kg], and the total lengths of the beams that have them [m].
MASSES = {"girders": 10844.0, "end-carriages": 3003.0, "trolley": 5150.0}
LENGTHS = {"girders": 2 * 22.0, "end-carriages": 2 * 4.8, "trolley": 2 * 2.0 + 2 * 2.4}
BEAMS = {
    "girders": ("girders far", "girders near", "girders at wheels"),
    "end-carriages": ("end-carriages",),
    "trolley": ("trolley", "trolley at wheels"),
}
#: Parts of the explicit subdomain.
PARTITIONS = {
    "small": ("girders at wheels", "trolley at wheels"),
    "paper": ("girders near", "girders at wheels", "trolley", "trolley at wheels"),
}


def _area(beams: str) -> float:
    return MASSES[beams] / (STEEL["density"] * LENGTHS[beams])


def _tube(beams: str, width: float, height: float) -> Section:
    """A box of uniform wall t and the beams' area ``2 t (width + height - 2 t)``."""
    half = (width + height) / 4
    return Section.box(width, height, wall=half - math.sqrt(half**2 - _area(beams) / 4))


#: Webs of the girders, boxes of 0.4 by 1.2 with flanges of 0.014, so that these have their area [m].
_WEB = (_area("girders") / 2 - 0.4 * 0.014) / (1.2 - 2 * 0.014)
SECTIONS = {
    "girders": Section.box(0.4, 1.2, flange=0.014, web=_WEB),
    "end-carriages": _tube("end-carriages", 0.4, 0.5),
    "trolley": _tube("trolley", 0.4, 0.4),
}


def crane_mesh(*, trolley: float = 0.0, refine: int = 1) -> NamedMesh:
    """The mesh, whole on every rank: trolley's middle along the girders [m], and parts of an element."""
    parameters = {"trolley": trolley, "refine": refine}
    return mesh.read(mesh.package_mesh("crane.geo"), parameters=parameters, comm=MPI.COMM_SELF)


def crane_frame(
    named: NamedMesh,
    *,
    cells: Sequence[str] | None = None,
    record: Signal | None = None,
    damping: float = 0.0,
    shaken: str = "all",
) -> Frame:
    """The crane, or the part of it on named cells, under gravity and vertical shaking.

    Args:
        record: Acceleration of the ground, positive upwards [m/s2], or None.
        damping: Mass-proportional damping [1/s].
        shaken: ``"all"``: displacements are relative to the ground; ``"bridge"``: the paper's words to
            the letter, girders and end-carriages alone are loaded by the acceleration.
    """
    parts = [part for beams in BEAMS.values() for part in beams] if cells is None else list(cells)
    sections = {part: SECTIONS[name] for name, beams in BEAMS.items() for part in beams if part in parts}
    loads: dict[str, Any] = {"gravity": (0.0, 0.0, -GRAVITY), "damping": damping, **STEEL}
    chosen = None if cells is None else parts
    held = ["crane wheels"] if set(parts) & set(BEAMS["end-carriages"]) else []
    frame = Frame(named, sections=sections, cells=chosen, fixed=held, **loads)
    if record is not None:
        pattern = -frame.inertia((0.0, 0.0, 1.0))
        if shaken == "bridge":
            pattern[dofs_of(frame, "trolley")] = 0.0
        frame.loads.add(pattern, record)
    return frame


def divided(named: NamedMesh, partition: str, **options: Any) -> tuple[Frame, Frame]:
    """Explicit and implicit subdomain of a partition; options as for :func:`crane_frame`."""
    explicit = PARTITIONS[partition]
    implicit = [part for beams in BEAMS.values() for part in beams if part not in explicit]
    return crane_frame(named, cells=explicit, **options), crane_frame(named, cells=implicit, **options)


def wheels(frame: Body, **options: Any) -> NodePairs:
    """The trolley's wheels on the girders; options as for :class:`.NodePairs`."""
    return NodePairs(frame, "girder wheels", "trolley wheels", (0.0, 0.0, 1.0), **options)


def wheel_rows(frame: Body) -> SparseRows:
    """W of the trolley's wheels at (x-, y-), (x-, y+), (x+, y-), (x+, y+), then of the girders below."""
    dofs, labels = [], []
    for name in ("trolley", "girder"):
        nodes = frame.nodes(f"{name} wheels")
        keys = coordinate_order(frame.x[nodes], frame.length)
        dofs += [6 * node + 2 for node in nodes[np.lexsort(keys.T[::-1])]]
        labels += [f"w_{name}_{i}" for i in range(1, 5)]
    return SparseRows(np.array(dofs)[:, None], np.ones((8, 1)), np.arange(8.0)[:, None], labels)


def horizontal_hold(frame: Body) -> list[int]:
    """Dofs whose holding takes the trolley its rigid horizontal motions, and no force."""
    corner = int(np.min(frame.nodes("trolley wheels")))
    return [6 * corner, 6 * corner + 1, 6 * corner + 5]


def dofs_of(frame: Frame, beams: str) -> NDArray:
    """All dofs of the nodes of some beams, six a node, named as in :data:`BEAMS`; shape (k,)."""
    cells = np.concatenate([frame.named.cells(part) for part in BEAMS[beams]])
    nodes = np.unique(np.asarray(frame.space.dofmap.list)[cells])
    return (nodes[:, None] * frame.block + np.arange(frame.block)).ravel()

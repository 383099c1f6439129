"""The sliding block on an inclined plane that is a meshed, fixed body: it slides as on the rigid plane."""

from __future__ import annotations

import numpy as np
from dolfinx import mesh as dmesh
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .... import parallel
from ....algebra.operators import SparseRows, coordinate_order
from ....contact.surfaces import SurfaceContact
from ....integrators import find_scheme
from ....mesh import join
from ....systems.solid import Solid
from ... import drawings
from ...boxes import box
from ...case import Case, Problem, Values
from ..solids import common, sliding_block
from ..solids.sliding_block import PARAMETERS, TRANSITS, axes, transit

#: Length of the incline beyond the block on both sides, and its depth, over the block's length and height.
_BEYOND, _DEPTH = 0.55, 0.5
#: Cells of the incline for those of the block: they do not match.
_FINER = 1.3


def build(p: Values) -> tuple[Solid, Solid]:
    """The block alone, and block and incline as one body, tilted. Collective."""
    block = sliding_block.build(p)
    beyond, depth = _BEYOND * p["length"], _DEPTH * p["height"]
    across = max(1, round(_FINER * p["elements"] / p["height"] * (p["length"] + 2 * beyond)))
    corners, kind = [[-beyond, -depth], [p["length"] + beyond, 0.0]], getattr(dmesh.CellType, p["cell"])
    incline = box(corners, [across, 1], kind)
    incline.mesh.geometry.x[:, :2] = incline.mesh.geometry.x[:, :2] @ axes(p)
    named = join({"block": block.named, "incline": incline})
    # All nodes of the incline lie on its boundary, and are fixed.
    return block, common.elastic(named, p, gravity=(0.0, -p["gravity"]), fixed=["incline/boundary"])


def _on_both(block: Solid, body: Solid, u: NDArray) -> NDArray:
    """Displacements of the block alone as those of both parts, shape (size,) [m]. Collective."""
    n, comm = block.owned // 2, block.comm
    rows = parallel.gather_rows(comm, np.column_stack([block.x[:n, :2], u[: block.owned].reshape(n, 2)]))
    found, inside = np.zeros((body.size // 2, 2)), body._nodes_in("block")
    found[inside] = rows[cKDTree(rows[:, :2]).query(body.x[inside, :2])[1], 2:]
    return found.ravel()


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started; it records how far each node is down the plane. Collective."""
    block, body = build(p)
    laws = {"friction": p["friction"], "gap_tolerance": p["gap_tolerance"]}
    contact = SurfaceContact(body, "block/bottom", "incline/boundary", **laws)
    h = common.time_step(scheme, p, block)
    integrator = find_scheme(scheme).bind(body, h, contact, p, allow_unstable=allow_unstable)
    integrator.start(_on_both(block, body, sliding_block.equilibrium(block, p)), 0.0, allow_penetration=True)
    nodes = np.flatnonzero(body._nodes_in("block")[: body.owned // 2])
    # The nodes of the bottom come first.
    order = coordinate_order((body.x[nodes, :2] @ axes(p).T)[:, ::-1], block.length)
    down = np.tile(axes(p)[0], (nodes.size, 1))
    record = SparseRows(2 * nodes[:, None] + np.arange(2), down, order, ["down the plane"] * nodes.size)
    masses = parallel.gather_rows(body.comm, body.mass[2 * nodes])[record.sorting(body.comm)]
    bottom = int(parallel.total(body.comm, body.nodes("block/bottom").size))
    p = {**p, "t_end": p["t_end"] or TRANSITS * transit(p)}
    return common.problem(integrator, p, record, lambda run: sliding_block.judge(run, masses, bottom))


_ABOUT = "An elastic block on a meshed incline with friction slides by g (sin α - μ cos α), or not at all."
MESHED_INCLINE = Case(PARAMETERS, common.WITH_DISSIPATIVE, make, _ABOUT, drawings.meshed_incline)

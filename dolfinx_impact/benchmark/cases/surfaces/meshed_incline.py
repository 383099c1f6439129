"""The sliding block on an inclined plane that is a meshed, fixed body: it slides as on the rigid plane."""

from __future__ import annotations

import numpy as np
from dolfinx import mesh as dmesh
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .... import parallel
from ....contact.surfaces import SurfaceContact
from ....integrators import Integrator, Scheme
from ....mesh import join
from ....systems.solid import Solid
from ...boxes import box
from ...case import EXPLICIT, Values, contact_law
from ..solids import common, sliding_block
from ..solids.sliding_block import Sliding, SlidingBlock, axes

#: Length of the incline beyond the block on both sides, and its depth, over the block's length and height.
_BEYOND, _DEPTH = 0.55, 0.5
#: Cells of the incline for those of the block: they do not match.
_FINER = 1.3


def bodies(p: Values) -> tuple[Solid, Solid]:
    """The block alone, and block and incline as one body, tilted. Collective."""
    block = sliding_block.make_block(p)
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


class MeshedIncline(SlidingBlock):
    """The block on the meshed incline; steps are those of the block alone."""

    about = "An elastic block on a meshed incline with friction slides by g (sin α - μ cos α), or not at all."

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Sliding:
        """Block and incline. Collective."""
        block, body = bodies(p)
        contact = SurfaceContact(body, "block/bottom", "incline/boundary", **contact_law(p))
        nodes = np.flatnonzero(body._nodes_in("block")[: body.owned // 2])
        bottom = int(parallel.total(body.comm, body.nodes("block/bottom").size))
        critical = block.critical_time_step()
        return Sliding.of(body, nodes, p, block=block, contact=contact, bottom=bottom, critical=critical)

    def start(self, integrator: Integrator, setup: Sliding, p: Values) -> None:
        """Start in the equilibrium of the block alone. Collective."""
        u = _on_both(setup.block, setup.body, sliding_block.equilibrium(setup.block, p))
        integrator.start(u, 0.0, allow_penetration=True)

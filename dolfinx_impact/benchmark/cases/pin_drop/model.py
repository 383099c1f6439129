"""Mesh, bodies and recorded nodes of a long beam with a small pin below its middle, all of hexahedra.

The layers of the pin get thinner towards its tip, by one factor, and alone limit an explicit step.
"""

from __future__ import annotations

from typing import Any

import basix.ufl
import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI
from numpy.typing import NDArray
from scipy.optimize import brentq

from ....algebra.operators import SparseRows
from ....contact.obstacles import Plane
from ....contact.rigid_contact import RigidContact
from ....integrators import CDLagrange, Integrator
from ....integrators.hati import HATI
from ....materials import LinearElastic
from ....mesh import NamedMesh
from ....systems.solid import Solid
from ...case import Values, contact_law

#: Recorded displacements along z: an end of the beam, the middle of its top, a quarter point below.
LABELS = ("end", "middle", "quarter")


def layers(p: Values) -> NDArray:
    """Heights of the layers of the pin from its tip to z = 0, shape (layers + 1,) [m]."""
    n, first, height = p["layers"], p["tip"], p["pin"]

    def beyond(q: float) -> float:
        return float(first * np.sum(q ** np.arange(n)) - height)

    grown = first * brentq(beyond, 1.0, 100.0, xtol=1e-14) ** np.arange(n)
    heights: NDArray = np.concatenate([[0.0], np.cumsum(grown)]) - height
    heights[-1] = 0.0
    return heights


def pinned_beam(p: Values) -> NamedMesh:
    """The mesh: cells ``"pin"`` and ``"beam"``, facets ``"tip"``. Collective."""
    along, across, n = p["along"], p["across"], p["layers"]
    x, y = (
        np.linspace(-size / 2, size / 2, k + 1) for size, k in ((p["length"], along), (p["side"], across))
    )
    z = np.concatenate([layers(p)[:-1], np.linspace(0.0, p["side"], across + 1)])
    i, j, k = (each.ravel() for each in np.mgrid[0:along, 0:across, 0 : z.size - 1])
    wide = p["width"] / p["length"] * along
    inside = (np.abs(i + 0.5 - along / 2) < wide / 2) & (np.abs(j + 0.5 - across / 2) < across / 4)
    kept = (k >= n) | inside
    i, j, k = i[kept], j[kept], k[kept]
    corners = [((i + a) * y.size + j + b) * z.size + k + c for c in (0, 1) for b in (0, 1) for a in (0, 1)]
    used, cells = np.unique(np.stack(corners, axis=1), return_inverse=True)
    places = np.stack([x[used // z.size // y.size], y[used // z.size % y.size], z[used % z.size]], axis=1)
    cells = cells.reshape(-1, 8).astype(np.int64)
    if MPI.COMM_WORLD.rank > 0:
        cells, places = cells[:0], places[:0]
    element = basix.ufl.element("Lagrange", "hexahedron", 1, shape=(3,))
    return _named(dmesh.create_mesh(MPI.COMM_WORLD, cells=cells, x=places, e=element), p["pin"])


def _named(mesh: dmesh.Mesh, height: float) -> NamedMesh:
    index_map = mesh.topology.index_map(3)
    every = np.arange(index_map.size_local + index_map.num_ghosts, dtype=np.int32)
    below = dmesh.compute_midpoints(mesh, 3, every)[:, 2] < 0
    cells = dmesh.meshtags(mesh, 3, every, np.where(below, 1, 2).astype(np.int32))
    mesh.topology.create_connectivity(2, 3)
    tip = np.sort(dmesh.locate_entities_boundary(mesh, 2, lambda x: x[2] < -height * (1 - 1e-9)))
    facets = dmesh.meshtags(mesh, 2, tip, np.ones(tip.size, np.int32))
    return NamedMesh(mesh, cells, facets, {"pin": (3, 1), "beam": (3, 2), "tip": (2, 1)})


def bodies(p: Values, divided: bool) -> tuple[Solid, ...]:
    """The pin, explicit, and the beam; or the undivided body. Collective."""
    named = pinned_beam(p)
    steel: dict[str, Any] = {"density": p["rho"], "law": LinearElastic(p["E"], p["nu"])}
    if not divided:
        return (Solid(named, **steel),)
    return Solid(named, cells="pin", **steel), Solid(named, cells=named.other_cells("pin"), **steel)


def floor(body: Solid, p: Values) -> RigidContact:
    """Contact of the tip with a floor ``gap`` below. Collective."""
    plane = Plane((0.0, 0.0, -p["pin"] - p["gap"]), (0.0, 0.0, 1.0))
    return RigidContact(body, "tip", plane, **contact_law(p))


def rows(integrator: Integrator, p: Values) -> SparseRows:
    """Displacements along z at :data:`LABELS`, nodes as ``along`` is a multiple of 4. Collective."""
    divided = isinstance(integrator, HATI)
    body: Any = integrator.coarse.system if isinstance(integrator, HATI) else integrator.system
    places = [(-p["length"] / 2, 0.0, 0.0), (0.0, 0.0, p["side"]), (p["length"] / 4, 0.0, 0.0)]
    x, dofs, which = body.x[: body.owned // 3], [], []
    for number, place in enumerate(places):
        for node in np.flatnonzero(np.linalg.norm(x - place, axis=1) < 1e-9 * p["length"]):
            dofs.append(3 * node + 2)
            which.append(number)
    numbers = np.array(dofs, dtype=np.int32).reshape(-1, 1)
    keys = np.array(which, dtype=np.float64)[:, None]
    found = SparseRows(numbers, np.ones(numbers.shape), keys, [LABELS[k] for k in which])
    return integrator.coarse_rows(found) if divided else found  # type: ignore[attr-defined]


def explicit_run(p: Values, h: float) -> CDLagrange:
    """CD-Lagrange on the undivided body with the step ``h`` [s], started. Collective."""
    (body,) = bodies(p, divided=False)
    scheme = CDLagrange(body, h, contact=floor(body, p))
    scheme.start(0.0, (0.0, 0.0, -p["v0"]))
    return scheme

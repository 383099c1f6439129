"""Small heavy bodies on the large facets of a light layer stand, as on any ground."""

from __future__ import annotations

import random

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

from . import known
from .base import Misfit, small_problem

FACET = 0.5


def _standing(rng):
    """A block at rest, its width 1/2 to 1/20 of that of the facets of a layer of three cells."""
    wide = FACET / rng.uniform(2.0, 20.0)
    middle, cells = rng.uniform(1.0, 2.0) * FACET, rng.choice((1, 2, 3))
    cell = dmesh.CellType.quadrilateral

    def block(low, high, n):
        return dmesh.create_rectangle(MPI.COMM_SELF, [low, high], n, cell)

    layer = block([0.0, -FACET], [3 * FACET, 0.0], [3, 1])
    parts = {
        "a": block([middle - wide / 2, 0.0], [middle + wide / 2, wide], [cells, cells]),
        "b": di.named(layer, bottom=lambda x: x[1] < -FACET + 1e-9),
    }
    body = di.Solid(
        di.mesh.join(parts),
        law=di.NeoHookean(1e6, 0.0),
        density={"a": 1000.0, "b": 30.0},
        gravity=(0.0, -9.81),
        fixed=["b/bottom"],
        damping=10.0,
    )
    contact = di.SurfaceContact(body, "a/boundary", "b/boundary", friction=rng.choice((0.0, 0.3, 0.9)))
    kind = rng.choice((di.CDLagrange, di.NohBathe))
    scheme = kind(body, 0.6 * kind.critical_step(body), contact=contact)
    scheme.start(0.0, 0.0)
    return scheme


@small_problem(7, 8)
def stands(s):
    """The weight of a block acts within its base: put down at rest it does not turn, wherever it stands.

    The layer settles to one side beside the middle of a facet, 1.5e-3 rad in 24 blocks: allowed 5e-3 rad in
    0.2 s, in which a block without a ground below one side turns by 0.02 rad and more.
    """
    scheme = _standing(random.Random(f"stands {s.seed}"))
    while scheme.t < 0.2:
        scheme.step()
    body = scheme.system
    x, u = body.x[:, :2], scheme.u.reshape(-1, 2)
    block = body.rigid_velocity((0.0, 1.0), cells="a").reshape(-1, 2)[:, 1] > 0.0
    turned = known.rotation(x[block], u[block], np.asarray(body.mass[::2])[block])
    yield Misfit("rotation of a small block on a large facet [rad]", turned, 0.0, 5e-3)

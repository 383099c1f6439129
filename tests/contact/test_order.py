"""Points of a contact have one order: in its arrays, in those of a scheme, in the columns of a run."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import parallel

COMM = MPI.COMM_WORLD
LAW = di.LinearElastic(1e4, 0.2)


def rectangle(low, high, cells, kind=dmesh.CellType.triangle):
    return dmesh.create_rectangle(COMM, [low, high], cells, kind)


def two_blocks(gap=0.0):
    lower = di.named(
        rectangle([0.0, -0.4], [1.0, 0.0], [5, 2], dmesh.CellType.quadrilateral),
        top=lambda x: x[1] > -1e-9,
        bottom=lambda x: x[1] < -0.4 + 1e-9,
    )
    upper = di.named(
        rectangle([0.0, gap], [1.0, 0.4 + gap], [5, 2], dmesh.CellType.quadrilateral),
        low=lambda x: x[1] < gap + 1e-9,
    )
    joined = di.mesh.join({"upper": upper, "lower": lower})
    return di.Solid(joined, law=LAW, density={"upper": 1.0, "lower": 2.0})


def one_block():
    return di.Solid(rectangle([0.0, 0.0], [1.0, 1.0], [4, 3]), law=LAW, density=1.0)


def bound(body):
    owned = np.arange(body.owned // 2)
    low = owned[body.x[owned, 1] < 1e-9]
    return di.DofBound(body, (2 * low + 1)[::-1].tolist(), lower=0.0)


FLOOR, WALL = di.Plane((0.0, 0.0), (0.0, 1.0)), di.Plane((0.0, 0.0), (1.0, 0.0))
KINDS = {
    "plane": (one_block, lambda b: di.RigidContact(b, "boundary", FLOOR)),
    "corner": (one_block, lambda b: di.RigidContact(b, "boundary", [FLOOR, WALL])),
    "curved": (one_block, lambda b: di.RigidContact(b, "boundary", di.Sphere((0.5, -5.0), 5.0))),
    "bound": (one_block, bound),
    "surfaces": (two_blocks, lambda b: di.SurfaceContact(b, "upper/boundary", "lower/boundary")),
    "pairs": (two_blocks, lambda b: di.NodePairs(b, "lower/top", "upper/low", (0.0, 1.0))),
    "rough pairs": (
        two_blocks,
        lambda b: di.NodePairs(b, "lower/top", "upper/low", (0.0, 1.0), friction=0.3),
    ),
    "tie": (two_blocks, lambda b: di.SurfaceContact(b, "upper/boundary", "lower/boundary", tie=True)),
    "list": (
        two_blocks,
        lambda b: [
            di.SurfaceContact(b, "upper/boundary", "lower/boundary"),
            di.RigidContact(b, "lower/bottom", di.Plane((0.0, -0.4), (0.0, 1.0))),
        ],
    ),
}


@pytest.mark.mpi(cases=3)
@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_a_run_are_the_points_of_the_contact(kind):
    """Gaps, impulses and places of the points of all ranks, sorted by their places, are the columns."""
    make, contact_of = KINDS[kind]
    body = make()
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=contact_of(body))
    s.start(0.0, (0.1, -1.0))
    run = di.simulate(s, t_end=3 * s.dt, progress=False)
    contact = s.contact
    assert (contact.L.sorting(MPI.COMM_SELF) == np.arange(contact.count)).all()
    order = contact.L.sorting(COMM)
    for name, local in (("r", s.r), ("gap", s.gap())):
        assert np.array_equal(run[name][-1], parallel.gather_rows(COMM, local)[order])
    assert run["r"][-1].any() or kind in ("surfaces", "pairs", "rough pairs", "tie")
    x = contact.places(np.zeros(body.size))
    assert x.shape == (contact.count, 2)
    if COMM.size == 1:
        assert np.array_equal(run["r"][-1], s.r) and np.array_equal(run["gap"][-1], s.gap())
    if kind not in ("surfaces", "tie", "list"):  # their points go pair by pair, contact by contact
        assert (np.lexsort(x.round(9).T[::-1]) == np.arange(len(x))).all()

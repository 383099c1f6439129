"""Contact pressures: a uniform one is read as such by elements of any degree, and carries the impulses."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import parallel

COMM = MPI.COMM_WORLD
DT, P = 1e-3, 5000.0
LAW = di.LinearElastic(1e6, 0.0)
CELLS = dmesh.CellType


def block(kind, low, high, cells):
    """A block in the plane or in space, with its upper and lower face and its left one, the axis."""
    make = dmesh.create_rectangle if len(low) == 2 else dmesh.create_box
    z = len(low) - 1
    return di.named(
        make(COMM, [low, high], cells, kind),
        top=lambda x: x[z] > high[z] - 1e-9,
        low=lambda x: x[z] < low[z] + 1e-9,
        axis=lambda x: x[0] < 1e-9,
    )


def pressed(mesh, name, axisymmetric=False, **options):
    """A body that stands on the facets ``name``, and the impulses of a step of a uniform pressure there."""
    gdim = getattr(mesh, "mesh", mesh).geometry.dim
    up = (0.0,) * (gdim - 1) + (P,)
    hypothesis = {"hypothesis": "axisymmetric"} if axisymmetric else {}
    body = di.Solid(mesh, law=LAW, traction={name: up}, **hypothesis, **options)
    return body, DT * body.loads.constant


def at_points(contact, impulses):
    """Normal impulses at the points, upward."""
    return impulses[contact.nodes.dofs()[:, -1]]


def all_of(values):
    return parallel.gather_rows(COMM, values)


ELEMENTS = [
    (CELLS.triangle, 2, False),
    (CELLS.triangle, 3, True),
    (CELLS.quadrilateral, 2, True),
    (CELLS.quadrilateral, 3, False),
    (CELLS.tetrahedron, 2, False),
    (CELLS.hexahedron, 2, False),
]


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(("kind", "degree", "axisymmetric"), ELEMENTS)
def test_uniform_pressure_on_a_plane_and_on_another_body(kind, degree, axisymmetric):
    """Nodal impulses of the element's functions are one pressure, at all points, corners and axis included.

    Of a corner the side that faces the plane counts, of the surfaces what is covered.
    """
    gdim = 3 if kind in (CELLS.tetrahedron, CELLS.hexahedron) else 2
    zero, one = (0.0,) * gdim, (1.0,) * gdim
    below = (0.0,) * (gdim - 1) + (-1.0,), (1.0,) * (gdim - 1) + (0.0,)
    upper, lower = block(kind, zero, one, [3] * (gdim - 1) + [2]), block(kind, *below, [2] * gdim)
    joined = di.mesh.join({"upper": upper, "lower": lower})
    density = {"upper": 1.0, "lower": 2.0}
    body, impulses = pressed(joined, "upper/low", axisymmetric, density=density, degree=degree)
    plane = di.Plane(zero, (0.0,) * (gdim - 1) + (1.0,))
    contacts = [
        di.RigidContact(body, "upper/boundary", plane),
        di.SurfaceContact(body, "upper/low", "lower/top"),
    ]
    area = np.pi if axisymmetric else 1.0
    for contact in contacts:
        r = at_points(contact, impulses)
        r[contact.places(np.zeros(body.size))[:, -1] > 1e-9] = 0.0
        if contact is contacts[1]:
            r[contact.assembly.mortar.nodes.size :] = 0.0  # corners, which nothing presses alone
        pressure = contact.pressure(r, DT)
        below = contact.places(np.zeros(body.size))[:, -1] < 1e-9
        below &= contact.areas() > 0.0
        assert all_of(pressure[below]) == pytest.approx(P, rel=1e-11)
        assert COMM.allreduce(contact.areas()[below].sum()) == pytest.approx(area, rel=1e-12)
        assert COMM.allreduce(DT * pressure @ contact.areas()) == pytest.approx(COMM.allreduce(r.sum()))
    assert COMM.allreduce(contacts[1].areas().sum()) == pytest.approx(area, rel=1e-12)
    assert (all_of(contacts[0].areas()) >= 0.0).all()


@pytest.mark.mpi
def test_of_a_tie_the_component_along_the_normal():
    """Tractions in the rows of each direction, of which shear is no pressure."""
    upper = block(CELLS.quadrilateral, (0.0, 0.0), (1.0, 0.5), [5, 2])
    lower = block(CELLS.quadrilateral, (0.0, -0.5), (1.0, 0.0), [4, 2])
    joined = di.mesh.join({"upper": upper, "lower": lower})
    body, impulses = pressed(joined, "upper/low", density={"upper": 1.0, "lower": 2.0})
    tie = di.SurfaceContact(body, "upper/boundary", "lower/boundary", tie=True)
    shear = 3.0
    r = np.where(np.arange(tie.count) % 2 == 1, 1.0, -shear) * at_points(tie, impulses)
    below = tie.places(np.zeros(body.size))[:, 1] < 1e-9
    tractions = all_of(tie.pressure(r, DT)[below]).reshape(-1, 2)
    assert tractions == pytest.approx(np.tile([-shear * P, P], (6, 1)), rel=1e-11)
    assert all_of(tie.nodes.normal_pressure(r, DT)[below]) == pytest.approx(P, rel=1e-11)
    assert COMM.allreduce(tie.areas()[below].sum()) == pytest.approx(2.0)
    assert (all_of(tie.pressure(r, DT)[~below]) == 0.0).all()


@pytest.mark.mpi
def test_pressures_of_a_run(shared_path):
    """Blocks with meshes that do not match at rest under a load: one pressure, what is covered, its file."""
    upper = block(CELLS.quadrilateral, (0.0, 0.0), (1.0, 0.5), [5, 2])
    lower = block(CELLS.quadrilateral, (0.0, -0.5), (1.0, 0.0), [4, 2])
    body = di.Solid(
        di.mesh.join({"upper": upper, "lower": lower}),
        law=LAW,
        density={"upper": 1000.0, "lower": 1001.0},
        damping=80.0,
        traction={"upper/top": (0.0, -P)},
    )
    contact = [
        di.SurfaceContact(body, "upper/boundary", "lower/boundary"),
        di.RigidContact(body, "lower/boundary", di.Plane((0.0, -0.5), (0.0, 1.0))),
    ]
    s = di.CDLagrange(body, 0.8 * body.critical_time_step(), contact=contact)
    s.start(0.0, 0.0)
    run = di.simulate(s, t_end=0.8, every=100, progress=False)
    loaded = run["r"][-1] > 0.0
    order = s.contact.L.sorting(COMM)
    assert np.array_equal(run.areas, all_of(s.contact.areas())[order])
    assert np.array_equal(run.places, all_of(s.contact.places(np.zeros(body.size)))[order])
    assert run.pressure[-1, loaded] == pytest.approx(P, rel=1e-5)
    surfaces = np.arange(run.areas.size) < contact[0].total
    assert run.areas[surfaces].sum() == pytest.approx(1.0, rel=1e-6)
    last = run["t"][-1] - run["t"][-2]
    assert last * run.pressure[-1] @ run.areas == pytest.approx(run["r"][-1].sum(), rel=1e-12)
    run.save(shared_path / "run.npz")
    again = di.Result.load(shared_path / "run.npz")
    for name in ("areas", "places", "pressure"):
        assert np.array_equal(getattr(again, name), getattr(run, name), equal_nan=True)
    assert list(again) == list(run)


@pytest.mark.mpi
def test_the_side_that_faces_the_obstacle_turns_with_the_body():
    """A block that was put on its side: the corners' areas are those of the face that lies below now."""
    mesh = block(CELLS.quadrilateral, (0.0, 0.0), (3.0, 1.0), [3, 2])
    body = di.Solid(mesh, law=di.NeoHookean(1e6, 0.0), density=1.0)
    x = body.x[:, :2]
    turned = np.column_stack([-x[:, 1], x[:, 0]]) - x  # its left face, 1 m wide, lies on the floor
    contact = di.RigidContact(body, "boundary", di.Plane((0.0, 0.0), (0.0, 1.0)))
    places = contact.places(np.zeros(body.size))
    left = places[:, 0] < 1e-9
    assert COMM.allreduce(contact.areas()[left].sum()) == pytest.approx(0.5 + 2 * 0.5)
    s = di.CDLagrange(body, 1e-4, contact=contact)
    s.start(turned.ravel(), 0.0)
    assert COMM.allreduce(contact.areas()[left].sum()) == pytest.approx(1.0)

"""What no contact sees is told in the summary: folds, parts that pass, nodes beside the contact surface."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from support.surfaces import box

import dolfinx_impact as di
from dolfinx_impact.simulation.overlap import Overlap
from dolfinx_impact.systems.containment import connected_parts

SOFT = {"law": di.LinearElastic(1e4, 0.0), "density": 1000.0}


def started(body, velocity, contact=None, dt=None):
    s = di.CDLagrange(body, dt or 0.5 * body.critical_time_step(), contact=contact)
    s.start(0.0, velocity)
    return s


@pytest.mark.mpi
@pytest.mark.parametrize("degree, kind", [(1, "quadrilateral"), (2, "quadrilateral"), (2, "triangle")])
def test_a_part_in_the_cells_of_another_one(degree, kind):
    """A square of 4 x 4 cells half in a strip, on its grid lines: its nodes lie on edges between cells."""
    small, strip = box([4, 4], [0.4, 0.1], [0.6, 0.3], kind), box([20, 2], [0.0, -0.1], [1.0, 0.0], kind)
    body = di.Solid(di.mesh.join({"a": small, "b": strip}), degree=degree, **SOFT)
    assert len(np.unique(np.concatenate(body.comm.allgather(connected_parts(body))))) == 2
    down = body.rigid_velocity((0.0, -1.0), cells="a")
    s = started(body, down)
    watch = Overlap(s)
    for depth in (0.099, 0.102):  # 2 mm of 50 mm: as deep as contact may be
        s.u[:] = depth * down
        watch.look()
        assert watch.warnings() == []
    s.u[:] = 0.15 * down
    watch.look()
    # The lowest row, between the cells of the strip, the sides above it, and nodes of the strip.
    (text,) = watch.warnings()
    assert text.startswith(f"{10 * degree - 2} nodes of the body's surface lie in its other cells")
    # What lies there at the start is none of the run's doing.
    again = Overlap(s)
    again.look()
    s.u[:] += 0.1 * body.rigid_velocity((1.0, 0.0))
    again.look()
    assert again.warnings() == []


def test_a_fold():
    """A horseshoe whose ends bend through each other."""
    mesh = box([20, 2], [0.0, 0.0], [2.0, 0.1])
    body = di.Solid(mesh, **SOFT)
    s = started(body, 0.0)
    watch, x = Overlap(s), body.x[:, :2]
    for angle, told in ((6.0, False), (6.45, True)):
        radius, turn = 2.0 / angle, angle * x[:, 0] / 2.0
        place = (radius - x[:, 1])[:, None] * np.column_stack([np.sin(turn), -np.cos(turn)])
        s.u[:] = (place + [0.0, radius] - x).ravel()
        watch.look()
        assert bool(watch.warnings()) == told


@pytest.mark.mpi
@pytest.mark.parametrize("squeeze", [-0.3, -0.1])
def test_a_body_that_is_stretched_has_no_folds(squeeze):
    """Schemes do not update displacements at nodes of other ranks: cells at a border have such."""
    body = di.Solid(box([12, 12], [0.0, 0.0], [0.2, 0.08], "triangle"), density=1000.0, law=SOFT["law"])
    s = started(body, lambda x: np.stack([0.1 * x[0], squeeze * x[1]]))
    watch, (x, y) = Overlap(s), body.x[:, :2].T
    s.u[: body.owned] = np.column_stack([0.1 * x, squeeze * y]).ravel()[: body.owned]
    watch.look()
    assert watch.warnings() == []


def falling(name):
    body = di.Solid(box([4, 4], [0.0, 0.01], [0.2, 0.2]), gravity=(0.0, -9.81), **SOFT)
    contact = di.RigidContact(body, name, di.Plane((0.0, 0.0), (0.0, 1.0)))
    return di.simulate(started(body, body.rigid_velocity((0.0, -2.0)), contact), t_end=0.06)


def test_the_wrong_surface_is_named(tmp_path):
    """The top: the body falls by 0.128 m through the floor."""
    run = falling("top")
    assert "no contact point has touched" in run.summary() and "no penetration" not in run.summary()
    words = "nodes of the body's surface beside 'top' lie up to 0.128 m in the obstacle"
    assert words in run.summary() and len(run.warnings) == 1
    run.save(tmp_path / "run.npz")
    assert di.Result.load(tmp_path / "run.npz").warnings == run.warnings
    assert falling("bottom").warnings == ()


def test_sizes_of_facets():
    mesh = dmesh.create_rectangle(
        di.mesh.join({"a": box([1, 1], [0, 0], [1, 1])}).mesh.comm, [[0.0, 0.0], [0.8, 0.3]], [4, 1]
    )
    body = di.Solid(mesh, **SOFT)
    sizes = dict(zip(map(tuple, body.x[body.boundary_nodes(), :2].round(9)), body.facet_sizes(None)))
    assert sizes[(0.2, 0.0)] == pytest.approx(0.2) and sizes[(0.0, 0.3)] == pytest.approx(0.25)


@pytest.mark.mpi
@pytest.mark.parametrize("kind", ["quadrilateral", "triangle"])
def test_a_rank_without_cells(kind):
    """A mesh of one or two cells: some ranks have none, and look for parts in others all the same."""
    mesh = box([1, 1], [0.0, 0.0], [0.2, 0.1], kind)
    body = di.Solid(mesh, **SOFT)
    s = started(body, 0.0)
    watch = Overlap(s)
    watch.look()
    assert not watch.warnings()
    assert di.simulate(s, t_end=5 * s.dt, progress=False).steps == 5

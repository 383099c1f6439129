"""All the ways to say where a body starts, and how fast."""

import numpy as np
import pytest
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

COMM = MPI.COMM_WORLD
LAW = di.LinearElastic(1e7, 0.3)


def cells(gdim):
    if gdim == 1:
        return dmesh.create_interval(COMM, 5, [0.0, 1.0])
    if gdim == 2:
        return dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.0]], [3, 3])
    return dmesh.create_box(COMM, [[0.0] * 3, [1.0] * 3], [2, 2, 2])


def scheme(gdim):
    body = di.Solid(cells(gdim), density=1e3, law=LAW)
    return body, di.CDLagrange(body, 0.5 * body.critical_time_step())


def started(made, v0):
    """The velocities of the owned dofs right after the start."""
    made.start(0.0, v0)
    return made.v_mean[: made.system.owned].copy()


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("gdim", [1, 2, 3])
def test_a_vector_arrays_and_functions_say_the_same(gdim):
    body, made = scheme(gdim)
    velocity = np.array([3.0, -1.0, 0.5])[:gdim]
    function = fem.Function(body.space)
    function.interpolate(lambda x: np.outer(velocity, np.ones(x.shape[1])))
    whole = body.rigid_velocity(velocity)
    for v0 in (
        velocity,
        list(velocity),
        whole,
        whole[: body.owned],
        whole.reshape(-1, gdim),
        function,
        lambda x: np.outer(velocity, np.ones(x.shape[1])),
        lambda x: tuple(v + 0 * x[0] for v in velocity),
    ):
        assert np.array_equal(started(made, v0), whole[: body.owned])
    assert not started(made, 0).any()


@pytest.mark.mpi
@pytest.mark.parametrize("gdim", [2, 3])
def test_fields_vary_in_space(gdim):
    body, made = scheme(gdim)
    function = fem.Function(body.space)
    function.interpolate(lambda x: x[:gdim] ** 2)
    expected = body.x[: body.owned // gdim, :gdim].ravel() ** 2
    assert started(made, lambda x: x[:gdim] ** 2) == pytest.approx(expected, abs=1e-15)
    assert started(made, function) == pytest.approx(expected, abs=1e-15)
    other = fem.Function(fem.functionspace(body.mesh, ("Lagrange", 1, (gdim,))))
    other.interpolate(lambda x: x[:gdim] ** 2)
    assert started(made, other) == pytest.approx(expected, abs=1e-15)


def test_a_number_moves_what_is_on_a_line_and_point_masses():
    _, made = scheme(1)
    assert np.all(started(made, -2.0) == -2.0)
    masses = di.CDLagrange(di.PointMasses([1.0, 2.0, 3.0]), 0.1)
    assert started(masses, -2.0).tolist() == [-2.0] * 3
    assert started(masses, [1, 2, 3]).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("gdim", [2, 3])
@pytest.mark.parametrize("number", [-2.0, 1, np.float64(3.0)])
def test_a_number_is_no_velocity_in_the_plane_and_in_space(gdim, number):
    _, made = scheme(gdim)
    for state in ((0.0, number), (number, 0.0)):
        with pytest.raises(ValueError, match=f"along the diagonal of the {gdim} directions: give {gdim} num"):
            made.start(*state)


def test_a_rigid_body_starts_without_spin_where_none_is_given():
    made = di.CDLagrange(di.RigidBody.disc(1.0, 1.0), 0.1)
    assert started(made, (1.0, -2.0)).tolist() == [1.0, -2.0, 0.0]
    assert started(made, (1.0, -2.0, 3.0)).tolist() == [1.0, -2.0, 3.0]
    with pytest.raises(ValueError, match="along the diagonal of the 2 directions"):
        made.start(0.0, 1.0)


def test_a_vector_and_a_function_move_a_frame_without_turning_it():
    line = dmesh.create_interval(MPI.COMM_SELF, 2, [0.0, 1.0])
    x = np.pad(line.geometry.x[:, :1], ((0, 0), (0, 2)))
    import basix.ufl
    import ufl

    element = basix.ufl.element("Lagrange", "interval", 1, shape=(3,))
    cells = np.array([[0, 1], [1, 2]])
    mesh = dmesh.create_mesh(MPI.COMM_SELF, cells=cells, x=x[np.argsort(x[:, 0])], e=ufl.Mesh(element))
    frame = di.Frame(mesh, density=7850.0, E=2.1e11, nu=0.3, sections=di.Section.box(0.1, 0.1, wall=0.01))
    made = di.CDLagrange(frame, 0.5 * frame.critical_time_step())
    expected = np.tile([1.0, 2.0, 3.0, 0.0, 0.0, 0.0], 3)
    assert np.array_equal(started(made, (1.0, 2.0, 3.0)), expected)
    assert np.array_equal(started(made, lambda x: np.outer([1, 2, 3], np.ones(x.shape[1]))), expected)
    with pytest.raises(ValueError, match="along the diagonal of the 3 directions"):
        made.start(0.0, -1.0)


@pytest.mark.mpi
@pytest.mark.parametrize("gdim", [1, 2])
def test_hati_takes_the_same_for_both_sides(gdim):
    mesh = cells(gdim)
    tdim = mesh.topology.dim
    count = mesh.topology.index_map(tdim).size_local + mesh.topology.index_map(tdim).num_ghosts
    every = np.arange(count, dtype=np.int32)
    middle = dmesh.compute_midpoints(mesh, tdim, every)[:, 0]
    tags = dmesh.meshtags(mesh, tdim, every, np.where(middle < 0.5, 1, 2).astype(np.int32))
    named = di.NamedMesh(mesh, tags, None, {"near": (tdim, 1), "far": (tdim, 2)})
    near, far = (di.Solid(named, cells=part, density=1e3, law=LAW) for part in ("near", "far"))
    made = di.HATI(near, far, 0.5 * near.critical_time_step(), ratio=2)
    velocity = np.array([3.0, -1.0])[:gdim]
    function = fem.Function(near.space)
    function.interpolate(lambda x: np.outer(velocity, np.ones(x.shape[1])))
    made.start(0.0, near.rigid_velocity(velocity))
    expected = made.v.copy()
    for v0 in (velocity, function, lambda x: np.outer(velocity, np.ones(x.shape[1])), expected):
        made.start(0.0, v0)
        assert np.array_equal(made.v[: made.system.owned], expected[: made.system.owned])
    if gdim > 1:
        with pytest.raises(ValueError, match="along the diagonal"):
            made.start(0.0, 1.0)
    for wrong in (None, "a", [[1.0], [1.0, 2.0]]):
        with pytest.raises(ValueError, match="v0 must be "):
            made.start(0.0, wrong)


@pytest.mark.mpi
def test_what_fails_on_one_rank_fails_on_all():
    _, made = scheme(2)

    def wrong(x):
        if COMM.rank == COMM.size - 1:
            raise RuntimeError("no such place")
        return 0 * x[:2]

    with pytest.raises(ValueError, match="fails: RuntimeError: no such place"):
        made.start(0.0, wrong)
    short = np.zeros(made.system.owned - (COMM.rank == COMM.size - 1))
    with pytest.raises(ValueError, match="v0 has .* values, the system"):
        made.start(0.0, short)
    with pytest.raises(ValueError, match=r"v0 has the shape \(2, "):
        made.start(0.0, np.zeros((2, made.system.size // 2 + 3)))

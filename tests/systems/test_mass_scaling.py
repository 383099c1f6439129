"""Mass scaling: which cells get mass and how much, the step that it allows, momenta, restarts, ranks."""

import logging

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.examples import examples
from support.restarts import kept, same_bits, whole

import dolfinx_impact as di
from dolfinx_impact import output, parallel
from dolfinx_impact.systems.elements.element_forces import ElementForces

COMM = MPI.COMM_WORLD
CELLS = {each.name: each for each in dmesh.CellType}
SOFT = di.LinearElastic(1.0, 0.3)
NEO = di.NeoHookean(1.0, 0.3)
RUBBER = di.MooneyRivlin(0.3, 0.2, 500.0)


def bar(small=0.0025, law=None, comm=COMM, **options):
    """A bar of 40 cells of 25 mm, but of the given length in the middle; wave speed 100 m/s."""
    mesh = dmesh.create_interval(comm, 40, [0.0, 1.0])
    x = mesh.geometry.x
    x[np.isclose(x[:, 0], 0.5), 0] = 0.475 + small
    return di.Solid(mesh, density=1.0, law=law or di.LinearElastic(1e4), **options)


def rough(cell, comm=COMM, squeeze=0.06):
    """A unit interval, square or cube, nodes displaced by a function of x, one of them near a neighbour."""
    if cell == "interval":
        mesh = dmesh.create_unit_interval(comm, 6)
    elif cell in ("triangle", "quadrilateral"):
        mesh = dmesh.create_unit_square(comm, 3, 2, CELLS[cell])
    else:
        mesh = dmesh.create_unit_cube(comm, 2, 1 if cell == "tetrahedron" else 2, 1, CELLS[cell])
    x, dim = mesh.geometry.x, mesh.geometry.dim
    waves = np.sin(x @ np.array([[7.0, 3.0, 5.0], [5.0, 9.0, 4.0], [4.0, 8.0, 6.0]]) + 1.0)
    middle = np.isclose(x[:, : min(dim, 2)], [1 / 3, 1 / 2] if dim == 2 else 0.5).all(axis=1)
    x[:, :dim] += squeeze * waves[:, :dim]
    x[middle, 0] -= 0.1 if dim == 1 else 0.2
    return mesh


def dense(body):
    """Tangent at rest, column by column, shape (dofs, dofs)."""
    matrix = np.zeros((body.size, body.size))
    for j, unit in enumerate(np.eye(body.size)):
        out = np.zeros(body.size)
        body.subtract_tangent(np.zeros(body.size), unit, out)
        matrix[:, j] = -out
    return matrix


def alone(mesh, k, **options):
    """The largest eigenvalue and the nodes of a cell as a body of its own, with its nodal masses."""
    one = dmesh.create_submesh(mesh, mesh.topology.dim, np.array([k], dtype=np.int32))[0]
    body = di.Solid(one, **options)
    root = 1 / np.sqrt(body.mass)
    return np.linalg.eigvalsh(dense(body) * np.outer(root, root))[-1], body.x, body.mass[:: body.block]


CASES = [
    ("triangle", 2, NEO, {}),
    ("triangle", 1, RUBBER, {}),
    ("quadrilateral", 1, RUBBER, {}),
    ("quadrilateral", 2, SOFT, {"hypothesis": "axisymmetric"}),
    ("interval", 3, SOFT, {}),
    ("hexahedron", 1, RUBBER, {}),
]


@pytest.mark.parametrize("cell, degree, law, options", CASES)
def test_cells_above_the_limit_get_mass_and_the_body_the_step(cell, degree, law, options):
    mesh = rough(cell, MPI.COMM_SELF, squeeze=0.02)
    mesh.geometry.x[:, 0] += 0.03  # away from the axis r = 0, but for the corner
    options = {"density": 2.0, "law": law, "degree": degree, **options}
    count = mesh.topology.index_map(mesh.topology.dim).size_local
    squares, places, masses = zip(*(alone(mesh, k, **options) for k in range(count)))
    plain = di.Solid(mesh, **options)
    assert plain.critical_time_step() > 2 / np.sqrt(max(squares)) * (1 - 1e-9)  # also with nodal pressure
    dt = 2 / np.sqrt(np.mean(np.sort(squares)[-3:-1]))  # two cells are above the limit
    body = di.Solid(mesh, mass_scaling=dt, **options)
    factors = np.maximum(np.array(squares) * dt**2 / 4, 1.0)
    expected = plain.mass[:: plain.block].copy()
    for factor, x, own in zip(factors, places, masses):
        for node, mass in zip(x, own):
            expected[np.argmin(np.linalg.norm(plain.x - node, axis=1))] += (factor - 1) * mass
    np.testing.assert_allclose(body.mass, np.repeat(expected, body.block), rtol=1e-10)
    assert body.scaled_cells == np.count_nonzero(factors > 1) == 2
    assert body.mass.sum() / body.block - body.total_mass == pytest.approx(body.added_mass, rel=1e-10)
    assert body.total_mass == plain.total_mass
    root = 1 / np.sqrt(body.mass)
    highest = np.linalg.eigvalsh(dense(body) * np.outer(root, root))[-1]
    assert 2 / np.sqrt(highest) >= dt * (1 - 1e-9)
    assert body.critical_time_step() >= dt * (1 - 1e-9)


@examples(6)
@given(
    cell=st.sampled_from(["triangle", "quadrilateral", "tetrahedron"]),
    law=st.sampled_from([SOFT, NEO, di.NeoHookean(1.0, 0.49, isochoric=True)]),
    seed=st.integers(0, 999),
    courant=st.floats(0.4, 1.2),
)
def test_random_meshes(cell, law, seed, courant):
    """The critical step is at least the one asked for; no node away from the scaled cells gets mass."""
    mesh = rough(cell, MPI.COMM_SELF, squeeze=0.0)
    dim, spread = mesh.geometry.dim, 0.1 if cell == "tetrahedron" else 0.03
    mesh.geometry.x[:, :dim] += spread * np.random.default_rng(seed).uniform(
        -1, 1, (len(mesh.geometry.x), dim)
    )
    plain = di.Solid(mesh, density=1.0, law=law)
    dt = courant * plain.critical_time_step()
    try:
        body = di.Solid(mesh, density=1.0, law=law, mass_scaling=dt)
    except ValueError as error:
        assert "would more than double" in str(error) and courant > 0.5
        return
    root = 1 / np.sqrt(body.mass)
    assert 2 / np.sqrt(np.linalg.eigvalsh(dense(body) * np.outer(root, root))[-1]) >= dt * (1 - 1e-9)
    added = (body.mass - plain.mass)[:: body.block]
    assert added.sum() == pytest.approx(body.added_mass, rel=1e-9, abs=1e-14) and added.min() > -1e-14
    corners = len(mesh.geometry.dofmap[0])
    assert np.count_nonzero(added > 1e-14) <= corners * body.scaled_cells


def test_stiff_cells_of_a_function():
    """The stiffness of each cell is that of the law in it, also where it has a Function."""
    mesh = dmesh.create_unit_square(MPI.COMM_SELF, 3, 3)
    modulus = fem.Function(fem.functionspace(mesh, ("DG", 0)))
    modulus.x.array[:] = 1.0
    law = di.EnergyLaw(lambda F: modulus * ufl.inner(F - ufl.Identity(3), F - ufl.Identity(3)))
    dt = 0.9 * di.Solid(mesh, density=1.0, law=law).critical_time_step()
    assert di.Solid(mesh, density=1.0, law=law, mass_scaling=dt).scaled_cells == 0
    modulus.x.array[7] = 9.0
    plain, body = di.Solid(mesh, density=1.0, law=law), di.Solid(mesh, density=1.0, law=law, mass_scaling=dt)
    nodes = body.space.dofmap.list[7]
    assert body.scaled_cells == 1 and body.critical_time_step() >= dt > plain.critical_time_step()
    assert set(np.flatnonzero(body.mass[::2] - plain.mass[::2] > 1e-14)) == set(nodes)


def test_kernels_of_linear_bodies(monkeypatch):
    mesh = rough("quadrilateral", MPI.COMM_SELF, squeeze=0.02)
    stored = di.Solid(mesh, density=1.0, law=SOFT, degree=2, mass_scaling=0.05)
    monkeypatch.setattr("dolfinx_impact.systems.solid._MATRIX_FREE", 0)
    body = di.Solid(mesh, density=1.0, law=SOFT, degree=2, mass_scaling=0.05)
    assert [isinstance(each.forces, ElementForces) for each in (body, stored)] == [True, False]
    assert body.scaled_cells > 0
    np.testing.assert_allclose(body.mass, stored.mass, rtol=1e-10)


def test_a_bar_with_one_small_cell():
    """A cell of length l alone has the critical step l / c, which mass (dt c / l)^2 raises to dt."""
    plain, dt = bar(), 2.5e-4
    body = bar(mass_scaling=dt)
    assert body.scaled_cells == 1 and body.mass_scaling == dt
    assert body.added_mass == pytest.approx(0.0025 * ((dt * 100 / 0.0025) ** 2 - 1), rel=1e-9)
    assert body.added_share == body.added_mass / body.total_mass and body.total_mass == plain.total_mass
    added = body.mass - plain.mass
    assert np.count_nonzero(added) == 2
    np.testing.assert_allclose(added[added > 0], body.added_mass / 2, rtol=1e-9)
    assert plain.critical_time_step() < 0.4 * dt <= 0.4 * body.critical_time_step()
    assert bar().added_mass == bar().added_share == bar().scaled_cells == 0 and plain.mass_scaling is None


@pytest.mark.mpi
def test_free_cells_have_the_step_exactly():
    """Bodies of one cell, or of equal ones in a row that move in turn, attain the bound; damping included."""
    for damping in (
        {},
        {"damping": 900.0},
        {"stiffness_damping": 2e-5},
        {"damping": 500.0, "stiffness_damping": 1e-5},
    ):
        mesh = dmesh.create_interval(COMM, 12, [0.0, 0.12])
        for dt in (1.01e-4, 1.1e-4):
            body = di.Solid(mesh, density=1.0, law=di.LinearElastic(1e4), mass_scaling=dt, **damping)
            assert body.critical_time_step() == pytest.approx(dt, rel=1e-6)
            assert body.scaled_cells == 12


@pytest.mark.mpi
def test_a_run_at_the_step_asked_for():
    """A bar hits a wall at 0.9 of the step, which is not stable without: balance and momentum close."""
    dt = 1.5e-4
    with pytest.raises(ValueError, match="above the critical one"):
        di.CDLagrange(bar(), 0.9 * dt)
    body = bar(mass_scaling=dt)
    wall = di.RigidContact(body, "boundary", di.Plane((0.0,), (1.0,)))
    s = di.CDLagrange(body, 0.9 * dt, contact=wall)
    s.start(0.0, -1.0)
    run = di.simulate(s, t_end=600 * s.dt)
    assert output.relative_residual(run) < 1e-12
    momentum = parallel.total(COMM, body.mass @ s.v[: body.owned])
    mass = body.total_mass + body.added_mass
    assert momentum + mass == pytest.approx(run["r"].sum(), rel=1e-12)
    assert momentum > 0.9 * mass and np.abs(run["kinetic"]).max() <= 0.5 * mass * (1 + 1e-12)
    assert "8.75 % of mass added by mass scaling" in run.summary()
    assert "mass scaling to 0.00015 s adds 0.0875" in str(run) and "in 1 cells" in repr(body)


@pytest.mark.mpi
def test_weight_is_that_of_the_body_and_the_ground_moves_all_mass():
    free = bar(mass_scaling=2e-4, gravity=(-9.81,))
    weight, mass = np.zeros(free.size), free.total_mass
    free.external(0.0, weight, weight, weight)
    assert parallel.total(COMM, weight[: free.owned].sum()) == pytest.approx(-9.81 * mass, rel=1e-12)
    shaken = bar(mass_scaling=2e-4, ground_acceleration=((1.0,), np.cos))
    s = di.CDLagrange(shaken, 1e-4)
    s.start(0.0, 0.0)
    di.simulate(s, t_end=200 * s.dt)  # relative to the ground every mass moves as it would alone
    u = s.u[: shaken.owned]
    assert parallel.largest(COMM, u) + parallel.largest(COMM, -u) < 1e-12 * parallel.largest(COMM, np.abs(u))
    inertia = parallel.total(COMM, shaken.inertia((1.0,))[: shaken.owned].sum())
    assert inertia == pytest.approx(mass + shaken.added_mass, rel=1e-12)


@pytest.mark.mpi
@pytest.mark.parametrize(
    "cell, law, courant", [("triangle", RUBBER, 0.6), ("hexahedron", NEO, 1.0), ("quadrilateral", SOFT, 1.0)]
)
def test_ranks_agree(cell, law, courant):
    dt = courant * di.Solid(rough(cell, MPI.COMM_SELF), density=1.0, law=law).critical_time_step()
    every, one = (
        di.Solid(rough(cell, comm), density=1.0, law=law, mass_scaling=dt) for comm in (COMM, MPI.COMM_SELF)
    )
    assert every.scaled_cells == one.scaled_cells > 0
    assert every.added_mass == pytest.approx(one.added_mass, rel=1e-11)
    for node, mass in zip(every.x[: every.owned // every.block], every.mass[:: every.block]):
        at = np.argmin(np.linalg.norm(one.x - node, axis=1))
        assert mass == pytest.approx(one.mass[at * one.block], rel=1e-11)


@pytest.mark.mpi
def test_parts_of_a_mesh_and_their_materials():
    """Two parts with laws and densities of their own get what each of them gets alone."""
    mesh = dmesh.create_unit_square(COMM, 6, 4)
    named = di.named(mesh, cells={"left": lambda x: x[0] < 0.51, "right": lambda x: x[0] > 0.49})
    stiff = di.NeoHookean(20.0, 0.3)
    plain = di.Solid(named, density={"left": 1.0, "right": 2.0}, law={"left": NEO, "right": stiff})
    dt = 1.1 * plain.critical_time_step()
    both = di.Solid(
        named, density={"left": 1.0, "right": 2.0}, law={"left": NEO, "right": stiff}, mass_scaling=dt
    )
    right = di.Solid(named, density=2.0, law=stiff, cells="right", mass_scaling=dt)
    left = di.Solid(named, density=1.0, law=NEO, cells="left", mass_scaling=dt)
    assert both.scaled_cells == right.scaled_cells > 0 and left.scaled_cells == left.added_mass == 0
    np.testing.assert_allclose(both.mass, left.mass + right.mass, rtol=1e-12)
    assert "adds no mass" in repr(left)


def test_restarts_know_the_mass(tmp_path):
    def make(dt=2e-4):
        body = bar(mass_scaling=dt)
        return di.CDLagrange(body, 9e-5), np.sin(np.linspace(0, 3, body.size))

    assert same_bits(whole(make), kept(make, tmp_path / "run"))
    other = make(1.9e-4)[0]
    with pytest.raises(ValueError, match="mass"):
        di.simulate(other, t_end=150 * other.dt, restart=tmp_path / "run", progress=False)


def test_what_is_added_is_told(caplog):
    caplog.set_level(logging.INFO, logger="dolfinx_impact")
    words = {
        1e-6: ("adds no mass", "WARNING"),
        7e-5: ("1.71 % of the mass", "INFO"),
        2e-4: ("15.8 %", "WARNING"),
    }
    for dt, (text, level) in words.items():
        caplog.clear()
        bar(mass_scaling=dt)
        (record,) = (each for each in caplog.records if "mass_scaling" in each.getMessage())
        assert text in record.getMessage() and record.levelname == level


class Doubled(di.Solid):
    """A class with masses of its own."""

    def _lump(self):
        return 2 * super()._lump()


@pytest.mark.parametrize("wrong", [0.0, -1e-6, np.nan, np.inf, "1 ms", True, [1e-6]])
def test_steps_that_are_none(wrong):
    with pytest.raises(ValueError, match="mass_scaling must be a positive time step"):
        bar(mass_scaling=wrong)


def test_what_is_refused():
    with pytest.raises(ValueError, match="would more than double the mass of the body, 1 kg: take a smaller"):
        bar(mass_scaling=1.0)
    with pytest.raises(
        ValueError, match="not stable with any mass, since damping=10000 1/s: take a step below"
    ):
        bar(mass_scaling=2e-4, damping=1e4)
    body = bar(mass_scaling=2e-4)
    with pytest.raises(ValueError, match="mass_scaling is for lumped masses: take mass='lumped'"):
        di.MoreauJean(body, 1e-4)
    di.MoreauJean(body, 1e-4, mass="lumped")
    with pytest.raises(ValueError, match="not for Doubled, a class with forces or masses of its own"):
        Doubled(body.mesh, density=1.0, law=SOFT, mass_scaling=1.0)


@pytest.mark.mpi
@pytest.mark.parametrize("law", [SOFT, NEO], ids=["linear", "neo-Hookean"])
def test_ranks_without_cells(law):
    """One quadrilateral, whichever rank has it."""
    bodies = [
        di.Solid(
            dmesh.create_unit_square(comm, 1, 1, CELLS["quadrilateral"]),
            density=1.0,
            law=law,
            mass_scaling=dt,
        )
        for comm, dt in ((COMM, 0.8), (MPI.COMM_SELF, 0.8))
    ]
    assert bodies[0].scaled_cells == 1 and bodies[0].added_mass == pytest.approx(
        bodies[1].added_mass, rel=1e-12
    )
    assert bodies[0].critical_time_step() == pytest.approx(bodies[1].critical_time_step(), rel=1e-9)

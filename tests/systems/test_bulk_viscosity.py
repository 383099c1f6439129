"""Bulk viscosity: its force in closed form, what it leaves alone, what it dissipates, stable steps."""

import math

import numpy as np
import pytest
import ufl
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact import parallel
from dolfinx_impact.contact.tunnelling import Tunnelled
from dolfinx_impact.systems.critical_step import rough_field

COMM = MPI.COMM_WORLD
TRIANGLE, QUAD = dmesh.CellType.triangle, dmesh.CellType.quadrilateral
TET, HEX = dmesh.CellType.tetrahedron, dmesh.CellType.hexahedron
E, NU, DENSITY = 5.0, 0.25, 2.0
MODULUS = E * (1 - NU) / ((1 + NU) * (1 - 2 * NU))  # of longitudinal waves
LINEAR, NEO = di.LinearElastic(E, NU), di.NeoHookean(E, NU)
RATE = np.array([[0.7, 0.2, -0.3], [0.5, -1.9, 0.1], [0.4, -0.6, 0.3]])
STRAIN = np.array([[0.1, 0.06, -0.02], [-0.04, -0.15, 0.03], [0.05, 0.02, 0.08]])


def domain(kind, cells=2, comm=COMM, long=1.0):
    """A unit interval, square or cube, ``long`` times as long in x."""
    if kind is dmesh.CellType.interval:
        found = dmesh.create_unit_interval(comm, cells)
    elif kind in (TRIANGLE, QUAD):
        found = dmesh.create_unit_square(comm, cells, cells, cell_type=kind)
    else:
        found = dmesh.create_unit_cube(comm, cells, cells, cells, cell_type=kind)
    found.geometry.x[:, 0] *= long
    return found


def solid(kind=TRIANGLE, law=LINEAR, viscosity=(0.3, 1.2), *, cells=2, comm=COMM, long=1.0, **options):
    return di.Solid(
        domain(kind, cells, comm, long), density=DENSITY, law=law, bulk_viscosity=viscosity, **options
    )


def viscous(body, u, v):
    out = np.zeros(body.size)
    body.damping(0.0, u, v, out)
    return out


def affine(body, gradient):
    d = body.block
    return (body.x[:, :d] @ np.asarray(gradient)[:d, :d].T).ravel()


def waves(body, size=1.0, phase=0.0):
    x = body.x
    parts = [np.sin(5.1 * x[:, 0] + 3.3 * (i + 1) * x[:, 1] - 2.7 * x[:, 2] + i + phase) for i in range(3)]
    return size * np.column_stack(parts)[:, : body.block].ravel()


def power(body, force, v):
    return COMM.allreduce(float(force[: body.owned] @ v[: body.owned]))


def stress(rate, edge, b1, b2, modulus=MODULUS):
    """Mean stress ``rho l (b1 c tr D + b2^2 l tr D |tr D|)``, the second term in compression alone."""
    c = math.sqrt(modulus / DENSITY)
    return DENSITY * edge * (b1 * c * rate + b2**2 * edge * min(rate, 0.0) * abs(rate))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("law", [LINEAR, NEO], ids=["linear", "neo-Hookean"])
def test_one_triangle(law, sign):
    """Nodal forces of uniform rates, from the gradients of the shape functions, deformed or not."""
    body = solid(TRIANGLE, law, cells=1, comm=MPI.COMM_SELF, cross_section=0.5, long=1.7)
    corners = body.x[body.space.dofmap.list[0], :2]
    edges = (corners[1:] - corners[0]).T
    area = abs(np.linalg.det(edges)) / 2
    slopes = np.vstack([-np.linalg.inv(edges).sum(axis=0), np.linalg.inv(edges)])  # grad N, a row a node
    u, v = affine(body, STRAIN), affine(body, sign * RATE)
    F = np.eye(2) + (0 if law is LINEAR else 1) * STRAIN[:2, :2]
    onto = np.linalg.inv(F)
    p = stress(np.trace(sign * RATE[:2, :2] @ onto), math.sqrt(area), 0.3, 1.2)
    expected = 0.5 * area * np.linalg.det(F) * p * slopes @ onto
    other = body.x[body.space.dofmap.list[1], :2]
    alone = int(np.argmin([np.isclose(c, other).all(axis=1).any() for c in corners]))
    node = body.space.dofmap.list[0][alone]  # on the first triangle only
    found = viscous(body, u, v).reshape(-1, 2)[node]
    assert found == pytest.approx(expected[alone], rel=1e-12)


@pytest.mark.parametrize(
    "kind, degree, state",
    [
        (dmesh.CellType.interval, 1, None),
        (TRIANGLE, 1, "plane-strain"),
        (TRIANGLE, 2, "plane-strain"),
        (QUAD, 1, "plane-stress"),
        (QUAD, 2, "plane-strain"),
        (TET, 1, None),
        (HEX, 1, None),
    ],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_power_of_uniform_rates(kind, degree, state, sign):
    """Volume times stress times rate; the edge is that of a cube of the cell's volume by the degree."""
    thickness = 0.5 if kind in (QUAD, TRIANGLE) else 1.0
    body = solid(kind, cells=2, degree=degree, hypothesis=state, cross_section=thickness)
    d = body.block
    v = affine(body, sign * RATE)
    rate = sign * np.trace(RATE[:d, :d])
    cells = body.mesh.topology.index_map(d).size_global
    modulus = E if d == 1 else E / (1 - NU**2) if state == "plane-stress" else MODULUS
    edge = (1 / cells) ** (1 / d) / degree
    expected = body.cross_section * stress(rate, edge, 0.3, 1.2, modulus) * rate
    assert expected > 0
    assert power(body, viscous(body, np.zeros(body.size), v), v) == pytest.approx(expected, rel=1e-12)


def test_hoop_rate_of_a_body_of_revolution():
    """A cylinder that only swells around: tr D is v_r' + v_r / r, over a full turn."""
    body = solid(QUAD, hypothesis="axisymmetric")
    v = affine(body, np.diag([-0.5, 0.0, 0.0]))
    expected = math.pi * stress(-1.0, 0.5, 0.3, 1.2) * -1.0
    assert power(body, viscous(body, np.zeros(body.size), v), v) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("law", [LINEAR, NEO], ids=["linear", "neo-Hookean"])
def test_turning_and_shearing_are_free(law):
    """No force in a rigid motion of the deformed body, nor in a flow that keeps its volume; no resultant."""
    body = solid(TRIANGLE, law)
    u = affine(body, STRAIN)
    place = body.x[:, :2] + u.reshape(-1, 2) * (law is NEO)
    n = body.owned
    scale = parallel.largest(COMM, np.abs(viscous(body, u, affine(body, RATE))[:n]))
    for flow in ([[0, -1.0], [1.0, 0]], [[0, 2.0], [0, 0]], [[1.0, 0.3], [0.4, -1.0]]):
        v = (place @ np.array(flow).T + [0.3, -0.2]).ravel()
        assert parallel.largest(COMM, np.abs(viscous(body, u, v)[:n])) < 1e-12 * scale
    force = viscous(body, u, waves(body))
    assert np.abs(COMM.allreduce(force[:n].reshape(-1, 2).sum(axis=0))).max() < 1e-12 * scale
    arms = place[: n // 2]
    turning = COMM.allreduce(float((arms[:, 0] * force[1:n:2] - arms[:, 1] * force[:n:2]).sum()))
    assert abs(turning) < 1e-12 * scale


@examples(10)
@given(st.sampled_from([LINEAR, NEO]), st.floats(0, 0.5), st.floats(0, 3), st.floats(-5, 5), st.floats(0, 6))
def test_dissipation_is_never_negative(law, b1, b2, size, phase):
    body = solid(TRIANGLE, law, viscosity=(b1, b2))
    u, v = waves(body, 0.02, phase), waves(body, size, 2 * phase)
    assert power(body, viscous(body, u, v), v) >= 0.0


def test_the_quadratic_term_acts_in_compression_alone():
    body = solid(TRIANGLE, viscosity=(0.0, 1.2))
    v, none = affine(body, np.eye(3)), np.zeros(body.size)
    assert not viscous(body, none, v)[: body.owned].any()
    once, twice = power(body, viscous(body, none, -v), -v), power(body, viscous(body, none, -2 * v), -2 * v)
    assert once > 0 and twice == pytest.approx(8 * once, rel=1e-12)


def test_small_strains_are_those_of_the_linear_law():
    linear, large = solid(TRIANGLE, LINEAR), solid(TRIANGLE, NEO)
    u, v = waves(linear, 1e-7), waves(linear)
    expected = viscous(linear, u, v)[: linear.owned]
    difference = viscous(large, u, v)[: large.owned] - expected
    assert parallel.largest(COMM, np.abs(difference)) < 1e-5 * parallel.largest(COMM, np.abs(expected))


@pytest.mark.mpi
def test_each_material_has_its_own_wave_speed():
    square = domain(QUAD)
    index_map = square.topology.index_map(2)
    every = np.arange(index_map.size_local + index_map.num_ghosts, dtype=np.int32)
    left = dmesh.compute_midpoints(square, 2, every)[:, 0] < 0.5
    tags = dmesh.meshtags(square, 2, every, np.where(left, 1, 2).astype(np.int32))
    named = di.NamedMesh(square, tags, None, {"soft": (2, 1), "stiff": (2, 2)})
    laws = {"soft": LINEAR, "stiff": di.LinearElastic(4 * E, NU)}
    body = di.Solid(named, density=DENSITY, law=laws, bulk_viscosity=(0.3, 0.0))
    v = affine(body, RATE)
    rate = np.trace(RATE[:2, :2])
    expected = (stress(rate, 0.5, 0.3, 0.0) + stress(rate, 0.5, 0.3, 0.0, 4 * MODULUS)) / 2 * rate
    assert power(body, viscous(body, 0 * v, v), v) == pytest.approx(expected, rel=1e-12)


# -- runs


@pytest.mark.mpi
@pytest.mark.parametrize("law", [LINEAR, NEO], ids=["linear", "neo-Hookean"])
def test_balance_of_a_plate_that_hits_a_wall(law):
    """The energy lost is the work of viscosity and impacts; the loss grows; ranks agree with a single one."""
    found = []
    for comm in (COMM, MPI.COMM_SELF):
        body = solid(QUAD, law, (0.06, 1.2), cells=4, comm=comm)
        facets = dmesh.locate_entities_boundary(body.mesh, 1, lambda x: np.isclose(x[0], 0.0))
        tags = dmesh.meshtags(body.mesh, 1, np.sort(facets), np.ones(facets.size, np.int32))
        named = di.NamedMesh(body.mesh, None, tags, {"face": (1, 1)})
        body = di.Solid(named, density=DENSITY, law=law, bulk_viscosity=(0.06, 1.2))
        wall = di.RigidContact(body, "face", di.Plane([-0.02, 0.0], [1.0, 0.0]))
        s = di.CDLagrange(body, 0.6 * body.critical_time_step(), wall)
        s.start(0.0, body.rigid_velocity((-0.3, 0.05)))
        found.append(di.simulate(s, t_end=120 * s.dt, record=body.rows(), progress=False))
    result, alone = found
    scale = result["kinetic"][0]
    assert np.abs(result["residual"]).max() < 1e-12 * scale
    assert np.diff(result["dissipated"]).min() > -1e-6 * scale
    assert result["dissipated"][-1] > 1e-3 * scale
    assert result["r"].max() > 0
    for name in ("kinetic", "dissipated", "internal"):
        assert np.abs(result[name] - alone[name]).max() < 1e-12 * scale
    assert np.abs(result["u"] - alone["u"]).max() < 1e-12 * np.abs(alone["u"]).max()


def growth(body, dt, steps=400):
    """Size of the velocity after the steps, and at first."""
    s = di.CDLagrange(body, dt, allow_unstable=True)
    rough = 1e-6 * rough_field(body)
    s.start(0.0, rough)
    for _ in range(steps):
        s.step()
        if not np.all(np.isfinite(s.v)):
            return math.inf
    return parallel.largest(COMM, np.abs(s.v[: body.owned])) / 1e-6


@pytest.mark.parametrize(
    "options",
    [
        {"viscosity": (0.06, 0.0)},
        {"viscosity": (0.4, 0.0)},
        {"viscosity": (0.2, 0.0), "damping": 0.5, "stiffness_damping": 0.03},
    ],
)
def test_critical_step_of_a_line(options):
    """With linear viscosity and stiffness damping: stable just below, not above."""
    body = solid(dmesh.CellType.interval, di.LinearElastic(E), cells=10, **options)
    critical = body.critical_time_step()
    h, c = 0.1, math.sqrt(E / DENSITY)
    omega = 2 * c / h
    rate = 2 * options["viscosity"][0] * omega
    rate += options.get("damping", 0.0) + options.get("stiffness_damping", 0.0) * omega**2
    assert critical == pytest.approx(4 / (rate + math.hypot(rate, 2 * omega)), rel=1e-5)
    assert growth(body, 0.99 * critical) < 10.0
    assert growth(body, 1.05 * critical) > 1e6


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "kind, long, degree",
    [
        (TRIANGLE, 1.0, 1),
        (TRIANGLE, 10.0, 1),
        (QUAD, 10.0, 1),
        (QUAD, 0.1, 1),
        (TRIANGLE, 1.0, 2),
        (TET, 8.0, 1),
    ],
)
def test_critical_step_of_long_elements(kind, long, degree):
    """The viscosity of an element goes with its mean edge: on long ones it damps more than b1 of critical."""
    body = solid(kind, LINEAR, (0.3, 0.0), cells=2, long=long, degree=degree)
    assert growth(body, 0.995 * body.critical_time_step()) < 10.0


def thrown(speed, courant=0.95):
    """A linear plate that is thrown at a wall, its speed a part of that of waves; started."""
    plate = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 0.2]], [16, 3], QUAD)
    facets = dmesh.locate_entities_boundary(plate, 1, lambda x: np.isclose(x[0], 0.0))
    tags = dmesh.meshtags(plate, 1, facets, np.ones(facets.size, np.int32))
    named = di.NamedMesh(plate, None, tags, {"face": (1, 1)})
    body = di.Solid(named, density=1.0, law=di.LinearElastic(1.0, 0.0), bulk_viscosity=(0.06, 1.2))
    wall = di.RigidContact(body, "face", di.Plane((-0.01, 0.0), (1.0, 0.0)))
    s = di.CDLagrange(body, courant * body.critical_time_step(), wall)
    s.start(0.0, body.rigid_velocity((-speed, 0.0)))
    return s


def test_quadratic_term_in_the_critical_step_of_a_line():
    """Linearised: a mesh that is compressed at a uniform rate D damps by b1 c + 2 b2^2 l |tr D| in all."""
    body = solid(dmesh.CellType.interval, di.LinearElastic(E), (0.06, 1.2), cells=10)
    h, c, rate = 0.1, math.sqrt(E / DENSITY), 3.0
    v = affine(body, -rate * np.eye(3))
    omega = 2 * c / h
    damped = 2 * (0.06 + 2 * 1.2**2 * h * rate / c) * omega
    expected = 4 / (damped + math.hypot(damped, 2 * omega))
    assert body.critical_time_step(v=v) == pytest.approx(expected, rel=1e-5)
    assert body.critical_time_step(v=-v) == pytest.approx(body.critical_time_step(), rel=1e-5)
    assert body.critical_time_step(v=0 * v) == pytest.approx(body.critical_time_step(), rel=1e-5)


@pytest.mark.mpi
def test_an_impact_that_is_too_fast_for_the_step_is_said(caplog):
    with pytest.raises(di.UnstableTimeStep, match="quadratic bulk viscosity lowers .* adapt=StepControl"):
        di.simulate(thrown(0.41), t_end=3.0, progress=False)
    said = [record for record in caplog.records if "at the first impact the quadratic" in record.message]
    assert len(said) == (COMM.rank == 0)
    caplog.clear()
    control = di.StepControl()
    run = di.simulate(thrown(0.41), t_end=3.0, adapt=control, progress=False)
    energy = run["kinetic"] + run["internal"]
    assert control.changes > 0 and energy.max() < 1.001 * energy[0] and energy[-1] < 0.95 * energy[0]
    di.simulate(thrown(0.02, 0.8), t_end=1.0, progress=False)
    assert not caplog.records


@pytest.mark.mpi
@pytest.mark.parametrize("gap", [1e-3, 0.7])
def test_an_impact_of_surfaces_that_are_apart_is_said(caplog, gap):
    """Surfaces have no rows before they touch; those of two plates meet at the mean of their velocities."""
    ends = ([[-1.0, 0.0], [0.0, 0.2]], [[gap, 0.0], [1.0 + gap, 0.2]])
    parts = [dmesh.create_rectangle(COMM, end, [16, 3], QUAD) for end in ends]
    named = di.mesh.join(dict(zip(("left", "right"), parts)))
    law = di.LinearElastic(1.0, 0.0)
    body = di.Solid(named, density=1.0, law=law, bulk_viscosity=(0.06, 1.2))
    contact = di.SurfaceContact(body, "left/boundary", "right/boundary")
    for speed, said in ((0.41, 1), (0.005, 0)):
        caplog.clear()
        s = di.CDLagrange(body, 0.9 * body.critical_time_step(), contact)
        away = body.rigid_velocity((-speed, 0.0), cells="right")
        s.start(0.0, body.rigid_velocity((speed, 0.0), cells="left") + away)
        di.simulate(s, t_end=2 * s.dt, progress=False)
        told = [record for record in caplog.records if "at the first impact the quadratic" in record.message]
        assert len(told) == (said if COMM.rank == 0 else 0)


def test_what_passes_through_an_obstacle_may_have_diverged(monkeypatch):
    """A run that explodes may tunnel before its energy is looked at: the error names both reasons."""

    def pass_through():
        raise Tunnelled("surfaces pass through each other")

    for control, said in (
        (None, "; or the run has diverged: .*quadratic.*adapt=StepControl"),
        (di.StepControl(), "$"),
    ):
        s = thrown(0.41)
        monkeypatch.setattr(s, "step", pass_through)
        with pytest.raises(Tunnelled, match=f"^surfaces pass through each other{said}"):
            di.simulate(s, t_end=3.0, adapt=control, progress=False)


@pytest.mark.parametrize("given_value", [(0.1,), (0.1, -1.0), (math.nan, 0.0), 0.1, (0.1, 0.2, 0.3)])
def test_bad_coefficients(given_value):
    with pytest.raises(ValueError, match=r"bulk_viscosity must be two numbers of at least 0, \(b1, b2\)"):
        solid(viscosity=given_value)


def test_a_law_without_wave_speed_is_refused_at_once():
    own = di.EnergyLaw(lambda F: ufl.inner(F, F) ** 2)
    with pytest.raises(ValueError, match="bulk viscosity needs the modulus of waves.*no wave_modulus"):
        solid(law=own)

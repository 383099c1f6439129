"""Elements, states and materials of solids: invariants, derivatives, closed forms; unsound meshes."""

import math

import basix.ufl
import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from scipy.optimize import minimize_scalar
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact import mesh, parallel
from dolfinx_impact.mesh.quality import refuse_inverted

COMM = MPI.COMM_WORLD
TRIANGLE, QUAD = dmesh.CellType.triangle, dmesh.CellType.quadrilateral
TET, HEX = dmesh.CellType.tetrahedron, dmesh.CellType.hexahedron
E, NU, DENSITY = 7.0, 0.3, 2.0
LAME, MU = E * NU / ((1 + NU) * (1 - 2 * NU)), E / (2 * (1 + NU))
LINEAR, NEO, SVK = di.LinearElastic(E, NU), di.NeoHookean(E, NU), di.StVenantKirchhoff(E, NU)
RUBBER = di.MooneyRivlin(1.0, 0.3, 5.0)


def box(kind, cells=3, distort=0.06, comm=COMM, corner=0.0):
    """A unit square or cube, its corner at ``corner`` in x, its inner nodes displaced."""
    make = dmesh.create_unit_square if kind in (TRIANGLE, QUAD) else dmesh.create_unit_cube
    counts = (cells, cells - 1) if make is dmesh.create_unit_square else (cells - 1, cells - 1, 1)
    found = make(comm, *counts, cell_type=kind)
    x = found.geometry.x
    d = found.topology.dim
    bubble = np.prod(np.sin(np.pi * x[:, :2]), axis=1)
    for i in range(d):
        x[:, i] += distort * bubble * np.cos(3.0 * x[:, 0] + (2.0 + i) * x[:, 1] + i) * (i < 2)
    x[:, 0] += corner
    return found


def solid(kind, degree=1, law=LINEAR, *, cells=3, corner=0.0, **options):
    return di.Solid(box(kind, cells, corner=corner), density=DENSITY, law=law, degree=degree, **options)


def total(body, values):
    """Sum over all nodes of all ranks, shape (gdim,)."""
    return COMM.allreduce(values[: body.owned].reshape(-1, body.block).sum(axis=0))


def biggest(body, values):
    return parallel.largest(COMM, np.abs(values[: body.owned]))


def internal(body, u):
    out = np.zeros(body.size)
    body.subtract_internal(u, out)
    return -out


def tangent(body, u, x):
    out = np.zeros(body.size)
    body.subtract_tangent(u, x, out)
    return -out


def stored(body, u):
    return COMM.allreduce(body.stored_energy(u))


def moment(body, force, u):
    """Moment of the nodal forces at the deformed positions about the origin, shape (3,)."""
    n, d = body.owned // body.block, body.block
    place, acting = np.zeros((n, 3)), np.zeros((n, 3))
    place[:, :d] = body.x[:n, :d] + u[: body.owned].reshape(n, d)
    acting[:, :d] = force[: body.owned].reshape(n, d)
    return COMM.allreduce(np.cross(place, acting).sum(axis=0))


def waves(body, size=0.05, phase=0.0):
    """A smooth displacement without symmetry, the same on any number of ranks."""
    x = body.x
    parts = [np.sin(2.1 * x[:, 0] + 1.3 * (i + 1) * x[:, 1] - 0.7 * x[:, 2] + i + phase) for i in range(3)]
    return size * np.column_stack(parts)[:, : body.block].ravel()


def affine(body, gradient, shift=0.0):
    d = body.block
    return (body.x[:, :d] @ np.asarray(gradient)[:d, :d].T + shift).ravel()


def turned(d):
    """A finite rotation, 3x3."""
    c, s = math.cos(1.1), math.sin(1.1)
    about_z = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return about_z if d == 2 else about_z @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


ELEMENTS = [
    (TRIANGLE, 1),
    (TRIANGLE, 2),
    (QUAD, 1),
    (QUAD, 2),
    (QUAD, 3),
    (TET, 1),
    (TET, 2),
    (HEX, 1),
    (HEX, 2),
]


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("kind, degree", ELEMENTS)
def test_elements_have_their_mass_and_no_force_in_rigid_motions(kind, degree):
    """Positive masses that add up, momentum of gravity, no force of translations and small rotations."""
    body = solid(kind, degree, gravity=(1.5,) + (0.0,) * (kind in (TET, HEX)) + (-3.0,))
    d = body.block
    assert body.total_mass == pytest.approx(DENSITY, rel=1e-12)
    assert total(body, body.mass) == pytest.approx([DENSITY] * d, rel=1e-12)
    assert -parallel.largest(COMM, -body.mass) > 1e-4 * DENSITY / COMM.allreduce(body.owned)
    load = np.zeros(body.size)
    body.external(0.0, load, load, load)
    weight = total(body, load)
    assert weight[[0, -1]] == pytest.approx([1.5 * DENSITY, -3.0 * DENSITY], rel=1e-12)
    scale = biggest(body, internal(body, waves(body)))
    skew = np.array([[0, -1.0, 0.4], [1.0, 0, -0.7], [-0.4, 0.7, 0]])
    for rigid in (np.ones(body.size), affine(body, skew)):
        assert biggest(body, internal(body, rigid)) < 1e-12 * scale / 0.05
    force = internal(body, waves(body))
    assert np.abs(total(body, force)).max() < 1e-11 * scale
    assert np.abs(moment(body, force, np.zeros(body.size))).max() < 1e-11 * scale


NONLINEAR = [
    (TRIANGLE, 1, NEO, None),
    (TRIANGLE, 2, SVK, None),
    (QUAD, 1, RUBBER, None),
    (QUAD, 2, SVK, None),
    (QUAD, 3, SVK, None),
    (TRIANGLE, 1, SVK, "plane-stress"),
    (TET, 1, NEO, None),
    (HEX, 1, SVK, None),
]


@pytest.mark.parametrize("kind, degree, law, state", NONLINEAR)
def test_nonlinear_elements(kind, degree, law, state):
    """Finite rigid motions cost nothing; no resultant, no moment; forces and tangents are derivatives."""
    body = solid(kind, degree, law, hypothesis=state, cross_section=0.5 if state else 1.0)
    d = body.block
    u, x = waves(body), waves(body, 1.0, phase=2.0)
    force = internal(body, u).copy()
    scale = biggest(body, force)
    rigid = affine(body, turned(d) - np.eye(3), shift=0.3)
    assert biggest(body, internal(body, rigid)) < 1e-11 * scale / 0.05
    assert abs(stored(body, rigid)) < 1e-12 * E
    assert np.abs(total(body, force)).max() < 1e-11 * scale
    assert np.abs(moment(body, force, u)).max() < 1e-11 * scale
    h = 1e-5
    slope = (stored(body, u + h * x) - stored(body, u - h * x)) / (2 * h)
    assert slope == pytest.approx(COMM.allreduce(force[: body.owned] @ x[: body.owned]), rel=1e-7)
    product = tangent(body, u, x).copy()
    change = (internal(body, u + h * x).copy() - internal(body, u - h * x)) / (2 * h)
    assert biggest(body, product - change) < 1e-7 * biggest(body, product)
    other = waves(body, 1.0, phase=5.0)
    mirrored = tangent(body, u, other)[: body.owned] @ x[: body.owned]
    assert COMM.allreduce(product[: body.owned] @ other[: body.owned]) == pytest.approx(
        COMM.allreduce(mirrored), rel=1e-9, abs=1e-11 * scale
    )


def test_rotation_before_and_after_a_deformation():
    """Forces turn with the body: F_int(Q (x + u) - x) = Q F_int(u)."""
    body = solid(QUAD, 1, NEO)
    Q, n = turned(2)[:2, :2], body.size // 2
    u = waves(body).reshape(n, 2)
    after = (body.x[:, :2] + u) @ Q.T - body.x[:, :2]
    before = internal(body, u.ravel()).reshape(n, 2).copy() @ Q.T
    difference = internal(body, after.ravel()) - before.ravel()
    assert biggest(body, difference) < 1e-11 * biggest(body, before.ravel())


# -- closed forms under uniform strain


def energy_3d(law, F):
    """Stored energy of the built-in laws, independent of UFL."""
    C, J = F.T @ F, np.linalg.det(F)
    if law == LINEAR:
        e = (F + F.T) / 2 - np.eye(3)
        return MU * np.sum(e * e) + LAME / 2 * np.trace(e) ** 2
    if law == SVK:
        e = (C - np.eye(3)) / 2
        return MU * np.sum(e * e) + LAME / 2 * np.trace(e) ** 2
    if law == NEO:
        return MU / 2 * (np.trace(C) - 3) - MU * math.log(J) + LAME / 2 * math.log(J) ** 2
    first = np.trace(C)
    second = (first**2 - np.trace(C @ C)) / 2
    return (J ** (-2 / 3) * first - 3) + 0.3 * (J ** (-4 / 3) * second - 3) + 2.5 * (J - 1) ** 2


def thin_energy(law, F):
    def at(stretch):
        G = F.copy()
        G[2, 2] = stretch
        return energy_3d(law, G)

    return minimize_scalar(at, bounds=(0.5, 1.8), method="bounded", options={"xatol": 1e-9}).fun


GRADIENT = np.array([[0.12, 0.07, -0.03], [-0.02, -0.09, 0.05], [0.04, 0.01, 0.06]])
PATCHES = [
    (TRIANGLE, 1, NEO, "plane-strain"),
    (TRIANGLE, 2, LINEAR, "plane-strain"),
    (QUAD, 2, SVK, "plane-strain"),
    (QUAD, 1, RUBBER, "plane-strain"),
    (QUAD, 1, LINEAR, "plane-stress"),
    (TRIANGLE, 1, SVK, "plane-stress"),
    (TRIANGLE, 1, NEO, "plane-stress"),
    (TET, 1, NEO, None),
    (TET, 2, LINEAR, None),
    (HEX, 1, SVK, None),
    (HEX, 2, LINEAR, None),
]


@pytest.mark.parametrize("kind, degree, law, state", PATCHES)
def test_uniform_strain(kind, degree, law, state):
    """On a distorted mesh: energy of the closed form, no force on nodes inside."""
    body = solid(kind, degree, law, hypothesis=state, cross_section=1.0 if state is None else 0.4)
    d = body.block
    u, F = affine(body, GRADIENT), np.eye(3)
    F[:d, :d] += GRADIENT[:d, :d]
    density = thin_energy(law, F) if state == "plane-stress" else energy_3d(law, F)
    assert stored(body, u) == pytest.approx(body.cross_section * density, rel=1e-9)
    force, n = internal(body, u), body.owned // d
    x = body.x[:n, :d]
    inside = np.all((x > 1e-9) & (x < 1 - 1e-9), axis=1)
    inner = parallel.largest(COMM, np.abs(force[: body.owned].reshape(n, d)[inside]).ravel())
    assert inner < 1e-11 * biggest(body, force) or d == 3 and COMM.allreduce(inside.sum()) == 0
    virtual = affine(body, GRADIENT)  # dW/da of the gradient (1 + a) GRADIENT
    slope = COMM.allreduce(force[: body.owned] @ virtual[: body.owned])
    h = 1e-5
    up, down = F.copy(), F.copy()
    up[:d, :d] += h * GRADIENT[:d, :d]
    down[:d, :d] -= h * GRADIENT[:d, :d]
    closed = thin_energy if state == "plane-stress" else energy_3d
    change = closed(law, up) - closed(law, down)
    assert slope == pytest.approx(body.cross_section * change / (2 * h), rel=1e-6)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "kind, degree, law, bore",
    [
        (TRIANGLE, 1, LINEAR, 0.0),
        (TRIANGLE, 2, LINEAR, 0.5),
        (QUAD, 1, NEO, 0.0),
        (QUAD, 2, LINEAR, 0.0),
        (TRIANGLE, 1, NEO, 0.5),
    ],
)
def test_cylinder_of_revolution(kind, degree, law, bore):
    """A solid and a hollow cylinder, uniform radial and axial strain: a full turn of the closed form."""
    body = solid(kind, degree, law, corner=bore, hypothesis="axisymmetric", gravity=(0.0, -3.0))
    volume = math.pi * ((1 + bore) ** 2 - bore**2)
    assert body.total_mass == pytest.approx(DENSITY * volume, rel=1e-12)
    assert total(body, body.mass) == pytest.approx([DENSITY * volume] * 2, rel=1e-12)
    load = np.zeros(body.size)
    body.external(0.0, load, load, load)
    assert total(body, load)[1] == pytest.approx(-3.0 * DENSITY * volume, rel=1e-12)
    a, b = -0.08, 0.11
    u = affine(body, np.diag([a, b, 0.0]))
    F = np.diag([1 + a, 1 + b, 1 + a])
    assert stored(body, u) == pytest.approx(volume * energy_3d(law, F), rel=1e-11)
    n = body.owned // 2
    force, x = internal(body, u), body.x[:n, :2]
    inside = (x[:, 0] > bore + 1e-9) & (x[:, 0] < bore + 1 - 1e-9) & (x[:, 1] > 1e-9) & (x[:, 1] < 1 - 1e-9)
    inner = np.abs(force[: body.owned].reshape(n, 2)[inside]).ravel()
    assert parallel.largest(COMM, inner) < 1e-11 * biggest(body, force)
    axial = np.zeros(body.size)
    axial[1::2] = 1.0
    assert biggest(body, internal(body, axial)) < 1e-11 * biggest(body, force) / a**2
    shear = internal(body, u).copy()
    x, h = waves(body, 1.0) + 0.0, 1e-5
    x[::2] *= body.x[:, 0]
    slope = (stored(body, u + h * x) - stored(body, u - h * x)) / (2 * h)
    assert slope == pytest.approx(COMM.allreduce(shear[: body.owned] @ x[: body.owned]), rel=1e-6)


def test_pressure_on_a_turned_cylinder():
    """The traction acts on the area of a full turn."""
    square = box(QUAD, distort=0.0, corner=0.5)
    facets = dmesh.locate_entities_boundary(square, 1, lambda x: np.isclose(x[0], 1.5))
    tags = dmesh.meshtags(square, 1, np.sort(facets), np.ones(facets.size, dtype=np.int32))
    named = di.NamedMesh(square, None, tags, {"outside": (1, 1)})
    pull = {"outside": (2.0, -1.0)}
    body = di.Solid(named, density=1.0, law=LINEAR, hypothesis="axisymmetric", traction=pull)
    load = np.zeros(body.size)
    body.external(0.0, load, load, load)
    assert total(body, load) == pytest.approx(2 * math.pi * 1.5 * np.array([2.0, -1.0]), rel=1e-12)


@pytest.mark.parametrize(
    "state, dimension, words",
    [
        ("plane", 2, "hypothesis must be one of plane-strain, plane-stress, axisymmetric, not 'plane'"),
        ("plane-stress", 3, "hypothesis is for bodies in the plane, this one has 3"),
        ("axisymmetric", 1, "hypothesis is for bodies in the plane, this one has 1"),
    ],
)
def test_states_that_do_not_fit(state, dimension, words):
    made = {1: lambda: dmesh.create_unit_interval(COMM, 3), 2: lambda: box(QUAD), 3: lambda: box(TET)}
    with pytest.raises(ValueError, match=words):
        di.Solid(made[dimension](), density=1.0, law=LINEAR, hypothesis=state)


# -- materials and bodies by the names of cells


def named_square(kind=TRIANGLE, apart=0.0, thirds=False):
    """Left and right half of a square; ``apart``: a gap between them, no common node."""
    if apart:
        cells, x = two_squares(apart)
        element = basix.ufl.element("Lagrange", "quadrilateral", 1, shape=(2,))
        own = (cells, x) if COMM.rank == 0 else (cells[:0], x[:0])
        found = dmesh.create_mesh(COMM, cells=own[0], x=own[1], e=element)
    else:
        found = dmesh.create_unit_square(COMM, 4, 3, cell_type=kind)
    tdim = 2
    count = found.topology.index_map(tdim).size_local + found.topology.index_map(tdim).num_ghosts
    every = np.arange(count, dtype=np.int32)
    middles = dmesh.compute_midpoints(found, tdim, every)[:, 0]
    values = np.where(middles < 0.5, 1, 2).astype(np.int32)
    if thirds:
        values[middles > 0.75] = 3
    tags = dmesh.meshtags(found, tdim, every, values)
    return di.NamedMesh(found, tags, None, {"left": (2, 1), "right": (2, 2), "tip": (2, 3)})


def two_squares(apart):
    """A square of 3 x 3 cells in x < 0.5 and another beyond the gap."""
    grid = np.array([(i / 6, j / 3) for i in range(4) for j in range(4)])
    corner = np.array([i * 4 + j for i in range(3) for j in range(3)])
    one = corner[:, None] + np.array([0, 4, 1, 5])
    x = np.vstack([grid, grid + [0.5 + apart, 0.0]])
    return np.vstack([one, one + 16]).astype(np.int64), x


@pytest.mark.mpi
def test_masses_and_energies_of_several_materials_add_up():
    """Each part by itself, the forces of the whole are the sum; linear and nonlinear parts together."""
    named = named_square()
    laws, densities = {"left": NEO, "right": LINEAR}, {"left": 2.0, "right": 5.0}
    whole = di.Solid(named, density=densities, law=laws)
    parts = [di.Solid(named, density=densities[n], law=laws[n], cells=n) for n in laws]
    assert not whole.linear and not parts[0].linear and parts[1].linear
    assert whole.total_mass == pytest.approx(3.5, rel=1e-12)
    assert whole.mass == pytest.approx(parts[0].mass + parts[1].mass, rel=1e-13)
    u = waves(whole)
    assert stored(whole, u) == pytest.approx(stored(parts[0], u) + stored(parts[1], u), rel=1e-12)
    force = internal(whole, u) - internal(parts[0], u) - internal(parts[1], u)
    assert biggest(whole, force) < 1e-13 * E
    for mixed in ({"law": laws, "density": 2.0}, {"law": NEO, "density": densities}):
        body = di.Solid(named, **mixed)
        assert body.total_mass == pytest.approx(2.0 if mixed["density"] == 2.0 else 3.5, rel=1e-12)
    same = di.Solid(named, density=2.0, law={"left": NEO, "right": NEO})
    assert stored(same, u) == pytest.approx(stored(di.Solid(named, density=2.0, law=NEO), u), rel=1e-12)


@pytest.mark.mpi
@pytest.mark.parametrize("degree", [1, 2])
def test_consistent_mass_of_several_materials(degree):
    named = named_square(QUAD)
    body = di.Solid(named, density={"left": 2.0, "right": 5.0}, law=LINEAR, degree=degree, cross_section=0.5)
    ones, out = np.zeros(body.size), np.zeros(body.size)
    ones[::2] = 1.0
    body.mass_product(ones, "consistent", out)
    assert total(body, out) == pytest.approx([1.75, 0.0], rel=1e-12, abs=1e-13)
    n = body.owned // 2
    x = body.x[:n, 0]
    left = COMM.allreduce(out[: body.owned : 2] @ np.clip(x, 0.0, 1.0))
    assert left == pytest.approx(0.5 * (2.0 * 0.125 + 5.0 * 0.375), rel=1e-12)


PART = {"left": LINEAR, "right": LINEAR}


@pytest.mark.parametrize(
    "options, words",
    [
        ({"law": {"left": LINEAR}, "density": 1.0}, "cells of the body have no material.*other parts.*right"),
        ({"law": PART, "density": {"left": 1.0}}, "density is not given for right"),
        ({"law": {"left": LINEAR}, "density": {"left": 1.0, "right": 2.0}}, "law is not given for right"),
        ({"law": {"left": LINEAR, "up": LINEAR}, "density": 1.0}, "no cells are named 'up'.*left.*right"),
        ({"law": PART, "density": {"left": 1.0, "right": -2.0}}, "density must be positive .* but is -2"),
        ({"law": PART, "density": 1.0, "cells": "left"}, "name cells outside of the body"),
        ({"law": {"left": LINEAR, "right": "steel"}, "density": 1.0}, "'steel' is no law"),
        ({"law": LINEAR, "density": 1.0, "cells": "middle"}, "no cells are named 'middle'"),
        ({"law": LINEAR, "density": 1.0, "cells": "tip"}, "the parts tip have no cells"),
        ({"law": {}, "density": 1.0}, "law|part|material"),
    ],
)
def test_materials_that_do_not_fit(options, words):
    with pytest.raises(ValueError, match=words):
        di.Solid(named_square(), **options)


def test_materials_need_names():
    with pytest.raises(ValueError, match="no cells are named 'left'"):
        di.Solid(box(QUAD), density=1.0, law={"left": LINEAR})


@pytest.mark.mpi
def test_two_bodies_of_one_mesh_fly_apart():
    """Own velocities and spins: momentum, moment and energy of each; they do not feel one another."""
    named = named_square(apart=0.2)
    body = di.Solid(named, density={"left": 2.0, "right": 3.0}, law={"left": NEO, "right": NEO})
    v = body.rigid_velocity((1.0, 0.5), spin=2.0, cells="left")
    v += body.rigid_velocity((-2.0, 0.0), cells="right")
    masses = np.array([2.0, 3.0]) / 2
    assert total(body, body.mass * v[: body.owned]) == pytest.approx(
        [masses[0] - 2 * masses[1], 0.5 * masses[0]], rel=1e-12
    )
    about = moment(body, body.mass * v[: body.owned], np.zeros(body.size))[2]
    n = body.owned // 2
    lumped = body.mass[::2]
    left = body.x[:n, 0] < 0.55
    arm = body.x[:n, :2] - np.array([0.25, 0.5])
    polar = COMM.allreduce(float(lumped[left] @ (arm[left] ** 2).sum(axis=1)))
    orbit = masses[0] * (0.25 * 0.5 - 0.5 * 1.0) + masses[1] * 0.5 * 2.0
    assert about == pytest.approx(2.0 * polar + orbit, rel=1e-12)
    kinetic = COMM.allreduce(0.5 * float(body.mass @ v[: body.owned] ** 2))
    assert kinetic == pytest.approx(0.5 * (masses[0] * 1.25 + 4 * polar + masses[1] * 4.0), rel=1e-12)
    s = di.CDLagrange(body, 0.5 * body.critical_time_step())
    s.start(0.0, v)
    before = total(body, body.mass * v[: body.owned])
    for _ in range(100):
        s.step()
    right = np.repeat(~left, 2)
    assert parallel.largest(COMM, np.abs(s.v[: body.owned] - v[: body.owned])[right]) < 1e-12
    assert total(body, body.mass * s.v[: body.owned]) == pytest.approx(before, rel=1e-11)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"translation": (1.0,)}, "translation must be 2 numbers"),
        ({"translation": (1.0, 0.0), "spin": (1.0, 2.0, 3.0)}, "spin must be 1 number"),
        ({"translation": (1.0, 0.0), "spin": 1.0, "center": (0.0,)}, "center must be 2 numbers"),
        ({"translation": (1.0, 0.0), "cells": "up"}, "no cells are named 'up'"),
    ],
)
def test_rigid_velocities_that_do_not_fit(arguments, words):
    body = di.Solid(named_square(), density=1.0, law=LINEAR)
    with pytest.raises(ValueError, match=words):
        body.rigid_velocity(**arguments)


# -- unsound meshes


@examples(8)
@given(st.floats(0.0, 0.2), st.sampled_from([TRIANGLE, QUAD, TET, HEX]), st.floats(0.0, 6.0))
def test_distorted_cells_are_sound(part, kind, phase):
    """Every node moved by up to a fifth of the edge, in any direction."""
    found = box(kind, cells=4, distort=0.0)
    x = found.geometry.x
    d = found.topology.dim
    shift = np.array([np.sin(40.0 * x @ [1.0, 2.3, 3.1] + i + phase) for i in range(d)]).T
    x[:, :d] += part / 4 * shift / math.sqrt(d)
    assert refuse_inverted(found) is None


@pytest.mark.parametrize(
    "name, parameters", [("bar.geo", {"tetrahedra": 0}), ("bar.geo", {"tetrahedra": 1}), ("sphere.geo", {})]
)
def test_meshes_of_the_package_are_sound(name, parameters):
    assert refuse_inverted(mesh.read(mesh.package_mesh(name), gdim=3, parameters=parameters).mesh) is None


def move(found, near, to):
    """Put the nodes near a place elsewhere."""
    x = found.geometry.x
    x[np.linalg.norm(x - near, axis=1) < 1e-9] = to
    return found


def fold(found):
    """Fold the last row of cells back over the one before."""
    x = found.geometry.x
    x[np.isclose(x[:, 0], 1.0), 0] = 0.5
    return found


UNSOUND = {
    "triangles": lambda: move(dmesh.create_unit_square(COMM, 4, 4), (0.5, 0.5, 0), (0.95, 0.5, 0)),
    "tetrahedra": lambda: move(dmesh.create_unit_cube(COMM, 2, 2, 2), (0.5, 0.5, 0.5), (1.2, 0.6, 0.5)),
    "bow tie": lambda: move(
        dmesh.create_unit_square(COMM, 4, 4, cell_type=QUAD), (0.5, 0.5, 0), (0.9, 0.5, 0)
    ),
    "hexahedra": lambda: move(
        dmesh.create_unit_cube(COMM, 2, 2, 2, cell_type=HEX), (0.5, 0.5, 0.5), (0.5, 0.5, 1.1)
    ),
    "flat triangle": lambda: move(dmesh.create_unit_square(COMM, 1, 1), (0.0, 0.0, 0), (1.0, 0.5, 0)),
    "flat quadrilateral": lambda: move(
        dmesh.create_unit_square(COMM, 2, 2, cell_type=QUAD), (0.0, 0.0, 0), (0.0, 0.5, 0)
    ),
    "folded triangles": lambda: fold(dmesh.create_unit_square(COMM, 3, 1)),
    "folded quadrilaterals": lambda: fold(dmesh.create_unit_square(COMM, 3, 1, cell_type=QUAD)),
    "folded hexahedra": lambda: fold(dmesh.create_unit_cube(COMM, 3, 1, 1, cell_type=HEX)),
}


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("make", UNSOUND.values(), ids=UNSOUND.keys())
def test_unsound_cells_are_refused(make):
    """On all ranks, with their number and a place."""
    found = make()
    if COMM.size > found.topology.index_map(found.topology.dim).size_global:
        pytest.skip("more ranks than cells")
    with pytest.raises(ValueError, match=r"inverted or flat elements \(\d+ places, one near \(.*\) m\)"):
        di.Solid(found, density=1.0, law=LINEAR)


def of_second_order(shift, corners=((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))):
    """A triangle of second order, the middle of its edge along x moved by ``shift``; rank 0 has it."""
    x = np.array(corners)
    x = np.vstack([x, (x[1] + x[2]) / 2, (x[0] + x[2]) / 2, (x[0] + x[1]) / 2 + shift])
    element = basix.ufl.element("Lagrange", "triangle", 2, shape=(2,))
    cells = np.arange(6).reshape(1, 6)
    if COMM.rank > 0:
        cells, x = cells[:0], x[:0]
    return dmesh.create_mesh(COMM, cells=cells, x=x, e=element)


@pytest.mark.mpi
@pytest.mark.parametrize("shift", [(0.0, 0.4), (0.0, -0.4), (0.3, 0.0)])
def test_curved_cells_that_are_folded_inside_are_refused(shift):
    """An edge pushed far in makes det J negative between sound corners, or beside them."""
    found = of_second_order(shift)
    if shift == (0.0, -0.4):  # pushed out
        assert di.Solid(found, density=1.0, law=LINEAR, degree=2).total_mass == pytest.approx(
            0.5 + 2 / 3 * 0.4
        )
        return
    with pytest.raises(ValueError, match=r"inverted or flat elements \(1 places"):
        di.Solid(found, density=1.0, law=LINEAR, degree=2)


@pytest.mark.mpi
def test_displacements_contain_the_coordinates():
    """A rotation has no energy, or the body is refused; straight cells of second order are taken."""
    curved, straight = of_second_order((0.0, -0.1)), of_second_order((0.0, 0.0))
    words = "1 cells are curved, by coordinates of degree 2, .* degree 1 .*: take degree=2"
    with pytest.raises(ValueError, match=words):
        di.Solid(curved, density=1.0, law=NEO)
    space = fem.functionspace(curved, ("Lagrange", 1, (2,)))
    u, w = ufl.TrialFunction(space), ufl.TestFunction(space)
    with pytest.raises(ValueError, match=words):
        di.FormSystem(space, stiffness=ufl.inner(ufl.grad(u), ufl.grad(w)) * ufl.dx, density=1.0)
    for mesh_, degree in ((curved, 2), (straight, 1)):
        body = di.Solid(mesh_, density=1.0, law=NEO, degree=degree)
        c, s = np.cos(0.5), np.sin(0.5)
        rotation = (body.x[:, :2] @ np.array([[c - 1, s], [-s, c - 1]])).ravel()
        stretch = 0.1 * body.x[:, :2].ravel()
        energy = [COMM.allreduce(body.stored_energy(field)) for field in (rotation, stretch)]
        assert abs(energy[0]) < 1e-13 < energy[1]


@pytest.mark.parametrize("kind", ["prism", "pyramid"])
def test_cells_that_a_solid_does_not_have(kind):
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]])
    if kind == "pyramid":
        x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    element = basix.ufl.element("Lagrange", kind, 1, shape=(3,))
    one = dmesh.create_mesh(MPI.COMM_SELF, cells=np.arange(len(x)).reshape(1, -1), x=x, e=element)
    with pytest.raises(ValueError, match=f"the mesh has {kind} cells: mesh it anew, or give its forms"):
        di.Solid(one, density=1.0, law=LINEAR)


@pytest.mark.mpi
def test_coordinates_of_single_precision():
    small = dmesh.create_unit_square(COMM, 2, 2, dtype=np.float32)
    with pytest.raises(ValueError, match="the mesh has coordinates of type float32: take float64"):
        di.Solid(small, density=1.0, law=LINEAR)


@pytest.mark.mpi
def test_unsound_cells_beside_the_body_do_not_matter():
    named = named_square(QUAD)
    move(named.mesh, (0.75, 1 / 3, 0.0), (0.95, 0.9, 0.0))
    di.Solid(named, density=1.0, law=LINEAR, cells="left")
    with pytest.raises(ValueError, match="inverted"):
        di.Solid(named, density=1.0, law=LINEAR, cells="right")


# -- user-defined laws


def neo(F):
    J = ufl.det(F)
    return MU / 2 * (ufl.inner(F, F) - 3) - MU * ufl.ln(J) + LAME / 2 * ufl.ln(J) ** 2


def neo_stress(F):
    return MU * (F - ufl.inv(F).T) + LAME * ufl.ln(ufl.det(F)) * ufl.inv(F).T


@pytest.mark.parametrize("law", [di.EnergyLaw(neo), di.StressLaw(neo_stress)], ids=["energy", "stress"])
def test_own_laws_reproduce_the_built_in_one(law):
    given_law, built_in = solid(TRIANGLE, 1, law), solid(TRIANGLE, 1, NEO)
    u, x = waves(built_in), waves(built_in, 1.0, phase=1.0)
    scale = biggest(built_in, internal(built_in, u))
    assert biggest(given_law, internal(given_law, u) - internal(built_in, u)) < 1e-12 * scale
    slope = tangent(built_in, u, x).copy()
    assert biggest(given_law, tangent(given_law, u, x) - slope) < 1e-11 * biggest(built_in, slope)
    own = stored(given_law, u)
    assert own == pytest.approx(stored(built_in, u) if law.has_energy else 0.0, rel=1e-12)
    assert given_law.critical_time_step() == pytest.approx(built_in.critical_time_step(), rel=1e-6)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "law, words",
    [
        (lambda: di.EnergyLaw(lambda F: ufl.ln(ufl.det(F) - 1)), "not finite for the undeformed body"),
        (lambda: di.EnergyLaw(lambda F: F), "must give the energy per volume.*shape .3, 3."),
        (lambda: di.EnergyLaw(lambda F: 1 / 0), "failed with ZeroDivisionError"),
        (lambda: di.StressLaw(lambda F: ufl.det(F)), "must give the first Piola-Kirchhoff stress.*shape"),
        (lambda: di.StressLaw(lambda F: F / (ufl.det(F) - 1)), "not finite for the undeformed body"),
        (lambda: di.EnergyLaw(3.0), "needs a function of the deformation gradient"),
    ],
)
def test_own_laws_that_fail(law, words):
    with pytest.raises(ValueError, match=words):
        solid(TRIANGLE, 1, law())

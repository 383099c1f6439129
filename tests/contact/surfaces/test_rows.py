"""Rows of L between surfaces: sums, torques, weights, and the Delassus operator they lead to."""

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from dolfinx.fem import petsc
from hypothesis import given
from hypothesis import strategies as st
from petsc4py import PETSc
from support.examples import examples
from support.pairwise import pairwise
from support.surfaces import (
    LAW,
    against_each_other,
    anywhere,
    box,
    dense,
    largest,
    layers,
    mortar_areas,
    positions,
    total,
    until_contact,
)

import dolfinx_impact as di

KINDS = [
    ("quadrilateral", 1),
    ("quadrilateral", 2),
    ("quadrilateral", 3),
    ("triangle", 1),
    ("triangle", 2),
    ("hexahedron", 1),
    ("hexahedron", 2),
    ("tetrahedron", 1),
    ("tetrahedron", 2),
]
PLANE = [each for each in KINDS if each[0] in ("quadrilateral", "triangle")]
EVERY = pytest.mark.parametrize("kind, degree", KINDS)


def every_with(*cells):
    """Each kind with cells above and below, the finer ones by turns on either side."""
    rows = [(*kind, cells[i % len(cells)]) for i, kind in enumerate(KINDS)]
    return pytest.mark.parametrize("kind, degree, cells", rows)


def touching(kind="quadrilateral", degree=1, upper=3, lower=2, law=LAW, contact=None, **options):
    body = di.Solid(layers(upper, lower, kind, **options), law=law, density=1.0, degree=degree)
    return body, di.SurfaceContact(body, "upper/bottom", "lower/top", **contact or {})


def test_the_lever():
    """One facet of unit masses above the middle third of one of masses 2: H by hand."""
    small = box([1, 1], [1.0, 0.01], [2.0, 1.01])
    wide = box([1, 1], [0.0, -0.5], [3.0, 0.0])
    body = di.Solid(
        di.mesh.join({"small": small, "wide": wide}),
        law=LAW,
        density={"small": 4.0, "wide": 16.0 / 3.0},
        fixed=["wide/bottom"],
    )
    contact = di.SurfaceContact(body, "small/bottom", "wide/boundary")
    contact.evaluate(np.zeros(body.size))
    H, _ = dense(contact, body.inverse_mass)
    assert H == pytest.approx(np.array([[23 / 18, 2 / 9], [2 / 9, 23 / 18]]), abs=1e-12)
    assert np.linalg.solve(H, [1.0, 1.0]) == pytest.approx([2 / 3, 2 / 3], abs=1e-12)


@EVERY
@given(seed=st.integers(0, 10**6), size=st.floats(0.0, 0.03))
@examples(3)
def test_rows_sum_to_zero_and_have_no_torque_in_any_state(kind, degree, seed, size):
    body, contact = made(kind, degree)
    g, n = body.gdim, body.owned // body.block
    # A smooth field and a rough one, the same on any number of ranks.
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, g, g))
    x = body.x[:, :g]
    u = np.zeros(body.size)
    u[: body.owned] = (size * (np.sin(9.0 * x @ a) + 0.3 * np.cos(40.0 * x @ b)))[:n].ravel()
    contact.evaluate(u)
    start, nodes, B, W = contact.L.entries()
    y = positions(contact)
    middle = y.mean(axis=0) if len(y) else y.sum(axis=0)
    arms = y[nodes] - middle
    torque = np.cross(arms, B) if g == 3 else (arms[:, 0] * B[:, 1] - arms[:, 1] * B[:, 0])[:, None]
    for i in range(contact.count):
        row = slice(start[i], start[i + 1])
        scale = np.abs(W[row]).sum()
        assert abs(W[row].sum()) <= 1e-12 * scale
        assert np.all(np.abs(B[row].sum(axis=0)) <= 1e-12 * scale)
        assert np.all(np.abs(torque[row].sum(axis=0)) <= 1e-12 * scale)
    assert anywhere(np.isfinite(contact.gap(u)))


_KEPT = {}


def made(kind, degree):
    if (kind, degree) not in _KEPT:
        _KEPT[kind, degree] = touching(kind, degree, gap=1e-2, contact={"allow_penetration": True})
    return _KEPT[kind, degree]


@every_with((3, 2), (2, 3))
def test_the_part_of_the_slave_is_the_identity(kind, degree, cells):
    body, contact = touching(kind, degree, *cells)
    contact.evaluate(np.zeros(body.size))
    start, nodes, B, W = contact.L.entries()
    at, mine = contact.assembly.needed[nodes], contact.assembly.nodes
    sides = contact.facets.part
    for i in np.flatnonzero(np.diff(start)):
        row = slice(start[i], start[i + 1])
        own = sides[at[row]] == sides[mine[i]]
        weights = np.where(at[row] == mine[i], W[row] - 1.0, W[row])[own]
        assert np.all(np.abs(weights) <= 1e-11), (i, weights)
        normal = np.sign(B[row][at[row] == mine[i]][0, -1]) * np.eye(body.gdim)[-1]
        assert B[row] == pytest.approx(np.outer(W[row], normal), abs=1e-11)


@every_with((5, 3), (3, 5))
def test_a_flat_meeting_stops_both_sides(kind, degree, cells):
    """Two equal layers with -v and +v: the interface stops, where masses are those of areas."""
    cells = cells if body_is_small(kind, degree) else (3, 2)
    body, contact = touching(kind, degree, *cells)
    s = di.CDLagrange(body, 0.3 * body.critical_time_step(), contact=contact)
    s.start(0.0, against_each_other(body))
    until_contact(s)
    z = body.x[: body.owned // body.block, body.gdim - 1]
    on = np.isclose(z, 0.0) | np.isclose(z, 1e-3)
    if kind in ("quadrilateral", "hexahedron"):
        assert largest(s.v[: body.owned].reshape(-1, body.gdim)[on]) <= 1e-12 * 0.01
    assert largest(contact.L(s.v)) <= 1e-12 * 0.01
    _, S = dense(contact, body.inverse_mass)
    assert np.linalg.cond(S) <= 3.0 and s.contact_iterations <= 60


def body_is_small(kind, degree):
    return kind != "hexahedron" or degree == 1


@pytest.mark.parametrize(
    *pairwise(
        kind=["quadrilateral", "triangle", "hexahedron", "tetrahedron"],
        densities=[(1.0, 1.0), (1e3, 1.0), (1.0, 1e3)],
        cells=[(3, 5), (5, 3)],
        wide=[0.5, 0.83],
    )
)
def test_condition_and_sweeps_with_partial_cover(kind, cells, wide, densities):
    body = di.Solid(
        layers(*cells, kind, wide=wide), law=LAW, density=dict(zip(("upper", "lower"), densities))
    )
    contact = di.SurfaceContact(body, "upper/bottom", "lower/top")
    s = di.CDLagrange(body, 0.2 * body.critical_time_step(), contact=contact)
    s.start(0.0, against_each_other(body))
    until_contact(s, 2000)
    _, S = dense(contact, body.inverse_mass)
    assert np.linalg.cond(S) <= 6.0 and s.contact_iterations <= 120


@every_with((3, 2), (2, 3))
def test_uniform_pressure_gives_uniform_loads_on_both_sides(kind, degree, cells):
    """The contact patch test: impulses p A_i load each node by p times the integral of its function."""
    body, contact = touching(kind, degree, *cells)
    u = np.zeros(body.size)
    contact.evaluate(u)
    load = np.zeros(body.size)
    contact.L.add_transpose(mortar_areas(contact), load)
    load = load[: body.owned].reshape(-1, body.gdim)
    z = body.x[: len(load), body.gdim - 1]
    assert largest(load[:, :-1]) <= 1e-12
    for height, sign in ((0.0, -1.0), (1e-3, 1.0)):
        on = np.isclose(z, height)
        assert total(load[on, -1].sum()) == pytest.approx(sign, abs=1e-12)
        if degree == 1 or kind in ("quadrilateral", "hexahedron"):
            expected = consistent(body, height)
            assert load[on, -1] == pytest.approx(sign * expected[on], abs=1e-12)


def consistent(body, height):
    """Integrals of the shape functions over the horizontal surface, from the facets of DOLFINx."""
    d = body.gdim
    facets = dmesh.locate_entities_boundary(body.mesh, d - 1, lambda x: np.isclose(x[d - 1], height))
    tags = dmesh.meshtags(body.mesh, d - 1, np.sort(facets), np.ones(facets.size, np.int32))
    ds = ufl.Measure("ds", body.mesh, subdomain_data=tags, subdomain_id=1)
    e = ufl.as_vector(np.eye(d)[-1].tolist())
    b = petsc.assemble_vector(fem.form(ufl.inner(e, ufl.TestFunction(body.space)) * ds))
    b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    return b.array.reshape(-1, d)[:, -1].copy()


@pytest.mark.parametrize("kind, degree", PLANE)
def test_order_of_the_surfaces_does_not_matter(kind, degree):
    body = di.Solid(layers(3, 4, kind), law=LAW, density=1.0, degree=degree)
    a = di.SurfaceContact(body, "upper/bottom", "lower/top")
    b = di.SurfaceContact(body, "lower/top", "upper/bottom")
    u = 1e-3 * np.sin(5.0 * np.arange(body.size))
    assert a.evaluate(u) == pytest.approx(b.evaluate(u), rel=1e-12)
    for one, other in zip(a.L.entries(), b.L.entries()):
        assert one == pytest.approx(other, abs=1e-12)


def test_axisymmetric_areas_are_those_of_the_revolution():
    body = di.Solid(layers(5, 3), law=LAW, density=1.0, hypothesis="axisymmetric")
    contact = di.SurfaceContact(body, "upper/bottom", "lower/top")
    faced = np.isfinite(contact.evaluate(np.zeros(body.size)))
    assert total(mortar_areas(contact)[faced].sum()) == pytest.approx(np.pi, rel=1e-12)
    load = np.zeros(body.size)
    contact.L.add_transpose(mortar_areas(contact), load)
    up = body.rigid_velocity((0.0, 1.0), cells="upper")
    assert total(load[: body.owned] @ up[: body.owned]) == pytest.approx(np.pi, rel=1e-12)

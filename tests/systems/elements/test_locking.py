"""Elements that do not lock: against a dense program, on any number of ranks, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support import dense_elements as dense
from support.bent import bent_mesh, difference, halves, smooth

import dolfinx_impact as di
from dolfinx_impact import parallel
from dolfinx_impact.systems.elements import compiler
from dolfinx_impact.systems.elements.element_forces import ElementForces

COMM = MPI.COMM_WORLD
WAYS = dict.fromkeys(("triangle", "tetrahedron"), "nodal-pressure")
WAYS |= dict.fromkeys(("quadrilateral", "hexahedron"), "mean-dilatation")
NEO, ISOCHORIC = di.NeoHookean(1.0, 0.499), di.NeoHookean(1.0, 0.499, isochoric=True)
RUBBER, LINEAR = di.MooneyRivlin(0.3, 0.2, 500.0), di.LinearElastic(1.0, 0.499)


def own(F):
    return 0.3 * (ufl.det(F) ** (-2 / 3) * ufl.inner(F, F) - 3)


def own_linear(F):
    """With a stress and an energy at rest."""
    (first, mu), strain = dense.lame(1.0, 0.499), ufl.sym(F) - ufl.Identity(3)
    return mu * ufl.inner(strain, strain) + first / 2 * ufl.tr(strain) ** 2 + 0.4 * ufl.tr(strain) + 0.1


def own_linear_numbers():
    law = dense.linear_elastic(1.0, 0.499)
    return dense.Law(lambda J: law.volumetric(J) + 0.4 * (J - 1) + 0.1, law.isochoric, linear=True)


#: The law, and the same of numbers.
LAWS = {
    "Mooney-Rivlin": (RUBBER, dense.mooney_rivlin(0.3, 0.2, 500.0)),
    "isochoric neo-Hookean": (ISOCHORIC, dense.isochoric_neo_hookean(1.0, 0.499)),
    "neo-Hookean": (NEO, dense.neo_hookean(1.0, 0.499)),
    "linear": (LINEAR, dense.linear_elastic(1.0, 0.499)),
    "own linear": (di.EnergyLaw(own_linear, linear=True), own_linear_numbers()),
    "own": (
        di.EnergyLaw(own, volumetric=lambda J: 50.0 * (J - 1) ** 2),
        dense.mooney_rivlin(0.3, 0.0, 100.0),
    ),
}
CASES = [
    ("quadrilateral", "plane-strain", "neo-Hookean"),
    ("quadrilateral", "plane-strain", "linear"),
    ("quadrilateral", "axisymmetric", "neo-Hookean"),
    ("quadrilateral", "axisymmetric", "Mooney-Rivlin"),
    ("quadrilateral", "axisymmetric", "linear"),
    ("quadrilateral", "axisymmetric", "own linear"),
    ("hexahedron", None, "isochoric neo-Hookean"),
    ("hexahedron", None, "neo-Hookean"),
    ("hexahedron", None, "linear"),
    ("triangle", "plane-strain", "isochoric neo-Hookean"),
    ("triangle", "plane-strain", "linear"),
    ("triangle", "axisymmetric", "Mooney-Rivlin"),
    ("triangle", "axisymmetric", "linear"),
    ("tetrahedron", None, "Mooney-Rivlin"),
    ("tetrahedron", None, "own"),
    ("tetrahedron", None, "linear"),
]


def solid(cell, law, state=None, cells=None, comm=COMM, **options):
    mesh = bent_mesh(cell, cells, comm)
    return di.Solid(mesh, density=1.0, law=law, hypothesis=state, locking=WAYS[cell], **options)


def opposite(subtract, *fields):
    """What is subtracted."""
    out = np.zeros_like(fields[0])
    subtract(*fields, out)
    return -out


def forces(body, u):
    return opposite(body.subtract_internal, u)


def tangent(body, u, x):
    return opposite(body.subtract_tangent, u, x)


@pytest.mark.parametrize("cell, state, law", CASES)
def test_forces_energies_and_tangents_are_those_of_a_dense_program(cell, state, law):
    """The dense forces are the gradient of the dense energy, to round-off."""
    given, numbers = LAWS[law]
    section = {"cross_section": 0.7} if state == "plane-strain" else {}
    body = solid(cell, given, state, None if state else 2, **section)
    assert isinstance(body.forces, ElementForces) and body.locking == WAYS[cell]
    reference = dense.DenseElements(body, numbers)
    u, x = smooth(body, 0.03)
    assert body.stored_energy(u) == pytest.approx(reference.energy(u), rel=1e-12)
    assert difference(body, forces(body, u), reference.forces(u)) < 1e-12
    assert difference(body, tangent(body, u, x), reference.tangent(u, x)) < 1e-9


@pytest.mark.parametrize(
    "cell, state, law",
    [
        ("quadrilateral", "axisymmetric", "neo-Hookean"),
        ("hexahedron", None, "isochoric neo-Hookean"),
        ("triangle", "axisymmetric", "linear"),
        ("triangle", "plane-strain", "isochoric neo-Hookean"),
        ("tetrahedron", None, "Mooney-Rivlin"),
    ],
)
def test_tangents_are_symmetric_and_the_differences_of_the_forces(cell, state, law):
    body = solid(cell, LAWS[law][0], state)
    u, x = smooth(body, 0.03)
    y = np.random.default_rng(1).normal(size=body.size)
    along_x, along_y, h = tangent(body, u, x), tangent(body, u, y), 1e-5
    scale = math.sqrt((along_x @ along_x) * (y @ y))
    assert abs(along_x @ y - along_y @ x) < 1e-13 * scale
    quotient = (forces(body, u + h * x) - forces(body, u - h * x)) / (2 * h)
    assert difference(body, quotient, along_x) < 1e-6
    slope = (body.stored_energy(u + h * x) - body.stored_energy(u - h * x)) / (2 * h)
    assert slope == pytest.approx(forces(body, u) @ x, rel=1e-5)


# -- exact answers


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("cell", WAYS)
def test_uniform_strains_are_exact(cell):
    """The patch test: no forces within, and the energy of the volume."""
    body = solid(cell, RUBBER)
    dim = body.block
    A = np.array([[0.1, 0.2, -0.1], [-0.15, 0.05, 0.1], [0.05, -0.1, -0.1]])[:dim, :dim]
    body.mesh.topology.create_connectivity(dim - 1, dim)
    skin = dmesh.exterior_facet_indices(body.mesh.topology)
    skin = fem.locate_dofs_topological(body.space, dim - 1, skin)
    inner = np.setdiff1d(np.arange(body.owned // dim), skin)
    u = np.ascontiguousarray(body.x[:, :dim] @ A.T).ravel()
    f = forces(body, u)[: body.owned].reshape(-1, dim)
    assert parallel.largest(COMM, np.abs(f[inner])) < 1e-12 * parallel.largest(COMM, np.abs(f))
    F = np.eye(3)
    F[:dim, :dim] += A
    expected = body.total_mass * float(LAWS["Mooney-Rivlin"][1].whole(F))
    assert parallel.total(COMM, body.stored_energy(u)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("cell, law", zip(WAYS, (RUBBER, ISOCHORIC, ISOCHORIC, RUBBER)))
def test_rigid_motions_cause_no_forces(cell, law):
    body = solid(cell, law)
    dim, x = body.block, body.x
    turn = np.eye(3)
    turn[:2, :2] = [[math.cos(2.0), -math.sin(2.0)], [math.sin(2.0), math.cos(2.0)]]
    u = np.ascontiguousarray((x @ (turn - np.eye(3)).T + [1.0, -2.0, 3.0])[:, :dim]).ravel()
    assert np.abs(forces(body, u)[: body.owned]).max(initial=0.0) < 1e-11
    assert abs(parallel.total(COMM, body.stored_energy(u))) < 1e-14


# -- parts of a body


@pytest.mark.mpi
@pytest.mark.parametrize(
    "cell, options", [*((cell, "two") for cell in WAYS), ("tetrahedron", "part"), ("quadrilateral", "part")]
)
def test_any_number_of_ranks(cell, options, as_on_one_rank):
    """Sums over the body; of a part some ranks have no cells."""
    laws = {"left": ISOCHORIC, "right": RUBBER}
    given = {"two": {"law": laws}, "part": {"law": RUBBER, "cells": "right"}}[options]
    body = di.Solid(halves(bent_mesh(cell)), density=1.0, **given)
    assert body.locking == WAYS[cell]
    (u, x), n = smooth(body, 0.03), body.owned
    f, t = forces(body, u)[:n], tangent(body, u, x)[:n]
    sums = [body.stored_energy(u), f @ f, f @ x[:n], t @ t, t @ x[:n], t @ u[:n]]
    found = [parallel.total(COMM, float(each)) for each in sums]
    true, step = as_on_one_rank([found, body.critical_time_step()])
    assert found == pytest.approx(true, rel=1e-10)
    assert body.critical_time_step() == pytest.approx(step, rel=1e-7)


def test_pressures_jump_between_materials():
    """Two materials that share nodes: every one has volumes of its own."""
    cells = halves(bent_mesh("triangle"))
    laws = {"left": di.MooneyRivlin(0.5, 0.0, 500.0), "right": di.MooneyRivlin(0.5, 0.0, 5000.0)}
    both = di.Solid(cells, density=1.0, law=laws)
    u, _ = smooth(both, 0.03)
    apart = [di.Solid(cells, density=1.0, law=law, cells=name) for name, law in laws.items()]
    assert difference(both, forces(both, u), sum(forces(each, u) for each in apart)) < 1e-13


@pytest.mark.mpi
@pytest.mark.parametrize("cell", ["triangle", "tetrahedron"])
def test_names_of_parts_do_not_part_nodal_volumes(cell):
    """Equal laws share the volumes of the nodes between them."""
    mesh = halves(bent_mesh(cell))
    one = di.Solid(mesh, density=1.0, law=RUBBER)
    named = di.Solid(
        mesh, density={"left": 1.0, "right": 2.0}, law={"left": RUBBER, "right": replace(RUBBER)}
    )
    u, x = smooth(one, 0.03)
    assert difference(one, forces(named, u), forces(one, u)) < 1e-13
    assert difference(one, tangent(named, u, x), tangent(one, u, x)) < 1e-13


def test_constants_of_a_law_are_read_at_every_evaluation():
    mesh = bent_mesh("tetrahedron")
    bulk = fem.Constant(mesh, 50.0)
    law = di.EnergyLaw(own, volumetric=lambda J: bulk * (J - 1) ** 2)
    body = di.Solid(mesh, density=1.0, law=law, locking="nodal-pressure")
    u, _ = smooth(body, 0.03)
    before = body.stored_energy(u)
    bulk.value = 100.0
    assert body.stored_energy(u) > 1.1 * before


# -- choices


@pytest.mark.parametrize(
    "cell, law, degree, expected",
    [
        ("hexahedron", NEO, 1, "mean-dilatation"),
        ("quadrilateral", di.StVenantKirchhoff(1.0, 0.49), 1, "mean-dilatation"),
        ("tetrahedron", RUBBER, 1, "nodal-pressure"),
        ("tetrahedron", NEO, 1, None),
        ("hexahedron", di.NeoHookean(1.0, 0.48), 1, None),
        ("hexahedron", NEO, 2, None),
        ("quadrilateral", LINEAR, 1, None),
        ("quadrilateral", di.EnergyLaw(own), 1, None),
    ],
)
def test_the_default_is_for_nearly_incompressible_laws(cell, law, degree, expected):
    options = {"density": 1.0, "law": law, "degree": degree}
    body = di.Solid(bent_mesh(cell, 2), **options)
    assert body.locking == expected
    assert ("against locking" in repr(body)) == (expected is not None)
    assert di.Solid(bent_mesh(cell, 2), **options, locking="none").locking is None


def test_only_nearly_incompressible_parts_are_kept_from_locking():
    mesh = halves(bent_mesh("hexahedron"))
    steel = di.NeoHookean(9.0, 0.3)
    both = di.Solid(mesh, density=1.0, law={"left": steel, "right": RUBBER})
    u, _ = smooth(both, 0.03)
    parts = [di.Solid(mesh, density=1.0, law=law, cells=name) for name, law in both.law.items()]
    assert [part.locking for part in parts] == [None, "mean-dilatation"]
    assert difference(both, forces(both, u), sum(forces(part, u) for part in parts)) < 1e-13


@pytest.mark.parametrize("cell, state", [("hexahedron", None), ("triangle", "axisymmetric")])
def test_linear_laws_stand_beside_those_that_are_kept_from_locking(cell, state):
    """With the quadrature of the nonlinear laws; they are as they are."""
    mesh, steel = halves(bent_mesh(cell)), di.LinearElastic(9.0, 0.3)
    options = {"density": 1.0, "hypothesis": state}
    both = di.Solid(mesh, law={"left": steel, "right": RUBBER}, **options)
    assert both.locking == WAYS[cell]
    u, _ = smooth(both, 0.03)
    laws = {"left": di.EnergyLaw(steel.energy_density), "right": RUBBER}
    parts = [di.Solid(mesh, law=law, cells=name, **options) for name, law in laws.items()]
    assert [part.locking for part in parts] == [None, WAYS[cell]]
    assert difference(both, forces(both, u), sum(forces(part, u) for part in parts)) < 1e-13


class Stiffer(di.MooneyRivlin):
    """Of its energy the parts are still those of the other law."""

    def _density(self, F, *constants):
        return 2 * super()._density(F, *constants)


def conditional(F):
    return ufl.conditional(ufl.lt(ufl.tr(F), 9.0), own(F), 2 * own(F))


@pytest.mark.parametrize(
    "law, words",
    [
        (Stiffer(0.3, 0.2, 500.0), "to be the sum of its volumetric_energy"),
        (
            di.EnergyLaw(lambda F: ufl.inner(F, F), volumetric=lambda J: J**2),
            r"alone, but that of EnergyLaw\(<lambda>\) changes with the volume: move this",
        ),
    ],
)
def test_energies_are_what_the_elements_take_them_for(law, words):
    for cell in ("triangle", "quadrilateral"):
        with pytest.raises(ValueError, match=words):
            solid(cell, law)
    assert di.Solid(bent_mesh("triangle"), density=1.0, law=law).locking is None
    allowed = di.EnergyLaw(conditional, volumetric=lambda J: 50.0 * (J - 1) ** 2)
    assert solid("triangle", allowed).locking == "nodal-pressure"


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "cell, options, words",
    [
        ("triangle", {"locking": np.zeros(2)}, "one of 'mean-dilatation', .*, not array"),
        ("triangle", {"locking": "mean"}, "one of 'mean-dilatation', 'nodal-pressure', 'none', not 'mean'"),
        (
            "hexahedron",
            {"locking": "nodal-pressure"},
            "for triangles and tetrahedra, .* hexahedron cells: take",
        ),
        ("triangle", {"locking": "mean-dilatation"}, "take 'nodal-pressure'"),
        ("quadrilateral", {"locking": "mean-dilatation", "degree": 2}, "of degree 1, not 2"),
        (
            "triangle",
            {"locking": "nodal-pressure", "hypothesis": "plane-stress"},
            "hypothesis 'plane-stress'",
        ),
        ("interval", {"locking": "mean-dilatation"}, "hypothesis 'line'"),
        ("triangle", {"locking": "nodal-pressure", "law": NEO}, r"take NeoHookean\(E, nu, isochoric=True\)"),
        ("triangle", {"locking": "nodal-pressure", "law": di.StressLaw(ufl.dev)}, "needs a stored energy"),
    ],
)
def test_what_does_not_suit_is_refused(cell, options, words):
    with pytest.raises(ValueError, match=words):
        di.Solid(bent_mesh(cell), **{"density": 1.0, "law": RUBBER, **options})


def test_linear_laws_beside_others_are_refused():
    mesh, laws = halves(bent_mesh("quadrilateral")), {"left": LINEAR, "right": RUBBER}
    with pytest.raises(
        ValueError, match="does not take the linear law LinearElastic.* beside nonlinear ones"
    ):
        di.Solid(mesh, density=1.0, law=laws, locking="mean-dilatation")


class OwnForms(di.Solid):
    """A class that defines a form itself."""

    def _internal_form(self):
        return super()._internal_form()


def test_classes_with_forms_of_their_own_are_left_alone():
    options = {"density": 1.0, "law": RUBBER}
    assert OwnForms(bent_mesh("hexahedron", 2), **options).locking is None
    with pytest.raises(ValueError, match="is not for OwnForms, a class with forms of its own"):
        OwnForms(bent_mesh("hexahedron", 2), **options, locking="mean-dilatation")


@pytest.mark.parametrize("law", [RUBBER, LINEAR], ids=["nonlinear", "linear"])
def test_implicit_schemes_are_refused(law):
    body = solid("quadrilateral", law)
    with pytest.raises(ValueError, match="default of nonlinear laws with nu >= 0.49, is not assembled: take"):
        scheme = di.MoreauJean(body, 0.1)
        scheme.start(0.0, 0.0)
        scheme.step()
    with pytest.raises(ValueError, match=r"or Solid\(..., locking='none'\)"):
        body.matrices.stiffness()


@pytest.mark.mpi
def test_laws_without_code_are_refused():
    mesh = bent_mesh("quadrilateral")
    graded = di.EnergyLaw(
        lambda F: ufl.SpatialCoordinate(mesh)[0] * own(F), volumetric=lambda J: (J - 1) ** 2
    )
    with pytest.raises(ValueError, match="needs element kernels of all laws, but SpatialCoordinate"):
        di.Solid(mesh, density=1.0, law=graded, locking="mean-dilatation")


@pytest.mark.mpi
def test_without_a_compiler_bodies_are_refused(monkeypatch):
    def fails(*arguments):
        raise compiler.NoCompiler("the C compiler 'cc' cannot be run: set CC")

    monkeypatch.setattr("dolfinx_impact.systems.elements.element_forces.compiled", fails)
    with pytest.raises(ValueError, match="but the C compiler 'cc' cannot be run.*take locking='none'"):
        solid("tetrahedron", RUBBER)

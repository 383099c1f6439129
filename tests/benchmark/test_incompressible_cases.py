"""Cook's membrane and the rubber block: how pressures are measured, and what a few cells give."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support import cases
from support import cook_membrane as fine

import dolfinx_impact as di
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.cases.materials import cook_membrane, meshes, rubber_block
from dolfinx_impact.benchmark.cases.materials.pressure import Pressures

COMM = MPI.COMM_WORLD
CELLS = {each.name: each for each in dmesh.CellType}
run = functools.cache(cases.run)
#: With a third of the default bulk modulus, which limits the step.
TRIANGLES = {"elements": 4, "cell": "triangle", "nu": 0.4997}


# -- pressures


def body_of(cell, locking=None, dim=2):
    n = [6, 4, 3][:dim]
    high = [1.5, 1.0, 0.75][:dim]
    make = dmesh.create_rectangle if dim == 2 else dmesh.create_box
    mesh = make(COMM, [np.zeros(dim), np.array(high)], n, CELLS[cell])
    return di.Solid(mesh, density=1.0, law=di.NeoHookean(1.0, 0.4999, isochoric=True), locking=locking)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("cell", ["triangle", "quadrilateral", "tetrahedron", "hexahedron"])
@pytest.mark.parametrize("locking", [None, "none"])
def test_pressures_of_an_even_strain(cell, locking):
    dim = 2 if cell in ("triangle", "quadrilateral") else 3
    body = body_of(cell, locking, dim)
    A = np.array([[0.01, 0.2, 0.0], [-0.1, 0.02, 0.1], [0.05, 0.0, -0.03]])[:dim, :dim]
    u = (body.x[:, :dim] @ A.T).ravel()
    measured = Pressures(body, 100.0)
    J = np.linalg.det(np.eye(dim) + A)
    assert np.allclose(measured.ratios(u), J, rtol=1e-12)
    p = measured.pressure(u)
    assert np.allclose(p, -100.0 * np.log(J) / J) and measured.roughness(p) == 0.0
    assert len(p) == body.mesh.topology.index_map(dim).size_global
    assert np.allclose(measured.points(u), measured.x + measured.x @ A.T)


@pytest.mark.mpi
def test_volumes_of_rings():
    """r -> a r, z -> b z has the volume ratio a a b everywhere."""
    for cell in ("quadrilateral", "triangle"):
        section = meshes.ball(0.25, 1.0, cell)
        law = di.NeoHookean(1.0, 0.4999, isochoric=True)
        body = di.Solid(section, density=1.0, law=law, hypothesis="axisymmetric")
        u = (body.x[:, :2] * [0.1, -0.05]).ravel()
        assert np.allclose(Pressures(body, 1.0).ratios(u), 1.1**2 * 0.95, rtol=1e-12)


@pytest.mark.mpi
def test_roughness_of_a_checkerboard_is_two_and_of_a_smooth_field_small():
    body = body_of("quadrilateral")
    measured = Pressures(body, 1.0)
    x, y = measured.x[measured.cells].mean(axis=1).T
    board = (-1.0) ** np.round(4 * x - 0.5 + 4 * y - 0.5)
    assert measured.roughness(7.0 + 3.0 * board) == pytest.approx(2.0, rel=1e-12)
    assert measured.roughness(2.0 * x + y) < 1e-12
    assert measured.roughness(x**2 - y) < 0.2
    assert 1.0 < measured.roughness(board + 0.5 * x)


def test_cells_stand_in_one_order_on_any_number_of_ranks():
    body = body_of("triangle")
    order = np.asarray(body.mesh.topology.original_cell_index)
    assert np.array_equal(Pressures(body, 1.0).cells[order], np.asarray(body.space.dofmap.list))


# -- the cases


@pytest.mark.mpi
def test_a_block_of_rubber(as_on_one_rank):
    _, _, found, verdicts = run("rubber-block", **TRIANGLES)
    assert [v.reproduced for v in verdicts] == [True] * 3 and found["roughness"] < 0.4
    values = [found[name] for name in ("roughness", "volume_change", "mean_pressure")]
    assert values == pytest.approx(as_on_one_rank(values), rel=1e-8)


def test_plain_triangles_have_a_checkerboard():
    softer = {**TRIANGLES, "nu": 0.499}  # and longer steps
    _, _, found, verdicts = cases.run("rubber-block", **softer, locking="none")
    assert found["roughness"] > 1.2 and len(verdicts) == 1
    crossed = run("rubber-block", **TRIANGLES).results
    _, _, parallel, verdicts = cases.run("rubber-block", **softer, diagonals="parallel")
    assert parallel["roughness"] > 3 * crossed["roughness"] and not verdicts[1].reproduced


@pytest.mark.parametrize("cell", ["quadrilateral", "triangle"])
def test_a_ball_of_rubber(cell):
    _, _, found, verdicts = cases.run(
        "rubber-block", shape="ball", elements=3, cell=cell, nu=0.4995, every=1000
    )
    assert [v.reproduced for v in verdicts] == [True] * 3, verdicts
    p = runner.parse(CASES["rubber-block"], "cd-lagrange", ["shape=ball"])
    duration = found["contact_end"] - found["contact_start"]
    assert duration == pytest.approx(rubber_block.hertz(p).duration, rel=0.2)
    assert 1.5 < found["rebound_velocity"] < 2.0


def test_cooks_membrane_of_few_cells():
    _, _, found, verdicts = cases.run("cook-membrane", elements=3)
    assert [v.reproduced for v in verdicts] == [True, True, False]  # 3 cells are too few for 2 %
    assert 0.8 < found["tip_ratio"] < 0.98 and found["tip_known"] == cook_membrane.TIP
    _, _, plain, verdicts = cases.run("cook-membrane", elements=3, locking="none", t_end=15.0)
    assert plain["tip_ratio"] < 0.35 and len(verdicts) == 2


def test_the_tip_is_known_for_one_ratio_of_force_and_modulus():
    given = runner.parse(CASES["cook-membrane"], "cd-lagrange", [])
    assert cook_membrane.known(given)
    assert cook_membrane.known({**given, "E": 2 * given["E"], "force": 2 * given["force"], "rho": 7.0})
    assert not cook_membrane.known({**given, "nu": 0.3})
    run = SimpleNamespace(
        p={**given, "nu": 0.3},
        result={"u": np.array([[1.0, 2.0]]), "external": np.array([1.0]), "kinetic": np.array([0.0])},
    )
    case, expected = cook_membrane.CookMembrane(), {"tip": 2.0, "tip_sideways": 1.0, "kinetic_left": 0.0}
    assert case.measure(run) == expected and list(case.verdicts(run)) == []


@pytest.mark.nightly
def test_the_known_tip():
    assert fine.tip(24, 4)[1] == pytest.approx(cook_membrane.TIP, abs=6e-4)


@pytest.mark.nightly
@pytest.mark.parametrize("cell", ["quadrilateral", "triangle"])
def test_cooks_membrane_is_within_two_per_cent(cell):
    _, _, found, verdicts = cases.run("cook-membrane", cell=cell)
    assert all(v.reproduced for v in verdicts) and abs(found["tip_ratio"] - 1) < 0.02
    plain = cases.run("cook-membrane", cell=cell, locking="none").results
    assert plain["tip_ratio"] < 0.65

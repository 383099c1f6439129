"""Masses of contact nodes that their neighbours take, cell by cell."""

import numpy as np
import pytest
import ufl
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import parallel

COMM = MPI.COMM_WORLD
CELL = dmesh.CellType


def body(kind, size, comm=COMM, **options):
    """A block with a denser right half."""
    d = len(size)
    make = dmesh.create_rectangle if d == 2 else dmesh.create_box
    cells = make(comm, [np.zeros(d), np.array(size, dtype=float)], size, kind)
    count = cells.topology.index_map(d).size_local
    middle = dmesh.compute_midpoints(cells, d, np.arange(count, dtype=np.int32))[:, 0]
    halves = dmesh.meshtags(
        cells, d, np.arange(count, dtype=np.int32), (middle > size[0] / 2).astype(np.int32)
    )
    named = di.NamedMesh(cells, halves, None, {"left": (d, 0), "right": (d, 1)})
    law = di.LinearElastic(1e6, 0.3)
    return di.Solid(named, density={"left": 1.0, "right": 3.0}, law={"left": law, "right": law}, **options)


def chosen(solid, where):
    """Owned dofs of the nodes at a place."""
    n = solid.owned // solid.block
    nodes = np.flatnonzero(where(solid.x[:n].T))
    return (nodes[:, None] * solid.block + np.arange(solid.block)).ravel()


def by_loops(solid, dofs):
    """The rule in loops over cells, on one rank, for cells whose nodes have equal parts of their mass."""
    layer, cells = set(dofs // solid.block), [list(cell) for cell in solid.space.dofmap.list]
    corners, width = solid.x, len(cells[0])
    masses, tops = np.zeros(len(corners)), {3: 2, 4: 2 if solid.block == 2 else 3, 8: 4}[width]
    volumes = {3: 0.5, 4: 1.0 if solid.block == 2 else 1 / 6, 8: 1.0}
    half = corners[:, 0].max() / 2
    given, others = [], [[node for node in cell if node not in layer] for cell in cells]
    for cell in cells:
        mass = volumes[width] * (1.0 if corners[cell, 0].mean() < half else 3.0)
        keep = [node for node in cell if node not in layer]
        masses[keep] += mass / width
        given.append(mass / width * (width - len(keep)))
    passed = np.zeros(len(cells))
    for k, cell in enumerate(cells):
        if not others[k]:
            common = np.array(
                [len(set(cell) & set(other)) * bool(others[m]) for m, other in enumerate(cells)]
            )
            share = (common == tops).astype(float) if np.any(common == tops) else common
            passed += given[k] * share / share.sum()
    for k in range(len(cells)):
        if others[k]:
            masses[others[k]] += (given[k] + passed[k]) / len(others[k])
    return np.repeat(masses, solid.block)


PLACES = {
    "low": lambda x: x[1] < 0.1,
    "corner": lambda x: (x[1] < 0.1) | (x[0] < 0.1),
    "skin": lambda x: (x[0] < 0.1) | (x[0] > 3.9) | (x[1] < 0.1) | (x[1] > 2.9),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "kind, size",
    [
        (CELL.triangle, (4, 3)),
        (CELL.quadrilateral, (4, 3)),
        (CELL.tetrahedron, (4, 3, 2)),
        (CELL.hexahedron, (4, 3, 2)),
    ],
)
def test_the_rule(kind, size, place):
    solid = body(kind, size, MPI.COMM_SELF)
    dofs = chosen(solid, PLACES[place])
    masses = solid.masses_without(dofs)
    assert masses == pytest.approx(by_loops(solid, dofs), rel=1e-13)
    assert not masses[dofs].any()


@pytest.mark.mpi
@pytest.mark.parametrize("kind, degree", [(CELL.triangle, 1), (CELL.quadrilateral, 2)])
def test_ranks_and_sums(kind, degree):
    shared, alone = (body(kind, (4, 3), comm, degree=degree) for comm in (COMM, MPI.COMM_SELF))
    found = []
    for solid in (shared, alone):
        masses = solid.masses_without(chosen(solid, PLACES["corner"]))
        place = solid.x[: solid.owned // 2] @ [1.0, 100.0, 0.0]
        values = [parallel.gather_rows(solid.comm, each) for each in (place, masses[::2], solid.mass[::2])]
        assert values[1].sum() == pytest.approx(values[2].sum(), rel=1e-13)
        found.append(values[1][np.argsort(values[0])])
    assert found[0] == pytest.approx(found[1], abs=1e-14)


def test_forms_hand_theirs_over():
    solid = body(CELL.quadrilateral, (4, 3), MPI.COMM_SELF)
    V = solid.space
    u, w = ufl.TrialFunction(V), ufl.TestFunction(V)
    stiffness = ufl.inner(ufl.sym(ufl.grad(u)), ufl.sym(ufl.grad(w))) * ufl.dx
    system = di.FormSystem(V, stiffness=stiffness, density=2.0)
    dofs = chosen(system, PLACES["low"])
    masses = system.masses_without(dofs)
    assert masses.sum() == pytest.approx(system.mass.sum(), rel=1e-13) and not masses[dofs].any()

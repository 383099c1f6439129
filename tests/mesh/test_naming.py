"""Names for parts of a mesh: markers, numbers of tags, what DOLFINx reads, the whole boundary."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

COMM = MPI.COMM_WORLD
LAW = di.LinearElastic(1e5, 0.3)


def square(ghosts=dmesh.GhostMode.none):
    return dmesh.create_unit_square(COMM, 4, 4, ghost_mode=ghosts)


def midpoints(named, find, dim):
    """Sorted midpoints of the owned entities that a name finds, of all ranks."""
    mesh = named.mesh
    mesh.topology.create_connectivity(dim, mesh.topology.dim)
    local = find[find < mesh.topology.index_map(dim).size_local]
    x = dmesh.compute_midpoints(mesh, dim, local) if local.size else np.zeros((0, 3))
    return sorted(map(tuple, np.round(np.concatenate(COMM.allgather(x)), 9) + 0.0))


def facets(named, name):
    return midpoints(named, named.facets(name), 1)


def bottom(x):
    return np.isclose(x[1], 0.0)


def left(x):
    return np.isclose(x[0], 0.0)


def tagged(mesh):
    """Facets on the right side with the tag 7, those on top with 9."""
    right = dmesh.locate_entities_boundary(mesh, 1, lambda x: np.isclose(x[0], 1.0))
    top = dmesh.locate_entities_boundary(mesh, 1, lambda x: np.isclose(x[1], 1.0))
    both = np.concatenate([right, top])
    values = np.concatenate([np.full(right.size, 7), np.full(top.size, 9)]).astype(np.int32)
    order = np.argsort(both)
    return dmesh.meshtags(mesh, 1, both[order], values[order])


@pytest.mark.mpi
@pytest.mark.parametrize("ghosts", [dmesh.GhostMode.none, dmesh.GhostMode.shared_facet])
def test_markers_of_facets_and_cells(ghosts):
    named = di.named(
        square(ghosts), foot=bottom, skin=lambda x: x[1] < 2.0, cells={"lower": lambda x: x[1] < 0.51}
    )
    skin = facets(named, "skin")
    assert len(facets(named, "foot")) == 4
    assert len(skin) == 16  # interior facets satisfy it too
    assert len(midpoints(named, named.cells("lower"), 2)) == 16
    assert facets(named, "boundary") == skin


@pytest.mark.mpi
def test_overlapping_names_and_the_tags_of_the_script_stay_valid():
    mesh = square()
    given = (mesh, None, tagged(mesh))
    named = di.named(given, corner=lambda x: bottom(x) | left(x), foot=bottom, right=7, ends=(7, 9))
    again = di.named(named, wall=lambda x: np.isclose(x[0], 1.0), top=9)
    for each in (named, again):
        for name, count in {"corner": 8, "foot": 4, "right": 4, "ends": 8, 7: 4, 9: 4}.items():
            assert len(facets(each, name)) == count
    assert facets(again, "wall") == facets(again, 7)
    assert facets(again, "top") == facets(again, 9)


@pytest.mark.mpi
def test_what_dolfinx_reads():
    mesh = square()
    tags = tagged(mesh)
    data = SimpleNamespace(mesh=mesh, cell_tags=None, facet_tags=tags, physical_groups={"right": (1, 7)})
    for given, name in (
        (data, 7),
        ((mesh, None, tags), 7),
        ((mesh, None, tags, None, None), 7),
        (data, "right"),
    ):
        body = di.Solid(given, law=LAW, density=1000.0, fixed=[name])
        assert COMM.allreduce(int(body.constrained.sum())) == 10
    contact = di.RigidContact(di.Solid(data, law=LAW, density=1000.0), 9, di.Plane((0, 2), (0, -1)))
    assert contact.total == 5
    assert COMM.allreduce(contact.areas().sum()) == pytest.approx(1.0)


@pytest.mark.mpi
def test_a_plain_mesh_has_its_boundary():
    body = di.Solid(square(), law=LAW, density=1000.0)
    contact = di.RigidContact(body, "boundary", di.Plane((0, -1e-3), (0, 1)))
    assert contact.total == 16
    # Of the facets at a corner those below or above count, not those beside it.
    assert COMM.allreduce(contact.areas().sum()) == pytest.approx(4.0 - 4 * 0.125)
    line = di.Solid(dmesh.create_interval(COMM, 7, [0.0, 1.0]), law=LAW, density=1000.0, fixed=["boundary"])
    assert COMM.allreduce(int(line.constrained.sum())) == 2


@pytest.mark.mpi
def test_cells_by_name_and_number():
    named = di.named(square(), cells={"lower": lambda x: x[1] < 0.51, "upper": lambda x: x[1] > 0.49})
    body = di.Solid(named, law=LAW, density={"lower": 1000.0, "upper": 2000.0})
    assert body.total_mass == pytest.approx(1500.0)
    (tag,) = named.tags("lower")
    part = di.Solid(named, law=LAW, density=1000.0, cells=[tag])
    assert part.total_mass == pytest.approx(500.0)


def fails(words, given=None, **parts):
    with pytest.raises(ValueError, match=re.escape(words)):
        di.named(square() if given is None else given, **parts)


@pytest.mark.mpi
def test_what_is_refused():
    fails("must be a mesh", given="mesh.msh", foot=bottom)
    fails("the part 'foot' has no exterior facets", foot=lambda x: x[0] > 5)
    fails("the part 'core' has no cells", cells={"core": lambda x: x[0] > 5})
    fails("must give", foot=lambda x: 1.0)
    fails("truth values", foot=lambda x: x[0])
    fails("give a function of x", foot="bottom")
    fails("give a function of x", foot=2.5)
    fails("has no exterior facets", foot=3)
    fails("'foot' names another part", foot=bottom, cells={"foot": bottom})
    named = di.named(square(), foot=bottom)
    fails("'foot' names another part", given=named, foot=left)
    with pytest.raises(ValueError, match=r"no facets have the tag 5 .* tags are: \[1\]"):
        named.facets(5)
    with pytest.raises(ValueError, match="no facets are named 'food'.*'boundary', all exterior ones"):
        named.facets("food")

    def only_here(x):
        if COMM.rank == COMM.size - 1:
            raise ZeroDivisionError("of the script")
        return bottom(x)

    with pytest.raises(ZeroDivisionError, match="of the script"):
        di.named(square(), foot=only_here)


def test_numbers_name_materials():
    mesh = square()
    named = di.named(mesh, cells={"lower": lambda x: x[1] < 0.51, "upper": lambda x: x[1] > 0.49})
    given = (mesh, named.cell_tags, None)
    body = di.Solid(given, law={1: LAW, 2: LAW}, density={1: 1000.0, 2: 3000.0})
    assert body.total_mass == pytest.approx(2000.0)
    with pytest.raises(ValueError, match="have no material: law and density name 1;"):
        di.Solid(given, law={1: LAW}, density={1: 1000.0})


@pytest.mark.mpi
def test_tags_that_leave_ghosts_out_are_those_of_the_owners():
    """A marker names a part of them: they keep their other names on all ranks, also of a joined mesh."""
    mesh = square(dmesh.GhostMode.shared_facet)
    tags = tagged(mesh)
    own = tags.indices < mesh.topology.index_map(1).size_local
    tags = dmesh.meshtags(mesh, 1, tags.indices[own], tags.values[own])
    named = di.named((mesh, None, tags), right=7, upper=lambda x: x[1] > 0.49)
    joined = di.mesh.join({"part": named})
    for found in (facets(named, "right"), facets(joined, "part/right")):
        assert found == [(1.0, y, 0.0) for y in (0.125, 0.375, 0.625, 0.875)]
    for found in (facets(named, "upper"), facets(joined, "part/upper")):
        assert len(found) == 8

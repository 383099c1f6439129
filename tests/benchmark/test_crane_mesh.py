"""The bridge crane's mesh: counts, masses, joints and wheels, whole on every rank."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from dolfinx_impact import Frame, Section, mesh

pytest.importorskip("gmsh")
WORLD = MPI.COMM_WORLD
CRANE = mesh.package_mesh("crane.geo")
RHO = 7850.0
GIRDERS = ("girders far", "girders near", "girders at wheels")
TROLLEY = ("trolley", "trolley at wheels")
#: Subdomains for an explicit scheme: the fine zone, and no more than the cells at the wheels.
PAPER = ("girders near", "girders at wheels", *TROLLEY)
SMALL = ("girders at wheels", "trolley at wheels")


def wall_of(area, width, height):
    """Thickness of a box with a uniform wall from its area."""
    half = (width + height) / 2
    return half / 2 - np.sqrt(half**2 - area) / 2


def sections():
    """Boxes whose walls follow from the masses of the parts."""
    web = (10844.0 / (44.0 * RHO) - 2 * 0.4 * 0.014) / (2 * (1.2 - 2 * 0.014))
    girder = Section.box(0.4, 1.2, flange=0.014, web=web)
    carriage = Section.box(0.4, 0.5, wall=wall_of(3003.0 / (9.6 * RHO), 0.4, 0.5))
    trolley = Section.box(0.4, 0.4, wall=wall_of(5150.0 / (8.8 * RHO), 0.4, 0.4))
    return {**dict.fromkeys(GIRDERS, girder), "end-carriages": carriage, **dict.fromkeys(TROLLEY, trolley)}


def read(trolley=0.0, refine=1):
    return mesh.read(CRANE, parameters={"trolley": trolley, "refine": refine})


def frame(named, **options):
    return Frame(named, density=RHO, E=2.1e11, nu=0.3, sections=sections(), **options)


SIZES = pytest.mark.parametrize("trolley", [0.0, 4.0])
REFINE = pytest.mark.parametrize("refine", [1, 2])


@pytest.mark.mpi(cases=1)
@SIZES
@REFINE
def test_counts_and_joints(trolley, refine):
    """Nodes and elements of each part, on every rank; the bridge is one piece, the trolley another."""
    named = read(trolley, refine)
    assert named.mesh.comm.size == 1
    topology = named.mesh.topology
    assert topology.index_map(0).size_global == topology.index_map(1).size_global == 396 * refine
    counts = {name: len(named.cells(name)) for name, (dim, _) in named.names.items() if dim == 1}
    assert counts == {
        "girders far": 180 * refine,
        "girders near": 80 * refine - 8,
        "girders at wheels": 8,
        "end-carriages": 48 * refine,
        "trolley": 88 * refine - 8,
        "trolley at wheels": 8,
    }
    topology.create_connectivity(1, 0)
    ends = topology.connectivity(1, 0).array.reshape(-1, 2)
    shape = (396 * refine, 396 * refine)
    graph = coo_matrix((np.ones(len(ends)), ends.T), shape)
    assert np.bincount(ends.ravel()).max() == 3
    found, piece = connected_components(graph, directed=False)
    assert found == 2 and len(set(piece[named.facets("trolley wheels")])) == 1
    assert sorted(np.bincount(piece)) == [88 * refine, 308 * refine]


@SIZES
@REFINE
def test_sizes_of_elements(trolley, refine):
    named = read(trolley, refine)
    size = named.mesh.h(1, np.arange(396 * refine, dtype=np.int32))
    x = dmesh.compute_midpoints(named.mesh, 1, np.arange(396 * refine, dtype=np.int32))[:, 0]
    lengths = {"girders far": 0.2, "end-carriages": 0.2, "girders near": 0.1, "trolley": 0.1}
    for name, length in lengths.items():
        assert size[named.cells(name)] == pytest.approx(length / refine, rel=1e-9)
    assert np.all(np.abs(x[named.cells("girders far")] - trolley) > 2)
    assert np.all(np.abs(x[named.cells("girders near")] - trolley) < 2)


@SIZES
@REFINE
def test_masses(trolley, refine):
    crane = frame(read(trolley, refine))
    assert crane.part_mass(GIRDERS) == pytest.approx(10844.0, rel=1e-12)
    assert crane.part_mass("end-carriages") == pytest.approx(3003.0, rel=1e-12)
    assert crane.part_mass(TROLLEY) == pytest.approx(5150.0, rel=1e-12)
    assert crane.total_mass == pytest.approx(18997.0, rel=1e-12)


@SIZES
def test_wheels(trolley):
    """Wheels of girders and trolley coincide in space, but are nodes of their own."""
    crane = frame(read(trolley), fixed=("crane wheels",))
    above, below = crane.nodes("trolley wheels"), crane.nodes("girder wheels")
    assert len(above) == len(below) == 4 and not set(above) & set(below)
    there = [sorted(map(tuple, np.round(crane.x[nodes], 9))) for nodes in (above, below)]
    corners = [(trolley + x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.2, 1.2)]
    assert there[0] == there[1] == sorted(corners)
    assert sorted(map(tuple, np.round(crane.x[crane.nodes("crane wheels")], 9))) == [
        (-11.0, -2.4, 0.0),
        (-11.0, 2.4, 0.0),
        (11.0, -2.4, 0.0),
        (11.0, 2.4, 0.0),
    ]
    assert np.sum(~crane.constrained) == 2352


@REFINE
def test_partitions(refine):
    """The small partition is the cells that touch a wheel, the paper's one the finely divided zone."""
    named = read(refine=refine)
    whole = frame(named)
    wheels = np.concatenate([whole.nodes("trolley wheels"), whole.nodes("girder wheels")])
    touching = np.flatnonzero(np.isin(whole.space.dofmap.list, wheels).any(axis=1))
    found = np.sort(np.concatenate([named.cells(name) for name in SMALL]))
    assert len(found) == 16 and np.array_equal(found, touching)
    small, rest = frame(named, cells=SMALL), frame(named, cells=sorted(set(sections()) - set(SMALL)))
    assert np.sum(small.active) == 144 and np.sum(small.active & rest.active) == 96
    assert small.total_mass + rest.total_mass == pytest.approx(whole.total_mass, rel=1e-13)
    paper = frame(named, cells=PAPER)
    assert np.sum(paper.active) == 6 * (2 * (40 * refine + 1) + 88 * refine)
    assert np.sum(paper.active & frame(named, cells=("girders far", "end-carriages")).active) == 4 * 6


def test_critical_time_step():
    """1e-5 s is 52 % of the limit; every rank finds the same."""
    limit = frame(read(), fixed=("crane wheels",)).critical_time_step()
    assert 1e-5 / limit == pytest.approx(0.52, abs=5e-3)
    # A dense solution of the eigenvalue problem of all free dofs.
    assert limit == pytest.approx(1.9334154334e-5, rel=1e-8)
    assert WORLD.allgather(limit) == [limit] * WORLD.size


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"trolley": 9.0}, "the trolley must stay 2 m and more from the ends of the girders"),
        ({"trolley": -9.5}, "the trolley must stay 2 m and more from the ends of the girders"),
        ({"wheelbase": 2.4}, "wheelbase must be larger than Parameters/spacing"),
        ({"rails": 2}, r"crane.geo has no parameter 'rails'; it has: \['refine', 'spacing', 'span', 'tro"),
    ],
)
def test_impossible_cranes_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        mesh.read(CRANE, parameters=parameters)


def test_other_cranes():
    """Sizes that do not divide evenly: elements are at most as long as asked for."""
    named = mesh.read(CRANE, parameters={"span": 30.5, "wheelbase": 6.1, "spacing": 3.3, "trolley": -7.77})
    count = named.mesh.topology.index_map(1).size_global
    size = named.mesh.h(1, np.arange(count, dtype=np.int32))
    assert size.sum() == pytest.approx(2 * (30.5 + 6.1 + 2.0 + 3.3), rel=1e-9)
    assert size.max() <= 0.2 + 1e-9 and len(named.cells("trolley at wheels")) == 8

"""Meshes from gmsh: names, sizes and masses on any number of ranks, and files that are refused everywhere."""

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from dolfinx_impact import (
    CDLagrange,
    LinearElastic,
    MoreauJean,
    NamedMesh,
    Plane,
    RigidContact,
    Solid,
    _compat,
    mesh,
    parallel,
)

gmsh = pytest.importorskip("gmsh")
WORLD = MPI.COMM_WORLD
LENGTH, AREA = 0.254, 0.645e-3
BAR = mesh.package_mesh("bar.geo")
STEEL = {"density": 7847.0, "law": LinearElastic(2.1e11, 0.3)}


def solid_bar(tetrahedra=0, **sizes):
    sizes = {"elements": 4, "lateral": 2, **sizes}
    return mesh.read(BAR, parameters={"dimension": 3, "tetrahedra": tetrahedra, **sizes})


@pytest.fixture
def written(shared_path):
    """``written(name, text)``: a file that all ranks see."""

    def write(name, text):
        if WORLD.rank == 0:
            (shared_path / name).write_text(text)
        WORLD.barrier()
        return shared_path / name

    return write


def dimensions(named):
    return {name: dim for name, (dim, _) in named.names.items()}


def vertices(named):
    return named.mesh.topology.index_map(0).size_global


def on_facets(named, name):
    """Number of facets of all ranks: without ghosts each facet of the boundary is on one rank."""
    return parallel.total(WORLD, len(named.facets(name)))


@pytest.mark.mpi
def test_line():
    named = mesh.read(BAR, gdim=1, parameters={"elements": 7, "length": 0.5})
    assert dimensions(named) == {"contact": 0, "free": 0, "bar": 1}
    assert (named.mesh.topology.dim, named.mesh.geometry.dim, vertices(named)) == (1, 1, 8)
    assert on_facets(named, "contact") == on_facets(named, "free") == 1
    x = parallel.gather_rows(WORLD, named.mesh.geometry.x[:, 0])
    assert np.unique(np.round(x, 12)) == pytest.approx(np.linspace(0, 0.5, 8))


@pytest.mark.mpi
@pytest.mark.parametrize("tetrahedra, split", [(0, 1), (1, 2)])
def test_solid(tetrahedra, split):
    named = solid_bar(tetrahedra)
    assert dimensions(named) == {"contact": 2, "free": 2, "sides": 2, "bar": 3}
    assert (named.mesh.topology.dim, named.mesh.geometry.dim, vertices(named)) == (3, 3, 5 * 9)
    assert on_facets(named, "contact") == on_facets(named, "free") == 4 * split
    assert on_facets(named, "sides") == 4 * 8 * split


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("name, x", [("contact", 0.0), ("free", LENGTH)])
@pytest.mark.parametrize("tetrahedra", [0, 1])
def test_named_facets_are_where_they_belong(name, x, tetrahedra):
    bar = Solid(solid_bar(tetrahedra), **STEEL)
    nodes = parallel.gather_rows(WORLD, bar.x[bar.nodes(name)])
    assert len(nodes) == 9 and nodes[:, 0] == pytest.approx(np.full(9, x), abs=1e-12)


@pytest.mark.mpi
@pytest.mark.parametrize("tetrahedra", [0, 1])
def test_volume_and_mass(tetrahedra):
    bar = Solid(solid_bar(tetrahedra), **STEEL)
    one = fem.Constant(bar.mesh, 1.0)
    volume = parallel.total(WORLD, fem.assemble_scalar(fem.form(one * ufl.dx)))
    assert volume == pytest.approx(LENGTH * AREA, rel=1e-12)
    assert bar.total_mass == pytest.approx(7847.0 * LENGTH * AREA, rel=1e-12)
    assert parallel.total(WORLD, bar.mass.sum()) == pytest.approx(3 * bar.total_mass, rel=1e-12)
    v, out = np.ones(bar.size), np.zeros(bar.size)
    bar.mass_product(v, "consistent", out)
    assert parallel.total(WORLD, out[: bar.owned].sum()) == pytest.approx(3 * bar.total_mass, rel=1e-12)


@pytest.mark.mpi
def test_line_has_the_mass_of_its_section():
    bar = Solid(mesh.read(BAR, gdim=1), cross_section=AREA, **STEEL)
    assert bar.total_mass == pytest.approx(7847.0 * LENGTH * AREA, rel=1e-12)
    assert parallel.total(WORLD, bar.mass.sum()) == pytest.approx(bar.total_mass, rel=1e-12)


# -- other sources


@pytest.fixture
def model():
    """A gmsh model of the unit square with one name, on rank 0."""
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    if WORLD.rank == 0:
        square = gmsh.model.occ.addRectangle(0, 0, 0, 1, 1)
        gmsh.model.occ.synchronize()
        gmsh.model.addPhysicalGroup(2, [square], name="plate")
        gmsh.model.addPhysicalGroup(1, [1], name="foot")
        gmsh.model.mesh.generate(2)
    yield gmsh.model
    gmsh.finalize()


@pytest.mark.mpi
def test_model_and_the_file_written_from_it_are_the_same_mesh(model, shared_path):
    path = shared_path / "square.msh"
    direct = mesh.read(model, gdim=2)
    if WORLD.rank == 0:
        gmsh.write(str(path))
    WORLD.barrier()
    assert gmsh.isInitialized()
    gmsh.finalize()
    read = mesh.read(path, gdim=2)
    gmsh.initialize(interruptible=False)  # what the fixture finalizes
    assert direct.names == read.names and dimensions(read) == {"plate": 2, "foot": 1}
    assert vertices(direct) == vertices(read)
    assert on_facets(direct, "foot") == on_facets(read, "foot") > 0


@pytest.mark.mpi
@pytest.mark.parametrize("fragmented", [False, True])
def test_solids_that_only_touch_are_told(fragmented, caplog):
    """Without fragments each square has nodes of its own on the common side: two parts, loose."""
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    if WORLD.rank == 0:
        squares = [(2, gmsh.model.occ.addRectangle(x, 0, 0, 1, 1)) for x in (0, 1)]
        if fragmented:
            gmsh.model.occ.fragment(squares[:1], squares[1:])
        gmsh.model.occ.synchronize()
        gmsh.model.addPhysicalGroup(2, [tag for _, tag in gmsh.model.getEntities(2)], name="plate")
        gmsh.model.mesh.generate(2)
    with caplog.at_level("INFO", logger="dolfinx_impact"):
        plates = mesh.read(gmsh.model, gdim=2)
    gmsh.finalize()
    told = "the mesh has 2 parts without a common node" in caplog.text
    assert told == (WORLD.rank == 0 and not fragmented)
    assert Solid(plates, **STEEL).total_mass == pytest.approx(2 * 7847.0, rel=1e-12)


@pytest.mark.mpi
@pytest.mark.parametrize("drawn", [False, True])
def test_models_without_cells_or_with_two_kinds_are_refused(drawn):
    """In words on all ranks: DOLFINx ends the process."""
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    if WORLD.rank == 0 and drawn:
        squares = [(2, gmsh.model.occ.addRectangle(x, 0, 0, 1, 1)) for x in (0, 1)]
        gmsh.model.occ.fragment(squares[:1], squares[1:])
        gmsh.model.occ.synchronize()
        gmsh.model.mesh.setRecombine(2, 1)
        gmsh.model.addPhysicalGroup(2, [1, 2], name="plate")
        gmsh.model.mesh.generate(2)
    words = "mixes cells of 2 kinds" if drawn else "gave no mesh: it has no elements"
    with pytest.raises(ValueError, match=f"the gmsh model {words}"):
        mesh.read(gmsh.model, gdim=2)
    gmsh.finalize()


SKIN, BOTTOM = ("skin", [1, 2, 3, 4]), ("bottom", [1])


def grouped(groups, path=None, version=4.1):
    """The unit square with groups of edges, from the model or from a file written by it."""
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    try:
        if WORLD.rank == 0:
            square = gmsh.model.occ.addRectangle(0, 0, 0, 1, 1)
            gmsh.model.occ.synchronize()
            gmsh.model.addPhysicalGroup(2, [square], name="plate")
            for name, curves in groups:
                gmsh.model.addPhysicalGroup(1, curves, name=name)
            gmsh.option.setNumber("Mesh.MeshSizeMax", 0.5)
            gmsh.model.mesh.generate(2)
        if path is None:
            return mesh.read(gmsh.model, gdim=2)
        if WORLD.rank == 0:
            gmsh.option.setNumber("Mesh.MshFileVersion", version)
            gmsh.write(str(path))
        WORLD.barrier()
    finally:
        gmsh.finalize()
    return mesh.read(path, gdim=2)


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("groups", [(SKIN, BOTTOM), (BOTTOM, SKIN)])
@pytest.mark.parametrize("version", [None, 2.2, 4.1])
def test_facets_in_two_groups_have_both_names(groups, version, shared_path):
    """As with overlapping names of ``named``; the numbers of the groups stay valid."""
    named = grouped(groups, version and shared_path / f"{groups[0][0]}-{version}.msh", version)
    sides = {"skin": 4, "bottom": 1}
    whole = on_facets(named, "boundary")
    for number, (name, _) in enumerate(groups, start=2):
        assert on_facets(named, name) == on_facets(named, number) == whole * sides[name] / 4
    x = parallel.gather_rows(WORLD, Solid(named, **STEEL).x[Solid(named, **STEEL).nodes("bottom")])
    assert len(x) == whole / 4 + 1 and np.all(np.abs(x[:, 1]) < 1e-14)


@pytest.mark.mpi
def test_what_is_held_by_a_facet_in_two_groups_hangs_there_and_the_rest_of_the_skin_touches():
    body = Solid(grouped([SKIN, BOTTOM]), fixed=["bottom"], gravity=(0.0, -10.0), **STEEL)
    assert parallel.total(WORLD, body.constrained.sum()) == 2 * (1 + on_facets(body.named, "bottom"))
    free = Solid(grouped([BOTTOM, SKIN]), gravity=(0.0, -10.0), **STEEL)
    floor = Plane([0, 0], [0, 1])
    assert RigidContact(free, "skin", floor).total == RigidContact(free, "boundary", floor).total


@pytest.mark.mpi
def test_a_name_of_two_groups_is_refused(shared_path):
    path = shared_path / "twice.msh"
    for version in (2.2, 4.1):
        grouped([("wall", [1]), ("wall2", [3])], path, version)
        if WORLD.rank == 0:
            path.write_text(path.read_text().replace("wall2", "wall"))
        WORLD.barrier()
        with pytest.raises(ValueError, match="two physical groups have the name 'wall'"):
            mesh.read(path, gdim=2)


def test_a_name_that_gmsh_drops_is_warned_of(caplog):
    named = grouped([("wall", [1]), ("wall", [3])])
    assert "the physical group 3 of dimension 1 has no name, beside 'wall'" in caplog.text
    assert len(named.facets(3)) == len(named.facets("wall"))


def test_facets_that_a_file_has_twice_are_refused(written):
    """As other programs write them: two lines of one edge, with other groups and other entities."""
    nodes = "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n"
    lines = "1 1 2 1 1 1 2\n2 1 2 2 2 1 2\n3 2 2 3 3 1 2 3\n"
    path = written(
        "twice.msh", f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n{nodes}$Elements\n3\n{lines}$EndElements\n"
    )
    with pytest.raises(
        ValueError, match="1 facets are in the mesh more than once, in different physical groups"
    ):
        mesh.read(path, gdim=2)


@pytest.mark.mpi
@pytest.mark.parametrize("option", ["fixed", "prescribed"])
def test_supports_without_nodes_are_refused(option):
    named = solid_bar()
    none = NamedMesh(named.mesh, None, named.facet_tags, {**named.names, "nothing": (2, 99)})
    given = {"fixed": ["nothing"], "prescribed": {"nothing": {0: np.sin}}}[option]
    with pytest.raises(ValueError, match=rf"{option}\['nothing'\] holds no node: 'nothing' has no facets"):
        Solid(none, **STEEL, **{option: given})
    with pytest.raises(ValueError, match="'nothing' has no facets on cells of the body: name others"):
        Solid(none, **STEEL, traction={"nothing": (1.0, 0.0, 0.0)})


def test_supports_on_other_parts_are_refused():
    parts = mesh.join({"a": solid_bar(), "b": solid_bar()})
    with pytest.raises(ValueError, match=r"fixed\['b/free'\] holds no node"):
        Solid(parts, cells="a", fixed=["b/free"], **STEEL)


@pytest.mark.mpi
def test_plain_dolfinx_mesh_has_no_names():
    bar = Solid(solid_bar().mesh, **STEEL)
    with pytest.raises(ValueError, match="no facets are named 'contact' in the mesh; named are: none"):
        bar.nodes("contact")


@pytest.mark.mpi
def test_cells_of_a_name(written):
    """Each part of the line has its own cells, and together they are all cells."""
    text = """Point(1) = {0, 0, 0}; Point(2) = {3, 0, 0}; Point(3) = {5, 0, 0};
Line(1) = {1, 2}; Line(2) = {2, 3};
Transfinite Curve {1} = 7; Transfinite Curve {2} = 3;
Physical Curve("left") = {1};
Physical Curve("right") = {2};
"""
    named = mesh.read(written("two.geo", text), gdim=1)
    for name, low, high, count in (("left", 0, 3, 6), ("right", 3, 5, 2)):
        cells = named.cells(name)
        assert parallel.total(WORLD, len(cells)) == count
        middles = dmesh.compute_midpoints(named.mesh, 1, cells)[:, 0]
        assert np.all((low < middles) & (middles < high))
    with pytest.raises(ValueError, match=r"no cells are named 'middle' .* named are: \['left', 'right'\]"):
        named.cells("middle")
    with pytest.raises(ValueError, match="no cells are named 'left' in the mesh; named are: none"):
        NamedMesh(named.mesh, None, None, {}).cells("left")


# -- lines that branch

STAR = """Point(1) = {0, 0, 0}; Point(2) = {1, 0, 0}; Point(3) = {0, 1, 0};
Point(4) = {-1, 0, 0}; Point(5) = {0, -1, 0.5};
For i In {2:5}
  Line(i) = {1, i};
EndFor
Transfinite Curve {2:5} = 6;
Physical Curve("first") = {2, 3};
Physical Curve("second") = {4, 5};
Physical Point("tips") = {2:5};
Physical Point("joint") = {1};
"""


def pieces(line_mesh):
    """Number of connected pieces of a line mesh on one rank, and its vertices."""
    line_mesh.topology.create_connectivity(1, 0)
    ends = line_mesh.topology.connectivity(1, 0).array.reshape(-1, 2)
    count = line_mesh.topology.index_map(0).size_local
    graph = coo_matrix((np.ones(len(ends)), ends.T), (count, count))
    return connected_components(graph, directed=False)[0], count


def check_star(named):
    """The whole star is on every rank, with all its names, and the ranks hold the same numbers."""
    assert named.mesh.comm.size == 1 and pieces(named.mesh) == (1, 21)
    assert dimensions(named) == {"first": 1, "second": 1, "tips": 0, "joint": 0}
    x = dmesh.compute_midpoints(named.mesh, 0, named.facets("tips"))
    assert sorted(np.linalg.norm(x, axis=1)) == pytest.approx([1, 1, 1, np.sqrt(1.25)])
    assert dmesh.compute_midpoints(named.mesh, 0, named.facets("joint")) == pytest.approx(np.zeros((1, 3)))
    assert len(named.cells("first")) == len(named.cells("second")) == 10
    everything = [named.mesh.geometry.x, named.cell_tags.values, named.facets("tips"), named.cells("second")]
    for values in everything:
        for other in WORLD.allgather(np.asarray(values)):
            assert np.array_equal(other, values)


@pytest.mark.mpi
def test_lines_that_branch_stay_whole_on_every_rank(written):
    check_star(mesh.read(written("star.geo", STAR)))
    assert not gmsh.isInitialized()


@pytest.mark.mpi
def test_a_model_that_branches_is_given_to_every_rank(written, shared_path):
    """A gmsh model on rank 0, which is left as it was, and the file written from it."""
    path = written("star.geo", STAR)
    if WORLD.rank == 0:
        gmsh.initialize(interruptible=False)
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.open(str(path))
        gmsh.model.mesh.generate(1)
        gmsh.write(str(shared_path / "star.msh"))
    check_star(mesh.read(gmsh.model))
    if WORLD.rank == 0:
        assert len(gmsh.model.mesh.getNodes()[0]) == 21
        gmsh.finalize()
    check_star(mesh.read(shared_path / "star.msh"))


@pytest.mark.mpi
def test_lines_without_branches_are_distributed():
    named = mesh.read(BAR, gdim=1)
    assert named.mesh.comm.size == WORLD.size and vertices(named) == 51


@pytest.mark.mpi
def test_lines_that_are_torn_apart_are_refused(monkeypatch):
    torn = dmesh.create_interval(WORLD, 51, [0.0, 1.0])
    monkeypatch.setattr(_compat, "model_to_mesh", lambda *given: (torn, None, None))
    with pytest.raises(ValueError, match="the lines meet at 51 nodes, but DOLFINx made 52 vertices of them"):
        mesh.read(BAR, gdim=1)


# -- what is refused, on all ranks alike

POINT_AND_LINE = "Point(1) = {0, 0, 0}; Point(2) = {1, 0, 0}; Line(1) = {1, 2};\n"


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "name, text, message",
    [
        ("empty.geo", "", "empty.geo' gave no mesh: it has no elements"),
        ("empty.msh", "", "empty.msh' gave no mesh: it has no elements"),
        ("nameless.geo", POINT_AND_LINE, "no physical group of cells"),
        ("ends.geo", POINT_AND_LINE + 'Physical Point("end") = {1};\n', "no physical group of cells"),
        (
            "twice.geo",
            POINT_AND_LINE + 'Physical Curve("a") = {1};\nPhysical Curve("b") = {1};\n',
            r"one physical group, but those of entity 1 of dimension 1 are in \['a', 'b'\]",
        ),
        (
            "bare.geo",
            POINT_AND_LINE + 'Line(2) = {2, 1};\nPhysical Curve("a") = {1};\n',
            "one physical group, but those of entity 2 of dimension 1 are in none",
        ),
        ("mesh.stl", "solid\nendsolid\n", "a mesh is a .geo or .msh file"),
    ],
)
def test_a_file_that_is_no_mesh_is_refused(name, text, message, written):
    with pytest.raises(ValueError, match=message):
        mesh.read(written(name, text), gdim=1)
    assert not gmsh.isInitialized()


@pytest.mark.mpi
@pytest.mark.parametrize("suffix", [".geo", ".msh"])
def test_a_text_is_no_mesh_and_a_good_mesh_is_read_after_it(suffix, written):
    """On all ranks alike; what a text of no mesh leaves behind in gmsh spoils neither kind of file."""
    path = written(f"text{suffix}", "This is a letter, not a mesh.\n")
    with pytest.raises(ValueError, match=f"text{suffix}' is no mesh that gmsh can read: ") as refused:
        mesh.read(path, gdim=1)
    assert len(set(WORLD.allgather(str(refused.value)))) == 1
    assert sorted(mesh.read(BAR, gdim=1).names) == ["bar", "contact", "free"]


@pytest.mark.mpi
def test_a_file_that_does_not_exist_is_refused(shared_path):
    with pytest.raises(FileNotFoundError, match=r"the mesh file '.*nowhere.geo' does not exist"):
        mesh.read(shared_path / "nowhere.geo")
    with pytest.raises(FileNotFoundError, match="the package has no mesh 'nowhere.geo'"):
        mesh.package_mesh("nowhere.geo")


@pytest.mark.mpi
def test_parameters_are_checked(written):
    with pytest.raises(ValueError, match=r"bar.geo has no parameter 'width'; it has: \['dimension', 'ele"):
        mesh.read(BAR, gdim=1, parameters={"width": 1.0})
    with pytest.raises(ValueError, match="is no .geo script and has no parameters"):
        mesh.read(written("any.msh", ""), parameters={"width": 1.0})


@pytest.mark.mpi
def test_dimension_of_space_is_checked():
    with pytest.raises(ValueError, match="gdim must be 1, 2 or 3, but is 4"):
        mesh.read(BAR, gdim=4)


TILTED = {
    "a slanted line": (1, 1, (0.7, 0.7, 0.0), "x 0.7 m, y 0.7 m, z 0 m"),
    "a line along y": (1, 1, (0.0, 1.0, 0.0), "x 0 m, y 1 m, z 0 m"),
    "a tilted triangle": (2, 2, (1.0, 0.0, 1.7), "x 1 m, y 1 m, z 1.7 m"),
}


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("dim, gdim, end, words", TILTED.values(), ids=TILTED)
def test_coordinates_that_a_smaller_space_would_drop_are_refused(dim, gdim, end, words, written):
    """A line of length 1 would be one of 0.7."""
    at = " ".join(map(str, end))
    element = {1: "1 1 2 1 1 1 2", 2: "1 2 2 1 1 1 2 3"}[dim]
    text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
    text += f"$Nodes\n{1 + dim}\n1 0 0 0\n2 {at}\n" + ("3 0 1 0\n" if dim == 2 else "") + "$EndNodes\n"
    path = written("tilted.msh", f"{text}$Elements\n1\n{element}\n$EndElements\n")
    with pytest.raises(ValueError, match=f"gdim={gdim} would drop coordinates that vary.*{words}"):
        mesh.read(path, gdim=gdim)
    assert mesh.read(path, gdim=3).mesh.geometry.dim == 3


@pytest.mark.mpi
def test_an_unknown_part_lists_the_known_ones():
    named = solid_bar()
    for name in ("bar", "foot"):
        with pytest.raises(ValueError, match=rf"no facets are named '{name}'.*'contact', 'free', 'sides'"):
            named.facets(name)
    with pytest.raises(ValueError, match="named are: none"):
        NamedMesh(named.mesh, None, None, {}).facets("contact")


@pytest.mark.mpi
def test_facets_of_a_name_without_nodes_make_no_contact():
    named = solid_bar()
    none = NamedMesh(named.mesh, None, named.facet_tags, {**named.names, "nothing": (2, 99)})
    with pytest.raises(ValueError, match="has no facets on cells of the body"):
        RigidContact(Solid(none, **STEEL), "nothing", Plane([0, 0, 0], [1, 0, 0]))


@pytest.mark.mpi
def test_quadratic_tetrahedra_have_positive_masses_by_hrz():
    bar = Solid(solid_bar(tetrahedra=1, elements=1, lateral=1), degree=2, **STEEL)
    assert not WORLD.allreduce(bool(np.any(bar.mass <= 0)))
    assert WORLD.allreduce(bar.mass.sum()) == pytest.approx(3 * bar.total_mass, rel=1e-12)
    for scheme in (CDLagrange(bar, 0.5 * bar.critical_time_step()), MoreauJean(bar, 1e-6)):
        scheme.start(0.0, np.ones(3))
        scheme.step()
        assert scheme.v[: bar.owned] == pytest.approx(np.ones(bar.owned))

"""Parts from STEP files: volumes, units, names, one mesh on any number of ranks, files that are refused."""

import functools

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI

from dolfinx_impact import LinearElastic, Solid, mesh, parallel

gmsh = pytest.importorskip("gmsh")
WORLD = MPI.COMM_WORLD
BRACKET = mesh.package_mesh("bracket.step")
VOLUME, SIZE = 2.43226e-4, 7e-3  # of the bracket [m3], of its cells [m]


def draw(*shapes):
    """Draw with OpenCASCADE: the dimension and tag of what each of ``shapes`` makes, and their volume."""
    made = [shape(gmsh.model.occ) for shape in shapes]
    gmsh.model.occ.synchronize()
    return sum(gmsh.model.occ.getMass(3, tag) for _, tag in gmsh.model.occ.getEntities(3)), made


@pytest.fixture
def drawn(shared_path):
    """``drawn(name, shape, ...)``: a STEP file in millimetres that all ranks see, and its volume [mm3]."""

    def write(name, *shapes):
        def work():
            gmsh.initialize(interruptible=False)
            gmsh.option.setNumber("General.Terminal", 0)
            try:
                volume, _ = draw(*shapes)
                gmsh.write(str(shared_path / "drawn.step"))
            finally:
                gmsh.finalize()
            (shared_path / "drawn.step").rename(shared_path / name)
            return volume

        return shared_path / name, parallel.on_root(WORLD, work)

    return write


@pytest.fixture
def written(shared_path):
    """``written(name, content)``: a file of bytes that all ranks see."""

    def write(name, content):
        parallel.on_root(WORLD, lambda: (shared_path / name).write_bytes(content))
        return shared_path / name

    return write


def box(occ, at=(0, 0, 0), sides=(10, 20, 30)):
    return 3, occ.addBox(*at, *sides)


def holed(occ):
    return occ.cut([box(occ)], [(3, occ.addCylinder(5, 10, -1, 0, 0, 32, 3))])[0]


def hollow(occ):
    return occ.cut([box(occ)], [(3, occ.addSphere(5, 10, 15, 3))])[0]


def profile(occ):
    points = [occ.addPoint(x, y, 0) for x, y in [(0, 0), (10, 2), (14, 8), (6, 12), (-2, 6)]]
    loop = occ.addCurveLoop([occ.addSpline([*points, points[0]])])
    return occ.extrude([(2, occ.addPlaneSurface([loop]))], 0, 0, 20)


def cells(named):
    return named.mesh.topology.index_map(3).size_global


def volume_of(named):
    one = fem.Constant(named.mesh, 1.0)
    return parallel.total(WORLD, fem.assemble_scalar(fem.form(one * ufl.dx)))


def check_whole(named):
    """The body is all cells, the skin all facets of the boundary."""
    assert {name: dim for name, (dim, _) in named.names.items()} == {"body": 3, "skin": 2}
    assert parallel.total(WORLD, len(named.cells("body"))) == cells(named)
    named.mesh.topology.create_connectivity(2, 3)
    boundary = dmesh.exterior_facet_indices(named.mesh.topology)
    assert np.array_equal(np.sort(boundary), np.sort(named.facets("skin")))


SHAPES = {
    "sphere": lambda occ: (3, occ.addSphere(0, 0, 0, 10)),
    "torus": lambda occ: (3, occ.addTorus(0, 0, 0, 10, 5)),
    "cone": lambda occ: (3, occ.addCone(0, 0, 0, 0, 0, 20, 8, 0)),
    "holed": holed,
    "hollow": hollow,
    "profile": profile,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_volumes_converge(shape, drawn):
    path, volume = drawn(f"{shape}.STP", SHAPES[shape])
    errors = []
    for size in (2.5e-3, 5e-3) if shape in ("torus", "holed") else (3.5e-3,):
        named = mesh.read(path, size=size)
        check_whole(named)
        errors.append(abs(volume_of(named) / (volume * 1e-9) - 1))
    assert errors[0] < 0.06 and errors[-1] < 0.15
    assert len(errors) == 1 or errors[0] < 0.45 * errors[1]


def test_the_default_size_is_a_twentieth_of_the_diagonal(drawn):
    path, _ = drawn("box.step", lambda occ: box(occ, sides=(4, 6, 30)))
    usual = cells(mesh.read(path, size=1e-3 * np.sqrt(952) / 20))
    assert cells(mesh.read(path)) == pytest.approx(usual, rel=0.02)


def test_curves_beside_the_solid_are_no_part_of_it(drawn):
    line = lambda occ: (1, occ.addLine(occ.addPoint(50, 0, 0), occ.addPoint(60, 0, 0)))  # noqa: E731
    alone, beside = (
        mesh.read(drawn(n, *s)[0], size=5e-3) for n, s in (("a.step", [box]), ("b.step", [box, line]))
    )
    assert volume_of(beside) == pytest.approx(volume_of(alone), rel=1e-12) == pytest.approx(6e-6)


#: Cells of the box drawn in millimetres, once.
IN_METRES: list[int] = []
INCH = b"""#9001 = DIMENSIONAL_EXPONENTS(1.,0.,0.,0.,0.,0.,0.);
#9002 = ( LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.MILLI.,.METRE.) );
#9003 = LENGTH_MEASURE_WITH_UNIT(LENGTH_MEASURE(25.4),#9002);
#%b = ( CONVERSION_BASED_UNIT('INCH',#9003) LENGTH_UNIT() NAMED_UNIT(#9001) );
"""


@pytest.mark.parametrize("unit, length", [("inch", 25.4e-3), ("m", 1.0)])
def test_metres_whatever_the_unit_of_the_file(unit, length, drawn, written):
    """The same box of 10 mm in every unit, drawn in its numbers."""
    side = 1e-2 / length
    path, _ = drawn("box.step", lambda occ: box(occ, sides=(side, side, side)))
    text = path.read_bytes()
    old = b"( LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.MILLI.,.METRE.) )"
    assert text.count(old) == 1
    if unit == "inch":
        number = text.split(b" = " + old)[0].rsplit(b"#", 1)[1]
        text = text.replace(b"#%b = %b;\n" % (number, old), INCH % number)
        assert b"INCH" in text
    else:
        text = text.replace(b".MILLI.", b"$")
    named = mesh.read(written("unit.step", text), size=3e-3)
    x = parallel.gather_rows(WORLD, named.mesh.geometry.x)
    assert np.max(x, axis=0) - np.min(x, axis=0) == pytest.approx(np.full(3, 1e-2), rel=1e-9)
    assert volume_of(named) == pytest.approx(1e-6, rel=1e-9)
    if not IN_METRES:
        path, _ = drawn("mm.step", lambda occ: box(occ, sides=(10, 10, 10)))
        IN_METRES.append(cells(mesh.read(path, size=3e-3)))
    assert cells(named) == pytest.approx(IN_METRES[0], rel=0.05)


# -- the bracket


@functools.cache
def bracket():
    """The mesh on all ranks."""
    return mesh.read(BRACKET, size=SIZE)


def test_the_bracket_is_drawn_by_its_script():
    """Step file and script have one volume."""
    drawn = mesh.read(BRACKET.with_suffix(".geo"), parameters={"size": 0.03})
    assert volume_of(drawn) == pytest.approx(VOLUME, rel=0.02)
    assert volume_of(bracket()) == pytest.approx(VOLUME, rel=5e-3)
    assert b"/" not in BRACKET.read_bytes()[:400]


@pytest.mark.mpi
def test_a_body_of_the_bracket():
    named = bracket()
    check_whole(named)
    body = Solid(named, density=7850.0, law=LinearElastic(2.1e11, 0.3))
    assert body.total_mass == pytest.approx(7850.0 * volume_of(named), rel=1e-12)
    step = body.critical_time_step()
    # Altitudes of a sixth of the size at least, and waves of about 6000 m/s.
    assert 0.15 * SIZE / 6000 < step < SIZE / 6000


@pytest.mark.mpi
def test_the_mesh_is_the_same_every_time_and_on_any_number_of_ranks():
    """Shared by all ranks, and read once more by each for itself."""
    shared, own = bracket(), mesh.read(BRACKET, size=SIZE, comm=MPI.COMM_SELF)
    assert cells(shared) == cells(own) > 1000
    x = [parallel.gather_rows(WORLD, shared.mesh.geometry.x), own.mesh.geometry.x]
    assert np.array_equal(*(np.unique(each, axis=0) for each in x))
    alone = fem.assemble_scalar(fem.form(fem.Constant(own.mesh, 1.0) * ufl.dx))
    assert volume_of(shared) == pytest.approx(alone, rel=1e-12)


# -- what is refused, on all ranks alike


def refused(path, message, **given):
    with pytest.raises(ValueError, match=message) as caught:
        mesh.read(path, **given)
    assert "\n" not in str(caught.value) and not gmsh.isInitialized()


HEAD = b"ISO-10303-21;\nHEADER;\nENDSEC;\nDATA;\nENDSEC;\nEND-ISO-10303-21;\n"


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is no STEP file: it does not begin with ISO-10303-21"),
        (b"This is a letter.\n", "is no STEP file: it does not begin with ISO-10303-21"),
        (bytes(range(256)) * 50, "is no STEP file: it does not begin with ISO-10303-21"),
        (HEAD[:20], "is cut off: a STEP file ends with END-ISO-10303-21"),
        (HEAD, "is damaged: OpenCASCADE found incorrect syntax"),
    ],
    ids=["empty", "text", "binary", "header", "nothing"],
)
def test_a_file_that_is_no_step_file(content, message, written):
    refused(written("bad.step", content), message)


@pytest.mark.mpi
def test_no_file_and_a_folder(shared_path):
    with pytest.raises(FileNotFoundError, match="the mesh file '.*nowhere.step' does not exist"):
        mesh.read(shared_path / "nowhere.step")
    parallel.on_root(WORLD, lambda: (shared_path / "folder.step").mkdir())
    refused(shared_path / "folder.step", "folder.step' is a folder: a mesh is a file")


def damaged():
    text = BRACKET.read_bytes()
    random = np.random.default_rng(1)
    lines = text.split(b"\n")
    kept = [line for line in lines[20:-20] if random.random() > 0.02]
    flipped = bytearray(text)
    for place in random.integers(1000, len(text) - 1000, 30):
        flipped[place] = random.integers(32, 127)
    return {
        "half": text[: len(text) // 2],
        "zeros": text[:2000] + bytes(3000) + text[5000:],
        "lines": b"\n".join([*lines[:20], *kept, *lines[-20:]]),
        "flipped": bytes(flipped),
    }


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("kind", ["half", "zeros", "lines", "flipped"])
def test_a_damaged_file(kind, written, capfd):
    """OpenCASCADE crashes on some, and complains on the terminal about others."""
    refused(written(f"{kind}.step", damaged()[kind]), "is cut off|is damaged|cannot be meshed|no STEP file")
    out, err = capfd.readouterr()
    assert out == err == ""


def test_the_solid_alone(drawn, written):
    two = drawn("two.step", box, lambda occ: box(occ, at=(40, 0, 0)))[0]
    refused(two, "two.step' holds 2 solids: a part is one solid")
    refused(drawn("wire.step", lambda occ: (1, occ.addCircle(0, 0, 0, 1)))[0], "holds no solid, only curves")
    refused(drawn("point.step", lambda occ: (0, occ.addPoint(0, 0, 0)))[0], "holds no solid, only points")
    sheet = lambda occ: (2, occ.addRectangle(0, 0, 50, 10, 10))  # noqa: E731
    refused(drawn("sheet.step", sheet)[0], r"holds no solid, only surfaces \(1\): they must be closed")
    refused(drawn("plus.step", box, sheet)[0], r"holds loose surfaces \(1\) beside its solid")
    text = drawn("box.step", box)[0].read_bytes()
    before, after = text.split(b"CLOSED_SHELL('',(", 1)
    opened = before + b"CLOSED_SHELL('',(" + after.split(b",", 1)[1]
    refused(written("opened.step", opened), r"holds no solid, only surfaces \(5\)")


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "size, message",
    [
        (0.0, "size, the length of the edges .* must be positive, but is 0.0"),
        (-1.0, "must be positive, but is -1.0"),
        (np.nan, "must be positive, but is nan"),
        (np.inf, "must be positive, but is inf"),
        ("fine", "a number, but is 'fine'"),
        (0.2, "bracket.step' is 0.12 m long: size must be smaller, but is 0.2 m"),
        (1e-5, r"would have about 1.\de\+12 tetrahedra with edges of 1e-05 m, and at most 2e\+07"),
    ],
)
def test_sizes_that_are_refused(size, message):
    refused(BRACKET, message, size=size)


@pytest.mark.mpi
def test_size_is_for_step_files_and_parameters_are_not(drawn):
    refused(BRACKET.with_suffix(".geo"), "size is for the tetrahedra of a .step or .stp file", size=0.01)
    refused(BRACKET, "is no .geo script and has no parameters", parameters={"size": 1.0})
    refused(BRACKET, "a solid from a STEP file has gdim 3, not 2", gdim=2)

"""Files of fields that other programs open: order of nodes, every field of every body, whole at any time."""

import functools
import shutil

import basix.ufl
import numpy as np
import pytest
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support import vtx_reader
from support.blocks import dropped, named
from support.field_files import NAMES, read
from support.frames import falling_frame
from support.pairs import bars

import dolfinx_impact as di
from dolfinx_impact import FieldWriter, parallel
from dolfinx_impact.output.field_file import FieldFile
from dolfinx_impact.output.fields import LABELS
from dolfinx_impact.output.formats.vtu import Piece
from dolfinx_impact.output.formats.xdmf import XDMF

pyvista, meshio = pytest.importorskip("pyvista"), pytest.importorskip("meshio")

COMM = MPI.COMM_WORLD
needs_reader = pytest.mark.skipif(not vtx_reader.available(), reason="no C library of ADIOS2")


@pytest.mark.mpi
@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("cell", ["hexahedron", "tetrahedron", "quadrilateral", "triangle"])
def test_polynomials_inside_of_cells(cell, degree, shared_path):
    """Nodes in another order would be another polynomial; nothing of a cell is there twice or not at all."""
    d = 2 if cell in ("triangle", "quadrilateral") else 3
    make = dmesh.create_rectangle if d == 2 else dmesh.create_box
    mesh = make(COMM, [[0.0] * d, [1.0] * d], [2] * d, getattr(dmesh.CellType, cell))
    element = basix.ufl.element("P", cell, degree, lagrange_variant=basix.LagrangeVariant.equispaced)
    u = fem.Function(fem.functionspace(mesh, element), name="u & v [m]")

    def polynomial(x):
        return (1.0 + x[0] + 2.0 * x[1] - 3.0 * x[2]) ** degree

    u.interpolate(polynomial)
    file = FieldFile(shared_path / "a & b.pvd", [u], anew=True)
    file.write(0.125)
    file.close()
    COMM.barrier()
    if COMM.rank == 0:
        (grid,) = pyvista.get_reader(shared_path / "a & b.pvd").read()
        points = np.random.default_rng(0).uniform(0.0, 1.0, (50, 3))
        points[:, d:] = 0.0
        seen = pyvista.PolyData(points).sample(grid, tolerance=1e-9)
        assert np.all(seen["vtkValidPointMask"] == 1)
        assert seen["u & v [m]"] == pytest.approx(polynomial(points.T), abs=1e-12)
        assert np.unique(np.round(grid.cell_centers().points, 9), axis=0).shape[0] == grid.n_cells
        pieces = [meshio.read(piece) for piece in (shared_path / "a & b.pieces").glob("*.vtu")]
        assert sum(len(piece.cells[0].data) for piece in pieces) == grid.n_cells
        for piece in pieces:
            assert piece.point_data["u & v [m]"] == pytest.approx(polynomial(piece.points.T), abs=1e-14)


def divided():
    """HATI of two halves."""
    mesh = named("triangle")
    near, far = (
        di.Solid(mesh, density=1e3, law=di.LinearElastic(1e7, 0.3), cells=part) for part in ("near", "far")
    )
    wall = di.RigidContact(near, "bottom", di.Plane((0, 0), (0, 1)))
    s = di.HATI(near, far, 0.5 * near.critical_time_step(), wall, ratio=3)
    s.start(0.0, near.rigid_velocity((0, -20.0)))
    return s


def surfaces():
    """Two blocks whose meshes do not match, one on the other."""
    make = functools.partial(dmesh.create_rectangle, cell_type=dmesh.CellType.quadrilateral)
    lower, upper = make(COMM, [[0, -0.5], [1, 0]], [4, 2]), make(COMM, [[0.2, 0.001], [0.8, 0.5]], [3, 2])
    joined = di.mesh.join({"upper": upper, "lower": lower})
    body = di.Solid(joined, law=di.LinearElastic(1e3, 0.3), density=1.0)
    touching = di.SurfaceContact(body, "upper/boundary", "lower/boundary", friction=0.3)
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=touching)
    s.start(0.0, lambda x: np.stack([0 * x[0], -1.0 * (x[1] > 0)]))
    return s


def round_block():
    """A body of revolution."""
    law = di.LinearElastic(1e7, 0.3)
    solid = di.Solid(named("triangle"), density=1e3, law=law, hypothesis="axisymmetric")
    floor = di.RigidContact(solid, "bottom", di.Plane((0, 0), (0, 1)))
    s = di.CDLagrange(solid, 0.5 * solid.critical_time_step(), contact=floor)
    s.start(0.0, solid.rigid_velocity((0, -20.0)))
    return s


def pairs():
    """Two bars; on three ranks one has no cells."""
    solid = bars([0, COMM.size - 1])
    ends = [name for name, (dim, _) in solid.named.names.items() if dim == 0][:2]
    s = di.CDLagrange(solid, 0.5 * solid.critical_time_step(), di.NodePairs(solid, *ends, (1.0,)))
    s.start(0.0, np.where(solid.x[:, 0] < 0, 1.0, -1.0))
    return s


def own_forms():
    """A user's own forms."""
    import ufl

    mesh = dmesh.create_unit_square(COMM, 3, 3)
    V = fem.functionspace(mesh, ("Lagrange", 2, (2,)))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    system = di.FormSystem(V, stiffness=1e3 * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, density=1.0)
    floor = di.RigidContact(system, "boundary", di.Plane((0, -0.001), (0, 1)))
    s = di.CDLagrange(system, 0.5 * system.critical_time_step(), contact=floor)
    s.start(0.0, (0.3, -1.0))
    return s


METAL = di.J2Plasticity(1e7, 0.3, hardening=di.materials.LinearHardening(1e5, 1e6))
PLASTIC = (*NAMES, "plastic_strain", "yield_stress")
BODIES = {
    "tetrahedra": (dropped, (*NAMES, "pressure")),
    "cubic": (functools.partial(dropped, "quadrilateral", 3), NAMES),
    "metal": (functools.partial(dropped, "quadrilateral", law=METAL), PLASTIC),
    "axisymmetric": (round_block, NAMES),
    "part": (functools.partial(dropped, "triangle", contact=False, cells="far"), NAMES),
    "divided": (divided, NAMES),
    "surfaces": (surfaces, (*NAMES, "pressure")),
    "pairs": (pairs, NAMES),
    "frame": (falling_frame, ("displacement", "velocity", "impulse", "gap")),
    "own forms": (own_forms, ("displacement", "velocity", "impulse", "gap", "pressure")),
}


@needs_reader
@pytest.mark.mpi
@pytest.mark.parametrize("body", BODIES)
def test_every_format_shows_the_same(body, shared_path):
    """All fields of every sample by name and unit, NaN included; those of VTX are tested elsewhere."""
    make, names = BODIES[body]
    s = make()
    degree = s.body.degree if body != "divided" else 1
    suffixes = ["bp", "pvd"] + ["xdmf"] * (degree == 1)
    observers = [FieldWriter(shared_path / f"a.{suffix}", every=6, names=names) for suffix in suffixes]
    di.simulate(s, t_end=s.t + 14 * s.dt, observers=observers, progress=False, energies=False)
    vtx, *others = (read(shared_path / f"a.{suffix}", names) for suffix in suffixes)
    assert vtx.t.size > 2 and np.nanmax(np.abs(vtx.tables["velocity"][-1][:, 3:])) > 0
    for other in others:
        assert other.t == pytest.approx(vtx.t, rel=1e-15) and other.names == {LABELS[name] for name in names}
        for name in names:
            for found, expected in zip(other.tables[name], vtx.tables[name], strict=True):
                assert found == pytest.approx(expected, rel=1e-15, abs=1e-15, nan_ok=True), name
    if body == "metal":
        assert vtx.tables["plastic_strain"][-1][:, 3].max() > 1e-3


def half_on_the_last_rank(piece, file, fields):
    """What the other ranks have written must go too."""
    file.write(b"half")
    if COMM.rank == COMM.size - 1:
        raise ZeroDivisionError("division by zero")


@pytest.mark.mpi
@pytest.mark.parametrize("suffix", ["pvd", "xdmf"])
def test_whole_after_each_sample(suffix, shared_path, monkeypatch):
    """A run that ends at any moment leaves what it has written; a sample that fails leaves nothing."""
    s, fields = dropped("triangle"), FieldWriter(shared_path / f"a.{suffix}", every=2)
    fields.begin(s)
    for step in range(1, 6):
        s.step()
        fields(s)
        assert read(shared_path / f"a.{suffix}").t / s.dt == pytest.approx(range(0, step + 1, 2))
    if suffix == "pvd":
        pieces = sorted(path.name for path in (shared_path / "a.pieces").iterdir())
        before = (shared_path / "a.pvd").read_bytes()
        COMM.barrier()
        monkeypatch.setattr(Piece, "write", half_on_the_last_rank)
        s.step()
        with pytest.raises(OSError, match=r"could not write '.*a.pvd': division by zero"):
            fields(s)
        COMM.barrier()
        assert sorted(path.name for path in (shared_path / "a.pieces").iterdir()) == pieces
        assert (shared_path / "a.pvd").read_bytes() == before
    fields.end()
    COMM.barrier()
    names = {path.name for path in shared_path.iterdir()}
    assert names == ({"a.pvd", "a.pieces"} if suffix == "pvd" else {"a.xdmf", "a.h5"})


def written(path, steps=1):
    s, fields = dropped("triangle"), FieldWriter(path, every=1, names=("gap",))
    fields.begin(s)
    for _ in range(steps):
        s.step()
        fields(s)
    fields.end()
    return s, fields


@pytest.mark.mpi
def test_pieces_of_several_runs_stay_apart(shared_path):
    """A file is replaced with its pieces, also those of a run that was killed, and nothing else is."""
    s, fields = written(shared_path / "a.pvd", 2)
    fields.begin(s)
    s.step()
    fields(s)
    fields.end()
    if COMM.rank == 0:
        (shared_path / "a.pieces" / ".000007.vtu.x1_y2z3k").write_text("half")
        (shared_path / "a.pieces" / "000123-7.vtu").write_text("of more ranks")
        (shared_path / "b.pieces").mkdir()
        (shared_path / "b.pieces" / "letters").write_text("dear")
        (shared_path / "c.pieces").write_text("dear")
        (shared_path / "d.pvd").mkdir()
    COMM.barrier()
    assert read(shared_path / "a-2.pvd", ["gap"]).t / s.dt == pytest.approx([3])
    written(shared_path / "a.pvd")
    assert read(shared_path / "a.pvd", ["gap"]).t / s.dt == pytest.approx([0, 1])
    assert read(shared_path / "a-2.pvd", ["gap"]).t / s.dt == pytest.approx([3])
    left = {path.name.split("-")[0].split(".")[0] for path in (shared_path / "a.pieces").iterdir()}
    assert left == {"000000", "000001"}
    for name, words in (
        ("b", "'b.pieces' is a folder of other files, with 'letters'"),
        ("c", "c.pieces': there is something else of this name"),
        ("d", "d.pvd': there is something else of this name"),
    ):
        with pytest.raises(OSError, match=words):
            written(shared_path / f"{name}.pvd")
    assert (shared_path / "b.pieces" / "letters").exists()


@pytest.mark.mpi
def test_a_file_that_another_run_has_replaced(shared_path):
    """The first run hears of it, and leaves the pieces of the second alone."""
    s, fields = dropped("triangle"), FieldWriter(shared_path / "a.pvd", every=1, names=("gap",))
    fields.begin(s)
    written(shared_path / "a.pvd", 3)
    s.step()
    with pytest.raises(OSError, match="is another file now"):
        fields(s)
    fields.end()
    assert read(shared_path / "a.pvd", ["gap"]).t / s.dt == pytest.approx([0, 1, 2, 3])
    parallel.on_root(COMM, lambda: shutil.rmtree(shared_path / "a.pieces"))


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["a.xdmf", "a.xdmf~", "a.h5"])
def test_xdmf_without_one_of_its_files(name, shared_path):
    """The run hears of it: DOLFINx would begin a new one, without the mesh or the values so far."""
    s, fields = dropped("triangle"), FieldWriter(shared_path / "a.xdmf", every=1, names=("gap",))
    fields.begin(s)
    parallel.on_root(COMM, (shared_path / name).unlink)
    s.step()
    with pytest.raises(OSError, match=f"could not write .*No such file or directory: '.*{name}'"):
        fields(s)
    fields.end()
    if name == "a.xdmf~":
        assert read(shared_path / "a.xdmf", ["gap"]).t == pytest.approx([0])


@pytest.mark.mpi
def test_values_of_something_else_are_not_replaced(shared_path):
    """Those of an earlier file are, also where a run was killed before its first sample was complete."""
    path, values = shared_path / "mine.xdmf", shared_path / "mine.h5"
    parallel.on_root(COMM, lambda: values.write_text("dear"))
    for _ in range(2):  # an error takes nothing away
        with pytest.raises(OSError, match="mine.xdmf': its values would replace 'mine.h5', .* another name"):
            written(path)
    assert values.read_text() == "dear"
    parallel.on_root(COMM, (shared_path / "mine.xdmf~").touch)
    for _ in range(2):
        s, _ = written(path)
        COMM.barrier()
        assert read(path, ["gap"]).t / s.dt == pytest.approx([0, 1])
    parallel.on_root(COMM, lambda: (path.unlink(), values.unlink(), values.mkdir()))
    with pytest.raises(OSError, match="mine.h5': there is something else of this name"):
        written(path)


def test_a_first_sample_that_fails_can_be_written_again(tmp_path, monkeypatch):
    """The values that it leaves are known as those of the file."""
    with monkeypatch.context() as failing, pytest.raises(OSError, match="could not write .*division by zero"):
        failing.setattr(XDMF, "publish", lambda self: 1 / 0)
        written(tmp_path / "a.xdmf")
    s, _ = written(tmp_path / "a.xdmf")
    assert read(tmp_path / "a.xdmf", ["gap"]).t / s.dt == pytest.approx([0, 1])
    assert {path.name for path in tmp_path.iterdir()} == {"a.xdmf", "a.h5"}


@pytest.mark.mpi
def test_pyvista_reads_xdmf(shared_path):
    """Where its VTK has the reader, which that of Debian lacks."""
    pytest.importorskip("vtkmodules.vtkIOXdmf2")
    s, _ = written(shared_path / "a.xdmf", 2)
    COMM.barrier()
    reader = pyvista.get_reader(shared_path / "a.xdmf")
    assert np.array(reader.time_values) / s.dt == pytest.approx([0, 1, 2])
    assert reader.read().point_data.keys() == ["gap [m]"]


@pytest.mark.mpi
def test_the_first_sample_has_the_impact_at_the_start(shared_path):
    """All samples together have the impulses that the history of forces has, the first one included."""
    square = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.0]], [4, 4])
    named_square = di.named(square, low=lambda x: np.isclose(x[1], 0.0))
    body = di.Solid(named_square, density=1000.0, law=di.LinearElastic(1e6, 0.3))
    floor = di.RigidContact(body, "low", di.Plane((0.0, 0.0), (0.0, 1.0)))
    scheme = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=floor)
    scheme.start(0.0, (0.0, -1.0))
    path, force = shared_path / "run.pvd", di.ContactForce()
    observers = [FieldWriter(path, every=2, names=["impulse"]), force]
    di.simulate(scheme, t_end=6 * scheme.dt, observers=observers, progress=False)
    given = force.history().impulses[:, 1]
    assert given[0] > 0.1 * given.sum()
    if COMM.rank == 0:
        reader, sums = pyvista.get_reader(path), []
        for time in reader.time_values:
            reader.set_active_time_value(time)
            grid = reader.read()[0]
            own = np.asarray(grid.point_data.get("vtkGhostType", np.zeros(grid.n_points))) == 0
            sums.append(np.asarray(grid["impulse [N s]"])[own, 1].sum())
        wanted = [given[0], *given[1:].reshape(3, 2).sum(axis=1)]
        assert sums == pytest.approx(wanted, rel=1e-12)

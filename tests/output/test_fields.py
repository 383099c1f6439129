"""Files for ParaView, read back and compared with the run."""

import contextlib
import functools
import shutil

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support import vtx_reader
from support.blocks import dropped, named
from support.field_files import NAMES, gathered, read, shown
from support.frames import falling_frame
from support.pairs import bars
from support.processes import limited_files

import dolfinx_impact as di
from dolfinx_impact import FieldWriter, _compat, parallel, plot
from dolfinx_impact.output.field_file import FieldFile
from dolfinx_impact.output.fields import LABELS

COMM = MPI.COMM_WORLD
needs_reader = pytest.mark.skipif(not vtx_reader.available(), reason="no C library of ADIOS2")


def follow(s, fields, steps, seen=None, forced=()):
    """A loop as in ``simulate``; impulses of the steps of all ranks, shape (steps, gdim)."""
    fields.begin(s)
    total = []
    for _ in range(steps):
        s.step()
        fields(s)
        total.append(COMM.allreduce(impulse_on(s)))
        if seen is not None and (s.n % seen[0] == 0 or s.n in forced):
            seen[1].append(shown(s))
    fields.end()
    return np.array(total)


def impulse_on(s):
    d = s.system.mesh.geometry.dim
    if s.contact is None:
        return np.zeros(d)
    out = s.r @ s.contact.L.weights
    return out + s.r_t.sum(axis=0) if s.r_t.size else out


@pytest.mark.mpi
@needs_reader
@pytest.mark.parametrize(
    "cell, degree",
    [("tetrahedron", 1), ("tetrahedron", 2), ("quadrilateral", 1), ("quadrilateral", 3), ("triangle", 2)],
)
def test_values_and_times(cell, degree, shared_path):
    """Every field at every sample is that of the run at its own place, start and last step included."""
    s = dropped(cell, degree)
    expected = [shown(s)]
    impulses = follow(s, FieldWriter(shared_path / "drop.bp", every=7), 24, (7, expected), (24,))
    file = read(shared_path / "drop.bp")
    assert file.t == pytest.approx([t for t, _ in expected], rel=1e-14) and file.t.size == 5
    for name in ("displacement", "velocity", "stress", "gap"):
        for found, (_, values) in zip(file.tables[name], expected):
            wanted = np.zeros(found.shape)
            wanted[:, : values[name].shape[1]] = values[name]
            assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True), name
    # Impulses are summed between samples; nothing is lost.
    ends = [0, 0, 7, 14, 21, 24]
    for i, table in enumerate(file.tables["impulse"]):
        between = impulses[ends[i] : ends[i + 1]].sum(axis=0)
        assert table[:, 3 : 3 + between.size].sum(axis=0) == pytest.approx(between, rel=1e-12, abs=1e-12)
        away = np.isnan(file.tables["gap"][i][:, 3])
        assert away.any() and not away.all() and not table[away, 3:].any()
    assert impulses[:, -1].sum() > 0 and abs(impulses[:, 0].sum()) > 0


@pytest.mark.mpi
@needs_reader
def test_what_paraview_is_told(shared_path):
    """The scheme names points, cells, time and all fields with their units; the mesh is there once."""
    s = dropped("triangle")
    follow(s, FieldWriter(shared_path / "a.bp", every=2), 4)
    file = read(shared_path / "a.bp")
    for name in ("geometry", "connectivity", "types", *map(LABELS.get, NAMES)):
        assert f'<DataArray Name="{name}" />' in file.xml
    assert '<DataArray Name="TIME">step</DataArray>' in file.xml
    assert file.first_mesh
    corners = file.x[np.array(file.cells)]
    edges = corners[:, 1:, :2] - corners[:, :1, :2]
    assert np.abs(np.linalg.det(edges)) == pytest.approx(0.1**2 / 4)
    assert len(file.points) == 9


@pytest.mark.mpi
@needs_reader
def test_curved_obstacles(shared_path):
    """Where normals change, each impulse keeps the direction that it had."""
    s = dropped("tetrahedron", obstacle=di.Sphere((0.05, 0.05, -0.3), 0.3005), friction=0.0)
    total = follow(s, FieldWriter(shared_path / "s.bp", every=40, names=["impulse"]), 40)
    tables = read(shared_path / "s.bp", ["impulse"]).tables["impulse"]
    assert sum(tables)[:, 3:].sum(axis=0) == pytest.approx(total.sum(axis=0), rel=1e-12, abs=1e-12)


@pytest.mark.mpi
@needs_reader
def test_by_time(shared_path):
    """The first step at or after each multiple of the interval, and the last."""
    s = dropped("triangle")
    h = s.dt
    follow(s, FieldWriter(shared_path / "t.bp", interval=2.5 * h, names=("gap",)), 11)
    assert read(shared_path / "t.bp", ["gap"]).t / h == pytest.approx([0, 3, 5, 8, 10, 11])
    s = dropped("triangle")
    follow(s, FieldWriter(shared_path / "u.bp", interval=2 * h, names=("gap",)), 4)
    assert read(shared_path / "u.bp", ["gap"]).t / h == pytest.approx([0, 2, 4])
    s = dropped("triangle")
    follow(s, FieldWriter(shared_path / "v.bp", interval=h / 3, names=("gap",)), 3)
    assert read(shared_path / "v.bp", ["gap"]).t / h == pytest.approx([0, 1, 2, 3])


@pytest.mark.mpi
@needs_reader
@pytest.mark.parametrize("schedule, obstacle", [("every", "sphere"), ("interval", None)])
def test_resumed(schedule, obstacle, shared_path):
    """The samples of a resumed run are those of an uninterrupted one; the earlier file is intact."""
    ball = di.Sphere((0.05, -0.3), 0.3005) if obstacle else None
    first = dropped("triangle", obstacle=ball)
    options = {"every": 6} if schedule == "every" else {"interval": 5.4 * first.dt}
    follow(first, FieldWriter(shared_path / "whole.bp", **options), 30)
    for stop in (15, 18):
        s, fields = dropped("triangle", obstacle=ball), FieldWriter(shared_path / f"{stop}.bp", **options)
        fields.begin(s)
        for _ in range(stop):
            s.step()
            fields(s)
        kept, state = s.state(), fields.state()
        assert all(np.array_equal(COMM.bcast(value), value) for value in state.values())
        fields.end()
        before = (shared_path / f"{stop}.bp" / "data.0").read_bytes()
        again, rest = dropped("triangle", obstacle=ball), FieldWriter(shared_path / f"{stop}.bp", **options)
        again.resume(kept)
        rest.resume(state)
        follow(again, rest, 30 - stop)
        assert (shared_path / f"{stop}.bp" / "data.0").read_bytes() == before
        whole, part = read(shared_path / "whole.bp"), read(shared_path / f"{stop}-2.bp")
        n = part.t.size
        assert 0 < n < whole.t.size and part.t == pytest.approx(whole.t[-n:], rel=1e-13)
        assert part.t[0] > kept["n"] * s.dt * (1 + 1e-9)
        for name in NAMES:
            for a, b in zip(part.tables[name], whole.tables[name][-n:]):
                assert a == pytest.approx(b, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.mpi
def test_states_do_not_depend_on_ranks(shared_path):
    """Impulses are kept by the order of the contact points and find their points again."""
    s, fields = dropped(), FieldWriter(shared_path / "s.bp", every=100)
    fields.begin(s)
    for _ in range(15):
        s.step()
        fields(s)
    state, samples = fields.state(), fields._samples
    order = s.contact.L.sorting(COMM)
    x = parallel.gather_rows(COMM, s.system.x[s.contact.L.dofs[:, 0] // 3])[order]
    assert np.all(np.diff(np.round(x, 9) @ [1e6, 1e3, 1.0]) > 0)
    assert state["impulses"].shape == (len(x), 3) and state["impulses"].any()
    mine = samples._impulses.copy()
    samples.forget_impulses()
    samples.take_impulses(state["impulses"])
    assert np.array_equal(mine, samples._impulses)
    fields.end()


@pytest.mark.mpi
@needs_reader
def test_a_run_that_goes_on(shared_path):
    """A second run with the same fields writes a second file; one from elsewhere is refused."""
    s, fields = dropped("triangle"), FieldWriter(shared_path / "a.bp", every=4)
    follow(s, fields, 6)
    follow(s, fields, 6)
    assert read(shared_path / "a.bp").t / s.dt == pytest.approx([0, 4, 6])
    assert read(shared_path / "a-2.bp").t / s.dt == pytest.approx([8, 12])
    s.start(0.0, 0.0)
    with pytest.raises(ValueError, match="followed to t = .* but the run is at t = 0 s: make new ones"):
        fields.begin(s)
    fields.end()
    # A new run replaces the first file and nothing else.
    follow(dropped("triangle"), FieldWriter(shared_path / "a.bp", every=4), 1)
    assert read(shared_path / "a.bp").t / s.dt == pytest.approx([0, 1])
    assert (shared_path / "a-2.bp").exists()


@pytest.mark.mpi
@needs_reader
def test_two_bodies_of_hati(shared_path):
    """Both sides are one field; the stress between them is averaged over all cells."""
    mesh = named("triangle")
    near, far = (
        di.Solid(mesh, density=1e3, law=di.LinearElastic(1e7, 0.3), cells=part) for part in ("near", "far")
    )
    wall = di.RigidContact(near, "bottom", di.Plane((0, 0), (0, 1)))
    s = di.HATI(near, far, 0.5 * near.critical_time_step(), wall, ratio=3)
    s.start(0.0, near.rigid_velocity((0, -20.0)))
    total = follow_hati(s, FieldWriter(shared_path / "h.bp", every=5), 20)
    file = read(shared_path / "h.bp")
    u = gathered(s, s.system.split(s.u)[0])
    v = gathered(s, s.system.split(s.u)[1])
    merged = np.where(v[:, 1:2] > 0.051 + 1e-9, v, u)
    assert file.tables["displacement"][-1][:, :5] == pytest.approx(merged, abs=1e-15)
    assert sum(file.tables["impulse"])[:, 4].sum() == pytest.approx(total, rel=1e-12)
    stress = file.tables["stress"][-1][:, 3]
    assert np.all(stress > 0) and total > 0


def follow_hati(s, fields, steps):
    fields.begin(s)
    total = 0.0
    for _ in range(steps):
        s.step()
        fields(s)
        total += parallel.total(COMM, s.r.sum())
    fields.end()
    return total


@pytest.mark.mpi
@needs_reader
def test_pairs_of_nodes(shared_path):
    """Both nodes of a pair have its gap and opposite impulses, also where two ranks share it."""
    solid = bars([0, COMM.size - 1])
    pairs = di.NodePairs(solid, *pair_names(solid), (1.0,))
    s = di.CDLagrange(solid, 0.5 * solid.critical_time_step(), pairs)
    s.start(0.0, np.where(solid.x[:, 0] < 0, 1.0, -1.0))
    fields = FieldWriter(shared_path / "p.bp", every=10)
    fields.begin(s)
    total = 0.0
    for _ in range(200):
        s.step()
        fields(s)
        total += parallel.total(COMM, s.r.sum())
    state = fields.state()
    assert state["impulses"].shape == (2, 1)
    fields.end()
    file = read(shared_path / "p.bp")
    sums = sum(file.tables["impulse"])[:, 3]
    assert total > 0 and np.sort(sums)[[0, -1]] == pytest.approx([-total, total])
    assert np.count_nonzero(~np.isnan(file.tables["gap"][-1][:, 3])) == 2


def pair_names(solid):
    return [name for name, (dim, _) in solid.named.names.items() if dim == 0][:2]


@pytest.mark.mpi
@needs_reader
def test_frames(shared_path):
    """Displacements without rotations, no stress; a frame that every rank has is written once."""
    s = falling_frame()
    fields = FieldWriter(shared_path / "f.bp", every=5)
    fields.begin(s)
    for _ in range(10):
        s.step()
        fields(s)
    fields.end()
    file = read(shared_path / "f.bp", ["displacement", "gap", "impulse"])
    assert file.t.size == 3 and "stress" not in file.xml and len(file.points) == 5
    assert file.tables["displacement"][-1][:, 5] == pytest.approx(s.u[2::6][:5].min(), rel=1e-9)
    with pytest.raises(ValueError, match="a Frame has no stress to show"):
        FieldWriter(shared_path / "f.bp", every=5, names="stress").begin(s)


@pytest.mark.mpi
@needs_reader
def test_without_contact_and_on_part_of_a_mesh(shared_path):
    s = dropped("triangle", contact=False, cells="far")
    follow(s, FieldWriter(shared_path / "n.bp", every=3), 3)
    file = read(shared_path / "n.bp")
    below = file.points[:, 1] < 0.051 - 1e-9
    assert np.isnan(file.tables["gap"][-1][:, 3]).all() and not file.tables["impulse"][-1][:, 3:].any()
    table = file.tables["velocity"][-1]
    assert below.sum() == 3 and not table[table[:, 1] < 0.051 - 1e-9, 3:].any()


# -- XDMF


@pytest.mark.mpi
def test_xdmf(shared_path):
    """All fields at all times, as meshio reads them."""
    s = dropped("tetrahedron")
    expected = [shown(s)]
    follow(s, FieldWriter(shared_path / "x.xdmf", every=3), 9, (3, expected))
    file = read(shared_path / "x.xdmf")
    assert file.t == pytest.approx([t for t, _ in expected])
    for name in ("displacement", "velocity", "stress", "gap"):
        for found, (_, wanted) in zip(file.tables[name], expected, strict=True):
            assert found == pytest.approx(wanted[name], rel=1e-12, abs=1e-12, nan_ok=True)
    with pytest.raises(ValueError, match="XDMF shows elements of degree 1, these have 2: take .bp"):
        FieldWriter(shared_path / "y.xdmf", every=1).begin(dropped("triangle", 2))
    assert not (shared_path / "y.xdmf").exists()


# -- errors


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "options, words",
    [
        ({}, r"give either every= .* or interval="),
        ({"every": 2, "interval": 1.0}, r"give either every= .* or interval="),
        ({"every": 0}, "every must be a whole number of steps from 1 on, but is 0"),
        ({"every": 1.5}, "every must be a whole number of steps from 1 on, but is 1.5"),
        ({"every": "2"}, "every must be a whole number of steps from 1 on, but is '2'"),
        ({"interval": 0.0}, "interval must be a positive time .* but is 0.0"),
        ({"interval": float("inf")}, "interval must be a positive time .* but is inf"),
        ({"every": 1, "names": ("speed",)}, "unknown field 'speed'; the fields are displacement, velocity,"),
        ({"every": 1, "names": ()}, "names has no field; the fields are"),
        ({"every": 1, "path": "drop.vtu"}, "'drop.vtu' must end in .bp"),
    ],
    ids=range(10),
)
def test_refused(options, words):
    with pytest.raises(ValueError, match=words):
        FieldWriter(options.pop("path", "drop.bp"), **options)


@pytest.mark.mpi
def test_without_adios2(monkeypatch):
    monkeypatch.setattr(_compat, "has_adios2", lambda: False)
    with pytest.raises(ImportError, match="without ADIOS2, take .pvd instead"):
        FieldWriter("drop.bp", every=1)
    FieldWriter("drop.xdmf", every=1)


@pytest.mark.mpi
def test_refused_before_the_first_step(shared_path, monkeypatch):
    """Wrong systems and folders; all ranks hear of it."""
    ball = di.CDLagrange(di.PointMasses(1.0), 1e-3)
    ball.start(0.0, 0.0)
    with pytest.raises(ValueError, match="fields are those of a Solid or a Frame, not of a PointMasses"):
        FieldWriter(shared_path / "a.bp", every=1).begin(ball)
    s = dropped("triangle")
    for suffix in ("bp", "pvd", "xdmf"):
        with pytest.raises(OSError, match="could not write .*nowhere.* No such file or directory"):
            FieldWriter(shared_path / "nowhere" / f"a.{suffix}", every=1).begin(s)
    if COMM.rank == 0:
        (shared_path / "b.bp").mkdir()
        (shared_path / "b.bp" / "letters").write_text("dear")
        (shared_path / "c.bp").write_text("dear")
    COMM.barrier()
    for name, words in (("b", "folder of other files, with 'letters'"), ("c", "something else of this name")):
        with pytest.raises(OSError, match=words):
            FieldWriter(shared_path / f"{name}.bp", every=1).begin(s)
    assert (shared_path / "b.bp" / "letters").exists()
    unstarted = di.CDLagrange(s.system, s.dt)
    with pytest.raises(RuntimeError, match="call integrator.start"):
        FieldWriter(shared_path / "a.bp", every=1).begin(unstarted)
    with pytest.raises(ValueError, match="this is no state of FieldWriter: it has no count"):
        FieldWriter(shared_path / "a.bp", every=1).resume({})
    fields = FieldWriter(shared_path / "a.bp", every=1)
    follow(s, fields, 1)
    other, state = FieldWriter(shared_path / "d.bp", every=1), fields.state()
    other.resume({**state, "impulses": np.zeros((77, 2))})
    with pytest.raises(ValueError, match="of another contact: it has impulses of shape"):
        other.begin(s)
    other = FieldWriter(shared_path / "d.bp", every=1)
    other.resume({**state, "t": np.array(5.0)})
    with pytest.raises(ValueError, match="followed to t = 5 s, but the run is at"):
        other.begin(s)
    assert not (shared_path / "d.bp").exists()


@pytest.mark.mpi
def test_a_failed_step_is_not_shown(shared_path):
    """After a step that was not made whole there is no sample of it."""
    s, fields = dropped("triangle"), FieldWriter(shared_path / "a.bp", every=10)
    fields.begin(s)
    s.step()
    fields(s)
    s.n += 1  # as a step that raises
    fields.end()
    fields.end()
    if vtx_reader.available():
        assert read(shared_path / "a.bp").t.size == 1


@pytest.mark.mpi
@pytest.mark.parametrize("suffix", ["bp", "pvd", "xdmf"])
@pytest.mark.parametrize(
    "what, words", [("limit", "files may have .00000 bytes here"), ("gone", "No such file")]
)
def test_failing_while_running(what, words, suffix, shared_path):
    """One OSError on every rank, no hang, and what was written before can be read."""
    folder = shared_path / "files"
    parallel.on_root(COMM, folder.mkdir)
    s = dropped("tetrahedron", 2 if suffix == "bp" else 1)
    fields = FieldWriter(folder / f"a.{suffix}", every=1)
    fields.begin(s)
    for _ in range(5):
        s.step()
        fields(s)
    COMM.barrier()
    if what == "gone":
        parallel.on_root(COMM, lambda: shutil.rmtree(folder))
    size = 200_000 if suffix == "pvd" else 300_000  # those of pieces do not grow
    limit = limited_files(size) if what == "limit" else contextlib.nullcontext()
    with limit, pytest.raises(OSError, match=f"could not write .*{words}") as error:
        for _ in range(55):
            s.step()
            fields(s)
    fields.end()
    assert len(set(COMM.allgather((s.n, str(error.value))))) == 1
    assert not folder.exists() or not [path for path in folder.iterdir() if path.name[0] == "."]
    if what == "limit" and (suffix != "bp" or vtx_reader.available()):
        assert read(folder / f"a.{suffix}", ["gap"]).t.size == s.n


def test_an_error_of_the_library_is_such_an_error_too(tmp_path, monkeypatch):
    """The program continues."""
    monkeypatch.setattr(FieldFile, "_check_space", lambda self, size: None)
    s, fields = dropped("tetrahedron", 2), FieldWriter(tmp_path / "b.bp", every=1)
    fields.begin(s)
    with limited_files(50_000), pytest.raises(OSError, match="could not write .*File too large"):
        for _ in range(60):
            s.step()
            fields(s)
    fields.end()


@needs_reader
@pytest.mark.mpi
def test_pressure_of_a_plane_and_of_two_surfaces(shared_path):
    """Pressures are those of the contacts, and times the areas the force of the last step."""
    make = functools.partial(dmesh.create_rectangle, cell_type=dmesh.CellType.quadrilateral)
    lower, upper = make(COMM, [[0.0, -0.5], [1.0, 0.0]], [4, 2]), make(COMM, [[0.2, 0.0], [0.8, 0.5]], [3, 2])
    joined = di.mesh.join({"upper": upper, "lower": lower})
    body = di.Solid(joined, law=di.LinearElastic(1e3, 0.3), density=1.0, cross_section=0.1)
    floor = di.Plane((0, -0.5), (0, 1))
    contacts = [
        di.RigidContact(body, "lower/boundary", floor),
        di.SurfaceContact(body, "upper/boundary", "lower/boundary"),
    ]
    # Of the facets at a corner those below or above count, not those beside it.
    assert parallel.total(COMM, contacts[0].areas().sum()) == pytest.approx(
        (3.0 - 4 * 0.125) * 0.1, rel=1e-13
    )
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=contacts)
    s.start(0.0, (0.0, -1.0))
    di.simulate(
        s, t_end=3 * s.dt, observers=[FieldWriter(shared_path / "p.bp", every=1, names=("pressure",))]
    )
    shown = read(shared_path / "p.bp", ("pressure",)).tables["pressure"][-1]
    pressures, areas = s.contact.pressure(s.r, s.dt), s.contact.areas()
    sums = COMM.allreduce(np.array([s.dt * pressures @ areas, s.r.sum()]))
    assert sums[1] > 0 and sums[0] == pytest.approx(sums[1], rel=1e-12)
    largest = np.zeros(body.owned // 2)
    np.maximum.at(largest, s.contact.nodes.dofs()[:, 0] // 2, pressures)
    assert np.nansum(shown[:, 3]) == pytest.approx(COMM.allreduce(largest.sum()), rel=1e-12)
    assert np.isfinite(shown[:, 3]).sum() == COMM.allreduce(np.unique(s.contact.nodes.dofs()[:, 0]).size)


@pytest.mark.parametrize("scheme", [di.CDLagrange, di.NohBathe])
def test_nodal_impulses_give_the_momentum_where_normals_turn(scheme, tmp_path):
    """Those of each substep have its own normals: their sum is what the body has gained, to round-off."""
    square = dmesh.create_rectangle(COMM, [[-0.1, 0.001], [0.1, 0.2]], [3, 3], dmesh.CellType.quadrilateral)
    named = di.named(square, foot=lambda x: np.isclose(x[1], 0.001))
    body = di.Solid(named, density=1000.0, law=di.LinearElastic(1e6, 0.3))
    ball = di.RigidContact(body, "foot", di.Sphere((0.03, -0.5), 0.5), friction=0.2)
    s = scheme(body, 2e-4, contact=ball)
    s.start(0.0, body.rigid_velocity((1.0, -1.0)))
    before = body.mass * s.v[: body.owned]
    film = plot.Snapshots([0.02], forces=True)
    fields = FieldWriter(tmp_path / "x.bp", every=1000, names=["impulse"])
    observers = [film, fields]
    for each in observers:
        each.begin(s)
    for _ in range(100):
        s.step()
        for each in observers:
            each(s)
    gained = (body.mass * s.v[: body.owned] - before).reshape(-1, 2).sum(axis=0)
    assert np.abs(gained).min() > 5.0
    state = fields.state()
    fields.end()
    assert film.states[-1].forces.sum(axis=0) * 0.02 == pytest.approx(gained, rel=1e-10)
    assert state["impulses"].sum(axis=0) == pytest.approx(gained, rel=1e-10)

"""Pictures of runs: what is kept, curves in units that fit, films of the size and length that are said."""

import shutil
import subprocess

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.blocks import dropped
from support.parts import bar, glued

import dolfinx_impact as di
from dolfinx_impact import plot
from dolfinx_impact.plot import drawing, film, movie

COMM = MPI.COMM_WORLD
FLOOR = di.Plane((0, 0, 0), (0, 0, 1))


def block(comm=COMM, gdim=3, **options):
    """A soft cube (square) of 0.2 m, 0.1 m above the ground, its surface named."""
    low, high = [-0.1] * (gdim - 1) + [0.1], [0.1] * (gdim - 1) + [0.3]
    mesh = {2: dmesh.create_rectangle, 3: dmesh.create_box}[gdim](comm, [low, high], [3] * gdim)
    skin = np.sort(dmesh.locate_entities_boundary(mesh, gdim - 1, lambda x: np.full(x.shape[1], True)))
    tags = dmesh.meshtags(mesh, gdim - 1, skin, np.ones(skin.size, np.int32))
    named = di.NamedMesh(mesh, None, tags, {"skin": (gdim - 1, 1)})
    return di.Solid(named, density=1000.0, law=di.LinearElastic(1e6, 0.3), **options)


def falling(friction=0.0, comm=COMM, **options):
    """A started run of the block onto the ground, at 5 m/s."""
    solid = block(comm, **options)
    contact = di.RigidContact(solid, "skin", FLOOR, friction=friction)
    integrator = di.CDLagrange(solid, 1e-4, contact=contact)
    integrator.start(0.0, solid.rigid_velocity((1.0, 0, -5.0)))
    return integrator


def follow(integrator, snapshots, steps, begin=True):
    if begin:
        snapshots.begin(integrator)
    for _ in range(steps):
        integrator.step()
        snapshots(integrator)
    return snapshots


def times(snapshots):
    return [round(each.t, 9) for each in snapshots.states]


def pixels(path, page=0):
    Image = pytest.importorskip("PIL.Image")
    with Image.open(path) as picture:
        picture.seek(page)
        return np.asarray(picture.convert("RGB"), dtype=int)


# -- what is kept


@pytest.mark.mpi
def test_states_are_kept_at_the_wanted_times_and_at_the_start():
    integrator = falling()
    snapshots = follow(integrator, plot.Snapshots([0.0, 2.4e-4, 2.6e-4, 2.7e-4, 9e-4]), 8)
    assert times(snapshots) == [0.0, 2e-4, 3e-4]
    first, second, _ = snapshots.states
    assert not first.u.any() and first.forces is None
    assert second.u[: integrator.system.owned : 3] == pytest.approx(2e-4, rel=1e-9)
    assert times(follow(falling(), plot.Snapshots(count=4, span=(0, 9e-4)), 9)) == [0, 3e-4, 6e-4, 9e-4]
    assert times(follow(falling(), plot.Snapshots(interval=2e-4), 5, begin=False)) == [1e-4, 2e-4, 4e-4]


def test_long_runs_are_thinned_to_the_memory():
    integrator = falling()
    size = 16 * integrator.system.comm.allreduce(integrator.u.size, op=MPI.MAX)
    snapshots = follow(integrator, plot.Snapshots(interval=1e-4, memory=4.5 * size), 21)
    assert times(snapshots) == [0.0, 8e-4, 1.6e-3]
    with pytest.raises(ValueError, match="5 states need more memory than .* at most 4 fit"):
        plot.Snapshots(count=5, span=(0, 1), memory=4.5 * size).begin(integrator)


@pytest.mark.mpi
def test_a_run_in_two_parts_is_kept_whole_and_another_run_starts_anew():
    integrator, snapshots = falling(), plot.Snapshots(interval=2e-4)
    follow(integrator, snapshots, 4)
    follow(integrator, snapshots, 2)
    assert times(snapshots) == [0.0, 2e-4, 4e-4, 6e-4]
    follow(falling(), snapshots, 2)
    assert times(snapshots) == [0.0, 2e-4]


@pytest.mark.parametrize("memory", [1e9, 3e4])
def test_forces_are_means_of_the_impulses(memory):
    """Also where states were dropped: forces times times add up to all impulses until the last state."""
    integrator = falling(friction=0.3)
    snapshots = plot.Snapshots(interval=2e-3, forces=True, memory=memory)
    total, sums = np.zeros(3), {}
    snapshots.begin(integrator)
    for _ in range(700):
        integrator.step()
        total += (integrator.r[:, None] * integrator.contact.L.weights + integrator.r_t).sum(axis=0)
        sums[round(integrator.t, 9)] = total.copy()
        snapshots(integrator)
    states = snapshots.states
    lengths = np.diff([each.t for each in states])
    found = sum(length * each.forces.sum(axis=0) for length, each in zip(lengths, states[1:]))
    scale = COMM.allreduce(abs(total[2]))
    assert scale > 1.0 and found == pytest.approx(sums[round(states[-1].t, 9)], abs=1e-12 * scale)
    assert not states[0].forces.any()
    if memory < 1e6 and COMM.size == 1:
        assert 1 < len(states) <= 12


@pytest.mark.mpi
def test_simulate_takes_snapshots():
    integrator, snapshots = falling(), plot.Snapshots([3e-4])
    di.simulate(integrator, t_end=5e-4, observers=[snapshots], energies=False)
    assert times(snapshots) == [3e-4]


def test_refused_snapshots():
    for options in ({}, {"times": [0.0], "interval": 1.0}, {"interval": 1.0, "count": 3, "span": (0, 1)}):
        with pytest.raises(ValueError, match="by one of times, interval, or count and span"):
            plot.Snapshots(**options)
    with pytest.raises(ValueError, match="interval must be a positive time"):
        plot.Snapshots(interval=0.0)
    with pytest.raises(ValueError, match="count and span belong together"):
        plot.Snapshots(count=3)
    with pytest.raises(ValueError, match=r"2 or more over a span \(first, last\), not 1 over"):
        plot.Snapshots(count=1, span=(0, 1))
    with pytest.raises(ValueError, match="one or more finite numbers"):
        plot.Snapshots([np.nan])
    solid = block()
    free = di.CDLagrange(solid, 1e-4)
    free.start(0.0, 0.0)
    with pytest.raises(ValueError, match="forces=True needs a contact of a body with an obstacle"):
        plot.Snapshots([0.0], forces=True).begin(free)
    parts = glued(bar(), 2)
    parts.start(0.0, 0.0)
    with pytest.raises(ValueError, match="forces=True takes a scheme with one body, not HATI"):
        plot.Snapshots([0.0], forces=True).begin(parts)


# -- curves


@given(st.floats(1e-12, 1e12))
def test_units_fit(size):
    factor, name = drawing.unit(size, "J")
    assert 1 - 1e-6 <= size * factor < 1000 * (1 + 1e-6) or name in ("nJ", "GJ")
    assert drawing.unit(size, "s")[0] >= 1.0


def test_units():
    assert drawing.unit(3e-4, "s") == (pytest.approx(1e6), "µs")
    assert drawing.unit(0.03, "s") == (pytest.approx(1e3), "ms")
    assert drawing.unit(7200.0, "s") == (1.0, "s") and drawing.unit(0.0, "m") == (1.0, "m")
    assert drawing.unit(2.5e8, "Pa") == (pytest.approx(1e-6), "MPa")


@pytest.fixture(scope="module")
def run():
    return di.simulate(falling(friction=0.3, gravity=(0, 0, -9.81)), t_end=0.04)


@pytest.fixture
def figures(monkeypatch):
    """Figures that would have been written."""
    kept = []
    monkeypatch.setattr(plot.histories, "save", lambda figure, path, dpi: kept.append(figure))
    yield kept
    for figure in kept:
        drawing.pyplot().close(figure)


def test_energies_and_their_sum(run, figures, tmp_path):
    pytest.importorskip("matplotlib")
    plot.energy(tmp_path / "e.png", run, title="block")
    ((above, below),) = [figure.axes for figure in figures]
    lines = {line.get_label(): line for line in above.lines}
    assert list(lines) == [
        "kinetic",
        "stored",
        "complementary",
        "work of loads",
        "work of contact",
        "sum (works subtracted)",
    ]
    factor, name = drawing.unit(max(np.abs(run[n]).max() for n in ("kinetic", "internal")), "J")
    assert above.get_ylabel() == f"energy [{name}]" and below.get_xlabel() == "time [ms]"
    assert lines["kinetic"].get_xdata() == pytest.approx(1e3 * run["t"])
    y = {label: line.get_ydata() for label, line in lines.items()}
    assert y["stored"] == pytest.approx(factor * run["internal"])
    total = y["kinetic"] + y["stored"] + y["complementary"] - y["work of loads"] - y["work of contact"]
    assert y["sum (works subtracted)"] == pytest.approx(total, rel=1e-9)
    assert total == pytest.approx(total[0], rel=1e-9)
    assert np.abs(below.lines[0].get_ydata()).max() == pytest.approx(di.output.relative_residual(run))
    (text,) = [t.get_text() for t in figures[0].texts if t.get_text() == "block"] or ["block"]
    assert text == "block"


def test_plastic_work_is_shown_where_there_is_some(run, figures, tmp_path):
    """With the stored energy it is nearly the internal work."""
    metal = di.J2Plasticity(1e7, 0.3, hardening=di.LinearHardening(1e5, 1e6))
    yielding = di.simulate(dropped("quadrilateral", law=metal), t_end=1e-3, adapt=di.StepControl())
    for each in (run, yielding):
        plot.energy(tmp_path / "e.png", each)
    names = [[line.get_label() for line in figure.axes[0].lines] for figure in figures]
    assert "plastic work" not in names[0] and names[1][:3] == ["kinetic", "stored", "plastic work"]
    y = {line.get_label(): line.get_ydata() for line in figures[1].axes[0].lines}
    assert min(y["plastic work"][-1], y["stored"][-1]) > 0
    work = yielding["internal_work"] * y["plastic work"][-1] / yielding["plastic_work"][-1]
    assert y["stored"] + y["plastic work"] == pytest.approx(work, abs=0.02 * work.max())


def test_histories_of_many_runs(run, figures, tmp_path):
    pytest.importorskip("matplotlib")
    plot.history(tmp_path / "h.png", {str(i): run for i in range(5)}, exact={"u": lambda t: 5.0 * t})
    u, v, _, _ = figures[0].axes
    assert len(u.lines) == 6 and len(v.lines) == 5
    size = max(np.abs(run["u"].mean(axis=1)).max(), 5.0 * run["t"][-1])
    factor, name = drawing.unit(size, "m")
    assert u.get_ylabel() == f"mean displacement [{name}]"
    assert u.lines[0].get_ydata() == pytest.approx(factor * run["u"].mean(axis=1))


@pytest.mark.mpi
def test_curves_are_written_and_refused(run, shared_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("PIL.Image")
    plot.energy(shared_path / "e.png", run)
    plot.history(shared_path / "h.svg", {"run": run})
    COMM.barrier()
    image = pixels(shared_path / "e.png")
    assert image.shape == (975, 1170, 3) and len(np.unique(image @ [1 << 16, 1 << 8, 1])) > 100
    assert (shared_path / "h.svg").read_text().startswith("<?xml")
    bare = di.Result({name: run[name] for name in ("t", "u", "v_t", "r")})
    with pytest.raises(ValueError, match=r"has no kinetic, .*\(energies=True\)"):
        plot.energy(shared_path / "n.png", bare)
    with pytest.raises(ValueError, match="some run has no kinetic, internal"):
        plot.history(shared_path / "n.png", {"some run": bare})
    with pytest.raises(ValueError, match="runs is empty"):
        plot.history(shared_path / "n.png", {})
    with pytest.raises(ValueError, match=r"exact has \['w'\]; known are"):
        plot.history(shared_path / "n.png", {"run": run}, exact={"w": np.sin})
    with pytest.raises(ValueError, match="must end in .png or .svg or .pdf"):
        plot.energy(shared_path / "n.gif", run)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        plot.energy(shared_path / "no" / "n.png", run)
    COMM.barrier()
    assert {each.name for each in shared_path.iterdir()} == {"e.png", "h.svg"}


# -- films


def has(image, color, tolerance=12):
    """Number of pixels of about a colour."""
    return int((np.abs(image - np.array(color)).max(axis=-1) <= tolerance).sum())


def flight(solid, count):
    """The block in steps of 20 mm downwards, 1 m/s fast."""
    u, v = np.zeros(solid.size), np.zeros(solid.size)
    v[2::3] = -1.0
    moments = []
    for i in range(count):
        u[2::3] = -0.02 * i
        moments.append(plot.Moment(2e-3 * i, u.copy(), v))
    return moments


def test_a_film_has_as_many_pictures_as_said_and_lasts_as_long(shared_path):
    pytest.importorskip("pyvista")
    Image = pytest.importorskip("PIL.Image")
    solid, path = block(), shared_path / "film.gif"
    plot.animate(path, solid, flight(solid, 9), obstacle=FLOOR, cells=20, frames=5, pause=0.1, title="fall")
    COMM.barrier()
    with Image.open(path) as picture:
        assert picture.n_frames == 5 and picture.info["loop"] == 0
        durations = []
        for i in range(5):
            picture.seek(i)
            durations.append(picture.info["duration"])
        width, height = picture.size
    assert durations == [100] * 5 and width == 730 and 300 < height < 1000
    assert path.stat().st_size < 5 * 60_000
    first, last = pixels(path), pixels(path, 4)
    for image in (first, last):
        assert has(image, (255, 255, 255), 0) > 0.2 * width * height
        body = (image[..., 2] > image[..., 0] + 30) & (image[..., 2] > image[..., 1])
        assert body[:, :600].sum() > 2000  # all of it is as fast as the fastest: blue
        # The grey of the obstacle in the light of the scene.
        assert has(image[:, :600], (172, 161, 141), 10) > 2000
    assert np.abs(first - last)[60:, :600].max() > 100
    # The scale and the colour bar stay where they are.
    assert np.array_equal(first[60:, 620:], last[60:, 620:])
    assert {each.name for each in shared_path.iterdir()} == {"film.gif"}


@pytest.mark.parametrize("shade", ["displacement", "v_z", "stress"])
def test_shades(shade, shared_path, plain_pixels):
    pytest.importorskip("pyvista")
    pytest.importorskip("PIL.Image")
    if shade == "stress":
        pytest.importorskip("dolfinx_impact.output.stress")
    solid, path = block(), shared_path / "film.gif"
    plot.animate(path, solid, flight(solid, 2), shade=shade)
    COMM.barrier()
    assert pixels(path, 1).std() > 10


def test_films_keep_the_colors_of_legends(tmp_path):
    """Those that must stay do so, in all frames, whatever else there is in the pictures."""
    pytest.importorskip("PIL.Image")
    random = np.random.default_rng(1)
    pictures = [random.integers(0, 256, (60, 80, 3), dtype=np.uint8) for _ in range(3)]
    legend = random.integers(0, 256, (150, 3), dtype=np.uint8)
    for picture in pictures:
        picture[:2, :75] = legend.reshape(2, 75, 3)
        picture[10:40] = random.integers(249, 254, (30, 80, 1))
        picture[-20:] = 255
    movie.write_film(tmp_path / "film.gif", pictures, legend, 0.1)
    for i in range(3):
        image = pixels(tmp_path / "film.gif", i)
        # Pillow looks colours up in cells of 4.
        assert np.abs(image[:2, :75] - legend.reshape(2, 75, 3)).max() <= 4 and np.all(image[-20:] == 255)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="without ffmpeg there is no MP4")
def test_an_mp4_has_as_many_pictures_and_lasts_as_long(tmp_path):
    """Also of odd sizes, which the format does not have."""
    pictures = [np.full((61, 83, 3), 60 * i, np.uint8) for i in range(4)]
    path = tmp_path / "film.mp4"
    movie.write_film(path, pictures, np.zeros((0, 3)), 0.06)
    wanted = ["-show_entries", "stream=width,height,nb_frames,r_frame_rate", "-of", "csv=p=0"]
    said = subprocess.run(["ffprobe", "-v", "error", *wanted, path], capture_output=True, text=True).stdout
    assert said.strip() == "84,62,50/3,4"
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    seen = subprocess.run(["ffmpeg", "-loglevel", "error", "-i", path, *raw], capture_output=True).stdout
    frames = np.frombuffer(seen, np.uint8).reshape(4, 62, 84, 3)
    assert frames[:, :61, :83].mean(axis=(1, 2, 3)) == pytest.approx([0, 60, 120, 180], abs=4)
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="ffmpeg could not write the film"):
        movie.write_film(path, [np.zeros((0, 2, 3))], np.zeros((0, 3)), 0.06)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_an_mp4_needs_ffmpeg(shared_path, monkeypatch):
    """Said before anything is drawn, on all ranks."""
    pytest.importorskip("pyvista")
    solid = block()
    monkeypatch.setattr(movie.shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match="'film.mp4' needs the program ffmpeg, .* or write a .gif"):
        plot.animate(shared_path / "film.mp4", solid, flight(solid, 2))
    assert not list(shared_path.iterdir())


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="without ffmpeg there is no MP4")
def test_a_body_in_an_mp4(tmp_path, plain_pixels):
    pytest.importorskip("pyvista")
    solid, path = block(), tmp_path / "film.mp4"
    plot.animate(path, solid, flight(solid, 2), obstacle=FLOOR, cells=4)
    assert path.read_bytes()[4:8] == b"ftyp"


def test_a_failed_film_leaves_the_one_before(tmp_path, monkeypatch, plain_pixels):
    pytest.importorskip("pyvista")
    path = tmp_path / "film.gif"
    path.write_bytes(b"before")

    def fail(file, *args):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(movie, "_write_gif", fail)
    solid = block(MPI.COMM_SELF)
    with pytest.raises(OSError, match="disk full"):
        plot.animate(path, solid, flight(solid, 2))
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "count, ratio, columns", [(1, 1, 1), (3, 1, 3), (6, 0.95, 3), (8, 0.95, 4), (9, 2.4, 3)]
)
def test_strips_are_neither_towers_nor_ribbons(count, ratio, columns):
    assert film._columns(count, ratio) == columns


@pytest.mark.mpi
def test_refused_films(shared_path):
    pytest.importorskip("pyvista")
    solid, path = block(), shared_path / "no.gif"
    moments = flight(solid, 2)
    with pytest.raises(ValueError, match="a film has two moments or more, but 1 is given"):
        plot.animate(path, solid, moments[:1])
    with pytest.raises(ValueError, match="frames must be a whole number from 2 on"):
        plot.animate(path, solid, moments, frames=1)
    with pytest.raises(ValueError, match="pause must be from 0.02 to 60 s"):
        plot.animate(path, solid, moments, pause=0.0)
    with pytest.raises(ValueError, match="must end in .gif or .mp4, but is 'no.avi'"):
        plot.animate(path.with_suffix(".avi"), solid, moments)
    with pytest.raises(ValueError, match="top must be positive"):
        plot.animate(path, solid, moments, top=-1.0)
    with pytest.raises(ValueError, match="needs moments of a solid"):
        plot.animate(path, solid, plot.Snapshots([0.0]))
    assert not list(shared_path.iterdir())

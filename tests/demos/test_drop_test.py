"""The demo that drops a part: its numbers, its files, restarts, other parts, and what it refuses."""

import contextlib
import importlib.util
import io
import re
import signal

import numpy as np
import pytest
import ufl
from dolfinx import fem
from mpi4py import MPI
from support.paths import DEMOS
from support.processes import limited_files

from dolfinx_impact import Result, mesh
from dolfinx_impact.mesh import cad

gmsh = pytest.importorskip("gmsh")

COMM = MPI.COMM_WORLD
DEMO = DEMOS / "drop_test.py"
PART = "bracket.step"
COARSE = ["--size", "6e-3", "--t-end", "6e-6"]
#: Of the film of a short run.
FRAMES = 2
FILES = {"checkpoint.npz", "checkpoint.npz.history", "drop.bp", "drop.gif", "energy.png", "history.npz"}
#: What differs between a run and the same run with a stop.
CLOCK = "_seconds"


@pytest.fixture(scope="module")
def demo():
    spec = importlib.util.spec_from_file_location("drop_test", DEMO)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", autouse=True)
def one_mesh(tmp_path_factory):
    """The part of the package is meshed once for each size."""
    meshed, part, mesh_step = {}, mesh.package_mesh(PART), cad.mesh_step

    def cached(path, size, folder):
        if path != part:
            return mesh_step(path, size, folder)
        if size not in meshed:
            meshed[size] = mesh_step(path, size, tmp_path_factory.mktemp("mesh"))
        return meshed[size]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cad, "mesh_step", cached)
        yield


def run(demo, *arguments):
    """Exit status, what was printed by name, what was complained of."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = demo.main([str(each) for each in arguments])
    return status, printed(out.getvalue()), err.getvalue()


def printed(text):
    return {line[:38].strip(): line[38:] for line in text.splitlines()}


def numbers(text):
    return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", text)]


@pytest.fixture(scope="module")
def whole(demo, tmp_path_factory):
    """A short run of the coarse bracket on one rank: its folder, what it printed."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "FRAMES", FRAMES)
        status, said, complaint = run(demo, *COARSE, "--out", folder)
    assert (status, complaint) == (0, "")
    return folder, said


@pytest.fixture
def no_pictures(demo, monkeypatch):
    monkeypatch.setattr(demo, "draw", lambda *_: None)


def arrays(folder):
    with np.load(folder / "history.npz") as data:
        return {name: data[name] for name in data.files if name != CLOCK}


def test_the_numbers_of_a_short_run(whole):
    _, said = whole
    named = mesh.read(mesh.package_mesh(PART), size=6e-3)
    volume = fem.assemble_scalar(fem.form(fem.Constant(named.mesh, 1.0) * ufl.dx))
    assert numbers(said["mass"]) == pytest.approx([7850 * volume], rel=1e-7)
    assert numbers(said["impact speed"]) == pytest.approx([np.sqrt(2 * 9.81)], rel=1e-5)
    assert numbers(said["dofs"])[0] == 3 * named.mesh.topology.index_map(0).size_global
    assert 0 < numbers(said["momentum defect"])[0] < 1e-12
    assert 0 < numbers(said["balance residual"])[0] < 1e-12
    depth, approach = numbers(said["largest penetration"])
    assert 0 < depth <= approach
    stress, away = (numbers(said[name]) for name in said if name.startswith("peak stress"))
    assert stress[0] > away[0] >= 0 and 0 < stress[1] <= 6e-3
    assert "meshing" in said["time"] and "pictures" in said["time"]


def test_mass_scaling_takes_fewer_steps(demo, whole, no_pictures, tmp_path):
    _, plain = whole
    status, said, complaint = run(demo, *COARSE, "--mass-scaling", "2.8e-7", "--out", tmp_path)
    assert (status, complaint) == (0, "")
    assert said["mass"] == plain["mass"] and "mass added by mass scaling" not in plain
    added, share, cells = numbers(said["mass added by mass scaling"])
    assert share == pytest.approx(100 * added / numbers(said["mass"])[0], rel=1e-2) and cells > 0
    assert numbers(said["steps"])[0] < numbers(plain["steps"])[0]
    assert max(numbers(said[name])[0] for name in ("momentum defect", "balance residual")) < 1e-12


def test_a_corner_hits_first(whole):
    """The first to touch is the end of the part's diagonal; the floor pushes it up, and back by friction."""
    folder, said = whole
    history = Result.load(folder / "history.npz")
    r, r_t = history["r"], history["r_t"]
    assert r.shape[1] == history["contact_labels"].size < 20
    assert np.linalg.norm(r_t, axis=2).max() <= 0.3 * r.max() * (1 + 1e-9)
    total = history["step_impulse"].sum(axis=0)
    assert total[2] == pytest.approx(r.sum(), rel=1e-12)
    assert total[:2] == pytest.approx(r_t.sum(axis=(0, 1))[:2], rel=1e-9)
    momentum = numbers(said["mass"])[0] * numbers(said["impact speed"])[0]
    assert numbers(said["impulse / (mass speed)"])[0] == pytest.approx(total[2] / momentum, rel=1e-5)
    place = numbers(said["peak stress"].split("at (")[1])
    assert np.hypot(*place[:2]) > 50 and place[2] < 12 and place[0] * place[1] > 0


def test_the_files(whole):
    from PIL import Image

    folder, _ = whole
    assert {path.name for path in folder.iterdir()} == FILES
    assert all(path.stat().st_size > 5000 for path in folder.iterdir() if path.is_file())
    with Image.open(folder / "drop.gif") as film:
        assert FRAMES <= film.n_frames <= FRAMES + 1 and min(film.size) > 400


@pytest.mark.nightly
def test_two_ranks_say_the_same(whole, launch, tmp_path):
    folder, said = whole
    done = launch([DEMO, *COARSE, "--out", tmp_path], ranks=2)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == FILES
    other = printed(done.stdout)
    assert other.keys() == said.keys()
    for name in said.keys() - {"time", "files", "momentum defect", "balance residual"}:
        assert numbers(other[name]) == pytest.approx(numbers(said[name]), rel=1e-4), name
    assert max(numbers(other[name])[0] for name in ("momentum defect", "balance residual")) < 1e-12
    one, two = arrays(folder), arrays(tmp_path)
    assert one["_warnings"].tolist() == two["_warnings"].tolist() == []
    for name in one.keys() - {"labels", "contact_labels", "residual", "_warnings"}:
        scale = np.abs(one["gap" if name == "_penetration" else name]).max(initial=0.0)
        assert two[name] == pytest.approx(one[name], abs=1e-9 * scale), name
    # The other rank count resumes from the checkpoint of this one.
    again = tmp_path / "again"
    done = launch([DEMO, *COARSE, "--out", again, "--restart", folder / "checkpoint.npz"], ranks=2)
    assert done.returncode == 0, done.stderr
    assert arrays(again)["r"] == pytest.approx(one["r"], abs=1e-9 * one["r"].max())


#: Runs that are resumed half-way; steel goes on where a run is told to stop, below.
RESUMED = {
    "neo-hookean": ["--size", "1.2e-2", "--t-end", "6e-5", "--material", "neo-hookean"],
    "aluminium": ["--size", "1.2e-2", "--t-end", "5e-5", "--material", "aluminium", "--height", "40"],
}


@pytest.mark.parametrize("given", RESUMED.values(), ids=RESUMED)
def test_a_restart_goes_on_bit_by_bit(given, no_pictures, demo, tmp_path):
    folder = tmp_path / "first"
    status, said, complaint = run(demo, *given, "--out", folder)
    assert (status, complaint) == (0, "") and numbers(said["impulse / (mass speed)"])[0] > 0
    again = tmp_path / "again"
    status, resumed, complaint = run(demo, *given, "--out", again, "--restart", folder / "checkpoint.npz")
    assert (status, complaint) == (0, "")
    one, two = arrays(folder), arrays(again)
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)
    for name in said.keys() - {"time", "files"}:
        assert resumed[name] == said[name], name
    if "aluminium" in given:
        check_yielded(said)


def check_yielded(said):
    """What a fall from 40 m leaves is a permanent set; the stress is bounded by the hardening."""
    (strain, *_), (peak, *_) = numbers(said["plastic strain"]), numbers(said["peak stress"])
    assert 0.01 < strain < 0.5 and numbers(said["permanent set"])[0] > 1.0
    assert 200 < peak < 1.2 * (324 + 114 * strain**0.42) * (1 + 0.002 * np.log(1e6))
    assert 0 < numbers(said["plastic work"])[0] < 100


def test_steel_does_not_yield(whole):
    assert "permanent set" not in whole[1] and "plastic work" not in whole[1]


def test_a_run_that_is_told_to_stop_goes_on(whole, no_pictures, demo, monkeypatch, tmp_path):
    (folder, _), steps = whole, []

    def stop(self, integrator):
        look(self, integrator)
        steps.append(integrator.t)
        if len(steps) == 10:
            signal.raise_signal(signal.SIGTERM)

    look = demo.di.PeakStress.__call__
    with monkeypatch.context() as patch:
        patch.setattr(demo.di.PeakStress, "__call__", stop)
        status, said, complaint = run(demo, *COARSE, "--out", tmp_path)
    assert (status, said) == (128 + signal.SIGTERM, {})
    assert re.fullmatch("error: interrupted by SIGTERM: go on from '.*checkpoint.npz'\n", complaint)
    status, _, _ = run(demo, *COARSE, "--out", tmp_path, "--restart", tmp_path / "checkpoint.npz")
    one, two = arrays(folder), arrays(tmp_path)
    assert status == 0 and all(np.array_equal(one[name], two[name]) for name in one)
    assert (tmp_path / "drop-2.bp").is_dir()


# -- other parts


def draw(path, shape, unit="MM"):
    """Write a STEP file; the dimensions in that unit."""
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.option.setString("Geometry.OCCTargetUnit", unit)
        shape(gmsh.model.occ)
        gmsh.model.occ.synchronize()
        gmsh.write(str(path))
    finally:
        gmsh.finalize()
    return path


def two_boxes(occ):
    for x in (0, 3):
        occ.addBox(x, 0, 0, 1, 1, 1)


def holed(occ):
    occ.cut([(3, occ.addBox(0, 0, 0, 40, 20, 10))], [(3, occ.addCylinder(20, 10, -1, 0, 0, 12, 4))])


INCH = b"""#9001 = DIMENSIONAL_EXPONENTS(1.,0.,0.,0.,0.,0.,0.);
#9002 = ( LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.MILLI.,.METRE.) );
#9003 = LENGTH_MEASURE_WITH_UNIT(LENGTH_MEASURE(25.4),#9002);
#%b = ( CONVERSION_BASED_UNIT('INCH',#9003) LENGTH_UNIT() NAMED_UNIT(#9001) );
"""


def in_inch(path):
    """Say that the numbers of a file in millimetres are inches."""
    text = path.read_bytes()
    unit = rb"#(\d+) = (\( LENGTH_UNIT\(\) NAMED_UNIT\(\*\) SI_UNIT\(.*?\) \));"
    number, old = re.search(unit, text).groups()
    path.write_bytes(text.replace(b"#%b = %b;\n" % (number, old), INCH % number))
    return path


@pytest.mark.parametrize(
    "shape, inch, volume",
    [
        (lambda occ: occ.addSphere(5, 0, 0, 10), False, 4 / 3 * np.pi * 1e-6),
        (holed, True, (8e-6 - np.pi * 16e-8) * 25.4**3),
    ],
    ids=["sphere", "box with a hole in inch"],
)
def test_other_parts(shape, inch, volume, no_pictures, demo, tmp_path):
    path = draw(tmp_path / "part.stp", shape)
    if inch:
        in_inch(path)
    given = ["--step", path, "--t-end", "1e-5" if inch else "2e-6", "--height", "0.1", "--angle", "-20"]
    status, said, complaint = run(demo, *given, "--friction", "0", "--out", tmp_path / "out")
    assert (status, complaint) == (0, "")
    assert numbers(said["mass"]) == pytest.approx([7850 * volume], rel=0.1)
    assert numbers(said["momentum defect"])[0] < 1e-12 and numbers(said["peak contact force"])[0] > 0


def test_no_contact_before_the_end(no_pictures, demo, tmp_path):
    given = ["--size", "1.2e-2", "--t-end", "3.5e-7", "--out", tmp_path]
    status, said, _ = run(demo, *given)
    assert status == 0 and said["contact"] == "none before the end"


# -- what is refused


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    """Files that are no part, by name."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "letter.step").write_text("Dear floor")
    draw(folder / "two.step", two_boxes)
    draw(folder / "open.step", lambda occ: occ.addRectangle(0, 0, 0, 10, 10))
    return folder


REFUSED = {
    "zero height": (["--height", "0"], "--height must be positive, but is 0"),
    "height": (["--height", "-1"], "--height must be positive, but is -1"),
    "words": (["--height", "high"], "argument --height: invalid float value: 'high'"),
    "friction": (["--friction", "-0.1"], "--friction must be at least 0, but is -0.1"),
    "angle": (["--angle", "inf"], "--angle must be finite, but is inf"),
    "size": (["--size", "0"], "--size must be positive, but is 0"),
    "t-end": (["--t-end", "-0.001"], "--t-end must be positive, but is -0.001"),
    "nan": (["--t-end", "nan"], "--t-end must be positive, but is nan"),
    "material": (
        ["--material", "wood"],
        "--material must be steel or neo-hookean or aluminium, but is 'wood'",
    ),
    "option": (["--colour", "red"], "unrecognized arguments: --colour red"),
    "no file": (["--step", "{bad}/none.step"], "the mesh file '.*none.step' does not exist"),
    "no step": (["--step", "{bad}/letter.step"], "letter.step' is no STEP file"),
    "two solids": (["--step", "{bad}/two.step"], "two.step' holds 2 solids"),
    "open surface": (["--step", "{bad}/open.step"], "open.step' holds no solid, only surfaces"),
    "too large": (["--size", "1"], "size must be smaller, but is 1 m"),
    "folder": (["--out", "{bad}/letter.step/out"], "--out: cannot write into '.*letter.step/out': Not a dir"),
    "no checkpoint": (["--restart", "{bad}/none.npz"], "there is no checkpoint '.*none.npz'"),
    "no such": (["--restart", "{bad}/letter.step"], "letter.step' is no checkpoint"),
    "other height": (
        ["--restart", "{whole}/checkpoint.npz", "--height", "2"],
        "checkpoint of another run: its height is 1.0, not 2.0",
    ),
    "other mesh": (
        ["--restart", "{whole}/checkpoint.npz", "--size", "7e-3"],
        "checkpoint of another run: its size is 0.006, not 0.007",
    ),
    "other part": (
        ["--restart", "{whole}/checkpoint.npz", "--step", "{bad}/box.step"],
        "checkpoint of another run: .*dofs",
    ),
}


@pytest.mark.parametrize("arguments, message", REFUSED.values(), ids=REFUSED)
def test_bad_input(arguments, message, demo, bad, whole, tmp_path):
    if "{bad}/box.step" in arguments:
        draw(bad / "box.step", lambda occ: occ.addBox(0, 0, 0, 30, 20, 10))
    given = [each.format(bad=bad, whole=whole[0]) for each in arguments]
    kept = COARSE if "--restart" in given and "--size" not in given else COARSE[2:]
    kept = [] if {"--t-end", "--size"} & set(given) and "--restart" not in given else kept
    status, said, complaint = run(demo, *kept, "--out", tmp_path / "out", *given)
    assert (status, said) == (2, {})
    assert re.fullmatch(rf"error: .*{message}.*\n", complaint), complaint


@pytest.mark.mpi
def test_help_and_bad_input_are_said_once_and_end_all_ranks(demo, capsys, shared_path):
    two = shared_path / "two.step"
    if COMM.rank == 0:
        draw(two, two_boxes)
    COMM.barrier()
    with pytest.raises(SystemExit) as end:
        demo.main(["--help"])
    status = demo.main(["--step", str(two), "--out", str(shared_path)])
    assert (end.value.code, status) == (0, 2)
    out, err = capsys.readouterr()
    if COMM.rank:
        assert (out, err) == ("", "")
        return
    assert out.startswith("usage:") and out.count("usage:") == 1
    assert "mpirun -n 2 python demos/drop_test.py" in out
    assert "--restart results/drop_test/checkpoint.npz" in out
    for name in ("step", "material", "height", "angle", "friction", "size", "t-end", "out", "restart"):
        assert f"--{name}" in out
    assert re.fullmatch("error: '.*two.step' holds 2 solids: a part is one solid, so join them, .*\n", err)


# -- runs that fail


def test_a_run_that_explodes(no_pictures, demo, monkeypatch, tmp_path):
    """At the speed of sound, with a step that does not follow."""
    rubber = demo.MATERIALS["neo-hookean"]._replace(adapt=False)
    monkeypatch.setitem(demo.MATERIALS, "neo-hookean", rubber)
    given = ["--material", "neo-hookean", "--height", "1000", "--size", "1.2e-2", "--t-end", "5e-3"]
    status, said, complaint = run(demo, *given, "--out", tmp_path)
    assert (status, said) == (3, {}) and re.fullmatch("error: .*take a smaller time step.*\n", complaint)


@pytest.mark.slow
@pytest.mark.mpi
def test_a_full_disk(demo, monkeypatch, capsys, shared_path):
    simulate = demo.di.simulate

    def limited(*given, **named):
        with limited_files(300_000):
            return simulate(*given, **named)

    monkeypatch.setattr(demo.di, "simulate", limited)
    assert demo.main([*COARSE, "--out", str(shared_path)]) == 3
    complaints = COMM.gather(capsys.readouterr().err)
    if COMM.rank == 0:
        assert len(re.findall("^error: could not write '.*drop.bp'", complaints[0], re.M)) == 1
        assert not any("Traceback" in each for each in complaints) and not any(complaints[1:])

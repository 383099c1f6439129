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
from support.paths import DEMOS

from dolfinx_impact import Result, mesh

gmsh = pytest.importorskip("gmsh")

DEMO = DEMOS / "drop_test.py"
COARSE = ["--size", "6e-3", "--t-end", "6e-6"]
FILES = {"checkpoint.npz", "drop.bp", "drop.gif", "energy.png", "history.npz"}
#: What differs between a run and the same run with a stop.
CLOCK = "_seconds"


@pytest.fixture(scope="module")
def demo():
    spec = importlib.util.spec_from_file_location("drop_test", DEMO)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def test_help_says_how_to_use_ranks(demo, capsys):
    with pytest.raises(SystemExit) as end:
        demo.main(["--help"])
    said = capsys.readouterr().out
    assert end.value.code == 0
    assert "mpirun -n 2 python demos/drop_test.py" in said
    assert "--restart results/drop_test/checkpoint.npz" in said


@pytest.fixture(scope="module")
def whole(demo, tmp_path_factory):
    """A short run of the coarse bracket on one rank: its folder, what it printed."""
    folder = tmp_path_factory.mktemp("whole")
    status, said, complaint = run(demo, *COARSE, "--out", folder)
    assert (status, complaint) == (0, "")
    return folder, said


@pytest.fixture
def few_pictures(demo, monkeypatch):
    monkeypatch.setattr(demo, "FRAMES", 3)


def arrays(folder):
    with np.load(folder / "history.npz") as data:
        return {name: data[name] for name in data.files if name != CLOCK}


def test_the_numbers_of_a_short_run(whole):
    _, said = whole
    named = mesh.read(mesh.package_mesh("bracket.step"), size=6e-3)
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


def test_mass_scaling_takes_fewer_steps(demo, whole, few_pictures, tmp_path):
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
        assert 15 <= film.n_frames <= 41 and min(film.size) > 400


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
    for name in one.keys() - {"labels", "contact_labels", "residual"}:
        scale = np.abs(one["gap" if name == "_penetration" else name]).max(initial=0.0)
        assert two[name] == pytest.approx(one[name], abs=1e-9 * scale), name
    # The other rank count resumes from the checkpoint of this one.
    again = tmp_path / "again"
    done = launch([DEMO, *COARSE, "--out", again, "--restart", folder / "checkpoint.npz"], ranks=2)
    assert done.returncode == 0, done.stderr
    assert arrays(again)["r"] == pytest.approx(one["r"], abs=1e-9 * one["r"].max())


@pytest.mark.parametrize("material, end", [("neo-hookean", "3e-4"), ("aluminium", "4e-5")])
def test_a_restart_goes_on_bit_by_bit(material, end, few_pictures, demo, tmp_path):
    """Steel does so where a run is told to stop, below."""
    folder, given = tmp_path / "first", ["--size", "8e-3", "--t-end", end, "--material", material]
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


def test_aluminium_yields_and_steel_does_not(whole, few_pictures, demo, tmp_path):
    """What a fall from 40 m leaves is a permanent set; the stress is bounded by the hardening."""
    given = ["--size", "8e-3", "--t-end", "1e-4", "--height", "40", "--material", "aluminium"]
    status, said, complaint = run(demo, *given, "--out", tmp_path)
    assert (status, complaint) == (0, "")
    (strain, *_), (peak, *_) = numbers(said["plastic strain"]), numbers(said["peak stress"])
    assert 0.01 < strain < 0.5 and numbers(said["permanent set"])[0] > 1.0
    assert 200 < peak < 1.2 * (324 + 114 * strain**0.42) * (1 + 0.002 * np.log(1e6))
    assert 0 < numbers(said["plastic work"])[0] < 100
    assert "permanent set" not in whole[1] and "plastic work" not in whole[1]


def test_a_run_that_is_told_to_stop_goes_on(whole, few_pictures, demo, monkeypatch, tmp_path):
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
def test_other_parts(shape, inch, volume, few_pictures, demo, tmp_path):
    path = draw(tmp_path / "part.stp", shape)
    if inch:
        in_inch(path)
    given = ["--step", path, "--t-end", "1e-5" if inch else "2e-6", "--height", "0.1", "--angle", "-20"]
    status, said, complaint = run(demo, *given, "--friction", "0", "--out", tmp_path / "out")
    assert (status, complaint) == (0, "")
    assert numbers(said["mass"]) == pytest.approx([7850 * volume], rel=0.1)
    assert numbers(said["momentum defect"])[0] < 1e-12 and numbers(said["peak contact force"])[0] > 0


def test_no_contact_before_the_end(few_pictures, demo, tmp_path):
    given = ["--size", "8e-3", "--t-end", "2.6e-7", "--out", tmp_path]
    status, said, _ = run(demo, *given)
    assert status == 0 and said["contact"] == "none before the end"


# -- what is refused


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    """Files that are no part, by name."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "letter.step").write_text("Dear floor")
    draw(folder / "two.step", lambda occ: [occ.addBox(x, 0, 0, 1, 1, 1) for x in (0, 3)])
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


TWICE = """
import runpy, sys
demo = runpy.run_path(sys.argv[1])
try:
    demo["main"](["--help"])
except SystemExit as end:
    assert end.code == 0
sys.exit(demo["main"](sys.argv[2:]))
"""


def test_help_and_bad_input_on_two_ranks_are_said_once_and_end_both(launch, bad, tmp_path):
    done = launch(["-c", TWICE, DEMO, "--step", bad / "two.step", "--out", tmp_path], ranks=2)
    assert done.returncode == 2
    assert done.stdout.startswith("usage:") and done.stdout.count("usage:") == 1
    for name in ("step", "material", "height", "angle", "friction", "size", "t-end", "out", "restart"):
        assert f"--{name}" in done.stdout
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("error"))
    assert re.fullmatch("error: '.*two.step' holds 2 solids: a part is one solid, so join them, .*", line)
    assert "error" not in done.stdout and "Traceback" not in done.stderr


# -- runs that fail


def test_a_run_that_explodes(few_pictures, demo, monkeypatch, tmp_path):
    """At the speed of sound, with a step that does not follow."""
    rubber = demo.MATERIALS["neo-hookean"]._replace(adapt=False)
    monkeypatch.setitem(demo.MATERIALS, "neo-hookean", rubber)
    given = ["--material", "neo-hookean", "--height", "1000", "--size", "8e-3", "--t-end", "5e-3"]
    status, said, complaint = run(demo, *given, "--out", tmp_path)
    assert (status, said) == (3, {}) and re.fullmatch("error: .*take a smaller time step.*\n", complaint)


LIMITED = """
import resource, runpy, signal, sys
demo = runpy.run_path(sys.argv[1])
simulate = demo["di"].simulate
def limited(*given, **named):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))
    return simulate(*given, **named)
demo["di"].simulate = limited
sys.exit(demo["main"](sys.argv[2:]))
"""


@pytest.mark.slow
def test_a_full_disk(launch, tmp_path):
    done = launch(["-c", LIMITED, DEMO, *COARSE, "--out", tmp_path], ranks=2)
    assert done.returncode == 3, done.stderr
    assert len(re.findall("^error: could not write '.*drop.bp'", done.stderr, re.M)) == 1
    assert "Traceback" not in done.stderr

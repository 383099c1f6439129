"""Every demo runs, serially and under mpirun, and prints the same numbers."""

import json
import re
import sys
from typing import NamedTuple

import pytest
from mpi4py import MPI
from support.paths import DEMOS

from dolfinx_impact.benchmark.report import build, properties

COMM = MPI.COMM_WORLD


class Demo(NamedTuple):
    """What a demo prints in one row, and what it draws."""

    row: str
    numbers: list[float]
    pictures: int
    #: A film of fewer pictures, some of the obstacles, coarser meshes.
    arguments: list[str] = []
    #: Its folder is an option.
    out: bool = False
    #: Relative tolerance of the numbers of the whole demo: long contact of many points amplifies round-off.
    within: float = 1e-5


CHECKED = {
    "bridge_crane.py": Demo(
        "first flight: off [s], down [s], highest [mm]", [0.5614, 0.59538, 0.193954], 3, ["4"]
    ),
    "impacting_bar.py": Demo("impulse / (2 m v0)", [0.980114, 0.980836, 1.0], 2),
    "obstacles.py": Demo(
        "impulses [N s]",
        [3.1081329, 3.3119107, 3.8451726, 3.5544595],
        4,
        ["--only", "torus", "stairs", "corner", "roller"],
    ),
    "colliding_parts.py": Demo(
        "velocity of the left ring [m/s]",
        [1.29221571, -0.57392657, -1.14712432],
        3,
        ["--cells", "2", "--pictures", "4"],
        out=True,
    ),
    "cradle.py": Demo(
        "velocities at the end / v0",
        [0.02303923, 0.02348305, 0.02327235, 0.03099439, 0.89921099],
        3,
        ["--cells", "12", "--pictures", "4"],
        out=True,
    ),
    "taylor_bar.py": Demo("radius of the face [mm]", [7.17736, 7.07345], 3, ["--pictures", "4"]),
    "crushed_can.py": Demo(
        "impulses of plate and floor [N s]", [46.11, 43.35], 3, ["--pictures", "4"], out=True, within=0.03
    ),
    "pile.py": Demo(
        "impulse of floor and walls along z [N s]", [7.0177], 3, ["--pictures", "4"], out=True, within=0.02
    ),
    "by_hand.py": Demo("impulse by hand [N s]", [12.739151143040532], 1),
    "own_scheme.py": Demo("oscillation after release / v0", [0.157522, 0.084488], 1),
}


class Smaller(NamedTuple):
    """The same demo with fewer cells, steps and pictures: texts that stand once in it, and their like."""

    changes: dict[str, str]
    numbers: list[float]
    pictures: int
    arguments: list[str] = []
    #: Relative tolerance: of hits at one time rounding decides which gets its row first.
    within: float = 1e-5


#: Demos of which there is less to do.
SMALLER = {
    "bridge_crane.py": Smaller(
        {
            # A stronger earthquake from its middle on: a flight comes at once.
            "ground = crane.ground_acceleration()": "late = crane.ground_acceleration()\n"
            "ground = lambda t: 1.5 * late(t + 0.45)",
            "h, t_end, sample = 1e-5, 1.0, 1e-3": "h, t_end, sample = 1e-3 / 60, 0.17, 1e-3",
            "np.linspace(550,": "np.linspace(150,",
            "shown = list(moments.values())": "shown = list(moments.values())[:2]",
            "same_step, _ = shake(1)": "same_step, _ = shake(3)",
        },
        [0.11505, 0.139533, 0.054519],
        3,
        ["2"],
    ),
    "impacting_bar.py": Smaller(
        {
            '"side": np.sqrt(area)}': '"side": np.sqrt(area), "elements": 30, "lateral": 2}',
            "[-0.2, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.2]": "[-0.2, 1.0, 2.2]",
        },
        [0.976529, 0.98381, 1.0],
        2,
    ),
    "obstacles.py": Smaller(
        {
            "radius, cells, rho, E, nu = 0.05, 6,": "radius, cells, rho, E, nu = 0.05, 3,",
            "columns=3,": "columns=3, cells=20,",
        },
        [2.986874, 3.1188633],
        2,
        ["--only", "stairs", "roller"],
    ),
    "colliding_parts.py": Smaller(
        {
            "speed, t_end = 4.0, 0.05": "speed, t_end = 4.0, 0.045",
            "(cells, 9 * cells,": "(cells, 6 * cells,",
            "10 * cells + 3": "7 * cells + 3",
            'shutil.which("ffmpeg") is not None': "False",
            "np.linspace(0, 1, 8)": "np.linspace(0, 1, 2)",
        },
        [0.99836199, -0.53202401, -1.46099924],
        3,
        ["--cells", "2", "--pictures", "2"],
    ),
    "cradle.py": Smaller(
        {"np.linspace(0, 1, 6)": "np.linspace(0, 1, 2)"},
        [0.03788246, 0.03613266, 0.04527672, 0.02426453, 0.85644363],
        3,
        ["--cells", "8", "--pictures", "2"],
    ),
    "taylor_bar.py": Smaller(
        {"227.0, 80e-6": "227.0, 20e-6"}, [5.92626, 5.8756], 3, ["--size", "1.6e-3", "--pictures", "2"]
    ),
    "crushed_can.py": Smaller(
        {"np.linspace(0, 1, 4)": "np.linspace(0, 1, 2)"},
        [1.8160295, 0.727215],
        3,
        ["--cells", "24", "--steps", "100", "--pictures", "2"],
    ),
    "pile.py": Smaller(
        {
            "np.array([0.0, 0.2, 0.4, 1.0])": "np.array([0.0, 1.0])",
            "t_end, skin = 1.0,": "t_end, skin = 3.0,",
        },
        [1.3732919],
        3,
        ["--pebbles", "20", "--steps", "100", "--pictures", "2"],
        within=0.01,
    ),
}
#: On several ranks too; the nightly tier runs all of them there.
ON_RANKS = ("by_hand.py", "crushed_can.py")


class InThisProcess:
    """In the place of the workers of a report: what is asked of the user's scheme is done here."""

    def __init__(self, count, maker, argument, folder, cores):
        self._do = build.performer(argument)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def do(self, lanes, poll):
        """Tasks with answers as a worker sends them."""
        for task in sum(lanes, []):
            own = any(":" in word for word in task)
            yield task, json.loads(json.dumps(self._do(task))) if own else {"failed": "left out"}


def test_every_demo_has_a_checked_number():
    # The drop test takes options, and has tests of its own.
    assert {path.name for path in DEMOS.glob("*.py")} == {*CHECKED, "drop_test.py"}


def command(demo, folder, arguments):
    """The arguments of a demo, its folder among them."""
    return [*(["--out"] if CHECKED[demo].out else []), str(folder), *arguments]


def check(demo, printed, numbers, folder, count, least=20_000, within=1e-5):
    """That a demo has printed these numbers and drawn so many pictures, each of so many bytes at least."""
    (line,) = re.findall(rf"^{re.escape(CHECKED[demo].row)}\s+(.*)$", printed, re.M)
    assert [float(x) for x in line.split()] == pytest.approx(numbers, rel=within)
    pictures = [*folder.glob("*.png"), *folder.glob("*.gif")]
    assert len(pictures) == count and all(least < p.stat().st_size < 10_000_000 for p in pictures)


@pytest.mark.mpi
@pytest.mark.parametrize(
    "demo", [pytest.param(d, marks=[] if d in ON_RANKS else pytest.mark.one_rank) for d in CHECKED]
)
def test_demo(demo, monkeypatch, capsys, shared_path, plain_pixels):
    """In this process, with less to do."""
    whole = CHECKED[demo]
    small = SMALLER.get(demo) or Smaller({}, whole.numbers, whole.pictures, whole.arguments)
    source = (DEMOS / demo).read_text()
    for old, new in small.changes.items():
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    monkeypatch.setattr(sys, "argv", [demo, *command(demo, shared_path, small.arguments)])
    monkeypatch.setattr(sys, "path", [*sys.path])
    # Of the report, the properties of the scheme: all else on the bar has tests of its own.
    for name in ("CLAIMS", "FIGURES", "STUDIES"):
        monkeypatch.setattr(build, name, ())
    monkeypatch.setattr(build, "Workers", InThisProcess)
    monkeypatch.setattr(properties.long_energy, "__defaults__", (20.0,))
    monkeypatch.setattr(properties.mass_scaling, "__defaults__", ((3.0, 6.0),))  # larger steps
    # The variables stay until the end of the test, so that what is collective is destroyed by all ranks.
    variables = {"__name__": "__main__", "__file__": str(DEMOS / demo)}
    exec(compile(source, demo, "exec"), variables)
    printed = COMM.bcast(capsys.readouterr().out)
    check(demo, printed, small.numbers, shared_path, small.pictures, 8_000, small.within)


@pytest.mark.nightly
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("demo", CHECKED)
def test_demo_as_it_stands(demo, ranks, launch, tmp_path):
    """As a user starts it."""
    _, numbers, pictures, arguments, _, within = CHECKED[demo]
    done = launch([DEMOS / demo, *command(demo, tmp_path, arguments)], ranks=ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    check(demo, done.stdout, numbers, tmp_path, pictures, within=within)

"""Every demo runs, serially and under mpirun, and prints the same numbers."""

import re

import pytest
from support.paths import DEMOS

#: What each demo prints in one row, and how many pictures it draws.
CHECKED = {
    "bridge_crane.py": ("first flight: off [s], down [s], highest [mm]", [0.5614, 0.59538, 0.193954], 3),
    "impacting_bar.py": ("impulse / (2 m v0)", [0.980114, 0.980836, 1.0], 2),
    "obstacles.py": ("impulses [N s]", [3.1081329, 3.3119107, 3.8451726, 3.5544595], 4),
    "colliding_parts.py": ("velocity of the left ring [m/s]", [1.29221571, -0.57392657, -1.14712432], 3),
    "cradle.py": (
        "velocities at the end / v0",
        [0.02303923, 0.02348305, 0.02327235, 0.03099439, 0.89921099],
        3,
    ),
    "taylor_bar.py": ("radius of the face [mm]", [7.17736, 7.07345], 3),
    "by_hand.py": ("impulse by hand [N s]", [12.739151143040532], 1),
    "own_scheme.py": ("oscillation after release / v0", [0.157522, 0.084488], 1),
}


#: Further arguments: a film of fewer pictures, some of the obstacles, coarser meshes.
ARGUMENTS = {
    "bridge_crane.py": ["4"],
    "obstacles.py": ["--only", "torus", "stairs", "corner", "roller"],
    "colliding_parts.py": ["--cells", "2", "--pictures", "4"],
    "cradle.py": ["--cells", "12", "--pictures", "4"],
    "taylor_bar.py": ["--pictures", "4"],
}
#: Demos whose folder is an option.
OUT = ("colliding_parts.py", "cradle.py")


#: On two ranks: one of them in the fast tier, one in the slow one.
TIERS = {"by_hand.py": (), "cradle.py": pytest.mark.slow}
ON_TWO_RANKS = [pytest.param(demo, 2, marks=TIERS.get(demo, pytest.mark.nightly)) for demo in CHECKED]


def test_every_demo_has_a_checked_number():
    # The drop test takes options, and has tests of its own.
    assert {path.name for path in DEMOS.glob("*.py")} == {*CHECKED, "drop_test.py"}


@pytest.mark.parametrize("demo, ranks", [*((demo, 1) for demo in CHECKED), *ON_TWO_RANKS])
def test_demo(demo, ranks, launch, tmp_path):
    folder = ["--out", str(tmp_path)] if demo in OUT else [str(tmp_path)]
    arguments = [str(DEMOS / demo), *folder, *ARGUMENTS.get(demo, [])]
    done = launch(arguments, ranks=ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    row, expected, count = CHECKED[demo]
    (line,) = re.findall(rf"^{re.escape(row)}\s+(.*)$", done.stdout, re.M)
    assert [float(x) for x in line.split()] == pytest.approx(expected, rel=1e-5)
    pictures = [*tmp_path.glob("*.png"), *tmp_path.glob("*.gif")]
    assert len(pictures) == count and all(20_000 < p.stat().st_size < 10_000_000 for p in pictures)

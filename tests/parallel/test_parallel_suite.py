"""The suite again, under mpirun."""

from pathlib import Path

import pytest

#: Cases that compare 1, 2 and 3 ranks in processes of their own.
COMPARED = ("cube_drop", "hertz_sphere", "wave_block", "free_flight")
#: What every rank has whole and computes alike; that errors reach all ranks is tested with other cases.
WHOLE = (
    "ball_case",
    "block",
    "bridge_crane",
    "chain",
    "classification",
    "complementarity",
    "cones",
    "crane_record",
    "friction",
    "implicit_velocity",
    "imports",
    "newton",
    "obstacles",
    "own",
    "own_scheme",
    "page",
    "processor",
    "properties",
    "readme",
    "report",
    "rigid_body",
    "rotating_spring",
    "sections",
    "van_der_pol",
)
#: Cases, input, pictures and words: a third rank costs minutes and finds nothing that two do not.
CASES = (
    "bar",
    "bulk_viscosity",
    "cad",
    "callables",
    "combined",
    "crane_mesh",
    "doyen2011",
    "drift",
    "facts",
    "mistakes",
    "oblique_bar",
    "pictures_solids",
    "plot",
    "position_level",
    "runner",
    "scaling",
    "signorini_cases",
    "sliding_block",
    "spinning",
    "split_bar",
    "statics_tied",
    "step_control",
    "two_bars",
)


@pytest.mark.serial
@pytest.mark.timeout(1250)
@pytest.mark.parametrize("ranks", [2, 3])
def test_the_suite_passes_on(ranks, launch):
    tests = Path(__file__).resolve().parents[1]
    # Only the thread method ends a rank that waits inside MPI; it ends the whole job with it.
    arguments = [
        "-m",
        "pytest",
        "-q",
        "-m",
        "not serial",
        "-p",
        "no:cacheprovider",
        "--timeout",
        "120",
        "--timeout-method",
        "thread",
        str(tests),
    ]
    left_out = COMPARED + WHOLE + (CASES if ranks > 2 else ())
    arguments += [f"--ignore={tests / f'test_{name}.py'}" for name in left_out]
    done = launch(arguments, ranks=ranks, cwd=tests.parent, timeout=1200)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]

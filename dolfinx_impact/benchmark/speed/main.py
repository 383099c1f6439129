"""The command ``speed``: costs of steps beside the best alternative, timed by turns in the same run."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import partial
from typing import Any

from mpi4py import MPI

from . import contact_ranks, general_contact, hati, lasting, scaling, small, solids, surfaces
from .measurement import FASTER, MORE, OF_THE_BEST, OF_THE_WHOLE, Found, Measurement, say

_SMALL = "a compiled step of a small system against one through petsc4py calls"
_CPU: Any = {"comparison": OF_THE_WHOLE, "clock": time.process_time, "warm": False}
TABLE = (
    *(Measurement(case, _SMALL, partial(small.systems, case), small.YARDSTICK, FASTER, ("ns", 1e9),
                  rounds=9, lasts=5.0) for case in small.CASES),
    Measurement("bridge-crane", "whole runs with HATI against the explicit run", hati.frames, hati.WHOLE,
                unit=("us a step", 1e6), rounds=hati.PARTS, lasts=150.0, **_CPU),
    Measurement("hati-solid", "whole runs of a beam on a fine pin with HATI against the explicit run",
                hati.beams, hati.WHOLE, unit=("s", 1.0), rounds=1, lasts=240.0, **_CPU),
    Measurement("solid-crane", "runs of the crane as a solid with HATI against the explicit run",
                hati.cranes, hati.WHOLE, unit=("s", 1.0), rounds=1, lasts=120.0, **_CPU),
    Measurement("solids", "what obstacles cost as a part of a step of 1e6 dofs",
                solids.obstacles, "no contact", MORE, rounds=5, lasts=60.0, ranks=True),
    Measurement("surfaces", "contact between two bodies of 1e6 dofs as a part of a step",
                surfaces.bodies, surfaces.YARDSTICK, unit=("us", 1e6), rounds=5, lasts=120.0, ranks=True),
    Measurement("general-contact", "contact of everything with everything, far apart and in a pile",
                general_contact.bodies, general_contact.YARDSTICK, unit=("ms", 1e3), rounds=7,
                clock=time.process_time, lasts=90.0, ranks=True),
    Measurement("contact-ranks", "what contact between surfaces asks of up to 1024 ranks, counted",
                contact_ranks.counts, "", lasts=60.0, ranks=True),
    Measurement("lasting", "implicit steps of contact that lasts against explicit ones",
                lasting.bodies, lasting.YARDSTICK, unit=("ms", 1e3), rounds=3,
                clock=time.process_time, lasts=240.0, ranks=True),
    Measurement("plasticity", "steps of metals on elements of degree 1 against neo-Hookean ones",
                solids.metals, "neo-Hookean", lasts=60.0, ranks=True),
    Measurement("impacting-bar", "a step with {sizes} dofs against a matrix product and an update",
                solids.bars, "product and update", per_dof=1.2e-4, ranks=True, label="impacting-bar in 3D"),
    Measurement("elements", "steps on every kind of element with {sizes} dofs against DOLFINx and PETSc",
                solids.elements, "yardstick", per_dof=1.2e-3, ranks=True),
    Measurement("scaling", "bodies with {sizes} dofs on one rank and on two",
                scaling.jobs, "1 rank", OF_THE_BEST, per_dof=5e-4, ranks=True),
)  # fmt: skip
#: What is measured where no case is named.
_USUAL = (*small.CASES, "impacting-bar")


def measure(case: str | None, sizes: list[int], *, as_json: bool = False) -> Found:
    """Print and return what the steps cost. Collective.

    Args:
        case: A case of :data:`TABLE`; by default all small systems (on one rank), and the bar as a solid.
        sizes: Numbers of dofs of the solid bar, and of the bodies of ``elements`` and ``scaling``.
        as_json: Print a JSON object for every number on stdout, all else on stderr.

    Raises:
        ValueError: A case without a speed measurement, or sizes that are no sizes.
        RuntimeError: Without ``mpirun``, or when one of the jobs of ``scaling`` fails.
    """
    rows = chosen(case)
    if min(sizes) < 1000:
        raise ValueError(f"the numbers of dofs must be at least 1000, not {min(sizes)}")
    if case == "scaling":
        scaling.check()
    elif not rows:
        raise ValueError(f"{case} is measured on one rank, not on {MPI.COMM_WORLD.size}")
    found: Found = {}
    with redirect_stdout(sys.stderr if as_json else sys.stdout):
        say(plan(case, sizes))
        for row in rows:
            found |= row.measure(sizes)
    if as_json:
        for each in objects(case or "", found):
            say(json.dumps(each))
    return found


def objects(case: str, found: Found) -> Iterator[dict[str, Any]]:
    """Objects of ``--json``: case, what was measured, the name of the number and the number."""
    for what, numbers in found.items():
        of = case or (what if what in small.CASES else "impacting-bar")
        for name, value in numbers.items():
            yield {"case": of, "what": what, "name": name, "value": value}


def chosen(case: str | None) -> list[Measurement]:
    """The rows of a case that this number of ranks can measure; a ValueError for one without any."""
    known = list(dict.fromkeys(row.name for row in TABLE))
    if case is not None and case not in known:
        raise ValueError(f"speed is measured for: {', '.join(known)}; not for {case!r}")
    rows = [row for row in TABLE if row.name == case or (case is None and row.name in _USUAL)]
    return [row for row in rows if row.ranks or MPI.COMM_WORLD.size == 1]


def plan(case: str | None, sizes: list[int]) -> str:
    """Measurements that will be made, and about how long they take."""
    numbers = " and ".join(map(str, sizes))
    parts = [
        (row.label or row.name, row.about.format(sizes=numbers), row.lasts + row.per_dof * sum(sizes))
        for row in chosen(case)
    ]
    whole = _duration(sum(seconds for *_, seconds in parts))
    lines = [f"This takes {whole} without other work on the machine, which would disturb it:"]
    return "\n".join(lines + [f"  {name}: {what}, {_duration(seconds)}" for name, what, seconds in parts])


def _duration(seconds: float) -> str:
    return f"about {seconds / 60:.0f} min" if seconds >= 90 else f"about {max(5, 5 * round(seconds / 5))} s"

"""The command ``speed``: costs of steps, ratios of medians of interleaved rounds to the best alternative."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from functools import partial
from typing import Any, NamedTuple

from mpi4py import MPI

from . import bar, crane, divided, elements, plasticity, scaling, small, solid_crane, solids, surfaces

Found = dict[str, dict[str, float]]  #: Numbers by name, by what was measured.


class Measurement(NamedTuple):
    """A row of the table of measurements."""

    case: str  #: Its name on the command line.
    about: str  #: What is measured; ``{sizes}`` are the numbers of dofs.
    measure: Callable[[Sequence[int]], Found]  #: Prints and returns. Collective.
    seconds: float  #: About how long that takes on a machine without other work [s].
    per_dof: float = 0.0  #: The same for every dof [s].
    ranks: bool = False  #: Whether it is measured on any number of ranks.
    label: str = ""  #: Another name in the plan.


def _alone(case: str, about: str, seconds: float, module: Any, ranks: bool = False) -> Measurement:
    """A measurement whose sizes are its own."""
    return Measurement(case, about, lambda sizes: {case: module.measure()}, seconds, ranks=ranks)


def _of_small(case: str, sizes: Sequence[int]) -> Found:
    return {case: small.measure(case)}


_SMALL = "a compiled step of a small system against one through petsc4py calls"
_HATI = "whole runs of a beam on a fine pin with HATI against the explicit run"
TABLE = (
    *(Measurement(case, _SMALL, partial(_of_small, case), 5.0) for case in small.CASES),
    _alone("bridge-crane", "whole runs with HATI against the explicit run", 150.0, crane),
    _alone("hati-solid", _HATI, 240.0, divided),
    _alone(
        "solid-crane", "runs of the crane as a solid with HATI against the explicit run", 120.0, solid_crane
    ),
    _alone("solids", "what obstacles cost as a part of a step of 1e6 dofs", 60.0, solids, True),
    _alone("surfaces", "contact between two bodies of 1e6 dofs as a part of a step", 120.0, surfaces, True),
    _alone(
        "plasticity",
        "steps of metals on elements of degree 1 against neo-Hookean ones",
        60.0,
        plasticity,
        True,
    ),
    Measurement(
        "impacting-bar",
        "a step with {sizes} dofs against a matrix product and an update",
        lambda sizes: {str(size): bar.measure(size) for size in sizes},
        0.0,
        1.2e-4,
        ranks=True,
        label="impacting-bar in 3D",
    ),
    Measurement(
        "elements",
        "steps on every kind of element with {sizes} dofs against DOLFINx and PETSc",
        lambda sizes: {"elements": elements.measure(sizes)},
        0.0,
        1.2e-3,
        ranks=True,
    ),
    Measurement(
        "scaling",
        "bodies with {sizes} dofs on one rank and on two",
        lambda sizes: scaling.measure(sizes),
        0.0,
        5e-4,
        ranks=True,
    ),
)
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
        if MPI.COMM_WORLD.rank == 0:
            print(plan(case, sizes), flush=True)
        for row in rows:
            found |= row.measure(sizes)
    if as_json and MPI.COMM_WORLD.rank == 0:
        for each in objects(case or "", found):
            print(json.dumps(each), flush=True)
    return found


def objects(case: str, found: Found) -> Iterator[dict[str, Any]]:
    """Objects of ``--json``: case, what was measured, the name of the number and the number."""
    for what, numbers in found.items():
        for name, value in numbers.items():
            yield {"case": case or (what if what in small.CASES else "impacting-bar"), "what": what,
                   "name": name, "value": float(value)}  # fmt: skip


def chosen(case: str | None) -> list[Measurement]:
    """The rows of a case that this number of ranks can measure; a ValueError for one without any."""
    known = list(dict.fromkeys(row.case for row in TABLE))
    if case is not None and case not in known:
        raise ValueError(f"speed is measured for: {', '.join(known)}; not for {case!r}")
    rows = [row for row in TABLE if row.case == case or (case is None and row.case in _USUAL)]
    return [row for row in rows if row.ranks or MPI.COMM_WORLD.size == 1]


def plan(case: str | None, sizes: list[int]) -> str:
    """Measurements that will be made, and about how long they take."""
    numbers = " and ".join(map(str, sizes))
    parts = [
        (row.label or row.case, row.about.format(sizes=numbers), row.seconds + row.per_dof * sum(sizes))
        for row in chosen(case)
    ]
    whole = _duration(sum(seconds for *_, seconds in parts))
    lines = [f"This takes {whole} without other work on the machine, which would disturb it:"]
    return "\n".join(lines + [f"  {name}: {what}, {_duration(seconds)}" for name, what, seconds in parts])


def _duration(seconds: float) -> str:
    return f"about {seconds / 60:.0f} min" if seconds >= 90 else f"about {max(5, 5 * round(seconds / 5))} s"

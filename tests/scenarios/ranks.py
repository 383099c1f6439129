"""One run is the same on one, two and three ranks: numbers of whole runs, which every rank has.

So is what is refused: every rank raises the ValueError, or those that do not would wait for ever.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from mpi4py import MPI

from .compose import Scenario
from .observe import see
from .oracles.refused import WORDS, nonsense, refusal

#: What ``timeout`` ends with.
_TIMEOUT = 124
#: What is compared [J, N s, m]: the end of these arrays of a run, and the sum of the impulses.
_ENDS = ("kinetic", "internal", "external", "contact", "dissipated")


def can_be_divided(s: Scenario) -> bool:
    """Not what is made on one rank: an L, curved cells, cells in an order by chance."""
    return s.floor != "corner" and not (s.bend or s.renumbered)


def takes_part(s: Scenario) -> bool:
    """Of the comparison of runs: lasting contact of many points opens by round-off."""
    return can_be_divided(s) and s.motion != "rest" and s.part <= 9.0


def numbers(s: Scenario) -> dict[str, float | str]:
    """The numbers of a run, or its error. Collective; the same on all ranks."""
    comm = MPI.COMM_WORLD
    try:
        seen = see(s)
        found = {name: float(seen.run[name][-1]) for name in _ENDS}
        found["impulse"] = float(np.sum(seen.run["r"]))
        weight, n = np.asarray(seen.body.mass), seen.body.owned
        found["mass"] = comm.allreduce(weight.sum())
        found["moved"] = comm.allreduce(float(weight @ np.abs(seen.scheme.u[:n]))) / found["mass"]
    except (ValueError, RuntimeError) as error:
        found = {"error": type(error).__name__}
    everywhere = comm.allgather(found)
    return found if all(each == found for each in everywhere) else {"error": f"ranks differ: {everywhere}"}


def differences(one: dict, other: dict) -> list[str]:
    """Numbers that are not equal to 1e-8 of the energies of the run; none of what was not run.

    An impulse is one in 1e8 of the momentum ``sqrt(2 m E)`` too: ties of what flies carry round-off alone.
    """
    if not one:
        return []
    if "error" in one or "error" in other:
        return [] if one == other else [f"{one} on one rank, {other} on several"]
    energy = sum(abs(one[name]) for name in _ENDS) + 1e-300
    momentum, mass = math.sqrt(2.0 * one["mass"] * energy), one["mass"]
    size = {
        "mass": mass,
        **dict.fromkeys(_ENDS, energy),
        "impulse": abs(one["impulse"]) + momentum,
        "moved": abs(one["moved"]),
    }
    return [
        f"{name} {one[name]:.12g} on one rank, {other[name]:.12g} on several"
        for name in one
        if abs(one[name] - other[name]) > 1e-8 * size[name] + 1e-300
    ]


def refused(s: Scenario) -> str:
    """What is wrong with the refusal of the nonsense of a scenario, or nothing. Collective.

    A sentence, the same one on all ranks: what is refused is known to all, a rank without cells too.
    Addresses of objects in it are those of a rank.
    """
    try:
        said = re.sub("0x[0-9a-f]+", "", refusal(s))
    except Exception as error:  # of another kind than a ValueError
        said = type(error).__name__
    everywhere = MPI.COMM_WORLD.allgather(said)
    if len(set(everywhere)) == 1 and len(said.split()) >= WORDS:
        return ""
    told = "; ".join(f"{each[:80]!r} on rank {i}" for i, each in enumerate(everywhere))
    return f"{nonsense(s)[0]} is not refused on all ranks: {told}"


def compare(
    scenarios: list[Scenario], ranks: int, folder: Path, patience: float = 300.0, fault: Sequence[str] = ()
) -> list[tuple[Scenario, str]]:
    """Scenarios whose numbers or refusals differ on so many ranks; on one rank.

    Args:
        scenarios: At most ten or so.
        ranks: How many.
        folder: For files.
        patience: Time after which ranks are said to wait for each other, beside ten times that on one [s].
        fault: Options that put a fault back.
    """
    divided = [s for s in scenarios if can_be_divided(s)]
    begun = time.monotonic()
    here = [numbers(s) if takes_part(s) else {} for s in divided]
    longest = patience + 10 * (time.monotonic() - begun)
    there, ended = _on_several(divided, ranks, folder, longest, fault)
    wrong = []
    for s, one, (other, refusal_of_it) in zip(divided, here, there):
        wrong += [(s, text) for text in [*differences(one, other)[:1], refusal_of_it] if text]
    if ended:
        wrong.append((divided[len(there)], ended))
    return [(s, f"{ranks} ranks: {text}") for s, text in wrong]


def _on_several(scenarios, ranks, folder, longest, fault):
    """Numbers and refusals of the scenarios that came to their end, and how ranks ended before all did."""
    given, found = folder / "scenarios.json", folder / f"found-{ranks}.jsonl"
    given.write_text(json.dumps([s.to_json() for s in scenarios]))
    found.write_text("")
    program = [sys.executable, str(Path(__file__).parent), "--on-ranks", str(given), str(found), *fault]
    # mpirun ends its ranks where it is asked to, not where it is killed.
    command = ["timeout", "--kill-after=10", f"{longest:.0f}", "mpirun", "-n", str(ranks), *program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    there = [json.loads(line) for line in found.read_text().splitlines()]
    if len(there) == len(scenarios) and not done.returncode:
        return there, ""
    waited = f"wait for each other: no end after {longest:.0f} s"
    how = waited if done.returncode == _TIMEOUT else f"ended with {done.returncode}: {done.stderr[-300:]}"
    return there[: len(scenarios) - 1], how


def on_ranks(given: Path, found: Path) -> int:
    """One rank of the comparison: run all, rank 0 writes a line for each. Collective."""
    for text in json.loads(given.read_text()):
        s = Scenario.from_json(text)
        line = json.dumps([numbers(s) if takes_part(s) else {}, refused(s)])
        if MPI.COMM_WORLD.rank == 0:
            with found.open("a") as file:
                file.write(line + "\n")
    return 0

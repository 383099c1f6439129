"""One run is the same on one, two and three ranks: numbers of whole runs, which every rank has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from .compose import Scenario
from .observe import see

#: What is compared [J, N s, m]: the end of these arrays of a run, and the sum of the impulses.
_ENDS = ("kinetic", "internal", "external", "contact", "dissipated")


def takes_part(s: Scenario) -> bool:
    """Not what is made on one rank, an L, curved cells; lasting contact of many points opens by round-off."""
    return s.floor != "corner" and not (s.bend or s.renumbered) and s.motion != "rest" and s.part <= 9.0


def numbers(s: Scenario) -> dict[str, float | str]:
    """The numbers of a run, or its error. Collective; the same on all ranks."""
    comm = MPI.COMM_WORLD
    try:
        seen = see(s)
        found = {name: float(seen.run[name][-1]) for name in _ENDS}
        found["impulse"] = float(np.sum(seen.run["r"]))
        weight, n = np.asarray(seen.body.mass), seen.body.owned
        found["moved"] = comm.allreduce(float(weight @ np.abs(seen.scheme.u[:n]))) / comm.allreduce(
            weight.sum()
        )
    except (ValueError, RuntimeError) as error:
        found = {"error": type(error).__name__}
    everywhere = comm.allgather(found)
    return found if all(each == found for each in everywhere) else {"error": f"ranks differ: {everywhere}"}


def differences(one: dict, other: dict) -> list[str]:
    """Numbers that are not equal to 1e-8 of the energies of the run."""
    if "error" in one or "error" in other:
        return [] if one == other else [f"{one} on one rank, {other} on several"]
    energy = sum(abs(one[name]) for name in _ENDS) + 1e-300
    size = {**dict.fromkeys(_ENDS, energy), "impulse": abs(one["impulse"]), "moved": abs(one["moved"])}
    return [
        f"{name} {one[name]:.12g} on one rank, {other[name]:.12g} on several"
        for name in one
        if abs(one[name] - other[name]) > 1e-8 * size[name] + 1e-300
    ]


def compare(scenarios: list[Scenario], ranks: int, folder: Path) -> list[tuple[Scenario, str]]:
    """Scenarios whose numbers differ on so many ranks; on one rank."""
    chosen = [s for s in scenarios if takes_part(s)]
    here = [numbers(s) for s in chosen]
    given, found = folder / "scenarios.json", folder / f"found-{ranks}.json"
    given.write_text(json.dumps([s.to_json() for s in chosen]))
    program = [sys.executable, str(Path(__file__).parent), "--on-ranks", str(given), str(found)]
    done = subprocess.run(["mpirun", "-n", str(ranks), *program], capture_output=True, text=True, check=False)
    if done.returncode:
        return [(s, f"{ranks} ranks ended with {done.returncode}: {done.stderr[-300:]}") for s in chosen[:1]]
    there = json.loads(found.read_text())
    return [
        (s, f"{ranks} ranks: {text}")
        for s, one, other in zip(chosen, here, there)
        for text in differences(one, other)[:1]
    ]


def on_ranks(given: Path, found: Path) -> int:
    """One rank of the comparison: run all, rank 0 writes. Collective."""
    numbers_of_all = [numbers(Scenario.from_json(text)) for text in json.loads(given.read_text())]
    if MPI.COMM_WORLD.rank == 0:
        found.write_text(json.dumps(numbers_of_all))
    return 0

"""How solids scale from one rank to two, what their set-up takes and how much memory they need.

``python -m dolfinx_impact.benchmark.speed.scaling KIND DOFS ROUNDS SECONDS`` is a job under ``mpirun``: it
tells of its set-up, and on two ranks makes steps on one of them, on both, and on each of them alone by turns.
The shortest time counts: other work never makes steps faster.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

from ... import Integrator, Plane, RigidContact, Solid, parallel
from ..boxes import box
from .measurement import OF_THE_BEST, Action, Measurement, Number, Seconds, Turns, say, seconds_per_call
from .solids import KINDS as ELEMENTS
from .solids import started, with_energies

#: Laws and elements by name.
KINDS = ("linear P1 tetrahedra", "linear Q1 hexahedra", "linear Q3 GLL hexahedra",
         "neo-Hookean P1 tetrahedra", "neo-Hookean Q2 GLL hexahedra")  # fmt: skip
Cells = tuple[int, int, int]  #: Along x, y and z.
STEPS = {"step": "a step with contact", "run": "the same with energies, as in a run"}
ROUNDS, SECONDS = 5, 0.5  #: How often all take their turn, and for how long [s].
COURANT = 0.7  #: Of the critical step.
SPEED = 1e-3  #: Downwards; the foot stands on the plane at the start.
LIMIT = 3600.0  #: Patience with a job [s].
_LATE, _KILLED = 124, 137  #: What ``timeout`` ends with where that was not enough.
#: Steps and measurements that are made at least; a time that other work on the machine may leave alone [s].
_TRIAL, _SHORT = 3, 1e-2
_PAUSE = 2e-3
#: What would make mpirun take itself for a part of the MPI job that this process is.
_OF_THE_JOB = ("PMIX_", "OMPI_COMM_WORLD_", "PMI_", "HYDRA_", "MPIR_")
#: Ranks may move to a core that is free: the machine may have other work.
_UNBOUND = {"PRTE_MCA_hwloc_default_binding_policy": "none", "OMPI_MCA_hwloc_base_binding_policy": "none"}
_PACKAGE = Path(__file__).resolve().parents[3]


def check() -> None:
    """Raise a ValueError on several ranks, a RuntimeError without ``mpirun``."""
    if (ranks := MPI.COMM_WORLD.size) > 1:
        raise ValueError(f"scaling starts its own ranks: run it without mpirun, not on {ranks} ranks")
    if shutil.which("mpirun") is None:
        raise RuntimeError("scaling needs mpirun, which is not on PATH: install MPI's launcher")


def jobs(
    sizes: Sequence[int], kinds: Sequence[str] = KINDS, rounds: int = ROUNDS, seconds: float = SECONDS
) -> Iterator[Turns]:
    """A job on one rank and one on two for each kind of body and number of dofs."""
    for kind, size in itertools.product(kinds, sizes):
        numbers = partial(_found, (kind, str(size), str(rounds), str(seconds)))
        yield Turns(f"\n{kind}, {os.cpu_count()} cores:", numbers=numbers, what=f"{kind}, {size}")


def _found(words: Sequence[str], _: Seconds) -> Iterator[Number]:
    for name, value in (run(1, *words) | run(2, *words)).items():
        yield Number(name, value, "")
    yield Number("load", os.getloadavg()[0])


def run(ranks: int, *words: str, limit: float = LIMIT) -> dict[str, float]:
    """The numbers of a job, whose tables are shown; a RuntimeError if it fails or takes too long."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OF_THE_JOB)}
    paths = os.pathsep.join(filter(None, [str(_PACKAGE), kept.get("PYTHONPATH")]))
    # In the foreground Ctrl-C ends the job too; at the limit mpirun ends its ranks.
    command = ["timeout", "--foreground", "--kill-after=10", str(limit), "mpirun", "-n", str(ranks)]
    command += [sys.executable, "-m", f"{__package__}.scaling", *words]
    environment = kept | _UNBOUND | {"PYTHONPATH": paths}
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    say("\n".join(line for line in lines if not line.startswith("{")))
    if done.returncode == 0:
        return json.loads(lines[-1])
    what = f"{words[0]} with {words[1]} dofs on {ranks} rank{'s' if ranks > 1 else ''}"
    if done.returncode in (_LATE, _KILLED):
        raise RuntimeError(f"{what}: no answer within {limit:g} s")
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    # What Python said, without what mpirun says of it.
    told = [line for line in said if re.match(r"[\w.]*(Error|Exception|Exit|Interrupt)(:|$)", line)]
    raise RuntimeError(f"{what} ended early: {' / '.join(told[-1:] or said[-6:]) or 'it said nothing'}")


# -- a job


class BoxSetup:
    """A box of a kind with its foot on a plane, and what it took to make it, stage by stage. Collective.

    Its ``cells`` along each edge are cubes, or tetrahedra that fill these.

    Attributes:
        integrator: CD-Lagrange, one step made.
        dofs, points: Numbers of dofs and of contact points of all ranks.
        most_points: Largest number of contact points of a rank.
        seconds, memory: Wall time of each stage, the slowest rank's [s], and what all held after it [bytes].
    """

    def __init__(self, comm: MPI.Comm, kind: str, cells: Cells) -> None:
        law, cell, degree = ELEMENTS[kind]
        self.comm = comm
        self.seconds: dict[str, float] = {}
        self.memory: dict[str, float] = {}
        corners = [np.zeros(3), np.array(cells) / cells[1]]
        whose: dict[str, Any] = {"bottom": "foot", "comm": comm, "ghost_mode": dmesh.GhostMode.none}
        mesh = self._stage("mesh", lambda: box(corners, cells, cell, **whose))
        body = self._stage("forces and masses", lambda: _prepared(mesh, law, degree))
        h = COURANT * self._stage("critical step", body.critical_time_step)
        floor = Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
        contact = self._stage("contact", lambda: RigidContact(body, "foot", floor))
        self.integrator = self._stage("first step", lambda: _moved(body, h, contact))
        self.dofs, self.points = int(parallel.total(comm, body.owned)), contact.total
        self.most_points = int(comm.allreduce(contact.count, op=MPI.MAX))

    def _stage(self, name: str, make: Callable[[], Any]) -> Any:
        self.comm.barrier()
        begun = time.perf_counter()
        made = make()
        self.seconds[name] = self.comm.allreduce(time.perf_counter() - begun, op=MPI.MAX)
        # What is free in the heap goes back to the system (with glibc), so that what is resident is in use.
        getattr(ctypes.CDLL(None), "malloc_trim", lambda pad: None)(0)
        self.memory[name] = parallel.total(self.comm, _resident())
        return made

    def shortest(self, name: str, seconds: float) -> float:
        """Seconds of a ``step``, or of one of a ``run``: the least of many short times within so long [s]."""
        action = self.integrator.step if name == "step" else self._followed()
        steps = max(1, round(_SHORT / self._time(action, _TRIAL)))
        end, found = time.perf_counter() + seconds, list[float]()
        while len(found) < _TRIAL or self.comm.bcast(time.perf_counter() < end):
            found.append(self._time(action, steps))
        return min(found)

    def _followed(self) -> Callable[[], None]:
        """A step with its energies, after which all ranks agree whether to stop, as in a run."""
        step, sums = with_energies(self.integrator), np.zeros((2, 5))

        def run() -> None:
            step()
            self.comm.Allreduce(sums[0], sums[1])

        return run

    def _time(self, action: Callable[[], Any], steps: int) -> float:
        self.comm.barrier()
        return self.comm.allreduce(seconds_per_call(action, steps), op=MPI.MAX)


def _prepared(mesh: Any, law: Any, degree: int) -> Solid:
    body = Solid(mesh, density=1.0, law=law, degree=degree)
    zero, out = np.zeros(body.size), np.zeros(body.size)
    body.subtract_internal(zero, out)  # makes what the internal forces need
    assert body.inverse_mass.size == body.owned
    return body


def _moved(body: Solid, h: float, contact: RigidContact) -> Integrator:
    s = started(body, h, contact, 0.0, body.rigid_velocity((0.0, 0.0, -SPEED)))
    s.step()
    return s


def cells_of(dofs: int, degree: int = 1, *, doubled: bool = False) -> Cells:
    """Cells along the edges of a cube of about so many dofs, or of two side by side: the foot doubles too."""
    n = max(2, round(((dofs / 3) ** (1 / 3) - 1) / degree))
    return (2 * n + (degree == 1) if doubled else n), n, n


def _resident() -> int:
    """Memory of this process that is in use now [bytes]."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def _of_setup(made: BoxSetup, base: float, most: float) -> Iterator[Number]:
    ranks = f"{made.comm.size} rank{'s' * (made.comm.size > 1)}"
    held = {name: value - base for name, value in made.memory.items()}
    memory = {"mesh": held["mesh"], "body and scheme": held["first step"] - held["mesh"], "most": most}
    for stage, seconds in {**made.seconds, "set-up": sum(made.seconds.values())}.items():
        yield Number(f"{stage}, s, {ranks}", seconds)
    for what, value in memory.items():
        yield Number(f"{what}, bytes a dof, {ranks}", value / made.dofs)
    share = made.most_points * made.comm.size / made.points
    yield Number(f"contact points of a rank over the mean, {ranks}", share)
    yield Number("dofs", made.dofs)


def _told(made: BoxSetup | None, name: str, seconds: float, number: str = "", share: float = 1.0) -> Action:
    """Steps of what this rank has, with a share of the work of the one on a rank. Collective."""

    def shortest() -> float:
        mine = made.shortest(name, seconds) if made else 0.0
        _meet()
        return MPI.COMM_WORLD.allreduce(mine, op=MPI.MAX)

    return Action(shortest, 1, share, number, told=True)


def _meet() -> None:
    """Wait for the other ranks, and leave the core to them meanwhile. Collective."""
    request = MPI.COMM_WORLD.Ibarrier()
    while not request.Test():
        time.sleep(_PAUSE)


def _turns(kind: str, seconds: float, sizes: Sequence[int]) -> Iterator[Turns]:
    """The set-up on all ranks; on two of them strong scaling, then weak scaling. Collective."""
    degree, comm = ELEMENTS[kind].degree, MPI.COMM_WORLD
    for size in sizes:
        one = yield from _strong(kind, cells_of(size, degree), cells_of(size // 2, degree), seconds)
        if comm.size > 1:
            yield from _weak(one, BoxSetup(comm, kind, cells_of(size, degree, doubled=True)), seconds)


def _strong(kind: str, cells: Cells, fewer: Cells, seconds: float) -> Generator[Turns, None, BoxSetup | None]:
    """Steps of one rank, of two and of two with half of it each; returns what the one has on it."""
    comm = MPI.COMM_WORLD
    BoxSetup(comm, kind, (2, 2, 2)).shortest("run", 0.0)  # loads all code, compiles what is not yet
    base = parallel.total(comm, _resident())
    both = BoxSetup(comm, kind, cells)
    most = parallel.total(comm, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) - base
    head = f"{both.dofs} dofs, {both.points} contact points, ranks: {comm.size}"
    yield Turns(head, numbers=lambda _: _of_setup(both, base, most))
    if comm.size == 1:
        return None
    one = BoxSetup(MPI.COMM_SELF, kind, cells) if comm.rank == 0 else None
    _meet()
    half = BoxSetup(MPI.COMM_SELF, kind, fewer)
    apart = "step, speed-up of the machine"
    for name, words in STEPS.items():
        actions = {"1 rank": _told(one, name, seconds)}
        actions["2 ranks"] = _told(both, name, seconds, f"{name}, speed-up")
        if name == "step":
            actions["two ranks with half each"] = _told(half, name, seconds, apart, 2 * half.dofs / both.dofs)
        yield Turns(f"{words}:", actions, partial(_nanoseconds, name, both.dofs), dofs=both.dofs)
    return one


def _nanoseconds(name: str, dofs: int, seconds: Seconds) -> Iterator[Number]:
    for ranks in ("1 rank", "2 ranks"):
        yield Number(f"{name}, ns, {ranks}", 1e9 * float(seconds[ranks].min()) / dofs, "")


def _weak(one: BoxSetup | None, large: BoxSetup, seconds: float) -> Iterator[Turns]:
    """Steps of one rank, and of two with twice the work: of it they do in that time."""
    dofs = large.comm.bcast(one.dofs if one else 0)
    for name, words in STEPS.items():
        weak = _told(large, name, seconds, f"{name}, weak efficiency", large.dofs / dofs / 2)
        head = f"{words}, {large.dofs} dofs on 2 ranks, time over dofs of a rank:"
        yield Turns(head, {"1 rank": _told(one, name, seconds), "2 ranks": weak}, dofs=dofs)


def main(arguments: Sequence[str]) -> None:
    """The job of a kind and a number of dofs, with so many rounds of so many seconds. Collective."""
    kind, size, rounds, seconds = arguments
    build = partial(_turns, kind, float(seconds))
    job = Measurement("job", "", build, "1 rank", OF_THE_BEST, rounds=int(rounds), warm=False)
    say(json.dumps(job.measure([int(size)])["job"]))


if __name__ == "__main__":
    main(sys.argv[1:])

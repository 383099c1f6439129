"""One MPI job of the scaling measurement: sets a body up, then makes steps whenever it is told to.

``python -m dolfinx_impact.benchmark.speed.ranks KIND DOFS DOUBLED`` tells of the set-up in a line of JSON,
then answers every line of its input, a number of milliseconds, with another one.
"""

from __future__ import annotations

import ctypes
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

from ... import parallel
from ...contact.obstacles import Plane
from ...contact.rigid_contact import RigidContact
from ...integrators import Integrator
from ...mesh import NamedMesh
from ...systems.solid import Solid
from ..boxes import box
from .elements import KINDS as ELEMENTS
from .timing import say, started

#: Laws and elements by name.
KINDS = {
    name: ELEMENTS[name]
    for name in (
        "linear P1 tetrahedra",
        "linear Q1 hexahedra",
        "linear Q3 GLL hexahedra",
        "neo-Hookean P1 tetrahedra",
        "neo-Hookean Q2 GLL hexahedra",
    )
}
COURANT = 0.7  #: Of the critical step.
SPEED = 1e-3  #: Downwards; the foot stands on the plane at the start.
_PAUSE = 2e-3
#: Steps and measurements that are made at least; a time that other work on the machine may leave alone [s].
_TRIAL, _SHORT = 3, 1e-2


class Setup:
    """A box of a kind with its foot on a plane, and what it took to make it, stage by stage. Collective.

    Its ``cells`` along each edge are cubes, or tetrahedra that fill these.

    Attributes:
        integrator: CD-Lagrange, one step made.
        dofs, points: Numbers of dofs and of contact points of all ranks.
        most_points: Largest number of contact points of a rank.
        seconds, memory: Wall time of each stage, the slowest rank's [s], and what all held after it [bytes].
    """

    def __init__(self, comm: MPI.Comm, kind: str, cells: tuple[int, int, int]) -> None:
        law, cell, degree = KINDS[kind]
        self._comm = comm
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
        self._comm.barrier()
        begun = time.perf_counter()
        made = make()
        self.seconds[name] = self._comm.allreduce(time.perf_counter() - begun, op=MPI.MAX)
        # What is free in the heap goes back to the system (with glibc), so that what is resident is in use.
        getattr(ctypes.CDLL(None), "malloc_trim", lambda pad: None)(0)
        self.memory[name] = parallel.total(self._comm, _resident())
        return made


def _prepared(mesh: NamedMesh, law: Any, degree: int) -> Solid:
    body = Solid(mesh, density=1.0, law=law, degree=degree)
    zero, out = np.zeros(body.size), np.zeros(body.size)
    body.subtract_internal(zero, out)  # makes what the internal forces need
    assert body.inverse_mass.size == body.owned
    return body


def _moved(body: Solid, h: float, contact: RigidContact) -> Integrator:
    s = started(body, h, contact, 0.0, body.rigid_velocity((0.0, 0.0, -SPEED)))
    s.step()
    return s


def cells_of(dofs: int, doubled: bool, degree: int = 1) -> tuple[int, int, int]:
    """Cells along the edges of a cube of about so many dofs, or of two side by side: the foot doubles too."""
    n = max(2, round(((dofs / 3) ** (1 / 3) - 1) / degree))
    return (2 * n + (degree == 1) if doubled else n), n, n


def _resident() -> int:
    """Memory of this process that is in use now [bytes]."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class _Clock:
    """Seconds of a step, bare and with energies: the shortest of many short times, all ranks together."""

    def __init__(self, comm: MPI.Comm, s: Integrator) -> None:
        self._comm, balance, sums = comm, s.balance(), np.zeros((2, 5))
        balance.start()

        def run() -> None:
            s.step()
            balance.step()
            # As a run does after every step, so that all ranks stop together.
            sums[0, 0] = balance.kinetic
            comm.Allreduce(sums[0], sums[1])

        self._actions: dict[str, Callable[[], None]] = {"step": s.step, "run": run}
        self._guess = {name: self._time(action, _TRIAL) for name, action in self._actions.items()}

    def measure(self, seconds: float) -> dict[str, float]:
        """Measure for about so long [s] each."""
        found = {}
        for name, action in self._actions.items():
            steps = max(1, round(_SHORT / self._guess[name]))
            count = max(_TRIAL, round(seconds / (steps * self._guess[name])))
            found[name] = self._guess[name] = min(self._time(action, steps) for _ in range(count))
        return found

    def _time(self, action: Callable[[], None], steps: int) -> float:
        self._comm.barrier()
        begun = time.perf_counter()
        for _ in range(steps):
            action()
        self._comm.barrier()
        return self._comm.bcast((time.perf_counter() - begun) / steps)


def _order(comm: MPI.Comm) -> int:
    """The next line of rank 0's input, 0 at its end; the other ranks leave their cores alone meanwhile."""
    word = np.zeros(1, dtype=np.int64)
    if comm.rank == 0:
        line = sys.stdin.readline()
        word[0] = int(line) if line.strip() else 0
    request = comm.Ibcast(word)
    while not request.Test():
        time.sleep(_PAUSE)
    return int(word[0])


def main(arguments: list[str]) -> None:
    """Set up, then measure as told; arguments: kind, dofs of a cube, ``1`` for two of them, else ``0``."""
    kind, cells, comm = (
        arguments[0],
        cells_of(int(arguments[1]), arguments[2] == "1", KINDS[arguments[0]].degree),
        MPI.COMM_WORLD,
    )
    _Clock(comm, Setup(comm, kind, (2, 2, 2)).integrator)  # loads all code, compiles what is not yet
    base = parallel.total(comm, _resident())
    made = Setup(comm, kind, cells)
    clock = _Clock(comm, made.integrator)
    answer = {name: getattr(made, name) for name in ("dofs", "points", "most_points", "seconds")}
    answer["memory"] = {name: value - base for name, value in made.memory.items()}
    most = parallel.total(comm, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    say(made.integrator.system, json.dumps({**answer, "most": most - base}))
    while milliseconds := _order(comm):
        say(made.integrator.system, json.dumps(clock.measure(1e-3 * milliseconds)))


if __name__ == "__main__":
    main(sys.argv[1:])

"""One MPI job of the scaling measurement: sets a body up, then makes steps whenever it is told to.

``mpirun -n RANKS python -m dolfinx_impact.benchmark.speed.ranks KIND DOFS DOUBLED`` answers every line of its
input, a number of milliseconds, with a line of JSON; the first line of its output tells of the set-up.
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
from ...integrators import CDLagrange, Integrator
from ...materials import LinearElastic, NeoHookean
from ...mesh import NamedMesh
from ...systems.solid import Solid
from ..boxes import box
from .timing import say

#: Cells and laws by name.
KINDS: dict[str, tuple[dmesh.CellType, Any]] = {
    "linear P1 tetrahedra": (dmesh.CellType.tetrahedron, LinearElastic(1.0, 0.3)),
    "linear Q1 hexahedra": (dmesh.CellType.hexahedron, LinearElastic(1.0, 0.3)),
    "neo-Hookean P1 tetrahedra": (dmesh.CellType.tetrahedron, NeoHookean(1.0, 0.3)),
}
#: Of the critical step.
COURANT = 0.7
#: Downwards; the foot stands on the plane at the start.
SPEED = 1e-3
_PAUSE = 2e-3
#: Steps and measurements that are made at least; a time that other work on the machine may leave alone [s].
_TRIAL, _SHORT = 3, 1e-2


class Setup:
    """A box with its foot on a plane and what it took to make it, stage by stage. Collective.

    Args:
        comm: The ranks.
        kind: One of :data:`KINDS`.
        cells: Number of cells along each edge of the box; they are cubes, or tetrahedra that fill these.

    Attributes:
        integrator: CD-Lagrange, one step made.
        dofs: Number of dofs of all ranks.
        points: Number of contact points of all ranks.
        most_points: Largest number of contact points of a rank.
        seconds: Wall time of each stage, the slowest rank's [s].
        memory: What the ranks together held after each stage [bytes].
    """

    def __init__(self, comm: MPI.Comm, kind: str, cells: tuple[int, int, int]) -> None:
        cell, law = KINDS[kind]
        self._comm = comm
        self.seconds: dict[str, float] = {}
        self.memory: dict[str, float] = {}
        box = self._stage("mesh", lambda: _box(comm, cells, cell))
        body = self._stage("forces and masses", lambda: _prepared(box, law))
        h = COURANT * self._stage("critical step", body.critical_time_step)
        floor = Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
        contact = self._stage("contact", lambda: RigidContact(body, "foot", floor))
        self.integrator = self._stage("first step", lambda: _started(body, h, contact))
        self.dofs, self.points = int(parallel.total(comm, body.owned)), contact.total
        self.most_points = int(comm.allreduce(contact.count, op=MPI.MAX))

    def _stage(self, name: str, make: Callable[[], Any]) -> Any:
        self._comm.barrier()
        begun = time.perf_counter()
        made = make()
        self.seconds[name] = self._comm.allreduce(time.perf_counter() - begun, op=MPI.MAX)
        _give_back()
        self.memory[name] = parallel.total(self._comm, resident())
        return made


def _box(comm: MPI.Comm, cells: tuple[int, int, int], kind: dmesh.CellType) -> NamedMesh:
    corners = [np.zeros(3), np.array(cells) / cells[1]]
    return box(corners, cells, kind, bottom="foot", comm=comm, ghost_mode=dmesh.GhostMode.none)


def _prepared(box: NamedMesh, law: Any) -> Solid:
    body = Solid(box, density=1.0, law=law)
    zero, out = np.zeros(body.size), np.zeros(body.size)
    body.subtract_internal(zero, out)  # makes what the internal forces need
    assert body.inverse_mass.size == body.owned
    return body


def _started(body: Solid, h: float, contact: RigidContact) -> Integrator:
    s = CDLagrange(body, h, contact)
    s.start(0.0, body.rigid_velocity((0.0, 0.0, -SPEED)))
    s.step()
    return s


def cells_of(dofs: int, doubled: bool) -> tuple[int, int, int]:
    """Cells along the edges of a cube of about so many dofs, or of two side by side: the foot doubles too."""
    n = max(2, round((dofs / 3) ** (1 / 3)) - 1)
    return (2 * n + 1 if doubled else n), n, n


def resident() -> int:
    """Memory of this process that is in use now [bytes]."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def _give_back() -> None:
    """Return what is free in the heap to the system, so that what is resident is in use; on glibc alone."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _most() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _actions(s: Integrator) -> dict[str, Callable[[], None]]:
    """What is measured: a bare step, and one of a run that follows its energies."""
    balance, comm = s.balance(), s.system.comm
    balance.start()
    sums = np.zeros((2, 5))

    def run() -> None:
        s.step()
        balance.step()
        # As a run does after every step, so that all ranks stop together.
        sums[0, 0] = balance.kinetic
        comm.Allreduce(sums[0], sums[1])

    return {"step": s.step, "run": run}


class _Clock:
    """Seconds per step of each action: the shortest of many short times, all ranks beginning together."""

    def __init__(self, comm: MPI.Comm, s: Integrator) -> None:
        self._comm, self._actions = comm, _actions(s)
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
    kind, dofs, doubled = arguments[0], int(arguments[1]), arguments[2] == "1"
    comm = MPI.COMM_WORLD
    _Clock(comm, Setup(comm, kind, (2, 2, 2)).integrator)  # loads all code, compiles what is not yet
    base = parallel.total(comm, resident())
    made = Setup(comm, kind, cells_of(dofs, doubled))
    clock = _Clock(comm, made.integrator)
    names = ("dofs", "points", "most_points", "seconds")
    answer = {name: getattr(made, name) for name in names}
    answer["memory"] = {name: value - base for name, value in made.memory.items()}
    answer |= {"most": parallel.total(comm, _most()) - base, "interpreter": base / comm.size}
    say(made.integrator.system, json.dumps(answer))
    while milliseconds := _order(comm):
        say(made.integrator.system, json.dumps(clock.measure(1e-3 * milliseconds)))


if __name__ == "__main__":
    main(sys.argv[1:])

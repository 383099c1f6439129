"""What a step of a small system costs: in a compiled loop, from Python, and through petsc4py calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...algebra.operators import SparseRows
from ...contact.base import Contact
from ...contact.bound import DofBound
from ...contact.rigid_contact import RigidContact
from ...integrators import CentralDifferences
from ...integrators.compiled.central import Block
from ...integrators.step_buffer import Steps
from ...systems.system import System
from ..case import Values, defaults
from ..cases.bouncing_ball import case as bouncing_ball
from ..cases.signorini import case as signorini
from ..cases.van_der_pol import case as van_der_pol
from .timing import faster_spread, interleave, ratio, started

ROUNDS = 9
_COMPILED, _PLAIN = 131_072, 1_000  #: Steps of a round: compiled, from Python, and through PETSc.
CASES = ("bouncing-ball", "van-der-pol", "impacting-bar")


def measure(case: str) -> dict[str, float]:
    """Print and return how many times faster a compiled step is than one through petsc4py calls."""
    system, contact, start, h, rows = _ready(case)
    nothing = rows.select(np.zeros(0, dtype=np.intp))
    same = [started(system, h, contact, *start) for _ in range(4)]
    steps = {"petsc4py calls": _PLAIN, "step()": _PLAIN}
    actions = {
        "petsc4py calls": PetscSteps(same[0]).step,
        "step()": same[1].step,
        "compiled loop": _filled(same[2], nothing, False),
        "compiled, energies and recorder": _filled(same[3], rows, True),
    }
    seconds = interleave(actions, ROUNDS, steps)
    print(f"{case}, {system.owned} dofs with contact, {ROUNDS} rounds, medians of seconds per step:")
    base, ratios = seconds["petsc4py calls"], {}
    for name, values in seconds.items():
        each = values if name in steps else values / _COMPILED
        ratios[name] = ratio(base, each)
        against = "" if values is base else faster_spread("rounds", ratios[name], base / each)
        print(f"  {name:<32} {np.median(each) * 1e9:9.0f} ns{against}", flush=True)
    return ratios


def _ready(case: str) -> tuple[System, Contact, tuple[Any, Any], float, SparseRows]:
    """System, contact, start (ball and bar lie on the ground: contact acts), time step and recorded rows."""
    if case == "impacting-bar":
        p: Values = {**defaults(signorini.SIGNORINI_BOUNCES.parameters), "elements": 50}
        bar, floor = signorini.build(p)
        transit = p["length"] / p["elements"] / signorini.exact(p).wave_speed
        return bar, floor, (0.0, 0.0), 0.7 * transit, bar.rows(bar.nodes("contact"))
    if case == "bouncing-ball":
        p = {**defaults(bouncing_ball.PARAMETERS), "z0": 0.0}
        ball, ground = bouncing_ball.build(p)
        return ball, ground, (p["z0"], p["v0"]), p["h"], ball.rows()
    p = defaults(van_der_pol.PARAMETERS)
    oscillator, wall_of = van_der_pol.build(p)
    assert wall_of is not None
    return oscillator, wall_of, (p["x0"], p["v0"]), p["h"], oscillator.rows()


def _filled(integrator: CentralDifferences, rows: SparseRows, energies: bool) -> Callable[[], None]:
    """Many compiled steps; times, gaps and impulses of each are kept, and what ``rows`` names."""
    balance = integrator.balance() if energies else None
    if balance is not None:
        balance.start()
    block, part = Block(integrator, rows, balance), Steps(integrator, rows, balance)

    def fill() -> None:
        done = 0
        while done < _COMPILED:
            block.fill(part, min(_COMPILED - done, part.capacity))
            done += part.count

    return fill


class PetscSteps:
    """A started ``integrator``'s scheme (flat contact, no shared dofs) by petsc4py, without allocations."""

    def __init__(self, integrator: CentralDifferences) -> None:
        from petsc4py import PETSc

        system, contact = integrator.system, integrator.contact
        assert isinstance(contact, (DofBound, RigidContact))
        zero = np.zeros(system.size)
        self._h, self._e = integrator.dt, contact.restitution
        self._tolerance, self._offset = contact.gap_tolerance, contact.gap(zero)
        self._L = contact.matrix()
        self._K = _stiffness(system)
        state = (integrator.u.copy(), integrator.v.copy())
        self._u, self._v = (PETSc.Vec().createWithArray(x, comm=system.comm) for x in state)
        self._before, self._f, self._push = (self._u.duplicate() for _ in range(3))
        self._kick, self._inverse, self._load = (self._u.duplicate() for _ in range(3))
        self._kick.array[:] = self._h * system.inverse_mass
        self._inverse.array[:] = system.inverse_mass
        system.external(0.0, zero, zero, self._load.array)
        self._gap, self._r, self._speed, self._earlier = (self._L.createVecLeft() for _ in range(4))
        rows = contact.L
        self._H = np.sum(rows.weights**2 * system.inverse_mass[rows.dofs], axis=1)
        self._system, self._has_damping = system, system.has_damping

    def step(self) -> None:
        """One step, as Di Stasio et al. (2019), Algorithm 1."""
        self._u.axpy(self._h, self._v)
        self._K.mult(self._u, self._f)
        self._f.aypx(-1.0, self._load)
        if self._has_damping:
            self._system.damping(0.0, self._u.array_r, self._v.array_r, self._push.array)
            self._f.axpy(-1.0, self._push)
        self._v.copy(self._before)
        self._push.pointwiseMult(self._kick, self._f)
        self._v.axpy(1.0, self._push)
        self._L.mult(self._u, self._gap)
        closed = self._gap.array_r + self._offset <= self._tolerance
        if not closed.any():
            return
        self._L.mult(self._v, self._speed)
        self._L.mult(self._before, self._earlier)
        b = self._speed.array_r + self._e * self._earlier.array_r
        self._r.array[:] = np.where(closed, np.maximum(0.0, -b / self._H), 0.0)
        self._L.multTranspose(self._r, self._push)
        self._push.pointwiseMult(self._push, self._inverse)
        self._v.axpy(1.0, self._push)


def _stiffness(system: System) -> Any:
    """K as a PETSc matrix; without stiffness an empty one."""
    from petsc4py import PETSc

    if hasattr(system, "stiffness_matrix"):
        return system.stiffness_matrix()
    K, n = getattr(system, "stiffness", None), system.owned
    dense = np.zeros((n, n)) if K is None else K
    i, j = np.nonzero(dense)
    starts = np.searchsorted(i, np.arange(n + 1)).astype(PETSc.IntType)
    return PETSc.Mat().createAIJ((n, n), csr=(starts, j.astype(PETSc.IntType), dense[i, j]), comm=system.comm)

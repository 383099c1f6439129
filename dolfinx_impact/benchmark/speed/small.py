"""Cost of a step of a small system: in a compiled loop, from Python, and through petsc4py calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._types import FloatArray
from ...algebra.operators import SparseRows
from ...contact.bound import DofBound
from ...contact.rigid_contact import RigidContact
from ...integrators import CentralDifferences, Integrator, MoreauJean, ThetaMethod
from ...integrators.step_buffer import Steps
from ...systems.system import System
from .. import runner
from ..case import Values, defaults
from ..cases import CASES as ALL
from ..cases.signorini import case as signorini
from .timing import faster_spread, interleave, ratio, started

ROUNDS = 9
_COMPILED, _PLAIN = 131_072, 1_000  #: Steps of a round: compiled, from Python, and through PETSc.
_IMPLICIT = 16_384  #: Compiled steps of a round with an implicit scheme.
CASES = ("bouncing-ball", "van-der-pol", "impacting-bar", "implicit-bar")


def measure(case: str) -> dict[str, float]:
    """Print and return how many times faster a compiled step is than one through petsc4py calls."""
    same, rows = zip(*(_ready(case) for _ in range(4)))
    nothing, size = rows[2].select(np.zeros(0, dtype=np.intp)), same[0].system.owned
    many = _COMPILED if same[0].explicit else _IMPLICIT
    steps = {"petsc4py calls": _PLAIN, "step()": _PLAIN}
    actions = {
        "petsc4py calls": _through_petsc(same[0]).step,
        "step()": same[1].step,
        "compiled loop": _filled(same[2], nothing, False, many),
        "compiled, energies and recorder": _filled(same[3], rows[3], True, many),
    }
    seconds = interleave(actions, ROUNDS, steps)
    print(f"{case}, {size} dofs with contact, {ROUNDS} rounds, medians of seconds per step:")
    base, ratios = seconds["petsc4py calls"], {}
    for name, values in seconds.items():
        each = values if name in steps else values / many
        ratios[name] = ratio(base, each)
        against = "" if values is base else faster_spread("rounds", ratios[name], base / each)
        print(f"  {name:<32} {np.median(each) * 1e9:9.0f} ns{against}", flush=True)
    return ratios


def _ready(case: str) -> tuple[Integrator, SparseRows]:
    """A started scheme and recorded rows; ball and bars lie on the ground, so that contact acts."""
    if case in ("impacting-bar", "implicit-bar"):
        return _ready_bar(implicit=case == "implicit-bar")
    settings = ["z0=0"] if case == "bouncing-ball" else []
    problem = ALL[case].make("cd-lagrange", runner.parse(ALL[case], "cd-lagrange", settings))
    return problem.integrator, problem.record


def _ready_bar(*, implicit: bool) -> tuple[Integrator, SparseRows]:
    """A bar of 51 dofs; with Moreau-Jean of 201, its mass consistent, at twice the transit time."""
    elements = 200 if implicit else 50
    p: Values = {**defaults(signorini.SIGNORINI_BOUNCES.parameters), "elements": elements}
    setup: Any = signorini.SIGNORINI_BOUNCES.build(p)
    if not implicit:
        s = started(setup.system, 0.7 * setup.critical, setup.contact, 0.0, 0.0)
        return s, setup.record
    scheme = MoreauJean(setup.system, 2.0 * setup.critical, contact=setup.contact)
    scheme.start(0.0, 0.0)
    return scheme, setup.record


def _filled(integrator: Integrator, rows: SparseRows, energies: bool, steps: int) -> Callable[[], None]:
    """Many compiled steps; times, gaps and impulses of each are kept, and what ``rows`` names."""
    balance = integrator.balance() if energies else None
    if balance is not None:
        balance.start()
    loop, part = integrator.compiled_loop(rows, balance), Steps(integrator, rows, balance)
    if isinstance(loop, str):
        raise RuntimeError(f"no compiled loop: {loop}")

    def fill() -> None:
        done = 0
        while done < steps:
            loop.fill(part, min(steps - done, part.capacity))
            done += part.count

    return fill


def _through_petsc(integrator: Integrator) -> PetscSteps | PetscThetaSteps:
    if isinstance(integrator, ThetaMethod):
        return PetscThetaSteps(integrator)
    assert isinstance(integrator, CentralDifferences)
    return PetscSteps(integrator)


class PetscState:
    """State, stiffness, loads and contact (flat, no shared dofs) of a started ``integrator`` in PETSc."""

    def __init__(self, integrator: Integrator) -> None:
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
        self._before, self._f, self._push, self._load = (self._u.duplicate() for _ in range(4))
        system.external(0.0, zero, zero, self._load.array)
        self._gap, self._r, self._speed, self._earlier = (self._L.createVecLeft() for _ in range(4))

    def _impulses(self, place: Any, H: FloatArray) -> bool:
        """Impulses of the points that are closed at ``place``, each on its own; False where all are open."""
        self._L.mult(place, self._gap)
        closed = self._gap.array_r + self._offset <= self._tolerance
        if not closed.any():
            return False
        self._L.mult(self._v, self._speed)
        self._L.mult(self._before, self._earlier)
        b = self._speed.array_r + self._e * self._earlier.array_r
        self._r.array[:] = np.where(closed, np.maximum(0.0, -b / H), 0.0)
        self._L.multTranspose(self._r, self._push)
        return True


class PetscSteps(PetscState):
    """Central differences by petsc4py, without allocations."""

    def __init__(self, integrator: CentralDifferences) -> None:
        super().__init__(integrator)
        system, contact = integrator.system, integrator.contact
        assert contact is not None
        self._kick, self._inverse = (self._u.duplicate() for _ in range(2))
        self._kick.array[:] = self._h * system.inverse_mass
        self._inverse.array[:] = system.inverse_mass
        rows = contact.L
        self._H: FloatArray = np.sum(rows.weights**2 * system.inverse_mass[rows.dofs], axis=1)
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
        if self._impulses(self._u, self._H):
            self._push.pointwiseMult(self._push, self._inverse)
            self._v.axpy(1.0, self._push)


class PetscThetaSteps(PetscState):
    """The theta method by petsc4py with one contact point, without allocations.

    Its matrix is factorised by CHOLMOD, where PETSc has that.
    """

    def __init__(self, integrator: ThetaMethod) -> None:
        super().__init__(integrator)
        s = integrator
        self._theta, self._forecast, self._x = s.theta, s.forecast, self._u.duplicate()
        self._solver = s.system.implicit_solver((s.theta * s.dt) ** 2, s.mass)
        self._r.array[:] = 1.0
        self._L.multTranspose(self._r, self._push)
        self._apply(self._push)
        self._L.mult(self._x, self._speed)
        self._H: FloatArray = self._speed.array_r.copy()

    def _apply(self, b: Any) -> None:
        self._solver.solve(b.array_r, self._x.array)

    def step(self) -> None:
        """One step, as Di Stasio et al. (2019), (33)."""
        h, theta = self._h, self._theta
        self._x.waxpy(theta * h, self._v, self._u)
        self._K.mult(self._x, self._f)
        self._f.aypx(-1.0, self._load)
        self._f.scale(h)
        self._apply(self._f)
        self._v.copy(self._before)
        self._v.axpy(1.0, self._x)
        self._x.waxpy(self._forecast * h, self._before, self._u)
        if self._impulses(self._x, self._H):
            self._apply(self._push)
            self._v.axpy(1.0, self._x)
        self._u.axpy((1 - theta) * h, self._before)
        self._u.axpy(theta * h, self._v)


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

"""Cost of a step of a small system: in a compiled loop, from Python, and through petsc4py calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ... import DofBound, RigidContact, SparseRows, System
from ..._types import FloatArray
from ...integrators import Integrator, MoreauJean, ThetaMethod
from ...integrators.step_buffer import Steps, compiled_loop
from ...simulation.recorder import Recorder
from ...systems.body import Body
from .. import runner
from ..case import Values, defaults
from ..cases import CASES as ALL
from ..cases.signorini import case as signorini
from .measurement import Action, Turns
from .solids import started

CASES = ("bouncing-ball", "van-der-pol", "impacting-bar", "implicit-bar")
YARDSTICK = "petsc4py calls"
PLAIN = 1000  #: Steps of a round from Python and through PETSc.
_COMPILED, _IMPLICIT = 131_072, 16_384  #: Compiled steps of a round, explicit and implicit.


def systems(case: str, _: Sequence[int] = ()) -> Iterator[Turns]:
    """The system four times, started so that contact acts."""
    same, rows = zip(*(ready(case) for _ in range(4)))
    nothing, many = rows[2].select(np.zeros(0, dtype=np.intp)), _COMPILED if same[0].explicit else _IMPLICIT
    recorded = "compiled, energies and recorder"
    actions = {
        YARDSTICK: Action(petsc_steps(same[0]).step, PLAIN, name=YARDSTICK),
        "step()": Action(same[1].step, PLAIN, name="step()"),
        "compiled loop": Action(filled(same[2], nothing, False, many), 1, many, "compiled loop"),
        recorded: Action(filled(same[3], rows[3], True, many), 1, many, recorded),
    }
    yield Turns(f"{case}, {same[0].system.owned} dofs with contact:", actions, what=case)


def ready(case: str) -> tuple[Integrator, SparseRows]:
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
        return started(setup.system, 0.7 * setup.critical, setup.contact, 0.0, 0.0), setup.record
    scheme = MoreauJean(setup.system, 2.0 * setup.critical, contact=setup.contact)
    scheme.start(0.0, 0.0)
    return scheme, setup.record


def filled(s: Any, rows: SparseRows, energies: bool, steps: int, every: int = 0) -> Callable[[], None]:
    """Many compiled steps; times, gaps and impulses of each are kept, and what ``rows`` names.

    With ``every`` samples are recorded, as in a run.
    """
    balance = s.balance() if energies else None
    if balance is not None:
        balance.start()
    loop, part = compiled_loop(s, rows, balance), Steps(s, rows, balance)
    recorder = Recorder(s, steps, every, rows, balance) if every else None
    loop.fill(part, 1)  # compiles

    def fill() -> None:
        done = 0
        while done < steps:
            loop.fill(part, min(steps - done, part.capacity))
            done += part.count
            if recorder is not None:
                recorder.follow(part)

    return fill


# -- the same steps through petsc4py calls, without allocations


def petsc_steps(integrator: Integrator) -> PetscSteps:
    """The steps of a started scheme, from its state on."""
    return (PetscThetaSteps if isinstance(integrator, ThetaMethod) else PetscSteps)(integrator)


class PetscSteps:
    """Central differences, with contact that is flat and whose points share no dofs."""

    def __init__(self, integrator: Any) -> None:
        from petsc4py import PETSc

        self._s, system, contact = integrator, integrator.system, integrator.contact
        assert isinstance(contact, (DofBound, RigidContact))
        zero = np.zeros(system.size)
        self._h, self._e = integrator.dt, contact.restitution
        self._tolerance, self._offset = contact.gap_tolerance, contact.gap(zero)
        self._L, self._K = contact.matrix(), _stiffness(system)
        state = (integrator.u.copy(), integrator.v.copy())
        self._u, self._v = (PETSc.Vec().createWithArray(x, comm=system.comm) for x in state)
        self._before, self._f, self._push, self._load, self._x = (self._u.duplicate() for _ in range(5))
        system.external(0.0, zero, zero, self._load.array)
        self._gap, self._r, self._speed, self._earlier = (self._L.createVecLeft() for _ in range(4))
        self._prepare()
        self._r.array[:] = 1.0
        self._L.multTranspose(self._r, self._push)
        self._respond(self._push)
        self._L.mult(self._x, self._speed)
        self._H: FloatArray = self._speed.array_r.copy()

    def _prepare(self) -> None:
        self._kick, self._inverse = (self._u.duplicate() for _ in range(2))
        self._inverse.array[:] = self._s.system.inverse_mass
        self._kick.array[:] = self._h * self._inverse.array_r
        self._damped = self._s.system.has_damping

    def _respond(self, impulses: Any) -> None:
        """Put the change of the velocity into ``_x``."""
        self._x.pointwiseMult(impulses, self._inverse)

    def _impulses(self, place: Any) -> None:
        """Impulses of the points that are closed at ``place``, each on its own."""
        self._L.mult(place, self._gap)
        closed = self._gap.array_r + self._offset <= self._tolerance
        if not closed.any():
            return
        self._L.mult(self._v, self._speed)
        self._L.mult(self._before, self._earlier)
        b = self._speed.array_r + self._e * self._earlier.array_r
        self._r.array[:] = np.where(closed, np.maximum(0.0, -b / self._H), 0.0)
        self._L.multTranspose(self._r, self._push)
        self._respond(self._push)
        self._v.axpy(1.0, self._x)

    def step(self) -> None:
        """One step, as Di Stasio et al. (2019), Algorithm 1."""
        self._u.axpy(self._h, self._v)
        self._K.mult(self._u, self._f)
        self._f.aypx(-1.0, self._load)
        if self._damped:
            self._s.system.damping(0.0, self._u.array_r, self._v.array_r, self._push.array)
            self._f.axpy(-1.0, self._push)
        self._v.copy(self._before)
        self._push.pointwiseMult(self._kick, self._f)
        self._v.axpy(1.0, self._push)
        self._impulses(self._u)


class PetscThetaSteps(PetscSteps):
    """The theta method with one contact point; CHOLMOD factorises its matrix, where PETSc has that."""

    def _prepare(self) -> None:
        s = self._s
        self._solver = s.system.implicit_solver((s.theta * s.dt) ** 2, s.mass)

    def _respond(self, impulses: Any) -> None:
        self._solver.solve(impulses.array_r, self._x.array)

    def step(self) -> None:
        """One step, as Di Stasio et al. (2019), (33)."""
        h, theta = self._h, self._s.theta
        self._x.waxpy(theta * h, self._v, self._u)
        self._K.mult(self._x, self._f)
        self._f.aypx(-1.0, self._load)
        self._f.scale(h)
        self._respond(self._f)
        self._v.copy(self._before)
        self._v.axpy(1.0, self._x)
        self._f.waxpy(self._s.forecast * h, self._before, self._u)
        self._impulses(self._f)
        self._u.axpy((1 - theta) * h, self._before)
        self._u.axpy(theta * h, self._v)


def _stiffness(system: System) -> Any:
    """K as a PETSc matrix; without stiffness an empty one."""
    from petsc4py import PETSc

    if isinstance(system, Body):
        return system.matrices.stiffness()
    given: Any = getattr(system, "stiffness", None)
    K = csr_matrix((system.owned, system.owned)) if given is None else csr_matrix(given)
    return PETSc.Mat().createAIJ(K.shape, csr=(K.indptr, K.indices, K.data), comm=system.comm)

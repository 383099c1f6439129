"""What the spinning disc and the ring in a cylinder share: the body, and its momenta step by step.

The momenta are those that a scheme keeps between impacts. Internal forces have no moment about any point at
the position at which a law of energy is differentiated; how a step changes the angular momentum follows.

Central differences: ``x_n ^ M v_{n+1/2} = x_{n+1} ^ M v_{n+1/2}``, because ``x_{n+1} - x_n = h v_{n+1/2}``.
A step changes it by ``x_{n+1} ^ R``, R its impulses on the nodes at t_{n+1}, where the gap is looked at too.

The theta method with theta = 1/2 and the force at the midpoint: ``x ^ M v`` changes by ``x_mid ^ R``,
``x_mid = (x_n + x_{n+1}) / 2``, while normals are those at the forecast position. The midpoint rule keeps
angular momentum: Simo and Tarnow, Z. angew. Math. Phys. 43 (1992).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .... import mesh, parallel
from ....contact.rigid_contact import RigidContact
from ....integrators import Integrator, Option, energy, find_scheme
from ....integrators.step_buffer import Steps
from ....materials import NeoHookean
from ....output.observer import ObserverLike
from ....output.result import Result
from ....systems.solid import Solid
from ...case import COMMON, Problem, RunLog, Values, balance_verdict
from ...verdict import Verdict

#: Parameters of both cases, in addition to those of their own.
PARAMETERS = {
    "R": Option(0.1, "m", "outer radius of the body; its thickness is 1 m"),
    "E": Option(1e6, "Pa", "Young's modulus at rest"),
    "nu": Option(0.3, "-", "Poisson's ratio at rest"),
    "rho": Option(1000.0, "kg/m3", "density"),
    "restitution": Option(0.0, "-", "Newton's coefficient of the contact nodes, 0 to 1"),
    "courant": Option(
        None, "-", "time step over the critical one at rest (default 0.5 for explicit schemes, else 1)"
    ),
    **COMMON,
}
#: The angular momentum of the midpoint rule.
SCHEME_PARAMETERS = {"force": "midpoint"}
#: Defects of momenta are relative to ``m (|v0| + R |spin0|)``, of the angular one to R times that.
TOLERANCE = 1e-10


def check(p: Values) -> None:
    """Raise a ValueError unless the common parameters describe a body in motion."""
    for name in ("R", "rho"):
        if not (p[name] > 0 and math.isfinite(p[name])):
            raise ValueError(f"{name} must be positive [{PARAMETERS[name].unit}], but is {p[name]}")
    if not all(math.isfinite(p[name]) for name in ("vx0", "vy0", "spin0")):
        raise ValueError("vx0, vy0 and spin0 must be finite numbers")
    if not any(p[name] for name in ("vx0", "vy0", "spin0")):
        raise ValueError("vx0, vy0 and spin0 are all zero: nothing would move")
    for name in ("around", "across"):
        if not 1 <= p[name] <= 1000:
            raise ValueError(f"{name} must be 1 to 1000, but is {p[name]}")


def make_body(p: Values, center: Sequence[float], hole: float = 0.0) -> Solid:
    """The disc, or the ring, around a point. Collective."""
    law = NeoHookean(p["E"], p["nu"])
    named = mesh.read(
        mesh.package_mesh("disc.geo"),
        gdim=2,
        parameters={
            "R": p["R"],
            "hole": hole,
            "x": center[0],
            "y": center[1],
            "around": p["around"],
            "across": p["across"],
        },
    )
    return Solid(named, density=p["rho"], law=law)


def cross(a: NDArray, b: NDArray) -> NDArray:
    """``a ^ b`` of vectors in the plane, shape (n, 2) each."""
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


class MomentumLog(RunLog):
    """The log of every step with the momenta and the impulses that change them.

    Args:
        integrator: The integrator of a plane solid, started.
        about: The fixed point of the angular momentum [m].

    Attributes:
        momentum: Linear and angular momentum at the last step, shape (3,) [N s, N s, N m s].
        first: The same at the start.
        impulse: Sum of the impulses on the body so far, and of their moments, shape (3,), likewise.
        defect: Largest difference so far between a change of a momentum and its impulses: of the linear
            one, of the angular one [N s, N m s].
        drift: Largest change of the angular momentum so far [N m s].
        contact_gain: Largest work of the contact in a step [J].
    """

    state_names = (
        *RunLog.state_names,
        "first",
        "momentum",
        "impulse",
        "defect",
        "drift",
        "contact_gain",
        "_work",
    )

    def __init__(self, integrator: Integrator, about: Sequence[float]) -> None:
        super().__init__(integrator)
        system: Any = integrator.system
        self._integrator, self._half = integrator, integrator.v_shift > 0
        self._arms = (system.x[:, :2] - np.asarray(about)).ravel()
        self._u, self._p = integrator.u.copy(), np.zeros(system.size)
        self._rows: list[NDArray] = []
        self.first: NDArray = self._comm.allreduce(self._momentum(), op=MPI.SUM)
        self.momentum: NDArray = self.first
        self.impulse: NDArray = np.zeros(3)
        self.defect: NDArray = np.zeros(2)
        self.drift, self.contact_gain, self._work = 0.0, -np.inf, 0.0

    def observers(self) -> list[ObserverLike]:
        """Every step is looked at; the sums over the ranks are made many at a time."""
        return [self.note, self]

    def note(self, integrator: Integrator) -> None:
        """Keep this rank's part of the momenta and of the impulses of a step. Collective."""
        self._rows.append(np.concatenate([self._momentum(), self._impulses()]))
        self._u[:] = integrator.u

    def _momentum(self) -> NDArray:
        s, n = self._integrator, self._integrator.system.owned
        s.system.mass_product(s.v, s.mass, self._p)
        x, p = (values[:n].reshape(-1, 2) for values in (self._arms + s.u, self._p))
        return np.array([*p.sum(axis=0), cross(x, p).sum()])

    def _impulses(self) -> NDArray:
        """Sums of the impulses, and of their moments at the position that the scheme pairs them with."""
        s: Any = self._integrator
        rows, u = s.contact.L, s.u if self._half else (self._u + s.u) / 2
        impulses = s.r[:, None] * rows.weights
        if s.r_t.size:
            impulses += s.r_t
        return np.array([*impulses.sum(axis=0), cross((self._arms + u)[rows.dofs], impulses).sum()])

    def follow(self, steps: Steps) -> None:
        """Note consecutive steps. Collective."""
        super().follow(steps)
        self._follow_work(steps.energies[: steps.count, energy.TERMS.index("contact")])
        if not self._rows:
            return
        rows = self._comm.allreduce(np.array(self._rows), op=MPI.SUM)
        self._rows.clear()
        momenta, impulses = rows[:, :3], np.cumsum(np.vstack([self.impulse, rows[:, 3:]]), axis=0)[1:]
        left = momenta - self.first - impulses
        linear = np.hypot(left[:, 0], left[:, 1])
        self.defect = np.maximum(self.defect, [linear.max(), np.abs(left[:, 2]).max()])
        self.drift = max(self.drift, float(np.abs(momenta[:, 2] - self.first[2]).max()))
        self.momentum, self.impulse = momenta[-1], impulses[-1]

    def resume(self, state: Mapping[str, NDArray]) -> None:
        """See :meth:`.RunLog.resume`; the integrator is where it was."""
        super().resume(state)
        self._u[:] = self._integrator.u

    def _follow_work(self, local: NDArray) -> None:
        works = self._comm.allreduce(local, op=MPI.SUM)
        self.contact_gain = max(self.contact_gain, float(np.max(np.diff(works, prepend=self._work))))
        self._work = float(works[-1])

    @property
    def worst_residual(self) -> float:
        """Largest residual of the energy balance so far [J]."""
        return float(self._energies[1])


def final_motion(integrator: Integrator) -> NDArray:
    """Velocity of the center of mass, and the spin about it, shape (3,) [m/s, m/s, rad/s]. Collective.

    The spin is the angular momentum over the moment of inertia of the body as it is deformed.
    """
    s, n = integrator, integrator.system.owned
    system: Any = s.system
    x, v = (system.x[:, :2].ravel() + s.u, s.v_mean)
    heavy_x, heavy_v = np.zeros(system.size), np.zeros(system.size)
    system.mass_product(x, s.mass, heavy_x)
    system.mass_product(v, s.mass, heavy_v)
    x, mx, mv = (values[:n].reshape(-1, 2) for values in (x, heavy_x, heavy_v))
    sums = np.array([*mx.sum(axis=0), *mv.sum(axis=0), cross(x, mv).sum(), np.sum(x * mx)])
    sums = system.comm.allreduce(sums, op=MPI.SUM) / system.total_mass
    center, velocity = sums[:2], sums[2:4]
    spin = (sums[4] - (center[0] * velocity[1] - center[1] * velocity[0])) / (sums[5] - center @ center)
    return np.array([*velocity, spin])


def problem(
    scheme: str,
    p: Values,
    body: Solid,
    contact: RigidContact,
    about: Sequence[float],
    *,
    allow_unstable: bool,
    conserved: bool,
) -> Problem:
    """A case made ready, the body in rigid motion at the start. Collective.

    Args:
        about: The fixed point of the angular momentum [m].
        conserved: Whether the angular momentum about it is constant; else the impulses change it.
    """
    critical, courant = body.critical_time_step(), p["courant"]
    if courant is None:
        courant = 0.5 if find_scheme(scheme).explicit else 1.0
    h = p["h"] if p["h"] is not None else courant * critical
    integrator = find_scheme(scheme).bind(body, h, contact, p, allow_unstable=allow_unstable)
    integrator.start(0.0, body.rigid_velocity((p["vx0"], p["vy0"]), p["spin0"]))
    log = MomentumLog(integrator, about)

    def judge(result: Result) -> tuple[dict[str, Any], list[Verdict]]:
        results = measure(result, log, integrator, p, conserved=conserved)
        results["critical_time_step"] = critical
        return results, verdicts(results, integrator, p, conserved=conserved)

    return Problem(
        integrator,
        p["t_end"],
        contact.approach(),
        log,
        judge,
        dofs=int(parallel.total(body.comm, body.owned)),
        effective={"h": h, "courant": h / critical},
    )


def measure(
    result: Result, log: MomentumLog, integrator: Integrator, p: Values, *, conserved: bool
) -> dict[str, Any]:
    """The numbers of a run; all defects are relative. Collective.

    ``energy_defect`` is that of the scheme's balance, with the work of the internal forces;
    ``stored_energy_defect`` takes the stored energy instead, at the end, and vanishes with h alone.
    """
    log.close()
    mass = integrator.system.total_mass  # type: ignore[attr-defined]
    scale = mass * (math.hypot(p["vx0"], p["vy0"]) + p["R"] * abs(p["spin0"]))
    vx, vy, spin = map(float, final_motion(integrator))
    stored = np.sum([result[name] for name in ("kinetic", "complementary", "internal")], axis=0)
    kept, had, work = float(stored[-1]), float(stored[0]), float(result["contact"][-1])
    moment_defect = float(log.defect[1]) / (p["R"] * scale)
    drift = log.drift / (p["R"] * scale)
    return {
        "linear_momentum_defect": float(log.defect[0]) / scale,
        "angular_momentum_defect": drift if conserved else moment_defect,
        "angular_momentum_change": drift,
        "moment_defect": moment_defect,
        "energy_defect": log.worst_residual / had,
        "stored_energy_defect": (kept - had - work) / had,
        "energy_lost": 1 - kept / had,
        "contact_work": work / had,
        "contact_gain": log.contact_gain / had,
        "balance_residual": log.relative_residual(),
        "h": integrator.dt,
        "vx": vx,
        "vy": vy,
        "spin": spin,
        "impulse_x": float(log.impulse[0]),
        "impulse_y": float(log.impulse[1]),
        "impulse_sum": log.impulse_sum,
        "contact_start": log.contact_start,
        "contact_end": log.contact_end,
        "contact_phases": log.contact_phases,
        "penetration_max": log.deepest,
    }


def verdicts(results: dict[str, Any], integrator: Integrator, p: Values, *, conserved: bool) -> list[Verdict]:
    """What is known of the momenta and of the energy."""
    found = []
    if integrator.balance().closes:
        limit = 1e-12 if integrator.mass == "lumped" else 1e-11
        found.append(balance_verdict(results["energy_defect"], limit, integrator.n))
    found += [
        Verdict.below(
            "the linear momentum changes by the impulses (relative, largest of all steps)",
            results["linear_momentum_defect"],
            TOLERANCE,
        ),
        Verdict.below(
            "the angular momentum changes by the moments of the impulses where they act (relative, "
            "largest of all steps)",
            results["moment_defect"],
            TOLERANCE,
        ),
    ]
    if conserved:
        claim = "the angular momentum about the axis of the wall is constant (relative, largest change)"
        if integrator.v_shift == 0:
            claim += "; impulses act at the middle of the step, but point to the axis at its forecast"
        found.append(Verdict.below(claim, results["angular_momentum_defect"], TOLERANCE))
    work, allowed = results["contact_work"], p.get("friction", 0.0)
    found.append(
        Verdict(
            "contact takes energy (its work over the energy at the start)",
            work,
            0.0,
            TOLERANCE,
            bool(work <= TOLERANCE),
        )
    )
    if allowed > 0 and results["impulse_y"] > 0:
        ratio = abs(results["impulse_x"]) / results["impulse_y"]
        fits = bool(ratio <= allowed + TOLERANCE)
        claim = "tangential over normal impulse is at most the coefficient of friction"
        found.append(Verdict(claim, ratio, allowed, TOLERANCE, fits))
    return found

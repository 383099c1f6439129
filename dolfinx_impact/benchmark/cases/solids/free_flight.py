"""A spinning neo-Hookean body in free flight: what a scheme keeps of momentum, spin and energy.

Undeformed at the start, a plate or box (1 : 0.6 : 0.3) suddenly moves like a spinning rigid body. Central
differences keep both momenta (:mod:`.momenta`), theta = 1/2 where the force is that of the mean state
(``force=midpoint``). Rounding adds up like a random walk, with the square root of the number of steps.

Defects of energy are means over the last less over the first tenth of the steps. E = kinetic + complementary
+ internal counts a vibration of frequency w by ``(h w)^2 / 6`` less, and so drifts as slow swings pass on to
faster ones; with K the tangent stiffness, central differences keep up to terms in h^4::

    E + h^2/12 (v.K v + F.M^-1 F)

Source: Hairer, Lubich, Wanner, Geometric Numerical Integration, 2006, IX (the modified energy of the
Stoermer-Verlet scheme, to which -h^2/8 F.M^-1 F of the complementary energy is added).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .... import NeoHookean, Solid, parallel
from ....integrators import Integrator, Option, Scheme, energy
from ....integrators.central.central_differences import CentralDifferences
from ....integrators.step_buffer import Steps
from ....output.observer import ObserverLike
from ....simulation.recorder import added
from ...boxes import box
from ...case import EXPLICIT, Problem, Results, Setup, Values, Verdict
from . import common
from .common import FINITE, POSITIVE, SCHEMES
from .momenta import MomentumLog

_SPIN = "rate of rotation, of a box about nearly its middle axis, which tumbles"
PARAMETERS = {
    "dimension": Option(2, "-", "a plate in plane strain, or a box", (2, 3)),
    "elements": Option(8, "-", "elements along the longest side", interval="[1, 200]"),
    "length": Option(1.0, "m", "longest side; the others are 0.6 and 0.3 of it", interval=POSITIVE),
    **common.material(1e5, 1000.0, " at rest"),
    "v0": Option(0.1, "m/s", "speed of the center", interval=FINITE),
    "spin": Option(7.0, "rad/s", _SPIN, interval=FINITE),
    **common.times("0.25 explicit, 2 implicit", "100 000 steps, of implicit schemes 1000", " at rest"),
    "every": Option(100, "steps", "steps between samples of the history", interval="[1, inf)"),
}
SIDES = (1.0, 0.6, 0.3)
#: Steps of explicit schemes and of others, and their Courant number by default.
STEPS, COURANT = {True: 100_000, False: 1000}, (0.25, 2.0)
#: Directions of flight and of the axis of rotation.
FLIGHT = {2: (0.8, 0.6), 3: (0.48, 0.6, 0.64)}
AXIS = np.array([0.1, 1.0, 0.1]) / math.sqrt(1.02)
#: Momenta are kept to this part over 10 000 steps; at the default Courant number the means of the discrete
#: and of the conserved energy are kept to those, over any number of steps.
MOMENTUM, DRIFT, CONSERVED = 1e-12, 1e-3, 1e-5


def make_body(p: Values) -> Solid:
    """The body, its center at the origin. Collective."""
    sides = SIDES[: p["dimension"]]
    top = 0.5 * p["length"] * np.array(sides)
    n = [max(1, math.ceil(p["elements"] * side - 1e-9)) for side in sides]
    return Solid(box([-top, top], n), density=p["rho"], law=NeoHookean(p["E"], p["nu"]))


class FlightLog(MomentumLog):
    """Follows the momenta, the angular one about the origin, and the mean energy over so many ``steps``.

    Attributes:
        drifted: Mean energy of the last tenth of the steps less that of the first [J]; set by :meth:`close`.
        conserved: The same of what central differences conserve [J]; nan for other schemes.
    """

    state_names = (*MomentumLog.state_names, "_followed", "_sums")
    share_names = ("_corrections",)
    fixed_names = ("_steps",)

    def _prepare(self, setup: Any, p: Values) -> None:
        super()._prepare(setup, p)
        steps = max(1, round(p["t_end"] / p["h"]))
        self._tenth, self._steps, self._followed = max(1, steps // 10), steps, 0
        self._sums: NDArray = np.zeros(2)
        self._corrections = np.zeros(2)
        self._f: NDArray | None = None
        if isinstance(self._scheme, CentralDifferences):
            self._f = self._scheme.f[: self._scheme.system.owned].copy()

    def observers(self) -> list[ObserverLike]:
        """Observers that keep this log."""
        return [*super().observers(), *([self._correct] if self._f is not None else [])]

    def _correct(self, integrator: Integrator) -> None:
        """Add what makes of the discrete energy the conserved one, ``v.K v`` half a step before ``t``."""
        s: Any = integrator
        system, h, f = s.system, s.dt, s.f[: s.system.owned]
        rate = (self._f - f) @ s.v_before[: system.owned] / h
        correction = h**2 / 12 * (rate + f @ (system.inverse_mass * f))
        self._corrections += correction * np.array(self._parts(s.n), dtype=float)
        self._f[:] = f  # type: ignore[index]

    def _parts(self, number: Any) -> tuple[Any, Any]:
        """Whether steps of these numbers are in the first, in the last tenth."""
        return (number > 0) & (number <= self._tenth), number > self._steps - self._tenth

    def _follow(self, steps: Steps) -> None:
        super()._follow(steps)
        kinds = [energy.TERMS.index(name) for name in ("kinetic", "complementary", "internal")]
        total = self._comm.allreduce(steps.energies[: steps.count, kinds].sum(axis=1), op=MPI.SUM)
        parts = self._parts(self._followed + np.arange(steps.count))
        self._sums = added(self._sums, np.column_stack([np.where(part, total, 0.0) for part in parts]))
        self._followed += steps.count

    def _resume(self) -> None:
        super()._resume()
        if self._f is not None:
            self._f[:] = self._scheme.f[: self._f.size]

    def _close(self) -> None:
        self.drifted = float(self._sums[1] - self._sums[0]) / self._tenth
        change = parallel.total(self._comm, float(self._corrections[1] - self._corrections[0])) / self._tenth
        self.conserved = math.nan if self._f is None else self.drifted + change


class FreeFlight(common.SolidCase):
    """A soft block spins and swings in free flight: its momentum, its spin and its energy stay the same."""

    parameters, schemes = PARAMETERS, SCHEMES
    defaults = {"force": "midpoint"}
    courants = COURANT
    log_type = FlightLog

    def _refuse(self, p: Values) -> None:
        if p["spin"] == 0:
            raise ValueError("spin must be a number other than 0 [rad/s], but is 0")

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """The body; two opposite corners are recorded. Collective."""
        body = make_body(p)
        corner = np.array([parallel.largest(body.comm, body.x[:, i]) for i in range(3)])
        off = [np.abs(body.x[: body.owned // body.block] - end).max(axis=1) for end in (-corner, corner)]
        corners = np.flatnonzero(np.minimum(*off) < 1e-9 * body.length)
        spin = p["spin"] if p["dimension"] == 2 else p["spin"] * AXIS
        v0 = body.rigid_velocity(p["v0"] * np.array(FLIGHT[p["dimension"]]), spin)
        return Setup(system=body, record=body.rows(corners), v0=v0)

    def end(self, p: Values, scheme: Scheme) -> float:
        """So many steps [s]."""
        return STEPS[scheme.explicit] * p["h"]

    def measure(self, run: Problem) -> Results:
        """Defects of momenta and energy, and how far the body swings and turns. Collective."""
        log, p, s = run.log, run.p, run.integrator
        dimension, kept = p["dimension"], common.stored(run.result)
        diagonal, u = p["length"] * np.array(SIDES[:dimension]), run.result["u"]
        between = diagonal + u[:, dimension:] - u[:, :dimension]
        results = {
            "linear_momentum_defect": float(log.defect[0]) / math.sqrt(2 * s.system.total_mass * kept[0]),
            "angular_momentum_defect": float(log.defect[1] / np.linalg.norm(log.first[dimension:])),
            "energy_defect": log.drifted / kept[0],
            "energy_swing": float(np.ptp(kept)) / kept[0],
            "stretch_max": float(np.max(np.linalg.norm(between, axis=1) / np.linalg.norm(diagonal) - 1)),
            "turns": abs(p["spin"]) * s.t / (2 * math.pi),
        }
        known = {} if math.isnan(log.conserved) else {"conserved_energy_defect": log.conserved / kept[0]}
        return {**results, **known}

    def verdicts(self, run: Problem) -> list[Verdict]:
        """Whether momenta and energy are kept, by schemes of which that is known. Collective."""
        p, s, results = run.p, run.integrator, run.results
        limit = MOMENTUM * max(1.0, math.sqrt(s.n / 1e4))
        words = "the momentum stays (largest change over sqrt(2 m T) of the start)"
        rows = [(words, "linear_momentum", limit)]
        if p.get("force", "midpoint") == "midpoint" and p.get("theta", 0.5) == 0.5:
            rows += [("the angular momentum stays (largest relative change)", "angular_momentum", limit)]
        if "conserved_energy_defect" in results:
            larger = max(1.0, s.dt / s.system.critical_time_step() / COURANT[0])
            words = "the mean of the discrete energy does not drift (last tenth of the steps to the first)"
            rows += [(f"{words}, but for terms in h^2", "energy", DRIFT * larger**2)]
            words = "nor does that of the conserved energy, but for terms in h^4"
            rows += [(words, "conserved_energy", CONSERVED * larger**4)]
        return [Verdict.below(words, results[f"{name}_defect"], most) for words, name, most in rows]

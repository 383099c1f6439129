"""The rotating spring in a concentric circular wall: Di Stasio et al. (2019), case 3, angular momentum.

Steps without contact keep ``u_n ^ m v_{n+1/2} = u_n ^ m v_t`` (central differences, which report it), or
``m (x ^ v + (h^2/4) v ^ a)``, a = F(x)/m (coupled Moreau-Jean, theta = 1/2, which reports ``x ^ m v``). Both
change in an impact by ``x~ ^ r_t`` alone, x~ the position at which the gap is looked at.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import ObstacleContact, PointMasses, Sphere
from ....algebra import kernels
from ....integrators import SCHEMES, Integrator, Option, Scheme
from ...case import COMMON, EXPLICIT, SINGLE, Case, Problem, Results, Setup, Values, Verdict, contact_law
from ...run_log import CONTACT, RunLog, Steps

PARAMETERS = {
    "m": Option(1.0, "kg", "mass", interval="(0, inf)"),
    "k": Option(10.0, "N/m", "stiffness of the spring", interval="(0, inf)"),
    "l0": Option(1.0, "m", "relaxed length of the spring", interval="[0, inf)"),
    "x0": Option(0.8, "m", "position at t = 0"),
    "y0": Option(0.0, "m", "position at t = 0"),
    "vx0": Option(1.0, "m/s", "velocity at t = 0"),
    "vy0": Option(2.0, "m/s", "velocity at t = 0"),
    "radius": Option(1.4, "m", "radius of the wall", interval="(0, inf)"),
    "restitution": Option(1.0, "-", "Newton's coefficient"),
    "friction": Option(0.0, "-", "Coulomb's coefficient"),
    "courant": Option(None, "-", "time step over the critical one, 2 sqrt(m/k)"),
    **COMMON,
    "h": Option(0.1, "s", "time step; the other way to give it is courant"),
    "t_end": Option(100.0, "s", "end time"),
}
#: Contact at velocity level, or central differences: the other schemes need linear systems.
SCHEME_NAMES = tuple(n for n in SINGLE if SCHEMES[n].contact_level == "velocity" or SCHEMES[n].explicit)
LAST = 0.8  #: The end of a run, in which a mass that rubs no more keeps its momentum (part of t_end).


def cross(a: NDArray, b: NDArray) -> NDArray:
    """``a ^ b`` in the plane, of every sample, shapes (..., 2)."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


class SpinLog(RunLog):
    """The log of every step with the angular momentum.

    Attributes:
        first, last: ``x ^ m v`` at the start, at the last step [kg m^2/s].
        drift: Largest difference to the start so far.
        kept_drift, late_drift: The same of what steps without contact keep (see the module; else
            ``x ^ m v``), and its largest change after the time ``settled``.
        largest_gain, fastest: Largest growth of the magnitude of that in a step, largest speed [m/s].
    """

    _noted = ("first", "last", "drift", "kept_drift", "largest_gain", "late_drift", "fastest")
    state_names = (*RunLog.state_names, *_noted, "_start", "_before", "_late")
    fixed_names = ("_settled",)

    def _prepare(self, setup: Any, p: Values) -> None:
        self._f, self._settled = np.zeros(2), LAST * p["t_end"]
        self._start = self._before = self._late = np.nan
        self.first = self.last = self.drift = self.kept_drift = 0.0
        self.largest_gain, self.late_drift, self.fastest = 0.0, 0.0, 0.0

    def _follow(self, steps: Steps) -> None:
        n, mass = steps.count, float(self._scheme.system.mass[0])
        x, v, v_t = steps.u[:n], steps.v[:n], steps.v_t[:n]
        momentum = mass * cross(x, v_t)
        kept = momentum + mass * self._correction(steps)
        if np.isnan(self._start):
            self.first, self._start, self._before = momentum[0], kept[0], kept[0]
        self.last = float(momentum[-1])
        self.drift = max(self.drift, float(np.max(np.abs(momentum - self.first))))
        self.kept_drift = max(self.kept_drift, float(np.max(np.abs(kept - self._start))))
        gains = np.diff(np.abs(kept), prepend=abs(self._before))
        self.largest_gain, self._before = max(self.largest_gain, float(np.max(gains))), kept[-1]
        self.fastest = max(self.fastest, float(np.max(np.hypot(v[:, 0], v[:, 1]))))
        late = kept[steps.t[:n] >= self._settled]
        if late.size:
            self._late = late[0] if np.isnan(self._late) else self._late
            self.late_drift = max(self.late_drift, float(np.max(np.abs(late - self._late))))

    def _correction(self, steps: Steps) -> NDArray:
        """``(h^2/4) v ^ a`` where a step without contact is the trapezoidal rule, else 0."""
        s, out = self._scheme, np.zeros(steps.count)
        if getattr(s, "theta", None) == 0.5 and not getattr(s, "midpoint", False):
            for i in range(steps.count):
                s.system.force(steps.t[i], steps.u[i], steps.v[i], self._f)
                out[i] = s.dt**2 / 4 * cross(steps.v[i], self._f * s.system.inverse_mass)
        return out


def statements(scheme: str, results: Results, p: Values) -> list[Verdict]:
    """Statements of the paper and of theory on the scheme."""
    same = ("m", "k", "l0", "x0", "y0", "vx0", "vy0", "radius", "h")
    printed = all(p[name] == PARAMETERS[name].default for name in same)
    printed &= p["t_end"] >= PARAMETERS["t_end"].default
    halves = p.get("theta") == p.get("forecast") == 0.5 and p.get("force") == "trapezoid"
    rubs, below, above = p["friction"] > 0, Verdict.below, Verdict.above
    decoupled = scheme == "moreau-jean-decoupled" and halves and printed and p["restitution"] == 1
    stops = printed and (p["restitution"], p["friction"]) == (0, 0.2)
    # Without friction Fig. 16, and what takes the place of the angular momentum in the coupled scheme; with
    # friction Fig. 18: every impact takes angular momentum, until the mass touches no more.
    rows = (
        (True, below, "penetration_max", results["step_length"],
         "the mass stays inside the wall but for the way of one step [m]"),
        (not rubs and scheme.startswith("cd-lagrange"), below, "momentum_drift", 1e-12,
         "the angular momentum keeps its initial value (relative drift)"),
        (not rubs and scheme == "moreau-jean" and halves, below, "invariant_drift", 1e-12,
         "x ^ v + (h^2/4) v ^ a keeps its initial value (relative drift)"),
        (not rubs and decoupled, above, "momentum_loss", 0.1,
         "the angular momentum loses more than 10 % (relative loss)"),
        (rubs, below, "invariant_gain", 1e-12,
         "no step increases the angular momentum (largest relative gain)"),
        (stops, above, "momentum_loss", 1e-12, "friction decreases the angular momentum (relative loss)"),
        (stops, below, "invariant_late_drift", 1e-12,
         "the angular momentum ends constant (relative change in the last fifth)"),
    )  # fmt: skip
    return [compare(words, results[name], x) for holds, compare, name, x, words in rows if holds]


class Spring(Case):
    """A mass on a spring flies around in a circular wall. Without friction it keeps energy and momentum."""

    parameters, schemes = PARAMETERS, SCHEME_NAMES
    log_type = SpinLog

    def _refuse(self, p: Values) -> None:
        distance = math.hypot(p["x0"], p["y0"])
        if not 0 < distance < p["radius"]:
            inside = "inside the wall and not at its center"
            raise ValueError(f"(x0, y0) must lie {inside}, but is {distance} m off")

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Mass, spring and wall; the critical step is that of the stretched spring along its axis."""
        k, l0 = p["k"], p["l0"]

        def internal(t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
            size = math.hypot(u[0], u[1])
            pull = k * (1.0 - l0 / size if size > 0 else 0.0)
            out[0], out[1] = pull * u[0], pull * u[1]

        def energy(u: NDArray) -> float:
            return 0.5 * k * (math.hypot(u[0], u[1]) - l0) ** 2

        forces: dict[str, Any] = {"internal": kernels.jit(internal), "energy": kernels.jit(energy)}
        spring = PointMasses([p["m"]] * 2, **forces, labels=["x", "y"], length=p["radius"])
        shape = Sphere((0.0, 0.0), p["radius"], inside=True)
        wall = ObstacleContact(spring, [[0, 1]], shape, **contact_law(p))
        critical = 2.0 * math.sqrt(p["m"] / p["k"])
        u0, v0 = [p["x0"], p["y0"]], [p["vx0"], p["vy0"]]
        return Setup(system=spring, contact=wall, record=spring.rows(), critical=critical, u0=u0, v0=v0)

    def bind(self, scheme: Scheme, setup: Setup, p: Values, allow_unstable: bool) -> Integrator:
        """The scheme; a ValueError for a step above the critical one, which it does not know itself."""
        integrator = super().bind(scheme, setup, p, allow_unstable)
        h, critical = p["h"], self.critical_step(scheme, setup)
        if scheme.explicit and h > (1 + 1e-6) * critical:
            if not allow_unstable:
                limit = f"above the critical one, {critical:.6g} s"
                raise ValueError(f"the time step {h:.6g} s is {limit}: lower it")
            integrator.beyond_limit = True
        return integrator

    def measure(self, run: Problem) -> Results:
        """Angular momentum and energy; changes of momentum are relative to that at the start."""
        log, result = run.log, run.result
        scale, gained = abs(log.first) or 1.0, (log.last - log.first) * math.copysign(1.0, log.first)
        energy = np.sum([result[name] for name in ("kinetic", "complementary", "internal")], axis=0)
        had, kept = float(energy[0]), float(energy[-1])
        return {
            **log.numbers(*CONTACT),
            "momentum_initial": log.first,
            "momentum_final": log.last,
            "momentum_drift": log.drift / scale,
            "momentum_loss": -gained / scale,
            "invariant_drift": log.kept_drift / scale,
            "invariant_gain": log.largest_gain / scale,
            "invariant_late_drift": log.late_drift / scale,
            "step_length": run.integrator.dt * log.fastest,
            "energy_lost": 1 - kept / had if had > 0 else 0.0,
        }

    def verdicts(self, run: Problem) -> list[Verdict]:
        """Whether the mass keeps what its scheme should keep."""
        return statements(run.scheme, run.results, run.p)

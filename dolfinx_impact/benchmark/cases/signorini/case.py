"""The bar on rigid ground: Doyen, Ern and Piperno (2011), one impact and bounces under its weight.

Displacements are measured from the undeformed bar on the ground: ``u = h0`` at the start.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .... import LinearElastic, Plane, RigidContact, Solid, mesh
from ....exact import SignoriniBar
from ....integrators import SCHEMES, Option, Scheme, energy, find_scheme
from ....simulation.recorder import added
from ...case import COMMON, EXPLICIT, Case, Problem, Results, Setup, Values, Verdict, Verdicts, contact_law
from ...run_log import CONTACT, RunLog, Steps

#: Time step unless given, of implicit and of explicit schemes [s].
IMPLICIT_STEP, EXPLICIT_STEP = 5e-3, 2.5e-3
#: Part of the contact phase that is left out at both ends where forces are compared: 0.1 s of 2/3 s.
ENDS = 0.15
#: A force up to this part of ``E v_f / c`` is rounding of a gap that just closes, no contact.
NO_FORCE = 1e-8


def _parameters(v0: float, g0: float, t_end: float) -> dict[str, Option]:
    return {
        "elements": Option(100, "-", "elements along the bar", interval="[1, 10000000]"),
        "E": Option(900.0, "Pa", "Young's modulus", interval="(0, inf)"),
        "rho": Option(1.0, "kg/m3", "density", interval="(0, inf)"),
        "length": Option(10.0, "m", "length of the bar, its section is 1 m2", interval="(0, inf)"),
        "h0": Option(5.0, "m", "height of the bottom at t = 0", interval="[0, inf)"),
        "v0": Option(v0, "m/s", "speed downwards at t = 0", interval="[0, inf)"),
        "g0": Option(g0, "m/s2", "acceleration downwards", interval="[0, inf)"),
        "restitution": Option(0.0, "-", "Newton's coefficient of the contact node", interval="[0, 1]"),
        **COMMON,
        "courant": Option(None, "-", "c h / (length of an element), over the limit that a scheme has"),
        "h": Option(None, "s", f"time step (default: {IMPLICIT_STEP}, explicit schemes {EXPLICIT_STEP})"),
        "t_end": Option(t_end, "s", "end time"),
        # Impacts fall on a step: whether the gap is closed there must not depend on rounding.
        "gap_tolerance": Option(1e-9, "m", "a gap up to this counts as closed"),
    }


def exact(p: Values) -> SignoriniBar:
    """The solution for the parameters of a run."""
    return SignoriniBar(p["E"], p["rho"], p["length"], p["h0"], p["v0"], p["g0"])


class SignoriniLog(RunLog):
    """The log of every step against the exact solution.

    Attributes:
        forces, exact_forces: Contact force and the exact one, in the first contact phase of the latter
            less :data:`ENDS` at both ends, shape (samples,) [N]; empty where the run ends before.
        energy_changes: Of ``E - F.u`` to the end of 1 and of 4 periods, relative; without gravity to the
            end of the run, once the bar has left the ground. NaN for what the run does not reach.
        contact_work: Of the whole run, relative to ``E - F.u`` at the start.
        error_u: Of the bottom over all steps in norm (35) of Di Stasio et al. (2019).
    """

    state_names = (*RunLog.state_names, "_start", "_at_ends", "_last", "_window", "_sums", "_work", "_t")

    def _prepare(self, setup: Any, p: Values) -> None:
        self._exact, self._h = exact(p), self._scheme.dt
        solution = self._exact
        self._ends, self._window = np.array([1.0, 4.0]) * solution.period, list[NDArray]()
        self._start, self._at_ends, self._last = np.nan, np.full(2, np.nan), np.nan
        self._work, self._t = 0.0, 0.0
        self._sums: NDArray = np.zeros(2)
        least = NO_FORCE * solution.E * solution.impact_speed / solution.wave_speed * self._h
        touch = self._touch
        self._touch = lambda t, r, state: touch(t, np.where(r > least, r, 0.0), state)

    def _follow(self, steps: Steps) -> None:
        n = steps.count
        terms = dict(zip(energy.TERMS, steps.energies[:n].T))
        kept = terms["kinetic"] + terms["internal"] - terms["external"]
        local = np.array([steps.u[:n].sum(axis=1), steps.r[:n].sum(axis=1), kept, terms["contact"]])
        u, r, kept, work = self._comm.allreduce(local, op=MPI.SUM)
        t = steps.t[:n].copy()
        self._t, self._work = float(t[-1]), float(work[-1])
        self._follow_force(t, r)
        self._follow_energy(t, kept)
        true = self._exact.displacement(0.0, t)
        known = np.isfinite(true)
        self._sums = added(self._sums, np.column_stack([np.abs(u - true), np.abs(true)])[known])

    def _follow_force(self, t: NDArray, r: NDArray) -> None:
        left = ENDS * 2 * self._exact.transit
        # Samples at the very ends count, whatever the rounding.
        inside = t >= self._exact.contact_start + left - 1e-6 * self._h
        inside &= t <= self._exact.contact_end - left + 1e-6 * self._h
        # Some schemes have the force of a step in a balance within it.
        acts = t[inside] + self._scheme.r_shift * self._h
        self._window.append(np.column_stack([r[inside] / self._h, self._exact.force(acts)]))

    def _follow_energy(self, t: NDArray, kept: NDArray) -> None:
        if np.isnan(self._start):
            self._start = kept[0]
        self._last = kept[-1]
        for i, end in enumerate(self._ends):
            distances = np.abs(t - end)
            if distances.min() <= (0.5 + 1e-6) * self._h:
                self._at_ends[i] = kept[distances.argmin()]

    def _close(self) -> None:
        bar, left = self._exact, ENDS * 2 * self._exact.transit
        if left_ground(bar, self._t):
            self._at_ends[0] = self._last
        weight = bar.g0 * self._scheme.body.total_mass
        had = self._start + weight * bar.h0
        self.energy_changes = (self._at_ends - self._start) / had if had > 0 else np.full(2, np.nan)
        self.contact_work = self._work / had if had > 0 else np.nan
        self.forces, self.exact_forces = np.concatenate(self._window).T
        if self._t < bar.contact_end - left - self._h:
            self.forces, self.exact_forces = np.zeros((2, 0))
        self.error_u = self._sums[0] / self._sums[1] if self._sums[1] > 0 else np.nan


def front_spread(bar: SignoriniBar, elements: int) -> float:
    """Time by which dispersion spreads the front over (2 N)^(1/3) elements, on its way up and down [s]."""
    return (2 * elements) ** (1 / 3) * bar.transit / elements


def left_ground(bar: SignoriniBar, t: float) -> bool:
    """Whether the bar has left the ground for good, by half a transit, at ``t`` [s]."""
    return bar.g0 == 0 and t >= bar.contact_end + bar.transit / 2


def _impact_verdicts(scheme: Scheme, results: Results, h: float, p: Values) -> Verdicts:
    """Verdicts on one impact at uniform speed, without gravity."""
    bar, N = exact(p), p["elements"]
    duration, tolerance = results["contact_end"] - results["contact_start"], h + front_spread(bar, N)
    words = "the bar leaves the ground 2 L / c after it touched [s]"
    yield Verdict.equal(words, duration, 2 * bar.transit, tolerance)
    if scheme.contact_level == "velocity":
        words, limit = "it penetrates by no more than a step's approach [m]", (1 + 1e-9) * h * bar.v0
        yield Verdict.below(words, results["penetration_max"], limit)
    if scheme.contact_level == "velocity" and scheme.explicit:
        force = bar.rho * bar.length / (2 * N) * bar.v0 / h
        words = "the first force stops the contact node, m_i v_i / h [N]"
        yield Verdict.equal(words, results["first_force"], force, 1e-9 * force)
        words = "the contact force takes the kinetic energy of the contact node, 1/(2N)"
        yield Verdict.equal(words, results["contact_work"], -1 / (2 * N), 1e-9)


_LEFT_OUT = ("cd-lagrange-implicit", "hati")


class Signorini(Case):
    """The bar and the ground. Collective, as its methods.

    Args:
        parameters: Its parameters.
        about: The motion and its purpose.
    """

    log_type = SignoriniLog
    schemes = tuple(
        n for n, s in SCHEMES.items() if n not in _LEFT_OUT and s.contact_level != "none" and not s.static
    )

    def __init__(self, parameters: dict[str, Option], about: str) -> None:
        self.parameters, self.about = parameters, about
        super().__init__()

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Bar and ground; the critical step is that of a wave through an element."""
        sizes = {"dimension": 1, "length": p["length"], "elements": p["elements"]}
        named = mesh.read(mesh.package_mesh("bar.geo"), gdim=1, parameters=sizes)
        bar = Solid(named, density=p["rho"], law=LinearElastic(p["E"]), gravity=[-p["g0"]])
        ground = RigidContact(bar, "contact", Plane([0.0], [1.0]), **contact_law(p))
        record, transit = bar.rows(bar.nodes("contact")), p["length"] / p["elements"] / exact(p).wave_speed
        state = {"u0": p["h0"], "v0": -p["v0"]}
        return Setup(system=bar, contact=ground, record=record, critical=transit, **state)

    def time_step(self, p: Values, scheme: Scheme, setup: Setup) -> float:
        """As for all cases, or the usual step of explicit or implicit schemes [s]."""
        if p["h"] is None and p["courant"] is None:
            return EXPLICIT_STEP if scheme.explicit else IMPLICIT_STEP
        return super().time_step(p, scheme, setup)

    def measure(self, run: Problem) -> Results:
        """Forces and energies; None for what the run does not reach."""
        log, h = run.log, run.p["h"]
        force, away = log.forces, log.forces - log.exact_forces
        names = ("force_mean", "force_std", "force_max_deviation", "force_oscillation")
        reached = dict.fromkeys(names, np.nan)
        if force.size:
            reached = dict(zip(reached, (force.mean(), force.std(), np.abs(away).max(), away.std())))
        reached |= dict(zip(("energy_change_1", "energy_change_4"), log.energy_changes))
        reached |= {"contact_work": log.contact_work, "error_u": log.error_u}
        return {
            **log.numbers(*CONTACT),
            "critical_time_step": run.integrator.critical_step(run.integrator.system),
            "courant": h / run.results["critical_time_step"],
            "first_force": log.first_impulse / h,
            **{name: float(x) if np.isfinite(x) else None for name, x in reached.items()},
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Statements of the papers on the scheme and on the case."""
        p, results, chosen, bar = run.p, run.results, find_scheme(run.scheme), exact(run.p)
        if p["restitution"] > 0:
            return
        if "position" in chosen.contact_level:
            limit, deepest = 1e-12 * max(bar.h0, bar.length), results["penetration_max"]
            yield Verdict.below("the bar never penetrates [m]", deepest, limit)
        if left_ground(bar, p["t_end"]) and bar.impact_speed > 0 and results["contact_start"] is not None:
            yield from _impact_verdicts(chosen, results, p["h"], p)


SIGNORINI_IMPACT = Signorini(
    _parameters(10.0, 0.0, t_end=2.0),
    "An elastic bar hits rigid ground once. The exact contact force is constant, and so shows every "
    "oscillation that a scheme makes.",
)
SIGNORINI_BOUNCES = Signorini(
    _parameters(0.0, 10.0, t_end=1 + 4 * 16 / 3),
    "An elastic bar bounces on rigid ground under its weight. The exact motion is periodic and keeps its "
    "energy over any number of impacts.",
)

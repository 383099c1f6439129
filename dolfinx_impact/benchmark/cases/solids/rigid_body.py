"""A rigid disc or square that hits a plane once: the closed-form impact with restitution and friction.

``angle0`` is the angle at the impact: the body starts :data:`FLIGHT` steps back on its free flight, and comes
to ``angle0`` with its lowest point just inside the plane, by a little more than the gap tolerance, when the
scheme looks at the gap (``forecast`` steps later for one-step schemes). At angle 0 a square lands on two
corners. By default its corner sticks; with friction 0.1 it slips. Results are those of the first impact.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import Plane, RigidBody, RigidBodyContact
from ....exact.rigid import Impact, RigidImpact
from ....integrators import Option, Scheme
from ....integrators.step_buffer import Steps
from ...case import COMMON, EXPLICIT, Case, Problem, Results, RunLog, Setup, Values, Verdict, contact_law
from .common import FINITE, SCHEMES

PARAMETERS = {
    "shape": Option("disc", "-", "body", ("disc", "square")),
    "R": Option(0.1, "m", "radius of the disc, half the side of the square"),
    "rho": Option(7850.0, "kg/m3", "density; the thickness is 1 m"),
    "vx0": Option(1.0, "m/s", "velocity along the plane before the impact", interval=FINITE),
    "vy0": Option(-2.0, "m/s", "velocity away from the plane before the impact", interval=FINITE),
    "spin0": Option(5.0, "rad/s", "spin before the impact, counter-clockwise", interval=FINITE),
    "angle0": Option(20.0, "degrees", "angle at the impact; at 0 a square lands flat", interval=FINITE),
    "restitution": Option(0.5, "-", "Newton's coefficient of the contact points"),
    "friction": Option(0.3, "-", "Coulomb's coefficient"),
    **COMMON,
    "courant": Option(None, "-", "refused: a rigid body has no critical step, give h"),
    "h": Option(1e-4, "s", "time step"),
    "t_end": Option(1e-3, "s", "end time, at least 7 h: the impact is in the sixth step or at its start"),
}
FLIGHT = 5  #: Steps of free flight before the impact.
TOLERANCE = 1e-12  #: What is compared agrees to this part of its scale.
_OWN = ("coefficient", "energy_lost_run")  #: Laws, without an exact value of their own.


class Approach:
    """The body from the start to the impact; the scheme looks ahead by the part ``forecast`` of a step.

    Attributes:
        velocity, start: Velocity [m/s, m/s, rad/s] before the impact and position [m, m, rad] at t = 0.
        arms: Of the contact points at the impact from the centre, shape (p, 2) [m].
        exact, speed: The exact impact, and the scale of velocities [m/s].
    """

    def __init__(self, body: RigidBody, contact: RigidBodyContact, p: Values, forecast: float) -> None:
        self.body, h = body, p["h"]
        self.velocity = np.array([p["vx0"], p["vy0"], p["spin0"]])
        self.speed = float(np.hypot(*self.velocity[:2]) + body.length * abs(p["spin0"]))
        impact = np.array([0.0, 0.0, math.radians(p["angle0"])])
        impact[1] = -2 * contact.gap_tolerance - 1e-13 * body.length - np.min(contact.gap(impact))
        closed = contact.gap(impact) < -contact.gap_tolerance
        self.arms = body.arms(impact[2])[closed] - [0.0, body.radius]
        approach = self.normal_velocity(self.velocity)
        if not np.min(approach) < 0:
            speed = f"its normal velocity is {np.min(approach):g} m/s: lower vy0 or spin0"
            raise ValueError(f"the lowest point of the body does not approach the plane, {speed}")
        self.start = impact - (FLIGHT + forecast) * h * self.velocity
        for i in range(1, FLIGHT + 1):
            gap = float(np.min(contact.gap(impact - i * h * self.velocity)))
            if not gap > contact.gap_tolerance:
                remedy = f"by {gap:.3g} m: take a smaller h or gap_tolerance, or less spin"
                raise ValueError(f"the body touches the plane before its impact at angle0, {remedy}")
        coefficients = {name: p[name] for name in ("restitution", "friction")}
        self.exact: Impact = RigidImpact(body.mass[0], body.inertia, self.arms, **coefficients)(self.velocity)

    def normal_velocity(self, v: NDArray) -> NDArray:
        """Of the contact points at the impact, shape (p,) [m/s]."""
        return v[1] + v[2] * self.arms[:, 0]

    def slip(self, v: NDArray) -> NDArray:
        """Their velocity along the plane, shape (p,) [m/s]."""
        return v[0] - v[2] * self.arms[:, 1]


class ImpactLog(RunLog):
    """The log of every step with the first impact.

    Attributes:
        time: Of the first impulse [s]; None before.
        before, after: Velocity around it at the scheme's own time, shape (3,) [m/s, m/s, rad/s].
        normal, tangential: The sums of its components over the points [N s].
    """

    state_names = (*RunLog.state_names, "time", "before", "after", "normal", "tangential")

    def _prepare(self, setup: Any, p: Values) -> None:
        self.time: float | None = None
        self.before, self.after = self._scheme.v.copy(), np.zeros(3)
        self.normal = self.tangential = 0.0

    def _follow(self, steps: Steps) -> None:
        n = steps.count
        hits = np.flatnonzero(np.any(steps.r[:n] > 0, axis=1))
        if self.time is not None:
            return
        if hits.size == 0:
            self.before = steps.v[n - 1].copy()
            return
        i = int(hits[0])
        self.before = steps.v[i - 1].copy() if i > 0 else self.before
        self.time, self.after = float(steps.t[i]), steps.v[i].copy()
        self.normal = float(np.sum(steps.r[i]))
        self.tangential = float(np.sum(steps.r_t[i][:, 0])) if steps.r_t.ndim == 3 else 0.0


def compared(run: Problem) -> dict[str, tuple[Any, Any, float, str]]:
    """Measured and exact value, scale of their difference, and meaning, by name.

    ``coefficient`` is that of the contact point farthest from e.
    """
    flight, result, log, e = run.setup.beside, run.result, run.log, run.p["restitution"]
    exact, mass, hit = flight.exact, flight.body.mass, flight.exact.normal > 0
    # Of points that hardly approach a quotient of velocities is round-off.
    clear = hit & (np.abs(flight.normal_velocity(flight.velocity)) > 1e-4 * flight.speed)
    coefficients = -flight.normal_velocity(log.after)[clear] / flight.normal_velocity(log.before)[clear]
    worst = float(coefficients[np.argmax(np.abs(coefficients - e))])
    kinetic = result["kinetic"] + result["complementary"]
    # Of the whole run; the work of the contact less what the formula takes.
    lost, work = float(kinetic[0] - kinetic[-1]), float(result["contact"][-1] - result["dissipated"][-1])
    slips = [float(flight.slip(v)[hit][0]) for v in (log.after, exact.velocity)]
    lost_in_impact = 0.5 * float(mass @ (log.before**2 - log.after**2))
    approach = float(np.min(np.abs(flight.normal_velocity(flight.velocity)[clear])))
    speed, momentum, heat = flight.speed, mass[0] * flight.speed, mass[0] * flight.speed**2
    manner = "sticks" if exact.sticks else "slips as it must"
    (vx, vy, spin), (true_vx, true_vy, true_spin) = log.after, exact.velocity
    return {
        "vx": (vx, true_vx, speed, "exact velocity along the plane [m/s]"),
        "vy": (vy, true_vy, speed, "exact velocity away from the plane [m/s]"),
        "spin": (spin, true_spin, speed / flight.body.length, "exact spin [rad/s]"),
        "impulse_n": (log.normal, float(np.sum(exact.normal)), momentum, "exact normal impulse [N s]"),
        "impulse_t": (log.tangential, exact.tangential, momentum, "exact tangential impulse [N s]"),
        "coefficient": (worst, e, speed / approach, "the contact point's -v_n after / v_n before is e"),
        "slip": (*slips, speed, f"the contact point {manner} (slip velocity after the impact) [m/s]"),
        "energy_lost": (lost_in_impact, exact.lost, heat, "exact loss of energy in the impact [J]"),
        "energy_lost_run": (lost, -work, heat, "the energy lost in the run is the work of contact [J]"),
    }


class RigidBodyCase(Case):
    """A rigid disc or square hits a plane with spin: an impact with friction known in closed form."""

    parameters, schemes = PARAMETERS, SCHEMES
    balance_limits = (TOLERANCE, TOLERANCE)
    log_type = ImpactLog
    no_critical_step = "a rigid body has no critical time step"

    def _refuse(self, p: Values) -> None:
        if not p["t_end"] > (FLIGHT + 1.4) * p["h"]:
            raise ValueError(f"t_end must be at least {FLIGHT + 2} h: the body flies {FLIGHT} steps before")

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Body, plane and the flight to it; a ValueError for a body that does not fly to the plane."""
        body = (RigidBody.disc if p["shape"] == "disc" else RigidBody.square)(p["R"], p["rho"])
        contact = RigidBodyContact(body, Plane((0.0, 0.0), (0.0, 1.0)), **contact_law(p))
        flight = Approach(body, contact, p, 0.0 if scheme.explicit else p.get("forecast", 0.0))
        state = {"u0": flight.start, "v0": flight.velocity}
        return Setup(system=body, contact=contact, record=body.rows(), beside=flight, **state)

    def measure(self, run: Problem) -> Results:
        """The impact and its closed form."""
        rows, exact = compared(run), run.setup.beside.exact
        return {
            **{name: row[0] for name, row in rows.items()},
            **{f"{name}_exact": row[1] for name, row in rows.items() if name not in _OWN},
            "sticks": exact.sticks,
            "contact_work": -rows["energy_lost_run"][1],
            "impact_time": run.log.time,
            "corners": int(np.sum(exact.normal > 0)),
            "contact_phases": run.log.contact_phases,
        }

    def verdicts(self, run: Problem) -> list[Verdict]:
        """The closed form and the laws."""
        rows = compared(run).values()
        return [Verdict.equal(words, x, y, TOLERANCE * scale) for x, y, scale, words in rows]

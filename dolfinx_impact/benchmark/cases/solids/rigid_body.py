"""A rigid disc or square that hits a plane: the closed-form impact with restitution and friction.

The body flies freely towards the plane y = 0 and hits it once. A rigid body has exactly the coefficient of
restitution that its contact points are given, which an elastic one has not.

``angle0`` is the angle at the impact, so that one exact solution holds for every scheme and step: the body
starts as far back on its free flight, :data:`FLIGHT` steps, as brings it to ``angle0`` with its lowest
point on the plane just when the scheme looks at the gap (``forecast`` steps later for one-step schemes).
There it is inside the plane by a little more than the gap tolerance, so that it is closed whatever
``touching`` says; on a plane the depth does not enter the impulses. At angle 0 a square lands on two corners
at once. By default its corner sticks; with friction 0.1 it slips, backward after the impact.
Results are those of the first impact; a longer run may hold more of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contact.obstacles import Plane
from ....contact.rigid_body import RigidBodyContact
from ....exact.rigid import Impact, RigidImpact
from ....integrators import Integrator, Option, find_scheme
from ....integrators.step_buffer import Steps
from ....output.result import Result
from ....systems.rigid_body import RigidBody, positive
from ... import drawings
from ...case import COMMON, Case, Problem, RunLog, Values, balance_verdict
from ...verdict import Verdict
from . import common

PARAMETERS = {
    "shape": Option("disc", "-", "body", ("disc", "square")),
    "R": Option(0.1, "m", "radius of the disc, half the side of the square"),
    "rho": Option(7850.0, "kg/m3", "density; the thickness is 1 m"),
    "vx0": Option(1.0, "m/s", "velocity along the plane before the impact"),
    "vy0": Option(-2.0, "m/s", "velocity away from the plane before the impact"),
    "spin0": Option(5.0, "rad/s", "spin before the impact, counter-clockwise"),
    "angle0": Option(20.0, "degrees", "angle at the impact; at 0 a square lands flat"),
    "restitution": Option(0.5, "-", "Newton's coefficient of the contact points"),
    "friction": Option(0.3, "-", "Coulomb's coefficient"),
    **COMMON,
    "courant": Option(None, "-", "refused: a rigid body has no critical step, give h"),
    "h": Option(1e-4, "s", "time step"),
    "t_end": Option(1e-3, "s", "end time, at least 7 h: the impact is in the sixth step or at its start"),
}
#: Steps of free flight before the impact.
FLIGHT = 5
#: What is compared agrees to this part of its scale.
TOLERANCE = 1e-12
_VELOCITIES = ("vx", "vy", "spin")


def build(p: Values) -> tuple[RigidBody, RigidBodyContact]:
    """The body and the plane y = 0.

    Raises:
        ValueError: Values that describe no body or no contact.
    """
    common.check_finite(p, ("vx0", "vy0", "spin0", "angle0"))
    body = (RigidBody.disc if p["shape"] == "disc" else RigidBody.square)(p["R"], p["rho"])
    options = {name: p[name] for name in ("restitution", "friction", "gap_tolerance")}
    touching = p.get("touching", True)
    return body, RigidBodyContact(body, Plane((0.0, 0.0), (0.0, 1.0)), touching=touching, **options)


class Flight:
    """The body from the start to the impact, and the exact impact.

    Args:
        body, contact, p: The body, the plane y = 0, parameters of the run.
        forecast: Part of the time step that the scheme looks ahead.

    Attributes:
        velocity: Before the impact, shape (3,) [m/s, m/s, rad/s].
        start: Position at t = 0, shape (3,) [m, m, rad].
        arms: Of the contact points at the impact from the centre, shape (p, 2) [m].
        exact: The exact impact.
        speed: Scale of velocities [m/s].

    Raises:
        ValueError: A body that does not hit the plane, or touches it before; a friction for which
            the impact has no unique solution.
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
        before: Velocity before it at the scheme's own time, shape (3,) [m/s, m/s, rad/s].
        after: Velocity after it.
        normal: Its normal component, the sum over the points [N s].
        tangential: The sum of its components along x [N s].
    """

    state_names = (*RunLog.state_names, "time", "before", "after", "normal", "tangential")

    def __init__(self, integrator: Integrator) -> None:
        super().__init__(integrator)
        self.time: float | None = None
        self.before, self.after = integrator.v.copy(), np.zeros(3)
        self.normal = self.tangential = 0.0

    def follow(self, steps: Steps) -> None:
        """Note consecutive steps."""
        super().follow(steps)
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


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started."""
    if p["courant"] is not None:
        raise ValueError("a rigid body has no critical time step: give h, not courant")
    body, contact = build(p)
    positive("h", p["h"], "s")
    if not p["t_end"] > (FLIGHT + 1.4) * p["h"]:
        raise ValueError(f"t_end must be at least {FLIGHT + 2} h: the body flies {FLIGHT} steps before")
    forecast = 0.0 if find_scheme(scheme).explicit else p.get("forecast", 0.0)
    flight = Flight(body, contact, p, forecast)
    integrator = find_scheme(scheme).bind(body, p["h"], contact, p, allow_unstable=allow_unstable)
    integrator.start(flight.start, flight.velocity)
    log = ImpactLog(integrator)

    def judge(result: Result) -> tuple[dict[str, Any], list[Verdict]]:
        results = measure(log, flight, result, p["restitution"])
        return results, verdicts(results, flight, integrator, p)

    return Problem(integrator, p["t_end"], body.rows(), log, judge, body.size)


def measure(log: ImpactLog, flight: Flight, result: Result, e: float) -> dict[str, Any]:
    """The numbers of a run; ``coefficient`` is that of the contact point farthest from e."""
    log.close()
    exact, masses = flight.exact, flight.body.mass
    hit = exact.normal > 0
    coefficients = -flight.normal_velocity(log.after)[hit] / flight.normal_velocity(log.before)[hit]
    worst = int(np.argmax(np.abs(coefficients - e)))
    slips = [float(flight.slip(v)[hit][0]) for v in (log.after, exact.velocity)]
    kinetic = result["kinetic"] + result["complementary"]
    return {
        "balance_residual": log.relative_residual(),
        **dict(zip(_VELOCITIES, log.after)),
        "impulse_n": log.normal,
        "impulse_t": log.tangential,
        **{f"{name}_exact": value for name, value in zip(_VELOCITIES, exact.velocity)},
        "impulse_n_exact": float(np.sum(exact.normal)),
        "impulse_t_exact": exact.tangential,
        "coefficient": float(coefficients[worst]),
        "slip": slips[0],
        "slip_exact": slips[1],
        "sticks": exact.sticks,
        "energy_lost": 0.5 * float(masses @ (log.before**2 - log.after**2)),
        "energy_lost_exact": exact.lost,
        "energy_lost_run": float(kinetic[0] - kinetic[-1]),
        "contact_work": float(result["contact"][-1] - result["dissipated"][-1]),
        "impact_time": log.time,
        "corners": int(np.sum(hit)),
        "contact_phases": log.contact_phases,
    }


def verdicts(results: dict[str, Any], flight: Flight, integrator: Integrator, p: Values) -> list[Verdict]:
    """The closed form and the laws, decided from the run."""
    speed, mass, length = flight.speed, float(flight.body.mass[0]), flight.body.length
    approach = float(np.min(np.abs(flight.normal_velocity(flight.velocity)[flight.exact.normal > 0])))
    manner = "sticks" if results["sticks"] else "slips as it must"
    exact = {name.removesuffix("_exact"): value for name, value in results.items() if name.endswith("_exact")}
    exact |= {"coefficient": p["restitution"], "energy_lost_run": -results["contact_work"]}
    rows = (
        ("vx", "exact velocity along the plane [m/s]", speed),
        ("vy", "exact velocity away from the plane [m/s]", speed),
        ("spin", "exact spin [rad/s]", speed / length),
        ("impulse_n", "exact normal impulse [N s]", mass * speed),
        ("impulse_t", "exact tangential impulse [N s]", mass * speed),
        ("coefficient", "the contact point's -v_n after / v_n before is e", speed / approach),
        ("slip", f"the contact point {manner} (slip velocity after the impact) [m/s]", speed),
        ("energy_lost", "exact loss of energy in the impact [J]", mass * speed**2),
        ("energy_lost_run", "the energy lost in the run is the work of contact [J]", mass * speed**2),
    )
    return [
        balance_verdict(results["balance_residual"], TOLERANCE, integrator.n),
        *(Verdict.equal(words, results[k], exact[k], TOLERANCE * scale) for k, words, scale in rows),
    ]


_ABOUT = (
    "A rigid disc or square hits a plane with spin. The impact with restitution and friction is known in "
    "closed form."
)
RIGID_BODY = Case(PARAMETERS, common.SCHEMES, make, _ABOUT, drawings.rigid_body)

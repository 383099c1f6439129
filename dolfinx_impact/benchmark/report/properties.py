"""Properties of any scheme, of the catalogue or of the user's own: one verdict a property, from runs.

Criteria are bounds from case and step, but for two conventions: second order, and decay of an oscillation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from ..case import defaults as defaults_of
from ..cases import CASES
from ..cases.bouncing_ball import case as bouncing_ball
from ..cases.impacting_bar import case as impacting_bar
from ..convergence import at_times, norm35, order, scatter
from ..runs import FailedRun, Run, Runs
from ..verdict import Verdict

DROPS = np.linspace(0.9, 1.1, 20)  #: Drop heights over which the error with an impact is averaged [m].


class Property(NamedTuple):
    """A property that a scheme has or lacks; its measure takes runs and the name of the scheme."""

    id: str
    name: str  #: Head of its column.
    case: str  #: The case whose runs show it.
    criterion: str
    bound: str  #: The criterion in numbers, with ``{expected}`` and ``{tolerance}`` of the findings.
    measure: Callable[[Runs, str], Verdict]
    unit: str = "-"

    def decide(self, runs: Runs, scheme: str) -> Verdict:
        """The finding, undecided where the scheme does not run the case or a run fails."""
        name = runs.scheme(scheme)
        if ":" not in name and name not in CASES[self.case].schemes:
            return Verdict.undecided(f"{name} does not run {self.case}")
        try:
            return self.measure(runs, scheme)
        except FailedRun as failed:
            return Verdict.undecided(str(failed))


def defaults(case: str, **settings: Any) -> dict[str, Any]:
    """All parameters of a case at their defaults, but for ``settings``."""
    return {**defaults_of(CASES[case].parameters), **settings}


# -- energy and momentum


def impact_energy(runs: Runs, scheme: str, t_end: float = 10.0) -> Verdict:
    """Elastic rebounds against the drop height; a top is seen up to h/2 off, g h^2/8 too low."""
    p = defaults("bouncing-ball")
    heights = runs("bouncing-ball", scheme, restitution=1, t_end=t_end).results["heights"] or [0.0]
    worst = max(abs(height - p["z0"]) for height in heights) / p["z0"]
    limit = p["gravity"] * p["h"] ** 2 / 8 / p["z0"]
    why = f"{len(heights)} rebounds reach {min(heights):.6g} to {max(heights):.6g} m; sampling hides g h^2/8"
    return Verdict.below(why, worst, limit)


def long_energy(runs: Runs, scheme: str, t_end: float = 100.0) -> Verdict:
    """The mechanical energy of the rotating spring after many elastic impacts against that at the start."""
    run = runs("rotating-spring", scheme, t_end=t_end)
    return _kept(run["kinetic"] + run["internal"] + run["complementary"], t_end, "the energy", "J")


def angular_momentum(runs: Runs, scheme: str, t_end: float = 100.0) -> Verdict:
    """The angular momentum in a wall without friction against that at the start."""
    run = runs("rotating-spring", scheme, t_end=t_end)
    x, v = run["u"].T, run["v_t"].T
    spin = defaults("rotating-spring")["m"] * (x[0] * v[1] - x[1] * v[0])
    return _kept(spin, t_end, "the angular momentum", "kg m^2/s")


def _kept(values: NDArray, t_end: float, name: str, unit: str) -> Verdict:
    """The median over the last fifth of a run against the start.

    A second-order scheme without drift differs by parts of (omega h)^2/4, which swing with the motion; the
    median does not see the few samples in an impact, where the energy of central differences says nothing.
    """
    p = defaults("rotating-spring")
    start, late = float(values[0]), float(np.median(values[-max(1, len(values) // 5) :]))
    swing = float(np.abs(values / start - 1).max())
    why = f"{name}: {start:.6g} {unit}, median {late:.6g} in the last fifth of {t_end:g} s, swing {swing:.2g}"
    return Verdict.below(why, late / start - 1, p["k"] / p["m"] * p["h"] ** 2 / 4)


# -- orders

_Steps = tuple[float, ...]


def smooth_order(runs: Runs, scheme: str, steps: _Steps = (2e-2, 1e-2, 5e-3, 2.5e-3)) -> Verdict:
    """The rotating spring far from its wall: a nonlinear force that depends on the position alone."""
    p = defaults("rotating-spring")

    def motion(t: float, y: NDArray) -> NDArray:
        pull = -p["k"] / p["m"] * (1 - p["l0"] / math.hypot(y[0], y[1]))
        return np.array([y[2], y[3], pull * y[0], pull * y[1]])

    # A wall that a spring stretched by all of the energy does not reach.
    made = [runs("rotating-spring", scheme, h=h, t_end=2.0, radius=100.0) for h in steps]
    return _order_of(made, steps, motion, [p["x0"], p["y0"], p["vx0"], p["vy0"]])


def damped_order(runs: Runs, scheme: str, steps: _Steps = (4e-3, 2e-3, 1e-3, 5e-4)) -> Verdict:
    """The Van der Pol oscillator without its wall: a force that depends on the velocity too."""
    p = defaults("van-der-pol")

    def motion(t: float, y: NDArray) -> NDArray:
        feed = p["xi"] * p["omega0"] * (1 - (y[0] / p["X0"]) ** 2)
        return np.array([y[1], feed * y[1] - p["omega0"] ** 2 * y[0]])

    made = [runs("van-der-pol", scheme, h=h, t_end=2.0, wall="none") for h in steps]
    return _order_of(made, steps, motion, [p["x0"], p["v0"]])


def _order_of(made: Sequence[Run], steps: _Steps, motion: Callable, start: list[float]) -> Verdict:
    """Second order of the position in norm (35), reference with 12 digits; ``motion`` is y'(t, y)."""
    times = made[0]["t"]
    reference = solve_ivp(motion, (0.0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-12).y.T
    true = reference[:, : len(start) // 2]
    errors = [norm35(at_times(run["t"], run["u"], times), true) for run in made]
    # Halving from so small steps on, the next order in h changes a slope by less than that.
    return _at_least(2.0, 0.1, steps, errors)


def impact_order(
    runs: Runs, scheme: str, steps: _Steps = (1e-2, 5e-3, 2.5e-3, 1.25e-3), drops: NDArray = DROPS
) -> Verdict:
    """The ball over its first impact, errors averaged over drop heights.

    An impact is seen up to a step late: the tolerance is twice the scatter of the slope.
    """
    p, errors = defaults("bouncing-ball"), np.zeros((len(steps), len(drops)))
    for j, z0 in enumerate(map(float, drops)):
        made = [runs("bouncing-ball", scheme, h=h, z0=z0, t_end=1.0) for h in steps]
        times = made[0]["t"]
        true = bouncing_ball.exact({**p, "z0": z0}).position(times)
        errors[:, j] = [norm35(at_times(run["t"], run["u"], times), true) for run in made]
    return _at_least(1.0, 2 * scatter(steps, len(drops)), steps, errors.mean(axis=1))


def _at_least(expected: float, tolerance: float, steps: _Steps, errors: Any) -> Verdict:
    why = f"errors {errors[0]:.2e} to {errors[-1]:.2e} in norm (35) from h = {steps[0]:g} to {steps[-1]:g} s"
    return Verdict.of(">=", why, order(steps, errors), expected, tolerance)


# -- contact


def oscillation(runs: Runs, scheme: str, t_end: float = 2e-3) -> Verdict:
    """The contact node of the bar in free flight, where every point should have one velocity.

    Without damping the modes only change their phases, and the deviation stays: the undamped schemes of
    the catalogue come to 1.01 to 1.03. Damped ones (Moreau-Jean with theta 0.55, Tchamwa-Wielgosz) come
    to 0.45 to 0.6, since waves long against the elements stay. The limit lies between, by convention.
    """
    p = defaults("impacting-bar")
    run = runs("impacting-bar", scheme, t_end=t_end)
    v = run["v_t"][run["t"] > _released(p), 0]
    first, last = (float(np.std(part)) / p["v0"] for part in np.array_split(v, 4)[::3])
    early = float(np.std(run["v_t"][(run["t"] > _released(p)) & (run["t"] <= 3e-4), 0])) / p["v0"]
    why = f"deviation {first:.3g} v0 in the first, {last:.3g} v0 in the last quarter; {early:.3g} in 1.5e-4 s"
    return Verdict.below(why, last / first if first > 0 else 0.0, 0.75)


def _released(p: Mapping[str, Any]) -> float:
    """When the contact has ended; the release itself takes the transit of a few elements [s]."""
    bar = impacting_bar.exact(p)
    return bar.contact_end + 5 * p["length"] / p["elements"] / bar.wave_speed


def accumulation(runs: Runs, scheme: str) -> Verdict:
    """The ball past infinitely many impacts in finite time."""
    p, results = defaults("bouncing-ball"), runs("bouncing-ball", scheme).results
    ball, rest = bouncing_ball.exact(p), results["rest_time"]
    limit = bouncing_ball.rest_tolerance(ball, p["h"])
    seen = f"{results['impacts']} phases of contact; the impacts accumulate at {ball.t_final:.4g} s"
    if rest is None:
        why = f"it does not rest by the end, after {seen}"
        return Verdict(why, p["t_end"], ball.t_final, limit, False, "=")
    return Verdict.equal(f"it rests from {rest:.4g} s on, after {seen}", rest, ball.t_final, limit)


def mass_scaling(runs: Runs, scheme: str, masses: tuple[float, ...] = (1.0, 2.0)) -> Verdict:
    """Where the arch ends does not depend on a mass that was chosen for the sake of the step."""
    made = [runs("discrete-arch", scheme, m=m) for m in masses]
    nodes = [run.results["active_nodes"] for run in made]
    # A node is stopped by the first step that finds it below the floor.
    depth = max(-float(run["v"][:, 1::2].min()) * run.results["h"] for run in made)
    worst = max(run.results["static_distance"] for run in made)
    why = f"distance from statics, at most h v of an impact; the nodes {nodes} touch at the end"
    return Verdict.below(why, worst, depth).only_if(bool(nodes[0]) and nodes.count(nodes[0]) == len(nodes))


_AT_MOST, _AT_LEAST = "at most {tolerance}", "at least {expected} - {tolerance}"
_CHANGE, _BALL, _SPRING = "off by at most {tolerance}", "bouncing-ball", "rotating-spring"

PROPERTIES: tuple[Property, ...] = (
    Property("impact-energy", "energy at impact", _BALL,
             "elastic rebounds reach the drop height (largest relative deviation over 10 s)",
             _AT_MOST, impact_energy),
    Property("long-run-energy", "long-run energy", _SPRING,
             "the energy is kept over 100 s of elastic impacts (relative change)", _CHANGE, long_energy),
    Property("angular-momentum", "angular momentum", _SPRING,
             "the angular momentum is kept over 100 s without friction (relative change)",
             _CHANGE, angular_momentum),
    Property("smooth-order", "order, smooth", _SPRING,
             "second order in the position without impact, norm (35)", _AT_LEAST, smooth_order),
    Property("damped-order", "order, damped", "van-der-pol",
             "second order where the force depends on the velocity, norm (35)", _AT_LEAST, damped_order),
    Property("impact-order", "order, impact", _BALL,
             "first order over an impact, mean of 20 drop heights, norm (35)", _AT_LEAST, impact_order),
    Property("oscillation", "oscillation", "impacting-bar",
             "the oscillation of the released contact node decays (deviation, last over first quarter)",
             _AT_MOST, oscillation),
    Property("accumulation", "accumulation", _BALL,
             "the ball rests from the accumulation point of its impacts on",
             "{expected} +- {tolerance}", accumulation, "s"),
    Property("mass-scaling", "mass scaling", "discrete-arch",
             "the arch ends on the same nodes and in statics with twice the mass (distance)",
             _AT_MOST, mass_scaling, "m"),
)  # fmt: skip

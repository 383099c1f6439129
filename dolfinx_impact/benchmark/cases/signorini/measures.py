"""What the claims of Doyen, Ern and Piperno (2011), Sects. 2 to 4, measure, and the verdicts they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ....contact.base import Contact
from ....integrators import Integrator
from ....integrators.contact_laws import PositionLevel
from ....integrators.theta_method import ThetaMethod
from ....systems.system import System
from ... import runner
from ...claim import Claim
from ...runs import FailedRun, Run, Runs
from ...verdict import Verdict
from . import case as signorini

DOYEN = "Doyen, Ern, Piperno, SIAM J. Sci. Comput. 33 (2011)"
IMPACT, BOUNCES = "signorini-impact", "signorini-bounces"
BAR, BOUNCING = (
    signorini.exact({name: option.default for name, option in case.parameters.items()})
    for case in (signorini.SIGNORINI_IMPACT, signorini.SIGNORINI_BOUNCES)
)
#: Elements, force of the continuous bar [N], speed of every impact [m/s], energy before the impact [J].
N, FORCE, SPEED = 100, BAR.E * BAR.v0 / BAR.wave_speed, BAR.impact_speed
ENERGY = BAR.rho * BAR.length * SPEED**2 / 2
#: A force oscillates at large above this part of FORCE; what the mesh leaves behind the front is below 1 %.
LARGE = 0.1
#: Energy counts as lost above that of one element, which the mesh cannot resolve.
LOST = 1 / N
CORRECTED = f"{__name__}:VelocityUpdate"
HHT: dict[str, Any] = {"alpha": -0.2}
THETAS = (0.6, 0.75, 1.0)
PLACES = "nine places of the impact in its step"
_Judge = TypeVar("_Judge", bound=Callable[..., Verdict])


class Claims(list[Claim]):
    """The claims of a module, in the order in which it enters them."""

    def says(
        self, name: str, where: str, claim: str, case: str = IMPACT, **fixed: Any
    ) -> Callable[[_Judge], _Judge]:
        """Enters a claim that the decorated function judges, with further arguments of the latter."""

        def enter(judge: _Judge) -> _Judge:
            self.append(Claim(f"doyen-{name}", case, DOYEN, where, claim, partial(judge, **fixed)))
            return judge

        return enter


class VelocityUpdate(ThetaMethod):
    """4.4 with the velocity update of Laursen and Love (2002): what contact took is given back.

    A normal velocity of the point, ``v += w M^-1 L^T``, away from the obstacle, restores the energy of the
    step, ``w L v + w^2 L M^-1 L^T / 2 = -r' . dg``. For one point.
    """

    explicit = False

    def __init__(self, system: System, dt: float, contact: Contact | None = None) -> None:
        super().__init__(system, dt, PositionLevel(contact), theta=0.5, mass="consistent")
        self._unit = np.zeros(system.size)
        pull = np.zeros(system.size)
        assert contact is not None
        contact.L.add_transpose(np.ones(1), pull)
        system.implicit_solver(0.0, self.mass).solve(pull, self._unit)

    def advance(self) -> None:
        """One step."""
        super().advance()
        assert self.contact is not None
        rows = self.contact.L
        lost = -float(self.r @ rows(self.u - self.u_before)) / self.dt
        if lost > 0:
            speed, answer = float(rows(self.v)[0]), float(rows(self._unit)[0])
            self.v += self._unit * (np.sqrt(speed**2 + 2 * answer * lost) - speed) / answer


# -- what is measured


def phases(runs: Runs, scheme: str, case: str = IMPACT, count: int = 9, **settings: Any) -> list[Run]:
    """Runs whose first impact comes at different parts of a step."""
    first = runs(case, scheme, **settings)
    way = SPEED * first.results["h"]
    return [first] + [runs(case, scheme, h0=BAR.h0 + k / count * way, **settings) for k in range(1, count)]


def of(found: Sequence[Run], name: str) -> NDArray:
    """A result of each run."""
    return np.array([run.results[name] for run in found], dtype=np.float64)


def bounces(runs: Runs, scheme: str, places: int = 2, **settings: Any) -> list[Run]:
    """Four periods; the first impact at some parts of a step, the later ones wherever they come."""
    return phases(runs, scheme, BOUNCES, places, **settings)


def force(run: Run) -> NDArray:
    """Contact force at every step [N]."""
    return run["r"][:, 0] / run.results["h"]


def first_contact(run: Run) -> int:
    """The first step with a force."""
    return int(np.flatnonzero(force(run) > signorini.NO_FORCE * FORCE)[0])


def in_contact(run: Run) -> NDArray:
    """Samples of the exact contact phase, less 0.1 s at both ends."""
    return (run["t"] > BAR.contact_start + 0.1) & (run["t"] < BAR.contact_end - 0.1)


def ripple(found: Sequence[Run]) -> NDArray:
    """RMS deviation of the contact force from the exact one, over the latter, away from its ends."""
    return of(found, "force_oscillation") / FORCE


def late_error(run: Run) -> float:
    """Mean error of the bottom in the fourth period over that of a bar resting at its mean height."""
    late = run["t"] > 3 * BOUNCING.period
    true = BOUNCING.displacement(0.0, run["t"][late])
    return float(np.mean(np.abs(run["u"][late, 0] - true)) / np.mean(np.abs(true - true.mean())))


def balance_miss(run: Run, mean: bool, quasi: bool = False) -> float:
    """Largest defect in a step of ``E' - E - F.du = f.dg``, over the largest energy.

    Args:
        run: The run.
        mean: Whether f is ``(r' + r)/2``; else ``r'``.
        quasi: Whether E is the quadratic form of (16).
    """
    stored = run["kinetic"] + run["internal"] + (run["complementary"] if quasi else 0.0)
    r, external = force(run), run["external"]
    f = (r[1:] + r[:-1]) / 2 if mean else r[1:]
    miss = np.diff(stored) - np.diff(external) - f * np.diff(run["gap"][:, 0])
    return float(np.max(np.abs(miss)) / stored.max())


def made(runs: Runs, scheme: str, unstable: bool = False, **settings: Any) -> Integrator:
    """The scheme that stands for ``scheme``, with the bar of the impact, to be started."""
    runs(IMPACT, scheme)  # tells schemes that were left out or do not run
    name = runs.scheme(scheme)
    chosen = runner.find(IMPACT, name)
    known = runner.options_of(chosen, name)
    given = [f"{key}={value}" for key, value in settings.items() if key in known]
    try:
        return chosen.make(name, runner.parse(chosen, name, given), unstable).integrator
    except ValueError as error:
        raise FailedRun(str(error)) from None


@dataclass
class Flight:
    """A free bar that vibrates.

    Attributes:
        amplitude: Of the mode at every step [m].
        energy, quasi: ``E - F.u`` and the quadratic form of (16) less F.u, at every step [J].
        omega: Frequency of the mode of this mesh [1/s].
        h: Step [s].
    """

    amplitude: NDArray
    energy: NDArray
    quasi: NDArray
    omega: float
    h: float


def fly(
    runs: Runs,
    scheme: str,
    mode: int | None,
    courant: float,
    steps: int,
    unstable: bool = False,
    **settings: Any,
) -> Flight:
    """A bar far above the ground, let go in a mode of its mesh, or with all of them (None)."""
    settings = {"g0": BOUNCING.g0, "h": courant * BAR.length / N / BAR.wave_speed, **settings}
    s: Any = made(runs, scheme, unstable, **settings)
    x, weights, bottom = s.body.x[:, 0], s.system.mass, 1e3
    turn = np.pi * (mode or 1) / N
    shape = np.cos(turn * np.round(x * N / BAR.length))
    rough = np.sin(1.0 + 7.0 * np.arange(x.size) ** 2)
    s.start(bottom + (rough if mode is None else shape), 0.0)
    balance, rows = s.balance(), []
    balance.start()
    for n in range(steps + 1):
        with np.errstate(all="ignore"):
            if n:
                s.step()
                balance.step()
        way = -settings["g0"] * s.t**2 / 2
        part = float((s.u - bottom - way) * weights @ shape / (shape**2 @ weights))
        kept = balance.kinetic + balance.internal - balance.external
        rows.append((part, kept, kept + balance.complementary))
    squared = 2 * (1 - np.cos(turn)) * (1.0 if s.mass == "lumped" else 3 / (2 + np.cos(turn)))
    # Far from overflow, also in ratios.
    big = 1e100
    amplitude, energy, quasi = np.clip(np.nan_to_num(np.array(rows), nan=big), -big, big).T
    return Flight(amplitude, energy, quasi, float(np.sqrt(squared)) * courant / s.dt, s.dt)


def loss(flight: Flight) -> float:
    """Part of the energy that is lost."""
    return float(1 - flight.energy[-1] / flight.energy[0])


def largest_courant(runs: Runs, scheme: str, height: float) -> float:
    """Largest stable Courant number, by bisection; the bar starts at a height [m] with the impact speed."""
    stable, other = 0.1, 1.2
    while other - stable > 0.004:
        nu = (stable + other) / 2
        h = nu * BAR.length / N / BAR.wave_speed
        s = made(runs, scheme, unstable=True, h=h)
        shape = 1e-3 * np.sin(7.0 * np.arange(s.system.size) ** 2)
        s.start(height + shape, -SPEED, allow_penetration=True)
        with np.errstate(all="ignore"):
            for _ in range(250):
                s.step()
        fast = float(np.max(np.abs(np.nan_to_num(s.v, nan=np.inf))))
        # The shock alone moves no node faster than a few times the impact.
        stable, other = (nu, other) if fast < 10 * SPEED else (stable, nu)
    return stable


# -- what several schemes are judged by


def oscillates(runs: Runs, scheme: str) -> Verdict:
    """Decides ``doyen-4.1-force``, ``doyen-4.4-force``."""
    found = ripple(phases(runs, scheme))
    why = (
        f"RMS oscillation of the contact force over the exact one, mean of {PLACES} ({found.min():.2f} to "
        f"{found.max():.2f}); limit: a tenth, ten times the ripple that the mesh leaves"
    )
    return Verdict.above(why, float(found.mean()), LARGE)


def is_quiet(runs: Runs, scheme: str, settings: dict[str, Any] | None = None) -> Verdict:
    """Decides ``doyen-4.1-hht-damped``, ``doyen-4.2-damped-0.6`` and their like."""
    found, newmark = ripple(phases(runs, scheme, **(settings or {}))), ripple(phases(runs, "dep-4.1"))
    why = (
        f"RMS oscillation of the contact force over the exact one, largest of {PLACES}; limit: a tenth of "
        f"the least with 4.1, {newmark.min():.2f} to {newmark.max():.2f}"
    )
    return Verdict.below(why, float(found.max()), LARGE * float(newmark.min()))


def poor(runs: Runs, scheme: str) -> Verdict:
    """Decides ``doyen-4.6-long-time``, ``doyen-4.4-long-time`` and their like."""
    found, good = bounces(runs, scheme), late_error(bounces(runs, "dep-7.2")[0])
    changes = of(found, "energy_change_4")
    why = (
        "mean error of the bottom in the fourth period over that of a bar resting at its mean height, mean "
        f"of two runs whose impacts fall at all parts of a step; limit: 1. Energy changes by "
        f"{changes.min():+.2%} to {changes.max():+.2%}; with 7.2 the error is {good:.2f}"
    )
    return Verdict.above(why, float(np.mean([late_error(run) for run in found])), 1.0)


def poor_energy(runs: Runs, scheme: str, growing: bool = False, places: int = 2, **settings: Any) -> Verdict:
    """Decides ``doyen-4.1-energy``, ``doyen-4.1-hht-energy`` and their like."""
    changes = of(bounces(runs, scheme, places, **settings), "energy_change_4")
    why = (
        f"energy gained or lost in four periods over the initial one, mean of {places} run(s) whose impacts "
        f"fall at all parts of a step ({changes.min():+.2%} to {changes.max():+.2%}); limit: that of one "
        f"element. Eight contact nodes stopped lose {8 / (2 * N):.0%}; -100% and less: it lies on the ground"
    )
    return Verdict.above(why, float(changes.mean()) * (1 if growing else -1), LOST)


def balance_holds(runs: Runs, scheme: str, **form: bool) -> Verdict:
    """Decides ``doyen-4.1-balance``, ``doyen-4.4-balance`` and their like."""
    found = [*phases(runs, scheme), runs(BOUNCES, scheme, t_end=4.0)]
    why = f"largest defect in a step over the largest energy, {PLACES}, and bounces; limit: rounding"
    return Verdict.below(why, max(balance_miss(run, **form) for run in found), 1e-11)


def stability(runs: Runs, height: float, scheme: str) -> Verdict:
    """Decides ``doyen-2.3-central-stable``, ``doyen-4.7-stable``."""
    found = largest_courant(runs, scheme, height)
    why = (
        "largest Courant number with bounded velocities after 250 steps, bisected to 0.004; tolerance: "
        "growth nearer to the limit takes longer than that"
    )
    return Verdict.equal(why, found, 1.0, 0.01)

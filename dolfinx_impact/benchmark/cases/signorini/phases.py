"""What the claims on penalty, contact in velocity and modified mass measure, at phases of the impact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ....integrators import Integrator, find_scheme
from ... import runner
from ...claim import Claim
from ...runs import FailedRun, Run, Runs
from ...verdict import Verdict
from .case import EXPLICIT_STEP, IMPLICIT_STEP, SIGNORINI_IMPACT, exact

DOYEN = "Doyen, Ern, Piperno, SIAM J. Sci. Comput. 33 (2011)"
IMPACT, BOUNCES = "signorini-impact", "signorini-bounces"
BAR = exact({name: option.default for name, option in SIGNORINI_IMPACT.parameters.items()})
ENERGY = BAR.rho * BAR.length * BAR.v0**2 / 2
#: Of the contact pressure during the impact, and of the stress at the front after it.
JUMP = BAR.E * BAR.v0 / BAR.wave_speed
#: Where in a step the bar touches: parts of a step, for one impact and for the longer bounces.
PARTS, FEW = tuple(k / 9 for k in range(9)), (0.0, 3 / 9, 6 / 9)
PLACES = "nine phases of the impact (h0 + k/9 v0 dt)"
FEW_PLACES = "three phases of the impact (dt shortened, so that it falls 0, 3/9, 6/9 into a step)"
#: Rounding of an energy over the initial one.
ROUNDING = 1e-11
#: Width at which the bisection ends. Just above the limit, 1 + d, a mode grows by 1 + 2 sqrt(2 d) a step:
#: e^10 in the 200 steps of contact takes d = 3e-4.
WIDTH = 1e-3
_Judge = TypeVar("_Judge", bound=Callable[..., Verdict])


class Register(list[Claim]):
    """Claims in the order in which they are entered."""

    def __call__(self, name: str, where: str, claim: str, case: str = IMPACT) -> Callable[[_Judge], _Judge]:
        """Enters a claim that the decorated function judges."""

        def enter(judge: _Judge) -> _Judge:
            self.append(Claim(f"doyen-{name}", case, DOYEN, where, claim, judge))
            return judge

        return enter


def step_of(runs: Runs, scheme: str) -> float:
    """Time step of the cases for the scheme [s]."""
    return EXPLICIT_STEP if find_scheme(runs.scheme(scheme)).explicit else IMPLICIT_STEP


def chosen(runs: Runs, scheme: str) -> str:
    """What stands for a scheme that is stepped here, once it is known to be chosen and to run."""
    runs(IMPACT, scheme)
    return runs.scheme(scheme)


def impacts(
    runs: Runs, scheme: str, parts: Sequence[float] | None = None, h: float | None = None, **settings: Any
) -> list[Run]:
    """One impact at different parts of a step."""
    if h is not None:
        settings["h"] = h
    way = (h or step_of(runs, scheme)) * BAR.v0
    return [runs(IMPACT, scheme, h0=BAR.h0 + part * way, **settings) for part in parts or PARTS]


def bounces(runs: Runs, scheme: str) -> list[Run]:
    """Bounces whose first impact, at 1 s, falls at different parts of a step; the solution stays periodic."""
    steps = round(1 / step_of(runs, scheme))
    return [runs(BOUNCES, scheme, **({"h": 1 / (steps + part)} if part else {})) for part in FEW]


def numbers(found: Sequence[Run], name: str) -> NDArray:
    """A result of several runs."""
    return np.array([run.results[name] for run in found], dtype=float)


def span(values: NDArray) -> str:
    """Their range, for a `why`."""
    return f"{values.min():.3g} to {values.max():.3g}"


def oscillation(runs: Runs, scheme: str, **settings: Any) -> NDArray:
    """Standard deviation of the contact pressure from the exact one, over the latter, at all phases."""
    return numbers(impacts(runs, scheme, **settings), "force_oscillation") / JUMP


def kept(run: Run) -> NDArray:
    """``E - F.u`` of the scheme less that at the start, over the energy of the impact, at all samples."""
    terms = [run[name] for name in ("kinetic", "complementary", "internal")]
    energy = np.sum(terms, axis=0) - run["external"]
    return (energy - energy[0]) / ENERGY


def _made(scheme: str, allow_unstable: bool = False, name: str = IMPACT, **settings: Any) -> Integrator:
    """A case with a scheme, started; settings that it does not know are left out."""
    case = runner.find(name, scheme)
    known = runner.options_of(case, scheme)
    values = runner.parse(case, scheme, [f"{k}={v}" for k, v in settings.items() if k in known])
    return case.make(scheme, values, allow_unstable).integrator


def _stable(scheme: str, courant: float, elements: int, **settings: Any) -> bool:
    """Whether the kinetic energy never exceeds twice the initial one, at three phases of the impact."""
    for part in FEW:
        h = courant * BAR.length / elements / BAR.wave_speed
        h0 = BAR.h0 + part * h * BAR.v0
        made = _made(scheme, True, courant=courant, elements=elements, h0=h0, **settings)
        mass = made.system.mass
        while made.t < BAR.contact_end + BAR.transit:
            made.step()
            if made.n % 10 == 0 and not 0.5 * (mass @ made.v**2) <= 2 * ENERGY:
                return False
    return True


def _settles(scheme: str, courant: float, eps: float) -> bool:
    """Whether a small disturbance of the bar that rests on a spring stays small for 500 steps."""
    made = _made(scheme, True, BOUNCES, courant=courant, h0=0.0, eps=eps)
    height, g0 = made.body.x[:, 0], 10.0  # type: ignore[attr-defined]
    sag = g0 / (2 * BAR.wave_speed**2) * height * (height - 2 * BAR.length)
    rest = sag - g0 * BAR.rho * BAR.length * eps
    made.start(rest, 1e-9 * np.cos(np.arange(height.size)), allow_penetration=True)
    for _ in range(500):
        made.step()
    # Close to the limit a mode swells, by 1/sqrt(2 d) at most, d = WIDTH / 2 here.
    return bool(np.abs(made.v).max() < 1e-6)


def _bisected(stable: Callable[[float], bool]) -> float:
    """The largest Courant number up to 1.2 that is stable, to :data:`WIDTH`."""
    low, high = 0.0, 1.2
    while high - low > WIDTH:
        middle = (low + high) / 2
        try:
            settled = stable(middle)
        except (ValueError, RuntimeError):
            # A class of its own may refuse the step.
            settled = False
        low, high = (middle, high) if settled else (low, middle)
    return (low + high) / 2


@cache
def resting_courant(scheme: str, eps: float) -> float:
    """Largest stable Courant number of a bar in lasting contact."""
    return _bisected(lambda courant: _settles(scheme, courant, eps))


@cache
def largest_courant(scheme: str, elements: int = 100, **settings: float) -> float:
    """Largest stable Courant number of an impact."""
    return _bisected(lambda courant: _stable(scheme, courant, elements, **settings))


def closed_form(eps: float, elements: int = 100) -> float:
    """Largest Courant number of a long lattice on a spring ``1/eps``; its end mode: (-q)^j, 1/q - q = 2k."""
    k = BAR.length / elements / (eps * BAR.E)
    return float(np.sqrt(2 / (1 + np.sqrt(1 + k**2))))


@cache
def stress(scheme: str, h: float, t: float = 1.0, **settings: Any) -> NDArray:
    """Stress in the elements from the bottom to the top at a time [Pa]."""
    try:
        made = _made(scheme, h=h, **settings)
        while made.t < t - h / 2:
            made.step()
    except (ValueError, RuntimeError) as error:
        raise FailedRun(runner.describe(error)) from None
    x = made.body.x[:, 0]  # type: ignore[attr-defined]
    upwards = np.argsort(x)
    return BAR.E * np.diff(made.u[: x.size][upwards]) / np.diff(x[upwards])


def overshoots(sigma: NDArray, jump: float = JUMP) -> tuple[float, float]:
    """Beyond the exact 0 behind the front on its way down, and beyond -E v0/c before it, over that jump."""
    return float(sigma.max()) / jump, float(-sigma.min()) / jump - 1


def ripples(sigma: NDArray) -> float:
    """Total variation of the stress beyond that of a monotone front, over the jump."""
    return float(np.abs(np.diff(sigma)).sum()) / JUMP - 1


def linear_limit(runs: Runs, scheme: str) -> Verdict:
    """Whether a scheme is as stable in an impact as central differences are without contact."""
    found, free = largest_courant(chosen(runs, scheme)), 1.0
    why = (
        "largest stable Courant number by bisection, against that of central differences without contact, "
        f"1; the kinetic energy must not double, at {len(FEW)} phases of the impact; tolerance: the "
        "bisection's width"
    )
    return Verdict.equal(why, found, free, WIDTH)

"""What solids must keep: momenta and energy, the solution in a turned frame, the orders of convergence."""

from __future__ import annotations

import math

import numpy as np

from ...claim import Claim
from ...convergence import order
from ...runs import Runs
from ...verdict import Verdict, also
from . import free_flight, oblique_bar, spinning, wave_block
from .measures import (
    BOTH,
    CD,
    CONSERVED,
    DEGREES,
    DISC,
    FLIGHT,
    INVARIANCE,
    LAME,
    MJ,
    OBLIQUE,
    RING,
    ROUNDING,
    WAVE,
    Register,
    number,
    shown,
)

_says = Register()
#: Pairs of angles by which the bar is turned [degrees]; the first is the default.
TURNS = ((30.0, 50.0), (90.0, 0.0), (-17.0, 200.0))
#: Steps over the critical one, halved, whose stored energies are compared.
_HALVED = (0.5, 0.25, 0.125)


def _kept(runs: Runs, scheme: str, name: str, case: str, limit: float, words: str) -> Verdict:
    r = runs(case, scheme).results
    why = (
        f"{words}; limit {limit:g}. Contact takes {-r['contact_work']:.1%} of the energy, in "
        f"{r['contact_phases']} phases"
    )
    if name == "angular_momentum_defect" and r[name] > limit:
        why += (
            f". The moments of the impulses explain it, but for {r['moment_defect']:.1g}: they act in the "
            "middle of the step, but point to the axis from where the gap is looked at"
        )
    met = r["contact_phases"] > 0 and r["contact_work"] < 0
    return also(met, Verdict.below(why, r[name], limit))


def _stored(runs: Runs, scheme: str, case: str) -> Verdict:
    found = [runs(case, scheme, courant=courant).results for courant in _HALVED]
    defects = [abs(r["stored_energy_defect"]) for r in found]
    why = (
        "order in the step of what kinetic and stored energy have changed more than the work of contact, "
        f"{shown(defects)} of the energy at courant {shown(_HALVED)}, where contact takes "
        f"{-found[-1]['contact_work']:.3g}; tolerance 0.3. Forces at the ends of a step do the work of the "
        "stored energy up to terms in its square"
    )
    return Verdict.equal(why, order([r["h"] for r in found], np.maximum(defects, 1e-16)), 2.0, 0.3)


_LINEAR = (
    "The momentum changes by the impulses",
    "largest difference, of all steps, of the change of "
    "momentum and the sum of the impulses, over m (|v0| + R |spin0|)",
)
_MOMENT = (
    "The angular momentum changes by the moments of the impulses where they act",
    "largest difference, of all steps, of the change of angular momentum and the sum of the moments of the "
    "impulses, over m R (|v0| + R |spin0|)",
)
_ANGULAR = (
    "The angular momentum about the axis of the wall is constant",
    "largest change, of all steps, over m R (|v0| + R |spin0|)",
)
_ENERGY = (
    "The energy decreases by the work of contact",
    "largest difference, of all steps, of the change of kinetic energy, with the work of the internal "
    "forces, and the work of contact, over the energy at the start",
)

for _case, _where, _angular in ((DISC, "friction 0.3", _MOMENT), (RING, "no friction", _ANGULAR)):
    for _name, (_result, _limit, (_claim, _words)) in {
        "momentum": ("linear_momentum_defect", spinning.TOLERANCE, _LINEAR),
        "angular-momentum": ("angular_momentum_defect", spinning.TOLERANCE, _angular),
        "energy": ("energy_defect", ROUNDING, _ENERGY),
    }.items():
        _says(
            _case,
            _name,
            CONSERVED,
            _where,
            _claim,
            _kept,
            BOTH,
            name=_result,
            case=_case,
            limit=_limit,
            words=_words,
        )
    _says(
        _case,
        "stored-energy",
        CONSERVED,
        f"{_where}, courant {shown(_HALVED)}",
        "Kinetic and stored energy decrease by the work of contact, up to the square of the step",
        _stored,
        (CD,),
        case=_case,
    )
_says(
    RING,
    "moments",
    CONSERVED,
    "no friction",
    _MOMENT[0],
    _kept,
    BOTH,
    name="moment_defect",
    case=RING,
    limit=spinning.TOLERANCE,
    words=_MOMENT[1],
)


def _flight(runs: Runs, scheme: str, name: str, limit: float, words: str) -> Verdict:
    run = runs(FLIGHT, scheme)
    r, steps = run.results, run.summary["steps"]
    found = number(run, name, f"a conserved energy of {scheme} is not known")
    if name.endswith("momentum_defect"):
        limit *= max(1.0, math.sqrt(steps / 1e4))
    why = f"{words}, {steps} steps, {r['turns']:.3g} turns; limit {limit:.2g}"
    if name == "energy_defect":
        why += f". It swings by {r['energy_swing']:.2g}"
    elif scheme == MJ:
        why += (
            f". The mean of its energy over a tenth of the steps drifts by {r['energy_defect']:.2g}: the "
            "midpoint rule does not keep that of a nonlinear body"
        )
    return Verdict.below(why, found, limit)


_DRIFTS = "over the last less that over the first tenth of the steps, relative"
for _name, _result, _limit, _schemes, _claim, _words in (
    (
        "momentum",
        "linear_momentum_defect",
        free_flight.MOMENTUM,
        BOTH,
        "The momentum is kept to rounding",
        "largest change of the momentum over sqrt(2 m T)",
    ),
    (
        "angular-momentum",
        "angular_momentum_defect",
        free_flight.MOMENTUM,
        BOTH,
        "The angular momentum is kept to rounding",
        "largest relative change of the angular momentum",
    ),
    (
        "energy",
        "energy_defect",
        free_flight.DRIFT,
        (CD,),
        "The discrete energy does not drift",
        f"its mean {_DRIFTS}",
    ),
    (
        "conserved-energy",
        "conserved_energy_defect",
        free_flight.CONSERVED,
        (CD,),
        "The energy with its correction in h^2, which is kept to terms in h^4, does not drift",
        f"its mean {_DRIFTS}",
    ),
):
    _says(
        FLIGHT,
        _name,
        CONSERVED,
        "default run",
        _claim,
        _flight,
        _schemes,
        name=_result,
        limit=_limit,
        words=_words,
    )


def _turned(runs: Runs, scheme: str) -> Verdict:
    found = [runs(OBLIQUE, scheme, angle1=a, angle2=b).results for a, b in TURNS]
    off = [r["difference"] for r in found]
    why = (
        "largest difference of displacements, velocities and impulses from the turned ones of the bar that "
        f"was not turned, over the largest of them: {shown(off)} with angles "
        f"{', '.join(f'({a:g}, {b:g})' for a, b in TURNS)}; limit {oblique_bar.SAME:g}"
    )
    return also(all(r["impulse_sum"] > 0 for r in found), Verdict.below(why, max(off), oblique_bar.SAME))


_says(
    OBLIQUE,
    "turned",
    INVARIANCE,
    "three pairs of angles",
    "Bar, wall and velocity turned give the solution turned",
    _turned,
)


def _order_in_space(runs: Runs, scheme: str, degree: int) -> Verdict:
    run, tolerance = runs(WAVE, scheme, degree=degree), wave_block.TOLERANCE_SPACE
    n = run.summary["parameters"]["elements"]
    why = (
        f"order of the L2 error of the displacement after a period, {n} to {2 * n} elements a side, against "
        f"what the scheme makes of an oscillator of the mode's frequency; tolerance {tolerance:g}"
    )
    return Verdict.equal(why, number(run, "order_space", "the step is unstable"), degree + 1, tolerance)


def _order_in_time(runs: Runs, scheme: str) -> Verdict:
    found = [
        number(runs(WAVE, scheme, degree=degree), "order_time", "the step is unstable") for degree in DEGREES
    ]
    why = (
        f"order in the step of the mode's amplitude after 9/8 of a period, {shown(found, '.4f')} with "
        f"elements of degree 1, 2, 3; the one farthest from 2; tolerance {wave_block.TOLERANCE_TIME:g}"
    )
    return Verdict.equal(why, max(found, key=lambda x: abs(x - 2)), 2.0, wave_block.TOLERANCE_TIME)


for _degree in DEGREES:
    _says(
        WAVE,
        f"space-{_degree}",
        LAME,
        f"GLL elements of degree {_degree}",
        f"Elements of degree {_degree} have order {_degree + 1} in space",
        _order_in_space,
        degree=_degree,
    )
_says(
    WAVE, "time", LAME, "GLL elements of degrees 1, 2, 3", "The scheme has order two in time", _order_in_time
)

CLAIMS: tuple[Claim, ...] = tuple(_says)

"""Spheres on plates and rods beside Zener's theory: restitution, force and time by waves alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import brentq

from ....exact.zener import ZenerImpact
from ...claim import FailedRun, Measured, Run, Runs, above, below, equal, table
from ...convergence import order
from ..solids.claims import CD, MJ, known, number
from . import sphere_plate, sphere_rod
from .sphere_impact import WORDS

PLATE, ROD = "sphere-plate", "sphere-rod"
ZENER = "Zener, Phys. Rev. 59 (1941)"
#: Thicknesses [m] and speeds [m/s], for which lambda is 0.14, 0.28, 0.54, 1.05, and 0.34, 0.54, 0.86.
THICK, THIN = (5e-3, 3.5e-3, 2.5e-3), 1.8e-3
SPEEDS = (0.05, 0.5, 5.0)
#: A sphere of 10 mm on a rod of 250 mm, the default, and one of 5 mm on one of 150 mm.
RODS: dict[str, dict[str, Any]] = {"R = 10 mm": {}, "R = 5 mm": {"radius": 5e-3, "length": 0.15}}
#: A finer mesh, and a larger plate, for the study of what the difference from theory comes from.
FINER: tuple[dict[str, Any], ...] = ({"resolution": 9, "layers": 9}, {"extent": 4.0})
#: Largest change by these over the difference from theory that they leave.
SMALL = 0.25
SHORT, SHORTER, COARSE = {"extent": 2.0}, {"extent": 1.5}, {"layers": 1}
#: A rod so thin that its held end sends the wave back to a slow sphere, and four transits of time.
STRUCK: dict[str, Any] = {"far_end": "held", "rod_radius": 4e-3, "t_end": 2.4e-4}


def ratio(run: Run, name: str) -> float:
    """A result over Zener's."""
    number(run, "contact_end", "the sphere does not leave")
    return number(run, name, "no contact") / float(run.results[f"{name}_zener"])


def plates(runs: Runs, scheme: str, name: str, thicknesses: Sequence[float]) -> dict[str, float]:
    """A result over Zener's by the thickness of the plate."""
    several = {h: runs(PLATE, scheme, thickness=h) for h in thicknesses}
    return {f"h = {1e3 * h:g} mm": ratio(run, name) for h, run in several.items()}


def rods(runs: Runs, scheme: str, name: str) -> dict[str, float]:
    """A result over Zener's for both spheres and rods."""
    return {size: ratio(runs(ROD, scheme, **settings), name) for size, settings in RODS.items()}


def _strain(runs: Runs, scheme: str) -> dict[str, float]:
    several = {size: runs(ROD, scheme, **settings) for size, settings in RODS.items()}
    return {size: number(run, "strain_deviation", "no strain") for size, run in several.items()}


def lambda_of(restitution: float) -> float:
    """The lambda at which Zener's theory has this restitution."""
    if not 0.0 < restitution < 1.0:
        raise FailedRun(f"no lambda has the restitution {restitution:.3g}")
    return float(brentq(lambda x: ZenerImpact(1.0, 1.0, x, 1.0).restitution - restitution, 1e-6, 20.0))


def _speeds(runs: Runs, scheme: str) -> Measured:
    several = [runs(PLATE, scheme, v0=v) for v in SPEEDS]
    found = [lambda_of(number(run, "restitution", "no contact")) for run in several]
    off = [ratio(run, "restitution") - 1 for run in several]
    words = ", ".join(f"{100 * part:+.2f} % at {v:g} m/s" for part, v in zip(off, SPEEDS))
    return Measured(order(SPEEDS, found), note=f"Restitution over Zener's: {words}")


def _neglect(runs: Runs, scheme: str) -> Measured:
    run = runs(PLATE, scheme)
    e, theory = (number(run, name, "no contact") for name in ("restitution", "restitution_zener"))
    others = [number(runs(PLATE, scheme, **more), "restitution", "no contact") for more in FINER]
    changes = [abs(other - e) / abs(other - theory) for other in others]
    below_it = all(each < theory for each in (e, *others))
    words = f"Restitution {e:.5f}, finer {others[0]:.5f}, larger {others[1]:.5f}, theory {theory:.5f}"
    return Measured(changes, holds=below_it, note=words)


def _control(runs: Runs, scheme: str, name: str, settings: dict[str, float]) -> float:
    return abs(ratio(runs(PLATE, scheme, **settings), name) - 1.0)


def struck_again(p: Any) -> float:
    """Time at which the end of a rod, held far away, meets the sphere again by Zener's theory [s].

    The wave returns as it came: the end moves by ``-I(t) + 2 I(t - 2 L/c)``, I the integral of ``a F``.
    """
    zener = sphere_rod.SphereRod().zener(p)
    t = np.linspace(0.0, 6.0 * sphere_rod.transit(p), 20001)
    force = zener.force(t)
    pushed = zener.mobility * np.cumsum(force) * t[1]
    speed = zener.v0 - np.cumsum(force) * t[1] / zener.mass
    back = np.interp(t - 2.0 * sphere_rod.transit(p), t, pushed, left=0.0)
    apart = -np.cumsum(speed) * t[1] - (-pushed + 2.0 * back)
    meet = np.flatnonzero((t > zener.duration + 0.02 * zener.duration) & (apart < 0.0))
    return float(t[meet[0]]) if meet.size else math.inf


def _struck(runs: Runs, scheme: str) -> Measured:
    run = runs(ROD, scheme, **STRUCK)
    time = number(run, "second_contact", "the sphere is not struck again")
    theory = struck_again(run.summary["parameters"])
    pair = ratio(run, "restitution")
    return Measured(time / theory, note=f"Theory: {1e6 * theory:.4g} us. Speed at the end: {pair:.3g}")


def _free(runs: Runs, scheme: str) -> Measured:
    run = runs(ROD, scheme, t_end=STRUCK["t_end"])
    pair = run.results["restitution_pair"]
    return Measured(float(run.results["second_contact"] is not None), note=f"Restitution of both: {pair:.4g}")


_ALLOWED, _ROD = sphere_plate.SpherePlate.allowed, sphere_rod.SphereRod.allowed
_UNTRIED = "no measurement is compared: tables of times of contact could not be read"

CLAIMS = table("", "", [
    *(known(PLATE, name.replace("_", "-"), ZENER, "R = 5 mm, 0.5 m/s, plates of 5, 3.5, 2.5 and 1.8 mm",
            f"Waves alone give the {WORDS[name]} of Zener's theory", plates, equal(1.0, _ALLOWED[name]),
            f"over Zener's; {_UNTRIED}", name=name, thicknesses=(*THICK, THIN))
      for name in ("restitution", "peak_force")),
    known(PLATE, "duration", ZENER, "R = 5 mm, 0.5 m/s, plates of 5, 3.5 and 2.5 mm",
          "The contact lasts as long as in Zener's theory", plates, equal(1.0, _ALLOWED["duration"]),
          f"over Zener's; {_UNTRIED}", name="duration", thicknesses=THICK),
    known(PLATE, "duration-thin", ZENER, "a plate of 1.8 mm, lambda 1.05",
          "The contact lasts as long as in Zener's theory on a thin plate, where the force fades away slowly",
          plates, equal(1.0, 0.10), "over Zener's", name="duration", thicknesses=(THIN,)),
    known(PLATE, "speed", ZENER, "0.05, 0.5 and 5 m/s",
          "The speed counts by its fifth root alone", _speeds, equal(0.2, 0.01),
          "slope of the lambda with the measured restitution over the speed, logarithms; two errors of 3 % "
          "in restitution allow 0.01", per=(CD,)),
    known(PLATE, "neglect", ZENER, "9 cells instead of 6, 4 bending lengths instead of 3",
          "What differs from theory is what Zener neglects (inertia of rotation, shear, vibration of the "
          "sphere), not mesh or rim: restitution converges to less than his", _neglect, below(SMALL),
          "changes of the restitution over the difference from theory that remains", per=(MJ,)),
    known(PLATE, "short", ZENER, "control: a plate of 2 bending lengths",
          "Waves that come back from a rim too near end the contact early", _control,
          above(_ALLOWED["duration"]), "deviation of the duration; above the tolerance", per=(MJ,),
          name="duration", settings=SHORT),
    known(PLATE, "shorter", ZENER, "control: a plate of 1.5 bending lengths",
          "A rim nearer still spoils the rebound by a third", _control, above(0.3),
          "deviation of the restitution", per=(MJ,), name="restitution", settings=SHORTER),
    known(PLATE, "coarse", ZENER, "control: one cell across the plate, away from the contact",
          "Cells that are too stiff to bend spoil the rebound", _control,
          above(_ALLOWED["restitution"]), "deviation of the restitution; above the tolerance", per=(MJ,),
          name="restitution", settings=COARSE),
    *(known(ROD, name.replace("_", "-"), ZENER, "R = 10 and 5 mm, rods of 250 and 150 mm",
            f"A wave along a rod gives the {WORDS[name]} of Zener's theory", rods, equal(1.0, _ROD[name]),
            "over Zener's, for an endless rod", name=name)
      for name in WORDS),
    known(ROD, "strain", "Hopkinson bar", "R = 10 and 5 mm, rods of 250 and 150 mm",
          "A strain gauge at the middle of the rod reads the force of contact, F(t - x/c)/(E A)",
          _strain, below(sphere_rod.STRAIN),
          "largest difference over the largest strain, until the wave is back; moving means"),
    known(ROD, "struck", ZENER, "rod of radius 4 mm, its far end held",
          "The wave that comes back from a held end strikes a slow sphere again, at a known time",
          _struck, equal(1.0, 0.05), "first impulse of the second contact over the time of theory",
          per=(MJ,)),
    known(ROD, "not-struck", ZENER, "rod of 250 mm, its far end free, five transits",
          "The wave that comes back from a free end pulls the rod away from the sphere",
          _free, equal(0.0, 0.0), "1 where the sphere was struck again", per=(MJ,)),
])  # fmt: skip

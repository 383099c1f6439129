"""Two bars that hit each other edge on edge, off their centres, beside two rigid bodies at the same point.

Waves in the bars decide how they rebound: restitution is a result. With it the impulse, the velocities and
the spins after the impact are those of rigid bodies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import Integrator, SurfaceContact, parallel, rigid_motion
from ....exact.edge_impact import EdgeImpact, restitution
from ....integrators import Option, Scheme
from ...case import EXPLICIT, Problem, Results, RunLog, Setup, Values, Verdict, Verdicts, contact_law
from ..solids import common
from . import bar_models as models
from . import certificate

_METRES = "(0, inf)"


def _bar(k: int, which: str, *defaults: Any) -> dict[str, Option]:
    """Parameters of a bar; defaults of length, side, density, place and velocity."""
    length, side, rho, place, v = defaults
    return {
        f"length{k}": Option(length, "m", f"of the {which} bar", interval=_METRES),
        f"side{k}": Option(side, "m", f"of the square section of the {which} bar", interval=_METRES),
        f"rho{k}": Option(rho, "kg/m3", f"density of the {which} bar", interval=_METRES),
        f"place{k}": Option(place, "m", f"of the contact from the middle of the {which} bar"),
        f"v{k}": Option(v, "m/s", f"velocity of the {which} bar: three numbers with commas"),
        f"spin{k}": Option("0,0,0", "rad/s", f"angular velocity of the {which} bar, likewise"),
    }


PARAMETERS = {
    **_bar(1, "upper", 0.1, 0.01, 7850.0, 0.021, "0,0,-1"),
    **_bar(2, "lower", 0.08, 0.012, 2700.0, -0.016, "0,0,0"),
    "angle": Option(90.0, "deg", "between the bars, seen from above", interval="[30, 150]"),
    "E": Option(2.1e11, "Pa", "Young's modulus", interval="(0, inf)"),
    "nu": Option(0.3, "-", "Poisson's ratio", interval="(-1, 0.5)"),
    **common.friction(0.0),
    "cells": Option(4, "-", "across a side", interval="[1, 50]"),
    **common.times(0.8, "three first periods of bending"),
    "every": Option(20, "steps", "steps between samples; forces follow every step", interval="[1, inf)"),
}
#: End of a run over the longer first period of bending.
PERIODS = 3.0
#: Velocities and spins after the impact beside those of rigid bodies, over their changes.
RIGID = 0.01
#: Rounding of momenta over ``sum m |v|``, and of friction over its bound.
ROUNDING, SLIP = 1e-13, 1e-12
#: The same of the angular momentum with friction.
LEVER = 1e-7


class BarLog(RunLog):
    """The log with momenta and with sums over the impulses.

    Attributes:
        first: Momenta of both bars at the start, shape (2, 2, 3), as of :meth:`.BarMotions.momenta`.
        motion: Velocities of the bars' points at the start, ``sum m |v|`` [N s].
        sums: Over all steps: impulse on the first bar, on both, places, centres and inertias times the size.
        normal, tangential: Sums of the sizes of all rows' impulses [N s]; of this rank.
        slip_defect: Largest difference of a row's ``|r_t|`` from ``mu r``, over the largest r [N s].
    """

    state_names = (*RunLog.state_names, "first", "motion", "sums", "slip_defect")
    share_names = ("normal", "tangential")

    def _prepare(self, setup: Any, p: Values) -> None:
        self._friction = p["friction"]
        self.bars = models.BarMotions(self._scheme)
        self.first = self.bars.momenta()
        self.motion = self.bars.motion()
        self.sums: NDArray = np.zeros(34)
        self.normal, self.tangential, self.slip_defect = 0.0, 0.0, 0.0

    def __call__(self, integrator: Integrator) -> None:
        """Add the impulses of a step. Collective."""
        impulses, place = self.bars.impulses()
        size = float(np.linalg.norm(impulses[0]))
        if size == 0.0:
            return
        centres, inertias = self.bars.places()
        weighted = size * np.concatenate([[1.0], place, centres.ravel(), inertias.ravel()])
        self.sums += np.concatenate([impulses.ravel(), weighted])
        r, r_t = models.row_impulses(integrator)
        self.normal += r.sum()
        self.tangential += r_t.sum()
        over = np.abs(r_t - self._friction * r)
        self.slip_defect = max(self.slip_defect, parallel.largest(self._comm, over))

    @property
    def meeting(self) -> models.Meeting | None:
        """Means over the impulses; None where there were none."""
        size = self.sums[6]
        if not size > 0:
            return None
        means = self.sums[7:] / size
        return models.Meeting(self.sums[:3], means[:3], means[3:9].reshape(2, 3), means[9:].reshape(2, 3, 3))

    def _close(self) -> None:
        self.last = self.bars.momenta()


class CrossedBars(common.SolidCase):
    """Two bars hit each other edge on edge, off their centres, and move on as rigid bodies would.

    Their waves decide how they rebound; with that restitution impulse, velocities and spins are known.
    """

    parameters = PARAMETERS
    schemes = ("cd-lagrange",)
    log_type = BarLog

    def _refuse(self, p: Values) -> None:
        for name in ("v1", "v2", "spin1", "spin2"):
            models.vector(p, name)
        for k in (1, 2):
            half = p[f"length{k}"] / 2
            if abs(p[f"place{k}"]) >= half - p[f"side{k}"]:
                raise ValueError(
                    f"place{k} must be a side from the ends of the bar, {half:g} m from its middle, "
                    f"but is {p[f'place{k}']} m"
                )

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Both bars, all of whose surfaces are in contact. Collective."""
        body = models.make_bars(p)
        contact = SurfaceContact(body, **contact_law(p))
        return Setup(system=body, contact=contact, v0=models.velocities(body, p))

    def end(self, p: Values, scheme: Scheme) -> float:
        """After some periods of bending [s]."""
        return PERIODS * models.period(p)

    def measure(self, run: Problem) -> Results:
        """Impulses, velocities and spins beside those of rigid bodies. Collective."""
        p, log = run.p, run.log
        masses, reach = log.bars.masses, p["length1"] + p["length2"]
        change = np.abs((log.last - log.first).sum(axis=1))  # linear, angular
        found: Results = {
            "impulse_normal": self._total(run, log.normal),
            "impulse_tangential": self._total(run, log.tangential),
            "slip_defect": log.slip_defect,
            "linear_momentum_defect": float(change[0].max() / log.motion),
            "angular_momentum_defect": float(change[1].max() / (log.motion * reach)),
            "restitution": None,
            "impulse_normal_exact": None,
            "rigid_defect": None,
            **certificate.numbers(run.setup.contact),
        }
        motions = [
            rigid_motion(run.setup.body, run.integrator.u, run.integrator.v, cells=name)
            for name in models.BARS
        ]
        for k, motion in enumerate(motions, start=1):
            found[f"velocity{k}"] = motion.velocity.tolist()
            found[f"spin{k}_end"] = motion.spin.tolist()
        if (meeting := log.meeting) is None:
            return found
        before, after = (meeting.bodies(masses, each) for each in (log.first, log.last))
        normal = models.normal(p)
        size = float(normal @ meeting.impulse)
        tangent = meeting.impulse / size - normal if p["friction"] else None
        e = restitution(normal, before, after)
        rigid = EdgeImpact(before[0], before[1], normal, e, tangent)
        found |= {"restitution": e, "impulse_normal_exact": rigid.impulse}
        found["rigid_defect"] = models.differs(before, after, rigid.after(), reach / 4)
        return found

    @staticmethod
    def _total(run: Problem, value: float) -> float:
        return float(parallel.total(run.setup.body.comm, value))

    def verdicts(self, run: Problem) -> Verdicts:
        """Impulse and motions of rigid bodies, the law of friction, both momenta, and the certificate."""
        found = run.results
        words = "the linear momentum stays (over sum m |v|)"
        yield Verdict.below(words, found["linear_momentum_defect"], ROUNDING)
        # Friction has the lever of the least distance that edges keep.
        limit = LEVER if run.p["friction"] else ROUNDING
        words = "the angular momentum stays (over that and the lengths)"
        yield Verdict.below(words, found["angular_momentum_defect"], limit)
        if found["restitution"] is not None:
            ratio = found["impulse_normal"] / found["impulse_normal_exact"]
            yield Verdict.equal("the normal impulse is that of rigid bodies (ratio)", ratio, 1.0, RIGID)
            words = "so are changes of velocities and spins (relative difference)"
            yield Verdict.below(words, found["rigid_defect"], RIGID)
        yield from certificate.verdicts(found)

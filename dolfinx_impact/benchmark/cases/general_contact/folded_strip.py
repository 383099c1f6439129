"""A strip folded between two plates, beside the elastica: force and energy of the plates' distance.

The strip begins as half a circle with two straight legs on the plates, comes to rest by mass damping, and the
plates then close from distance to distance. Steps of ``moreau-jean`` are thousands of critical ones, with
contact at both levels, without the paths of features (``swept=False``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import SurfaceContact
from ....exact import FoldedStrip as ElasticaFold
from ....integrators import Integrator, Option, Scheme
from ...case import EXPLICIT, Problem, Results, RunLog, Setup, Values, Verdict, Verdicts
from ..solids import common
from . import certificate
from . import strip_models as models

#: Cells across the strip and steps between samples, of explicit and of other schemes.
CELLS, EVERY = {True: 1, False: 8}, {True: 1000, False: 1}
PARAMETERS = {
    "thickness": Option(1e-3, "m", "of the strip", interval="(0, inf)"),
    "width": Option(0.01, "m", "of the strip, in plane strain", interval="(0, inf)"),
    "E": Option(2.1e11, "Pa", "Young's modulus", interval="(0, inf)"),
    "nu": Option(0.3, "-", "Poisson's ratio", interval="(-1, 0.5)"),
    "gaps": Option("0.026,0.023", "m", "distances of the plates, falling, with commas"),
    "cells": Option(None, "-", "of degree 2 across the strip (default 8)", interval="[1, 40]"),
    **common.COMMON,
    "courant": Option(0.8, "-", "time step over the critical one of explicit schemes", interval="(0, inf)"),
    "every": Option(None, "steps", "between samples (default 1)", interval="[1, inf)"),
    "h": Option(None, "s", "time step (default of other schemes: a fifth of the first period)"),
    "t_end": Option(None, "s", "end time (default: as long as all distances take)"),
}  # fmt: skip
#: A distance stays, and changes to the next one, in so many first periods.
STAY, CHANGE = 2.0, 1.0
#: Forces are means over this last part of the time in which a distance stays.
LAST = 0.25
#: Steps of other schemes in the first period.
STEPS = 5
#: Distance of the middle lines over the thickness from which on force and energy are within :data:`ALLOWED`.
SLENDER, ALLOWED = 20.0, 0.02
#: The plates' forces differ by less, relative.
EQUAL = 1e-3


class StripLog(RunLog):
    """The log with forces and energy at each distance; sums over the last part of the time in which it stays.

    Attributes:
        impulses: Of the lower and the upper plate, shape (distances, 2) [N s]; those of this rank.
        times: Time over which they are summed, shape (distances,) [s].
        energies: Stored at the end, shape (distances,) [J]; those of this rank.
    """

    state_names = (*RunLog.state_names, "times")
    share_names = ("impulses", "energies")

    def _prepare(self, setup: Any, p: Values) -> None:
        self._ends, self._last = setup.beside.ends, LAST * (setup.beside.ends[0] - setup.beside.begins[0])
        self._plates = self._scheme.contact.parts[:2]
        count = self._ends.size
        self.impulses, self.times, self.energies = np.zeros((count, 2)), np.zeros(count), np.zeros(count)

    def __call__(self, integrator: Integrator) -> None:
        """Add the impulses of a step. Collective."""
        middle, s = integrator.t - 0.5 * integrator.dt, integrator
        k = int(np.searchsorted(self._ends, middle))
        if k == self._ends.size or middle < self._ends[k] - self._last:
            return
        self.impulses[k] += [s.r[part].sum() for part in self._plates]
        self.times[k] += s.dt
        if s.t + 0.5 * s.dt > self._ends[k]:  # the last one
            self.energies[k] = s.system.stored_energy(s.u)


class FoldedStrip(common.SolidCase):
    """A strip folded between two plates lies on them with the force and the energy of the elastica.

    All of its surface is in contact with itself; the plates close from distance to distance.
    """

    parameters = PARAMETERS
    schemes = ("moreau-jean",)
    defaults: Values = {"theta": 1.0, "position": True, "mass": "lumped"}
    log_type = StripLog

    def settled(self, p: Values, scheme: Scheme) -> dict[str, Any]:
        """The checked parameters, with the cells across the strip."""
        usual = {"cells": CELLS[scheme.explicit], "every": EVERY[scheme.explicit]}
        chosen = {name: value if p[name] is None else p[name] for name, value in usual.items()}
        for name, value in chosen.items():
            if value != round(value):
                raise ValueError(f"{name} must be a whole number, but is {value}")
        return {**p, **{name: round(value) for name, value in chosen.items()}}

    def _refuse(self, p: Values) -> None:
        gaps = models.distances(p)
        least = models.LEAST * p["thickness"]
        if (
            any(b >= a for a, b in zip(gaps, gaps[1:]))
            or min(gaps) < least
            or max(gaps) > models.MOST * min(gaps)
        ):
            raise ValueError(
                f"gaps must fall, from {least:g} m on and by a factor of {models.MOST:g} at most, "
                f"but are {p['gaps']}"
            )

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Strip and plates. Collective."""
        body = models.make_strip(p)
        schedule = models.schedule(p, STAY, CHANGE)
        swept = {} if scheme.explicit else {"swept": False}
        itself = SurfaceContact(body, gap_tolerance=p["gap_tolerance"], **swept)
        contact = [*models.plates(body, p, schedule), itself]
        return Setup(
            system=body,
            contact=contact,
            record=models.middle(body),
            beside=schedule,
            u0=models.folded(body, p),
        )

    def time_step(self, p: Values, scheme: Scheme, setup: Setup) -> float:
        """``h``, or a part of the critical step, of other schemes of the first period [s]."""
        if p["h"] is not None or scheme.explicit:
            return super().time_step(p, scheme, setup)
        return models.period(p, models.distances(p)[0]) / STEPS

    def end(self, p: Values, scheme: Scheme) -> float:
        """When the plates have stayed at the last distance [s]."""
        return float(models.schedule(p, STAY, CHANGE).ends[-1])

    def measure(self, run: Problem) -> Results:
        """Forces and energies beside those of the elastica with the measured stiffness. Collective."""
        p, log, comm = run.p, run.log, run.setup.body.comm
        impulses, energies = comm.allreduce(log.impulses), comm.allreduce(log.energies)
        B = models.measured_stiffness(p)
        found = [ElasticaFold(B, gap - p["thickness"]) for gap in models.distances(p)]
        reached = log.times > 0
        forces = impulses / np.where(reached, log.times, 1.0)[:, None]
        return {
            "force": _where(reached, forces.mean(axis=1)),
            "force_exact": [each.force for each in found],
            "energy": _where(reached, energies),
            "energy_exact": [each.energy for each in found],
            "plates_differ": float(np.abs(np.diff(forces)).max() / forces.max()) if reached.any() else None,
            "stiffness": B,
            "stiffness_exact": models.stiffness(p),
            **certificate.numbers(run.setup.contact[-1]),
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Force and energy at distances that are large against the thickness."""
        p, found = run.p, run.results
        for k, gap in enumerate(models.distances(p)):
            limit = ALLOWED * max(1.0, SLENDER * p["thickness"] / (gap - p["thickness"]))
            for name in ("force", "energy"):
                if found[name][k] is not None:
                    ratio = found[name][k] / found[f"{name}_exact"][k]
                    words = f"the {name} between plates {gap:g} m apart is that of the elastica (ratio)"
                    yield Verdict.equal(words, ratio, 1.0, limit)
        if found["plates_differ"] is not None:
            yield Verdict.below("both plates carry the same force (relative)", found["plates_differ"], EQUAL)
        yield from certificate.verdicts(found)


def _where(reached: NDArray, values: NDArray) -> list[float | None]:
    return [float(value) if known else None for known, value in zip(reached, values)]

"""Blocks of different masses that are poured into a box: momenta, weight and energy of many bodies.

The blocks are soft, so that steps are long, and their material damps by its rate of strain alone, which
neither momentum nor weight knows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import Integrator, SurfaceContact, parallel
from ....integrators import Option, Scheme, energy
from ...case import EXPLICIT, Problem, Results, RunLog, Setup, Values, Verdict, Verdicts, contact_law
from ...run_log import Steps
from ..solids import common
from . import certificate
from . import pile_models as models

PARAMETERS = {
    "blocks": Option(100, "-", "number of blocks", interval="[1, 10000]"),
    "mass": Option(0.2, "kg", "mean mass of a block", interval="(0, inf)"),
    "mass_spread": Option(0.5, "-", "largest relative difference from that", interval="[0, 0.95]"),
    "side": Option(0.05, "m", "of a block", interval="(0, inf)"),
    "gravity": Option(9.81, "m/s2", "acceleration of gravity", interval="(0, inf)"),
    **common.friction(0.3),
    "skin": Option(1e-3, "m", "offset of the blocks' surfaces from each other, each", interval="[0, inf)"),
    "cells": Option(1, "-", "along the edge of a block", interval="[1, 10]"),
    **common.times(0.8, "when the blocks have come to rest"),
    "every": Option(100, "steps", "steps between samples; sums follow every step", interval="[1, inf)"),
}  # fmt: skip
_STORED = [energy.TERMS.index(name) for name in ("kinetic", "complementary", "internal")]
_EXTERNAL = energy.TERMS.index("external")
#: The mean force is that of this last part of the run.
LAST = 0.3
#: End of the run: time of the fall from the highest place, and so many times that of a fall over a side, with
#: more for each layer of blocks: a higher pile takes longer to come to rest.
SETTLE, LAYER = 10.0, 2.0
#: Impulse beside weight and momentum; mean force at rest beside the weight; gain of energy.
ROUNDING, WEIGHT, GAIN = 1e-12, 1e-3, 1e-9


class PileLog(RunLog):
    """The log with the impulses of the box.

    Attributes:
        first: Momentum at the start, shape (3,) [N s].
        impulse: Sum of the impulses of floor and walls on the blocks, shape (3,) [N s]; of this rank.
        last: The same over the last part of the run; of this rank.
        time: That of the last part so far [s].
        start: Energy at the start, that of the height above the floor [J].
        gain: Largest energy so far, kinetic, stored and of the height, less that at the start [J].
    """

    state_names = (*RunLog.state_names, "first", "time", "start", "gain", "_begun")
    share_names = ("impulse", "last")

    def _prepare(self, setup: Any, p: Values) -> None:
        body = setup.system
        self._walls = self._scheme.contact.parts[1]
        self._begin = (1 - LAST) * p["t_end"]
        self.first = self.momentum()
        height = body.x[: body.owned // 3, 2]
        self.start = p["gravity"] * parallel.total(self._comm, float(body.mass[2 : body.owned : 3] @ height))
        self.time, self.gain, self._begun = 0.0, 0.0, np.nan
        self.impulse, self.last = np.zeros(3), np.zeros(3)

    def _follow(self, steps: Steps) -> None:
        terms = self._comm.allreduce(steps.energies[: steps.count])
        total = terms[:, _STORED].sum(axis=1) - terms[:, _EXTERNAL]
        if np.isnan(self._begun):
            self._begun = float(total[0])
        self.gain = max(self.gain, float(total.max()) - self._begun)

    def momentum(self) -> NDArray:
        """Momentum of the blocks, shape (3,) [N s]. Collective."""
        s = self._scheme
        local = (s.system.mass[: s.system.owned] * s.v[: s.system.owned]).reshape(-1, 3).sum(axis=0)
        return np.asarray(self._comm.allreduce(local))

    def __call__(self, integrator: Integrator) -> None:
        """Add the impulses of a step."""
        s: Any = integrator
        r, normals = s.r[self._walls], s.contact_state.members[1].bases[:, 0]
        impulse = r @ normals
        if s.r_t.size:
            impulse = impulse + s.r_t[self._walls].sum(axis=0)
        self.impulse += impulse
        if s.t > self._begin:
            self.last += impulse
            self.time += s.dt


class Pile(common.SolidCase):
    """Blocks of different masses are poured into a box and come to rest.

    The impulse of floor and walls is weight times time and the change of momentum; no energy is made.
    """

    parameters = PARAMETERS
    schemes = ("cd-lagrange",)
    own = ("mass",)
    log_type = PileLog
    reported = {"blocks": 12}

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Blocks, all of whose surfaces are in contact, and the box. Collective."""
        body = models.make_blocks(p)
        contact = [SurfaceContact(body, skin=p["skin"], **contact_law(p)), models.walls(body, p)]
        return Setup(system=body, contact=contact, record=body.rows(np.zeros(0, np.int32)))

    def end(self, p: Values, scheme: Scheme) -> float:
        """After the fall from the highest place, when the pile rests [s]."""
        fall, over_side = (math.sqrt(2 * way / p["gravity"]) for way in (models.height(p), p["side"]))
        return fall + (SETTLE + LAYER * models.layers(p)) * over_side

    def measure(self, run: Problem) -> Results:
        """Impulse and mean force of the box beside weight and momentum, energy, certificate. Collective."""
        p, log, s = run.p, run.log, run.integrator
        comm, up = run.setup.body.comm, np.array([0.0, 0.0, 1.0])
        impulse, last = comm.allreduce(log.impulse), comm.allreduce(log.last)
        lasting = s.t - s.t0  # between the half steps that the momenta are taken at
        weight = float(run.setup.body.total_mass * p["gravity"])
        expected = weight * lasting * up + log.momentum() - log.first
        return {
            "impulse_defect": float(np.linalg.norm(impulse - expected) / (weight * lasting)),
            "mean_force": float(last[2] / log.time) if log.time > 0 else None,
            "weight": weight,
            "energy_start": log.start,
            "energy_max": 1 + log.gain / log.start,
            "speed": float(np.linalg.norm(log.momentum()) / run.setup.body.total_mass),
            "top": float(models.top(run.setup.body, s.u)),
            **certificate.numbers(run.setup.contact[0]),
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Impulse, mean force, energy, certificate."""
        found = run.results
        words = "floor and walls have the impulse of weight and change of momentum (relative)"
        yield Verdict.below(words, found["impulse_defect"], ROUNDING)
        if found["mean_force"] is not None:
            words = "in the mean they carry the weight (ratio)"
            yield Verdict.equal(words, found["mean_force"] / found["weight"], 1.0, WEIGHT)
        yield Verdict.below("the energy never grows (over that at the start)", found["energy_max"] - 1, GAIN)
        yield from certificate.verdicts(found)

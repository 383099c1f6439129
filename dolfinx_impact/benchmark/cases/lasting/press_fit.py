"""A plastic peg is pressed into a slot that is too narrow for it: rigid walls, or elastic jaws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import RigidContact, SurfaceContact, parallel
from ....integrators import Integrator, Option, Scheme
from ...case import EXPLICIT, Problem, Results, RunLog, Setup, Values, Verdict, Verdicts, contact_law
from ..solids import common
from . import press_models as models

STEPS = 60
PARAMETERS = {
    "wall": Option(
        "rigid", "-", "half of the peg at a rigid wall, or all of it in an elastic slot", ("rigid", "slot")
    ),
    "interference": Option(1e-4, "m", "of half of the peg with its side of the slot", interval="(0, 3e-4)"),
    **common.friction(0.1),
    **common.material(2.1e9, 7850.0, " of peg and jaws"),
    "columns": Option(4, "-", "cells across half of the peg", interval="[1, 100]"),
    "rows": Option(12, "-", "cells along the peg", interval="[2, 300]"),
    "steps": Option(STEPS, "-", "equal steps of static", interval="[1, 100000]"),
    **common.times(20.0, 20e-3),
    "t_end": Option(20e-3, "s", "end time: the peg moves at 0.75 m/s", interval="(0, 30e-3]"),
}
#: At the default parameters, by a program of its own (Q1 elements, lumped masses, contact at position level
#: under the full stiffness, 1 to 1000 critical steps): work and stored energy at the rigid wall [J].
WORK, STORED = 218.5, 14.75
#: Allowed, relative; and what counts as nothing inside [m].
WORK_WITHIN, STORED_WITHIN, NOTHING_INSIDE = 0.015, 1e-3, 1e-12
#: Work in the slot, 8 x 12 and 6 x 10 cells, to which CD-Lagrange tends with smaller steps [J]: 182.670,
#: 183.595 and 183.709 at 0.2, 0.1 and 0.05 critical steps, extrapolated by the order of these three.
SLOT_WORK, SLOT_WITHIN = 183.72, 0.02
#: A run looks so often how deep points are in the slot, if it has more steps.
_LOOKS = 250


class PressLog(RunLog):
    """The log with what drives the peg.

    Attributes:
        work: Of the driven end, forces at both ends of a step averaged; the part of this rank [J].
        depth: Largest depth of a point in the wall or in a foreign cell so far [m].
    """

    state_names = (*RunLog.state_names, "depth")
    share_names = ("work",)

    def _prepare(self, setup: Any, p: Values) -> None:
        system, self._depth = setup.system, setup.beside
        dofs = system.prescribed.dofs
        self._driven = dofs[dofs < system.owned]
        self._force = np.zeros(system.size)
        self._often = 1 if p["wall"] == "rigid" else max(1, round(p["t_end"] / p["h"] / _LOOKS))
        self.work, self.depth = 0.0, 0.0
        self._resume()

    def _resume(self) -> None:
        self._before, self._at = self._reactions(self._scheme), self._scheme.u[self._driven].copy()

    def _reactions(self, s: Integrator) -> NDArray:
        """Forces that drive the end, which moves at constant speed, at ``t`` [N]. Collective."""
        s.system.force(s.t, s.u, s.v, self._force)
        return -self._force[self._driven]

    def __call__(self, integrator: Integrator) -> None:
        """Add the work of a step, and look how deep points are. Collective."""
        forces, at = self._reactions(integrator), integrator.u[self._driven].copy()
        self.work += float(0.5 * (self._before + forces) @ (at - self._at))
        self._before, self._at = forces, at
        if integrator.n % self._often == 0:
            self.depth = max(self.depth, self._depth(integrator.u))

    def _close(self) -> None:
        self.depth = max(self.depth, self._depth(self._scheme.u))


class PressFit(common.SolidCase):
    """A peg is pressed into a slot that is too narrow for it, by walls that are rigid or elastic.

    Contact that lasts: what the first touch of a large step leaves inside is interference that is lost.
    """

    parameters = PARAMETERS
    schemes = ("moreau-jean", "generalized-alpha", "static", "cd-lagrange")
    defaults: Values = {"theta": 1.0, "rho_inf": 0.0, "position": True, "mass": "lumped"}
    explicit_courant = 0.2
    log_type = PressLog

    def settled(self, p: Values, scheme: Scheme) -> dict[str, Any]:
        """The checked parameters; ``steps`` and ``courant`` go with the schemes that have them."""
        if not scheme.static and p["steps"] != STEPS:
            raise ValueError(
                f"steps are those of static, but are {p['steps']} with another scheme: give courant or h"
            )
        if scheme.static and p["courant"] != PARAMETERS["courant"].default:
            raise ValueError(f"static has no critical step, but courant is {p['courant']}: give steps or h")
        if scheme.static and p["h"] is not None and p["steps"] != STEPS:
            raise ValueError("give h or steps, not both")
        return dict(p)

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Peg and wall; all nodes are recorded but by explicit schemes. Collective."""
        if p["wall"] == "rigid":
            body, wall = models.half_peg(p), models.Opening(models.HALF - p["interference"])
            contact: Any = RigidContact(body, "side", wall, **contact_law(p))
            depth: Any = models.InWall(body, wall)
        else:
            body, names = models.peg_and_slot(p), (models.PEG, *models.JAWS)
            contact = SurfaceContact(body, *(f"{name}/boundary" for name in names), **contact_law(p))
            depth = models.InForeignCells(body)
        top = body.nodes("top" if p["wall"] == "rigid" else f"{models.PEG}/top")
        record = body.rows(top if scheme.explicit else None)
        v0 = (0.0, -models.SPEED if p["wall"] == "rigid" else 0.0)
        return Setup(system=body, contact=contact, record=record, beside=depth, v0=v0)

    def time_step(self, p: Values, scheme: Scheme, setup: Setup) -> float:
        """``h``, else a part of ``t_end``: by ``steps``, or as near to ``courant`` as whole steps are."""
        if p["h"] is not None:
            return float(p["h"])
        if scheme.static:
            return float(p["t_end"] / p["steps"])
        steps = p["t_end"] / super().time_step(p, scheme, setup)
        return float(p["t_end"] / max(1, math.ceil(steps) if scheme.explicit else round(steps)))

    def measure(self, run: Problem) -> Results:
        """Work, stored energy, depth, and iterations where there are any. Collective."""
        s, newton = run.integrator, run.result.newton
        body: Any = s.system
        return {
            "work": float(parallel.total(body.comm, run.log.work)),
            "stored_energy": float(parallel.total(body.comm, body.stored_energy(s.u))),
            "depth": run.log.depth,
            "newton_mean": newton.get("newton_mean"),
            "newton_max": newton.get("newton_max"),
            "halved": newton.get("halved"),
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Work, stored energy and depth of schemes with contact at position level, where they are known."""
        p, found = run.p, run.results
        own = {name: option.default for name, option in PARAMETERS.items()}
        free = {"wall", "courant", "steps", "h", "every", "gap_tolerance"}
        if found["newton_mean"] is None or any(p[name] != own[name] for name in own.keys() - free):
            return
        if p["wall"] == "slot":
            words = "the work is that to which explicit runs tend with smaller steps [J]"
            yield Verdict.equal(words, found["work"], SLOT_WORK, SLOT_WITHIN * SLOT_WORK)
            return
        words = "the work is that of an independent program [J]"
        yield Verdict.equal(words, found["work"], WORK, WORK_WITHIN * WORK)
        if p.get("theta", 1.0) == 1.0 and p.get("rho_inf", 0.0) == 0.0:
            words = "so is the stored energy [J]"
            yield Verdict.equal(words, found["stored_energy"], STORED, STORED_WITHIN * STORED)
        yield Verdict.below("nothing is in the wall (depth) [m]", found["depth"], NOTHING_INSIDE)

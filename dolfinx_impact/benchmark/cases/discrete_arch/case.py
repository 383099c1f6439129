"""The discrete arch that a load snaps onto a floor: Di Stasio et al. (2019), case 5, mass scaling.

Dofs are positions of the nodes; the supports lie on y = 0, the floor on ``y = -floor``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contact.bound import DofBound
from ....integrators import SCHEMES, CentralDifferences, Integrator, Option, Scheme, find_scheme
from ....integrators.step_buffer import Steps
from ...case import COMMON, EXPLICIT, NAMED, Case, Problem, Results, RunLog, Setup, Values, contact_law
from ...verdict import Verdict, Verdicts
from .chain import Chain
from .equilibrium import Equilibrium, static_equilibrium

PARAMETERS = {
    "R": Option(1.0, "m", "radius of the arch", interval="(0, inf)"),
    "k": Option(1.0, "N/m", "stiffness of a bar", interval="(0, inf)"),
    "m": Option(1.0, "kg", "mass of every node", interval="(0, inf)"),
    "kappa": Option(1e-4, "N m", "stiffness of a torsion spring (the paper prints 4.16e-3)"),
    "opening": Option(math.pi / 4, "rad", "total angle of the arch"),
    "floor": Option(0.065, "m", "distance of the floor below the supports", interval="[0, inf)"),
    "load": Option(1e-3, "N", "force downwards on each of the two middle nodes"),
    "ramp": Option(100.0, "s", "time over which the load grows"),
    "release": Option(400.0, "s", "time at which the load is removed"),
    "damping": Option(0.05, "1/s", "mu of the damping force mu M v"),
    "restitution": Option(0.0, "-", "Newton's coefficient of the contact nodes"),
    "stop_ratio": Option(0.0, "-", "inertia / contact impulse at the end; 0: no limit", interval="[0, inf)"),
    "courant": Option(None, "-", "time step over the critical one of the unloaded arch"),
    **COMMON,
    "h": Option(0.3, "s", "time step; the other way to give it is courant"),
    "t_end": Option(900.0, "s", "end time"),
}
#: Schemes with contact at velocity level that need no linear system, and implicit ones for any force.
_IMPLICIT = ("moreau-jean", "generalized-alpha")
_EXPLICIT = [name for name in NAMED if SCHEMES[name].explicit or name in _IMPLICIT]
SCHEME_NAMES = tuple(name for name in _EXPLICIT if SCHEMES[name].contact_level == "velocity")
_CHANGES = {"m": (2.0,), "damping": (0.02, 0.1), "load": (7e-4, 2e-3), "h": (0.15, 0.6)}
#: What must not change the nodes in contact at the end ("numerical artefacts").
VARIANTS = ({"m": 0.5, "h": 0.2}, *({name: value} for name, values in _CHANGES.items() for value in values))
SMALL_RATIO = 1e-3


def started(scheme: str, p: Values) -> Integrator:
    """A scheme that holds the arch at rest, unloaded, at t = 0."""
    return Arch().make(scheme, {**p, "stop_ratio": 0.0}).integrator


def impulses(integrator: Integrator, t_end: float) -> Iterator[tuple[float, float, float]]:
    """Run to ``t_end``; time [s], inertia and contact impulse [N s] of every step, as in Figure 25."""
    for _ in range(max(1, round(t_end / integrator.dt))):
        integrator.step()
        yield integrator.t, inertia_impulse(integrator), float(np.sum(integrator.r))


def stop_time(integrator: Integrator, p: Values) -> float:
    """The time after the release at which the impulse of inertia is small, else the end [s]; it runs."""
    for t, inertia, contact in impulses(integrator, p["t_end"]):
        if t > p["release"] and abs(inertia) < p["stop_ratio"] * contact:
            return t
    return integrator.t


def inertia_impulse(integrator: Any) -> float:
    """Vertical impulse of damping in the last step, ``sum of -mu h M v . y`` [N s]; v is what damps.

    Di Stasio et al. (2019), termination criteria: v of the forces (central differences), or v_theta.
    """
    chain = integrator.system
    if isinstance(integrator, CentralDifferences):
        v = integrator.v_force
    else:
        theta = getattr(integrator, "theta", 0.0)
        v = (1 - theta) * getattr(integrator, "v_before", integrator.v) + theta * integrator.v
    return float(-chain.mu * integrator.dt * (chain.mass[1::2] @ v[1::2]))


class ArchLog(RunLog):
    """The log of every step with the largest speed downwards of a node so far, ``fastest`` [m/s]."""

    fastest = 0.0
    state_names = (*RunLog.state_names, "fastest")

    def _follow(self, steps: Steps) -> None:
        self.fastest = max(self.fastest, -float(np.min(steps.v[: steps.count, 1::2])))


def snapped_equilibrium(chain: Chain, floor: float) -> Equilibrium:
    """The equilibrium with the lowest middle that descents from flatter mirrored arches lead to."""
    mirrored = (chain.rest * np.tile([1.0, -part], chain.size // 2) for part in (1.0, 0.75, 0.5, 0.25))
    ends = [static_equilibrium(chain, -floor, flatter) for flatter in mirrored]
    return min(ends, key=lambda end: (not end.active, _middle(chain, end.positions)))


def final_nodes(scheme: str, p: Values) -> tuple[int, ...]:
    """Nodes in contact at the end of a run with the parameters ``p``; nothing is recorded."""
    integrator = started(scheme, p)
    for _ in range(max(1, round(p["t_end"] / integrator.dt))):
        integrator.step()
    return tuple(_pressing(integrator))


def distance(x: NDArray, y: NDArray) -> float:
    """Largest distance between the positions of a node in ``x`` and in ``y`` [m]."""
    return float(np.max(np.hypot(*(x - y).reshape(-1, 2).T)))


def _pressing(integrator: Integrator) -> list[int]:
    return [int(point) + 1 for point in np.flatnonzero(integrator.r > 0)]


def _middle(chain: Chain, x: NDArray) -> float:
    return float(np.mean(x[[2 * node + 1 for node in chain.middle]]))


class Arch(Case):
    """A shallow arch of masses and springs snaps onto a floor. Only its rest counts: masses are free."""

    parameters, schemes = PARAMETERS, SCHEME_NAMES
    log_type = ArchLog

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Arch and floor; a ValueError where they are no such."""
        chain = Chain(p)
        floor = DofBound(chain, list(map(int, chain.heights)), lower=-p["floor"], **contact_law(p))
        floor.L.labels = [str(node) for node in range(1, floor.count + 1)]
        return Setup(system=chain, contact=floor, record=chain.rows(), u0=chain.rest)

    def make(self, scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
        """The case for one scheme, started; with ``stop_ratio`` it runs once for the end."""
        problem = super().make(scheme, p, allow_unstable)
        if p["stop_ratio"] > 0:
            problem.t_end = stop_time(problem.integrator, p)
            self.start(problem.integrator, problem.setup, p)
        return problem

    def measure(self, run: Problem) -> Results:
        """Nodes in contact and impulses at the end, and how far it is from statics."""
        s, chain = run.integrator, run.setup.system
        still = static_equilibrium(chain, -run.p["floor"], s.u)
        contact = float(np.sum(s.r))
        return {
            **run.log.numbers("contact_start"),
            "active_nodes": _pressing(s),
            "contact_impulse_ratio": abs(inertia_impulse(s)) / contact if contact > 0 else None,
            "middle_height": _middle(chain, s.u),
            "static_distance": distance(s.u, still.positions),  # the largest one of a node from statics
            "static_nodes": list(still.active),
            "stop_time": s.t,
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Whether the arch has snapped and is in static equilibrium at the end, as the paper says."""
        results, chain, floor, name = (
            run.results,
            run.setup.system,
            run.p["floor"],
            "height of its middle [m]",
        )
        snapped = snapped_equilibrium(chain, floor)
        for words, height, nodes in (
            ("a static equilibrium on the floor exists", _middle(chain, snapped.positions), snapped.active),
            (
                "the arch has snapped and rests on the floor",
                results["middle_height"],
                results["active_nodes"],
            ),
        ):
            yield Verdict(f"{words}: {name}", height, -floor, floor, height < 0 and bool(nodes))
        # A node is stopped at the first step that finds it below the floor, and stays at its depth.
        words = "the end is a static equilibrium but for the depth h v of the impact [m]"
        yield Verdict.below(words, results["static_distance"], run.p["h"] * run.log.fastest)
        words = "nodes that touch at the end but not in statics, or the reverse"
        others = set(results["active_nodes"]) ^ set(results["static_nodes"])
        yield Verdict.equal(words, len(others), 0, 0)
        if (ratio := results["contact_impulse_ratio"]) is not None:
            words = "the impulse of inertia vanishes against that of contact"
            yield Verdict.below(words, ratio, run.p["stop_ratio"] or SMALL_RATIO)

    def study(self, problem: Problem) -> Verdicts:
        """Neither load, mass, damping nor step change which nodes of the paper's arch touch at the end."""
        scheme, p = problem.scheme, problem.given
        if not find_scheme(scheme).explicit:
            return  # the same nodes, at the price of Newton in nine long runs
        if any(p[name] != PARAMETERS[name].default for name in ("R", "k", "kappa", "opening", "floor")):
            return
        # The variants change the defaults, whatever the run at hand had.
        usual = ("m", "damping", "load", "ramp", "release", "h", "t_end")
        base = {**p, **{name: PARAMETERS[name].default for name in usual}, "courant": None}
        reference = final_nodes(scheme, base)
        others = sum(final_nodes(scheme, {**base, **changed}) != reference for changed in VARIANTS)
        claim = f"of {len(VARIANTS)} variants of load, mass, damping and step, those that end on other nodes"
        yield Verdict.equal(claim, others, 0, 0).only_if(bool(reference))

"""A bridge crane under vertical shaking, its trolley loose on the girders: Fekak et al. (2017), Sect. 3.2.

Displacements are relative to the ground, from the undeformed crane, which is whole on every rank.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .... import Frame, parallel, signals
from ....contact.statics import tied_equilibrium
from ....integrators import SCHEMES, Integrator, Option, Scheme
from ....integrators.central.central_differences import CentralDifferences
from ....signals import Signal
from ...case import COMMON, EXPLICIT, Case, Problem, Results, Setup, Values, Verdict, Verdicts, contact_law
from . import model as crane
from . import record as crane_record
from .events import EventLog

_BRIEF = {
    "partition": "explicit part of hati: small, the elements that touch a wheel; paper, the trolley and the "
    "girders within 2 m of its middle",
    "record": "acceleration of the ground, positive upwards: builtin, from a formula, or a file .AT2 or "
    ".csv; it acts in z, also a record of a horizontal motion",
    "shaken": "what the acceleration loads: all, displacements relative to the ground; bridge, the paper's "
    "words to the letter, all but the trolley",
    "start": "static: equilibrium under gravity with tied wheels, then released; sudden: gravity acts at "
    "once on the undeformed crane (trolley and girders fall alike at first, and impulses are rounding)",
    "courant": "time step over the critical one of what is explicit: the crane, or that part with hati",
}
PARAMETERS = {
    "ratio": SCHEMES["hati"].options["ratio"],
    "partition": Option("small", "-", _BRIEF["partition"], tuple(crane.PARTITIONS)),
    "refine": Option(1, "-", "parts into which every element is divided", interval="[1, 50]"),
    "trolley": Option(0.0, "m", "position of the trolley's middle along the girders"),
    "record": Option("builtin", "-", _BRIEF["record"]),
    "alpha": Option(0.0, "1/s", "mass-proportional damping", interval="[0, inf)"),
    "shaken": Option("all", "-", _BRIEF["shaken"], ("all", "bridge")),
    "start": Option("static", "-", _BRIEF["start"], ("static", "sudden")),
    **COMMON,
    "gap_tolerance": replace(COMMON["gap_tolerance"], interval="[0, inf)"),
    "h": Option(1e-5, "s", "time step, the fine one of hati; the other way to give it is courant"),
    "courant": Option(None, "-", _BRIEF["courant"]),
    "t_end": Option(1.0, "s", "end time"),
    "every": Option(1, "steps", "steps between samples of the history, coarse ones of hati"),
}


def read_record(name: str) -> Signal:
    """The acceleration of the ground [m/s2], ``"builtin"`` or by :func:`.signals.read`. Collective."""
    if name == "builtin":
        return crane_record.record()
    try:
        return parallel.on_root(MPI.COMM_WORLD, lambda: signals.read(Path(name)))
    except PermissionError as error:
        raise ValueError(f"cannot read the record {name!r}: {error.strerror}") from None


def momentum_defect(log: EventLog, integrator: Integrator, frame: Frame, steps: int) -> float | None:
    """Vertical momentum of the trolley at the end less what loads and wheels gave it, over what loads gave.

    Central differences take the first and the last step of a run half. None for a damped crane, and for
    other schemes; the parts of HATI know the loads at other times.
    """
    if not isinstance(integrator, CentralDifferences) or frame.has_damping:
        return None
    up, loads = crane.dofs_of(frame, "trolley")[2::6], frame.loads
    forces = loads.amplitudes(integrator.dt * np.arange(steps + 1)) @ loads.patterns[:, up].sum(axis=1)
    forces += loads.constant[up].sum()
    given = integrator.dt * (forces.sum() - (forces[0] + forces[-1]) / 2)
    impulse = log.impulses.sum() - (log.first + log.last) / 2
    momentum = float(frame.mass[up] @ integrator.v_mean[up])
    return float(momentum - given - impulse) / abs(float(given))


@dataclass(frozen=True, kw_only=True, repr=False)
class CraneSetup(Setup):
    """The crane at rest under gravity, whole on every rank, and its wheels."""

    shaking: Signal  #: The acceleration of the ground [m/s2].
    frame: Frame  #: The whole crane.
    reactions: NDArray  #: Forces of the wheels in equilibrium with tied wheels, shape (4,) [N].


def rest_verdicts(results: Results, p: Values, equal: float, tolerance: float) -> Verdicts:
    """Masses of the parts, ``equal`` up to rounding, and forces of the wheels at rest."""
    load = crane.MASSES["trolley"] * crane.GRAVITY
    for name, mass in crane.MASSES.items():
        yield Verdict.equal(f"mass of the {name} [kg]", results["masses"][name], mass, equal * mass)
    wheels, rounding = results["reactions"], tolerance * load
    words = "the wheels at rest carry the trolley's weight [N]"
    yield Verdict.equal(words, sum(wheels), load, rounding)
    if p["trolley"] == 0:
        words = "each of the wheels carries a quarter of it [N]"
        yield Verdict.of("=", words, wheels, load / 4, rounding)


def touching_verdict(log: EventLog, p: Values, words: str) -> Verdicts:
    """Whether impulses act at closed gaps."""
    if np.isfinite(log.widest_touching):
        yield Verdict.below(words, max(0.0, log.widest_touching), p["gap_tolerance"])


def flights(run: Problem) -> Results:
    """The numbers of wheels that lift off and come down, and energies at the end."""
    log, result = run.log, run.result
    return {
        "closures": log.events.time.size,
        "flights_1ms": log.events.longer(1e-3),
        "flights_10ms": log.events.longer(1e-2),
        "max_gap": log.widest,
        "penetration_max": log.deepest,
        "impulses": log.impulses.tolist(),
        "energy_end": sum(float(result[name][-1]) for name in ("kinetic", "complementary", "internal")),
        "interface_energy": float(result["interface"][-1]),
    }


class CraneCase(Case):
    """A bridge crane under vertical shaking: its trolley's wheels lift off and come down again."""

    parameters, schemes = PARAMETERS, ("cd-lagrange", "hati")
    balance_limits = (1e-9, 1e-9)
    log_type = EventLog

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> CraneSetup:
        """The crane, divided or not, and its wheels with gaps that are exactly 0 at the start. Collective."""
        shaking, static = read_record(p["record"]), p["start"] == "static"
        named = crane.crane_mesh(trolley=p["trolley"], refine=p["refine"])
        loads = {"record": shaking, "damping": p["alpha"], "shaken": p["shaken"]}
        frame = crane.crane_frame(named, **loads)
        tied = crane.wheels(frame, gap0=0.0)
        u, reactions = tied_equilibrium(frame, tied, hold=crane.horizontal_hold(frame))
        system = crane.divided(named, p["partition"], **loads) if scheme.divided else frame
        body = system[0] if isinstance(system, tuple) else system
        wheels = crane.wheels(body, gap0=-tied.L(u) if static else 0.0, **contact_law(p))
        record, u0 = crane.wheel_rows(body), u if static else np.zeros(frame.size)
        known: Any = {"shaking": shaking, "frame": frame, "reactions": reactions}
        return CraneSetup(system=system, contact=wheels, record=record, u0=u0, **known)

    def dofs(self, setup: CraneSetup) -> int:
        """Free dofs of the whole crane."""
        return int(np.count_nonzero(~setup.frame.constrained))

    def measure(self, run: Problem) -> Results:
        """The numbers of a run, and the ground acceleration in words."""
        setup, t_end = run.setup, float(run.result["t"][-1])
        record, frame = setup.shaking, setup.frame
        peak = float(np.abs(record(np.append(record.times[record.times < t_end], t_end))).max())
        shaking = f"{record.name or 'nameless'}, in z whatever its own direction, up to {peak:.3g} m/s2"
        return {
            "masses": {name: frame.part_mass(parts) for name, parts in crane.BEAMS.items()},
            "reactions": setup.reactions.tolist(),
            "dofs": self.dofs(setup),
            **flights(run),
            "shaking": f"{shaking} in the run",
            "momentum_defect": momentum_defect(run.log, run.integrator, frame, run.result.steps),
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Statements on the model and on the run."""
        p, results = run.p, run.results
        finer = p["refine"] ** 2  # as the condition of the stiffness
        yield from rest_verdicts(results, p, 1e-12, 1e-9 * finer)
        if p["refine"] == 1:
            yield Verdict.equal("the model has 2352 free dofs", results["dofs"], 2352, 0)
        yield from touching_verdict(run.log, p, "impulses act at closed gaps: the largest gap with one [m]")
        if results["momentum_defect"] is not None:
            words = "loads and wheels give the trolley its vertical momentum (relative)"
            yield Verdict.below(words, results["momentum_defect"], 1e-9 * finer)

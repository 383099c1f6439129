"""A bridge crane under vertical shaking, its trolley loose on the girders: Fekak et al. (2017), Sect. 3.2.

Displacements are relative to the ground, from the undeformed crane, which is whole on every rank.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from .... import parallel, signals
from ....contact.statics import tied_equilibrium
from ....integrators import SCHEMES, Integrator, Option, find_scheme
from ....integrators.central_differences import CentralDifferences
from ....integrators.options import check
from ....output.result import Result
from ....signals import Signal
from ....systems.frame import Frame
from ... import drawings
from ...case import COMMON, Case, Judged, Problem, Values, balance_verdict
from ...verdict import Verdict
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
    "ratio": SCHEMES["hati"].parameters["ratio"],
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


class Crane:
    """The crane at rest under gravity, whole on every rank, for one set of parameters. Collective.

    Attributes:
        record: The acceleration of the ground [m/s2].
        frame, dofs: The whole crane, and how many of its dofs are free.
        u, reactions: Displacements of the equilibrium with tied wheels, shape (size,) [m], and forces of the
            wheels there, shape (4,) [N].
        start: Displacements at the start, shape (size,) [m].
        closed: Options of the contact of the wheels, with gaps that are exactly 0 at the start.
    """

    def __init__(self, p: Values) -> None:
        check({name: PARAMETERS[name] for name in ("refine", "alpha", "gap_tolerance")}, p)
        self.record, static = read_record(p["record"]), p["start"] == "static"
        self._named = crane.crane_mesh(trolley=p["trolley"], refine=p["refine"])
        self._partition = p["partition"]
        self._loads = {"record": self.record, "damping": p["alpha"], "shaken": p["shaken"]}
        self.frame = crane.crane_frame(self._named, **self._loads)
        self.dofs = int(np.count_nonzero(~self.frame.constrained))
        tied = crane.wheels(self.frame, gap0=0.0)
        self.u, self.reactions = tied_equilibrium(self.frame, tied, hold=crane.horizontal_hold(self.frame))
        self.start = self.u if static else np.zeros(self.frame.size)
        closed = {"gap_tolerance": p["gap_tolerance"], "touching": p.get("touching", True)}
        self.closed = {"gap0": -tied.L(self.u) if static else 0.0, **closed}

    def bodies(self, divided: bool) -> tuple[Frame, ...]:
        """The whole crane, or its explicit and its implicit part."""
        return crane.divided(self._named, self._partition, **self._loads) if divided else (self.frame,)


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    chosen, model = find_scheme(scheme), Crane(p)
    bodies = model.bodies(chosen.divided)
    critical = chosen.critical_ratio(bodies[0]) * bodies[0].critical_time_step()
    h = p["h"] if p["courant"] is None else p["courant"] * critical
    system = (bodies[0], bodies[1]) if chosen.divided else bodies[0]
    wheels = crane.wheels(bodies[0], **model.closed)
    integrator = chosen.bind(system, h, wheels, p, allow_unstable=allow_unstable)
    integrator.start(model.start, 0.0)
    # Columns of the trolley come first, then those of the girders.
    log = EventLog(integrator, np.hstack([np.eye(4), -np.eye(4)]))

    def judge(result: Result) -> Judged:
        log.close()
        defect = momentum_defect(log, integrator, model.frame, result.steps)
        results = {**measure(result, log, model), "critical_time_step": critical, "momentum_defect": defect}
        return results, verdicts(results, log, result, p)

    rows, effective = crane.wheel_rows(bodies[0]), {"h": h, "courant": h / critical}
    files = {"events.csv": lambda: log.events.table()}
    return Problem(integrator, p["t_end"], rows, log, judge, model.dofs, effective, files=files)


def measure(result: Result, log: EventLog, model: Crane) -> dict[str, Any]:
    """The numbers of a run, and the ground acceleration in words."""
    record, t_end = model.record, float(result["t"][-1])
    peak = float(np.abs(record(np.append(record.times[record.times < t_end], t_end))).max())
    name = record.name or "nameless"
    return {
        "balance_residual": log.relative_residual(),
        "masses": {name: model.frame.part_mass(parts) for name, parts in crane.BEAMS.items()},
        "reactions": model.reactions.tolist(),
        "dofs": model.dofs,
        "closures": log.events.time.size,
        "flights_1ms": log.events.longer(1e-3),
        "flights_10ms": log.events.longer(1e-2),
        "max_gap": log.widest,
        "penetration_max": log.deepest,
        "impulses": log.impulses.tolist(),
        "energy_end": sum(float(result[name][-1]) for name in ("kinetic", "complementary", "internal")),
        "interface_energy": float(result["interface"][-1]),
        "shaking": f"{name}, in z whatever its own direction, up to {peak:.3g} m/s2 in the run",
    }


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


def verdicts(results: dict[str, Any], log: EventLog, result: Result, p: Values) -> list[Verdict]:
    """Statements on the model and on the run."""
    load, finer, equal = crane.MASSES["trolley"] * crane.GRAVITY, p["refine"] ** 2, Verdict.equal
    rounding, wheels = 1e-9 * load * finer, results["reactions"]  # as the condition of the stiffness
    masses = [(name, results["masses"][name], mass) for name, mass in crane.MASSES.items()]
    found = [equal(f"mass of the {name} [kg]", ours, mass, 1e-12 * mass) for name, ours, mass in masses]
    found.append(equal("the wheels at rest carry the trolley's weight [N]", sum(wheels), load, rounding))
    if p["trolley"] == 0:
        words = "each of the wheels carries a quarter of it [N]"
        found.append(Verdict.of("=", words, wheels, load / 4, rounding))
    if p["refine"] == 1:
        found.append(equal("the model has 2352 free dofs", results["dofs"], 2352, 0))
    if result.balance:
        found.append(balance_verdict(results["balance_residual"], 1e-9, result.steps))
    if np.isfinite(log.widest_touching):
        words = "impulses act at closed gaps: the largest gap with one [m]"
        found.append(Verdict.below(words, max(0.0, log.widest_touching), p["gap_tolerance"]))
    if results["momentum_defect"] is not None:
        words = "loads and wheels give the trolley its vertical momentum (relative)"
        found.append(Verdict.below(words, results["momentum_defect"], 1e-9 * finer))
    return found


_ABOUT = "A bridge crane under vertical shaking: its trolley's wheels lift off and come down again."
BRIDGE_CRANE = Case(PARAMETERS, ("cd-lagrange", "hati"), make, _ABOUT, drawings.bridge_crane)

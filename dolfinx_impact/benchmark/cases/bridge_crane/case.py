"""A bridge crane under vertical shaking, its trolley loose on the girders: Fekak et al. (2017), Sect. 3.2.

The four wheels of the trolley may lift off the girders and come down again. Full explicit (CD-Lagrange),
or explicit at the wheels and implicit elsewhere (HATI). Displacements are those from the undeformed crane,
relative to the ground. The crane stays whole on every rank.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from .... import parallel, signals
from ....contact.node_pairs import NodePairs
from ....contact.statics import tied_equilibrium
from ....integrators import SCHEMES, Integrator, Option, find_scheme
from ....integrators.central_differences import CentralDifferences
from ....integrators.options import check
from ....mesh import NamedMesh
from ....output.result import Result
from ....signals import Signal
from ....systems.frame import Frame
from ... import drawings
from ...case import COMMON, Case, Problem, Values, balance_verdict
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
    """The acceleration of the ground [m/s2], ``"builtin"`` or from a file. Collective.

    Raises:
        FileNotFoundError, ValueError: See :func:`.signals.read`.
    """
    if name == "builtin":
        return crane_record.record()
    try:
        return parallel.on_root(MPI.COMM_WORLD, lambda: signals.read(Path(name)))
    except PermissionError as error:
        raise ValueError(f"cannot read the record {name!r}: {error.strerror}") from None


class Crane:
    """The crane at rest under gravity, whole on every rank, for one set of parameters. Collective.

    Args:
        p: Parameters of the case.

    Attributes:
        named: Its mesh.
        record: The acceleration of the ground [m/s2].
        frame: The whole crane.
        u: Displacements of the equilibrium with tied wheels, shape (size,) [m].
        reactions: Forces of the wheels there, shape (4,) [N].
    """

    def __init__(self, p: Values) -> None:
        check({name: PARAMETERS[name] for name in ("refine", "alpha", "gap_tolerance")}, p)
        self._p, self.record = p, read_record(p["record"])
        self.named: NamedMesh = crane.crane_mesh(trolley=p["trolley"], refine=p["refine"])
        self.frame = crane.crane_frame(self.named, **self._loads())
        tied = crane.wheels(self.frame, gap0=0.0)
        self.u, self.reactions = tied_equilibrium(self.frame, tied, hold=crane.horizontal_hold(self.frame))
        self._apart = tied.L(self.u)

    def _loads(self) -> dict[str, Any]:
        return {"record": self.record, "damping": self._p["alpha"], "shaken": self._p["shaken"]}

    @property
    def start(self) -> NDArray:
        """Displacements at the start, shape (size,) [m]."""
        return self.u if self._p["start"] == "static" else np.zeros(self.frame.size)

    @property
    def dofs(self) -> int:
        """Number of free dofs."""
        return int(np.count_nonzero(~self.frame.constrained))

    def bodies(self, divided: bool) -> tuple[Frame, ...]:
        """The whole crane, or its explicit and its implicit part."""
        return crane.divided(self.named, self._p["partition"], **self._loads()) if divided else (self.frame,)

    def wheels(self, body: Frame) -> NodePairs:
        """The trolley's wheels on the girders; all gaps are exactly 0 at the start."""
        gap0 = -self._apart if self._p["start"] == "static" else 0.0
        closed = {"gap_tolerance": self._p["gap_tolerance"], "touching": self._p.get("touching", True)}
        return crane.wheels(body, gap0=gap0, **closed)


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    chosen, model = find_scheme(scheme), Crane(p)
    bodies = model.bodies(chosen.divided)
    critical = bodies[0].critical_time_step()
    h = p["h"] if p["courant"] is None else p["courant"] * critical
    system = (bodies[0], bodies[1]) if chosen.divided else bodies[0]
    integrator = chosen.bind(system, h, model.wheels(bodies[0]), p, allow_unstable=allow_unstable)
    integrator.start(model.start, 0.0)
    # Columns of the trolley come first, then those of the girders.
    log = EventLog(integrator, np.hstack([np.eye(4), -np.eye(4)]))

    def judge(result: Result) -> tuple[dict[str, Any], list[Verdict]]:
        results = measure(result, log, integrator, model, critical)
        return results, verdicts(results, log, result, p)

    return Problem(
        integrator,
        p["t_end"],
        crane.wheel_rows(bodies[0]),
        log,
        judge,
        dofs=model.dofs,
        effective={"h": h, "courant": h / critical},
        files={"events.csv": lambda: log.events.table()},
    )


def measure(result: Result, log: EventLog, integrator: Any, model: Crane, critical: float) -> dict[str, Any]:
    """The numbers of a run; None for those that it does not have."""
    log.close()
    return {
        "balance_residual": log.relative_residual(),
        "masses": {name: model.frame.part_mass(parts) for name, parts in crane.BEAMS.items()},
        "reactions": model.reactions.tolist(),
        "dofs": model.dofs,
        "critical_time_step": critical,
        "closures": log.events.time.size,
        "flights_1ms": log.events.longer(1e-3),
        "flights_10ms": log.events.longer(1e-2),
        "max_gap": log.widest,
        "penetration_max": log.deepest,
        "impulses": log.impulses.tolist(),
        "energy_end": sum(float(result[name][-1]) for name in ("kinetic", "complementary", "internal")),
        "interface_energy": float(result["interface"][-1]),
        "momentum_defect": momentum_defect(log, integrator, model.frame, result.steps),
        "shaking": shaking(model.record, float(result["t"][-1])),
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


def shaking(record: Signal, t_end: float) -> str:
    """The ground acceleration in words."""
    until = np.append(record.times[record.times < t_end], t_end)
    peak = float(np.abs(record(until)).max())
    return f"{record.name or 'nameless'}, in z whatever its own direction, up to {peak:.3g} m/s2 in the run"


def verdicts(results: dict[str, Any], log: EventLog, result: Result, p: Values) -> list[Verdict]:
    """Statements on the model and on the run."""
    found = [
        Verdict.equal(f"mass of the {name} [kg]", results["masses"][name], mass, 1e-12 * mass)
        for name, mass in crane.MASSES.items()
    ]
    reactions, load = results["reactions"], crane.MASSES["trolley"] * crane.GRAVITY
    rounding = 1e-9 * load * p["refine"] ** 2  # as the condition of the stiffness
    words = "the wheels at rest carry the trolley's weight [N]"
    found.append(Verdict.equal(words, sum(reactions), load, rounding))
    if p["trolley"] == 0:
        words = "each of the wheels carries a quarter of it [N]"
        found.append(Verdict.of("=", words, reactions, load / 4, rounding))
    if p["refine"] == 1:
        found.append(Verdict.equal("the model has 2352 free dofs", results["dofs"], 2352, 0))
    if result.balance:
        found.append(balance_verdict(results["balance_residual"], 1e-9, result.steps))
    if np.isfinite(log.widest_touching):
        words = "impulses act at closed gaps: the largest gap with one [m]"
        found.append(Verdict.below(words, max(0.0, log.widest_touching), p["gap_tolerance"]))
    if results["momentum_defect"] is not None:
        words = "loads and wheels give the trolley its vertical momentum (relative)"
        found.append(Verdict.below(words, results["momentum_defect"], 1e-9 * p["refine"] ** 2))
    return found


BRIDGE_CRANE = Case(
    PARAMETERS,
    ("cd-lagrange", "hati"),
    make,
    about="A bridge crane under vertical shaking. The trolley is loose on its girders: its four wheels lift "
    "off and come down again.",
    drawing=drawings.bridge_crane,
)

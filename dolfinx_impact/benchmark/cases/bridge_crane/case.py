"""A bridge crane under vertical shaking, its trolley loose on the girders: Fekak et al. (2017), Sect. 3.2.

The four wheels of the trolley may lift off the girders and come down again. Full explicit (CD-Lagrange),
or explicit at the wheels and implicit elsewhere (HATI). Displacements are those from the undeformed crane,
relative to the ground. The crane stays whole on every rank.
"""

from __future__ import annotations

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

#: Accepted residual of the energy balance over the largest energy.
BALANCE = 1e-9
#: Gaps that stay open so long count as flights [s].
FLIGHTS = {"flights_1ms": 1e-3, "flights_10ms": 1e-2}
#: Most parts into which an element of the specification is divided.
_MOST_REFINED = 50
PARAMETERS = {
    "ratio": SCHEMES["hati"].parameters["ratio"],
    "partition": Option(
        "small",
        "-",
        "explicit part of hati: small, the elements that touch a wheel; paper, the trolley and "
        "the girders within 2 m of its middle",
        tuple(crane.PARTITIONS),
    ),
    "refine": Option(1, "-", "parts into which every element is divided"),
    "trolley": Option(0.0, "m", "position of the trolley's middle along the girders"),
    "record": Option(
        "builtin",
        "-",
        "acceleration of the ground, positive upwards: builtin, from a formula, or a file "
        ".AT2 or .csv; it acts in z, also a record of a horizontal motion",
    ),
    "alpha": Option(0.0, "1/s", "mass-proportional damping"),
    "shaken": Option(
        "all",
        "-",
        "what the acceleration loads: all, displacements relative to the ground; bridge, the "
        "paper's words to the letter, all but the trolley",
        ("all", "bridge"),
    ),
    "start": Option(
        "static",
        "-",
        "static: equilibrium under gravity with tied wheels, then released; sudden: gravity "
        "acts at once on the undeformed crane (trolley and girders fall alike at first, and impulses are "
        "rounding)",
        ("static", "sudden"),
    ),
    **COMMON,
    "h": Option(1e-5, "s", "time step, the fine one of hati; the other way to give it is courant"),
    "courant": Option(
        None, "-", "time step over the critical one of what is explicit: the crane, or that part with hati"
    ),
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


def check(p: Values) -> None:
    """Refuse numbers that describe no crane.

    Raises:
        ValueError: Which one, and what is allowed.
    """
    if not 1 <= p["refine"] <= _MOST_REFINED:
        raise ValueError(f"refine must be 1 to {_MOST_REFINED}, but is {p['refine']}")
    if not p["alpha"] >= 0:
        raise ValueError(f"alpha must be at least 0 [1/s], but is {p['alpha']}")
    if not p["gap_tolerance"] >= 0:
        raise ValueError(f"gap_tolerance must be at least 0 [m], but is {p['gap_tolerance']}")


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
        check(p)
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

    def bodies(self, divided: bool) -> tuple[Frame, ...]:
        """The whole crane, or its explicit and its implicit part."""
        return crane.divided(self.named, self._p["partition"], **self._loads()) if divided else (self.frame,)

    def wheels(self, body: Frame) -> NodePairs:
        """The trolley's wheels on the girders; all gaps are exactly 0 at the start."""
        p = self._p
        gap0 = -self._apart if p["start"] == "static" else 0.0
        return crane.wheels(
            body, gap0=gap0, gap_tolerance=p["gap_tolerance"], touching=p.get("touching", True)
        )

    def masses(self) -> dict[str, float]:
        """Masses of the beams by name [kg]."""
        return {name: self.frame.part_mass(parts) for name, parts in crane.BEAMS.items()}


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
        dofs=int(np.count_nonzero(~model.frame.constrained)),
        effective={"h": h, "courant": h / critical},
        files={"events.csv": lambda: log.events.table()},
    )


def measure(
    result: Result, log: EventLog, integrator: Integrator, model: Crane, critical: float
) -> dict[str, Any]:
    """The numbers of a run; None for what it does not have."""
    log.close()
    kinetic, complementary, internal = (
        float(result[name][-1]) for name in ("kinetic", "complementary", "internal")
    )
    return {
        "balance_residual": log.relative_residual(),
        "masses": model.masses(),
        "reactions": model.reactions.tolist(),
        "dofs": int(np.count_nonzero(~model.frame.constrained)),
        "critical_time_step": critical,
        "closures": log.events.time.size,
        **{name: log.events.longer(duration) for name, duration in FLIGHTS.items()},
        "max_gap": log.widest,
        "penetration_max": log.deepest,
        "impulses": log.impulses.tolist(),
        "energy_end": kinetic + complementary + internal,
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
    """What shakes the crane, in words."""
    until = np.append(record.times[record.times < t_end], t_end)
    peak = float(np.abs(record(until)).max())
    return f"{record.name or 'nameless'}, in z whatever its own direction, up to {peak:.3g} m/s2 in the run"


def verdicts(results: dict[str, Any], log: EventLog, result: Result, p: Values) -> list[Verdict]:
    """What can be decided of the model and of the run."""
    found = [
        Verdict.equal(f"mass of the {name} [kg]", results["masses"][name], mass, 1e-12 * mass)
        for name, mass in crane.MASSES.items()
    ]
    load = crane.MASSES["trolley"] * crane.GRAVITY
    rounding = 1e-9 * load * p["refine"] ** 2  # as the condition of the stiffness
    found.append(
        Verdict.equal(
            "the wheels at rest carry the trolley's weight [N]", sum(results["reactions"]), load, rounding
        )
    )
    if p["trolley"] == 0:
        worst = max(results["reactions"], key=lambda r: abs(r - load / 4))
        found.append(
            Verdict.equal("each of the wheels carries a quarter of it [N]", worst, load / 4, rounding)
        )
    if p["refine"] == 1:
        found.append(Verdict.equal("the model has 2352 free dofs", results["dofs"], 2352, 0))
    if result.balance:
        found.append(balance_verdict(results["balance_residual"], BALANCE, result.steps))
    if np.isfinite(log.widest_touching):
        found.append(
            Verdict.below(
                "impulses act at closed gaps: the largest gap with one [m]",
                max(0.0, log.widest_touching),
                p["gap_tolerance"],
            )
        )
    if results["momentum_defect"] is not None:
        found.append(
            Verdict.below(
                "loads and wheels give the trolley its vertical momentum (relative)",
                results["momentum_defect"],
                1e-9 * p["refine"] ** 2,
            )
        )
    return found


BRIDGE_CRANE = Case(
    PARAMETERS,
    ("cd-lagrange", "hati"),
    make,
    about="A bridge crane under vertical shaking. The trolley is loose on its girders: its four wheels lift "
    "off and come down again.",
    drawing=drawings.bridge_crane,
)

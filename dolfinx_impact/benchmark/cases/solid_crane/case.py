"""The bridge crane in three dimensions, which Fekak et al. (2017) announce: rails and wheels as fine solids.

The frame of ``bridge-crane`` with solids in the place of its beams, its trolley loose on four rails, with
friction. Displacements are relative to the ground, from the undeformed crane. doi:10.1007/s00466-017-1397-0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .... import parallel
from ....contact.node_pairs import NodePairs
from ....integrators import SCHEMES, Option, find_scheme
from ....integrators.options import check
from ....output.result import Result
from ....simulation.loop import simulate
from ....systems.solid import Solid
from ... import drawings
from ...case import COMMON, Case, Judged, Problem, Values, balance_verdict, defaults
from ...verdict import Verdict
from ..bridge_crane import case as frame_case
from ..bridge_crane import model as frame
from ..bridge_crane.events import EventLog, Events
from . import model, statics
from .blocks import PARTS
from .events import Landing, WheelLog, landings, matches

_START = (
    "static: equilibrium under gravity with wheels that press evenly on their treads and are tied, then "
    "released; sudden: gravity acts at once on the undeformed crane"
)
PARAMETERS = {
    "treads": Option(1, "-", "elements along each side of the square treads", interval="[1, 20]"),
    "layers": Option(1, "-", "layers of elements of a rail, and of a wheel", interval="[1, 100]"),
    "coarse": Option(0.8, "m", "largest size of the other elements", interval="(0, inf)"),
    "friction": Option(0.2, "-", "Coulomb's coefficient of wheels and rails", interval="[0, inf)"),
    **{name: frame_case.PARAMETERS[name] for name in ("trolley", "record", "alpha")},
    "start": Option("static", "-", _START, ("static", "sudden")),
    **COMMON,
    "gap_tolerance": frame_case.PARAMETERS["gap_tolerance"],
    "courant": Option(0.9, "-", "(fine) step over the critical one of what is explicit"),
    "h": Option(None, "s", "(fine) time step; the other way to give it is courant"),
    "t_end": Option(1.0, "s", "end time"),
    "every": Option(10, "steps", "steps between samples of the history, coarse ones of hati"),
}
FREQUENCIES = 4  #: How many natural frequencies are compared with those of the frame.
FRAME_STEP = 1e-5  #: Of the frame [s], that of ``bridge-crane``.
LONG = 1e-2  #: Flights of at least so long are compared with those of the frame [s].


def checked(p: Values) -> Values:
    """The parameters; ValueError for those of no crane."""
    check(PARAMETERS, p)
    farthest = model.SPAN - 2.0
    if not abs(p["trolley"]) <= farthest:
        raise ValueError(f"trolley must be within {farthest:g} m of the middle, but is {p['trolley']:g} m")
    return p


@dataclass(frozen=True)
class Rest:
    """The crane at rest, the same on every rank.

    Attributes:
        places, u: Nodes and their displacements, shape (n, 3) [m].
        gap0: Gaps of the pairs that are zero there, in the order of their coordinates, shape (pairs,) [m].
        reactions: Forces of the wheels, shape (4,) [N].
        masses: Masses of the parts of the frame [kg].
        frequencies, tied: Natural frequencies with a loose and with a tied trolley [Hz].
    """

    places: NDArray
    u: NDArray
    gap0: NDArray
    reactions: NDArray
    masses: dict[str, float]
    frequencies: list[float]
    tied: list[float]

    def field(self, x: NDArray) -> NDArray:
        """Displacements at nodes x of shape (3, n), shape (3, n) [m]."""
        apart, which = cKDTree(self.places).query(x.T)
        assert x.size == 0 or apart.max() < 1e-6
        return np.ascontiguousarray(self.u[which].T)


def at_rest(p: Values) -> Rest:
    """Computed on rank 0. Collective."""
    return parallel.on_root(MPI.COMM_WORLD, lambda: _at_rest(p))


def _at_rest(p: Values) -> Rest:
    named = model.crane_mesh(p, MPI.COMM_SELF)
    body = model.crane_solid(named, p, None)
    u, reactions = statics.at_rest(body, p)
    pairs = model.wheels(body, gap0=0.0)
    parts = {part: model.crane_solid(named, p, None, [part]).total_mass for part in PARTS}
    masses = {
        "girders": parts["girders"] + parts["rails"],
        "end-carriages": parts["end-carriages"],
        "trolley": parts["trolley"] + parts["wheels"],
    }
    loose = statics.natural_frequencies(body, FREQUENCIES)
    tied = statics.natural_frequencies(body, FREQUENCIES, statics.MeanGaps(body, p).L)
    return Rest(body.x.copy(), u, -pairs.L(u.ravel()), reactions, masses, loose, tied)


def frame_frequencies(p: Values) -> tuple[list[float], list[float]]:
    """Natural frequencies of the frame, with a loose and with a tied trolley [Hz]."""
    body = frame.crane_frame(frame.crane_mesh(trolley=p["trolley"]))
    tied = frame.wheels(body, gap0=0.0).L
    return statics.natural_frequencies(body, FREQUENCIES), statics.natural_frequencies(
        body, FREQUENCIES, tied
    )


class SolidCrane:
    """The solid crane for one set of parameters, distributed over the ranks. Collective.

    Attributes:
        rest: The crane at rest.
        record: The acceleration of the ground [m/s2].
    """

    def __init__(self, p: Values) -> None:
        self._p = checked(p)
        self.record, self.rest = frame_case.read_record(p["record"]), at_rest(p)
        self._named = model.crane_mesh(p, MPI.COMM_WORLD)

    def bodies(self, divided: bool) -> tuple[Solid, ...]:
        """Rails with wheels, and all other parts; or the undivided crane. Collective."""
        return model.bodies(self._named, self._p, self.record, divided)

    def wheels(self, body: Solid) -> NodePairs:
        """Contact of the treads, with gaps that are exactly 0 at the start. Collective."""
        p = self._p
        gap0 = self.rest.gap0 if p["start"] == "static" else 0.0
        closed = {"gap_tolerance": p["gap_tolerance"], "touching": p.get("touching", True)}
        return model.wheels(body, gap0=gap0, friction=p["friction"], **closed)

    def start(self, x: NDArray) -> NDArray:
        """Displacements at the start at nodes x of shape (3, n), shape (3, n) [m]."""
        return self.rest.field(x) if self._p["start"] == "static" else np.zeros(x.shape)


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    chosen, crane = find_scheme(scheme), SolidCrane(p)
    parts = crane.bodies(chosen.divided)
    critical = chosen.critical_ratio(parts[0]) * parts[0].critical_time_step()
    h = p["h"] if p["h"] is not None else p["courant"] * critical
    contact = crane.wheels(parts[0])
    system = (parts[0], parts[1]) if chosen.divided else parts[0]
    integrator = chosen.bind(system, h, contact, p, allow_unstable=allow_unstable)
    integrator.start(crane.start, 0.0)
    rows = model.wheel_rows(parts[0], p)
    places = contact.L.order * (1e-8 * parts[0].length)
    log = WheelLog(integrator, model.wheel_of(places, p), rows)

    def judge(result: Result) -> Judged:
        log.close()
        results = {**measure(result, log, crane.rest, p), **compared(log, p)}
        results |= {"critical_time_step": critical, "h": h}
        return results, verdicts(results, log, result, p)

    effective = {"h": h, "courant": h / critical}
    dofs = int(parallel.total(parts[0].comm, np.count_nonzero(_free(parts))))
    files = {"events.csv": lambda: log.events.table()}
    return Problem(integrator, p["t_end"], rows, log, judge, dofs, effective, files=files)


def _free(parts: tuple[Solid, ...]) -> NDArray:
    return np.any([body.active & ~body.constrained for body in parts], axis=0)


def measure(result: Result, log: EventLog, rest: Rest, p: Values) -> dict[str, Any]:
    """The numbers of a run. Collective."""
    loose, tied = parallel.on_root(MPI.COMM_WORLD, lambda: frame_frequencies(p))
    return {
        "balance_residual": log.relative_residual(),
        "masses": rest.masses,
        "reactions": rest.reactions.tolist(),
        "closures": log.events.time.size,
        "flights_1ms": log.events.longer(1e-3),
        "flights_10ms": log.events.longer(LONG),
        "max_gap": log.widest,
        "penetration_max": log.deepest,
        "impulses": log.impulses.tolist(),
        "energy_end": sum(float(result[name][-1]) for name in ("kinetic", "complementary", "internal")),
        "interface_energy": float(result["interface"][-1]),
        "frequencies": rest.frequencies,
        "frequencies_frame": loose,
        "frequencies_tied": rest.tied,
        "frequencies_tied_frame": tied,
    }


def verdicts(results: dict[str, Any], log: EventLog, result: Result, p: Values) -> list[Verdict]:
    """Statements on the model and on the run."""
    equal, load = Verdict.equal, frame.MASSES["trolley"] * frame.GRAVITY
    found = [
        equal(f"mass of the {name} [kg]", results["masses"][name], mass, 1e-9 * mass)
        for name, mass in frame.MASSES.items()
    ]
    words = "the wheels at rest carry the trolley's weight [N]"
    found.append(equal(words, sum(results["reactions"]), load, 1e-8 * load))
    if p["trolley"] == 0:
        words = "each of the wheels carries a quarter of it [N]"
        found.append(Verdict.of("=", words, results["reactions"], load / 4, 1e-8 * load))
    for name, words in (("", "loose"), ("_tied", "tied")):
        ours, theirs = (np.array(results[f"frequencies{name}{of}"]) for of in ("", "_frame"))
        told = f"the first {FREQUENCIES} natural frequencies are the frame's, trolley {words} (relative)"
        found.append(Verdict.of("<=", told, ours / theirs - 1, 0.03))
    if result.balance:
        found.append(balance_verdict(results["balance_residual"], 1e-9, result.steps))
    if np.isfinite(log.widest_touching):
        words = "impulses act at closed gaps: the largest gap of a wheel with one [m]"
        found.append(Verdict.below(words, max(0.0, log.widest_touching), p["gap_tolerance"]))
    found += order_verdicts(results)
    return found


def frame_events(p: Values, h: float) -> Events:
    """Events of the frame of ``bridge-crane``, explicit with the step ``h`` [s], under the same shaking."""
    same = ("trolley", "record", "alpha", "start", "t_end", "gap_tolerance")
    usual = {**defaults(SCHEMES["cd-lagrange"].parameters), **defaults(frame_case.PARAMETERS)}
    problem = frame_case.make("cd-lagrange", {**usual, **{name: p[name] for name in same}, "h": h})
    log = problem.log
    assert isinstance(log, EventLog)
    how: dict[str, Any] = {"every": 10**6, "progress": False, "energies": False}
    simulate(problem.integrator, t_end=problem.t_end, record=problem.record, observers=[log], **how)
    log.close()
    return log.events


def compared(log: EventLog, p: Values) -> dict[str, Any]:
    """Landings after flights of 10 ms and more: of the run, of the frame with two steps, and common ones."""
    every = log.events, frame_events(p, FRAME_STEP), frame_events(p, FRAME_STEP / 2)
    ours, true, finer = (landings(events, LONG) for events in every)
    return {
        "landings": [list(each) for each in ours],
        "landings_frame": [list(each) for each in true],
        "landings_frame_finer": [list(each) for each in finer],
        "landings_in_both": len(matches(ours, true, LONG)),
        "landings_in_both_frames": len(matches(finer, true, LONG)),
    }


def order_verdicts(results: dict[str, Any]) -> list[Verdict]:
    """Whether wheels come down as those of the frame, whose short flights depend on its step."""
    ours, true = ([Landing(*each) for each in results[f"landings{of}"]] for of in ("", "_frame"))
    found = []
    for shortest in (2 * LONG, LONG):
        mine, theirs = ([each for each in of if each.open >= shortest] for of in (ours, true))
        words = f"flights of {1e3 * shortest:g} ms and more end as the frame's: wheels, order, times to 10 ms"
        count, most = len(matches(mine, theirs, LONG)), max(len(mine), len(theirs))
        found.append(Verdict.equal(f"{words} (landings in both, of all)", count, most, 0))
    words = "of 10 ms and more at least as many are the frame's as of the frame with half its step (landings)"
    both = results["landings_in_both"], results["landings_in_both_frames"]
    return [*found, Verdict.of(">=", words, *both)]


_ABOUT = (
    "The bridge crane as a solid, its wheels and rails explicit with small steps and friction, girders and "
    "trolley implicit with large ones: the trolley lifts off and comes down beside that of the frame."
)
SOLID_CRANE = Case(
    PARAMETERS, ("cd-lagrange", "hati"), make, _ABOUT, drawings.solid_crane, defaults={"ratio": 50}
)

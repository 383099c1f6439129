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
from ....algebra.operators import of_points
from ....integrators import SCHEMES, Option, Scheme
from ...case import COMMON, EXPLICIT, Case, Problem, Results, Setup, Values, Verdicts, contact_law, defaults
from ...verdict import Verdict
from ..bridge_crane import case as frame_case
from ..bridge_crane import model as frame
from ..bridge_crane.events import EventLog, Events
from . import model, statics
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


@dataclass(frozen=True)
class Rest:
    """The crane at rest, the same on every rank."""

    places: NDArray  #: Nodes, shape (n, 3) [m].
    u: NDArray  #: Their displacements, likewise.
    gap0: NDArray  #: Gaps of the pairs that are zero there, in the order of their coordinates, (pairs,) [m].
    reactions: NDArray  #: Forces of the wheels, shape (4,) [N].
    masses: dict[str, float]  #: Of the parts of the frame [kg].
    frequencies: list[float]  #: Natural frequencies with a loose trolley [Hz].
    tied: list[float]  #: Those with a tied one [Hz].

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
    parts = {part: model.crane_solid(named, p, None, [part]).total_mass for part in model.PARTS}
    masses = {
        "girders": parts["girders"] + parts["rails"],
        "end-carriages": parts["end-carriages"],
        "trolley": parts["trolley"] + parts["wheels"],
    }
    loose = statics.natural_frequencies(body, FREQUENCIES)
    tied = statics.natural_frequencies(body, FREQUENCIES, of_points(statics.MeanGaps(body, p).L))
    return Rest(body.x.copy(), u, -pairs.L(u.ravel()), reactions, masses, loose, tied)


def frame_frequencies(p: Values) -> tuple[list[float], list[float]]:
    """Natural frequencies of the frame, with a loose and with a tied trolley [Hz]."""
    body = frame.crane_frame(frame.crane_mesh(trolley=p["trolley"]))
    rows = (None, of_points(frame.wheels(body, gap0=0.0).L))
    loose, tied = (statics.natural_frequencies(body, FREQUENCIES, held) for held in rows)
    return loose, tied


class SolidCrane:
    """The solid crane for one set of parameters, its mesh distributed over the ranks. Collective."""

    def __init__(self, p: Values) -> None:
        self._p = p
        self.record, self.rest = frame_case.read_record(p["record"]), at_rest(p)
        self._named = model.crane_mesh(p, MPI.COMM_WORLD)

    def setup(self, divided: bool) -> Setup:
        """The crane at rest, divided or not, and its wheels, whose gaps are exactly 0. Collective."""
        p, static = self._p, self._p["start"] == "static"
        parts = model.bodies(self._named, p, self.record, divided)
        wheels = model.wheels(parts[0], gap0=self.rest.gap0 if static else 0.0, **contact_law(p))
        state: Any = {"record": model.wheel_rows(parts[0], p), "u0": self.rest.field if static else 0.0}
        return Setup(system=parts if divided else parts[0], contact=wheels, beside=self, **state)


def frame_events(p: Values, h: float) -> Events:
    """Events of the frame of ``bridge-crane``, explicit with the step ``h`` [s], under the same shaking."""
    same = ("trolley", "record", "alpha", "start", "t_end", "gap_tolerance")
    usual = {**defaults(SCHEMES["cd-lagrange"].options), **defaults(frame_case.PARAMETERS)}
    given = {**usual, **{name: p[name] for name in same}, "h": h, "every": 10**6}
    problem = frame_case.CraneCase().make("cd-lagrange", given)
    problem.simulate(energies=False)
    problem.log.close()
    events: Events = problem.log.events
    return events


def compared(log: EventLog, p: Values) -> Results:
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


def order_verdicts(results: Results) -> Verdicts:
    """Whether wheels come down as those of the frame, whose short flights depend on its step."""
    ours, true = ([Landing(*each) for each in results[f"landings{of}"]] for of in ("", "_frame"))
    for shortest in (2 * LONG, LONG):
        mine, theirs = ([each for each in of if each.open >= shortest] for of in (ours, true))
        words = f"flights of {1e3 * shortest:g} ms and more end as the frame's: wheels, order, times to 10 ms"
        count, most = len(matches(mine, theirs, LONG)), max(len(mine), len(theirs))
        yield Verdict.equal(f"{words} (landings in both, of all)", count, most, 0)
    words = "of 10 ms and more at least as many are the frame's as of the frame with half its step (landings)"
    both = results["landings_in_both"], results["landings_in_both_frames"]
    yield Verdict.of(">=", words, *both)


class SolidCraneCase(Case):
    """The crane of solids."""

    parameters, schemes = PARAMETERS, ("cd-lagrange", "hati")
    about = (
        "The bridge crane as a solid, its wheels and rails explicit with small steps and friction, girders "
        "and trolley implicit with large ones: the trolley lifts off and comes down beside that of the frame."
    )
    balance_limits = (1e-9, 1e-9)
    log_type = WheelLog
    defaults = {"ratio": 50}

    def _refuse(self, p: Values) -> None:
        farthest = model.SPAN - 2.0
        if not abs(p["trolley"]) <= farthest:
            limits = f"within {farthest:g} m of the middle"
            raise ValueError(f"trolley must be {limits}, but is {p['trolley']:g} m")

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """The crane at rest, divided or not, and its wheels. Collective."""
        return SolidCrane(p).setup(scheme.divided)

    def dofs(self, setup: Setup) -> int:
        """Free dofs of the whole crane. Collective."""
        parts = setup.system if isinstance(setup.system, tuple) else (setup.system,)
        free = np.any([body.active & ~body.constrained for body in parts], axis=0)
        return int(parallel.total(setup.body.comm, np.count_nonzero(free)))

    def measure(self, run: Problem) -> Results:
        """Flights, frequencies beside those of the frame, and landings beside its. Collective."""
        rest: Rest = run.setup.beside.rest
        loose, tied = parallel.on_root(MPI.COMM_WORLD, lambda: frame_frequencies(run.p))
        return {
            "masses": rest.masses,
            "reactions": rest.reactions.tolist(),
            **frame_case.flights(run),
            "frequencies": rest.frequencies,
            "frequencies_frame": loose,
            "frequencies_tied": rest.tied,
            "frequencies_tied_frame": tied,
            **compared(run.log, run.p),
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Statements on the model and on the run."""
        results, p = run.results, run.p
        yield from frame_case.rest_verdicts(results, p, 1e-9, 1e-8)
        for name, words in (("", "loose"), ("_tied", "tied")):
            ours, theirs = (np.array(results[f"frequencies{name}{of}"]) for of in ("", "_frame"))
            told = f"the first {FREQUENCIES} natural frequencies are the frame's, trolley {words} (relative)"
            yield Verdict.of("<=", told, ours / theirs - 1, 0.03)
        words = "impulses act at closed gaps: the largest gap of a wheel with one [m]"
        yield from frame_case.touching_verdict(run.log, p, words)
        yield from order_verdicts(results)

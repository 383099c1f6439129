"""A case of the benchmark: what it builds, how it starts, what is measured and what must hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import Result, SparseRows, StepControl, parallel, simulate
from ..integrators import SCHEMES, Integrator, Option, Scheme, find_scheme, options
from ..output.observer import ObserverLike
from .run_log import RunLog as RunLog
from .verdict import Verdict as Verdict  # cases import these from here
from .verdict import Verdicts as Verdicts

Values = Mapping[str, Any]  #: Parameters of a run by name.
Results = dict[str, Any]  #: Measured numbers of a run by name.
Judged = tuple[Results, list[Verdict]]

#: Schemes of the cases of Di Stasio et al. (2019): those of one system that go by a name.
NAMED = tuple(name for name, s in SCHEMES.items() if not (name.startswith("dep-") or s.divided or s.static))
#: Those for a single mass: singular-mass CD-Lagrange hands the mass of a contact node to its neighbours.
SINGLE = tuple(name for name in NAMED if name != "cd-lagrange-singular")
#: The scheme that a case is built for where none is named.
EXPLICIT = SCHEMES["cd-lagrange"]
#: Parameters of every case besides its own.
COMMON = {
    "h": Option(None, "s", "time step; the other way to give it is courant"),
    "t_end": Option(None, "s", "end time"),
    "every": Option(
        1, "-", "steps between samples of the history; more by default where it takes above 1 GB"
    ),
    "gap_tolerance": Option(1e-12, "m", "a gap up to this counts as closed"),
}
#: Intervals of these parameters in every case that declares none of its own.
_INTERVALS = {"h": "(0, inf)", "courant": "(0, inf)", "t_end": "(0, inf)", "every": "[1, inf)"}


def defaults(options: Mapping[str, Option]) -> dict[str, Any]:
    """The defaults of parameters."""
    return {name: option.default for name, option in options.items()}


def contact_law(p: Values) -> dict[str, Any]:
    """Keyword arguments of a contact: those of its law that are parameters of the run."""
    names = ("restitution", "friction", "gap_tolerance", "touching")
    return {name: p[name] for name in names if name in p}


def vertical(body: Any, places: ArrayLike, labels: Sequence[str]) -> SparseRows:
    """The displacements along z of the nodes at places, shape (n, 3) [m], in their order."""
    apart = np.asarray(places)[:, None] - body.x[: body.owned // body.block]
    which, nodes = np.nonzero(np.linalg.norm(apart, axis=2) < 1e-8 * body.length)
    dofs = (body.block * nodes + 2)[:, None]
    return SparseRows(dofs, np.ones(dofs.shape), which[:, None], [labels[k] for k in which])


def run_end(integrator: Integrator, t_end: float) -> float:
    """The end of a run [s], at least one step after its start."""
    one = integrator.t0 + integrator.dt
    return one if t_end < one + 0.5 * integrator.dt else t_end


@dataclass(frozen=True, kw_only=True, repr=False)
class Setup:
    """System and contact of a case for a scheme; a subclass may have more for measurements."""

    system: Any  #: The system, or the explicit and the implicit part of a divided one.
    contact: Any = None  #: Its contact, a list of contacts, or None.
    record: SparseRows | None = None  #: The recorded displacements; none by default.
    critical: float | None = None  #: Critical step of central differences [s]; None: the system knows it.
    beside: Any = None  #: What measurements of the case need besides.
    u0: Any = 0.0  #: State at the start, as :meth:`.Integrator.start` takes it.
    v0: Any = 0.0

    @property
    def body(self) -> Any:
        """The system, of a divided one the explicit part."""
        return self.system[0] if isinstance(self.system, tuple) else self.system


class Case:
    """A case of the benchmark. A subclass has the first two attributes and overrides what differs.

    Its docstring tells users of the motion and its purpose, in a sentence or two.
    """

    parameters: Mapping[str, Option]  #: By name.
    schemes: tuple[str, ...]  #: Names of those it runs with.
    about: str = ""  #: The docstring of the class, unless it has another one here.
    amplifies_rounding: bool = False  #: Whether long runs differ in whole cycles where roundings differ.
    defaults: Values = {}  #: Parameters of schemes with another default here.
    reported: Values = {}  #: Parameters of the run in the report, where that of the defaults takes long.
    own: tuple[str, ...] = ()  #: Parameters that mean another thing than those of schemes of their names.
    #: Courant numbers of explicit and of other schemes, where the parameter has no default.
    courants: tuple[float, float] = (1.0, 1.0)
    explicit_courant: float | None = None  #: Default of ``courant`` with explicit schemes, if another one.
    no_critical_step: str = ""  #: Why ``courant`` is refused; empty where the system has a critical step.
    follows: bool = False  #: Whether the step follows the critical one, unless ``h`` is given.
    balance: str = "balance_residual"  #: The result that is the largest residual of the energy balance.
    balance_limits: tuple[float, float] = (1e-12, 1e-11)  #: For explicit and for other schemes: round-off.
    log_type: type[RunLog] = RunLog  #: The log of every step.
    problem_type: type[Problem] | None = None  #: What :meth:`make` makes, a :class:`Problem` by default.

    def __init_subclass__(cls) -> None:
        if cls.__doc__ and "about" not in vars(cls):
            cls.about = " ".join(cls.__doc__.split())

    def __init__(self) -> None:
        options = dict(self.parameters)
        for name in _INTERVALS.keys() & options.keys():
            options[name] = replace(options[name], interval=options[name].interval or _INTERVALS[name])
        self.parameters = options

    # -- what a case says of itself

    def settled(self, p: Values, scheme: Scheme) -> dict[str, Any]:
        """The checked parameters, with those that depend on others."""
        return dict(p)

    def build(self, p: Values, scheme: Scheme) -> Setup:
        """System, contact and recorded rows for settled parameters and a scheme. Collective."""
        raise NotImplementedError

    def time_step(self, p: Values, scheme: Scheme, setup: Setup) -> float:
        """``h``, or ``courant`` times the critical step of the scheme [s]. Collective."""
        usual = self.parameters["h"].default  # where it is a number, courant is given only by the user
        courant = p.get("courant")
        if p["h"] is not None and (usual is None or courant is None):
            return float(p["h"])
        courant = self.courants[not scheme.explicit] if courant is None else courant
        return float(courant * self.critical_step(scheme, setup))

    def end(self, p: Values, scheme: Scheme) -> float:
        """End time where none is given [s]."""
        raise NotImplementedError

    def start(self, integrator: Integrator, setup: Any, p: Values) -> None:
        """Start the scheme with the state of the set-up. Collective."""
        integrator.start(setup.u0, setup.v0)

    def log(self, integrator: Integrator, setup: Any, p: Values) -> RunLog:
        """The log of every step. Collective."""
        return self.log_type(integrator, setup, p)

    def measure(self, run: Problem) -> Results:
        """The numbers of a run. Collective."""
        return {}

    def verdicts(self, run: Problem) -> Verdicts:
        """Verdicts that a run decides, besides that on the energy balance. Collective."""
        return []

    def study(self, problem: Problem) -> Verdicts:
        """Verdicts that take further runs. Collective."""
        return []

    def balance_limit(self, run: Problem) -> float:
        """Largest residual of the energy balance over the largest energy: round-off of the scheme."""
        return self.balance_limits[not find_scheme(run.scheme).explicit]

    def record(self, integrator: Integrator, setup: Any, p: Values) -> SparseRows:
        """The recorded displacements. Collective."""
        known: SparseRows | None = setup.record
        return setup.body.rows(np.zeros(0, dtype=np.int32)) if known is None else known  # type: ignore[no-any-return]

    def dofs(self, setup: Any) -> int:
        """Number of dofs of all ranks. Collective."""
        body = setup.body
        if not isinstance(setup.system, tuple):
            return int(parallel.total(body.comm, body.owned))
        return int(parallel.total(body.comm, np.count_nonzero(sum(part.active for part in setup.system))))

    # -- what follows from it

    def make(self, scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
        """The case for one scheme, started. Collective.

        Args:
            scheme: Name of the scheme.
            p: All parameters of the case and of the scheme.
            allow_unstable: Accept a step above the critical one.

        Raises:
            ValueError: Values that describe no such case, or a step that the scheme refuses.
        """
        chosen, given = find_scheme(scheme), p
        self.check(p)
        settled = self.settled(p, chosen)
        setup = self.build(settled, chosen)
        settled["h"] = h = self.time_step(settled, chosen, setup)
        if settled["t_end"] is None:
            settled["t_end"] = self.end(settled, chosen)
        integrator = self.bind(chosen, setup, settled, allow_unstable)
        critical = self.limit(integrator, chosen, setup)
        if math.isfinite(critical) and h != (settled.get("courant") or math.inf) * critical:
            settled["courant"] = h / critical
        self.start(integrator, setup, settled)
        return (self.problem_type or Problem)(self, scheme, given, settled, setup, integrator, critical)

    def bind(self, scheme: Scheme, setup: Setup, p: Values, allow_unstable: bool) -> Integrator:
        """The scheme on system and contact, not started. Collective."""
        return scheme.bind(setup.system, p["h"], setup.contact, p, allow_unstable=allow_unstable)

    def judge(self, run: Problem) -> list[Verdict]:
        """The verdict on the energy balance, where the scheme has one, and those of the case. Collective."""
        if not run.result.balance:
            return list(self.verdicts(run))
        # From a million steps on roundings may add up like a random walk.
        limit = self.balance_limit(run) * max(1.0, (run.result.steps / 1e6) ** 0.5)
        closes = Verdict.below("the energy balance closes", run.results[self.balance], limit)
        return [closes, *self.verdicts(run)]

    def check(self, p: Values) -> None:
        """Raise a ValueError unless all values are in their intervals, or among those allowed."""
        if self.no_critical_step and p.get("courant") is not None:
            raise ValueError(f"{self.no_critical_step}: give h, not courant")
        options.check({name: o for name, o in self.parameters.items() if p[name] is not None}, p)
        for name, option in self.parameters.items():
            if option.allowed and p[name] not in option.allowed:
                words = ", ".join(map(str, option.allowed))
                raise ValueError(f"{name} must be one of {words}, but is {p[name]}")
        self._refuse(p)

    def _refuse(self, p: Values) -> None:
        """Raise a ValueError for values in their intervals that together are no such case."""

    def limit(self, integrator: Integrator, scheme: Scheme, setup: Setup) -> float:
        """Critical time step of the bound scheme [s], inf where there is none. Collective."""
        if self.no_critical_step:
            return math.inf
        if setup.critical is not None or isinstance(setup.system, tuple):
            return self.critical_step(scheme, setup)
        return integrator.critical_step(integrator.system)

    def critical_step(self, scheme: Scheme, setup: Setup) -> float:
        """Critical time step of the scheme [s]. Collective."""
        body = setup.body
        known = setup.critical if setup.critical is not None else body.critical_time_step()
        return float(scheme.critical_ratio(body) * known)


@dataclass(eq=False, repr=False)
class Problem:
    """A case made ready for a scheme, started, and its run. Collective, as its methods.

    Attributes:
        log: The log of every step, closed where the run has ended.
        result, results: Of a run that has ended: its history, and the numbers of every case, in ``verdicts``
            with those of :meth:`Case.measure`.
    """

    case: Case
    scheme: str  #: Name of the scheme.
    given: Values  #: Parameters as they were given.
    p: dict[str, Any]  #: Parameters, with step, Courant number, end and what else the case decided.
    setup: Any
    integrator: Any
    critical: float  #: Critical time step of the scheme [s]; inf where there is none.

    def __post_init__(self) -> None:
        case, p, about = self.case, self.p, (self.integrator, self.setup, self.p)
        self.log: Any = case.log(*about)
        self.t_end = run_end(self.integrator, p["t_end"])  #: End time [s], at least a step after the start.
        self.record, self.dofs = case.record(*about), case.dofs(self.setup)
        follows = case.follows and self.given["h"] is None
        #: How the step follows the critical one; None where it is fixed.
        self.adapt = StepControl(safety=self.given["courant"]) if follows else None
        self.files = self.log.files()  #: Contents of further files by name; called after :meth:`judge`.

    def observers(self) -> list[ObserverLike]:
        """The observers of the run."""
        return self.log.observers()

    def simulate(self, observers: Sequence[ObserverLike] | None = None, **how: Any) -> Result:
        """The run, ``how`` as in :func:`.simulate`, with the log unless there are others. Collective."""
        usual = {"t_end": self.t_end, "record": self.record, "every": self.p["every"], "adapt": self.adapt}
        observers = self.observers() if observers is None else observers
        return simulate(self.integrator, observers=observers, **{"progress": False, **usual, **how})

    def judge(self, result: Result) -> Judged:
        """Results and verdicts of a run that has ended. Collective."""
        self.log.close()
        self.result = result
        self.results: Results = {"balance_residual": self.log.relative_residual(), "h": self.p["h"]}
        if math.isfinite(self.critical):
            self.results["critical_time_step"] = self.critical
        self.results |= self.case.measure(self)
        return self.results, self.case.judge(self)

    def study(self) -> list[Verdict]:
        """Verdicts that take further runs. Collective."""
        return list(self.case.study(self))

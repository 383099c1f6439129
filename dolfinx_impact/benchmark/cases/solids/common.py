"""Parameters, problems, numbers and verdicts that the cases of solids share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import parallel
from ....algebra.operators import SparseRows
from ....contact.obstacles import Obstacle
from ....contact.rigid_contact import RigidContact
from ....integrators import Integrator, Option, find_scheme
from ....output.observer import ObserverLike
from ....output.result import Result
from ....simulation.loop import simulate
from ....systems.solid import Solid
from ...case import Problem, RunLog, Values, balance_verdict
from ...verdict import Verdict

SCHEMES = ("cd-lagrange", "moreau-jean")
POSITIVE, NOT_NEGATIVE = "(0, inf)", "[0, inf)"
RESTITUTION = {
    "restitution": Option(0.0, "-", "Newton's coefficient of the contact nodes", interval="[0, 1]")
}
Judge = Callable[[Result], tuple[dict[str, Any], list[Verdict]]]


def material(E: float, rho: float, when: str = "") -> dict[str, Option]:
    """Parameters of a material, with ``nu = 0.3``."""
    return {
        "E": Option(E, "Pa", f"Young's modulus{when}", interval=POSITIVE),
        "nu": Option(0.3, "-", f"Poisson's ratio{when}", interval="(-1, 0.5)"),
        "rho": Option(rho, "kg/m3", "density", interval=POSITIVE),
    }


def friction(default: float) -> dict[str, Option]:
    """The parameter ``friction``."""
    return {"friction": Option(default, "-", "Coulomb's coefficient", interval=NOT_NEGATIVE)}


def check_finite(p: Values, names: Sequence[str]) -> None:
    """Raise a ValueError unless these parameters are finite."""
    if not all(math.isfinite(p[name]) for name in names):
        raise ValueError(f"{', '.join(names[:-1])} and {names[-1]} must be finite numbers")


def check_allowed(options: Mapping[str, Option], p: Values, names: Sequence[str]) -> None:
    """Raise a ValueError unless these parameters are among their allowed values."""
    for name in names:
        if p[name] not in options[name].allowed:
            allowed = ", ".join(map(str, options[name].allowed))
            raise ValueError(f"{name} must be one of {allowed}, but is {p[name]}")


def contact(body: Solid, part: str, obstacle: Obstacle, p: Values) -> RigidContact:
    """Contact of a part of the body with an obstacle, with the parameters of a run. Collective."""
    options = {name: p[name] for name in ("restitution", "friction", "touching") if name in p}
    return RigidContact(body, part, obstacle, gap_tolerance=p["gap_tolerance"], **options)


def time_step(scheme: str, p: Values, critical: float, defaults: tuple[float, float] = (1.0, 1.0)) -> float:
    """``h``, else ``courant`` (``defaults`` of explicit, implicit schemes) times the critical step [s]."""
    courant = p["courant"] if p["courant"] is not None else defaults[not find_scheme(scheme).explicit]
    return float(p["h"] if p["h"] is not None else courant * critical)


def problem(
    integrator: Integrator,
    critical: float,
    t_end: float,
    record: SparseRows,
    log: RunLog,
    judge: Judge,
    study: Callable[[], list[Verdict]] | None = None,
) -> Problem:
    """A case made ready; arguments as of :class:`.Problem`, and the critical time step [s]. Collective."""
    body, h = integrator.system, integrator.dt
    dofs = int(parallel.total(body.comm, body.owned))
    effective = {"h": h, "courant": h / critical, "t_end": t_end}
    return Problem(integrator, t_end, record, log, judge, dofs, effective, study)


def simulated(made: Problem, every: int, observers: Sequence[ObserverLike] | None = None) -> Result:
    """The history of a run of its own. Collective."""
    observers = made.observers() if observers is None else observers
    s, t_end, rows = made.integrator, made.t_end, made.record
    return simulate(s, t_end=t_end, record=rows, observers=observers, every=every, progress=False)


def stored(result: Result) -> NDArray:
    """Kinetic, complementary and internal energy at every sample, their sum [J]."""
    return result["kinetic"] + result["complementary"] + result["internal"]


def contact_numbers(log: RunLog) -> dict[str, Any]:
    """What a log tells of the contact."""
    names = ("contact_start", "contact_end", "contact_phases", "impulse_sum")
    return {**{name: getattr(log, name) for name in names}, "penetration_max": log.deepest}


def rising_velocity(integrator: Integrator) -> float:
    """Mean velocity of a solid along the last direction, by its masses [m/s]. Collective."""
    system: Any = integrator.system
    momentum: NDArray = np.zeros(system.size)
    system.mass_product(integrator.v_mean, integrator.mass, momentum)
    upward = momentum[system.block - 1 : system.owned : system.block]
    return parallel.total(system.comm, float(np.sum(upward))) / float(system.total_mass)


def balance(results: Values, integrator: Integrator, name: str = "balance_residual") -> list[Verdict]:
    """Whether the energy balance closes, where the scheme's does."""
    limit = 1e-12 if integrator.mass == "lumped" else 1e-11
    return [balance_verdict(results[name], limit, integrator.n)] if integrator.balance().closes else []

"""Parameters, problems, numbers and verdicts that the cases of solids share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .... import parallel
from ....algebra.operators import SparseRows
from ....contact.obstacles import Obstacle
from ....contact.rigid_contact import RigidContact
from ....integrators import Integrator, Option, find_scheme, options
from ....materials import LinearElastic
from ....mesh import NamedMesh
from ....output.observer import ObserverLike
from ....output.result import Result
from ....simulation.loop import simulate
from ....systems.solid import Solid
from ...case import COMMON, CONTACT, Judged, Problem, RunLog, Values, balance_verdict
from ...verdict import Verdict

SCHEMES = ("cd-lagrange", "moreau-jean")
WITH_DISSIPATIVE = (*SCHEMES, "noh-bathe")
POSITIVE, NOT_NEGATIVE, FINITE = "(0, inf)", "[0, inf)", "(-inf, inf)"
_RESTITUTION = Option(0.0, "-", "Newton's coefficient of the contact nodes", interval="[0, 1]")
RESTITUTION = {"restitution": _RESTITUTION}


class Ended(NamedTuple):
    """A run that has ended: its history, its log, closed, its integrator and its parameters."""

    result: Result
    log: Any
    integrator: Any
    p: Values


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


def times(courant: float | str, t_end: float | str, when: str = "") -> dict[str, Option]:
    """The parameters of every case and ``courant``: defaults, or in words what the default None means."""
    over = _given(courant, "-", f"time step over the critical one{when}")
    return {**COMMON, "courant": over, "t_end": _given(t_end, "s", "end time")}


def _given(default: float | str, unit: str, words: str) -> Option:
    if isinstance(default, str):
        return Option(None, unit, f"{words} (default {default})")
    return Option(default, unit, words)


def check(parameters: Mapping[str, Option], p: Values) -> None:
    """Raise a ValueError unless all values are in their intervals, or among those allowed."""
    options.check(parameters, p)
    for name, option in parameters.items():
        if option.allowed and p[name] not in option.allowed:
            raise ValueError(f"{name} must be one of {', '.join(map(str, option.allowed))}, but is {p[name]}")


def elastic(named: NamedMesh, p: Values, **more: Any) -> Solid:
    """A linear elastic solid of the parameters of a material. Collective."""
    return Solid(named, density=p["rho"], law=LinearElastic(p["E"], p["nu"]), **more)


def contact(body: Solid, part: str, obstacle: Obstacle, p: Values) -> RigidContact:
    """Contact of a part of the body with an obstacle, with the parameters of a run. Collective."""
    laws = {name: p[name] for name in ("restitution", "friction", "touching") if name in p}
    return RigidContact(body, part, obstacle, gap_tolerance=p["gap_tolerance"], **laws)


def time_step(scheme: str, p: Values, body: Solid, defaults: tuple[float, float] = (1.0, 1.0)) -> float:
    """``h``, else ``courant`` (``defaults`` of explicit, implicit schemes) times the critical step [s]."""
    chosen = find_scheme(scheme)
    courant = p["courant"] if p["courant"] is not None else defaults[not chosen.explicit]
    critical = chosen.critical_ratio(body) * body.critical_time_step()
    return float(p["h"] if p["h"] is not None else courant * critical)


def problem(
    integrator: Integrator,
    p: Values,
    record: SparseRows,
    judge: Callable[[Ended], Judged],
    log: RunLog | None = None,
    study: Callable[[], list[Verdict]] | None = None,
    balanced: str = "balance_residual",
) -> Problem:
    """A case made ready; the judge's numbers follow those of step and balance (``balanced``). Collective."""
    body, h, noted = integrator.system, integrator.dt, log or RunLog(integrator)
    critical = integrator.critical_step(body)

    def complete(result: Result) -> Judged:
        noted.close()
        numbers = {"balance_residual": noted.relative_residual(), "h": h, "critical_time_step": critical}
        own, verdicts = judge(Ended(result, noted, integrator, p))
        results = {**numbers, **own}
        limit = 1e-12 if integrator.mass == "lumped" else 1e-11
        closes = integrator.balance().closes
        balance = [balance_verdict(results[balanced], limit, integrator.n)] if closes else []
        return results, balance + verdicts

    dofs = int(parallel.total(body.comm, body.owned))
    effective = {"h": h, "courant": h / critical, "t_end": p["t_end"]}
    return Problem(integrator, p["t_end"], record, noted, complete, dofs, effective, study)


def simulated(made: Problem, every: int, observers: Sequence[ObserverLike] | None = None) -> Result:
    """The history of a run of its own. Collective."""
    observers = made.observers() if observers is None else observers
    how: dict[str, Any] = {"record": made.record, "every": every, "adapt": made.adapt, "progress": False}
    return simulate(made.integrator, t_end=made.t_end, observers=observers, **how)


def stored(result: Result) -> NDArray:
    """Kinetic, complementary and internal energy at every sample, their sum [J]."""
    return result["kinetic"] + result["complementary"] + result["internal"]


def contact_numbers(log: RunLog) -> dict[str, Any]:
    """What a log tells of the contact."""
    return {**{name: getattr(log, name) for name in CONTACT}, "penetration_max": log.deepest}


def impact_numbers(run: Ended) -> dict[str, Any]:
    """Those of the contact, the mean velocity along the last direction [m/s], the energy lost. Collective."""
    system, energy = run.integrator.system, stored(run.result)
    momentum = np.zeros(system.size)
    system.mass_product(run.integrator.v_mean, run.integrator.mass, momentum)
    upward = momentum[system.block - 1 : system.owned : system.block]
    velocity = parallel.total(system.comm, float(np.sum(upward))) / float(system.total_mass)
    lost = 1 - float(energy[-1] / energy[0])
    return {**contact_numbers(run.log), "rebound_velocity": velocity, "energy_lost": lost}

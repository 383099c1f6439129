"""The bar against a wall: Carpenter et al. (1991), Di Stasio et al. (2019) case 4, in 1D and 3D.

The bar lies along x with its contact end at x = 0 and flies towards -x; the wall stands at
``x = -gap``. Displacements are recorded towards the wall.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import mesh, parallel
from ....contact.obstacles import Plane
from ....contact.rigid_contact import RigidContact
from ....exact import ImpactingBar
from ....integrators import Integrator, Option, find_scheme
from ....materials import LinearElastic
from ....output.result import Result
from ....simulation.loop import simulate
from ....systems.solid import Solid
from ... import drawings
from ...case import COMMON, NAMED, Case, Problem, RunLog, Values, balance_verdict
from ...verdict import Verdict

PARAMETERS = {
    "dimension": Option(1, "-", "line or solid", (1, 3)),
    "elements": Option(50, "-", "elements along the bar"),
    "lateral": Option(5, "-", "elements along each side of the section (3D)"),
    "cell": Option("hexahedron", "-", "cells (3D)", ("hexahedron", "tetrahedron")),
    "E": Option(2.1e11, "Pa", "Young's modulus"),
    "rho": Option(7847.0, "kg/m3", "density"),
    "nu": Option(None, "-", "Poisson's ratio (default 0 in 1D, 0.3 in 3D)"),
    "length": Option(0.254, "m", "length of the bar"),
    "area": Option(0.645e-3, "m2", "cross-section"),
    "gap": Option(2e-4, "m", "distance to the wall at t = 0"),
    "v0": Option(5.0, "m/s", "speed towards the wall"),
    "restitution": Option(0.0, "-", "Newton's coefficient of the contact nodes"),
    "mass": Option(None, "-", "mass matrix (default: lumped for explicit schemes, else consistent)"),
    "courant": Option(0.7, "-", "time step over the critical one"),
    **COMMON,
    "t_end": Option(3e-4, "s", "end time"),
}
ORDER_ELEMENTS = (20, 40, 80, 160, 320, 640, 1280)
#: An order study of more steps than this is left out: it would take longer than the run.
ORDER_STEPS = 100_000


def exact(p: Values) -> ImpactingBar:
    """The 1D solution for the parameters of a run.

    Raises:
        ValueError: Values that describe no bar.
    """
    for name in ("E", "rho", "length", "area"):
        if not (p[name] > 0 and math.isfinite(p[name])):
            raise ValueError(f"{name} must be positive [{PARAMETERS[name].unit}], but is {p[name]}")
    for name in ("gap", "v0"):
        if not (p[name] >= 0 and math.isfinite(p[name])):
            raise ValueError(f"{name} must be at least 0 [{PARAMETERS[name].unit}], but is {p[name]}")
    return ImpactingBar(p["E"], p["rho"], p["length"], p["area"], p["gap"], p["v0"])


def make_bar(p: Values) -> Solid:
    """The finite element bar. Collective."""
    for name, most in (("elements", 10_000_000), ("lateral", 1000)):
        if not 1 <= p[name] <= most:
            raise ValueError(f"{name} must be 1 to {most}, but is {p[name]}")
    flat, side = p["dimension"] == 1, math.sqrt(p["area"])
    if not flat and not 1e-5 < side / p["length"] < 1e5:
        raise ValueError(f"a section of side {side:.3g} m and a length of {p['length']:g} m cannot be meshed")
    named = mesh.read(
        mesh.package_mesh("bar.geo"),
        gdim=p["dimension"],
        parameters={
            "dimension": p["dimension"],
            "length": p["length"],
            "side": side,
            "elements": p["elements"],
            "lateral": p["lateral"],
            "tetrahedra": p["cell"] == "tetrahedron",
        },
    )
    law = LinearElastic(p["E"], poisson(p))
    return Solid(named, density=p["rho"], law=law, cross_section=p["area"] if flat else 1.0)


def poisson(p: Values) -> float:
    """Poisson's ratio: as given, else 0 in 1D and 0.3 in 3D."""
    return p["nu"] if p["nu"] is not None else (0.0 if p["dimension"] == 1 else 0.3)


def build(p: Values) -> tuple[Solid, RigidContact, float]:
    """Bar, wall and critical time step. Collective."""
    solution, bar = exact(p), make_bar(p)
    axis = np.eye(p["dimension"])[0]
    wall = RigidContact(
        bar,
        "contact",
        Plane(-p["gap"] * axis, axis),
        restitution=p["restitution"],
        gap_tolerance=p["gap_tolerance"],
        touching=p.get("touching", True),
    )
    # On a line the critical step is known exactly: (L / N) / c.
    cell_transit = p["length"] / p["elements"] / solution.wave_speed
    return bar, wall, cell_transit if p["dimension"] == 1 else bar.critical_time_step()


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    bar, wall, critical = build(p)
    h = p["h"] if p["h"] is not None else p["courant"] * critical
    integrator = find_scheme(scheme).bind(bar, h, wall, p, allow_unstable=allow_unstable)
    v0 = np.zeros(bar.size)
    v0[:: p["dimension"]] = -p["v0"]
    integrator.start(0.0, v0)
    log = RunLog(integrator)

    def judge(result: Result) -> tuple[dict[str, Any], list[Verdict]]:
        results = measure(result, log, integrator, p, critical)
        return results, verdicts(scheme, results, wall, integrator, p)

    effective = {"h": h, "nu": poisson(p), "courant": h / critical if p["h"] is not None else p["courant"]}
    return Problem(
        integrator,
        p["t_end"],
        wall.approach(),
        log,
        judge,
        dofs=int(parallel.total(bar.comm, bar.owned)),
        effective=effective,
        study=lambda: order_verdicts(scheme, effective["courant"], p),
    )


def measure(
    result: Result, log: RunLog, integrator: Integrator, p: Values, critical: float
) -> dict[str, Any]:
    """The numbers of a run. Collective."""
    log.close()
    system, impulse = integrator.system, exact(p).impulse
    momentum = np.zeros(system.size)
    system.mass_product(integrator.v_mean, integrator.mass, momentum)
    along = parallel.total(system.comm, float(np.sum(momentum[: system.owned : p["dimension"]])))
    kept = float(sum(result[name][-1] for name in ("kinetic", "complementary", "internal")))
    had = float(sum(result[name][0] for name in ("kinetic", "complementary", "internal")))
    return {
        "balance_residual": log.relative_residual(),
        "critical_time_step": critical,
        "h": integrator.dt,
        "contact_start": log.contact_start,
        "contact_end": log.contact_end,
        "contact_phases": log.contact_phases,
        "first_impulse": log.first_impulse,
        "impulse_sum": log.impulse_sum,
        "impulse_ratio": log.impulse_sum / impulse if impulse > 0 else None,
        "energy_lost": 1 - kept / had if had > 0 else 0.0,
        "penetration_max": log.deepest,
        "rebound_velocity": along / system.total_mass,  # type: ignore[attr-defined]
    }


def verdicts(
    scheme: str, results: dict[str, Any], wall: RigidContact, integrator: Integrator, p: Values
) -> list[Verdict]:
    """What the papers say of the case, decided from the run. Collective."""
    solution, e = exact(p), p["restitution"]
    explicit = find_scheme(scheme).explicit
    node_alone = explicit and find_scheme(scheme).contact == "velocity"
    found = []
    if integrator.balance().closes:
        limit = 1e-12 if explicit else 1e-11
        found.append(balance_verdict(results["balance_residual"], limit, integrator.n))
    if p["v0"] == 0 or p["t_end"] < 1.2 * solution.contact_end or results["contact_start"] is None:
        return found  # the rest is about a whole impact
    found.append(
        Verdict.equal(
            "the impulse is that of an elastic rebound, 2 m v0 (ratio)", results["impulse_ratio"], 1.0, 0.02
        )
    )
    if node_alone and p["gap"] > p["gap_tolerance"]:
        masses = integrator.system.mass[wall.L.dofs[:, 0]]
        nodes = parallel.total(wall.comm, float(np.sum(masses)))
        momentum = (1 + e) * nodes * p["v0"]
        found.append(
            Verdict.equal(
                "the first impulse is the momentum of the contact nodes [N s]",
                results["first_impulse"],
                momentum,
                1e-12 * momentum,
            )
        )
    if p["dimension"] == 1 and e == 0:
        found += _line_verdicts(node_alone, results, solution, p)
    return found


def _line_verdicts(
    node_alone: bool, results: dict[str, Any], solution: ImpactingBar, p: Values
) -> list[Verdict]:
    """Verdicts that only hold where one node touches."""
    duration = results["contact_end"] - results["contact_start"]
    expected = solution.contact_end - solution.contact_start
    found = [
        Verdict.equal("the contact is one uninterrupted phase", results["contact_phases"], 1, 0),
        Verdict.equal(
            "the bar leaves the wall 2 L / c after it touched [s]", duration, expected, 0.05 * expected
        ),
    ]
    if node_alone:
        found.append(
            Verdict.equal(
                "the energy lost is the kinetic energy of the contact node, 1/(2N)",
                results["energy_lost"],
                1 / (2 * p["elements"]),
                1e-9,
            )
        )
    return found


def errors(scheme: str, elements: int, courant: float, p: Values) -> tuple[float, float]:
    """Relative errors of u and v_t at the contact node over [0, t_end], Fekak et al. (94). Collective."""
    values = {**p, "elements": elements, "courant": courant, "h": None, "every": 1}
    problem = make(scheme, values)
    result = simulate(
        problem.integrator, t_end=problem.t_end, record=problem.record, energies=False, progress=False
    )
    solution = exact(p)
    u, v = solution.displacement(0.0, result["t"]), solution.velocity(0.0, result["t"])
    return _norm94(result["u"][:, 0], u), _norm94(result["v_t"][:, 0], v)


def orders(scheme: str, courant: float, p: Values, elements: tuple[int, ...] = ORDER_ELEMENTS) -> NDArray:
    """Fitted orders of convergence in (u, v_t) as mesh and step are refined together. Collective."""
    found = np.array([errors(scheme, n, courant, p) for n in elements])
    return -np.polyfit(np.log(elements), np.log(found), 1)[0]


def order_verdicts(scheme: str, courant: float, p: Values) -> list[Verdict]:
    """The orders of CD-Lagrange at the run's Courant number, a line mesh refined six times.

    At courant 1 both are 1; below, the velocity oscillates after every jump, and its order is
    about 1/2. (The half-step velocity does not converge at courant 1: its highest mode has
    the frequency of the steps, and only the mean of two half steps is free of it.)
    """
    at_limit = abs(courant - 1) <= 1e-6
    whole = p["dimension"] == 1 and p["v0"] > 0 and p["t_end"] >= 1.5 * exact(p).contact_end
    steps = p["t_end"] * exact(p).wave_speed / p["length"] * sum(ORDER_ELEMENTS) / courant
    if scheme != "cd-lagrange" or p["restitution"] > 0 or not whole or steps > ORDER_STEPS:
        return []
    if courant > 1 and not at_limit:
        return []
    u, v = orders(scheme, 1.0 if at_limit else courant, p)
    name = f"in norm (94) at courant {courant:.3g}"
    found = [Verdict.equal(f"order of the velocity at t {name}", v, 1.0 if at_limit else 0.5, 0.15)]
    if at_limit:
        found.append(Verdict.equal(f"order of the displacement {name}", u, 1.0, 0.15))
    return found


def _norm94(found: NDArray, true: NDArray) -> float:
    return float(np.sum(np.abs(found - true)) / np.sum(np.abs(true)))


_NAMES = tuple(name for name in NAMED if name != "cd-lagrange-implicit")
IMPACTING_BAR = Case(
    PARAMETERS,
    _NAMES,
    make,
    about="An elastic bar flies against a rigid wall. It stays there while a wave runs to its far end and "
    "back, then leaves with the speed it came with.",
    drawing=drawings.impacting_bar,
)

"""Two bars that fly against each other: Fekak et al. (2017), Sect. 3.1.

They lie along x, the left one's tip at ``x = -gap / 2`` and the right one's at ``x = gap / 2``. By symmetry
each moves like a bar against a rigid wall in the middle. Displacements are recorded towards the other bar.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import mesh, parallel
from ....contact.node_pairs import NodePairs
from ....exact import ImpactingBar
from ....integrators import Integrator, Option, find_scheme
from ....materials import LinearElastic
from ....output.result import Result
from ....simulation.loop import simulate
from ....systems.solid import Solid
from ... import drawings
from ...case import COMMON, NAMED, Case, Problem, RunLog, Values, balance_verdict
from ...verdict import Verdict
from ..impacting_bar import case as impacting_bar

PARAMETERS = {
    "elements": Option(40, "-", "elements along each bar"),
    **{name: impacting_bar.PARAMETERS[name] for name in ("E", "rho", "length", "area")},
    "gap": Option(2e-4, "m", "distance between the bars at t = 0"),
    "v0": Option(5.0, "m/s", "speed of each bar towards the other"),
    "restitution": Option(0.0, "-", "Newton's coefficient of the tips"),
    "courant": Option(0.8, "-", "time step over the critical one"),
    **COMMON,
    "t_end": Option(1.8e-4, "s", "end time"),
}
#: Parameters of schemes: theta = 1 is what the paper compares with.
DEFAULTS = {"theta": 1.0, "mass": "lumped"}
ORDER_ELEMENTS = (20, 40, 80, 160, 320)


def exact(p: Values) -> ImpactingBar:
    """The solution for either bar, u and v towards the other.

    Raises:
        ValueError: Values that describe no bars.
    """
    if not p["gap"] >= 0:
        raise ValueError(f"gap must be at least 0 [m], but is {p['gap']}")
    return impacting_bar.exact({**p, "gap": p["gap"] / 2})


#: Directions in which the bars move.
SIDES = {"left": 1.0, "right": -1.0}


def make_bars(p: Values) -> Solid:
    """Both bars, one system. Collective."""
    if not 1 <= p["elements"] <= 10_000_000:
        raise ValueError(f"elements must be 1 to 10000000, but is {p['elements']}")
    parameters = {name: p[name] for name in ("length", "gap", "elements")}
    named = mesh.read(mesh.package_mesh("two_bars.geo"), gdim=1, parameters=parameters)
    return Solid(named, density=p["rho"], law=LinearElastic(p["E"], 0.0), cross_section=p["area"])


def build(p: Values) -> tuple[Solid, NodePairs, float]:
    """Bars, contact of their tips, and critical time step. Collective."""
    solution, bars = exact(p), make_bars(p)
    tips = NodePairs(
        bars,
        "left tip",
        "right tip",
        [1.0],
        gap0=p["gap"],
        restitution=p["restitution"],
        gap_tolerance=p["gap_tolerance"],
        touching=p.get("touching", True),
    )
    # Known exactly: (L / N) / c.
    return bars, tips, p["length"] / p["elements"] / solution.wave_speed


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    bars, tips, critical = build(p)
    h = p["h"] if p["h"] is not None else p["courant"] * critical
    integrator = find_scheme(scheme).bind(bars, h, tips, p, allow_unstable=allow_unstable)
    # By name: with no gap both tips lie at x = 0.
    left, right = (bars.rigid_velocity([v], cells=f"{name} bar") for name, v in SIDES.items())
    integrator.start(0.0, p["v0"] * (left + right))
    log = RunLog(integrator)

    def judge(result: Result) -> tuple[dict[str, Any], list[Verdict]]:
        results = measure(result, log, integrator, p, critical)
        return results, verdicts(scheme, results, result, tips, integrator, p)

    courant = h / critical if p["h"] is not None else p["courant"]
    return Problem(
        integrator,
        p["t_end"],
        tips.approach(),
        log,
        judge,
        dofs=int(parallel.total(bars.comm, bars.owned)),
        effective={"h": h, "courant": courant},
        study=lambda: order_verdicts(scheme, courant, p),
    )


def measure(
    result: Result, log: RunLog, integrator: Integrator, p: Values, critical: float
) -> dict[str, Any]:
    """The numbers of a run, momentum and impulse those of one bar. Collective."""
    one_bar = {**p, "gap": p["gap"] / 2, "dimension": 1}
    results = impacting_bar.measure(result, log, integrator, one_bar, critical)
    system: Any = integrator.system
    momentum = np.zeros(system.size)
    system.mass_product(integrator.v_mean, integrator.mass, momentum)
    left = system.rigid_velocity([1.0], cells="left bar")[: system.owned] > 0
    along = parallel.total(system.comm, float(np.sum(momentum[: system.owned][left])))
    return {**results, "rebound_velocity": -along / (system.total_mass / 2)}


def verdicts(
    scheme: str, results: dict[str, Any], result: Result, tips: NodePairs, integrator: Integrator, p: Values
) -> list[Verdict]:
    """What the paper says of the case, decided from the run. Collective."""
    solution, explicit = exact(p), find_scheme(scheme).explicit
    found = []
    if integrator.balance().closes:
        found.append(balance_verdict(results["balance_residual"], 1e-12 if explicit else 1e-11, integrator.n))
    left, right = result["u"].T
    scale = float(np.max(np.abs(result["u"])))
    if scale > 0:
        found.append(
            Verdict.below(
                "the bars mirror each other (tips' displacements, relative)",
                float(np.max(np.abs(left - right))) / scale,
                1e-12,
            )
        )
    if p["v0"] == 0 or p["t_end"] < 1.2 * solution.contact_end or results["contact_start"] is None:
        return found  # the rest is about a whole impact
    found.append(
        Verdict.equal(
            "the impulse turns the momentum of a bar, 2 m v0 (ratio)", results["impulse_ratio"], 1.0, 0.02
        )
    )
    open_first = p["gap"] > p["gap_tolerance"]
    node_alone = explicit and find_scheme(scheme).contact == "velocity" and open_first
    if node_alone:
        masses = parallel.total(tips.comm, float(np.sum(integrator.system.mass[tips.approach().dofs])))
        momentum = (1 + p["restitution"]) * masses / 2 * p["v0"]
        found.append(
            Verdict.equal(
                "the first impulse is the momentum of one tip's node [N s]",
                results["first_impulse"],
                momentum,
                1e-12 * momentum,
            )
        )
    return found + (_phase_verdicts(node_alone, results, solution, p) if p["restitution"] == 0 else [])


def _phase_verdicts(
    node_alone: bool, results: dict[str, Any], solution: ImpactingBar, p: Values
) -> list[Verdict]:
    """Verdicts that only hold where the tips stay together, the last where nodes alone are stopped."""
    duration = results["contact_end"] - results["contact_start"]
    expected = solution.contact_end - solution.contact_start
    found = [
        Verdict.equal("the contact is one uninterrupted phase", results["contact_phases"], 1, 0),
        Verdict.equal("the bars part 2 L / c after they touched [s]", duration, expected, 0.05 * expected),
    ]
    if node_alone:
        found.append(
            Verdict.equal(
                "the energy lost is the kinetic energy of the tips' nodes, 1/(2N)",
                results["energy_lost"],
                1 / (2 * p["elements"]),
                1e-9,
            )
        )
    return found


def errors(scheme: str, elements: int, courant: float, p: Values) -> NDArray:
    """Relative errors of u and v_t at the left tip over [0, t_end], (94), shape (2,). Collective."""
    values = {**p, "elements": elements, "courant": courant, "h": None, "every": 1}
    problem = make(scheme, values)
    result = simulate(
        problem.integrator, t_end=problem.t_end, record=problem.record, energies=False, progress=False
    )
    solution = exact(p)
    true = solution.displacement(0.0, result["t"]), solution.velocity(0.0, result["t"])
    pairs = zip((result["u"], result["v_t"]), true)
    return np.array([np.sum(np.abs(found[:, 0] - x)) / np.sum(np.abs(x)) for found, x in pairs])


def orders(scheme: str, courant: float, p: Values, elements: tuple[int, ...] = ORDER_ELEMENTS) -> NDArray:
    """Fitted orders of convergence in (u, v_t) as mesh and step are refined together. Collective."""
    found = np.array([errors(scheme, n, courant, p) for n in elements])
    return -np.polyfit(np.log(elements), np.log(found), 1)[0]


def order_verdicts(scheme: str, courant: float, p: Values) -> list[Verdict]:
    """The orders of the paper's two schemes, Figs. 9 and 10, the mesh refined four times.

    The paper has element and step with h = c dt, where CD-Lagrange has order 1; below that its velocity
    oscillates after every jump, with order about 1/2. Moreau-Jean with theta = 1 has order 1/2 anyway.
    """
    at_limit, solution = abs(courant - 1) <= 1e-6, exact(p)
    whole = p["v0"] > 0 and p["restitution"] == 0 and p["t_end"] >= 1.2 * solution.contact_end
    steps = p["t_end"] * solution.wave_speed / p["length"] * sum(ORDER_ELEMENTS) / courant
    explicit = scheme == "cd-lagrange"
    if not (explicit or scheme == "moreau-jean" and p["theta"] == 1 and p["mass"] == "lumped"):
        return []
    if not whole or courant > 1 and not at_limit or steps > impacting_bar.ORDER_STEPS:
        return []
    u, v = orders(scheme, 1.0 if at_limit else courant, p)
    expected, name = 1.0 if explicit and at_limit else 0.5, f"in norm (94) at courant {courant:.3g}"
    found = [Verdict.equal(f"order of the velocity at t {name}", v, expected, 0.15)]
    if at_limit or not explicit:
        found.append(Verdict.equal(f"order of the displacement {name}", u, expected, 0.15))
    return found


_NAMES = tuple(name for name in NAMED if name != "cd-lagrange-implicit")
TWO_BARS = Case(
    PARAMETERS,
    _NAMES,
    make,
    defaults=DEFAULTS,
    about="Two equal elastic bars fly against each other. By symmetry each moves as if it hit a rigid wall "
    "in the middle of the gap.",
    drawing=drawings.two_bars,
)

"""Two bars that fly against each other: Fekak et al. (2017), Sect. 3.1.

They lie along x, their tips at ``x = -gap / 2`` and ``gap / 2``. Each records its way to the other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import mesh, parallel
from ....contact.node_pairs import NodePairs
from ....exact import ImpactingBar
from ....integrators import Integrator, Option, find_scheme
from ....integrators.options import check
from ....materials import LinearElastic
from ....output.result import Result
from ....systems.solid import Solid
from ... import drawings
from ...case import COMMON, Case, Judged, Problem, RunLog, Values
from ...verdict import Verdict
from ..impacting_bar import case as impacting_bar

_BAR = ("E", "rho", "length", "area")
PARAMETERS = {
    "elements": Option(40, "-", "elements along each bar", interval="[1, 10000000]"),
    **{name: replace(impacting_bar.PARAMETERS[name], interval="(0, inf)") for name in _BAR},
    "gap": Option(2e-4, "m", "distance between the bars at t = 0", interval="[0, inf)"),
    "v0": Option(5.0, "m/s", "speed of each bar towards the other", interval="[0, inf)"),
    "restitution": Option(0.0, "-", "Newton's coefficient of the tips"),
    "courant": Option(0.8, "-", "time step over the critical one"),
    **COMMON,
    "t_end": Option(1.8e-4, "s", "end time"),
}
#: Parameters of schemes: theta = 1 is what the paper compares with.
DEFAULTS = {"theta": 1.0, "mass": "lumped"}
ORDER_ELEMENTS = (20, 40, 80, 160, 320)


def exact(p: Values) -> ImpactingBar:
    """The solution for either bar, u and v towards the other; ValueError for values that describe none."""
    check(PARAMETERS, p)
    E, rho, length, area = (p[name] for name in _BAR)
    return ImpactingBar(E, rho, length, area, p["gap"] / 2, p["v0"])


def build(p: Values) -> tuple[Solid, NodePairs, float]:
    """Both bars as one system, contact of their tips, and critical time step, (L / N) / c. Collective."""
    speed = exact(p).wave_speed
    parameters = {name: p[name] for name in ("length", "gap", "elements")}
    named = mesh.read(mesh.package_mesh("two_bars.geo"), gdim=1, parameters=parameters)
    bars = Solid(named, density=p["rho"], law=LinearElastic(p["E"], 0.0), cross_section=p["area"])
    contact = {name: p[name] for name in ("restitution", "gap_tolerance", "touching") if name in p}
    tips = NodePairs(bars, "left tip", "right tip", [1.0], gap0=p["gap"], **contact)
    return bars, tips, p["length"] / p["elements"] / speed


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    bars, tips, critical = build(p)
    critical *= find_scheme(scheme).critical_ratio(bars)
    h = p["h"] if p["h"] is not None else p["courant"] * critical
    courant = h / critical if p["h"] is not None else p["courant"]
    integrator = find_scheme(scheme).bind(bars, h, tips, p, allow_unstable=allow_unstable)
    # By name: with no gap both tips lie at x = 0.
    left, right = (bars.rigid_velocity([v], cells=f"{side} bar") for side, v in (("left", 1), ("right", -1)))
    integrator.start(0.0, p["v0"] * (left + right))
    log = RunLog(integrator)

    def judge(result: Result) -> Judged:
        results = measure(result, log, integrator, p, critical)
        return results, verdicts(scheme, results, result, tips, integrator, p)

    dofs, study = int(parallel.total(bars.comm, bars.owned)), partial(order_verdicts, scheme, courant, p)
    effective = {"h": h, "courant": courant}
    return Problem(integrator, p["t_end"], tips.approach(), log, judge, dofs, effective, study)


def measure(result: Result, log: RunLog, integrator: Any, p: Values, critical: float) -> dict[str, Any]:
    """The numbers of a run, momentum and impulse those of one bar. Collective."""
    one_bar = {name: option.default for name, option in impacting_bar.PARAMETERS.items()}
    results = impacting_bar.measure(result, log, integrator, {**one_bar, **p, "gap": p["gap"] / 2}, critical)
    system = integrator.system
    momentum = np.zeros(system.size)
    system.mass_product(integrator.v_mean, integrator.mass, momentum)
    left = system.rigid_velocity([1.0], cells="left bar")[: system.owned] > 0
    along = parallel.total(system.comm, float(np.sum(momentum[: system.owned][left])))
    return {**results, "rebound_velocity": -along / (system.total_mass / 2)}


def verdicts(
    scheme: str, results: dict[str, Any], result: Result, tips: NodePairs, integrator: Integrator, p: Values
) -> list[Verdict]:
    """Statements of the paper on the case, decided from the run. Collective."""
    found = impacting_bar.closes(scheme, results, integrator)
    scale, apart = (float(np.abs(u).max()) for u in (result["u"], np.diff(result["u"])))
    if scale > 0:
        words = "the bars mirror each other (tips' displacements, relative)"
        found.append(Verdict.below(words, apart / scale, 1e-12))
    if p["v0"] == 0 or p["t_end"] < 1.2 * exact(p).contact_end or results["contact_start"] is None:
        return found  # the rest is about a whole impact
    words = "the impulse turns the momentum of a bar, 2 m v0 (ratio)"
    found.append(Verdict.equal(words, results["impulse_ratio"], 1.0, 0.02))
    node_alone = impacting_bar.stops_the_node(scheme, integrator) and p["gap"] > p["gap_tolerance"]
    if node_alone:
        masses = parallel.total(tips.comm, float(np.sum(integrator.system.mass[tips.approach().dofs])))
        momentum = (1 + p["restitution"]) * masses / 2 * p["v0"]
        words = "the first impulse is the momentum of one tip's node [N s]"
        found.append(Verdict.equal(words, results["first_impulse"], momentum, 1e-12 * momentum))
    if p["restitution"] == 0:  # the tips stay together
        true = 2 * p["length"] / exact(p).wave_speed
        duration = results["contact_end"] - results["contact_start"]
        found.append(Verdict.equal("the contact is one uninterrupted phase", results["contact_phases"], 1, 0))
        words = "the bars part 2 L / c after they touched [s]"
        found.append(Verdict.equal(words, duration, true, 0.05 * true))
        words = "the energy lost is the kinetic energy of the tips' nodes, 1/(2N)"
        lost = Verdict.equal(words, results["energy_lost"], 1 / (2 * p["elements"]), 1e-9)
        found += [lost] if node_alone else []
    return found


def orders(scheme: str, courant: float, p: Values) -> NDArray:
    """Fitted orders of convergence in (u, v_t) as mesh and step are refined together. Collective."""
    values = {**p, "courant": courant, "h": None, "every": 1}
    made = (make(scheme, {**values, "elements": n}) for n in ORDER_ELEMENTS)
    return impacting_bar.fitted_orders(made, ORDER_ELEMENTS, exact(p))


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


_ABOUT = (
    "Two equal elastic bars fly against each other. By symmetry each moves as if it hit a rigid wall "
    "in the middle of the gap."
)
TWO_BARS = Case(PARAMETERS, impacting_bar.NAMES, make, _ABOUT, drawings.two_bars, defaults=DEFAULTS)

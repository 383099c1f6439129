"""Two bars that fly against each other: Fekak et al. (2017), Sect. 3.1.

They lie along x, their tips at ``x = -gap / 2`` and ``gap / 2``. Each records its way to the other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .... import mesh, parallel
from ....contact.node_pairs import NodePairs
from ....exact import ImpactingBar
from ....integrators import Integrator, Option, Scheme
from ....integrators.options import check
from ....materials import LinearElastic
from ....systems.solid import Solid
from ...case import COMMON, EXPLICIT, Case, Ended, Problem, Results, Setup, Values, contact_law
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
ORDER_ELEMENTS = (20, 40, 80, 160, 320)


def exact(p: Values) -> ImpactingBar:
    """The solution for either bar, u and v towards the other; ValueError for values that describe none."""
    check(PARAMETERS, p)
    E, rho, length, area = (p[name] for name in _BAR)
    return ImpactingBar(E, rho, length, area, p["gap"] / 2, p["v0"])


def orders(scheme: str, courant: float, p: Values) -> NDArray:
    """Fitted orders of convergence in (u, v_t) as mesh and step are refined together. Collective."""
    values = {**p, "courant": courant, "h": None, "every": 1}
    made = (TwoBars().make(scheme, {**values, "elements": n}) for n in ORDER_ELEMENTS)
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


class TwoBars(Case):
    """Both bars as one system, and the contact of their tips."""

    parameters, schemes = PARAMETERS, impacting_bar.Bar.schemes
    about = (
        "Two equal elastic bars fly against each other. By symmetry each moves as if it hit a rigid wall "
        "in the middle of the gap."
    )
    defaults = {"theta": 1.0, "mass": "lumped"}  # theta = 1 is that of the paper

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Bars and tips; the critical step is (L / N) / c. Collective."""
        sizes = {name: p[name] for name in ("length", "gap", "elements")}
        named = mesh.read(mesh.package_mesh("two_bars.geo"), gdim=1, parameters=sizes)
        bars = Solid(named, density=p["rho"], law=LinearElastic(p["E"], 0.0), cross_section=p["area"])
        tips = NodePairs(bars, "left tip", "right tip", [1.0], gap0=p["gap"], **contact_law(p))
        critical = p["length"] / p["elements"] / exact(p).wave_speed
        return Setup(system=bars, contact=tips, record=tips.approach(), critical=critical)

    def start(self, integrator: Integrator, setup: Setup, p: Values) -> None:
        """Start towards each other. Collective."""
        # By name: with no gap both tips lie at x = 0.
        sides = (("left bar", 1.0), ("right bar", -1.0))
        left, right = (setup.body.rigid_velocity([v], cells=side) for side, v in sides)
        integrator.start(0.0, p["v0"] * (left + right))

    def measure(self, run: Ended) -> Results:
        """The numbers of a run, momentum and impulse those of one bar. Collective."""
        system, s = run.integrator.system, run.integrator
        momentum = np.zeros(system.size)
        system.mass_product(s.v_mean, s.mass, momentum)
        left = system.rigid_velocity([1.0], cells="left bar")[: system.owned] > 0
        along = parallel.total(system.comm, float(np.sum(momentum[: system.owned][left])))
        results = impacting_bar.measured(run, exact(run.p).impulse)
        return {**results, "rebound_velocity": -along / (system.total_mass / 2)}

    def verdicts(self, run: Ended) -> list[Verdict]:
        """Symmetry; impulse, duration and loss of energy of a whole impact. Collective."""
        p, results, tips, rows = run.p, run.results, run.setup.contact, list[Verdict]()
        scale, apart = (float(np.abs(u).max()) for u in (run.result["u"], np.diff(run.result["u"])))
        if scale > 0:
            words = "the bars mirror each other (tips' displacements, relative)"
            rows.append(Verdict.below(words, apart / scale, 1e-12))
        if p["v0"] == 0 or p["t_end"] < 1.2 * exact(p).contact_end or results["contact_start"] is None:
            return rows  # the rest is about a whole impact
        words = "the impulse turns the momentum of a bar, 2 m v0 (ratio)"
        rows.append(Verdict.equal(words, results["impulse_ratio"], 1.0, 0.02))
        node_alone = (
            impacting_bar.stops_the_node(run.scheme, run.integrator) and p["gap"] > p["gap_tolerance"]
        )
        if node_alone:
            masses = parallel.total(
                tips.comm, float(np.sum(run.integrator.system.mass[tips.approach().dofs]))
            )
            momentum = (1 + p["restitution"]) * masses / 2 * p["v0"]
            words = "the first impulse is the momentum of one tip's node [N s]"
            rows.append(Verdict.equal(words, results["first_impulse"], momentum, 1e-12 * momentum))
        if p["restitution"] == 0:  # the tips stay together
            words = "the bars part 2 L / c after they touched [s]"
            rows += impacting_bar.one_phase(results, words, 2 * p["length"] / exact(p).wave_speed)
            words = "the energy lost is the kinetic energy of the tips' nodes, 1/(2N)"
            lost = Verdict.equal(words, results["energy_lost"], 1 / (2 * p["elements"]), 1e-9)
            rows += [lost] if node_alone else []
        return rows

    def study(self, problem: Problem) -> list[Verdict]:
        """The orders of the paper's two schemes. Collective."""
        return order_verdicts(problem.scheme, problem.p["courant"], problem.given)

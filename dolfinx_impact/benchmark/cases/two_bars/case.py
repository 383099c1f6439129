"""Two bars that fly against each other: Fekak et al. (2017), Sect. 3.1.

They lie along x, their tips at ``x = -gap / 2`` and ``gap / 2``. Each records its way to the other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .... import LinearElastic, NodePairs, Solid, mesh, parallel
from ....exact import ImpactingBar
from ....integrators import Option, Scheme
from ....integrators.options import check
from ...case import COMMON, EXPLICIT, Problem, Results, Setup, Values, Verdict, Verdicts, contact_law
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


class TwoBars(impacting_bar.BarCase):
    """Two equal elastic bars fly against each other.

    By symmetry each moves as if it hit a rigid wall in the middle of the gap.
    """

    parameters, order_elements = PARAMETERS, ORDER_ELEMENTS
    exact = staticmethod(exact)
    defaults = {"theta": 1.0, "mass": "lumped"}  # theta = 1 is that of the paper
    words = (
        "the impulse turns the momentum of a bar, 2 m v0 (ratio)",
        "the first impulse is the momentum of one tip's node [N s]",
        "the bars part 2 L / c after they touched [s]",
        "the energy lost is the kinetic energy of the tips' nodes, 1/(2N)",
    )

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Bars and tips; the critical step is (L / N) / c. Collective."""
        sizes = {name: p[name] for name in ("length", "gap", "elements")}
        named = mesh.read(mesh.package_mesh("two_bars.geo"), gdim=1, parameters=sizes)
        bars = Solid(named, density=p["rho"], law=LinearElastic(p["E"], 0.0), cross_section=p["area"])
        tips = NodePairs(bars, "left tip", "right tip", [1.0], gap0=p["gap"], **contact_law(p))
        critical = p["length"] / p["elements"] / exact(p).wave_speed
        # By name: with no gap both tips lie at x = 0.
        sides = (("left bar", 1.0), ("right bar", -1.0))
        left, right = (bars.rigid_velocity([v], cells=side) for side, v in sides)
        towards = p["v0"] * (left + right)
        return Setup(system=bars, contact=tips, record=tips.approach(), critical=critical, v0=towards)

    def measure(self, run: Problem) -> Results:
        """The numbers of a run, momentum and impulse those of one bar. Collective."""
        system, s = run.integrator.system, run.integrator
        momentum = np.zeros(system.size)
        system.mass_product(s.v_mean, s.mass, momentum)
        left = run.setup.body.rigid_velocity([1.0], cells="left bar")[: system.owned] > 0
        along = parallel.total(system.comm, float(np.sum(momentum[: system.owned][left])))
        results = impacting_bar.measured(run, exact(run.p).impulse)
        return {**results, "rebound_velocity": -along / (system.total_mass / 2)}

    def contact_mass(self, run: Problem) -> float:
        """Mass of one tip's node [kg]. Collective."""
        masses = run.integrator.system.mass[run.setup.contact.approach().dofs]
        return parallel.total(run.setup.contact.comm, float(np.sum(masses))) / 2

    def node_alone(self, run: Problem) -> bool:
        """As of one bar, where the tips do not touch at the start."""
        return super().node_alone(run) and run.p["gap"] > run.p["gap_tolerance"]

    def verdicts(self, run: Problem) -> Verdicts:
        """Symmetry; impulse, duration and loss of energy of a whole impact. Collective."""
        scale, apart = (float(np.abs(u).max()) for u in (run.result["u"], np.diff(run.result["u"])))
        if scale > 0:
            words = "the bars mirror each other (tips' displacements, relative)"
            yield Verdict.below(words, apart / scale, 1e-12)
        yield from super().verdicts(run)

    def orders_known(self, scheme: str, p: Values) -> bool:
        """Those of the paper's two schemes, Figs. 9 and 10, over a whole impact."""
        lossy = scheme == "moreau-jean" and p["theta"] == 1 and p["mass"] == "lumped"
        return (scheme == "cd-lagrange" or lossy) and p["t_end"] >= 1.2 * exact(p).contact_end

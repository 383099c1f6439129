"""The bar against a wall: Carpenter et al. (1991), Di Stasio et al. (2019) case 4, in 1D and 3D.

It lies along x from x = 0 on and flies towards the wall at ``x = -gap``. Displacements are recorded that way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import LinearElastic, Plane, RigidContact, Solid, mesh, parallel
from ....exact import ImpactingBar
from ....integrators import CentralDifferences, Option, Scheme, find_scheme
from ....integrators.options import check
from ...case import COMMON, EXPLICIT, NAMED, Case, Problem, Results, Setup, Values, contact_law
from ...convergence import norm35
from ...run_log import CONTACT
from ...verdict import Verdict, Verdicts

PARAMETERS = {
    "dimension": Option(1, "-", "line or solid", (1, 3)),
    "elements": Option(50, "-", "elements along the bar", interval="[1, 10000000]"),
    "lateral": Option(5, "-", "elements along each side of the section (3D)", interval="[1, 1000]"),
    "cell": Option("hexahedron", "-", "cells (3D)", ("hexahedron", "tetrahedron")),
    "E": Option(2.1e11, "Pa", "Young's modulus", interval="(0, inf)"),
    "rho": Option(7847.0, "kg/m3", "density", interval="(0, inf)"),
    "nu": Option(None, "-", "Poisson's ratio (default 0 in 1D, 0.3 in 3D)"),
    "length": Option(0.254, "m", "length of the bar", interval="(0, inf)"),
    "area": Option(0.645e-3, "m2", "cross-section", interval="(0, inf)"),
    "gap": Option(2e-4, "m", "distance to the wall at t = 0", interval="[0, inf)"),
    "v0": Option(5.0, "m/s", "speed towards the wall", interval="[0, inf)"),
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
    """The 1D solution for the parameters of a run; ValueError for values that describe no bar."""
    values = {name: p[name] for name in ("E", "rho", "length", "area", "gap", "v0")}
    check({name: PARAMETERS[name] for name in values}, p)
    return ImpactingBar(*values.values())


def make_bar(p: Values) -> Solid:
    """The finite element bar. Collective."""
    flat, side = p["dimension"] == 1, math.sqrt(p["area"])
    if not flat and not 1e-5 < side / p["length"] < 1e5:
        raise ValueError(f"a section of side {side:.3g} m and a length of {p['length']:g} m cannot be meshed")
    sizes = {name: p[name] for name in ("dimension", "length", "elements", "lateral")}
    sizes |= {"side": side, "tetrahedra": p["cell"] == "tetrahedron"}
    named = mesh.read(mesh.package_mesh("bar.geo"), gdim=p["dimension"], parameters=sizes)
    section, law = p["area"] if flat else 1.0, LinearElastic(p["E"], poisson(p))
    return Solid(named, density=p["rho"], law=law, cross_section=section)


def poisson(p: Values) -> float:
    """Poisson's ratio: as given, else 0 in 1D and 0.3 in 3D."""
    return p["nu"] if p["nu"] is not None else (0.0 if p["dimension"] == 1 else 0.3)


def measured(run: Problem, impulse: float) -> Results:
    """The numbers of bodies along x; what loads gave counts as energy that they had. Collective.

    Args:
        run: The run.
        impulse: The impulse of an elastic rebound [N s].
    """
    log, result, system = run.log, run.result, run.integrator.system
    momentum, own = np.zeros(system.size), slice(0, system.owned, run.p.get("dimension", 1))
    system.mass_product(run.integrator.v_mean, run.integrator.mass, momentum)
    along, mass = (parallel.total(system.comm, float(np.sum(x[own]))) for x in (momentum, system.mass))
    stored = result["kinetic"] + result["complementary"] + result["internal"]
    given = float(stored[0] + result["external"][-1])
    return {
        **log.numbers(*CONTACT, "first_impulse"),
        "impulse_ratio": log.impulse_sum / impulse if impulse > 0 else None,
        "energy_lost": 1 - float(stored[-1]) / given if given > 0 else 0.0,
        "rebound_velocity": along / mass,
    }


class BarCase(Case):
    """Bars along x that fly against a wall, or against each other.

    Attributes:
        exact: The solution of one bar for the parameters of a run.
        order_elements: Elements along a bar on the meshes to which orders are fitted.
        words: Of the verdicts on a whole impact: the impulse, the first one, the duration, the loss.
    """

    #: All but the scheme whose damping, of which a bar has none, is implicit.
    schemes = tuple(name for name in NAMED if name != "cd-lagrange-implicit")
    exact: Callable[[Values], ImpactingBar]
    order_elements: tuple[int, ...]
    words: tuple[str, str, str, str]

    def contact_mass(self, run: Problem) -> float:
        """Mass of the contact nodes of one bar [kg]. Collective."""
        raise NotImplementedError

    def orders_known(self, scheme: str, p: Values) -> bool:
        """Whether theory knows the orders of a scheme over a run with these parameters."""
        raise NotImplementedError

    def node_alone(self, run: Problem) -> bool:
        """Whether the first impulse is that of the contact nodes alone, whose energy is all that is lost."""
        chosen, central = find_scheme(run.scheme), isinstance(run.integrator, CentralDifferences)
        return central and chosen.explicit and chosen.contact_level == "velocity"

    def verdicts(self, run: Problem) -> Verdicts:
        """Impulse, duration and loss of energy of a whole impact. Collective."""
        results, p, true = run.results, run.p, self.exact(run.p)
        if p["v0"] == 0 or p["t_end"] < 1.2 * true.contact_end or results["contact_start"] is None:
            return
        impulse, first, lasting, loss = self.words
        node_alone = self.node_alone(run)
        yield Verdict.equal(impulse, results["impulse_ratio"], 1.0, 0.02)
        if node_alone and p["gap"] > p["gap_tolerance"]:
            momentum = (1 + p["restitution"]) * self.contact_mass(run) * p["v0"]
            yield Verdict.equal(first, results["first_impulse"], momentum, 1e-12 * momentum)
        if p.get("dimension", 1) > 1 or p["restitution"] > 0:
            return  # the rest is about one node that stays
        lasted = results["contact_end"] - results["contact_start"]
        expected = 2 * p["length"] / true.wave_speed
        yield Verdict.equal("the contact is one uninterrupted phase", results["contact_phases"], 1, 0)
        yield Verdict.equal(lasting, lasted, expected, 0.05 * expected)
        if node_alone:
            yield Verdict.equal(loss, results["energy_lost"], 1 / (2 * p["elements"]), 1e-9)

    def orders(self, scheme: str, courant: float, p: Values) -> NDArray:
        """Orders of (u, v_t) at the contact node, Fekak et al. (94), mesh and step refined. Collective."""
        true, errors = self.exact(p), []
        for n in self.order_elements:
            made = self.make(scheme, {**p, "courant": courant, "h": None, "every": 1, "elements": n})
            result = made.simulate([], energies=False)
            exact = true.displacement(0.0, result["t"]), true.velocity(0.0, result["t"])
            errors.append([norm35(result[name][:, 0], values) for name, values in zip(("u", "v_t"), exact)])
        return -np.polyfit(np.log(self.order_elements), np.log(errors), 1)[0]

    def study(self, problem: Problem) -> Verdicts:
        """The orders at the run's Courant number, the mesh refined several times. Collective.

        With h = c dt both are 1 for CD-Lagrange; below, its velocity oscillates after every jump: order about
        1/2. (Half-step velocities do not converge at courant 1, where their highest mode has the frequency of
        the steps.) Moreau-Jean with theta = 1 has order 1/2 anyway.
        """
        scheme, courant, p = problem.scheme, problem.p["courant"], problem.given
        at_limit, explicit, true = abs(courant - 1) <= 1e-6, scheme == "cd-lagrange", self.exact(p)
        steps = p["t_end"] * true.wave_speed / p["length"] * sum(self.order_elements) / courant
        if p["v0"] == 0 or p["restitution"] > 0 or not self.orders_known(scheme, p):
            return
        if courant > 1 and not at_limit or steps > ORDER_STEPS:
            return
        u, v = self.orders(scheme, 1.0 if at_limit else courant, p)
        expected, name = 1.0 if explicit and at_limit else 0.5, f"in norm (94) at courant {courant:.3g}"
        yield Verdict.equal(f"order of the velocity at t {name}", v, expected, 0.15)
        if at_limit or not explicit:
            yield Verdict.equal(f"order of the displacement {name}", u, expected, 0.15)


class Bar(BarCase):
    """An elastic bar flies against a rigid wall.

    It stays there while a wave runs to its far end and back, then leaves with the speed it came with.
    """

    parameters, order_elements = PARAMETERS, ORDER_ELEMENTS
    exact = staticmethod(exact)
    words = (
        "the impulse is that of an elastic rebound, 2 m v0 (ratio)",
        "the first impulse is the momentum of the contact nodes [N s]",
        "the bar leaves the wall 2 L / c after it touched [s]",
        "the energy lost is the kinetic energy of the contact node, 1/(2N)",
    )

    def settled(self, p: Values, scheme: Scheme) -> dict[str, Any]:
        """The parameters with Poisson's ratio."""
        return {**p, "nu": poisson(p)}

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Bar and wall. Collective."""
        solution, bar = exact(p), make_bar(p)
        axis = np.eye(p["dimension"])[0]
        wall = RigidContact(bar, "contact", Plane(-p["gap"] * axis, axis), **contact_law(p))
        # On a line the critical step is known exactly: (L / N) / c.
        transit = p["length"] / p["elements"] / solution.wave_speed
        critical = transit if p["dimension"] == 1 else None
        v0 = np.zeros(bar.size)
        v0[:: p["dimension"]] = -p["v0"]
        return Setup(system=bar, contact=wall, record=wall.approach(), critical=critical, v0=v0)

    def measure(self, run: Problem) -> Results:
        """Contact, impulse and rebound. Collective."""
        return measured(run, exact(run.p).impulse)

    def contact_mass(self, run: Problem) -> float:
        """Mass of the contact nodes [kg]. Collective."""
        wall = run.setup.contact
        return parallel.total(wall.comm, float(np.sum(run.integrator.system.mass[wall.L.dofs[:, 0]])))

    def orders_known(self, scheme: str, p: Values) -> bool:
        """Those of CD-Lagrange on a line, over a whole impact."""
        whole = p["t_end"] >= 1.5 * exact(p).contact_end
        return scheme == "cd-lagrange" and p["dimension"] == 1 and whole

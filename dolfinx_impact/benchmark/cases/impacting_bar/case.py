"""The bar against a wall: Carpenter et al. (1991), Di Stasio et al. (2019) case 4, in 1D and 3D.

It lies along x from x = 0 on and flies towards the wall at ``x = -gap``. Displacements are recorded that way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import mesh, parallel
from ....contact.obstacles import Plane
from ....contact.rigid_contact import RigidContact
from ....exact import ImpactingBar
from ....integrators import CentralDifferences, Integrator, Option, Scheme, find_scheme
from ....integrators.options import check
from ....materials import LinearElastic
from ....output.result import Result
from ....systems.solid import Solid
from ...case import COMMON, EXPLICIT, NAMED, Case, Ended, Problem, Results, Setup, Values, contact_law
from ...convergence import norm35
from ...run_log import CONTACT
from ...verdict import Verdict

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


def impulse_verdict(results: Results) -> Verdict:
    """Whether the bar rebounds with the speed it came with."""
    words = "the impulse is that of an elastic rebound, 2 m v0 (ratio)"
    return Verdict.equal(words, results["impulse_ratio"], 1.0, 0.02)


def one_phase(results: Results, words: str, expected: float) -> list[Verdict]:
    """Whether the contact is one phase of the expected duration [s]."""
    duration = results["contact_end"] - results["contact_start"]
    return [
        Verdict.equal("the contact is one uninterrupted phase", results["contact_phases"], 1, 0),
        Verdict.equal(words, duration, expected, 0.05 * expected),
    ]


def stops_the_node(scheme: str, integrator: Integrator) -> bool:
    """Whether the first impulse is that of the contact nodes alone, whose energy is all that is lost."""
    chosen = find_scheme(scheme)
    central = isinstance(integrator, CentralDifferences)
    return central and chosen.explicit and chosen.contact == "velocity"


def histories(problem: Problem) -> Result:
    """Run a problem for its displacements, velocities and impulses alone. Collective."""
    return problem.simulate([], energies=False, every=1)


def fitted_orders(made: Iterable[Problem], elements: Sequence[int], true: ImpactingBar) -> NDArray:
    """Orders of (u, v_t) at the contact node, Fekak et al. (94), as mesh and step are refined. Collective."""
    errors = []
    for result in map(histories, made):
        exact = true.displacement(0.0, result["t"]), true.velocity(0.0, result["t"])
        errors.append([norm35(result[name][:, 0], values) for name, values in zip(("u", "v_t"), exact)])
    return -np.polyfit(np.log(elements), np.log(errors), 1)[0]


def orders(scheme: str, courant: float, p: Values) -> NDArray:
    """Fitted orders of convergence in (u, v_t) at a Courant number. Collective."""
    values = {**p, "courant": courant, "h": None, "every": 1}
    made = (Bar().make(scheme, {**values, "elements": n}) for n in ORDER_ELEMENTS)
    return fitted_orders(made, ORDER_ELEMENTS, exact(p))


def order_verdicts(scheme: str, courant: float, p: Values) -> list[Verdict]:
    """The orders of CD-Lagrange at the run's Courant number, a line mesh refined six times.

    At courant 1 both are 1; below, the velocity oscillates after every jump: order about 1/2. (Half-step
    velocities do not converge at courant 1, where their highest mode has the frequency of the steps.)
    """
    at_limit = abs(courant - 1) <= 1e-6
    whole = p["dimension"] == 1 and p["v0"] > 0 and p["t_end"] >= 1.5 * exact(p).contact_end
    steps = p["t_end"] * exact(p).wave_speed / p["length"] * sum(ORDER_ELEMENTS) / courant
    stable, known = courant <= 1 or at_limit, scheme == "cd-lagrange" and p["restitution"] == 0
    if not (stable and known and whole and steps <= ORDER_STEPS):
        return []
    u, v = orders(scheme, 1.0 if at_limit else courant, p)
    name = f"in norm (94) at courant {courant:.3g}"
    found = [Verdict.equal(f"order of the velocity at t {name}", v, 1.0 if at_limit else 0.5, 0.15)]
    return found + [Verdict.equal(f"order of the displacement {name}", u, 1.0, 0.15)] * at_limit


def measured(run: Ended, impulse: float) -> Results:
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


class Bar(Case):
    """The bar and the wall at x = -gap."""

    parameters = PARAMETERS
    #: All but the scheme whose damping, of which a bar has none, is implicit.
    schemes = tuple(name for name in NAMED if name != "cd-lagrange-implicit")
    about = (
        "An elastic bar flies against a rigid wall. It stays there while a wave runs to its far end and "
        "back, then leaves with the speed it came with."
    )

    def settled(self, p: Values, scheme: Scheme) -> dict[str, Any]:
        """The parameters with Poisson's ratio."""
        return {**super().settled(p, scheme), "nu": poisson(p)}

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Bar and wall. Collective."""
        solution, bar = exact(p), make_bar(p)
        axis = np.eye(p["dimension"])[0]
        wall = RigidContact(bar, "contact", Plane(-p["gap"] * axis, axis), **contact_law(p))
        # On a line the critical step is known exactly: (L / N) / c.
        transit = p["length"] / p["elements"] / solution.wave_speed
        critical = transit if p["dimension"] == 1 else None
        return Setup(system=bar, contact=wall, record=wall.approach(), critical=critical)

    def start(self, integrator: Integrator, setup: Setup, p: Values) -> None:
        """Start towards the wall. Collective."""
        v0 = np.zeros(setup.body.size)
        v0[:: p["dimension"]] = -p["v0"]
        integrator.start(0.0, v0)

    def measure(self, run: Ended) -> Results:
        """Contact, impulse and rebound. Collective."""
        return measured(run, exact(run.p).impulse)

    def verdicts(self, run: Ended) -> list[Verdict]:
        """Impulse, duration and loss of energy of a whole impact. Collective."""
        results, p, wall, true = run.results, run.p, run.setup.contact, exact(run.p)
        if p["v0"] == 0 or p["t_end"] < 1.2 * true.contact_end or results["contact_start"] is None:
            return []
        rows, node_alone = [impulse_verdict(results)], stops_the_node(run.scheme, run.integrator)
        if node_alone and p["gap"] > p["gap_tolerance"]:
            nodes = parallel.total(wall.comm, float(np.sum(run.integrator.system.mass[wall.L.dofs[:, 0]])))
            momentum = (1 + p["restitution"]) * nodes * p["v0"]
            words = "the first impulse is the momentum of the contact nodes [N s]"
            rows.append(Verdict.equal(words, results["first_impulse"], momentum, 1e-12 * momentum))
        if p["dimension"] > 1 or p["restitution"] > 0:
            return rows  # the rest is about one node that stays
        words = "the bar leaves the wall 2 L / c after it touched [s]"
        rows += one_phase(results, words, true.contact_end - true.contact_start)
        words = "the energy lost is the kinetic energy of the contact node, 1/(2N)"
        lost = Verdict.equal(words, results["energy_lost"], 1 / (2 * p["elements"]), 1e-9)
        return [*rows, lost] if node_alone else rows

    def study(self, problem: Problem) -> list[Verdict]:
        """The orders of CD-Lagrange. Collective."""
        return order_verdicts(problem.scheme, problem.p["courant"], problem.given)

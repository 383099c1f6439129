"""The impacting bar: discretization, restitution and energy, Di Stasio et al. (2019) and CSMA (2019)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...claim import CSMA, Claim
from ...convergence import at_times, norm35, order
from ...runs import Run, Runs
from ...verdict import Verdict, also
from .measures import (
    BAR,
    BOTH,
    CASE,
    ENERGY,
    MESHES,
    PLACES,
    SIZES,
    Register,
    error,
    highest_energy,
    hits,
    listed,
    on_meshes,
    position_ripple,
    steps_of,
    vibrating,
)

_says = Register()
_TEXT = "Impacting bar"
_SECTION = "Sect. 2.4"


@_says(
    "distasio-bar-critical-step",
    _TEXT,
    "With 50 elements the largest stable step of explicit schemes is 9.82e-7 s.",
)
def _critical_step(runs: Runs) -> Verdict:
    run = runs(CASE, "cd-lagrange", courant=1.0)
    growth = highest_energy(run)
    why = (
        "the critical step of the mesh, (L/N)/c, to the printed digits; the run at it never has more than "
        f"{growth:.6g} of its initial energy"
    )
    return also(growth < 1 + 1e-9, Verdict.equal(why, run.results["critical_time_step"], 9.82e-7, 5e-10))


@_says("distasio-bar-step", _TEXT, "The step of 0.7 times the critical one is 6.87e-7 s.")
def _step(runs: Runs) -> Verdict:
    run = runs(CASE, "cd-lagrange", courant=0.7)
    growth = highest_energy(run)
    why = (
        f"the step of the run, to the printed digits; the run is stable: its energy is at most {growth:.6g} "
        "of the initial one"
    )
    return also(growth < 1 + 1e-9, Verdict.equal(why, run.results["h"], 6.87e-7, 5e-10))


@_says("distasio-bar-one-node", "Fig. 19", "The contact area is a single node.")
def _one_node(runs: Runs) -> Verdict:
    run = runs(CASE, "cd-lagrange")
    share = run.results["first_impulse"] / (BAR.impulse / 2)
    why = (
        "the first impulse over the momentum of the bar: that of one lumped end node, 1/(2 N); "
        f"{run['gap'].shape[1]} contact point"
    )
    return also(run["gap"].shape[1] == 1, Verdict.equal(why, share, 0.01, 1e-12))


def _mass_felt(run: Run) -> float:
    """Mass that an impulse at the end node sets in motion in one step, 1/[(M + h^2/4 K)^-1]_11 [kg]."""
    n, h = run.summary["parameters"]["elements"], run.results["h"]
    cell = BAR.length / n
    mass = BAR.rho * BAR.area * cell / 6 * np.array([[2, 1], [1, 2]])
    stiff = BAR.E * BAR.area / cell * np.array([[1, -1], [-1, 1]])
    A = np.zeros((n + 1, n + 1))
    for k in range(n):
        A[k : k + 2, k : k + 2] += mass + h**2 / 4 * stiff
    return float(1 / np.linalg.inv(A)[0, 0])


@_says(
    "distasio-bar-consistent",
    _TEXT,
    "Only the explicit scheme lumps the mass; Moreau-Jean takes the consistent matrix.",
)
def _consistent(runs: Runs) -> Verdict:
    run = runs(CASE, "moreau-jean")
    expected = BAR.v0 * _mass_felt(run)
    lumped = runs(CASE, "cd-lagrange").results["first_impulse"]
    why = (
        "the first impulse of moreau-jean [N s], against v0 / [(M + h^2/4 K)^-1]_11 with the printed "
        f"consistent matrices; limit: rounding. The lumped node of cd-lagrange takes {lumped:.6g}"
    )
    return Verdict.equal(why, run.results["first_impulse"], expected, 1e-10 * expected)


def _elastic_ripple(runs: Runs, scheme: str) -> Verdict:
    found = position_ripple(runs(CASE, scheme, restitution=1.0))
    quiet = position_ripple(runs(CASE, scheme))
    why = (
        f"RMS of the position during the contact over h v0, with {scheme}; limit: a tenth of the way of a "
        f"free node in one step. With restitution 0 it is {quiet:.1g}"
    )
    if scheme == "moreau-jean":
        why += ". Its velocity changes its sign in every step: the mean of two, which moves the node, is 0"
    return Verdict.above(why, found, 0.1)


for _scheme in BOTH:
    _judge = partial(_elastic_ripple, scheme=_scheme)
    _says(
        f"distasio-bar-e1-ripple-{_scheme}",
        _TEXT,
        f"With restitution 1 the displacement of the contact node oscillates after the impact ({_scheme}).",
    )(_judge)
    _says(
        f"csma-bar-e1-ripple-{_scheme}",
        _SECTION,
        f"Spurious oscillations of the position follow the impact ({_scheme}).",
        CSMA,
    )(_judge)


def _mean_error(runs: Runs, scheme: str, name: str, **settings: Any) -> float:
    """Norm (35), mean over the places of the impact in its step."""
    return float(np.mean([error(run, name) for run in hits(runs, scheme, **settings)]))


def _closer(runs: Runs, name: str) -> Verdict:
    found = {s: [_mean_error(runs, s, name, restitution=e) for e in (0.0, 1.0)] for s in BOTH}
    shown = ", ".join(f"{a:.2g} and {b:.2g} with {scheme}" for scheme, (a, b) in found.items())
    why = f"error with e = 0 over that with e = 1, mean of {PLACES}, the larger ratio: {shown}. "
    why += {
        "u": "At e = 0 the node stays up to h v0 inside the wall and rebounds slower; at e = 1 it oscillates "
        "by less than that",
        "v_t": "The velocity of moreau-jean changes its sign in every step at e = 1",
    }[name]
    return Verdict.below(why, max(a / b for a, b in found.values()), 1.0)


for _quantity, _name in (("displacement", "u"), ("velocity", "v_t")):
    _says(
        f"distasio-bar-e0-{_quantity}",
        _TEXT,
        f"With restitution 0 the bar is closer to the analytical one than with 1 ({_quantity}, norm (35)).",
    )(partial(_closer, name=_name))


@_says("csma-bar-convergence", _SECTION, "At convergence in space and time energy is conserved.", CSMA)
@_says("distasio-bar-energy-order", _TEXT, "Energy is conserved only as space and time steps converge.")
def _energy_order(runs: Runs) -> Verdict:
    found, least = {}, np.inf
    for scheme in BOTH:
        refined = on_meshes(runs, scheme)
        lost = [run.results["energy_lost"] for run in refined]
        found[scheme] = order(steps_of(refined), np.maximum(lost, 1e-15))
        least = min(least, *lost)
    why = (
        f"order of the energy lost, {SIZES} at one Courant number: {listed(found)}, the smaller decides; at "
        f"least {least:.2g} is lost on every mesh. Theory: 1, the energy of a mass proportional to the "
        "element; limit: a quarter"
    )
    return also(least > 1e-9, Verdict.above(why, min(found.values()), 0.25))


@_says(
    "distasio-bar-converges",
    _TEXT,
    "The discrete solution converges to the analytical one in space and time.",
)
def _converges(runs: Runs) -> Verdict:
    refined = on_meshes(runs, "cd-lagrange")
    times = refined[0]["t"]
    u, v = (order(steps_of(refined), [error(run, name, times) for run in refined]) for name in ("u", "v_t"))
    why = (
        f"order of the displacement, norm (35) on the times of the coarsest run, {SIZES}; limit: half an "
        f"order. That of the velocity is {v:.2f}: it oscillates behind every jump"
    )
    return also(v > 0.25, Verdict.above(why, u, 0.5))


@_says(
    "csma-bar-node-energy",
    _SECTION,
    "The energy dissipated is the kinetic energy of the contact node, which the impact takes away.",
    CSMA,
)
@_says("distasio-bar-node-energy", _TEXT, "CD-Lagrange loses the kinetic energy of the contact node.")
def _node_energy(runs: Runs, scheme: str = "cd-lagrange") -> Verdict:
    lost = -runs(CASE, scheme)["contact"][-1]
    why = f"work of the contact force over the energy of the lumped end node, E0/(2 N), with {scheme}"
    if scheme == "moreau-jean":
        mass = _mass_felt(runs(CASE, scheme)) / (0.01 * BAR.rho * BAR.area * BAR.length)
        why += (
            ". No node stops alone without a lumped mass: what the impulse stops is the mass 1/[(M + h^2/4 "
            f"K)^-1]_11, {mass:.4f} of the lumped node's"
        )
    return Verdict.equal(why, lost / (0.01 * ENERGY), 1.0, 1e-9)


_says(
    "distasio-bar-node-energy-implicit", _TEXT, "Moreau-Jean loses the kinetic energy of the contact node."
)(partial(_node_energy, scheme="moreau-jean"))


@_says("distasio-bar-lost-tiny", _TEXT, "The lost energy is tiny on an accurate mesh.")
def _lost_tiny(runs: Runs) -> Verdict:
    found = {scheme: runs(CASE, scheme, elements=MESHES[-1]).results["energy_lost"] for scheme in BOTH}
    why = (
        f"part of the energy lost on {MESHES[-1]} elements: {listed(found)}; limit: half a per cent, which "
        "four times fewer elements would lose"
    )
    return Verdict.below(why, max(found.values(), key=abs), 0.005)


@_says(
    "distasio-fig20-position", "Fig. 20", "The position of the contact node is close to the analytical one."
)
def _position(runs: Runs) -> Verdict:
    found = {s: _mean_error(runs, s, "u") for s in BOTH}
    why = (
        f"norm (35) of the displacement, mean of {PLACES}: {listed(found)}, the larger decides; limit: that "
        "of a bar that touches a step late and leaves a step early"
    )
    return Verdict.below(why, max(found.values()), _one_step_off(runs(CASE, "cd-lagrange")))


def _one_step_off(run: Run) -> float:
    """Norm (35) of the exact bar when contact begins a step late and ends a step early.

    It then stops h v0 inside the wall, and two steps of the contact force are missing in its rebound.
    """
    t, h = run["t"], run.results["h"]
    true = BAR.displacement(0.0, t)
    slower = 2 * h * BAR.force / (BAR.rho * BAR.area * BAR.length)
    late = h * BAR.v0 * (t >= BAR.contact_start) + slower * np.maximum(t - BAR.contact_end, 0.0)
    return norm35(true + late, true)


@_says("distasio-fig20-persistent", "Fig. 20", "The contact is persistent.")
def _persistent(runs: Runs) -> Verdict:
    found = {scheme: runs(CASE, scheme) for scheme in BOTH}
    late = {s: (run.results["contact_end"] - BAR.contact_end) / run.results["h"] for s, run in found.items()}
    moved = max(map(position_ripple, found.values()))
    why = (
        f"phases of contact, the larger number of both schemes; the node moves by {moved:.1g} h v0 while it "
        f"touches, and the last impulse comes {listed(late)} steps after the exact release"
    )
    return Verdict.equal(why, max(run.results["contact_phases"] for run in found.values()), 1, 0)


@_says(
    "distasio-bar-forced-dissipation",
    "Concluding remarks",
    "Finite elements force a dissipative contact law: without it the contact does not last.",
)
def _forced(runs: Runs) -> Verdict:
    found = {scheme: runs(CASE, scheme, restitution=1.0).results["contact_phases"] for scheme in BOTH}
    why = f"phases of contact at restitution 1: {listed(found)}, the smaller decides; at 0 there is one"
    return Verdict.above(why, min(found.values()), 1)


@_says("csma-bar-e0-quiet", _SECTION, "With restitution 0 the oscillations of the position disappear.", CSMA)
def _quiet(runs: Runs) -> Verdict:
    found = {scheme: position_ripple(runs(CASE, scheme)) for scheme in BOTH}
    why = f"RMS of the position during the contact over h v0: {listed(found)}; limit: rounding of u over h v0"
    return Verdict.below(why, max(found.values()), 1e-12)


@_says("csma-bar-e0-dissipates", _SECTION, "With restitution 0 the contact no longer conserves energy.", CSMA)
def _dissipates(runs: Runs) -> Verdict:
    found = {scheme: runs(CASE, scheme).results["energy_lost"] for scheme in BOTH}
    kept = max(abs(runs(CASE, scheme, restitution=1.0).results["energy_lost"]) for scheme in BOTH)
    why = f"part of the energy lost: {listed(found)}, the smaller decides; at restitution 1 it is {kept:.1g}"
    return also(kept < 1e-11, Verdict.above(why, min(found.values()), 1e-6))


def _influence(runs: Runs, scheme: str, name: str) -> tuple[float, list[float]]:
    """Order and size of the difference that restitution makes, norm (35) on the coarsest run's times."""
    plastic, elastic = (on_meshes(runs, scheme, restitution=e) for e in (0.0, 1.0))
    times = plastic[0]["t"]
    pairs = [[at_times(run["t"], run[name], times) for run in pair] for pair in zip(elastic, plastic)]
    sizes = [norm35(*pair) for pair in pairs]
    return order(steps_of(plastic), np.maximum(sizes, 1e-15)), sizes


@_says(
    "csma-bar-no-influence-u",
    _SECTION,
    "At convergence restitution has no influence any more (displacement).",
    CSMA,
)
def _no_influence_u(runs: Runs) -> Verdict:
    found = {scheme: _influence(runs, scheme, "u")[0] for scheme in BOTH}
    why = (
        f"order in h of the difference between restitution 0 and 1, norm (35) of the displacement, {SIZES}: "
        f"{listed(found)}, the smaller decides; limit: half an order, as for u itself"
    )
    return Verdict.above(why, min(found.values()), 0.5)


def _no_influence_v(runs: Runs, scheme: str) -> Verdict:
    found, sizes = _influence(runs, scheme, "v_t")
    why = (
        "order in h of the difference between restitution 0 and 1, norm (35) of the velocity at t, "
        f"{sizes[0]:.2g} to {sizes[-1]:.2g} on {SIZES}; limit: half of the velocity's own order 1/2"
    )
    if scheme == "moreau-jean":
        why += ". At restitution 1 its node reverses its velocity in every step, on every mesh"
    return Verdict.above(why, found, 0.25)


for _scheme in BOTH:
    _says(
        f"csma-bar-no-influence-v-{_scheme}",
        _SECTION,
        f"At convergence restitution has no influence any more (velocity, {_scheme}).",
        CSMA,
    )(partial(_no_influence_v, scheme=_scheme))


@_says(
    "csma-bar-vibration",
    "Sect. 3",
    "At the impact energy turns into spurious oscillations of high frequency.",
    CSMA,
)
def _vibration(runs: Runs) -> Verdict:
    found = {s: vibrating(runs(CASE, s)) / runs(CASE, s).results["energy_lost"] for s in BOTH}
    why = (
        "energy at the end that is not that of the mean velocity (the exact bar has none) over the energy "
        f"that contact takes away: {listed(found)}; the smaller decides, and should be above 1"
    )
    return Verdict.above(why, min(found.values()), 1.0)


@_says(
    "csma-bar-formulation",
    "Sect. 3",
    "Contact at velocity level has the better energy behaviour than contact at position level.",
    CSMA,
)
def _formulation(runs: Runs) -> Verdict:
    lost = {s: runs(CASE, s, restitution=1.0).results["energy_lost"] for s in (*BOTH, "paoli-schatzman")}
    position = lost.pop("paoli-schatzman")
    why = (
        f"part of the energy lost at restitution 1, where none should be: {listed(lost)}, the larger "
        f"decides; limit: rounding. With paoli-schatzman it is {position:.2g}: it gains"
    )
    return also(abs(position) > 1e-3, Verdict.below(why, max(lost.values(), key=abs), 1e-11))


CLAIMS: tuple[Claim, ...] = tuple(_says)

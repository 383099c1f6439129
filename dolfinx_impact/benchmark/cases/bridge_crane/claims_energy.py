"""The bridge crane: energies, the interface, and CPU time, Fekak et al. (2017), Figs. 18 and 19."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...runs import Runs
from ...verdict import Verdict, also
from .measures import (
    ALIKE,
    HIGH_RATIO,
    LINE,
    RATIO,
    Register,
    Shaking,
    apart,
    divided,
    explicit,
    first_impact,
    largest_energy,
    of_ratio,
    sampled,
    speed,
)

says = Register()
_FIG18, _FIG19 = "Sect. 3.2, Fig. 18", "Sect. 3.2, Fig. 19"


def _balance(runs: Runs, s: Shaking, asynchronous: bool) -> Verdict:
    run = (divided if asynchronous else explicit)(runs, s)
    why = (
        f"largest residual of the balance {'(91)' if asynchronous else '(84)'} over the largest energy, "
        f"every step counted; limit: rounding, which adds up over {run.summary['steps']} steps"
    )
    moved = float(np.abs(run["external"]).max()) > 0 and float(np.ptp(run["kinetic"])) > 0
    return also(moved, Verdict.below(why, run.results["balance_residual"], 1e-9))


_RUNS = (("explicit", "a", "fully explicit"), ("hati", "b; Appendix 2.2, (91)", "asynchronous"))
for _id, _where, _kind in _RUNS:
    says(f"balance-{_id}", _FIG18 + _where, f"The energy balance is conserved in the {_kind} run.")(
        partial(_balance, asynchronous=_id == "hati")
    )


@says("energies", _FIG18, "The energies of both runs are similar.")
def _energies(runs: Runs, s: Shaking) -> Verdict:
    ours, true = divided(runs, s), explicit(runs, s)
    off = {name: apart(ours, true, name) for name in ("kinetic", "internal", "external")}
    shown = ", ".join(f"{value:.2g} ({name})" for name, value in off.items())
    why = f"norm (94) of the energies, hati against cd-lagrange: {shown}; the largest decides, limit: {ALIKE}"
    return Verdict.below(why, max(off.values()), ALIKE)


@says(
    "interface-negligible",
    "Sect. 3.2, Figs. 18 and 19",
    "The energy dissipated at the interface is negligible against the global energies.",
)
def _negligible(runs: Runs, s: Shaking) -> Verdict:
    run, high = divided(runs, s), divided(runs, s, "small")
    back = float(sampled(runs, s)["t"][first_impact(sampled(runs, s))])
    before = float(run["interface"][run["t"] < back][-1])
    why = (
        "interface energy at the end over the largest kinetic, internal or external energy, "
        f"{largest_energy(run):.4g} J, with the paper's explicit part and m = {s.ratio}; limit: {LINE}, a "
        f"line's width in Fig. 18. It is {run['interface'][-1]:.3g} J, {before:.2g} J before the first "
        f"impact at {back:.3g} s; with the small explicit part and m = {s.high} it is "
        f"{high['interface'][-1]:.3g} J"
    )
    return Verdict.below(why, float(run["interface"][-1]) / largest_energy(run), LINE)


@says(
    "interface-low",
    _FIG19,
    "The energy dissipated at the interface remains very low (taken as: beside that which the impacts take).",
)
def _low(runs: Runs, s: Shaking) -> Verdict:
    run, true = divided(runs, s), explicit(runs, s)
    lost = -float(run["contact"][-1])
    why = (
        f"interface energy over what the impacts take in the same run, {lost:.3g} J, the only other loss; "
        f"limit: a tenth. In the explicit run the impacts take {-true['contact'][-1]:.3g} J"
    )
    if lost <= 0:
        return Verdict.above(why, 0.0, 1.0)
    return Verdict.below(why, float(run["interface"][-1]) / lost, 0.1)


@says("interface-sign", _FIG19, "The interface dissipates energy: it gives none.")
def _sign(runs: Runs, s: Shaking) -> Verdict:
    run = divided(runs, s)
    most = float(run["interface"].max())
    coarse = {m: of_ratio(runs, s, "paper", m)["interface"][-1] for m in s.ratios[-2:]}
    shown = ", ".join(f"{value:.3g} J (m = {m})" for m, value in coarse.items())
    why = (
        f"largest interface energy of the samples, {most:.2g} J, over the magnitude of the last; limit: "
        f"{LINE}. (93) has no sign in theory: with a step of {1e6 * s.step:g} us and the same parts it "
        f"ends at {shown}"
    )
    last = abs(float(run["interface"][-1]))
    return also(float(run["interface"][-1]) < 0, Verdict.below(why, most / max(last, 1e-12), LINE))


def _taken(runs: Runs, s: Shaking, partition: str) -> dict[int, float]:
    """What the interface takes with each ratio [J]."""
    return {m: -float(of_ratio(runs, s, partition, m)["interface"][-1]) for m in s.ratios}


@says(
    "ratio-controls",
    "Sect. 2.4; Abstract",
    "The ratio m controls the energy dissipated at the interface (taken as: it vanishes as m falls to one).",
)
def _controls(runs: Runs, s: Shaking) -> Verdict:
    found = {p: abs(_taken(runs, s, p)[s.ratios[0]]) for p in ("paper", "small")}
    largest = largest_energy(of_ratio(runs, s, "paper", s.ratios[0]))
    shown = ", ".join(f"{value:.2g} J ({p})" for p, value in found.items())
    high = max(abs(e) for p in found for e in _taken(runs, s, p).values())
    why = (
        f"interface energy with m = {s.ratios[0]} at a step of {1e6 * s.step:g} us over the largest energy, "
        f"{shown}; the larger decides, limit: a thousandth. With larger m it reaches {high:.3g} J"
    )
    return also(high > 0, Verdict.below(why, max(found.values()) / largest, 1e-3))


@says(
    "ratio-order",
    "Sect. 2.4",
    "The ratio m controls the energy dissipated at the interface (taken as: each larger m dissipates more).",
)
def _order(runs: Runs, s: Shaking) -> Verdict:
    taken = {p: _taken(runs, s, p) for p in ("paper", "small")}
    falls = sum(int(np.sum(np.diff(list(values.values())) < 0)) for values in taken.values())
    shown = "; ".join(f"{p}: " + ", ".join(f"{e:.3g}" for e in v.values()) for p, v in taken.items())
    why = (
        f"number of ratios of {', '.join(map(str, s.ratios))} whose interface takes less than that of the "
        f"next smaller one, both explicit parts; limit: none. It takes {shown} J; what is negative it gives"
    )
    return Verdict.below(why, falls, 0)


@says("faster", "Abstract", "The computation takes less time than the fully explicit one.")
def _faster(runs: Runs, s: Shaking) -> Verdict:
    found = speed(runs, s, "paper", RATIO)
    why = (
        f"CPU time of the fully explicit run over that of hati, step 0.286 us, m = {RATIO}, the paper's "
        f"explicit part, {s.timed:g} s of shaking, energies on, one core; limit: one"
    )
    return Verdict.above(why, found, 1.0)


@says("gain", "Sect. 3.2", "The gain in time is not significant: 23 minutes against 20.")
def _gain(runs: Runs, s: Shaking) -> Verdict:
    found = speed(runs, s, "paper", RATIO)
    why = (
        "the same ratio; the paper's is 1.15; limit: 1.5. Here the explicit part has fewer than half of "
        "the crane's elements, coarse steps with kept factors are few, and both runs use the same compiled "
        "product"
    )
    return Verdict.below(why, found, 1.5)


@says("gain-high", "Sect. 3.2", "A higher ratio with a small explicit part gains substantially.")
def _high(runs: Runs, s: Shaking) -> Verdict:
    found = speed(runs, s, "small", HIGH_RATIO)
    why = (
        f"the same ratio with m = {HIGH_RATIO} and the elements at the wheels alone explicit; limit: 3. What "
        "it costs in accuracy is in the figure of the trade-off"
    )
    return Verdict.above(why, found, 3.0)

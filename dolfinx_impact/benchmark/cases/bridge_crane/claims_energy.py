"""The bridge crane: energies, the interface, and CPU time, Fekak et al. (2017), Figs. 18 and 19."""

from __future__ import annotations

import numpy as np

from ...claim import Measured, above, below
from ...runs import Run, Runs
from ...verdict import listing
from . import measures as m
from .measures import ALIKE, LINE, Shaking, row

_FIG18, _FIG19 = "Sect. 3.2, Fig. 18", "Sect. 3.2, Fig. 19"


def _balance(run: Run) -> Measured:
    moved = float(np.abs(run["external"]).max()) > 0 and float(np.ptp(run["kinetic"])) > 0
    return Measured(run.results["balance_residual"], holds=moved)


def _energies(runs: Runs, s: Shaking) -> dict[str, float]:
    ours, true = m.divided(runs, s), m.explicit(runs, s)
    return {name: m.apart(ours, true, name) for name in ("kinetic", "internal", "external")}


def _negligible(runs: Runs, s: Shaking) -> Measured:
    run, high, whole = m.divided(runs, s), m.divided(runs, s, "small"), m.sampled(runs, s)
    last, back = float(run["interface"][-1]), float(whole["t"][m.first_impact(whole)])
    before = float(run["interface"][run["t"] < back][-1])
    note = (
        f"{last:.3g} J, {before:.2g} J before the first impact, {high['interface'][-1]:.3g} J (m = {s.high})"
    )
    return Measured(last / m.largest_energy(run), note=note)


def _low(runs: Runs, s: Shaking) -> Measured:
    run = m.divided(runs, s)
    lost = -float(run["contact"][-1])
    return Measured(float(run["interface"][-1]) / lost if lost > 0 else np.inf, note=f"Impacts: {lost:.3g} J")


def _sign(runs: Runs, s: Shaking) -> Measured:
    found, last = m.divided(runs, s)["interface"], float(m.divided(runs, s)["interface"][-1])
    coarse = {f"m = {k}": m.of_ratio(runs, s, "paper", k)["interface"][-1] for k in s.ratios[-2:]}
    note = "No sign in theory, larger steps: " + ", ".join(f"{e:.3g} J, {k}" for k, e in coarse.items())
    return Measured(float(found.max()) / max(abs(last), 1e-12), holds=last < 0, note=note)


def _taken(runs: Runs, s: Shaking) -> dict[str, list[float]]:
    """What the interface takes with each ratio, by partition [J]."""
    return {
        p: [-float(m.of_ratio(runs, s, p, k)["interface"][-1]) for k in s.ratios] for p in ("paper", "small")
    }


def _controls(runs: Runs, s: Shaking) -> Measured:
    taken, largest = _taken(runs, s), m.largest_energy(m.of_ratio(runs, s, "paper", s.ratios[0]))
    high = max(abs(e) for values in taken.values() for e in values)
    note = f"Up to {high:.3g} J with larger m"
    return Measured({p: abs(e[0]) / largest for p, e in taken.items()}, holds=high > 0, note=note)


def _order(runs: Runs, s: Shaking) -> Measured:
    taken = _taken(runs, s)
    note = "; ".join(f"{p}: {listing(values)} J" for p, values in taken.items())
    return Measured(sum(int(np.sum(np.diff(values) < 0)) for values in taken.values()), note=note)


ROWS = [
    row("balance-explicit", f"{_FIG18}a", "The energy balance is conserved in the fully explicit run.",
        lambda runs, s: _balance(m.explicit(runs, s)), below(1e-9),
        "residual of (84) over the largest energy; limit: rounding, which adds up"),
    row("balance-hati", f"{_FIG18}b; Appendix 2.2, (91)",
        "The energy balance is conserved in the asynchronous run.",
        lambda runs, s: _balance(m.divided(runs, s)), below(1e-9),
        "residual of (91) over the largest energy; limit: rounding, which adds up"),
    row("energies", _FIG18, "The energies of both runs are similar.",
        _energies, below(ALIKE), "norm (94), hati against cd-lagrange"),
    row("interface-negligible", "Sect. 3.2, Figs. 18 and 19",
        "The energy dissipated at the interface is negligible against the global energies.",
        _negligible, below(LINE), "interface over largest energy; limit: a line's width in Fig. 18"),
    row("interface-low", _FIG19,
        "The energy dissipated at the interface remains very low (taken as: beside that which the impacts "
        "take).",
        _low, below(0.1), "interface energy over that of the impacts, the only other loss"),
    row("interface-sign", _FIG19, "The interface dissipates energy: it gives none.",
        _sign, below(LINE), "largest interface energy over the magnitude of the last"),
    row("ratio-controls", "Sect. 2.4; Abstract",
        "The ratio m controls the energy dissipated at the interface (taken as: it vanishes as m falls to "
        "one).",
        _controls, below(1e-3), "interface energy with m = 1 over the largest energy, by partition"),
    row("ratio-order", "Sect. 2.4",
        "The ratio m controls the energy dissipated at the interface (taken as: each larger m dissipates "
        "more).",
        _order, below(0), "ratios whose interface takes less than with the next smaller one"),
    row("faster", "Abstract", "The computation takes less time than the fully explicit one.",
        m.speed, above(1.0), "CPU time of explicit over hati, m = 100, paper's part, energies on, one core",
        partition="paper", ratio=m.RATIO),
    row("gain", "Sect. 3.2", "The gain in time is not significant: 23 minutes against 20.",
        m.speed, below(1.5), "the same, in the paper 1.15; here less than half is explicit, factors are kept",
        partition="paper", ratio=m.RATIO),
    row("gain-high", "Sect. 3.2", "A higher ratio with a small explicit part gains substantially.",
        m.speed, above(3.0), "the same with m = 350, wheels alone explicit; accuracy: see the trade-off",
        partition="small", ratio=m.HIGH_RATIO),
]  # fmt: skip

"""The impacting bar: Di Stasio et al. (2019), Figs. 20-22, and the combined scheme."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...axes import panels, style
from ...claim import ACARY, DI_STASIO, Figure, Run, Runs
from .claims_combined import tau
from .measures import BAR, BOTH, CASE, COMBINED, COURANT, FORECASTS, MJ, TRANSIT, exact_force

_Panel = tuple[str, str, NDArray, Callable[[Run], NDArray]]  #: Quantity, unit, exact curve, curve of a run.
_Curve = tuple[str, Run, dict[str, Any]]  #: Name, run and look.
#: Times [s] of the exact curves, and the step [s] of the runs.
_T, _STEP = np.linspace(0, 3e-4, 6001), COURANT * TRANSIT / 50


def _plot(ax: Any, panel: _Panel, curves: Iterable[_Curve], limits: tuple[float, float]) -> None:
    quantity, unit, exact, curve = panel
    for name, run, look in curves:
        ax.plot(1e6 * run["t"], curve(run), label=name, **look)
    ax.plot(1e6 * _T, exact, label="exact", **style("exact"))
    ax.set(xlabel="time [µs]", ylabel=f"{quantity} [{unit}]", xlim=limits)


def _draw_both(runs: Runs, figure: Any, panel: _Panel) -> None:
    ax = panels(figure)
    _plot(ax, panel, ((scheme, runs(CASE, scheme), style(scheme)) for scheme in BOTH), (0, 300))
    ax.legend(frameon=False)


def _draw_combined(runs: Runs, figure: Any) -> None:
    """The wall half a step nearer than usual, where the two forecasts differ."""
    bar = replace(BAR, gap=BAR.gap - 0.5 * _STEP * BAR.v0)
    shown = [(MJ, runs(CASE, MJ, gap=bar.gap), style(MJ, every=0.15))]
    for w, name in zip(FORECASTS, (COMBINED, "forecast 1")):
        run = runs(CASE, COMBINED, gap=bar.gap, forecast=w)
        shown.append((f"combined, forecast {w:g}", run, style(name, every=0.15)))
    drawn: tuple[_Panel, ...] = (
        ("gap", "µm", 1e6 * (bar.gap - bar.displacement(0.0, _T)), lambda run: 1e6 * run["gap"]),
        ("tau", "µm", np.zeros_like(_T), lambda run: 1e6 * tau(run)),
        ("velocity of the node", "m/s", bar.velocity(0.0, _T), lambda run: run["v"]),
        ("impulse at the node", "N s", _STEP * exact_force(bar, _T), lambda run: run["r"]),
    )
    axes = panels(figure, 2, 2).flat
    for k, (ax, panel) in enumerate(zip(axes, drawn)):
        _plot(ax, panel, shown[1:] if k == 1 else shown, (36, 46) if k < 2 else (20, 180))
    axes[0].set_ylim(-3, 12)
    axes[0].legend(frameon=False)


_SHOWN: tuple[_Panel, ...] = (
    ("displacement of the contact node", "mm", 1e3 * BAR.displacement(0.0, _T), lambda run: 1e3 * run["u"]),
    ("velocity of the contact node", "m/s", BAR.velocity(0.0, _T), lambda run: run["v_t"]),
    ("impulse at the contact node", "N s", _STEP * exact_force(BAR, _T), lambda run: run["r"]),
)
_NEARER = "Impacting bar, the wall half a step nearer: the combined scheme, both forecasts"


def _figure(k: int, panel: _Panel) -> Figure:
    title = f"Impacting bar: {panel[0].replace('displacement', 'position')}"
    draw = partial(_draw_both, panel=panel)
    return Figure(f"distasio-fig{k}", CASE, DI_STASIO, f"Fig. {k}", title, draw)


FIGURES: tuple[Figure, ...] = (
    *(_figure(k, panel) for k, panel in enumerate(_SHOWN, 20)),
    Figure("acary-bar", CASE, ACARY, "(6)", _NEARER, _draw_combined),
)

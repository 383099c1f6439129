"""Figures 15 to 19 of Fekak et al. (2017) with a record of ours, and gain and cost of HATI."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from ...axes import legend_below, panels
from ...claim import FEKAK, Figure, Run, Runs
from . import measures as m
from .measures import CASE, CD, HATI, PAPER_STEP, REPORT, WINDOW, Shaking

_RECORD = "our record, vertical"
#: Trolley and girder, and the two simulations, told apart in grey.
_TROLLEY: dict[str, Any] = {"color": "#0b559f", "ls": "-", "lw": 1.3, "label": "trolley"}
_GIRDER: dict[str, Any] = {"color": "#d1711a", "ls": "--", "lw": 1.3, "label": "girder"}
_EXPLICIT: dict[str, Any] = {"color": "#0b559f", "marker": "o", "ms": 4.5, "mfc": "white", "lw": 0.8}
_DIVIDED: dict[str, Any] = {"color": "#b04a00", "marker": "x", "ms": 4, "ls": "--", "lw": 0.8}
_LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
_COLORS = ("#0b559f", "#d1711a", "#3a8a3f", "#111111", "#8a2f7d", "#777777")
_PARTITIONS = {"paper": "paper's partition", "small": "small partition"}


def _step(h: float) -> str:
    return f"step {1e6 * h:.3g} µs"


def _titled(figure: Any, title: str) -> None:
    figure.suptitle(f"{_RECORD}; {title}", fontsize=10)


def _side_by_side(runs: Runs, figure: Any, s: Shaking, label: str, height: float) -> list[tuple[Any, Run]]:
    """Axes for the explicit and the divided run, with the runs."""
    titles = "(a) fully explicit", f"(b) HATI, paper's partition, m = {s.ratio}"
    axes = panels(figure, 1, 2, sharey=True, size=(11, height))
    _titled(figure, f"explicit {_step(s.h)}")
    for ax, title in zip(axes, titles):
        ax.set(xlabel="time [s]", ylabel=label, title=title, xlim=(0, s.t_end))
    return list(zip(axes, (m.explicit(runs, s), m.divided(runs, s))))


def _wheel(runs: Runs, figure: Any, s: Shaking = REPORT, *, name: str, factor: float, label: str) -> None:
    for ax, run in _side_by_side(runs, figure, s, label, 4.4):
        for column, look in ((0, _TROLLEY), (4, _GIRDER)):
            ax.plot(run["t"], factor * run[name][:, column], **look)
        ax.legend(frameon=False, loc="lower left")


#: Displacement and velocity at whole steps of trolley and girder at a wheel, both runs, Figs. 15 and 16.
draw_displacement = partial(_wheel, name="u", factor=1e3, label="displacement of a wheel [mm]")
draw_velocity = partial(_wheel, name="v_t", factor=1.0, label="velocity of a wheel [m/s]")


def draw_contact(runs: Runs, figure: Any, s: Shaking = REPORT) -> None:
    """Contact force and impulse of every fine step at a wheel, Fig. 17."""
    axes, run = panels(figure, 2, 3, size=(12.5, 6.4)), m.sampled(runs, s)
    off, back = m.lift_off(run), float(run["t"][m.first_impact(run)])
    windows = {"first lift-off": (off - 4e-4, off + 2e-4), "first impacts": (back - 2e-4, back + 1.4e-3)}
    ratio, settings = max(1, round(s.ratio * s.h / s.step)), {"h": s.step, "record": s.record}
    divided = {**settings, "ratio": ratio, "partition": "paper"}
    for column, (title, window) in zip(axes.T, windows.items()):
        whole, parts = m.zoomed(runs, CD, window, **settings), m.zoomed(runs, HATI, window, **divided)
        shown = ("fully explicit", whole, _EXPLICIT), (f"HATI, m = {ratio}", parts, _DIVIDED)
        _draw_contacts(column, f"{title}, {_step(s.step)}", shown, s.step, window[0])
    early = m.zoomed(runs, CD, (0.0, WINDOW), h=PAPER_STEP, start="sudden")
    name = f"gravity at once: rounding alone, {_step(PAPER_STEP)}"
    _draw_contacts(axes[:, 2], name, [("fully explicit", early, {**_EXPLICIT, "ms": 2.5})], PAPER_STEP, 0.0)
    _titled(figure, "a wheel in every explicit step")
    legend_below(figure)


def _draw_contacts(
    axes: Any, title: str, shown: Sequence[tuple[str, NDArray, dict[str, Any]]], h: float, begin: float
) -> None:
    since = f"time since {begin:.4f} s [ms]" if begin else "time [ms]"
    for ax, quantity, factor in zip(axes, ("contact force [kN]", "impulse in a step [N s]"), (1e-3 / h, 1.0)):
        for label, steps, look in shown:
            ax.plot(1e3 * (steps[:, 0] - begin), factor * steps[:, 1], label=label, **look)
        ax.set(xlabel=since, ylabel=quantity)
        ax.set_title(title, fontsize=9, loc="right")


def draw_energies(runs: Runs, figure: Any, s: Shaking = REPORT) -> None:
    """All energies of the balance, both simulations, Fig. 18."""
    names = ("kinetic", "internal", "complementary", "external", "contact", "interface")
    for ax, run in _side_by_side(runs, figure, s, "energy [J]", 4.8):
        for name, color, line in zip(names, _COLORS, _LINES):
            label = "impacts and contacts" if name == "contact" else name
            ax.plot(run["t"], run[name], label=label, color=color, ls=line, lw=1.3)
    legend_below(figure, 6, fontsize=9)


def draw_interface(runs: Runs, figure: Any, s: Shaking = REPORT) -> None:
    """Energy of the interface over time, and that taken by impacts, Fig. 19."""
    ax, style = panels(figure), {"lw": 1.3, "ms": 4, "mfc": "white", "markevery": 0.1}
    looks = ("paper", s.ratio, "#0b559f", "o"), ("small", s.high, "#d1711a", "s")
    for partition, ratio, color, marker in looks:
        run, look = m.divided(runs, s, partition), {"color": color, "marker": marker, **style}
        label = f"{_PARTITIONS[partition]}, m = {ratio}"
        ax.plot(run["t"], run["interface"], ls="-", label=f"interface: {label}", **look)
        ax.plot(run["t"], run["contact"], ls="--", label=f"impacts: {label}", **look)
    ax.set(xlabel="time [s]", ylabel="energy given by it [J]", xlim=(0, s.t_end))
    ax.legend(frameon=False, loc="lower left", fontsize=9)
    _titled(figure, f"explicit {_step(s.h)}")


def draw_trade_off(runs: Runs, figure: Any, s: Shaking = REPORT) -> None:
    """Gain in time and cost in accuracy and energy of HATI, against m, both partitions."""
    true, axes, ratios = m.sampled(runs, s), panels(figure, 1, 3, size=(13, 4.4)), s.ratios
    for partition, color, marker in (("small", "#0b559f", "o"), ("paper", "#d1711a", "s")):
        divided = [m.of_ratio(runs, s, partition, k) for k in ratios]
        curves = (
            (0, m.speeds(runs, s, s.step, *((partition, k) for k in ratios)), "-", ""),
            (1, [m.apart(run, true, "u") for run in divided], "-", "displacement, "),
            (1, [m.apart(run, true, "v_t") for run in divided], "--", "velocity, "),
            (2, [run["interface"][-1] for run in divided], "-", "interface, "),
            (2, [run["contact"][-1] for run in divided], "--", "impacts, "),
        )
        look = {"color": color, "marker": marker, "ms": 4.5, "mfc": "white"}
        for where, values, line, name in curves:
            axes[where].plot(ratios, values, ls=line, label=f"{name}{partition}", **look)
    axes[0].axhline(1.0, color="0.4", lw=0.8, ls=":")
    axes[2].axhline(float(true["contact"][-1]), color="0.4", lw=1, ls=":", label="impacts, explicit run")
    labels = "CPU time of explicit run / HATI", "norm (94) against explicit run", "energy given at the end"
    for ax, label, unit in zip(axes, labels, "--J"):
        ax.set(xlabel="ratio m of the steps [-]", ylabel=f"{label} [{unit}]", xscale="log")
        ax.set_xticks(ratios, map(str, ratios))
        ax.tick_params(axis="x", which="minor", bottom=False)
        ax.legend(frameon=False, fontsize=8)
    axes[1].set_yscale("log")
    _titled(figure, f"{_step(s.step)}, which these elements allow")


_DRAWN = (
    ("fekak-fig15", "Fig. 15", "displacement of trolley and girder at a wheel", draw_displacement),
    ("fekak-fig16", "Fig. 16", "velocity of trolley and girder at a wheel", draw_velocity),
    ("fekak-fig17", "Fig. 17", "contact force and impulse, windows of our own", draw_contact),
    ("fekak-fig18", "Fig. 18", "energies of both simulations", draw_energies),
    ("fekak-fig19", "Fig. 19", "energy of the interface, beside what impacts take", draw_interface),
    ("fekak-trade-off", "Sect. 3.2", "what HATI gains in time and costs in accuracy", draw_trade_off),
)
FIGURES = tuple(
    Figure(name, CASE, FEKAK, where, f"Bridge crane, our record, vertical: {title}", draw)
    for name, where, title, draw in _DRAWN
)

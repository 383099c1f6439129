"""Figures 15 to 19 of Fekak et al. (2017) with a record of ours, and what HATI gains and costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...claim import FEKAK, Figure
from ...runs import Run, Runs
from .measures import (
    CASE,
    CD,
    HATI,
    PAPER_STEP,
    REPORT,
    WINDOW,
    Shaking,
    apart,
    cpu_times,
    divided,
    explicit,
    first_impact,
    lift_off,
    of_ratio,
    sampled,
    zoomed,
)

_RECORD = "our record, vertical"
#: Trolley and girder, and the two simulations, told apart in grey.
_TROLLEY: dict[str, Any] = {"color": "#0b559f", "ls": "-", "lw": 1.3}
_GIRDER: dict[str, Any] = {"color": "#d1711a", "ls": "--", "lw": 1.3}
_EXPLICIT: dict[str, Any] = {"color": "#0b559f", "marker": "o", "ms": 4.5, "mfc": "white", "lw": 0.8}
_DIVIDED: dict[str, Any] = {"color": "#b04a00", "marker": "x", "ms": 4, "ls": "--", "lw": 0.8}
_LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
_COLORS = ("#0b559f", "#d1711a", "#3a8a3f", "#111111", "#8a2f7d", "#777777")


def _pair(runs: Runs, s: Shaking) -> dict[str, Run]:
    """The runs that the figures have side by side, by name."""
    return {
        "(a) fully explicit": explicit(runs, s),
        f"(b) HATI, paper's partition, m = {s.ratio}": divided(runs, s),
    }


def _title(figure: Any, s: Shaking) -> None:
    figure.suptitle(f"{_RECORD}; explicit step {1e6 * s.h:.3g} µs", fontsize=10)


def _wheel(runs: Runs, figure: Any, s: Shaking, name: str, factor: float, label: str) -> None:
    figure.set_layout_engine("constrained")
    for ax, (title, run) in zip(figure.subplots(1, 2, sharey=True), _pair(runs, s).items()):
        ax.plot(run["t"], factor * run[name][:, 0], label="trolley", **_TROLLEY)
        ax.plot(run["t"], factor * run[name][:, 4], label="girder", **_GIRDER)
        ax.set(xlabel="time [s]", ylabel=label, title=title, xlim=(0, s.t_end))
        ax.grid(alpha=0.3)
        ax.legend(frameon=False, loc="lower left")
    _title(figure, s)
    figure.set_size_inches(11, 4.4)


def draw_displacement(runs: Runs, figure: Any, s: Shaking = REPORT) -> None:
    """Displacement of trolley and girder at a wheel, both simulations, Fig. 15."""
    _wheel(runs, figure, s, "u", 1e3, "displacement of a wheel [mm]")


def draw_velocity(runs: Runs, figure: Any, s: Shaking = REPORT) -> None:
    """Velocity at whole steps of trolley and girder at a wheel, both simulations, Fig. 16."""
    _wheel(runs, figure, s, "v_t", 1.0, "velocity of a wheel [m/s]")


def _windows(runs: Runs, s: Shaking) -> dict[str, tuple[float, float]]:
    run = sampled(runs, s)
    off, back = lift_off(run), float(run["t"][first_impact(run)])
    return {"first lift-off": (off - 4e-4, off + 2e-4), "first impacts": (back - 2e-4, back + 1.4e-3)}


def draw_contact(runs: Runs, figure: Any, s: Shaking = REPORT) -> None:
    """Contact force and impulse of every fine step at a wheel, Fig. 17."""
    figure.set_layout_engine("constrained")
    axes = figure.subplots(2, 3)
    m = max(1, round(s.ratio * s.h / s.step))
    settings = {"h": s.step, "record": s.record}
    for k, (title, window) in enumerate(_windows(runs, s).items()):
        name = f"{title}, step {1e6 * s.step:.3g} µs"
        shown = {
            "fully explicit": (zoomed(runs, CD, window, **settings), _EXPLICIT),
            f"HATI, m = {m}": (zoomed(runs, HATI, window, ratio=m, partition="paper", **settings), _DIVIDED),
        }
        _contacts(axes[:, k], name, shown, s.step, window[0])
    early = zoomed(runs, CD, (0.0, WINDOW), h=PAPER_STEP, start="sudden")
    shown = {"fully explicit": (early, {**_EXPLICIT, "ms": 2.5})}
    name = f"gravity at once: rounding alone, step {1e6 * PAPER_STEP:.3g} µs"
    _contacts(axes[:, 2], name, shown, PAPER_STEP, 0.0)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(f"{_RECORD}; a wheel in every explicit step", fontsize=10)
    figure.set_size_inches(12.5, 6.4)


def _contacts(
    axes: Any, title: str, shown: dict[str, tuple[NDArray, dict[str, Any]]], h: float, begin: float
) -> None:
    for label, (found, look) in shown.items():
        t = 1e3 * (found[:, 0] - begin)
        axes[0].plot(t, 1e-3 * found[:, 1] / h, label=label, **look)
        axes[1].plot(t, found[:, 1], label=label, **look)
    since = f"time since {begin:.4f} s [ms]" if begin else "time [ms]"
    for ax, quantity in zip(axes, ("contact force [kN]", "impulse in a step [N s]")):
        ax.set(xlabel=since, ylabel=quantity)
        ax.set_title(title, fontsize=9, loc="right")
        ax.grid(alpha=0.3)


def draw_energies(runs: Runs, figure: Any, s: Shaking = REPORT) -> None:
    """All energies of the balance, both simulations, Fig. 18."""
    figure.set_layout_engine("constrained")
    names = {
        "kinetic": "kinetic",
        "internal": "internal",
        "complementary": "complementary",
        "external": "external",
        "contact": "impacts and contacts",
        "interface": "interface",
    }
    axes = figure.subplots(1, 2, sharey=True)
    for ax, (title, run) in zip(axes, _pair(runs, s).items()):
        for k, (name, label) in enumerate(names.items()):
            ax.plot(run["t"], run[name], label=label, color=_COLORS[k], ls=_LINES[k], lw=1.3)
        ax.set(xlabel="time [s]", ylabel="energy [J]", title=title, xlim=(0, s.t_end))
        ax.grid(alpha=0.3)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    _title(figure, s)
    figure.set_size_inches(11, 4.8)


def draw_interface(runs: Runs, figure: Any, s: Shaking = REPORT) -> None:
    """Energy of the interface over time, and what impacts take, Fig. 19."""
    figure.set_layout_engine("constrained")
    ax = figure.subplots()
    found = {
        f"paper's partition, m = {s.ratio}": (divided(runs, s), "#0b559f", "o"),
        f"small partition, m = {s.high}": (divided(runs, s, "small"), "#d1711a", "s"),
    }
    look: dict[str, Any] = {"lw": 1.3, "ms": 4, "mfc": "white", "markevery": 0.1}
    for label, (run, color, marker) in found.items():
        for name, line, what in (("interface", "-", "interface"), ("contact", "--", "impacts")):
            ax.plot(
                run["t"], run[name], ls=line, color=color, marker=marker, label=f"{what}: {label}", **look
            )
    ax.set(xlabel="time [s]", ylabel="energy given by it [J]", xlim=(0, s.t_end))
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, loc="lower left", fontsize=9)
    _title(figure, s)


def draw_trade_off(runs: Runs, figure: Any, s: Shaking = REPORT) -> None:
    """What HATI gains in time and costs in accuracy and energy, against m, both partitions."""
    figure.set_layout_engine("constrained")
    true, axes = sampled(runs, s), figure.subplots(1, 3)
    m = np.array(s.ratios)
    looks = {"small": ("#0b559f", "o"), "paper": ("#d1711a", "s")}
    for partition, (color, marker) in looks.items():
        chosen = [(HATI, {"partition": partition, "ratio": int(k)}) for k in m]
        whole, *parts = cpu_times(runs, s, [(CD, {}), *chosen], s.step)
        found = [of_ratio(runs, s, partition, int(k)) for k in m]
        curves = (
            (0, whole / np.array(parts), "-", f"{partition}"),
            (1, [apart(run, true, "u") for run in found], "-", f"displacement, {partition}"),
            (1, [apart(run, true, "v_t") for run in found], "--", f"velocity, {partition}"),
            (2, [run["interface"][-1] for run in found], "-", f"interface, {partition}"),
            (2, [run["contact"][-1] for run in found], "--", f"impacts, {partition}"),
        )
        for where, values, line, label in curves:
            axes[where].plot(m, values, ls=line, color=color, marker=marker, ms=4.5, mfc="white", label=label)
    quantities = (
        "CPU time of explicit run / HATI [-]",
        "norm (94) against explicit run [-]",
        "energy given at the end [J]",
    )
    for ax, quantity in zip(axes, quantities):
        ax.set(xlabel="ratio m of the steps [-]", ylabel=quantity, xscale="log")
        ax.set_xticks(m, map(str, m))
        ax.tick_params(axis="x", which="minor", bottom=False)
        ax.grid(alpha=0.3)
        ax.legend(frameon=False, fontsize=8)
    axes[0].axhline(1.0, color="0.4", lw=0.8, ls=":")
    axes[2].axhline(float(true["contact"][-1]), color="0.4", lw=1, ls=":", label="impacts, explicit run")
    axes[2].legend(frameon=False, fontsize=8)
    axes[1].set_yscale("log")
    figure.suptitle(f"{_RECORD}; step {1e6 * s.step:.3g} µs, which these elements allow", fontsize=10)
    figure.set_size_inches(13, 4.4)


def _figure(name: str, where: str, title: str, draw: Any) -> Figure:
    return Figure(name, CASE, FEKAK, where, f"Bridge crane, our record, vertical: {title}", draw)


FIGURES: tuple[Figure, ...] = (
    _figure("fekak-fig15", "Fig. 15", "displacement of trolley and girder at a wheel", draw_displacement),
    _figure("fekak-fig16", "Fig. 16", "velocity of trolley and girder at a wheel", draw_velocity),
    _figure("fekak-fig17", "Fig. 17", "contact force and impulse, windows of our own", draw_contact),
    _figure("fekak-fig18", "Fig. 18", "energies of both simulations", draw_energies),
    _figure("fekak-fig19", "Fig. 19", "energy of the interface, beside what impacts take", draw_interface),
    _figure("fekak-trade-off", "Sect. 3.2", "what HATI gains in time and costs in accuracy", draw_trade_off),
)

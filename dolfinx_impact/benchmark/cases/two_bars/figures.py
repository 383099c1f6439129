"""Figures 4 to 10 of Fekak et al. (2017): the two bars. Always the left bar, towards the other one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....plot import style
from ...claim import FEKAK, Figure
from ...runs import Run, Runs
from .measures import (
    BAR,
    BOTH,
    CASE,
    CD,
    MESHES,
    MJ,
    Convergence,
    acceleration,
    convergence_in_space,
    convergence_in_time,
    exact_force,
    finer_steps,
    force,
)

_END = 180.0
_LABELS = {CD: "CD-Lagrange", MJ: "Moreau-Jean, θ = 1"}
#: Runs of one scheme from coarse to fine, told apart in grey.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": "#d1711a", "ls": "-", "marker": "s"},
    {"color": "#8a2f7d", "ls": "--", "marker": "^"},
    {"color": "#0b559f", "ls": "-.", "marker": "o"},
    {"color": "#111111", "ls": "-", "marker": None},
)
#: Elements of the bars in Fig. 5.
_SHOWN = (20, 40, 80, 160)


def _look(k: int, every: float = 0.06) -> dict[str, Any]:
    """The k-th of the looks, the finest the thinnest."""
    return {"lw": 1.5 - 0.25 * k, "ms": 4, "mfc": "white", "markevery": every, **_LOOKS[k]}


def _label(ax: Any, quantity: str) -> None:
    ax.set(xlabel="time [µs]", ylabel=quantity, xlim=(0, _END))
    ax.grid(alpha=0.3)


def draw_motion(runs: Runs, figure: Any) -> None:
    """Displacement, velocity and contact force of both schemes, Fig. 4."""
    figure.set_layout_engine("constrained")
    t = np.linspace(0, 1e-6 * _END, 3601)
    shown: dict[str, tuple[NDArray, Callable[[Run], NDArray]]] = {
        "displacement of the tip [mm]": (1e3 * BAR.displacement(0.0, t), lambda run: 1e3 * run["u"][:, 0]),
        "velocity of the tip [m/s]": (BAR.velocity(0.0, t), lambda run: run["v_t"][:, 0]),
        "contact force [kN]": (1e-3 * exact_force(BAR, t), lambda run: 1e-3 * force(run)),
    }
    for ax, (quantity, (exact, curve)) in zip(figure.subplots(1, 3), shown.items()):
        for scheme in BOTH:
            run = runs(CASE, scheme)
            ax.plot(1e6 * run["t"], curve(run), label=_LABELS[scheme], **style(scheme))
        ax.plot(1e6 * t, exact, label="exact", **style("exact"))
        _label(ax, quantity)
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.set_size_inches(11.5, 4.2)


def draw_refined(runs: Runs, figure: Any) -> None:
    """The velocity of CD-Lagrange, elements and step refined together, Fig. 5."""
    figure.set_layout_engine("constrained")
    ax = figure.subplots()
    for k, elements in enumerate(_SHOWN):
        run = runs(CASE, CD, elements=elements)
        size, h = 1e3 * BAR.length / elements, 1e6 * run.results["h"]
        name = f"h = {size:.2f} mm, Δt = {h:.2f} µs"
        ax.plot(1e6 * run["t"], run["v_t"][:, 0], label=name, **_look(k))
    t = np.linspace(0, 1e-6 * _END, 3601)
    ax.plot(1e6 * t, BAR.velocity(0.0, t), label="exact", **style("exact"))
    _label(ax, "velocity of the tip [m/s]")
    ax.legend(frameon=False, loc="upper right")


def draw_energies(runs: Runs, figure: Any) -> None:
    """The energy balance of one bar with CD-Lagrange, Fig. 6; by symmetry half of both."""
    figure.set_layout_engine("constrained")
    ax, run = figure.subplots(), runs(CASE, CD)
    kept = run["kinetic"] + run["complementary"] + run["internal"]
    curves = {
        "kinetic": run["kinetic"],
        "internal": run["internal"],
        "complementary": run["complementary"],
        "work of contact": run["contact"],
        "kinetic + internal + complementary": kept,
    }
    markers = ("s", "^", "o", "D", None)
    lines = ("-", "--", "-.", (0, (1, 1)), "-")
    for (name, energy), marker, line in zip(curves.items(), markers, lines):
        look = {"lw": 2.2 if marker is None else 1.2, "ms": 4, "mfc": "white", "markevery": 0.08}
        ax.plot(1e6 * run["t"], energy / 2, label=name, marker=marker, ls=line, **look)
    t = np.linspace(0, 1e-6 * _END, 901)
    ax.plot(1e6 * t, BAR.kinetic(t), label="kinetic and internal, exact", **style("exact"))
    ax.plot(1e6 * t, BAR.internal(t), **style("exact"))
    _label(ax, "energy of one bar [J]")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)


def _over_steps(runs: Runs, ax: Any, quantity: str, curve: Callable[[Run], NDArray]) -> None:
    """A quantity of CD-Lagrange with halved steps, the finest behind."""
    found = finer_steps(runs, CD)
    for k, run in enumerate(found):
        label = f"Δt = {1e6 * run.results['h']:.2f} µs"
        ax.plot(1e6 * run["t"], curve(run), label=label, zorder=3 - 0.1 * k, **_look(k))
    _label(ax, quantity)


def draw_force(runs: Runs, figure: Any) -> None:
    """Contact force and acceleration for different steps, whole and near, Fig. 7."""
    figure.set_layout_engine("constrained")
    axes = figure.subplots(2, 2)
    limits = (((0, _END), None), ((0, _END), None), ((16, 36), (0, 200)), ((112, 132), (-6, 4)))
    for k, (ax, (span, heights)) in enumerate(zip(axes.flat, limits)):
        if k % 2 == 0:
            _over_steps(runs, ax, "contact force [kN]", lambda run: 1e-3 * force(run))
        else:
            name = "acceleration of the tip [10⁶ m/s²]"
            _over_steps(runs, ax, name, lambda run: 1e-6 * acceleration(run))
        ax.set(xlim=span, ylim=heights)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.set_size_inches(10, 7.4)


def draw_impulse(runs: Runs, figure: Any) -> None:
    """The impulse for different steps, Fig. 8."""
    figure.set_layout_engine("constrained")
    ax = figure.subplots()
    _over_steps(runs, ax, "impulse [N s]", lambda run: run["r"][:, 0])
    node = BAR.impulse / 4 / runs(CASE, CD).summary["parameters"]["elements"]
    ax.axhline(node, **style("exact"), label="momentum of the tip's node")
    ax.legend(frameon=False)


def draw_convergence(
    runs: Runs, figure: Any, study: Callable[..., Convergence], quantity: str, over_steps: bool
) -> None:
    """Errors after the release as mesh and step are refined, h = c dt, Figs. 9 and 10."""
    figure.set_layout_engine("constrained")
    for ax, (name, label) in zip(figure.subplots(1, 2), (("u", "displacement"), ("v_t", "velocity"))):
        for scheme, slope, line in ((CD, 1.0, "-"), (MJ, 0.5, "--")):
            found = study(runs, scheme, name)
            x = 1e6 * np.array(found.steps) if over_steps else 1e3 * BAR.length / np.array(MESHES)
            look = {**style(scheme), "markevery": 1}
            ax.loglog(x, found.after, label=f"{_LABELS[scheme]}: order {found.order:.2f}", **look)
            guide = 0.65 * found.after[-1] * (x / x[-1]) ** slope
            ax.loglog(x, guide, color="0.6", lw=0.8, ls=line, label=f"order {slope:g}")
        ax.set(xlabel=quantity, ylabel=f"error of the {label} [-]")
        ax.set_xticks(x, [f"{value:.2g}" for value in x])
        ax.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        ax.grid(alpha=0.3)
        ax.legend(frameon=False, fontsize=8)
    figure.set_size_inches(10, 4.4)


def _figure(number: int, title: str, draw: Callable[[Runs, Any], None]) -> Figure:
    return Figure(f"fekak-fig{number:02d}", CASE, FEKAK, f"Fig. {number}", f"Two bars: {title}", draw)


FIGURES: tuple[Figure, ...] = (
    _figure(4, "displacement, velocity and contact force", draw_motion),
    _figure(5, "velocity as elements and step are refined", draw_refined),
    _figure(6, "energy balance of one bar with CD-Lagrange", draw_energies),
    _figure(7, "contact force and acceleration for different steps", draw_force),
    _figure(8, "impulse for different steps", draw_impulse),
    _figure(
        9,
        "order of convergence in time after the release",
        partial(draw_convergence, study=convergence_in_time, quantity="time step Δt [µs]", over_steps=True),
    ),
    _figure(
        10,
        "order of convergence in space after the release",
        partial(
            draw_convergence, study=convergence_in_space, quantity="element size h [mm]", over_steps=False
        ),
    ),
)

"""Figures 4 to 10 of Fekak et al. (2017): the two bars. Always the left bar, towards the other one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...axes import legend_below, panels, style
from ...claim import FEKAK, Figure, Run, Runs
from ..impacting_bar.measures import exact_force
from . import measures as m
from .measures import BAR, BOTH, CASE, CD, MESHES, MJ

_END = 180.0
_T: NDArray = np.linspace(0, 1e-6 * _END, 3601)
_LABELS = {CD: "CD-Lagrange", MJ: "Moreau-Jean, θ = 1"}
#: Colours, lines and markers of runs of one scheme from coarse to fine, told apart in grey.
_LOOKS = ("#d1711a", "-", "s"), ("#8a2f7d", "--", "^"), ("#0b559f", "-.", "o"), ("#111111", "-", None)


def _plot(ax: Any, k: int, run: Run, values: NDArray, label: str, **look: Any) -> None:
    """Plot values of a run with the k-th of the looks, the finest the thinnest."""
    (color, line, marker), thin = _LOOKS[k], 1.5 - 0.25 * k
    look |= {"color": color, "ls": line, "lw": thin, "marker": marker, "ms": 4, "mfc": "white"}
    ax.plot(1e6 * run["t"], values, label=label, markevery=0.06, **look)


def _label(ax: Any, quantity: str) -> None:
    ax.set(xlabel="time [µs]", ylabel=quantity, xlim=(0, _END))


def draw_motion(runs: Runs, figure: Any) -> None:
    """Displacement, velocity and contact force of both schemes, Fig. 4."""
    shown: tuple[tuple[str, float, NDArray, Callable[[Run], NDArray]], ...] = (
        ("displacement of the tip [mm]", 1e3, BAR.displacement(0.0, _T), lambda run: run["u"][:, 0]),
        ("velocity of the tip [m/s]", 1.0, BAR.velocity(0.0, _T), lambda run: run["v_t"][:, 0]),
        ("contact force [kN]", 1e-3, exact_force(BAR, _T), m.force),
    )
    for ax, (label, factor, exact, curve) in zip(panels(figure, 1, 3, size=(11.5, 4.2)), shown):
        for run, scheme in ((runs(CASE, scheme), scheme) for scheme in BOTH):
            ax.plot(1e6 * run["t"], factor * curve(run), label=_LABELS[scheme], **style(scheme))
        ax.plot(1e6 * _T, factor * exact, label="exact", **style("exact"))
        _label(ax, label)
    legend_below(figure, 3)


def draw_refined(runs: Runs, figure: Any) -> None:
    """The velocity of CD-Lagrange, elements and step refined together, Fig. 5."""
    ax = panels(figure)
    for k, elements in enumerate(MESHES[:4]):
        run = runs(CASE, CD, elements=elements)
        name = f"h = {1e3 * BAR.length / elements:.2f} mm, Δt = {1e6 * run.results['h']:.2f} µs"
        _plot(ax, k, run, run["v_t"][:, 0], name)
    ax.plot(1e6 * _T, BAR.velocity(0.0, _T), label="exact", **style("exact"))
    _label(ax, "velocity of the tip [m/s]")
    ax.legend(frameon=False, loc="upper right")


def draw_energies(runs: Runs, figure: Any) -> None:
    """The energy balance of one bar with CD-Lagrange, Fig. 6; by symmetry half of both."""
    ax, run, t = panels(figure), runs(CASE, CD), np.linspace(0, 1e-6 * _END, 901)
    stored = ("kinetic", "internal", "complementary")
    curves = {**{name: run[name] for name in stored}, "work of contact": run["contact"]}
    curves[" + ".join(stored)] = run["kinetic"] + run["complementary"] + run["internal"]
    lines, markers = ("-", "--", "-.", (0, (1, 1)), "-"), ("s", "^", "o", "D", None)
    for (name, energy), line, marker in zip(curves.items(), lines, markers):
        look = {"lw": 1.2 if marker else 2.2, "ms": 4, "mfc": "white", "markevery": 0.08}
        ax.plot(1e6 * run["t"], energy / 2, label=name, marker=marker, ls=line, **look)
    ax.plot(1e6 * t, BAR.kinetic(t), label="kinetic and internal, exact", **style("exact"))
    ax.plot(1e6 * t, BAR.internal(t), **style("exact"))
    _label(ax, "energy of one bar [J]")
    legend_below(figure)


def _over_steps(runs: Runs, ax: Any, quantity: str, curve: Callable[[Run], NDArray]) -> None:
    """A quantity of CD-Lagrange with halved steps, the finest behind."""
    for k, run in enumerate(m.finer_steps(runs, CD)):
        _plot(ax, k, run, curve(run), f"Δt = {1e6 * run.results['h']:.2f} µs", zorder=3 - 0.1 * k)
    _label(ax, quantity)


def draw_force(runs: Runs, figure: Any) -> None:
    """Contact force and acceleration for different steps, whole and near, Fig. 7."""
    axes = panels(figure, 2, 2, size=(10, 7.4))
    for ax in axes[:, 0]:
        _over_steps(runs, ax, "contact force [kN]", lambda run: 1e-3 * m.force(run))
    for ax in axes[:, 1]:
        _over_steps(runs, ax, "acceleration of the tip [10⁶ m/s²]", lambda run: 1e-6 * m.acceleration(run))
    axes[1, 0].set(xlim=(16, 36), ylim=(0, 200))
    axes[1, 1].set(xlim=(112, 132), ylim=(-6, 4))
    legend_below(figure, 4)


def draw_impulse(runs: Runs, figure: Any) -> None:
    """The impulse for different steps, Fig. 8."""
    ax = panels(figure)
    _over_steps(runs, ax, "impulse [N s]", lambda run: run["r"][:, 0])
    node = BAR.impulse / 4 / runs(CASE, CD).summary["parameters"]["elements"]
    ax.axhline(node, **style("exact"), label="momentum of the tip's node")
    ax.legend(frameon=False)


def draw_convergence(runs: Runs, figure: Any, over_steps: bool) -> None:
    """Errors after the release as mesh and step are refined, h = c dt, Figs. 9 and 10."""
    quantity = "time step Δt [µs]" if over_steps else "element size h [mm]"
    shown = ("u", "displacement"), ("v_t", "velocity")
    for ax, (name, label) in zip(panels(figure, 1, 2, size=(10, 4.4)), shown):
        for scheme, slope, line in ((CD, 1.0, "-"), (MJ, 0.5, "--")):
            study = m.convergence(runs, scheme, name, nodes=not over_steps)
            steps = np.array([run.results["h"] for run in study.made])
            x = 1e6 * steps if over_steps else 1e3 * BAR.length / np.array(MESHES)
            look = {**style(scheme), "markevery": 1}
            ax.loglog(x, study.after, label=f"{_LABELS[scheme]}: order {study.order:.2f}", **look)
            guide = 0.65 * study.after[-1] * (x / x[-1]) ** slope
            ax.loglog(x, guide, color="0.6", lw=0.8, ls=line, label=f"order {slope:g}")
        ax.set(xlabel=quantity, ylabel=f"error of the {label} [-]")
        ax.set_xticks(x, [f"{value:.2g}" for value in x])
        ax.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        ax.legend(frameon=False, fontsize=8)


_DRAWN: tuple[tuple[str, Callable[[Runs, Any], None]], ...] = (
    ("displacement, velocity and contact force", draw_motion),
    ("velocity as elements and step are refined", draw_refined),
    ("energy balance of one bar with CD-Lagrange", draw_energies),
    ("contact force and acceleration for different steps", draw_force),
    ("impulse for different steps", draw_impulse),
    ("order of convergence in time after the release", partial(draw_convergence, over_steps=True)),
    ("order of convergence in space after the release", partial(draw_convergence, over_steps=False)),
)
FIGURES = tuple(
    Figure(f"fekak-fig{n:02d}", CASE, FEKAK, f"Fig. {n}", f"Two bars: {title}", draw)
    for n, (title, draw) in enumerate(_DRAWN, start=4)
)

"""Plots of histories, with exact solutions, and of energies (matplotlib)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from .. import parallel
from .._types import FloatArray
from ..output.result import Result, relative_residual
from .drawing import check_path, pyplot, save, unit

_KINDS = (".png", ".svg", ".pdf")
#: A curve: name, times [s], values, line style.
_Line = tuple[str, FloatArray, FloatArray, dict[str, Any]]
#: Terms of the energy balance: name in the legend, line style.
_TERMS: dict[str, tuple[str, dict[str, Any]]] = {
    "kinetic": ("kinetic", {"color": "#0b559f", "ls": "-"}),
    "internal": ("stored", {"color": "#d1711a", "ls": "--"}),
    "complementary": ("complementary", {"color": "#8a2f7d", "ls": (0, (5, 1))}),
    "dissipated": ("dissipated", {"color": "#b03030", "ls": (0, (1, 1))}),
    "external": ("work of loads", {"color": "#3a8a3f", "ls": "-."}),
    "contact": ("work of contact", {"color": "#1b9aaa", "ls": (0, (8, 2))}),
    "interface": ("work of the interface", {"color": "#e8a56b", "ls": (0, (6, 1, 1, 1))}),
}
#: Plastic work of metals that yield, which the internal work contains.
_PLASTIC: tuple[str, dict[str, Any]] = ("plastic work", {"color": "#6b4c2a", "ls": (0, (3, 1, 1, 1, 1, 1))})
#: Terms that are drawn even where they are zero.
_ALWAYS = ("kinetic", "internal", "external", "contact")

#: Distinguishable in grey too.
_STYLES: tuple[dict[str, Any], ...] = (
    {"color": "#0b559f", "ls": "-"},
    {"color": "#d1711a", "ls": "--"},
    {"color": "#3a8a3f", "ls": "-."},
)
_EXACT: dict[str, Any] = {"color": "0.35", "ls": ":", "lw": 2.2}
#: Colour, line and marker of each scheme, distinguishable in grey.
_SCHEMES: dict[str, dict[str, Any]] = {
    "cd-lagrange": {"color": "#0b559f", "ls": "-", "marker": "o"},
    "moreau-jean": {"color": "#d1711a", "ls": "--", "marker": "s"},
    "cd-lagrange-implicit": {"color": "#3a8a3f", "ls": "-.", "marker": "^"},
    "cd-lagrange-singular": {"color": "#6a8f1f", "ls": (0, (4, 1, 1, 1)), "marker": "h"},
    "moreau-jean-decoupled": {"color": "#e8a56b", "ls": (0, (6, 1, 1, 1, 1, 1)), "marker": "D"},
    "paoli-schatzman": {"color": "#8a2f7d", "ls": (0, (5, 1)), "marker": "v"},
    "carpenter": {"color": "#444444", "ls": (0, (3, 1, 1, 1)), "marker": "P"},
    "generalized-alpha": {"color": "#7a5c2e", "ls": (0, (4, 1, 1, 1)), "marker": "h"},
    "carpenter-implicit": {"color": "#b03030", "ls": (0, (1, 1)), "marker": "X"},
    "combined": {"color": "#1b9aaa", "ls": (0, (8, 2)), "marker": "*"},
}
_OTHER: dict[str, Any] = {"color": "#111111", "ls": (0, (2, 2)), "marker": "d"}


def style(scheme: str, *, every: float = 0.1) -> dict[str, Any]:
    """Keyword arguments of ``Axes.plot`` for a scheme of the catalogue, ``"exact"`` or any other name.

    Args:
        scheme: Name of the scheme.
        every: Distance of the markers over the diagonal of the axes; 0 for no markers.
    """
    if scheme == "exact":
        return dict(_EXACT)
    look: dict[str, Any] = {"lw": 1.2, "ms": 4.5, "mfc": "white", **_SCHEMES.get(scheme, _OTHER)}
    if every > 0:
        return {**look, "markevery": every}
    return {name: value for name, value in look.items() if name not in ("marker", "ms", "mfc")}


def history(
    path: str | Path,
    runs: Mapping[str, Result],
    *,
    exact: Mapping[str, Callable[[FloatArray], FloatArray]] | None = None,
    title: str = "",
) -> None:
    """Plot displacement, velocity, impulse and energies of runs over time, as PNG, SVG or PDF.

    Displacement and velocity are means over the recorded columns; impulses are summed over the contact
    points and cumulated. Unit prefixes are chosen by magnitude. Rank 0 draws; collective.

    Args:
        path: File to write.
        runs: Results by their name in the legend.
        exact: Functions of time for ``u`` [m], ``v`` [m/s], ``impulse`` [N s], ``kinetic`` or
            ``internal`` [J].
        title: Title of the figure.

    Raises:
        ValueError: No runs, a run without histories or energies, an unknown name in ``exact``, a file name
            that does not end in .png, .svg or .pdf.
        FileNotFoundError: The folder does not exist.
        ImportError: matplotlib is missing (extra ``plot``).
    """
    parallel.on_root(parallel.world(), lambda: _history(path, runs, exact or {}, title))


def _cumulated(run: Result) -> FloatArray:
    """Sum of the normal impulses of points and features up to each sample, shape (n,) [N s]."""
    impulses = run["r"].sum(axis=1) + run.get("r_features", 0.0)
    return np.asarray(np.cumsum(impulses))


#: Panels of :func:`history` other than energies: label, unit, curve.
_CURVES: dict[str, tuple[str, str, Callable[[Result], FloatArray]]] = {
    "u": ("mean displacement", "m", lambda run: run["u"].mean(axis=1)),
    "v": ("mean velocity", "m/s", lambda run: run["v_t"].mean(axis=1)),
    "impulse": ("cumulated impulse", "N s", _cumulated),
}


def _history(
    path: str | Path,
    runs: Mapping[str, Result],
    exact: Mapping[str, Callable[[FloatArray], FloatArray]],
    title: str,
) -> None:
    check_path(path, _KINDS)
    if not runs:
        raise ValueError("runs is empty: give results by the name that the legend shows")
    for name, run in runs.items():
        _check_run(name, run, ("u", "v_t", "r", "kinetic", "internal"))
    unknown = set(exact) - {*_CURVES, "kinetic", "internal"}
    if unknown:
        raise ValueError(f"exact has {sorted(unknown)}; known are {[*_CURVES, 'kinetic', 'internal']}")
    plt = pyplot()
    figure, axes = plt.subplots(2, 2, figsize=(11, 7.5), sharex=True, layout="constrained")
    ends = np.concatenate([run["t"] for run in runs.values()])
    t = np.linspace(ends.min(), ends.max(), 2000)
    seconds, second = unit(float(np.abs(t).max()), "s")
    for ax, (key, (label, name, curve)) in zip(axes.flat, _CURVES.items()):
        lines: list[_Line] = []
        for (each, run), look in zip(runs.items(), cycle(_STYLES)):
            lines.append((each, run["t"], curve(run), look))
        if key in exact:
            lines.append(("exact (1D)", t, exact[key](t), _EXACT))
        _draw(ax, lines, seconds, label, name)
    lines = []
    for (name, run), look in zip(runs.items(), cycle(_STYLES)):
        lines.append((f"kinetic, {name}", run["t"], run["kinetic"], {**look, "lw": 1.3}))
        lines.append((f"stored, {name}", run["t"], run["internal"], {**look, "lw": 0.7}))
    for term, name in (("kinetic", "kinetic"), ("internal", "stored")):
        if term in exact:
            lines.append((f"{name}, exact (1D)", t, exact[term](t), _EXACT))
    _draw(axes[1, 1], lines, seconds, "energy", "J")
    for ax in axes[1]:
        ax.set_xlabel(f"time [{second}]")
    figure.suptitle(title)
    save(figure, path, dpi=130)


def energy(path: str | Path, run: Result, *, title: str = "") -> None:
    """Plot the terms of the energy balance of a run over time and its residual, as PNG, SVG or PDF.

    The sum is ``kinetic + complementary + dissipated``, plus the initial stored energy and the internal work,
    minus the works of loads, contact and interface; it equals the initial energy where the balance is exact.
    The plastic work, also what other laws with history dissipate, is part of the internal work.
    Rank 0 draws; collective.

    Args:
        path: File to write.
        run: The result.
        title: Title of the figure.

    Raises:
        ValueError: A run without energies, a name that does not end in .png, .svg or .pdf.
        FileNotFoundError: The folder does not exist.
        ImportError: matplotlib is missing (extra ``plot``).
    """
    parallel.on_root(parallel.world(), lambda: _energy(path, run, title))


def _energy(path: str | Path, run: Result, title: str) -> None:
    check_path(path, _KINDS)
    _check_run("the run", run, (*_TERMS, "internal_work", "residual"))
    plt, t = pyplot(), run["t"]
    largest = max(float(np.abs(run[name]).max()) for name in _TERMS)
    shown = [name for name in _TERMS if name in _ALWAYS or np.abs(run[name]).max() > 1e-6 * largest]
    lines = [(_TERMS[name][0], t, run[name], {"lw": 1.5, **_TERMS[name][1]}) for name in shown]
    if "plastic_work" in run and np.any(run["plastic_work"]):
        lines.insert(2, (_PLASTIC[0], t, run["plastic_work"], {"lw": 1.5, **_PLASTIC[1]}))
    start = sum(float(run[name][0]) for name in ("kinetic", "complementary", "internal"))
    lines.append(("sum (works subtracted)", t, start + run["residual"], _EXACT))
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(9, 7.5), sharex=True, layout="constrained", height_ratios=(3, 1)
    )
    seconds, second = unit(float(np.abs(t).max()), "s")
    _draw(above, lines, seconds, "energy", "J")
    handles = above.get_legend_handles_labels()
    above.get_legend().remove()
    ncols = min(len(lines), 4)
    figure.legend(*handles, loc="outside lower center", ncols=ncols, frameon=False, fontsize=9)
    relative = relative_residual(run)
    scale = float(np.abs(run["residual"]).max()) / relative if relative > 0 else 1.0
    below.plot(seconds * t, run["residual"] / scale, color="k", lw=0.9)
    label = "residual" if run.balance else "defect"
    below.set_ylabel(f"{label} / largest energy")
    below.set_title(f"largest {label}: {relative:.1e} of the largest energy", fontsize=9, loc="right")
    below.set_xlabel(f"time [{second}]")
    below.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2))
    below.grid(alpha=0.3)
    figure.suptitle(title)
    save(figure, path, dpi=130)


def _check_run(name: str, run: Result, needed: tuple[str, ...]) -> None:
    missing = [each for each in needed if each not in run]
    if missing:
        raise ValueError(
            f"{name} has no {', '.join(missing)}: let simulate() follow the energies (energies=True)"
        )


def _draw(ax: Any, lines: list[_Line], seconds: float, label: str, name: str) -> None:
    """Draw curves in a unit suited to the largest value, with a legend."""
    factor, prefixed = unit(max(float(np.abs(y).max(initial=0.0)) for _, _, y, _ in lines), name)
    for each, t, y, look in lines:
        ax.plot(seconds * t, factor * y, label=each, **{"lw": 1.2, **look})
    ax.set_ylabel(f"{label} [{prefixed}]")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, fontsize=8 if len(lines) > 3 else None)

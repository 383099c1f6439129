"""Figures of the solids whose answer is known: what runs give beside theory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....integrators import Integrator
from ...axes import legend_below, legends, panels, style
from ...claim import Figure, Run, Runs
from . import claims as c
from . import common, cube_drop, free_flight, hertz_sphere, sliding_block, wave_block

LABELS = {c.CD: "CD-Lagrange", c.MJ: "Moreau-Jean"}
#: Three curves of one scheme, told apart in grey.
_LOOKS: list[dict[str, Any]] = [
    {"color": color, "ls": line, "marker": marker, "lw": 1.4, "ms": 5, "mfc": "white"}
    for color, line, marker in zip(("#0b559f", "#8a2f7d", "#d1711a"), ("-", "--", "-."), "o^s")
]
_SAMPLES = 100  #: Samples of the free flights that are drawn.


def _both(figure: Any, height: float = 4.4, **options: Any) -> Iterator[tuple[Any, str]]:
    """The axes of both schemes with their names, and one legend below."""
    yield from zip(panels(figure, 1, 2, size=(10, height), **options), c.BOTH)
    legend_below(figure, 3)


def contact_force(run: Run, window: float) -> tuple[NDArray, NDArray]:
    """Middle times [s] and the force of the plane on the whole sphere, a mean over a window [N]."""
    share = hertz_sphere.SHARES[run.summary["parameters"]["geometry"]]
    t, impulse = run["t"], np.cumsum(share * run["r"].sum(axis=1))
    ends = np.arange(window, t[-1], window / 4)
    gained = np.interp(ends, t, impulse) - np.interp(ends - window, t, impulse)
    return ends - window / 2, gained / window


def plot_forces(ax: Any, runs: Mapping[str, Run], title: str) -> None:
    """Contact forces over time, of runs by scheme, beside Hertz's."""
    for scheme, run in runs.items():
        hertz = hertz_sphere.exact(run.summary["parameters"])
        t, force = contact_force(run, hertz_sphere.WINDOW * hertz.duration)
        ax.plot(1e6 * t, force, label=LABELS[scheme], **style(scheme))
    t = np.linspace(0, run["t"][-1], 601)
    ax.plot(1e6 * t, hertz.force(t), label="Hertz", **style("exact"))
    ax.set(xlabel="time [µs]", ylabel="contact force [N]", title=title)


def draw_force(runs: Runs, figure: Any) -> None:
    """The force of both schemes over time beside Hertz's, at both speeds."""
    for (ax, _), v0 in zip(_both(figure), (0.1, hertz_sphere.FASTER)):
        settings: dict[str, Any] = {"geometry": "axisymmetric", "resolution": 8, "v0": v0}
        plot_forces(ax, {scheme: runs(c.HERTZ, scheme, **settings) for scheme in c.BOTH}, f"{v0:g} m/s")


def draw_rebound(runs: Runs, figure: Any) -> None:
    """The rebound of the cube for three coefficients of its nodes as the mesh is refined."""
    for ax, scheme in _both(figure, sharey=True):
        for k, e in enumerate(cube_drop.RESTITUTIONS):
            meshes = c.CUBES[scheme]
            ratio = [runs(c.CUBE, scheme, elements=n, restitution=e).results["rebound_ratio"] for n in meshes]
            ax.plot(1 / np.array(meshes), ratio, label=f"e = {e:g}", **_LOOKS[k])
        ax.set(xlabel="1 / elements a side [-]", ylabel="rebound / v0 [-]", title=LABELS[scheme])
        ax.set(xlim=(0, None), ylim=(0.5, 1))


def draw_errors(runs: Runs, figure: Any) -> None:
    """Errors of Lame's mode over the element size, and the slopes of degree + 1."""
    for ax, scheme in _both(figure, 4.8, sharey=True):
        for k, degree in enumerate(c.DEGREES):
            n = wave_block.ELEMENTS[2, degree]
            refined = [runs(c.WAVE, scheme, degree=degree, elements=m) for m in (n // 2, 3 * n // 4, n)]
            size = 1e3 * wave_block.PARAMETERS["side"].default / (n * np.array([0.5, 0.75, 1.0]))
            error = np.array([r.results["error_displacement"] for r in refined])
            ax.loglog(size, error, label=f"degree {degree}", **_LOOKS[k])
            guide = 0.6 * error[-1] * (size / size[-1]) ** (degree + 1)
            ax.loglog(size, guide, color="0.6", lw=0.8, ls=_LOOKS[k]["ls"], label=f"slope {degree + 1}")
        ax.set(xlabel="element size [mm]", ylabel="L2 error after a period [-]", title=LABELS[scheme])
        ax.set_xticks((6, 8, 12, 16, 25), ("6", "8", "12", "16", "25"))
        ax.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)


def flown(runs: Runs, scheme: str) -> tuple[NDArray, NDArray, NDArray]:
    """Times [s], relative changes of energy and angular momentum of the free flight; a run with all nodes."""
    summary = runs(c.FLIGHT, scheme).summary
    problem = free_flight.FreeFlight().make(runs.scheme(scheme), dict(summary["parameters"]))
    steps, turning, log = summary["steps"], [], problem.log
    every = max(1, steps // _SAMPLES)

    def note(s: Integrator) -> None:
        if s.n % every == 0 or s.n == steps:
            turning.append(log.momenta()[2])

    note(problem.integrator)
    result = problem.simulate([note], every=every)
    energy = common.stored(result)
    return result["t"], energy / energy[0] - 1, np.array(turning) / turning[0] - 1


def draw_flight(runs: Runs, figure: Any) -> None:
    """Energy and angular momentum of the free flight over time."""
    axes = panels(figure, 2, 2, size=(10, 7))
    for k, scheme in enumerate(c.BOTH):
        t, *changes = flown(runs, scheme)
        for ax, change, name in zip(axes[:, k], changes, ("energy", "angular momentum")):
            ax.plot(t, change, label=LABELS[scheme], **style(scheme, every=0))
            ax.set(xlabel="time [s]", ylabel=f"relative change of {name} [-]")
    legends(axes, frameon=False)


def draw_sliding(runs: Runs, figure: Any) -> None:
    """The velocity of the block above and below the angle of friction."""
    ax = panels(figure)
    for k, angle in enumerate((c.BELOW[-1], *c.ABOVE)):
        for scheme in c.BOTH:
            run = runs(c.SLIDING, scheme, angle=angle)
            name = LABELS[scheme] if k == 0 else None
            look = style(scheme) if scheme == c.CD else style(scheme, every=0.07)
            ax.plot(1e3 * run["t"], run["v_t"].mean(axis=1), label=name, **look)
        t, expected = run["t"], sliding_block.expected_acceleration(dict(run.summary["parameters"]))
        ax.plot(1e3 * t, expected * t, label="rigid block" if k == 0 else None, **style("exact"))
        ax.annotate(f"{angle:g}°", (1e3 * t[-1], expected * t[-1]), (4, -3), textcoords="offset points")
    ax.set(xlabel="time [ms]", ylabel="mean velocity down the plane [m/s]")
    ax.margins(x=0.07)
    ax.legend(frameon=False, loc="upper left")


FIGURES: tuple[Figure, ...] = tuple(
    Figure(f"{case}-{name}", case, source, case, title, draw)
    for case, name, source, title, draw in (
        (c.HERTZ, "force", c.JOHNSON, "Sphere: contact force over time", draw_force),
        (c.CUBE, "rebound", c.CLOSED, "Cube: rebound for three coefficients of its nodes", draw_rebound),
        (c.SLIDING, "velocity", c.CLOSED, "Block on a plane with friction 0.3: velocity", draw_sliding),
        (c.FLIGHT, "kept", c.CONSERVED, "Free flight: energy and angular momentum", draw_flight),
        (c.WAVE, "errors", c.LAME, "Standing wave: errors over the element size", draw_errors),
    )
)

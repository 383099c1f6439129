"""Figures of rubber and metals: how far elements lock, their pressures, the Taylor test, the plastic wave."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....algebra.operators import coordinate_order
from ...axes import legends, panels, style
from ...claim import Figure, Run, Runs
from . import claims as c
from . import cook_membrane, plastic_wave, rubber_block, taylor_bar
from .pressure import Pressures

_MESHES = (6, 12, 24)  #: Cells along each side of Cook's membrane.
#: Curves told apart in grey: the way of the elements, and plain ones.
_LOOKS: dict[str, dict[str, Any]] = {
    "default": {"color": "#0b559f", "ls": "-", "mfc": "white"},
    "none": {"color": "#b3261e", "ls": "--", "mfc": "white"},
}
_MARKS = {"quadrilateral": "s", "triangle": "^"}
_WAYS = {"quadrilateral": "mean dilatation", "triangle": "nodal pressure"}


def draw_pressure(ax: Any, pressures: Pressures, p: NDArray, points: NDArray) -> None:
    """Pressures of cells in their places, with a bar of colours."""
    from matplotlib.collections import PolyCollection

    corners = pressures.cells[:, [0, 1, 3, 2] if pressures.cells.shape[1] == 4 else [0, 1, 2]]
    least, most = np.percentile(p, [2, 98]) / 1e3
    drawn = PolyCollection(1e3 * points[corners], array=p / 1e3, edgecolors="face", linewidths=0.2)
    drawn.set_clim(least, most)
    ax.add_collection(drawn)
    ax.autoscale()
    ax.set_aspect("equal")
    ax.figure.colorbar(drawn, ax=ax, shrink=0.75, label="pressure [kPa]")


def rubber(runs: Runs, **settings: Any) -> tuple[Pressures, NDArray, NDArray]:
    """Pressures of a run, those of its cells [Pa] and its points [m] as the case measures them; run again."""
    p = dict(runs(c.RUBBER, c.CD, **settings).summary["parameters"])
    problem = rubber_block.RubberBlock().make(runs.scheme(c.CD), p)
    problem.simulate()
    pressures, u = problem.setup.beside, problem.integrator.u
    if p["shape"] == "ball":
        return pressures, problem.log.mean, pressures.x
    return pressures, pressures.pressure(u), pressures.points(u)


def draw_rubber(runs: Runs, figure: Any) -> None:
    """Pressures of the block and of the ball: by mean dilatation, by nodal pressure, plain triangles."""
    figure.set_layout_engine("constrained")
    ways: tuple[dict[str, Any], ...] = ({}, {"cell": "triangle"}, {"cell": "triangle", **c.PLAIN})
    titles = ("mean dilatation", "nodal pressure", "plain triangles")
    axes = figure.subplots(2, 3, gridspec_kw={"height_ratios": (1, 2)})
    for shape, row in zip(c.SHAPES, axes):
        for ax, more, title in zip(row, ways, titles):
            pressures, p, points = rubber(runs, shape=shape, **more)
            draw_pressure(ax, pressures, p, points)
            x, y = ("r [mm]", "z [mm]") if shape == "ball" else ("x [mm]", "y [mm]")
            ax.set(xlabel=x, ylabel=y, title=f"{shape}, {title}")
    figure.set_size_inches(13, 8.5)


def draw_cook(runs: Runs, figure: Any) -> None:
    """The tip of Cook's membrane as the mesh is refined, and the membrane at rest and bent."""
    figure.set_layout_engine("constrained")
    left, *others = figure.subplots(1, 3, gridspec_kw={"width_ratios": (3, 2, 2)})
    for cell, mark in _MARKS.items():
        for locking, look in _LOOKS.items():
            refined = [runs(c.COOK, c.CD, cell=cell, locking=locking, elements=n) for n in _MESHES]
            label = f"{cell}s, {_WAYS[cell] if locking == 'default' else 'plain'}"
            left.plot(_MESHES, [run.results["tip"] for run in refined], marker=mark, label=label, **look)
    left.axhline(cook_membrane.TIP, label="fine mesh of Q4 elements", **style("exact"))
    left.set(xlabel="cells along each side [-]", ylabel="displacement of the tip [m]", ylim=(0, 8))
    left.set_xticks(_MESHES)
    left.grid(alpha=0.3)
    left.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0.84))
    for ax, (locking, look) in zip(others, _LOOKS.items()):
        p = dict(runs(c.COOK, c.CD, locking=locking, elements=_MESHES[1]).summary["parameters"])
        problem = cook_membrane.CookMembrane().make(runs.scheme(c.CD), p)
        problem.simulate()
        shape = Pressures(problem.setup.body, 1.0)
        ax.plot(*_outline(shape, shape.x).T, color="0.6", lw=0.8, label="at rest")
        bent, way = shape.points(problem.integrator.u), _WAYS[p["cell"]] if locking == "default" else "plain"
        ax.plot(*_outline(shape, bent).T, lw=1.0, label=way, color=look["color"])
        ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", ylim=(-2, 70))
        ax.legend(frameon=False, loc="lower right")
    figure.set_size_inches(14, 5)


def _outline(shape: Pressures, points: NDArray) -> NDArray:
    """A line around every quadrilateral, the next after a gap."""
    around = points[shape.cells[:, [0, 1, 3, 2, 0]]]
    return np.concatenate([around, np.full((len(around), 1, 2), np.nan)], axis=1).reshape(-1, 2)


#: Bars whose profiles and courses are drawn: label, settings and look.
_BARS: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("axisymmetric, the wall pushes", {"size": 4e-4}, {"color": "#0b559f", "ls": "-"}),
    ("axisymmetric, the face held", {"size": 4e-4, "wall": "fixed"}, {"color": "#d1711a", "ls": "--"}),
    ("quarter of hexahedra", {"geometry": "quarter", "size": 5e-4}, {"color": "#8a2f7d", "ls": "-."}),
    ("tetrahedra, nodal pressure", {"geometry": "tetrahedra", "size": 5e-4}, {"color": "0.35", "ls": ":"}),
    ("plain tetrahedra", c.PLAIN_BAR, {"color": "#b3261e", "ls": "-"}),
)
_ENERGIES = ("kinetic", "kinetic", "-"), ("plastic work", "plastic_work", "--"), ("elastic", "internal", "-.")


class Outside:
    """Nodes of side and face of a run, in the plane y = 0 where it is a quarter.

    Attributes:
        rest: Radius and height at rest, shape (nodes, 2) [m].
        face: Which are on the face.
    """

    def __init__(self, run: Run) -> None:
        body = taylor_bar.make_bar(run.summary["parameters"])
        x = body.x[taylor_bar.outside(body), : body.block]
        x = x[np.lexsort(coordinate_order(x, body.length).T[::-1])]  # as the columns of a history
        self._inside = np.abs(x[:, 1]) < 1e-12 if body.block == 3 else np.ones(len(x), dtype=bool)
        self._u: NDArray = run["u"].reshape(len(run["t"]), len(x), body.block)
        self._x, self.face = x, x[:, -1] < 1e-12
        self.rest = x[self._inside][:, [0, -1]]

    def profile(self) -> tuple[NDArray, NDArray]:
        """Radius and height of the nodes at the end, along the face and up the side [m]."""
        along = np.lexsort((self.rest[:, 0], np.round(self.rest[:, 1], 12)))
        moved = (self._x + self._u[-1])[self._inside][:, [0, -1]][along]
        return moved[:, 0], moved[:, 1]

    def radius(self) -> NDArray:
        """Largest radius of the nodes of the face over time [m]."""
        radii: NDArray = np.linalg.norm((self._x + self._u)[:, self.face, :-1], axis=2).max(axis=1)
        return radii

    def length(self) -> NDArray:
        """Highest less lowest z of these nodes over time [m]."""
        return np.ptp(self._x[:, -1] + self._u[..., -1], axis=1)


def draw_taylor(runs: Runs, figure: Any) -> None:
    """Profiles at the end, radius and length over time, and energies."""
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=(1.1, 1, 1))
    profile, energies = figure.add_subplot(grid[:, 0]), figure.add_subplot(grid[:, 2])
    radius, length = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    for label, settings, look in _BARS:
        run = runs(c.TAYLOR, c.CD, **settings)
        bar, t = Outside(run), 1e6 * run["t"]
        r, z = bar.profile()
        profile.plot(1e3 * r, 1e3 * z, label=label, lw=1.3, **look)
        radius.plot(t, 1e3 * bar.radius(), label=label, lw=1.3, **look)
        length.plot(t, 1e3 * bar.length(), label=label, lw=1.3, **look)
    p = run.summary["parameters"]
    rest = 1e3 * np.array([[0, 0], [p["radius"], 0], [p["radius"], p["length"]], [0, p["length"]]])
    profile.plot(*rest.T, color="0.6", lw=0.8, label="at rest")
    run = runs(c.TAYLOR, c.CD, **_BARS[0][1])
    start = run.results["energy_start"]
    for label, name, line in _ENERGIES:
        energies.plot(1e6 * run["t"], run[name] / start, line, color="#0b559f", label=label)
    profile.set(xlabel="r [mm]", ylabel="z [mm]", aspect="equal", xlim=(0, 13), ylim=(-0.5, 33))
    radius.set(xlabel="time [µs]", ylabel="radius of the face [mm]")
    length.set(xlabel="time [µs]", ylabel="length [mm]")
    energies.set(xlabel="time [µs]", ylabel="over the energy at the start [-]", title=_BARS[0][0])
    for ax in (profile, radius, length, energies):
        ax.grid(alpha=0.3)
    profile.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(0.3, 1.0))
    energies.legend(frameon=False)
    figure.set_size_inches(13, 7)


def draw_wave(runs: Runs, figure: Any) -> None:
    """Velocities along the bar at the end beside the exact ones, and errors as the mesh is refined."""
    *bars, right = axes = panels(figure, 1, 3, size=(14, 4.4))
    for ax, state in zip(bars, c.STATES):
        run = runs(c.WAVE, c.CD, state=state)
        p = run.summary["parameters"]
        body, wave = plastic_wave.MetalWave().build(p).body, plastic_wave.exact(p)
        z, t = np.sort(body.x[body.nodes("axis"), 1]), run["t"][-1]  # as the columns of a history
        fine = np.linspace(0.0, p["length"], 4001)
        ax.plot(fine, wave.field("velocity", fine, t), label="exact", **style("exact"))
        ax.plot(z, -run["v_t"][-1].reshape(-1, 2)[:, 1], color="#0b559f", lw=1.0, label="400 cells")
        ax.set(xlabel="distance from the face, at rest [m]", ylabel="velocity towards the wall [m/s]")
        ax.set(title=f"one-dimensional {state}")
        line = {"stress": "o-", "strain": "s--"}[state]
        right.loglog(c.CELLS, c.errors(runs, c.CD, state), line, label=state)
    guide = np.array(c.CELLS) / c.CELLS[0]
    right.loglog(c.CELLS, 0.02 * guide ** (-2 / 3), ":", color="0.6", label="slope -2/3")
    right.set(xlabel="cells along the bar [-]", ylabel="mean error of the velocity / v0 [-]")
    right.set_xticks(c.CELLS, [str(n) for n in c.CELLS])
    right.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    legends(axes, frameon=False)


FIGURES = (
    Figure("cook-membrane-tip", c.COOK, c.COOKS, "Cook's membrane",
           "Cook's membrane, nearly incompressible: its tip as the mesh is refined", draw_cook),
    Figure("rubber-block-pressure", c.RUBBER, c.PATCH, "pressures",
           "Pressures of rubber at nu = 0.4999: a block between plates, a ball on a plane", draw_rubber),
    Figure("taylor-bar-mushroom", c.TAYLOR, c.SIMO, "Taylor test",
           "Taylor test: profiles, radius and length over time, energies", draw_taylor),
    Figure("plastic-wave-velocity", c.WAVE, c.SHOCKS, "plastic wave",
           "Plastic wave: velocities along the bar beside the exact shocks", draw_wave),
)  # fmt: skip

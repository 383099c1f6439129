"""Pictures: histories beside an exact solution (matplotlib), strips of bodies (pyvista)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from . import parallel
from .integrators import Integrator
from .output import Result
from .solid import Solid

#: Told apart in grey too.
_STYLES = (
    {"color": "#0b559f", "ls": "-"},
    {"color": "#d1711a", "ls": "--"},
    {"color": "#3a8a3f", "ls": "-."},
)
_EXACT = {"color": "0.35", "ls": ":", "lw": 2.2}
#: Schemes by colour, line and marker, so that no two look alike in grey.
_SCHEMES: dict[str, dict[str, Any]] = {
    "cd-lagrange": {"color": "#0b559f", "ls": "-", "marker": "o"},
    "moreau-jean": {"color": "#d1711a", "ls": "--", "marker": "s"},
    "cd-lagrange-implicit": {"color": "#3a8a3f", "ls": "-.", "marker": "^"},
    "moreau-jean-decoupled": {"color": "#e8a56b", "ls": (0, (6, 1, 1, 1, 1, 1)), "marker": "D"},
    "paoli-schatzman": {"color": "#8a2f7d", "ls": (0, (5, 1)), "marker": "v"},
    "carpenter": {"color": "#444444", "ls": (0, (3, 1, 1, 1)), "marker": "P"},
    "carpenter-implicit": {"color": "#b03030", "ls": (0, (1, 1)), "marker": "X"},
    "combined": {"color": "#1b9aaa", "ls": (0, (8, 2)), "marker": "*"},
}
_OTHER: dict[str, Any] = {"color": "#111111", "ls": (0, (2, 2)), "marker": "d"}


def style(scheme: str, *, every: float = 0.1) -> dict[str, Any]:
    """Keywords of ``Axes.plot`` for a scheme of the catalogue, ``"exact"`` or any other name.

    Args:
        scheme: Its name.
        every: Distance of the markers as a part of the axes' diagonal; 0 for no markers.
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
    exact: Mapping[str, Callable[[NDArray], NDArray]] | None = None,
    title: str = "",
) -> None:
    """Displacement, velocity, impulse and energies of runs over time, as PNG or SVG.

    Displacement and velocity are means over the recorded columns; impulses are summed over
    the contact points and cumulated. Rank 0 draws; collective.

    Args:
        path: File to write.
        runs: Results by the name that the legend shows.
        exact: Functions of time for ``u`` [m], ``v`` [m/s], ``impulse`` [N s], ``kinetic`` or
            ``internal`` [J].
        title: Title of the figure.

    Raises:
        ImportError: When matplotlib is missing (extra ``plot``).
    """
    parallel.on_root(MPI.COMM_WORLD, lambda: _history(path, runs, exact or {}, title))


def _history(
    path: str | Path, runs: Mapping[str, Result], exact: Mapping[str, Callable], title: str
) -> None:
    plt = pyplot()
    figure, axes = plt.subplots(2, 2, figsize=(11, 7.5), sharex=True, layout="constrained")
    curves = {
        "u": ("mean displacement [mm]", 1e3, lambda r: r["u"].mean(axis=1)),
        "v": ("mean velocity [m/s]", 1.0, lambda r: r["v_t"].mean(axis=1)),
        "impulse": ("cumulated impulse [N s]", 1.0, lambda r: np.cumsum(r["r"].sum(axis=1))),
    }
    t = np.linspace(0.0, max(run["t"][-1] for run in runs.values()), 2000)
    for ax, (key, (label, factor, curve)) in zip(axes.flat, curves.items()):
        for (name, run), style in zip(runs.items(), _STYLES):
            ax.plot(run["t"] * 1e6, factor * curve(run), label=name, lw=1.2, **style)
        if key in exact:
            ax.plot(t * 1e6, factor * exact[key](t), label="exact (1D)", **_EXACT)
        ax.set_ylabel(label)
        ax.legend(frameon=False)
    _energies(axes[1, 1], runs)
    for term in ("kinetic", "internal"):
        if term in exact:
            axes[1, 1].plot(t * 1e6, exact[term](t), label=f"{term}, exact (1D)", **_EXACT)
    axes[1, 1].legend(frameon=False, fontsize=8)
    for ax in axes.flat:
        ax.grid(alpha=0.3)
    for ax in axes[1]:
        ax.set_xlabel("time [µs]")
    figure.suptitle(title)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _energies(ax: Any, runs: Mapping[str, Result]) -> None:
    for (name, run), style in zip(runs.items(), _STYLES):
        for term, width in (("kinetic", 1.3), ("internal", 0.7)):
            ax.plot(run["t"] * 1e6, run[term], label=f"{term}, {name}", lw=width, **style)
    ax.set_ylabel("energy [J]")


class Snapshots:
    """Observer that keeps a body's state at some times.

    Args:
        times: When [s]; the first step at or after each is kept.
    """

    def __init__(self, times: Sequence[float]) -> None:
        self._wanted = sorted(times)
        self.states: list[tuple[float, NDArray, NDArray]] = []

    def __call__(self, integrator: Integrator) -> None:
        """Keep (t, u, v at t) when the next wanted time has come."""
        reached = len(self.states)
        if reached < len(self._wanted) and integrator.t >= self._wanted[reached] - 0.5 * integrator.dt:
            self.states.append((integrator.t, integrator.u.copy(), integrator.v_mean.copy()))


def strip(
    path: str | Path,
    solid: Solid,
    snapshots: Snapshots,
    *,
    component: int = 0,
    magnify: float = 1.0,
    wall: float | None = None,
    title: str = "",
) -> None:
    """Bodies below one another as time goes on, deformed and coloured by a velocity. Collective.

    Args:
        path: PNG to write; rank 0 draws.
        solid: The body, 3D.
        snapshots: Its states.
        component: Direction of the displacement's and the colour's velocity component.
        magnify: Factor on the displacements; the picture says it.
        wall: Coordinate of a wall across ``component`` [m], drawn at its magnified distance.
        title: First line of the picture.

    Raises:
        ImportError: When pyvista is missing (extra ``plot``).
        RuntimeError: Without a display, where VTK would crash.
    """
    gathered = solid.comm.gather([_piece(solid, u, v, component) for _, u, v in snapshots.states])
    times = [t for t, _, _ in snapshots.states]
    parallel.on_root(
        solid.comm, lambda: _strip(path, gathered or [], times, component, magnify, wall, title)
    )


def _strip(
    path: str | Path, gathered: list, times: list[float], component: int, magnify: float,
    wall: float | None, title: str,
) -> None:  # fmt: skip
    pyvista = _pyvista()
    plotter = pyvista.Plotter(off_screen=True, window_size=(1400, 160 + 110 * len(times)))
    points = np.vstack([rank[0][1] for rank in gathered])
    low, high = points.min(axis=0), points.max(axis=0)
    height, across = 1.6 * (high[2] - low[2]), float(np.linalg.norm(high - low))
    limit = max(np.abs(piece[2]).max(initial=0.0) for rank in gathered for piece in rank)
    for row, t in enumerate(times):
        offset = np.array([0.0, 0.0, -row * height])
        for rank in gathered:
            _draw(plotter, pyvista, rank[row], offset, magnify, limit, "xyz"[component])
        label = offset + [high[0] + 0.03 * across, 0.0, 0.0]
        plotter.add_point_labels([label], [f"t = {t * 1e6:.0f} µs"], shape=None, font_size=22, bold=False,
                                 show_points=False, always_visible=True, text_color="black")  # fmt: skip
    if wall is not None:
        low[2] -= height * (len(times) - 1)
        _draw_wall(plotter, pyvista, wall * magnify, low, high)
    plotter.add_text(f"{title} (displacements x {magnify:g}, {1e3 * across:.0f} mm across)",
                     font_size=12, color="black")  # fmt: skip
    plotter.add_axes(color="black")
    plotter.camera_position = "xz"
    plotter.enable_parallel_projection()
    plotter.camera.parallel_scale = 0.56 * height * (len(times) + 1)
    plotter.screenshot(str(path))
    plotter.close()


def _piece(solid: Solid, u: NDArray, v: NDArray, component: int) -> tuple:
    """This rank's cells (VTK), points, velocities and displacements."""
    from dolfinx import la, plot

    cells, types, points = plot.vtk_mesh(solid.space)
    fields = []
    for values in (v, u):
        vector = la.vector(solid.space.dofmap.index_map, solid.space.dofmap.bs)
        vector.array[: solid.owned] = values[: solid.owned]
        vector.scatter_forward()
        fields.append(vector.array.reshape(-1, 3).copy())
    return (cells, types), points, fields[0][:, component], fields[1]


def _draw(
    plotter: Any, pyvista: Any, piece: tuple, offset: NDArray, magnify: float, limit: float, axis: str
) -> None:
    (cells, types), points, velocity, displacement = piece
    if len(types) == 0:
        return
    grid = pyvista.UnstructuredGrid(cells, types, points + magnify * displacement + offset)
    name = f"velocity v_{axis} [m/s]"
    grid.point_data[name] = velocity
    plotter.add_mesh(
        grid, scalars=name, cmap="RdBu_r", clim=(-limit, limit), show_edges=True, edge_opacity=0.25,
        lighting=False,
        scalar_bar_args={"color": "black", "vertical": True, "height": 0.5, "position_x": 0.88,
                         "position_y": 0.25, "title_font_size": 20, "label_font_size": 18},
    )  # fmt: skip


def _draw_wall(plotter: Any, pyvista: Any, x: float, low: NDArray, high: NDArray) -> None:
    margin = 0.02 * np.linalg.norm(high - low)
    bounds = (x - margin, x, low[1], high[1], low[2] - margin, high[2] + margin)
    plotter.add_mesh(pyvista.Box(bounds), color="#999999")


def pyplot() -> Any:
    """matplotlib.pyplot that draws into files.

    Raises:
        ImportError: When matplotlib is missing (extra ``plot``).
    """
    try:
        import matplotlib
    except ImportError as missing:
        raise ImportError("plots need matplotlib: install the extra 'plot'") from missing
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def _pyvista() -> Any:
    """pyvista, unless VTK would crash for want of a display (it does before version 9.4)."""
    try:
        from vtkmodules.vtkCommonCore import vtkVersion
    except ImportError as missing:
        raise ImportError("pictures of bodies need pyvista: install the extra 'plot'") from missing
    version = (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion())
    if version < (9, 4) and not os.environ.get("DISPLAY"):
        raise RuntimeError("this VTK draws only with a display: start under xvfb-run, or set DISPLAY")
    import pyvista

    return pyvista

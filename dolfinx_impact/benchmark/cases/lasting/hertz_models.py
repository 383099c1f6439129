"""Two bodies that touch along a line or at a point, half a section: meshes, load and pressure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import LinearElastic, NamedMesh, Solid, mesh
from ....exact import HertzLine, HertzPoint
from ....exact.hertz import effective_modulus, effective_radius
from ...boxes import box
from ...case import Values

Theory = HertzLine | HertzPoint
#: Width (half) and height of both blocks over the least radius; half-width over it where no load is given.
SIZE, HALF_WIDTH = 0.5, 1e-3
#: Cells are fine up to so many half-widths, and grow by this from one to the next from there on.
REACH, GROWTH = 1.3, 1.15
_SAMPLES = 400  #: Of the exact pressure between two nodes.


def least_radius(p: Values) -> float:
    """The smaller of both radii [m]."""
    return float(min(abs(each) for each in (p["radius"], p["radius2"]) if each))


def _theory(p: Values) -> tuple[type[HertzLine] | type[HertzPoint], float, float]:
    modulus = effective_modulus(p["E1"], p["nu1"], p["E2"], p["nu2"])
    kind = HertzLine if p["geometry"] == "line" else HertzPoint
    return kind, modulus, effective_radius(p["radius"], p["radius2"])


def exact(p: Values) -> Theory:
    """Hertz's theory for the load of a run."""
    kind, modulus, radius = _theory(p)
    if p["load"] is None:
        return kind.of_half_width(modulus, radius, HALF_WIDTH * least_radius(p))
    return kind(modulus, radius, p["load"])


def measured(p: Values, peak_pressure: float, approach: float) -> Theory:
    """Hertz's theory for the largest pressure (line) or the approach (point) that was measured."""
    _, modulus, radius = _theory(p)
    if p["geometry"] == "line":
        return HertzLine.of_peak_pressure(modulus, radius, peak_pressure)
    return HertzPoint.of_approach(modulus, radius, approach)


def first_way(p: Values) -> float:
    """About the way of the end of the upper block at the load [m].

    Between two lines it depends on the height d of the blocks: ``F' (1 - nu^2)/(pi E) (2 ln(2 d/b) -
    nu/(1 - nu))`` of each, Johnson, Contact Mechanics (1985), (5.58).
    """
    hertz = exact(p)
    if isinstance(hertz, HertzPoint):
        return hertz.approach
    height = 2 * math.log(2 * SIZE * least_radius(p) / hertz.half_width)
    each = [(1 - p[f"nu{k}"] ** 2) / p[f"E{k}"] * (height - p[f"nu{k}"] / (1 - p[f"nu{k}"])) for k in (1, 2)]
    return hertz.load / math.pi * sum(each)


def _graded(fine: float, reach: float, end: float) -> NDArray:
    """Coordinates from 0 to the end: cells of a size up to ``reach``, growing ones behind [m]."""
    sizes = [fine] * math.ceil(reach / fine)
    while sum(sizes) < end:
        sizes.append(sizes[-1] * GROWTH)
    x, fixed = np.concatenate([[0.0], np.cumsum(sizes)]), math.ceil(reach / fine)
    x[fixed:] = x[fixed] + (x[fixed:] - x[fixed]) * (end - x[fixed]) / (x[-1] - x[fixed])
    return x


def _block(radius: float, x: NDArray, up: bool) -> NamedMesh:
    """A block above or below y = 0, where its face has a radius and touches the origin. Collective."""
    n = x.size - 1
    touching, end = (0, n) if up else (n, 0)
    named = mesh.named(
        box([[0, 0], [n, n]], [n, n]),  # of whole numbers: its nodes are moved
        axis=lambda at: np.isclose(at[0], 0.0),
        contact=lambda at: np.isclose(at[1], touching),
        end=lambda at: np.isclose(at[1], end),
    )
    places = named.mesh.geometry.x
    i, j = np.rint(places[:, :2].T).astype(int)
    across, away = x[i], x[j if up else n - j]
    rise = across**2 / (radius + math.copysign(1, radius) * np.sqrt(radius**2 - across**2)) if radius else 0.0
    away = away + rise * (1 - away / x[-1])
    places[:, 0], places[:, 1] = across, away if up else -away
    return named


def make_blocks(p: Values, path: Any) -> Solid:
    """Both blocks; the end of the upper one follows a path, that of the lower one is held. Collective."""
    half_width, end = exact(p).half_width, SIZE * least_radius(p)
    # Facets match at rest: their distance from the circles, of the size of gaps, is taken from both.
    across = _graded(half_width / p["resolution"], REACH * half_width, end)
    radii = {"upper": p["radius"], "lower": p["radius2"]}
    parts = {name: _block(radius, across, name == "upper") for name, radius in radii.items()}
    laws = {name: LinearElastic(p[f"E{k}"], p[f"nu{k}"]) for k, name in enumerate(parts, start=1)}
    held = {"upper/axis": (0,), "lower/axis": (0,), "lower/end": (1,)}
    return Solid(
        mesh.join(parts),
        density=1.0,
        law=laws,
        fixed=held,
        prescribed={"upper/end": {1: path}},
        hypothesis="axisymmetric" if p["geometry"] == "point" else "plane-strain",
    )


def pressure_error(p: Values, x: NDArray, pressure: NDArray, hertz: Theory) -> float:
    """How far pressures of nodes are from Hertz's, in L2, relative.

    A node's pressure is its force over its area: Hertz's is averaged with the node's shape function likewise.

    Args:
        p: Parameters of the run.
        x: Distances of the nodes from the middle, from inside, shape (n,) [m].
        pressure: Their pressures, shape (n,) [Pa].
        hertz: The theory.
    """
    cell = np.repeat(np.arange(x.size - 1), _SAMPLES)
    part = np.tile((np.arange(_SAMPLES) + 0.5) / _SAMPLES, x.size - 1)
    size = np.diff(x)[cell]
    at = x[cell] + part * size
    weight = size * at if p["geometry"] == "point" else size
    true = hertz.pressure(at)

    def at_nodes(values: NDArray) -> NDArray:
        ends = np.bincount(cell, (1 - part) * values, x.size), np.bincount(cell + 1, part * values, x.size)
        return np.asarray(ends[0] + ends[1])

    area = at_nodes(weight)
    mean = at_nodes(weight * true) / area
    return float(np.sqrt(np.sum(area * (pressure - mean) ** 2) / np.sum(area * mean**2)))


def half_width(p: Values, x: NDArray, forces: NDArray) -> float:
    """Half-width whose Hertzian pressure has the second moment of the forces of nodes [m]."""
    moment = float(np.sum(forces * x**2) / np.sum(forces))
    return math.sqrt((2.5 if p["geometry"] == "point" else 4.0) * moment)

"""Shaft and ring of a shrink fit, half a section in (r, z), and what is measured of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import LinearElastic, NamedMesh, Solid, SparseRows, mesh, parallel
from ....exact import ShrinkFit
from ...boxes import box
from ...case import Values

DENSITY = 7850.0  #: Of both parts [kg/m3].


def exact(p: Values, *, plane_strain: bool = True) -> ShrinkFit:
    """The fit of the parameters of a run."""
    shape = p["bore"], p["radius"], p["outer"]
    return ShrinkFit(
        *shape, p["E_shaft"], p["nu_shaft"], p["E_ring"], p["nu_ring"], p["interference"], plane_strain
    )


def divisions(p: Values) -> dict[str, tuple[float, float, int]]:
    """Inner and outer radius [m] of shaft and ring, which overlap, and cells across each."""
    half = p["interference"] / 2
    across = max(2, round(p["cells"] * (p["radius"] - p["bore"]) / (p["outer"] - p["radius"])))
    shaft, ring = (p["bore"], p["radius"] + half), (p["radius"] - half, p["outer"])
    return {"shaft": (*shaft, across), "ring": (*ring, p["cells"])}


def _part(inner: float, outer: float, length: float, cells: tuple[int, int]) -> NamedMesh:
    """A rectangle with its sides by name; the axis is one of a solid shaft."""

    def at(direction: int, place: float) -> Any:
        return lambda x: np.isclose(x[direction], place, rtol=1e-9, atol=1e-9 * length)

    sides = {"low": at(1, 0.0), "high": at(1, length), "outside": at(0, outer)}
    return mesh.named(
        box([[inner, 0.0], [outer, length]], cells), **sides, **{"inside" if inner else "axis": at(0, inner)}
    )


def make_parts(
    p: Values, driven: Any = None, densities: tuple[float, float] = (DENSITY, DENSITY), degree: int = 1
) -> Solid:
    """Shaft and ring, which overlap by the interference, with meshes that do not match. Collective.

    Args:
        p: Parameters of the run.
        driven: Way of the lower end of the shaft over time, for the push, in which the ring alone is held, at
            its lower end; None for the fit, in which all ends are held along the axis.
        densities: Of shaft and ring; the lighter surface is the slave.
        degree: That of the elements.
    """
    along, length = max(2, p["cells"] // 2), p["length"]
    parts = {
        name: _part(inner, outer, length, (across, layers))
        for (name, (inner, outer, across)), layers in zip(divisions(p).items(), (along, along + 1))
    }
    held: dict[str, Any] = {} if p["bore"] else {"shaft/axis": (0,)}
    ends = ("shaft/low", "shaft/high", "ring/low", "ring/high") if driven is None else ("ring/low",)
    return Solid(
        mesh.join(parts),
        density=dict(zip(parts, densities)),
        law={name: LinearElastic(p[f"E_{name}"], p[f"nu_{name}"]) for name in parts},
        degree=degree,
        hypothesis="axisymmetric",
        fixed={**held, **{end: (1,) for end in ends}},
        prescribed={} if driven is None else {"shaft/low": {1: driven}},
    )


def on(body: Solid, name: str, u: NDArray) -> tuple[NDArray, NDArray]:
    """Places and displacements of the nodes of a side, shape (n, 2) each [m], of all ranks. Collective."""
    nodes = body.nodes(name)
    both = np.hstack([body.x[nodes, :2], u.reshape(-1, 2)[nodes]])
    every = parallel.gather_rows(body.comm, both)
    return every[:, :2], every[:, 2:]


def depth(body: Solid, u: NDArray) -> float:
    """How deep nodes of one part are in the other one at most, by the radii of both at their heights [m].

    0 where none is. Collective.
    """
    sides = []
    for name in ("shaft/outside", "ring/inside"):
        x, way = on(body, name, u)
        at = x + way
        sides.append(at[np.argsort(at[:, 1])])
    shaft, ring = sides
    low, high = max(shaft[0, 1], ring[0, 1]), min(shaft[-1, 1], ring[-1, 1])
    z = np.concatenate([shaft[:, 1], ring[:, 1]])
    z = z[(z >= low) & (z <= high)]
    inside = np.interp(z, shaft[:, 1], shaft[:, 0]) - np.interp(z, ring[:, 1], ring[:, 0])
    return float(max(0.0, inside.max(initial=0.0)))


def hoop_stress(body: Solid, p: Values, u: NDArray, pressure: float) -> float:
    """Hoop stress at the bore of the ring from pressure and mean strain there [Pa]. Collective."""
    x, way = on(body, "ring/inside", u)
    ring = exact(p).ring
    return float(ring.modulus * np.mean(way[:, 0] / x[:, 0]) - ring.ratio * pressure)


def followed(body: Solid) -> SparseRows:
    """Radial displacements at the lower ends, those of the shaft first, from inside. Collective."""
    nodes = [body.nodes(f"{name}/low") for name in ("shaft", "ring")]
    every = np.concatenate(nodes)
    order = np.column_stack([np.repeat([0.0, 1.0], [len(each) for each in nodes]), body.x[every, 0]])
    dofs = (2 * every)[:, None]
    return SparseRows(dofs, np.ones(dofs.shape), order, ["ux"] * every.size)


def stresses(p: Values, u: NDArray) -> dict[str, tuple[NDArray, NDArray, NDArray]]:
    """Radii [m], radial and hoop stress [Pa] in the middles of cells of both parts, for :func:`followed`."""
    fit, found, first = exact(p), {}, 0
    for (name, (inner, outer, cells)), tube in zip(divisions(p).items(), (fit.shaft, fit.ring)):
        r, v = np.linspace(inner, outer, cells + 1), u[first : first + cells + 1]
        middle, first = (r[1:] + r[:-1]) / 2, first + cells + 1
        radial, hoop = np.diff(v) / np.diff(r), (v[1:] + v[:-1]) / 2 / middle
        factor = tube.modulus / (1 - tube.ratio**2)
        found[name] = middle, factor * (radial + tube.ratio * hoop), factor * (hoop + tube.ratio * radial)
    return found

"""Surfaces that overlap at the start, or that face away from each other, are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from dolfinx import geometry

from ... import parallel
from ..._types import FloatArray
from ..penetration import TOUCHING, refuse_penetration
from .facets import Facets

#: Sum of the normals over the area below which a surface is closed, or nearly so.
_OPEN = 0.5
#: Facets whose distance is computed, those with the nearest centres.
_NEAREST = 32


def refuse_facing_away(facets: Facets, first: int, second: int, names: tuple[str, ...]) -> None:
    """Raise a ValueError for two open surfaces with outward normals that point away from each other."""
    normals, sizes = facets.normals(facets.x)
    means, centres = [], []
    for k in (first, second):
        chosen = facets.of(k)
        weights = sizes[chosen] / sizes[chosen].sum()
        means.append(weights @ normals[chosen])
        centres.append(weights @ facets.x[facets.nodes[chosen]].mean(axis=1))
    towards = centres[1] - centres[0]
    if min(np.linalg.norm(mean) for mean in means) < _OPEN:
        return
    if means[0] @ towards < 0 and means[1] @ towards > 0 and means[0] @ means[1] < 0:
        raise ValueError(
            f"the surfaces {names[first]!r} and {names[second]!r} face away from each other: name the facets "
            "that lie opposite (or allow it, allow_penetration=True)"
        )


def refuse_overlap(contact: Any, u: FloatArray) -> None:
    """Raise a ValueError where surfaces overlap at ``u``, on the surface or deep inside. Collective."""
    gap = contact.gap(u)
    names = " and ".join(repr(name) for name in contact.surfaces)
    refuse_penetration(contact, gap, contact.places(u), f"nodes of the surfaces {names}")
    deepest, where = _deepest_inside(contact)
    if deepest > max(contact.gap_tolerance, TOUCHING * contact.system.length):
        shown = ", ".join(f"{value:.6g}" for value in where)
        raise ValueError(
            f"the surfaces {names} overlap at the start, the deepest at ({shown}) m, {deepest:.3g} m inside "
            "the other part: move the parts, or allow it (allow_penetration=True)"
        )


def _deepest_inside(contact: Any) -> tuple[float, FloatArray]:
    """Largest depth of a surface node in cells of another part at zero displacement, and its place."""
    body, facets, mesh = contact.body, contact._facets, contact.body.mesh
    x = np.zeros((len(facets.x), 3))
    x[:, : body.gdim] = facets.x
    tree = geometry.bb_tree(mesh, mesh.topology.dim)
    hits = geometry.compute_colliding_cells(mesh, geometry.compute_collisions_points(tree, x), x)
    number = body.space.dofmap.index_map.local_to_global(np.arange(body.size // body.block, dtype=np.int32))
    dofmap, owner = np.asarray(body.space.dofmap.list), facets.global_nodes
    inside = np.zeros(len(x))
    for i in range(len(x)):
        cells = hits.links(i)
        if len(cells) and not np.any(number[dofmap[cells]] == owner[i]):
            inside[i] = 1.0
    inside = parallel.gather_rows(body.comm, inside[None, :]).max(axis=0)
    deep = np.flatnonzero(inside > 0)
    if not deep.size:
        return 0.0, np.zeros(0)
    own = np.full(len(x), -1)
    for k in range(facets.surface.max() + 1):
        own[facets.surface_nodes(k)] = k
    deep = deep[own[deep] >= 0]
    depth = np.array([_distance(facets, x[i], own[i]) for i in deep])
    worst = int(np.argmax(depth)) if deep.size else 0
    return (float(depth[worst]), facets.x[deep[worst]]) if deep.size else (0.0, np.zeros(0))


def _distance(facets: Facets, x: FloatArray, own: int) -> float:
    """Distance of a point, shape (3,), to the nearest facets of the other surfaces [m]."""
    others = np.flatnonzero((facets.surface >= 0) & (facets.surface != own))
    corners = np.zeros((others.size, facets.shape.corners.size, 3))
    corners[..., : facets.x.shape[1]] = facets.x[facets.nodes[others][:, facets.shape.corners]]
    middle = np.linalg.norm(corners.mean(axis=1) - x, axis=1)
    nearest = np.argsort(middle)[:_NEAREST]
    vectors = [geometry.compute_distance_gjk(x[None, :].copy(), corners[k].copy()) for k in nearest]
    return float(min(np.linalg.norm(each) for each in vectors))

"""Surfaces that overlap at the start, or that face away from each other, are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from dolfinx import geometry
from mpi4py import MPI

from ... import parallel
from ..._types import BoolArray, FloatArray, IntArray
from ...systems.containment import Containment, connected_parts
from ..penetration import TOUCHING, refuse_penetration
from .facets import Facets
from .tables import DEPTH

#: Sum of the normals over the area below which a surface is closed, or nearly so.
_OPEN = 0.5
#: Depth of a node over that of the gaps, which are means, from which on these do not tell of it.
_UNSEEN = 2.0
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
    if min(float(np.linalg.norm(mean)) for mean in means) < _OPEN:
        return
    # What lies less deep is an overlap, of which another message tells.
    deep = 2.0 * DEPTH * max(facets.height[facets.of(first)].max(), facets.height[facets.of(second)].max())
    if means[0] @ towards < -deep and means[1] @ towards > deep and means[0] @ means[1] < 0:
        raise ValueError(
            f"the surfaces {names[first]!r} and {names[second]!r} face away from each other: name the facets "
            "that lie opposite (or allow it, allow_penetration=True)"
        )


def refuse_overlap(contact: Any, u: FloatArray, *, nearness: bool = True) -> None:
    """Raise a ValueError where surfaces overlap at ``u``, on the surface or deep inside. Collective.

    Args:
        contact: The contact.
        u: Displacements, shape (size,) [m].
        nearness: Whether gaps are looked at, with which surfaces nearer than their skins overlap.
    """
    names = of_surfaces(contact)
    if nearness:
        # Weighted gaps of surfaces that touch at one node are negative where functions of both signs weigh
        # them.
        gaps = np.maximum(contact.gap(u), contact.assembly.least_gaps())
        refuse_penetration(contact, gaps, contact.places(u), f"nodes of {names}", within="the other part")
    deepest, where = _deepest_inside(contact, u)
    if deepest > max(contact.gap_tolerance, TOUCHING * contact.system.length):
        shown = ", ".join(f"{value:.6g}" for value in where)
        raise ValueError(
            f"{names} overlap at the start, the deepest at ({shown}) m, {deepest:.3g} m inside "
            "the other part: move the parts, or allow it (allow_penetration=True)"
        )


def refuse_intersections(contact: Any, u: FloatArray) -> None:
    """Raise a ValueError where facets pass through each other at ``u``, of a contact that tests paths.

    A part that is folded through itself, and edges that cross, have no node inside another part. Collective.
    """
    x = contact.assembly.all_positions(contact.paths.facets, u)
    pairs = contact.paths.intersections(x)
    if not len(pairs):
        return
    nodes = x[contact.paths.facets.nodes[pairs]]
    normals, _ = contact.paths.facets.normals(x)
    depths = np.minimum(*(_through(nodes, normals[pairs], k) for k in (0, 1)))
    worst = int(np.argmax(depths))
    if depths[worst] > max(contact.gap_tolerance, TOUCHING * contact.system.length):
        shown = ", ".join(f"{value:.6g}" for value in nodes[worst].mean(axis=(0, 1)))
        raise ValueError(
            f"{of_surfaces(contact)} intersect at the start: {len(pairs)} pairs of facets pass through each "
            f"other, one near ({shown}) m: move the parts, or allow it (allow_penetration=True)"
        )


def _through(nodes: FloatArray, normals: FloatArray, k: int) -> FloatArray:
    """How far one facet of pairs reaches to both sides of the plane of the other, the lesser [m]."""
    arms = nodes[:, 1 - k] - nodes[:, k].mean(axis=1, keepdims=True)
    heights = np.einsum("mni,mi->mn", arms, normals[:, k])
    least: FloatArray = np.minimum(heights.max(axis=1), -heights.min(axis=1))
    return least


def of_surfaces(contact: Any) -> str:
    """The surfaces of a contact in words."""
    return "the surfaces " + " and ".join(map(repr, contact.surfaces)) if contact.surfaces else "the parts"


def unseen_overlap(contact: Any, u: FloatArray) -> str:
    """What overlaps at ``u`` by more than the gaps tell, in words, or an empty text. Collective.

    Facets face each other down to a depth of one cell: what lies deeper has no gap.
    """
    told = abs(float(contact.comm.allreduce(contact.gap(u).min(initial=0.0), op=MPI.MIN)))
    deepest, where = _deepest_inside(contact, u)
    # Nodes of coarse meshes of curved surfaces are inside each other by more than the gaps, but not so deep.
    if deepest <= max(_UNSEEN * told, contact.assembly.depth):
        return ""
    shown = ", ".join(f"{value:.6g}" for value in where)
    return (
        f"{of_surfaces(contact)} overlap by {deepest:.3g} m at ({shown}) m, but gaps tell of {told:.3g} m: "
        "what lies deeper than a cell is not seen"
    )


def _deepest_inside(contact: Any, u: FloatArray) -> tuple[float, FloatArray]:
    """Largest depth of a surface node in cells of a part with another surface, and its place. Collective.

    Args:
        contact: The contact.
        u: Displacements, shape (size,) [m].
    """
    body, facets = contact.body, contact.assembly.all_facets()
    x = contact.assembly.all_positions(facets, u)
    pairs = Containment(body).pairs(u, x, facets.global_nodes, 0.0)
    inside, group = np.zeros(len(x), dtype=np.int8), _groups(contact, facets)
    opposite = _groups_of_parts(contact, pairs[:, 1])
    opposite[np.arange(len(pairs)), group[pairs[:, 0]]] = False
    inside[pairs[opposite.any(axis=1), 0]] = 1
    body.comm.Allreduce(MPI.IN_PLACE, inside, op=MPI.MAX)
    deep = np.flatnonzero((inside > 0) & (facets.part >= 0))
    if not deep.size:
        return 0.0, np.zeros(0)
    depth = np.array([_distance(facets, group, x, i) for i in deep])
    worst = int(np.argmax(depth))
    return float(depth[worst]), x[deep[worst]]


def _groups(contact: Any, facets: Facets) -> IntArray:
    """What each node belongs to: its surface, or the part where all are one surface; -1 for neither."""
    roles, group = contact.assembly.roles, facets.part.copy()
    if roles is not None:
        on = facets.surface >= 0
        group[facets.nodes[on]] = roles.body_part[on][:, None]
    return group


def _groups_of_parts(contact: Any, cells: IntArray) -> BoolArray:
    """Whether the parts of cells have nodes of each group, shape (cells, groups). Collective."""
    body, facets = contact.body, contact.facets
    part = connected_parts(body)
    nodes = np.asarray(body.space.dofmap.list)
    of_node = np.full(body.size // body.block, -1, dtype=np.int64)
    of_node[nodes] = part[:, None]
    mine, group = (
        np.flatnonzero((facets.part >= 0) & (facets.rank == body.comm.rank)),
        _groups(contact, facets),
    )
    known = np.column_stack([of_node[facets.local[mine]], group[mine]]).astype(np.float64)
    known = parallel.gather_rows(body.comm, known).astype(np.int64)
    parts = 1 + max(known[:, 0].max(), part.max(initial=-1))
    groups = np.zeros((parts, 1 + known[:, 1].max()), dtype=bool)
    groups[known[:, 0], known[:, 1]] = True
    return np.asarray(groups[part[cells]])


def _distance(facets: Facets, group: IntArray, x: FloatArray, node: int) -> float:
    """Distance of a node to the nearest facets of other groups [m]."""
    others = np.flatnonzero((facets.surface >= 0) & (group[facets.nodes[:, 0]] != group[node]))
    corners, point = np.zeros((others.size, facets.shape.corners.size, 3)), np.zeros((1, 3))
    corners[..., : x.shape[1]], point[0, : x.shape[1]] = (
        x[facets.nodes[others][:, facets.shape.corners]],
        x[node],
    )
    centre = corners.mean(axis=1)
    radius = np.linalg.norm(corners - centre[:, None], axis=2).max(axis=1)
    # Not by their centres: a large facet may be nearer than many small ones of further parts.
    nearest = np.argsort(np.linalg.norm(centre - point, axis=1) - radius)[:_NEAREST]
    vectors = [geometry.compute_distance_gjk(point, corners[k].copy()) for k in nearest]
    return min(float(np.linalg.norm(each)) for each in vectors)

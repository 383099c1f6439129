"""Which of two surfaces is the slave."""

from __future__ import annotations

import numpy as np

from .facets import AllFacets


def slave_and_master(facets: AllFacets, first: int, second: int) -> tuple[int, int]:
    """The side with less mass per area is the slave, then the one with more facets per area, then the first.

    Constrained nodes are infinitely heavy. With this choice the slave part of H dominates that of the master.

    Args:
        facets: AllFacets of all surfaces.
        first, second: Numbers of two surfaces; the first is that of the earlier part of the mesh.

    Raises:
        ValueError: Both sides have no dof that moves freely.
    """
    mobility, fineness = zip(*(_mobility(facets, each) for each in (first, second)))
    if max(mobility) == 0.0:
        raise ValueError("all nodes of both surfaces are fixed or prescribed: contact has nothing to move")
    if abs(mobility[0] - mobility[1]) > 1e-9 * max(mobility):
        return (first, second) if mobility[0] > mobility[1] else (second, first)
    if abs(fineness[0] - fineness[1]) > 1e-9 * max(fineness):
        return (first, second) if fineness[0] > fineness[1] else (second, first)
    return first, second


def _mobility(facets: AllFacets, surface: int) -> tuple[float, float]:
    """Mean of area per mass of the nodes of a surface [m2/kg], and facets per area [1/m2]."""
    chosen = facets.of(surface)
    _, sizes = facets.normals(facets.x)
    nodes, n = facets.nodes[chosen], facets.nodes.shape[1]
    area = np.bincount(nodes.ravel(), np.repeat(sizes[chosen] / n, n), len(facets.x))
    at = np.unique(nodes)
    compliance = area[at] * facets.inverse_mass[at].mean(axis=1)
    return float(compliance.mean()), float(chosen.size / sizes[chosen].sum())

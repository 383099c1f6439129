"""Paths of vertices, edges and triangles within a step: no crossing is missed, rows keep them apart."""

from types import SimpleNamespace

import numpy as np
import pytest

from dolfinx_impact.contact.surfaces.features import FeaturePaths


def triangles(x, nodes, surface=None):
    """Facets of a mesh of triangles, with what features read of them."""
    shape = SimpleNamespace(dim=2, simplex=True, points=np.array([0.0, 1.0]), corners=np.arange(3))
    arms = x[nodes] - x[nodes].mean(axis=1, keepdims=True)
    diameter = 2 * np.linalg.norm(arms, axis=2).max(axis=1)
    surface = np.zeros(len(nodes), int) if surface is None else surface
    return SimpleNamespace(nodes=nodes, x=x, surface=surface, shape=shape, diameter=diameter)


def no_cover(pairs):
    return np.zeros(len(pairs), bool)


def test_row_of_a_vertex_that_passes_a_triangle():
    """It ends 2 % of its distance above the triangle."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 0.5], [0.2, 0.3, 1.5], [0.3, 0.2, 1.5]])
    paths = FeaturePaths(triangles(x, np.arange(6).reshape(2, 3)), np.zeros(2), itself=True)
    d = np.zeros_like(x)
    d[3:, 2] = -1.0
    paths.begin(x, no_cover)
    hits = paths.hits(d)
    assert hits.nodes.tolist() == [[3, 0, 1, 2]] and hits.kind.tolist() == [0]
    assert hits.weights[0] == pytest.approx([1.0, -0.6, -0.2, -0.2], abs=1e-12)
    assert hits.normal[0] == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    assert hits.least[0] == pytest.approx(-0.98 * 0.5, rel=1e-12)
    paths.begin(x + d, no_cover)
    assert paths.inside == 2 and paths.intersections(x + d).tolist() == [[0, 1]]

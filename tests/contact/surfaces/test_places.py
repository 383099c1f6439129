"""Axes in the plane of a facet, in which a small body on it has its ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from dolfinx_impact.contact.surfaces._arrays import FacetArrays, Segments
from dolfinx_impact.contact.surfaces._places import set_axes


def opposite(corners):
    """Two facets with these numbers of corners, of diameters 1 and 0.7, that have a segment."""
    facets = FacetArrays(*[np.zeros(0)] * len(FacetArrays._fields))
    segments = Segments(*[np.zeros(0)] * len(Segments._fields))
    nodes, diameter = np.arange(2 * corners).reshape(2, corners), np.array([1.0, 0.7])
    facets = facets._replace(nodes=nodes, corners=np.arange(corners), diameter=diameter)
    return facets, segments._replace(pairs=np.array([[0, 1]]), found=np.array([True]))


@examples(20)
@given(seed=st.integers(0, 2**32 - 1), corners=st.sampled_from([3, 4]), angle=st.floats(0.0, 1.5))
def test_axes_are_orthonormal_and_along_a_block(seed, corners, angle):
    """A facet of any size and place; a rectangle opposite, turned by an angle: its sides are the axes."""
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    plane = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])[:corners] * rng.uniform(0.1, 5.0, 2)
    c, s = np.cos(angle), np.sin(angle)
    block = np.array([[0, 0], [2, 0], [2, 0.5], [0, 0.5]]) @ np.array([[c, s], [-s, c]])
    if corners == 3:
        block = block[[0, 1, 3]]
    x = np.vstack([plane, block]) @ frame[:2] + rng.normal(size=3)
    facets, segments = opposite(corners)
    axes = np.zeros((2, 3))
    width = set_axes(0, 1, x, facets, segments, 0, axes)
    assert width == 0.7
    assert axes @ axes.T == pytest.approx(np.eye(2), abs=1e-12)
    assert axes @ frame[2] == pytest.approx([0.0, 0.0], abs=1e-12)
    if corners == 4:
        side = np.array([c, s]) @ frame[:2]
        assert np.sort(np.abs(axes @ side)) == pytest.approx([0.0, 1.0], abs=1e-6)

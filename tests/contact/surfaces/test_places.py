"""Axes in the plane of a facet, in which a small body on it has its ends."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.examples import examples

from dolfinx_impact.contact.surfaces.facet_shape import FacetShape
from dolfinx_impact.contact.surfaces.tables import Tables
from dolfinx_impact.systems.elements.compiler import address


@functools.cache
def opposite(corners):
    """Two facets with these numbers of corners, of diameters 1 and 0.7, that have a segment."""
    order = np.arange(3) if corners == 3 else np.array([0, 2, 3, 1])
    nodes = np.arange(corners)[None, None, :]
    shape = FacetShape(2, corners == 3, np.array([0.0, 1.0]), order, nodes, nodes[0, 0])
    tables = Tables(shape, 3, MPI.COMM_SELF, divided=True)
    facets = np.arange(2 * corners).reshape(2, corners)
    facets = np.argsort(order)[facets % corners] + corners * (facets // corners)
    numbers = {"first": np.array([0]), "last": np.array([1]), "part_facet": np.array([0])}
    tables.set(facet=facets, diameter=np.array([1.0, 0.7]), segment=np.array([[0, 1]]), **numbers)
    return tables


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
    tables, axes = opposite(corners), np.zeros((2, 3))
    tables.set(x=x)
    width = tables.functions.set_axes(tables.pointer, 0, address(axes))
    assert width == 0.7
    assert axes @ axes.T == pytest.approx(np.eye(2), abs=1e-12)
    assert axes @ frame[2] == pytest.approx([0.0, 0.0], abs=1e-12)
    if corners == 4:
        side = np.array([c, s]) @ frame[:2]
        assert np.sort(np.abs(axes @ side)) == pytest.approx([0.0, 1.0], abs=1e-6)

"""The least signed distance over parts of facets, beside dense sampling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact.contact.rigid_facets.minimum import least, quadrilateral
from dolfinx_impact.contact.rigid_facets.parts import diameters
from dolfinx_impact.contact.rigid_facets.sharp import exact, weights_at


def lattice(n, steps=60):
    """Weights of many points of a part."""
    a = np.linspace(0.0, 1.0, steps + 1)
    if n == 2:
        return np.column_stack([1.0 - a, a])
    a, b = (each.ravel() for each in np.meshgrid(a, a))
    if n == 4:
        return quadrilateral(a, b)
    a, b = a[a + b <= 1.0 + 1e-12], b[a + b <= 1.0 + 1e-12]
    return np.column_stack([1.0 - a - b, a, b])


def shapes(rng, gdim):
    """Obstacles of the size of a part, anywhere near it, turned."""
    center, axis = rng.uniform(-0.5, 1.5, gdim), rng.normal(size=gdim)
    size, axes = rng.uniform(0.05, 1.0, gdim), np.linalg.qr(rng.normal(size=(gdim, gdim)))[0]
    box = di.Box(center, size, axes=axes)
    yield from (di.Sphere(center, size[0]), box, di.Cone(center, axis, 60 * size[0] + 5, height=size[1]))
    yield from (
        di.Cylinder(center, axis, size[0], length=size[1]),
        di.Torus(center, axis, 0.6, 0.2 * size[0]),
    )
    yield di.SignedDistance(lambda x: np.minimum(box.gap(x), di.Sphere(-center, 0.3).gap(x)), gdim)


@examples(15)
@given(seed=st.integers(0, 2**32 - 1), n=st.sampled_from([2, 3, 4]))
def test_least_distance_over_a_part(seed, n):
    """At most 64 evaluations come near to what 3600 find; corners and edges of boxes in front are exact."""
    rng, gdim = np.random.default_rng(seed), 2 if n == 2 else 3
    base = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])[: max(n, 2), :gdim]
    x = np.array([base + rng.normal(scale=0.1, size=base.shape) for _ in range(5)])
    dense = lattice(n) if n > 2 else lattice(n, 2000)
    for shape in shapes(rng, gdim):
        evaluated = []

        def distance(y, shape=shape, evaluated=evaluated):
            evaluated.append(len(y))
            return shape.gap(y)

        at_nodes = shape.gap(x.reshape(-1, gdim)).reshape(len(x), n)
        found = least(distance, x, at_nodes, diameters(x))
        assert sum(evaluated) <= 64 * len(x)
        assert found.weights.min() >= 0.0 and found.weights.sum(axis=1) == pytest.approx(1.0)
        values = np.array([shape.gap(dense @ each).min() for each in x])
        above = (found.distance - np.minimum(values, at_nodes.min(axis=1))) / diameters(x)
        assert above.max() < 2e-2 and np.median(above) < 2e-3, shape
        better = exact(shape, shape.gap, x, diameters(x), found, ())
        clear = (values > 0.02) & isinstance(shape, di.Box)
        assert np.all(better.distance[clear] < values[clear] + 5e-3 * diameters(x)[clear])


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_place_under_a_corner_is_exact(n):
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [1.2, 1.0, 0.0], [-0.1, 0.9, 0.0]])[None, :n]
    weights = np.array([0.35, 0.65]) if n == 2 else quadrilateral(*np.array([[0.3], [0.6]]))[0]
    weights = np.array([0.5, 0.3, 0.2]) if n == 3 else weights
    x = x[..., :2] if n == 2 else x
    tip = weights @ x[0] - 1e-3 * np.eye(x.shape[2])[-1]
    found, inside = weights_at(x, tip[None])
    assert inside.all()
    if n > 2:
        assert found[0] == pytest.approx(weights, abs=1e-14)
        assert not weights_at(x, tip[None] + [5.0, 0.0, 0.0])[1].any()

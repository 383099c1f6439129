"""Obstacles: gaps are distances, normals their gradients, faces and motions what they say."""

import functools
import itertools

import numpy as np
import pytest
import ufl
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from support.examples import examples

from dolfinx_impact import (
    Box,
    Cone,
    Cylinder,
    MovingObstacle,
    Plane,
    SignedDistance,
    Sphere,
    Torus,
    UnionObstacle,
    signals,
)
from dolfinx_impact.algebra.kernels import is_compiled, load

CENTER, AXIS = {2: [0.1, -0.2], 3: [0.1, -0.2, 0.3]}, {2: [1.0, 2.0], 3: [1.0, 2.0, -2.0]}
SKEW = {2: [[3.0, 4.0], [-4.0, 3.0]], 3: [[1.0, 2.0, 2.0], [2.0, 1.0, -2.0], [2.0, -2.0, 1.0]]}
SIZE = {2: [1.0, 0.6], 3: [1.0, 0.6, 0.8]}
SHAPES = {
    "sphere": lambda d, inside: Sphere(CENTER[d], 0.6, inside=inside),
    "cylinder": lambda d, inside: Cylinder(CENTER[d], AXIS[d], 0.4, inside=inside),
    "can": lambda d, inside: Cylinder(CENTER[d], AXIS[d], 0.4, length=0.9, inside=inside),
    "box": lambda d, inside: Box(CENTER[d], SIZE[d], axes=SKEW[d], inside=inside),
    "cone": lambda d, inside: Cone(CENTER[d], AXIS[d], 35.0, inside=inside),
    "flat cone": lambda d, inside: Cone(CENTER[d], AXIS[d], 70.0, height=0.3, inside=inside),
    "capped cone": lambda d, inside: Cone(CENTER[d], AXIS[d], 25.0, height=0.9, inside=inside),
    "torus": lambda d, inside: Torus(CENTER[d], AXIS[d], 0.6, 0.25, inside=inside),
}
ANY = st.tuples(st.sampled_from(sorted(SHAPES)), st.sampled_from([2, 3]), st.booleans())
SEED = st.integers(0, 2**32 - 1)


def points(seed, gdim, count=60, reach=1.5):
    return np.random.default_rng(seed).uniform(-reach, reach, (count, gdim))


def polar(shape, x):
    """Distance from and along the axis, by the cosine theorem."""
    arm, axis = x - shape.point, np.array(AXIS[shape.gdim]) / np.linalg.norm(AXIS[shape.gdim])
    z = arm @ axis
    return np.sqrt(np.maximum((arm**2).sum(axis=1) - z**2, 0.0)), z


def within(name, shape, x):
    """Whether points lie in the solid: inequalities of the shapes' definitions."""
    if name == "sphere":
        return ((x - CENTER[shape.gdim]) ** 2).sum(axis=1) < 0.36
    if name == "box":
        rows = np.array(SKEW[shape.gdim]) / np.linalg.norm(SKEW[shape.gdim][0])
        return np.all(np.abs((x - CENTER[shape.gdim]) @ rows.T) < np.array(SIZE[shape.gdim]) / 2, axis=1)
    r, z = polar(shape, x)
    if name == "torus":
        return (r - 0.6) ** 2 + z**2 < 0.0625
    if "cone" in name:
        degrees, height = {"cone": (35, np.inf), "flat cone": (70, 0.3), "capped cone": (25, 0.9)}[name]
        return (z > 0) & (r < z * np.tan(np.radians(degrees))) & (z < height)
    return (r < 0.4) & ((name == "cylinder") | ((z > 0) & (z < 0.9)))


def profile(name, count):
    """Points (r, z) of the surface's section, densely from the definitions; those far away cut."""
    s, turn = np.linspace(0.0, 1.0, count), np.linspace(-np.pi, np.pi, 2 * count)
    if name == "torus":
        return np.column_stack([0.6 + 0.25 * np.cos(turn), 0.25 * np.sin(turn)])
    lines = {
        "cylinder": [((0.4, -4.0), (0.4, 4.0))],
        "can": [((0.0, 0.0), (0.4, 0.0)), ((0.4, 0.0), (0.4, 0.9)), ((0.4, 0.9), (0.0, 0.9))],
        "cone": [((0.0, 0.0), (8.0 * np.tan(np.radians(35)), 8.0))],
        "flat cone": [
            ((0.0, 0.0), (0.3 * np.tan(np.radians(70)), 0.3)),
            ((0.3 * np.tan(np.radians(70)), 0.3), (0.0, 0.3)),
        ],
        "capped cone": [
            ((0.0, 0.0), (0.9 * np.tan(np.radians(25)), 0.9)),
            ((0.9 * np.tan(np.radians(25)), 0.9), (0.0, 0.9)),
        ],
    }[name]
    return np.vstack([np.outer(1 - s, a) + np.outer(s, b) for a, b in lines])


@examples(10)
@given(SEED, st.sampled_from(sorted(set(SHAPES) - {"sphere", "box"})), st.sampled_from([2, 3]))
def test_gap_of_a_body_of_revolution_is_the_distance_to_the_nearest_of_many_points(seed, name, gdim):
    shape, x = SHAPES[name](gdim, False), points(seed, gdim)
    r, z = polar(shape, x)
    section = profile(name, 4000)
    nearest = np.hypot(r[:, None] - section[:, 0], z[:, None] - section[:, 1]).min(axis=1)
    found = shape.gap(x)
    assert np.array_equal(found < 0, within(name, shape, x))
    # Half the distance of two points of the section is at most 1.3e-3; on circles 1e-4, times 3.
    assert np.all(nearest - np.abs(found) > -1e-13) and np.all(nearest**2 - found**2 < 1.3e-3**2)


@functools.cache
def surface_of_the_box(gdim):
    """Points of a grid on the surface, in the directions of the box."""
    grid = np.linspace(-0.5, 0.5, 81)
    local = np.stack(np.meshgrid(*[grid] * gdim), axis=-1).reshape(-1, gdim)
    return local[np.abs(local).max(axis=1) == 0.5] * SIZE[gdim]


@examples(10)
@given(SEED, st.sampled_from([2, 3]))
def test_gap_of_a_box_is_the_distance_to_the_nearest_of_many_points(seed, gdim):
    box, x = SHAPES["box"](gdim, False), points(seed, gdim, 20)
    local = surface_of_the_box(gdim)
    rows = np.array(SKEW[gdim]) / np.linalg.norm(SKEW[gdim][0])
    nearest = np.linalg.norm(x[:, None] - (CENTER[gdim] + local @ rows), axis=2).min(axis=1)
    found = box.gap(x)
    assert np.array_equal(found < 0, within("box", box, x))
    assert np.all(nearest - np.abs(found) > -1e-14)
    # A point of the grid is at most half a diagonal off.
    assert np.all(nearest**2 - found**2 < gdim * (0.5 / 80) ** 2)


@given(SEED, ANY)
def test_normal_is_the_unit_gradient_of_the_gap(seed, which):
    name, gdim, inside = which
    shape, x, h = SHAPES[name](gdim, inside), points(seed, gdim, 200), 1e-6
    n = shape.normal(x)
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0, rtol=0, atol=1e-14)
    slope = np.column_stack([(shape.gap(x + d) - shape.gap(x - d)) / (2 * h) for d in h * np.eye(gdim)])
    # Where several points of the surface are equally near, there is no gradient: few points of a sample.
    smooth = np.linalg.norm(shape.normal(x + 1e-5) - n, axis=1) < 1e-3
    assert smooth.mean() > 0.9
    np.testing.assert_allclose(slope[smooth], n[smooth], rtol=0, atol=1e-7)


@given(SEED, ANY)
def test_following_the_normal_by_the_gap_leads_to_the_surface(seed, which):
    name, gdim, inside = which
    shape, x = SHAPES[name](gdim, inside), points(seed, gdim)
    if inside and len(shape.faces) > 1:  # there the gap of a point beyond a corner is that of one face
        x = x[shape.gap(x) > 0]
    foot = x - shape.gap(x)[:, None] * shape.normal(x)
    np.testing.assert_allclose(shape.gap(foot), 0.0, rtol=0, atol=1e-13)


@given(SEED, ANY)
def test_inside_is_the_other_side(seed, which):
    name, gdim, _ = which
    solid, hollow, x = SHAPES[name](gdim, False), SHAPES[name](gdim, True), points(seed, gdim)
    gap = hollow.gap(x)
    exact = gap >= 0 if len(hollow.faces) > 1 else np.ones(len(x), dtype=bool)
    np.testing.assert_allclose(gap[exact], -solid.gap(x)[exact], rtol=0, atol=1e-14)
    assert np.array_equal(gap > 0, within(name, solid, x))


@given(SEED, ANY)
def test_gap_is_the_smallest_of_all_faces(seed, which):
    name, gdim, inside = which
    shape, x = SHAPES[name](gdim, inside), points(seed, gdim)
    many = {"box": 2 * gdim, "can": 3, "flat cone": 2, "capped cone": 2}.get(name, 1) if inside else 1
    assert len(shape.faces) == many
    gaps = np.array([face.gap(x) for face in shape.faces])
    np.testing.assert_allclose(shape.gap(x), gaps.min(axis=0), rtol=0, atol=1e-14)
    normals = np.array([face.normal(x) for face in shape.faces])
    clear = (gaps < gaps.min(axis=0) + 1e-12).sum(axis=0) == 1
    chosen = normals[gaps.argmin(axis=0), np.arange(len(x))]
    np.testing.assert_allclose(shape.normal(x)[clear], chosen[clear], rtol=0, atol=1e-13)


@given(ANY)
def test_normals_are_unit_vectors_also_where_there_is_no_gradient(which):
    name, gdim, inside = which
    shape = SHAPES[name](gdim, inside)
    center, axis = np.array(CENTER[gdim]), np.array(AXIS[gdim]) / np.linalg.norm(AXIS[gdim])
    across = np.eye(gdim)[0] - axis[0] * axis
    across /= np.linalg.norm(across)
    corners = center + 0.5 * np.array(list(itertools.product(*[(-s, 0, s) for s in SIZE[gdim]]))) @ (
        np.array(SKEW[gdim]) / np.linalg.norm(SKEW[gdim][0])
    )
    on_axis = center + np.outer([-1e6, -1.0, -1e-9, 0.0, 1e-9, 0.15, 0.3, 0.45, 0.9, 1.3, 1e6], axis)
    rims = [0.4 * across, 0.4 * across + 0.9 * axis, 0.6 * across]
    rims += [height * (np.tan(np.radians(angle)) * across + axis) for height, angle in ((0.9, 25), (0.3, 70))]
    x = np.vstack([corners, on_axis, center + np.array(rims)])
    n = shape.normal(x)
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0, rtol=0, atol=1e-14)
    assert np.all(np.isfinite(shape.gap(x))) and np.array_equal(shape.normal(x), n)


@given(ANY)
def test_normals_on_a_flat_face_do_not_feel_the_distance(which):
    """Next to the surface the direction is not that of a tiny difference."""
    name, gdim, inside = which
    shape = SHAPES[name](gdim, inside)
    x = points(7, gdim)
    x = x[shape.gap(x) > 0]
    foot = x - shape.gap(x)[:, None] * shape.normal(x)
    smooth = np.linalg.norm(shape.normal(foot + 1e-4) - shape.normal(foot - 1e-4), axis=1) < 1e-2
    for distance in (1e-8, 1e-12, 0.0):
        near = shape.normal(foot[smooth] + distance * shape.normal(x)[smooth])
        np.testing.assert_allclose(near, shape.normal(x)[smooth], rtol=0, atol=1e-12)


@given(SEED, ANY)
def test_gaps_beyond_the_bounds_are_positive(seed, which):
    name, gdim, inside = which
    shape, x = SHAPES[name](gdim, inside), points(seed, gdim, 400, 3.0)
    low, high = shape.bounds()
    assert low.shape == high.shape == (gdim,)
    assert np.all(np.isinf([low, high])) if inside else np.all(low < high)
    outside = np.any((x < low) | (x > high), axis=1)
    assert np.all(shape.gap(x)[outside] > 0)


@pytest.mark.parametrize("name", sorted(set(SHAPES) - {"cylinder", "cone"}))
def test_bounds_are_tight(name):
    """The surface reaches each of them: minimum and maximum of many points within."""
    shape, x = SHAPES[name](3, False), points(0, 3, 200000, 1.3)
    low, high = shape.bounds()
    solid = x[shape.gap(x) < 0]
    assert np.all(solid > low) and np.all(solid < high)
    assert np.all(solid.min(axis=0) < low + 0.1) and np.all(solid.max(axis=0) > high - 0.1)


def test_bounds_of_unbounded_shapes():
    inf = np.inf
    for shape, low, high in (
        (Plane([1.0, 2.0], [0.0, 3.0]), [-inf, -inf], [inf, 2.0]),
        (Plane([1.0, 2.0], [-1.0, 0.0]), [1.0, -inf], [inf, inf]),
        (Plane([1.0, 2.0], [1.0, 1.0]), [-inf, -inf], [inf, inf]),
        (Cylinder([1.0, 2.0, 3.0], [0.0, 0.0, 1.0], 0.5), [0.5, 1.5, -inf], [1.5, 2.5, inf]),
        (Cone([1.0, 2.0, 3.0], [0.0, 0.0, -1.0], 45.0), [-inf, -inf, -inf], [inf, inf, 3.0]),
        (Cone([0.0, 0.0], [1.0, 1.0], 45.0 - 1e-9), [0.0, 0.0], [inf, inf]),
        (Cone([0.0, 0.0], [1.0, 1.0], 46.0), [-inf, -inf], [inf, inf]),
    ):
        assert np.array_equal(shape.bounds(), [low, high])


@pytest.mark.skipif(not load().COMPILED, reason="numba is not installed")
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("name", sorted(set(SHAPES) - {"box"}))
def test_compiled_gaps_and_normals_are_the_same(name, inside):
    shape, x = SHAPES[name](3, inside), points(3, 3, 300)
    x[0], x[1] = CENTER[3], np.array(CENTER[3]) + np.array(AXIS[3]) / 6
    surface, normal = shape.compiled(), np.empty(3)
    assert is_compiled(surface)
    for place, gap, expected in zip(x, shape.gap(x), shape.normal(x)):
        assert surface(place, normal) == pytest.approx(gap, abs=1e-14)
        np.testing.assert_allclose(normal, expected, rtol=0, atol=1e-13)


# -- unions


@given(SEED)
def test_union_is_the_nearest_member(seed):
    ball, can, floor = Sphere([0.5, 0.5, 0.0], 0.3), SHAPES["can"](3, True), Plane([0, 0, -1.0], [0, 0, 1.0])
    union, x = UnionObstacle([ball, can, floor]), points(seed, 3)
    assert [type(face) for face in union.faces] == [Sphere, Cylinder, Plane, Plane, Plane]
    assert not union.moving and not union.flat and UnionObstacle([floor]).flat
    gaps = np.array([each.gap(x) for each in (ball, can, floor)])
    assert np.array_equal(union.gap(x), gaps.min(axis=0))
    normals = np.array([each.normal(x) for each in (ball, can, floor)])
    assert np.array_equal(union.normal(x), normals[gaps.argmin(axis=0), np.arange(len(x))])
    assert not union.velocity(x, 0.0).any()
    pair = UnionObstacle([ball, Sphere([2.0, 0, 0], 0.5)])
    assert np.array_equal(pair.bounds(), [[0.2, -0.5, -0.5], [2.5, 0.8, 0.5]])


# -- signed distances


@given(SEED)
def test_ufl_numpy_and_the_shape_itself_agree(seed):
    """Also on a mesh of several ranks, evaluated by one of them alone."""
    ball, x = Sphere([0.1, 0.2, 0.3], 0.7), points(seed, 3)
    functions = [
        SignedDistance(lambda x: ufl.sqrt(ufl.dot(x - CENTER_UFL, x - CENTER_UFL)) - 0.7, 3),
        SignedDistance(lambda x: np.linalg.norm(x - ball.center, axis=1) - 0.7, 3),
        SignedDistance(lambda x: ball.gap(x), 3, gradient=lambda x: 5 * ball.normal(x)),
    ]
    if MPI.COMM_WORLD.rank == 0:
        for function, accuracy in zip(functions, (1e-14, 1e-7, 1e-14)):
            np.testing.assert_allclose(function.gap(x), ball.gap(x), rtol=0, atol=1e-14)
            np.testing.assert_allclose(function.normal(x), ball.normal(x), rtol=0, atol=accuracy)


CENTER_UFL = ufl.as_vector([0.1, 0.2, 0.3])


@pytest.fixture(scope="module")
def mesh():
    from dolfinx.mesh import create_unit_cube

    return create_unit_cube(MPI.COMM_WORLD, 2, 2, 2)


def test_the_box_as_an_expression_of_a_mesh_with_constants(mesh):
    from dolfinx.fem import Constant

    half = Constant(mesh, np.array([0.5, 0.3, 0.4]))
    y = ufl.as_matrix(np.array(SKEW[3]) / 3.0) * (ufl.SpatialCoordinate(mesh) - ufl.as_vector(CENTER[3]))
    q = [abs(y[i]) - half[i] for i in range(3)]
    outer = ufl.sqrt(sum(ufl.max_value(each, 0) ** 2 for each in q))
    shape = SignedDistance(outer + ufl.min_value(ufl.max_value(q[0], ufl.max_value(q[1], q[2])), 0), 3)
    box, x = SHAPES["box"](3, False), points(MPI.COMM_WORLD.rank, 3, 500)
    np.testing.assert_allclose(shape.gap(x), box.gap(x), rtol=0, atol=1e-14)
    # Within the box the slope of the root is 0/0 and found by differences.
    np.testing.assert_allclose(shape.normal(x), box.normal(x), rtol=0, atol=1e-7)
    half.value[:] = 4.0
    assert np.all(shape.gap(x) < 0)


X = [0.3, -0.7, 0.2]
ENTRIES = {
    "conditional": (
        lambda x: ufl.conditional(ufl.And(ufl.lt(x[0], 1), ufl.Not(ufl.ge(x[1], 0))), ufl.exp(x[2]), x[1]),
        np.exp(0.2),
    ),
    "other side": (lambda x: ufl.conditional(ufl.Or(ufl.gt(x[1], 0), ufl.eq(x[0], 9)), x[0], x[1]), -0.7),
    "angles": (
        lambda x: ufl.atan2(x[1], x[0]) + ufl.asin(x[0]) - ufl.acos(x[1]) + ufl.atan(x[2]),
        np.arctan2(-0.7, 0.3) + np.arcsin(0.3) - np.arccos(-0.7) + np.arctan(0.2),
    ),
    "waves": (
        lambda x: ufl.sin(x[0]) * ufl.cos(x[1]) + ufl.tan(x[2]),
        np.sin(0.3) * np.cos(-0.7) + np.tan(0.2),
    ),
    "growth": (
        lambda x: ufl.sinh(x[0]) + ufl.cosh(x[1]) * ufl.tanh(x[2]) + ufl.ln(x[0]) + ufl.erf(x[0]),
        np.sinh(0.3) + np.cosh(-0.7) * np.tanh(0.2) + np.log(0.3) + 0.3286267594591274,
    ),
    "tensors": (
        lambda x: ufl.tr(ufl.outer(x, x)) + ufl.cross(x, 2 * x)[1] + ufl.inner(x, x) / 2,
        1.5 * (0.09 + 0.49 + 0.04),
    ),
    "derivative": (lambda x: ufl.div(x * x[0] ** 3) + ufl.sign(x[1]), 3 * 0.3**3 + 3 * 0.3**3 - 1),
    "variable": (lambda x: ufl.variable(x[0]) ** 2 + ufl.det(ufl.Identity(3) + ufl.outer(x, x)), 0.09 + 1.62),
}


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_expressions_mean_what_ufl_says(name):
    function, value = ENTRIES[name]
    shape, x = SignedDistance(function, 3, probe=[X]), np.array([X, X])
    assert shape.gap(x) == pytest.approx(np.full(2, value), abs=1e-14)
    h = 1e-6
    slope = np.array([(shape.gap(x + d) - shape.gap(x - d))[0] / (2 * h) for d in h * np.eye(3)])
    np.testing.assert_allclose(shape.normal(x)[1], slope / np.linalg.norm(slope), rtol=0, atol=1e-8)


def test_a_signed_distance_without_slope_has_a_normal():
    shape = SignedDistance(lambda x: ufl.dot(x, x) - 1, 2)
    assert shape.normal(np.zeros((1, 2))).tolist() == [[1.0, 0.0]]


# -- motions


def wobbling(obstacle):
    d, rotation = obstacle.gdim, lambda t: 0.7 * np.sin(2 * t)
    return MovingObstacle(
        obstacle,
        translation=[(np.arange(1.0, d + 1), lambda t: 0.3 * t**2), (np.ones(d), np.cos)],
        rotation=rotation if d == 2 else ([1.0, 2.0, 2.0], rotation),
        center=0.5 * np.ones(d),
    )


def carried(d, x, t):
    """Where points of the obstacle are at t: the same motion by complex numbers or reflections."""
    y, angle = x - 0.5, 0.7 * np.sin(2 * t)
    if d == 2:
        turned = (y[:, 0] + 1j * y[:, 1]) * np.exp(1j * angle)
        y = np.column_stack([turned.real, turned.imag])
    else:  # two reflections, the angle between their mirrors half of the rotation's
        first = np.array([2.0, -2.0, 1.0]) / 3
        second = np.cos(angle / 2) * first + np.sin(angle / 2) * np.cross([1 / 3, 2 / 3, 2 / 3], first)
        for mirror in (first, second):
            y = y - 2 * np.outer(y @ mirror, mirror)
    return y + 0.5 + 0.3 * t**2 * np.arange(1.0, d + 1) + np.cos(t)


@given(SEED, ANY, st.floats(0.0, 3.0))
def test_motion_carries_gap_normal_and_faces(seed, which, t):
    name, gdim, inside = which
    shape, x = SHAPES[name](gdim, inside), points(seed, gdim)
    moving, there = wobbling(shape), carried(gdim, x, t)
    assert moving.moving and not moving.flat
    np.testing.assert_allclose(moving.gap(there, t), shape.gap(x), rtol=0, atol=1e-13)
    tip = carried(gdim, x + shape.normal(x), t)
    smooth = np.linalg.norm(shape.normal(x + 1e-7) - shape.normal(x - 1e-7), axis=1) < 1e-3
    np.testing.assert_allclose(moving.normal(there, t)[smooth], (tip - there)[smooth], rtol=0, atol=1e-8)
    assert len(moving.faces) == len(shape.faces)
    assert all(face.moving and not face.flat for face in moving.faces)
    gaps = np.array([face.gap(there, t) for face in moving.faces])
    np.testing.assert_allclose(gaps.min(axis=0), shape.gap(x), rtol=0, atol=1e-13)


@given(SEED, st.sampled_from([2, 3]), st.floats(0.1, 3.0), st.booleans())
def test_velocity_is_that_of_material_points(seed, gdim, t, nested):
    x, h = points(seed, gdim), 1e-5
    moving = wobbling(SHAPES["box"](gdim, True))
    path = lambda t: carried(gdim, x, t)  # noqa: E731
    if nested:
        moving = MovingObstacle(moving, translation=lambda t: np.full(gdim, np.sin(3 * t)))
        path = lambda t: carried(gdim, x, t) + np.sin(3 * t)  # noqa: E731
    expected = (path(t + h) - path(t - h)) / (2 * h)
    for each in (moving, *moving.faces, UnionObstacle([moving])):
        np.testing.assert_allclose(each.velocity(path(t), t), expected, rtol=0, atol=2e-6)


def test_rates_that_are_given_are_exact():
    wheel = MovingObstacle(
        Sphere([0.0, 0.0], 0.1),
        translation=((2.0, 0.0), np.sin),
        rotation=lambda t: t**2,
        center=(0.0, 0.0),
        translation_rate=lambda t: [2 * np.cos(t), 0.0],
        rotation_rate=lambda t: 2 * t,
    )
    x = np.array([[2 * np.sin(1.5), 0.1]])
    np.testing.assert_allclose(wheel.velocity(x, 1.5), [[2 * np.cos(1.5) - 0.3, 0.0]], rtol=0, atol=1e-15)


def test_records_move_obstacles_from_their_first_to_their_last_sample():
    """Differences take no value before or after: linear records have their slope at both ends."""
    record = signals.Signal(0.5, [0.0, 1.0, 3.0], unit="m")
    table = MovingObstacle(Plane([0.0, 0.0], [0.0, 1.0]), translation=((0.0, 1.0), record))
    assert table.flat and table.moving and table.faces == (table,)
    x = np.array([[5.0, 3.0]])
    for t, velocity in ((0.0, 2.0), (0.25, 2.0), (0.75, 4.0), (1.0, 4.0)):
        assert table.velocity(x, t) == pytest.approx(np.array([[0.0, velocity]]), rel=1e-6)
    assert table.gap(x, 1.0) == pytest.approx([0.0])
    assert np.array_equal(table.bounds(1.0), [[-np.inf, -np.inf], [np.inf, 3.0]])


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0])
def test_differences_follow_fast_motions(scale):
    moving = MovingObstacle(Sphere([0.0], 1.0), translation=lambda t: [np.sin(t / scale)], time_scale=scale)
    velocity = moving.velocity(np.zeros((1, 1)), 3 * scale)
    assert velocity * scale == pytest.approx(np.array([[np.cos(3.0)]]), abs=1e-9)


@given(SEED, ANY, st.floats(0.0, 3.0))
def test_bounds_move(seed, which, t):
    name, gdim, inside = which
    moving, x = wobbling(SHAPES[name](gdim, inside)), points(seed, gdim, 400, 5.0)
    low, high = moving.bounds(t)
    outside = np.any((x < low) | (x > high), axis=1)
    assert np.all(moving.gap(x, t)[outside] > 0)
    assert np.all(np.isfinite([low, high])) or inside or name in ("cylinder", "cone")


# -- errors


def raises(x):
    raise RuntimeError("no value here")


BALL = Sphere([0.0, 0.0, 0.0], 1.0)
WRONG = {
    "the radius must be positive": lambda: Cylinder([0, 0, 0], [0, 0, 1], 0.0),
    "the length must be positive": lambda: Cylinder([0, 0, 0], [0, 0, 1], 1.0, length=-1.0),
    "the axis of a cylinder must be 3 numbers, not all zero": lambda: Cylinder([0, 0, 0], [0, 0, 0], 1.0),
    "the axis of a cone must be 3 numbers": lambda: Cone([0, 0, 0], [0, 1], 10.0),
    "a cone has 2 or 3 directions": lambda: Cone([0], [1], 10.0),
    "a cylinder needs a finite point of its axis": lambda: Cylinder([0, np.nan, 0], [0, 0, 1], 1.0),
    "half angle .* between 0 and 90 degrees, but is 0": lambda: Cone([0, 0, 0], [0, 0, 1], 0.0),
    "half angle .* between 0 and 90 degrees, but is 90": lambda: Cone([0, 0, 0], [0, 0, 1], 90.0),
    "half angle .* but is nan": lambda: Cone([0, 0, 0], [0, 0, 1], np.nan),
    "the height must be positive": lambda: Cone([0, 0, 0], [0, 0, 1], 30.0, height=0.0),
    "minor radius 1.0 of a torus must be below .* 1.0": lambda: Torus([0, 0, 0], [0, 0, 1], 1.0, 1.0),
    "the minor radius must be positive": lambda: Torus([0, 0, 0], [0, 0, 1], 1.0, 0.0),
    "a torus needs a finite point": lambda: Torus([0, 0, np.inf], [0, 0, 1], 1.0, 0.5),
    "a box needs a finite center": lambda: Box("here", [1, 1]),
    "must be 2 positive lengths": lambda: Box([0, 0], [1, -1]),
    "must be 2 rows at right angles": lambda: Box([0, 0], [1, 1], axes=[[1, 0], [1, 1]]),
    "must be 3 rows at right angles": lambda: Box([0, 0, 0], [1, 1, 1], axes=[[1, 0], [0, 1]]),
    "needs low < high in every direction": lambda: Box.between([0, 0], [1, 0]),
    "the cylinder has 3 directions, the body 2": lambda: SHAPES["can"](3, True).gap(np.ones((1, 2))),
    "the box has 2 directions, the body 3": lambda: Box([0, 0], [1, 1]).normal(np.ones((1, 3))),
    "the plane has 2 directions, the body 3": lambda: Plane([0, 0], [1, 1]).gap(np.ones((1, 3))),
    "the signed distance has 2 directions, the body 3": (
        lambda: SignedDistance(lambda x: ufl.dot(x, x) - 1, 2).gap(np.ones((1, 3)))
    ),
    r"all in 1, 2 or 3 directions, not in \[\]": lambda: UnionObstacle([]),
    r"not in \[2, 3\]": lambda: UnionObstacle([BALL, Sphere([0, 0], 1)]),
    "has 1, 2 or 3 directions, not 4": lambda: SignedDistance(lambda x: x[:, 0], 4),
    "a function of x or a UFL expression, not 3": lambda: SignedDistance(3, 2),
    r"the signed distance at x of shape \(4, 3\) must have shape \(4,\), not \(4, 1\)": (
        lambda: SignedDistance(lambda x: x[:, :1], 3)
    ),
    r"the gradient at x of shape \(4, 3\) must have shape \(4, 3\)": (
        lambda: SignedDistance(lambda x: x[:, 0], 3, gradient=lambda x: x[:, 0])
    ),
    r"signed distance is not finite at x = \[0.0, 0.0\]": (
        lambda: SignedDistance(lambda x: np.where(x.any(axis=1), 1.0, np.nan), 2)
    ),
    "signed distance fails .* RuntimeError: no value here": lambda: SignedDistance(raises, 2),
    "gradient fails .* no value here": lambda: SignedDistance(lambda x: x[:, 0], 2, gradient=raises),
    "own gradient": lambda: SignedDistance(lambda x: ufl.dot(x, x), 2, gradient=raises),
    r"is a scalar, but the expression has shape \(2,\)": lambda: SignedDistance(lambda x: 2 * x, 2),
    "does not depend on x": lambda: SignedDistance(lambda x: ufl.as_ufl(1.0), 2),
    r"probe must be points of shape \(p, 2\)": lambda: SignedDistance(lambda x: x[0], 2, probe=[1, 2]),
    "length over which the shape bends must be positive": lambda: SignedDistance(raises, 2, length=0.0),
    "needs a translation or a rotation": lambda: MovingObstacle(BALL),
    "a rotation needs its center": lambda: MovingObstacle(BALL, rotation=((0, 0, 1), np.sin)),
    "a rotation in 3D needs its axis": lambda: MovingObstacle(BALL, rotation=np.sin, center=(0, 0, 0)),
    "the axis of a rotation must be 3 numbers": (
        lambda: MovingObstacle(BALL, rotation=((0, 0, 0), np.sin), center=(0, 0, 0))
    ),
    "nothing turns on a line": lambda: MovingObstacle(Sphere([0.0], 1.0), rotation=np.sin, center=[0.0]),
    "center must be 3 numbers": lambda: MovingObstacle(BALL, rotation=((0, 0, 1), np.sin), center=(0, 0)),
    "direction of a translation must be 3 numbers": lambda: MovingObstacle(
        BALL, translation=((0, 1), np.sin)
    ),
    r"give \(direction, signal\)": lambda: MovingObstacle(BALL, translation=((0, 0, 1), 3.0)),
    "the translation at t = 0 must be 3 numbers": lambda: MovingObstacle(BALL, translation=lambda t: [t, t]),
    "the translation_rate at t = 0 must be 3": (
        lambda: MovingObstacle(BALL, translation=((0, 0, 1), np.sin), translation_rate=np.cos)
    ),
    "one finite number for a time": lambda: MovingObstacle(BALL, translation=((0, 0, 1), lambda t: np.nan)),
    "a rate is given of a motion that is not": (
        lambda: MovingObstacle(BALL, translation=((0, 0, 1), np.sin), rotation_rate=np.cos)
    ),
    "time_scale must be a positive time": (
        lambda: MovingObstacle(BALL, translation=((0, 0, 1), np.sin), time_scale=0.0)
    ),
    "the moving obstacle has 3 directions, the body 2": (
        lambda: MovingObstacle(BALL, translation=((0, 0, 1), np.sin)).gap(np.ones((1, 2)))
    ),
}


@pytest.mark.parametrize("words", WRONG)
def test_bad_obstacles_are_refused(words):
    with pytest.raises(ValueError, match=words):
        WRONG[words]()


def test_expressions_of_other_things_than_places_are_refused(mesh):
    x = ufl.SpatialCoordinate(mesh)
    with pytest.raises(ValueError, match="contains FacetNormal, which has no value at any place"):
        SignedDistance(ufl.dot(x, ufl.FacetNormal(mesh)), 3)
    with pytest.raises(ValueError, match="the expression has 3 directions, but gdim is 2"):
        SignedDistance(x[0], 2)


def test_a_distance_that_ends_somewhere_is_tried_where_it_is_known():
    def known(x):
        if np.any(x < 1):
            raise IndexError("out of the table")
        return x[:, 0] - 2

    with pytest.raises(ValueError, match="IndexError: out of the table"):
        SignedDistance(known, 2)
    shape = SignedDistance(known, 2, probe=[[3.0, 3.0]])
    assert shape.gap(np.array([[2.5, 1.5]])).tolist() == [0.5]

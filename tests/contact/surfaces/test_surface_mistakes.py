"""Input that contact of surfaces refuses, in words."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from support.surfaces import COMM, LAW, box, layers

import dolfinx_impact as di


def body(mesh=None, **options):
    return di.Solid(mesh or layers(3, 2), law=LAW, density=1.0, **options)


def contact(*names, mesh=None, solid=None, **options):
    return di.SurfaceContact(body(mesh, **solid or {}), *(names or ("upper/bottom", "lower/top")), **options)


@pytest.mark.parametrize(
    "names, message",
    [
        (("upper/bottom", "upper/nothing"), "named 'upper/nothing'"),
        (("upper/bottom", "upper/bottom"), "named twice"),
        (("upper/bottom", "upper/boundary"), "facets of another surface|share nodes"),
        (("upper/top", "lower/bottom"), "face away from each other"),
    ],
)
def test_names(names, message):
    with pytest.raises(ValueError, match=message):
        contact(*names)


def test_surfaces_with_common_nodes():
    mesh = box([3, 3], [0.0, 0.0], [1.0, 1.0])
    side = dmesh.locate_entities_boundary(mesh.mesh, 1, lambda x: np.isclose(x[0], 1.0))
    top = dmesh.locate_entities_boundary(mesh.mesh, 1, lambda x: np.isclose(x[1], 1.0))
    facets = np.concatenate([side, top])
    order, tags = np.argsort(facets), np.repeat([1, 2], [side.size, top.size]).astype(np.int32)
    tags = dmesh.meshtags(mesh.mesh, 1, facets[order], tags[order])
    named = di.NamedMesh(mesh.mesh, None, tags, {"side": (1, 1), "top": (1, 2)})
    with pytest.raises(ValueError, match="'side' and 'top' share nodes: give surfaces of different"):
        contact("side", "top", mesh=named)


def test_an_interior_surface():
    mesh = box([2, 2], [0.0, 0.0], [1.0, 1.0])
    inner = np.sort(dmesh.locate_entities(mesh.mesh, 1, lambda x: np.isclose(x[0], 0.5)))
    tags = dmesh.meshtags(mesh.mesh, 1, inner, np.ones(inner.size, np.int32))
    named = di.NamedMesh(mesh.mesh, None, tags, {"inner": (1, 1)})
    joined = di.mesh.join({"one": named, "two": box([2, 2], [2.0, 0.0], [3.0, 1.0])})
    with pytest.raises(ValueError, match="'one/inner' has no facets on the outside"):
        contact("one/inner", "two/top", mesh=joined)


def test_overlap_at_the_start_names_the_deepest_point():
    with pytest.raises(ValueError, match=r"the deepest at \(.*\) m, 0.0\d+ m inside"):
        contact("upper/boundary", "lower/boundary", mesh=layers(3, 2, gap=-0.02))
    assert contact(mesh=layers(3, 2, gap=-0.02), allow_penetration=True).total > 0


def test_both_sides_fixed():
    with pytest.raises(ValueError, match="all nodes of both surfaces are fixed"):
        contact(solid={"fixed": ["upper/bottom", "lower/top"]})


def test_bodies_of_other_kinds():
    with pytest.raises(ValueError, match="must be the body, a Solid"):
        di.SurfaceContact(di.PointMasses([1.0, 1.0]), "a", "b")
    line = dmesh.create_interval(COMM, 4, [0.0, 1.0])
    named = di.mesh.join({"a": line, "b": dmesh.create_interval(COMM, 4, [2.0, 3.0])})
    with pytest.raises(ValueError, match="surfaces of bodies on a line are points"):
        contact("a/boundary", "b/boundary", mesh=named)


@pytest.mark.parametrize(
    "option", [{"friction": 0.1}, {"restitution": 0.5}, {"drift_correction": True}, {"touching": False}]
)
def test_a_tie_has_no_further_options(option):
    with pytest.raises(ValueError, match="a tie has neither friction nor restitution"):
        contact(tie=True, **option)


def test_a_tie_of_surfaces_that_are_far_apart():
    with pytest.raises(ValueError, match="nothing to tie"):
        contact(tie=True, mesh=layers(3, 2, gap=5.0))


@pytest.mark.parametrize(
    "option, message",
    [
        ({"friction": -0.1}, "at least 0"),
        ({"restitution": 1.5}, r"\[0, 1\]"),
        ({"drift_correction": 2.0}, "drift_correction|correction"),
        ({"tie": "yes"}, "tie"),
    ],
)
def test_coefficients_out_of_range(option, message):
    with pytest.raises((ValueError, TypeError), match=message):
        contact(**option)


@pytest.mark.parametrize("name", ["dep-4.1", "dep-4.3", "dep-4.4", "paoli-schatzman", "carpenter"])
def test_schemes_without_contact_of_surfaces(name):
    made = contact()
    with pytest.raises(ValueError, match="does not take contact of surfaces"):
        di.SCHEMES[name].make(made.body, 1e-4, contact=made)


def trio(depth=0.0):
    """a and b side by side under c, which sinks into both by a depth."""
    parts = {
        "a": box([2, 2], [0.0, 0.0], [0.4, 0.5]),
        "b": box([3, 2], [0.4, 0.0], [1.0, 0.5]),
        "c": box([4, 2], [0.0, 0.5 - depth], [1.0, 1.0]),
    }
    return body(di.mesh.join(parts))


def test_three_touching_parts_have_a_contact_for_each_pair():
    """Nodes of b on c do not lie in the way of a and b."""
    solid = trio()
    pairs = [
        di.SurfaceContact(solid, f"{one}/boundary", f"{other}/boundary", friction=mu)
        for one, other, mu in (("a", "b", 0.1), ("a", "c", 0.2), ("b", "c", 0.3))
    ]
    s = di.CDLagrange(solid, 0.5 * solid.critical_time_step(), contact=pairs)
    s.start(0.0, 0.0)
    assert s.contact.frictions.max() == 0.3


def test_overlaps_of_three_parts_are_those_of_the_pair():
    solid = trio(depth=0.2)
    assert di.SurfaceContact(solid, "a/boundary", "b/boundary").total > 0
    for part in "ab":
        with pytest.raises(ValueError, match=r", 0\.2 m inside"):
            di.SurfaceContact(solid, f"{part}/boundary", "c/boundary")


def ball(lift, radius=5e-3, n=40):
    mesh = dmesh.create_rectangle(COMM, [[-1.0, -1.0], [1.0, 1.0]], [n, n], dmesh.CellType.quadrilateral)
    s, t = mesh.geometry.x[:, :2].T.copy()
    mesh.geometry.x[:, 0] = radius * s * np.sqrt(1 - t * t / 2)
    mesh.geometry.x[:, 1] = radius * (1 + t * np.sqrt(1 - s * s / 2)) + lift
    return mesh


@pytest.mark.parametrize("lift, depth", [(0.0, None), (1e-9, None), (-1e-7, "1e-07"), (-3e-3, "0.003")])
def test_a_ball_that_touches_with_one_node(lift, depth):
    """The next nodes are 3e-5 m off the axis and less than 1e-6 m from the plate: they are outside."""
    plate = box([400, 4], [-6e-3, -2e-3], [6e-3, 0.0])
    mesh = di.mesh.join({"ball": ball(lift), "plate": plate})
    if depth is None:
        assert contact("ball/boundary", "plate/boundary", mesh=mesh).total > 0
    else:
        with pytest.raises(ValueError, match=f", {depth} m inside"):
            contact("ball/boundary", "plate/boundary", mesh=mesh)


def test_the_depth_in_a_large_facet_beside_many_small_ones():
    """The floor's facet has its centre farther away than a hundred facets of a part that floats above it."""
    mesh = di.mesh.join(
        {
            "floor": box([1, 1, 1], [0.0, 0.0, 0.0], [10.0, 10.0, 1.0], "hexahedron"),
            "small": box([1, 1, 1], [8.9, 8.9, 0.7], [9.2, 9.2, 1.1], "hexahedron"),
            "fine": box([4, 4, 4], [5.0, 5.0, 1.5], [8.0, 8.0, 3.0], "hexahedron"),
        }
    )
    body = di.Solid(mesh, density=1.0, law=di.LinearElastic(1.0, 0.3))
    with pytest.raises(ValueError, match=r"deepest at \(9\.\d, 9\.\d, 0\.7\) m, 0\.3 m inside"):
        di.SurfaceContact(body)

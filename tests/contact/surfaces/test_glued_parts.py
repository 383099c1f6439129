"""Parts that a tie glues to each other, and contact of everything with everything beside it."""

import numpy as np
import pytest
from support.surfaces import LAW, anywhere, box, largest, total

import dolfinx_impact as di


def glued(kind, cells, *, whole, third=False):
    """A block on a wider plate, glued to the whole top of the plate or to the facets below alone."""
    d = 2 if kind in ("quadrilateral", "triangle") else 3
    n = d - 1

    def below(x):
        aside = np.abs(x[:n]).max(axis=0) < 0.5 + 1e-9
        return aside & np.isclose(x[n], 0.0)

    plate = box([8] * n + [1], [-1.0] * n + [-0.2], [1.0] * n + [0.0], kind)
    block = box([cells] * n + [2], [-0.5] * n + [0.0], [0.5] * n + [0.4], kind)
    parts = {"plate": di.named(plate, below=below), "block": block}
    if third:
        parts["third"] = box([2] * d, [-0.3] * n + [0.43], [0.7] * n + [0.7], kind)
    return di.mesh.join(parts), ("plate/top" if whole else "plate/below", "block/bottom")


def steps(body, contact, u, v, count):
    s = di.CDLagrange(body, 0.3 * body.critical_time_step(), contact=contact)
    s.start(u, v)
    for _ in range(count):
        s.step()
    return s


CASES = [
    ("quadrilateral", 3, 1, False),
    ("quadrilateral", 3, 2, True),
    ("triangle", 3, 2, False),
    ("hexahedron", 3, 1, False),
    ("hexahedron", 3, 1, True),
    ("tetrahedron", 2, 1, False),
]


BOTH = ("plate/boundary", "block/boundary")
#: Surfaces and options of the contact beside the tie.
BESIDE = [((), {}), ((), {"skin": 0.01}), (BOTH, {"friction": 0.3}), (BOTH, {"swept": True, "skin": 0.01})]


@pytest.mark.mpi
@pytest.mark.parametrize("surfaces, options", BESIDE)
@pytest.mark.parametrize("kind, cells, degree, whole", CASES)
def test_nothing_acts_between_glued_parts(kind, cells, degree, whole, surfaces, options):
    """Neither within what is glued nor at its rim: the parts move as with the tie alone."""
    mesh, names = glued(kind, cells, whole=whole)
    body = di.Solid(mesh, law=LAW, density=1.0, degree=degree)

    def shaking(x):
        waves = np.sin(7.0 * x[: body.gdim] + 3.0 * x[[1, 0, 2][: body.gdim]])
        return 0.02 * waves

    contact = di.SurfaceContact(body, *surfaces, **options)
    s = steps(body, [di.SurfaceContact(body, *names, tie=True), contact], 0.0, shaking, 60)
    alone = steps(body, di.SurfaceContact(body, *names, tie=True), 0.0, shaking, 60)
    assert largest(s.u) > 1e-3
    assert largest(s.u - alone.u) < 1e-13 * largest(s.u)
    said = contact.certificate()
    assert said.added == said.inside == said.together == 0 and said.skin_used <= 0.0


@pytest.mark.mpi
@pytest.mark.parametrize("kind", ["quadrilateral", "hexahedron"])
def test_a_skin_beside_a_tie(kind):
    """A third part hits the glued block and does not touch it; without the tie the skins overlap."""
    mesh, names = glued(kind, 3, whole=False, third=True)
    body = di.Solid(mesh, law=LAW, density=1.0)
    tie, everything = di.SurfaceContact(body, *names, tie=True), di.SurfaceContact(body, skin=0.01)
    direction = np.eye(body.gdim)[-1]
    v = body.rigid_velocity(-0.05 * direction, cells="third")
    s = steps(body, [tie, everything], 0.0, v, 120)
    said = everything.certificate()
    assert 0.0 < said.skin_used < 1.0 and said.inside == 0
    assert anywhere(s.v > 1e-3)
    ends, begins = (
        (body.mass[: body.owned] * each[: body.owned]).reshape(-1, body.gdim).sum(axis=0) for each in (s.v, v)
    )
    assert total(ends) == pytest.approx(total(begins), rel=1e-12, abs=1e-14)

    alone = di.CDLagrange(body, s.dt, contact=di.SurfaceContact(body, skin=0.01))
    with pytest.raises(ValueError, match="contains nodes of the parts at the start, the deepest at"):
        alone.start(0.0, v)


@pytest.mark.mpi
@pytest.mark.parametrize("kind", ["quadrilateral", "tetrahedron"])
def test_what_is_named_in_a_tie_and_not_glued_is_in_contact(kind):
    """The tie of whole boundaries glues what faces each other: the top of the block may meet the plate."""
    mesh, _ = glued(kind, 3, whole=True)
    body = di.Solid(mesh, law=LAW, density=1.0)
    tie = di.SurfaceContact(body, "plate/boundary", "block/boundary", tie=True)
    contact = di.SurfaceContact(body)
    di.CDLagrange(body, 1e-3, contact=[tie, contact]).start(0.0, 0.0)
    facets = contact.facets
    centre = facets.x[facets.nodes].mean(axis=1)
    aside, height = np.abs(centre[:, :-1]).max(axis=1), centre[:, -1]
    of_plate = np.isclose(height, 0.0) & (contact.assembly.roles.body_part == _part(contact, -0.2))
    glued_below, beside = np.flatnonzero(of_plate & (aside < 0.5)), np.flatnonzero(of_plate & (aside > 0.8))
    below = np.isclose(height, 0.0) & (contact.assembly.roles.body_part == _part(contact, 0.4))
    (k, *_), (top, *_) = np.flatnonzero(below), np.flatnonzero(np.isclose(height, 0.4))
    every = contact.assembly.glued.pairs
    assert every(np.full(glued_below.size, k), glued_below).all()
    for facet in (top, k):
        assert not every(np.full(beside.size, facet), beside).any()


@pytest.mark.mpi
@pytest.mark.parametrize("options", [{}, {"allow_penetration": True, "swept": True}])
@pytest.mark.parametrize("surfaces", [(), BOTH])
@pytest.mark.parametrize("kind", ["quadrilateral", "hexahedron"])
def test_a_contact_that_stood_beside_a_tie_acts_without_it(kind, surfaces, options):
    """Another scheme takes it alone: what was glued meets, as with a contact that never stood beside it."""
    mesh, names = glued(kind, 3, whole=False)
    body = di.Solid(mesh, law=LAW, density=1.0)
    v = body.rigid_velocity(-0.05 * np.eye(body.gdim)[-1], cells="block")
    tie, contact = (di.SurfaceContact(body, *names, tie=True), di.SurfaceContact(body, *surfaces, **options))
    beside = steps(body, [tie, contact], 0.0, v, 20)
    apart = steps(body, contact, 0.0, v, 20)
    new = steps(body, di.SurfaceContact(body, *surfaces, **options), 0.0, v, 20)
    assert largest(new.v - v) > 1e-3
    assert np.array_equal(apart.u, new.u) and np.array_equal(apart.r, new.r)
    if contact.swept:
        assert contact.certificate() == new.contact.certificate()
    # Two schemes that are made before either of them starts.
    both = [di.CDLagrange(body, new.dt, contact=each) for each in ([tie, contact], contact)]
    for s, as_before in zip(both, (beside, new)):
        s.start(0.0, v)
        for _ in range(20):
            s.step()
        assert np.array_equal(s.u, as_before.u)


def _part(contact, height):
    """The part of a facet at that height."""
    facets = contact.facets
    at = np.isclose(facets.x[facets.nodes][..., -1], height).all(axis=1)
    return contact.assembly.roles.body_part[np.flatnonzero(at)[0]]

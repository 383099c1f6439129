"""Surfaces and ties in steps far above the critical one: position under the stiffness, then Newton's law."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.surfaces import (
    COMM,
    LAW,
    RUBBER,
    against_each_other,
    anywhere,
    box,
    discs,
    largest,
    layers,
    momenta,
    total,
)

import dolfinx_impact as di
from dolfinx_impact import checkpoint
from dolfinx_impact.algebra.complementarity import NotConverged

QUADRILATERAL = dmesh.CellType.quadrilateral


def started(body, contact, *, dt=1.0, v0=0.0, theta=1.0):
    s = di.MoreauJean(body, dt, theta=theta, contact=contact, position=True)
    s.start(0.0, v0)
    return s


def ramp(end, since=0.0, until=1.0):
    return lambda t: end * np.clip((t - since) / (until - since), 0.0, 1.0)


def pressed(mesh, down, along=0.0, law=RUBBER, **options):
    """Without weight to speak of: pressed down in 4 steps of 1 s, then moved along in 2."""
    d = mesh.mesh.geometry.dim
    top = {0: ramp(along, 4.0, 6.0), **{k: ramp(0.0) for k in range(1, d - 1)}, d - 1: ramp(-down, 0.0, 4.0)}
    options = {"fixed": ["lower/bottom"], **options}
    return di.Solid(mesh, law=law, density=1e-6, prescribed={"upper/top": top}, **options)


def deepest(s):
    gap = s.gap()
    return -COMM.allreduce(float(gap[np.isfinite(gap)].min(initial=0.0)), op=MPI.MIN)


def at_nodes(body, u):
    return body.x[: body.owned // body.block], u[: body.owned].reshape(-1, body.block)


def columns(cells, comm=COMM, **options):
    """Two columns with other meshes, one on the other, on rollers at the bottom and at a side."""
    made = {}
    for name, n, low in (("upper", cells[0], 0.5), ("lower", cells[1], 0.0)):
        made[name] = di.named(
            dmesh.create_rectangle(comm, [(0.0, low), (1.0, low + 0.5)], n, QUADRILATERAL),
            side=lambda x: np.isclose(x[0], 0.0),
            top=lambda x, y=low + 0.5: np.isclose(x[1], y),
            bottom=lambda x, y=low: np.isclose(x[1], y),
        )
    return di.Solid(
        di.mesh.join(made),
        law=RUBBER,
        density=1e-6,
        fixed={"upper/side": (0,), "lower/side": (0,), "lower/bottom": (1,)},
        prescribed={"upper/top": {1: ramp(-0.3, 0.0, 5.0)}},
        **options,
    )


@pytest.mark.parametrize("hypothesis", [{}, {"hypothesis": "axisymmetric"}])
def test_patch_of_other_meshes_is_uniform(hypothesis):
    """Compressed by 30 % over a straight interface, the two are one piece with one deformation."""
    body = columns([(3, 2), (4, 3)], **hypothesis)
    s = started(body, di.SurfaceContact(body, "upper/bottom", "lower/top"))
    for _ in range(7):
        s.step()
        assert s.iterations <= 10
    X, u = at_nodes(body, s.u)
    assert s.halved.halved == 0 and deepest(s) <= 1e-14
    assert np.abs(u[:, 1] + 0.3 * X[:, 1]).max() <= 1e-10
    widening = largest(u[:, 0])
    assert np.abs(u[:, 0] - widening * X[:, 0]).max() <= 1e-10 < widening


def test_what_sticks_is_one_piece():
    """Matching meshes, pressed and then sheared: that of one mesh, without slip."""
    body = pressed(layers(3, 3, gap=0.0, parts=2), 0.03, along=0.01)
    one = di.Solid(
        box([3, 4], [0.0, -0.1], [1.0, 0.1]),
        law=RUBBER,
        density=1e-6,
        fixed=["bottom"],
        prescribed={"top": {0: ramp(0.01, 4.0, 6.0), 1: ramp(-0.03, 0.0, 4.0)}},
    )
    a = started(body, di.SurfaceContact(body, "upper/bottom", "lower/top", friction=2.0))
    b = di.MoreauJean(one, 1.0, theta=1.0, mass="lumped")
    b.start(0.0, 0.0)
    for _ in range(7):
        a.step()
        b.step()
    assert a.u.reshape(-1, 2) == pytest.approx(matched(body, one, b.u), abs=1e-10)


def matched(body, one, u):
    """Displacements of one mesh at the nodes of a body of several."""
    place = {tuple(x): each for x, each in zip(np.round(one.x, 9) + 0.0, u.reshape(-1, one.gdim))}
    return np.array([place[tuple(x)] for x in np.round(body.x, 9) + 0.0])


KINDS = [
    ("quadrilateral", 1, 0.3),
    ("triangle", 2, 0.0),
    pytest.param("tetrahedron", 1, 0.0, marks=pytest.mark.slow),
    pytest.param("hexahedron", 1, 0.3, marks=pytest.mark.slow),
    pytest.param("tetrahedron", 1, 0.3, marks=pytest.mark.slow),
    pytest.param("quadrilateral", 2, 0.3, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("kind, degree, friction", KINDS)
def test_parts_pressed_and_dragged(kind, degree, friction):
    """Nothing is inside, laws hold for R and P, forces balance, few iterations."""
    solid = kind[0] in "ht" and kind != "triangle"
    body = pressed(
        layers(*((2, 2) if solid else (3, 4)), kind, parts=1 + (not solid)), 0.02, 0.02, degree=degree
    )
    s = started(body, di.SurfaceContact(body, "upper/bottom", "lower/top", friction=friction))
    for _ in range(6):
        s.step()
        assert s.iterations <= 10 and deepest(s) <= 1e-14
        assert s.r.min() >= 0.0 and s.r_position.min() >= 0.0
        if friction:
            for r, r_t in ((s.r, s.r_t), (s.r_position, s.r_t_position)):
                assert (np.linalg.norm(r_t, axis=1) <= friction * r * (1 + 1e-9) + 1e-15).all()
    assert s.halved.halved == 0
    pressing = total(s.r_position.sum())
    assert pressing > 0.1 and total(s.r.sum()) == pytest.approx(pressing, rel=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:surfaces move by")
@pytest.mark.parametrize("law, theta, friction", [(LAW, 0.5, 0.0), (RUBBER, 1.0, 0.3)])
def test_discs_collide(law, theta, friction):
    """At 20 critical steps: momentum to round-off, the balance closes, energies by sums do not grow."""
    body = di.Solid(discs(), law=law, density=1.0)
    contact = di.SurfaceContact(
        body, "upper/boundary", "lower/boundary", friction=friction, allow_penetration=True
    )
    v0 = against_each_other(body, 0.05)
    s = started(body, contact, dt=20 * body.critical_time_step(), v0=v0, theta=theta)
    balance = s.balance()
    balance.start()
    start, scale = momenta(s)
    first = balance.kinetic + balance.complementary
    hits = 0
    for _ in range(12):
        s.step()
        balance.step()
        hits += anywhere(s.r > 0)
        done = balance.kinetic + balance.complementary + balance.internal_work + balance.dissipated
        assert abs(done - balance.external - balance.contact - first) <= 1e-12 * first
        assert np.abs(momenta(s)[0] - start)[:2].max() <= 1e-12 * scale
        mine = total(0.5 * np.sum((body.mass * s.v**2)[: body.owned]) + body.stored_energy(s.u))
        assert mine <= 1.02 * first and deepest(s) <= 1e-13
    assert hits >= 2


# -- derivatives


@pytest.mark.parametrize(
    "kind, friction", [("quadrilateral", 0.3), pytest.param("hexahedron", 0.0, marks=pytest.mark.slow)]
)
def test_derivatives_are_those_of_gaps_slips_and_forces(kind, friction):
    """Against central differences in one dof after the other."""
    cells = (2, 3) if kind == "hexahedron" else (3, 4)
    mesh = layers(*cells, kind, parts=1, wide=0.9)
    body = pressed(mesh, 0.02, 0.01)
    s = started(body, di.SurfaceContact(body, "upper/bottom", "lower/top", friction=friction))
    for _ in range(5):
        s.step()
    solver, contact = s.step_solver._contact, s.contact
    # From a step that has not ended, at a place where nothing is flat.
    s.u_before[:] = s.u
    s.v[: body.owned] += (
        1e-3 * body.length * np.random.default_rng(1).uniform(-1, 1, body.owned) * ~body.constrained
    )
    looked = solver.look(s.step_solver._diagonal)
    looked.tangents = looked.tangents.copy()
    which = np.flatnonzero(np.isfinite(looked.gap))
    each = 1 + looked.tangents.shape[1]
    R = np.random.default_rng(2).uniform(0.5, 1.0, each * which.size)
    B, G, K = solver._rows(which, looked, R)
    u, step = s.end_position().copy(), 1e-7 * body.length
    measured = []
    for sign in (1.0, -1.0):
        found = []
        for dof in np.flatnonzero(~body.constrained):
            moved = u.copy()
            moved[dof] += sign * step
            state = contact.at(moved, s.v, s.t, every=True)
            n = state.bases[which, :1]
            t = looked.tangents[which]
            t = t - np.einsum("pjk,plk->pj", t, n)[:, :, None] * n
            slip = np.einsum("pjk,pk->pj", t, state.L.at_points(moved - s.u_before)[which])
            rows = state.L.rows(which, t, solver._free, solver._global, solver._all)
            found.append(np.concatenate([np.column_stack([state.gap[which], slip]).ravel(), rows.T @ R]))
        measured.append(np.array(found))
    slopes = (measured[0] - measured[1]).T / (2 * step)
    free = np.flatnonzero(~body.constrained)
    m = each * which.size
    assert np.abs(G.toarray()[:, free] - slopes[:m]).max() <= 1e-4 * np.abs(slopes[:m]).max()
    K = K.toarray()[:, free] / s.position_sensitivity
    assert np.abs(K - slopes[m:]).max() <= 1e-3 * np.abs(slopes[m:]).max()
    assert np.abs(G - B).max() > 1e-3 and np.abs(K).max() > 0.0


# -- ties, lists, rows that depend on each other


@pytest.mark.parametrize("floor", [False, True])
def test_a_tied_bar_is_one_bar(floor):
    """Alone, and beside a contact that is closed."""
    body = di.Solid(layers(3, 3, gap=0.0, parts=3), law=LAW, density=1.0)
    one = di.Solid(box([3, 6], [0.0, -0.1], [1.0, 0.1]), law=LAW, density=1.0)
    runs = []
    for solid, bottom in ((body, "lower/bottom"), (one, "bottom")):
        contacts = [di.SurfaceContact(body, "upper/bottom", "lower/top", tie=True)] if solid is body else []
        if floor:
            contacts.append(di.RigidContact(solid, bottom, di.Plane((0.0, -0.11), (0.0, 1.0))))
        s = di.MoreauJean(
            solid,
            20 * one.critical_time_step(),
            theta=0.5,
            contact=contacts or None,
            position=bool(contacts),
            mass="lumped",
        )
        s.start(0.0, lambda x: np.stack([0.0 * x[0], -0.05 + 0.1 * np.sin(12.0 * x[1])]))
        runs.append(s)
    hits = 0
    for _ in range(15):
        for s in runs:
            s.step()
        assert runs[0].u.reshape(-1, 2) == pytest.approx(matched(body, one, runs[1].u), abs=1e-12)
        hits += floor and bool((runs[1].r > 0).any())
    assert hits > 0 or not floor


def test_a_tie_beside_a_contact_between_surfaces():
    parts = {
        "upper": box([3, 2], [0.0, 0.1], [1.0, 0.2]),
        "middle": box([4, 2], [0.0, 0.0], [1.0, 0.1]),
        "lower": box([5, 2], [0.0, -0.101], [1.0, -0.001]),
    }
    body = pressed(di.mesh.join(parts), 0.03)
    tie = di.SurfaceContact(body, "upper/bottom", "middle/top", tie=True)
    s = started(body, [tie, di.SurfaceContact(body, "middle/bottom", "lower/top", friction=0.2)])
    for _ in range(5):
        s.step()
        assert deepest(s) <= 1e-14 and largest(tie.L(s.u)) <= 1e-14 and s.iterations <= 10
    assert total(s.r_position.max()) > 0


@pytest.mark.slow
def test_surfaces_in_a_list_with_a_rough_floor():
    """In either order: the lower part is held by friction alone."""
    body = pressed(layers(3, 4, parts=2), 0.02, 0.01, fixed=())
    pair = di.SurfaceContact(body, "upper/bottom", "lower/top")
    floor = di.RigidContact(body, "lower/bottom", di.Plane((0.0, -0.1), (0.0, 1.0)), friction=0.4)
    ends = []
    for contact in ([pair, floor], [floor, pair]):
        s = started(body, contact)
        for _ in range(6):
            s.step()
            assert deepest(s) <= 1e-14
        ends.append(s.u.copy())
    assert ends[0] == pytest.approx(ends[1], abs=1e-10)
    X, u = at_nodes(body, ends[0])
    assert largest(u[X[:, 1] < -0.09][:, 1]) > -1e-14


@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_a_node_in_a_corner(friction):
    """Its rows are those of both walls, and a tie holds the walls together at the same nodes."""
    parts = {
        "upper": box([2, 2], [0.0, 0.001], [0.4, 0.4]),
        "lower": box([5, 1], [-0.5, -0.3], [0.9, 0.0]),
        "wall": box([1, 3], [-0.5, 0.0], [-0.001, 0.6]),
    }
    body = pressed(di.mesh.join(parts), 0.04, -0.02)
    options = {"friction": friction, "allow_penetration": True}
    contacts = [
        di.SurfaceContact(body, "wall/bottom", "lower/top", tie=True),
        di.SurfaceContact(body, "upper/boundary", "lower/top", **options),
        di.SurfaceContact(body, "upper/boundary", "wall/boundary", **options),
    ]
    s = started(body, contacts)
    for _ in range(6):
        s.step()
        assert deepest(s) <= 1e-13
    assert largest(contacts[0].L(s.u)) <= 1e-13


def test_a_tie_and_a_contact_of_the_same_nodes():
    body = pressed(layers(3, 3, gap=0.0, parts=2), 0.02)
    tie = di.SurfaceContact(body, "upper/bottom", "lower/top", tie=True)
    s = started(body, [tie, di.SurfaceContact(body, "upper/bottom", "lower/top", friction=0.3)])
    for _ in range(3):
        s.step()
        assert largest(tie.L(s.u)) <= 1e-13


# -- ranks and restarts


def sums(body, s):
    u = s.u[: body.owned]
    return [total(u.sum()), total(u @ u), total(s.r_position.sum()), total(s.r.sum())]


@pytest.mark.mpi
def test_ranks_agree():
    """With what one rank finds."""
    body = columns([(3, 2), (4, 3)])
    s = started(body, di.SurfaceContact(body, "upper/bottom", "lower/top"))
    for _ in range(3):
        s.step()
    assert s.halved.halved == 0 and deepest(s) <= 1e-14
    assert sums(body, s) == pytest.approx(PLANE, rel=1e-10)


@pytest.mark.slow
@pytest.mark.mpi
def test_ranks_agree_in_space():
    body = pressed(layers(2, 3, "tetrahedron"), 0.02, 0.01)
    s = started(body, di.SurfaceContact(body, "upper/bottom", "lower/top", friction=0.2))
    for _ in range(5):
        s.step()
    assert s.halved.halved == 0 and deepest(s) <= 1e-14
    assert sums(body, s) == pytest.approx(SPACE, rel=1e-9)


def test_a_slip_that_is_prescribed_has_friction():
    """Both sides have no free tangent: the slip is known, and with it friction."""
    sides = {"foot": lambda x: np.isclose(x[1], 0.0), "top": lambda x: np.isclose(x[1], 1.0)}
    quads = dmesh.CellType.quadrilateral
    upper = di.named(dmesh.create_rectangle(MPI.COMM_SELF, [[0, 0], [1, 1]], [2, 1], quads), **sides)
    lower = di.named(
        dmesh.create_rectangle(MPI.COMM_SELF, [[-1, -1], [2, 0]], [5, 1], quads),
        top=sides["foot"],
        base=lambda x: np.isclose(x[1], -1.0),
    )
    body = di.Solid(
        di.mesh.join({"upper": upper, "lower": lower}),
        density=1.0,
        law=di.LinearElastic(1.0, 0.0),
        fixed={"lower/base": (0, 1), "lower/top": (0,)},
        prescribed={"upper/top": {0: drawn, 1: lambda t: -0.01 * t}, "upper/foot": {0: drawn}},
    )
    contact = di.SurfaceContact(body, "upper/foot", "lower/top", friction=0.3)
    s = di.Static(body, 0.1, contact=contact)
    s.start(0.0, 0.0)
    for _ in range(3):
        s.step()
        assert s.r_t.sum(axis=0)[0] == pytest.approx(-0.3 * s.r.sum(), rel=1e-6) and s.r.sum() > 1e-5


def test_friction_is_against_a_prescribed_slip_in_space():
    """Both tangents of all points are held or moved: no direction of the friction is lost."""
    hexahedra, top = dmesh.CellType.hexahedron, lambda x: np.isclose(x[2], 1.0)
    upper = di.named(
        dmesh.create_box(MPI.COMM_SELF, [[0, 0, 1], [1, 1, 2]], [2, 2, 1], hexahedra),
        foot=top,
        top=lambda x: np.isclose(x[2], 2.0),
    )
    lower = di.named(
        dmesh.create_box(MPI.COMM_SELF, [[-1, -1, 0], [2, 2, 1]], [4, 4, 1], hexahedra),
        top=top,
        base=lambda x: np.isclose(x[2], 0.0),
    )
    ways = {0: lambda t: 0.03 * t, 1: lambda t: 0.04 * t}
    body = di.Solid(
        di.mesh.join({"upper": upper, "lower": lower}),
        density=1.0,
        law=di.LinearElastic(1.0, 0.0),
        fixed={"lower/base": (0, 1, 2), "lower/top": (0, 1)},
        prescribed={"upper/top": {**ways, 2: lambda t: -0.01 * t}, "upper/foot": ways},
    )
    s = di.Static(body, 0.5, contact=di.SurfaceContact(body, "upper/foot", "lower/top", friction=0.3))
    s.start(0.0, 0.0)
    for _ in range(2):
        s.step()
    assert s.r_t.sum(axis=0)[:2] == pytest.approx(-0.3 * s.r.sum() * np.array([0.6, 0.8]), rel=1e-5)


def drawn(t):
    return 0.01 * t


@pytest.mark.mpi(1, 2, 3)
def test_nodes_on_a_line_of_symmetry_carry_no_friction():
    """They cannot slip: a tangent would ask for more than their one free direction can do."""
    parts = {}
    for name, low, high, n in (("lower", 0.0, (1.0, 0.5), (4, 2)), ("upper", 0.51, (0.8, 1.0), (3, 2))):
        parts[name] = di.named(
            dmesh.create_rectangle(COMM, [(0.0, low), high], n, QUADRILATERAL),
            middle=lambda x: np.isclose(x[0], 0.0),
            bottom=lambda x, y=low: np.isclose(x[1], y),
            top=lambda x, y=high[1]: np.isclose(x[1], y),
        )
    held = {"lower/bottom": (0, 1), "lower/middle": (0,), "upper/middle": (0,)}
    body = di.Solid(
        di.mesh.join(parts),
        law=di.LinearElastic(1.0, 0.3),
        density=1.0,
        fixed=held,
        prescribed={"upper/top": {1: ramp(-0.03)}},
    )
    s = di.Static(body, 1 / 3, di.SurfaceContact(body, "lower/top", "upper/bottom", friction=0.2))
    s.start(0.0, 0.0)
    for _ in range(3):
        s.step()
    assert s.halved.halved == 0 and largest(s.r_t_position) > 0
    assert sums(body, s) == pytest.approx(SYMMETRIC, rel=1e-10)


#: Sums of one rank.
SYMMETRIC = [-0.29355809236363, 0.0081212911490381, 0.0068518514115014, 0.0068518514115014]
PLANE = [-1.1686415156413115, 0.3846906198443972, 0.2362351257593914, 0.236235125759392]
SPACE = [-0.3191938144450591, 0.006710481063425379, 0.13665170435951912, 0.13665170435951918]


@pytest.mark.slow
@pytest.mark.mpi
def test_restart(shared_path):
    """A run resumed is the run from its start, also after the first step was made in parts."""
    mesh = layers(3, 4, parts=2)  # once, since partitioners throw dice

    def scheme():
        body = pressed(mesh, 0.02, 0.02, fixed=())
        pair = di.SurfaceContact(body, "upper/bottom", "lower/top", friction=0.1)
        floor = di.RigidContact(body, "lower/bottom", di.Plane((0.0, -0.1005), (0.0, 1.0)), friction=0.4)
        s = started(body, [pair, floor])
        make, calls = s.make_part, []

        def fails_once():
            calls.append(s.h)
            if len(calls) == 1 and s.t < 1.5:
                raise NotConverged("to be made in parts")
            make()

        s.make_part = fails_once
        return s

    whole, part = scheme(), scheme()
    di.simulate(whole, t_end=6.0, progress=False)
    di.simulate(part, t_end=3.0, progress=False, checkpoint=di.Checkpoint(shared_path / "run", every=3))
    again = scheme()
    checkpoint.resume(shared_path / "run", again)
    di.simulate(again, t_end=6.0, progress=False)
    assert part.halved.halved == 1 and again.halved.halved == 0
    for name in ("u", "v", "r", "r_t", "r_position", "r_t_position"):
        # Of v the forces on nodes of hardly any mass, some 1e8 m/s, leave their rounding.
        rounding = 1e-7 if name == "v" else 1e-15
        assert getattr(again, name) == pytest.approx(getattr(whole, name), rel=1e-12, abs=rounding)


@pytest.mark.slow
def test_press_fit_by_surfaces():
    """A peg in elastic jaws at 100 critical steps: no node inside a cell, the work of small steps."""
    mm, end, speed = 1e-3, 20e-3, 0.75
    peg = dmesh.create_rectangle(COMM, [(-10 * mm, 0.0), (10 * mm, 30 * mm)], (8, 12), QUADRILATERAL)
    x = peg.geometry.x
    x[:, 0] *= np.where(x[:, 1] < 5 * mm, 1 - 0.08 * (1 - x[:, 1] / (5 * mm)), 1.0)
    parts = {"peg": di.named(peg, top=lambda x: np.isclose(x[1], 30 * mm))}
    for name, a, b, outer in (("left", -30, -9.9, -30), ("right", 9.9, 30, 30)):
        low, high = (a * mm, -30 * mm), (b * mm, -0.01 * mm)
        jaw = dmesh.create_rectangle(COMM, [low, high], (6, 10), QUADRILATERAL)
        parts[name] = di.named(jaw, outer=lambda x, at=outer * mm: np.isclose(x[0], at))
    body = di.Solid(
        di.mesh.join(parts),
        density=7850.0,
        law=di.StVenantKirchhoff(2.1e9, 0.3),
        fixed={"peg/top": (0,), "left/outer": (0, 1), "right/outer": (0, 1)},
        prescribed={"peg/top": {1: lambda t: -speed * t}},
    )
    contact = di.SurfaceContact(body, "peg/boundary", "left/boundary", "right/boundary", friction=0.1)
    steps = round(end / (100 * body.critical_time_step()))
    s = started(body, contact, dt=end / steps)
    work, before = 0.0, None
    for _ in range(steps):
        u = s.u.copy()
        s.step()
        forces = s.reactions()
        mean = forces if before is None else 0.5 * (before + forces)
        work, before = work + total(mean @ (s.u - u)[body.prescribed.dofs]), forces.copy()
        assert deepest(s) <= 1e-13
    assert work == pytest.approx(187.4, rel=0.02)
    X, u = at_nodes(body, s.u)
    assert deepest_in_jaws(X[:, :2], X[:, :2] + u) <= 0.02 * 0.1 * mm


def deepest_in_jaws(X, x):
    """Depth of the side nodes of the peg behind the lines between the nodes of each jaw's inner side."""
    depth = 0.0
    for side in (-1.0, 1.0):
        inner = np.flatnonzero(np.isclose(X[:, 0], side * 9.9e-3) & (X[:, 1] < 0.0))
        inner = inner[np.argsort(x[inner, 1])]
        peg = np.isclose(side * X[:, 0], 10e-3) & (X[:, 1] >= 0.0) & (x[:, 1] < x[inner[-1], 1])
        wall = np.interp(x[peg, 1], x[inner, 1], x[inner, 0])
        depth = max(depth, float((side * (x[peg, 0] - wall)).max(initial=0.0)))
    return depth

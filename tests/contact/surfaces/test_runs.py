"""Runs with contact between surfaces: known answers, momenta, energies, laws of contact, ranks, restarts."""

import functools

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
    until_contact,
)

import dolfinx_impact as di
from dolfinx_impact import FieldWriter, parallel
from dolfinx_impact.plot import Snapshots

#: To round-off while the facets stay parallel to the plane; nearly where they bend and slide.
PARALLEL, BENT = (0.0, 0.0, 1e-13), (0.3, 0.2, 1e-3)


@functools.cache
def askew(kind="quadrilateral", cells=(4, 3), angle=0.2):
    """A block turned by an angle above another one."""
    d = 2 if kind in ("quadrilateral", "triangle") else 3
    n, m = cells
    upper = box([n] * d, [0.1] * (d - 1) + [0.0], [0.5] * (d - 1) + [0.4], kind, angle)
    lowest = COMM.allreduce(float(upper.mesh.geometry.x[:, d - 1].min(initial=np.inf)), op=MPI.MIN)
    upper.mesh.geometry.x[:, d - 1] += 0.004 - lowest
    lower = box([m] * d, [0.0] * (d - 1) + [-0.6], [0.63] * (d - 1) + [0.0], kind)
    return di.mesh.join({"upper": upper, "lower": lower})


def meeting(
    kind="quadrilateral", law=RUBBER, speed=0.1, along=0.05, angle=0.2, courant=0.4, solid=None, **options
):
    """A started scheme: a turned block hits another one obliquely."""
    body = di.Solid(askew(kind, angle=angle), law=law, density=1.0, **solid or {})
    options = {"allow_penetration": True, **options}
    contact = di.SurfaceContact(body, "upper/boundary", "lower/boundary", **options)
    s = di.CDLagrange(body, courant * body.critical_time_step(), contact=contact)
    s.start(0.0, against_each_other(body, speed, along))
    return s


def energy(balance):
    return total(balance.kinetic + balance.complementary + balance.internal)


@pytest.mark.parametrize(
    "kind, degree, how",
    [
        ("quadrilateral", 1, PARALLEL),
        ("quadrilateral", 2, BENT),
        ("quadrilateral", 3, PARALLEL),
        ("triangle", 1, BENT),
    ],
)
def test_a_flat_fixed_body_is_a_plane(kind, degree, how):
    nu, friction, bound = how
    upper = box([3, 3], [0.2, 0.003], [0.6, 0.403], kind)
    floor = box([4, 2], [0.0, -0.3], [1.0, 0.0], kind)
    histories = []
    for plane in (True, False):
        body = di.Solid(
            di.mesh.join({"upper": upper, "floor": floor}),
            law=di.LinearElastic(1.0, nu),
            density=1.0,
            degree=degree,
            fixed=["floor/boundary"],
        )
        if plane:
            contact = di.RigidContact(
                body, "upper/bottom", di.Plane((0.0, 0.0), (0.0, 1.0)), friction=friction
            )
        else:
            contact = di.SurfaceContact(body, "upper/bottom", "floor/top", friction=friction)
        s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)
        s.start(0.0, body.rigid_velocity((0.1 * friction, -0.05), cells="upper"))
        history = []
        for _ in range(120):
            s.step()
            history.append(np.concatenate([momenta(s)[0], [total(s.r.sum()), largest(s.u[: body.owned])]]))
        histories.append(np.array(history))
    scale = 120 * 0.05 * 0.16 if bound < 1e-12 else 0.05 * 0.16
    assert histories[0] == pytest.approx(histories[1], rel=0, abs=bound * scale)
    assert histories[0][:, 3].max() > 0


@pytest.mark.parametrize("kind, degree", [("quadrilateral", 1), ("quadrilateral", 2), ("quadrilateral", 3)])
def test_mirrored_bodies_are_one_body_on_a_plane(kind, degree):
    both = di.Solid(layers(4, 4, kind, gap=0.002, parts=2), law=LAW, density=1.0, degree=degree)
    one = di.Solid(box([4, 2], [0.0, 0.0], [1.0, 0.1], kind), law=LAW, density=1.0, degree=degree)
    pair = di.SurfaceContact(both, "upper/bottom", "lower/top")
    floor = di.RigidContact(one, "bottom", di.Plane((0.0, -0.001), (0.0, 1.0)))
    dt = 0.4 * one.critical_time_step()
    a, b = di.CDLagrange(both, dt, contact=pair), di.CDLagrange(one, dt, contact=floor)
    a.start(0.0, against_each_other(both, 0.01))
    b.start(0.0, one.rigid_velocity((0.0, -0.01)))
    above = both.x[:, 1] > 0.001
    order = np.lexsort(np.round(both.x[above] - [0, 0.002, 0], 9).T)
    other = np.lexsort(np.round(one.x, 9).T)
    for _ in range(150):
        a.step()
        b.step()
        u, w = a.u.reshape(-1, 2)[above][order], b.u.reshape(-1, 2)[other]
        assert np.abs(u - w).max() <= 1e-10 * max(np.abs(w).max(), 1e-3)
    assert b.t > 0.2 and b.contact.count


@pytest.mark.parametrize(
    "kind, friction",
    [
        ("quadrilateral", 0.0),
        ("quadrilateral", 0.3),
        ("triangle", 0.3),
        ("hexahedron", 0.0),
        ("tetrahedron", 0.3),
    ],
)
def test_momenta_energy_and_balance(kind, friction):
    """Linear and angular momentum, an energy that never exceeds the first, the closed balance."""
    s = meeting(kind, friction=friction)
    balance = s.balance()
    balance.start()
    start, scale = momenta(s)
    first, hits = energy(balance), 0
    for _ in range(60 if s.system.gdim == 3 else 150):
        s.step()
        balance.step()
        hits += anywhere(s.r > 0)
        assert energy(balance) <= first * (1 + 1e-3)
    drift = np.abs(momenta(s)[0] - start) / scale
    assert hits > 3
    assert drift[: s.system.gdim].max() <= 1e-12
    assert drift[s.system.gdim :].max() <= (1e-12 if friction == 0 else 1e-2)
    assert total(balance.contact) < 0


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_linear_bodies_close_the_balance_to_round_off(friction):
    s = meeting(law=di.LinearElastic(1.0, 0.3), friction=friction)
    run = di.simulate(s, t_end=150 * s.dt, progress=False)
    assert np.abs(run["residual"]).max() <= 1e-12 * run["kinetic"][0]
    assert run["contact"].min() < 0 and run["r"].max() > 0


@pytest.mark.parametrize("kind", ["quadrilateral", "tetrahedron"])
def test_elastic_restitution_takes_no_energy(kind):
    s = meeting(kind, law=di.LinearElastic(1.0, 0.3), restitution=1.0)
    run = di.simulate(s, t_end=150 * s.dt, progress=False)
    # Records between two steps have half of an impulse's work: they are whole where none acts around.
    hit = (run["r"] > 0).any(axis=1)
    apart = ~(hit | np.append(hit[1:], True) | np.append(True, hit[:-1]))
    assert hit.any() and apart[hit.argmax() :].any()
    assert np.abs(run["contact"][apart]).max() <= 1e-13 * run["kinetic"][0]


@pytest.mark.parametrize("friction", [0.3, 1.0])
def test_the_laws_of_friction_hold_in_every_step(friction):
    """0 <= L v with r >= 0, one of both zero; tangential impulses in the disc, against slip."""
    s = meeting(friction=friction)
    contact, slips = s.contact, 0
    for _ in range(120):
        s.step()
        normal, slip = contact.L(s.v), s.contact_state.tangential_velocity(s.v, s.t)
        closed = contact.closed(contact.gap(s.u))
        scale = 0.1
        assert np.all(s.r >= 0) and not np.any(s.r[~closed])
        assert np.all(normal[closed] >= -1e-10 * scale)
        assert np.all(np.abs(normal[s.r > 0]) <= 1e-10 * scale)
        assert np.all(np.linalg.norm(s.r_t, axis=1) <= friction * s.r * (1 + 1e-9) + 1e-16)
        moves = np.linalg.norm(slip, axis=1)
        sliding = (s.r > 0) & (moves > 1e-8 * scale)
        against = -np.einsum("pk,pk->p", s.r_t, slip)
        assert against[sliding] == pytest.approx((friction * s.r * moves)[sliding], rel=1e-4, abs=1e-18)
        slips += anywhere(sliding)
    assert slips


@pytest.mark.mpi
@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("kind", ["quadrilateral", "tetrahedron"])
def test_any_number_of_ranks_finds_the_same(kind, friction, as_on_one_rank):
    s = meeting(kind, friction=friction)
    for _ in range(60):
        s.step()
    rows = s.system.rows()
    u = parallel.gather_rows(COMM, rows(s.u))[rows.sorting(COMM)]
    assert u == pytest.approx(as_on_one_rank(u), rel=0, abs=1e-12 * np.abs(u).max())


def test_the_order_of_the_surfaces_changes_rounding_only():
    ends = []
    for names in (("upper/boundary", "lower/boundary"), ("lower/boundary", "upper/boundary")):
        body = di.Solid(askew(), law=RUBBER, density=1.0)
        contact = di.SurfaceContact(body, *names, friction=0.3, allow_penetration=True)
        s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)
        s.start(0.0, against_each_other(body, 0.1, 0.05))
        for _ in range(100):
            s.step()
        ends.append(s.u.copy())
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)


def test_drift_correction_gives_no_energy_and_keeps_the_momenta():
    ends = []
    for correction in (False, True):
        body = di.Solid(discs(), law=RUBBER, density=1.0)
        contact = di.SurfaceContact(body, "upper/boundary", "lower/boundary", drift_correction=correction)
        s = di.CDLagrange(body, 0.3 * body.critical_time_step(), contact=contact)
        s.start(0.0, against_each_other(body, 0.15))
        balance = s.balance()
        balance.start()
        before, scale = momenta(s)
        first, depth = energy(balance), 0.0
        while s.t < 4.0:
            s.step()
            balance.step()
            assert energy(balance) <= first * (1 + 1e-4)
            gap = contact.gap(s.u)
            depth = max(depth, largest(np.minimum(gap, 0.0)[np.isfinite(gap)]))
        assert np.abs(momenta(s)[0] - before).max() <= 1e-12 * scale
        ends.append(depth)
    assert 0 < ends[1] < 1.02 * ends[0] < 0.04


# -- ties


def tied(cells=(3, 5), kind="quadrilateral", law=LAW, gap=0.0, **options):
    body = di.Solid(layers(*cells, kind, gap=gap, parts=3), law=law, density=1.0, **options)
    return body, di.SurfaceContact(body, "upper/bottom", "lower/top", tie=True)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("kind", ["quadrilateral", "triangle", "hexahedron", "tetrahedron"])
@pytest.mark.parametrize("gap", [0.0, pytest.param(0.01, marks=pytest.mark.one_rank)])
def test_a_tie_holds_and_keeps_the_momenta(kind, gap):
    body, contact = tied(kind=kind, gap=gap, law=RUBBER, cells=(2, 3) if kind[0] in "ht" else (3, 5))
    s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)
    e = np.eye(body.gdim)
    s.start(0.0, body.rigid_velocity(0.05 * e[0] + 0.1 * e[-1], cells="upper"))
    s.step()
    start, scale = momenta(s)
    for _ in range(60):
        s.step()
        assert largest(contact.L(s.v)) <= 1e-11 * 0.1
    drift = np.abs(momenta(s)[0] - start) / scale
    assert drift[: body.gdim].max() <= 1e-12
    if gap == 0.0:
        assert largest(contact.L(s.u)) <= 1e-12
    assert drift[body.gdim :].max() <= (1e-12 if gap == 0.0 and body.gdim == 2 else 1e-2)


def test_a_tied_bar_of_matching_meshes_is_one_bar():
    body, contact = tied(cells=(3, 3))
    one = di.Solid(box([3, 6], [0.0, -0.1], [1.0, 0.1]), law=LAW, density=1.0)
    dt = 0.5 * one.critical_time_step()
    a, b = di.CDLagrange(body, dt, contact=contact), di.CDLagrange(one, dt)
    a.start(0.0, lambda x: np.stack([0.0 * x[0], 0.1 * np.sin(12.0 * x[1])]))
    b.start(0.0, lambda x: np.stack([0.0 * x[0], 0.1 * np.sin(12.0 * x[1])]))
    for _ in range(100):
        a.step()
        b.step()
    place = {tuple(x): u for x, u in zip(np.round(one.x, 9) + 0.0, b.u.reshape(-1, 2))}
    found = np.array([place[tuple(x)] for x in np.round(body.x, 9) + 0.0])
    assert a.u.reshape(-1, 2) == pytest.approx(found, abs=1e-11)


# -- lists, tools, three parts


def test_a_list_with_an_obstacle():
    """Two layers fall upon a plane, one after the other."""
    body = di.Solid(layers(4, 3, gap=0.004), law=LAW, density=1.0)
    pair = di.SurfaceContact(body, "upper/bottom", "lower/top")
    floor = di.RigidContact(body, "lower/bottom", di.Plane((0.0, -0.103), (0.0, 1.0)))
    s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=[pair, floor])
    s.start(0.0, body.rigid_velocity((0.0, -0.05)))
    run = di.simulate(s, t_end=0.5, progress=False)
    assert np.abs(run["residual"]).max() <= 1e-12 * run["kinetic"][0]
    parts = np.array([part.sum() for part in np.split(run["r"], [pair.total], axis=1)])
    assert np.all(parts > 0)
    p = total((body.mass * s.v[: body.owned]) @ body.rigid_velocity((0.0, 1.0))[: body.owned])
    assert p == pytest.approx(-0.05 * 0.2 + parts[1], abs=1e-12)


def test_three_parts_in_a_row():
    """A cradle: the last block takes nearly the whole momentum."""
    mesh, x = {}, 0.0
    for k, n in enumerate((2, 3, 4)):
        block = box([12, n], [x, 0.0], [x + 1.0, 0.3])
        mesh[f"b{k}"], x = block, x + 1.0 + 0.002 * (k == 0)
    body = di.Solid(di.mesh.join(mesh), law=LAW, density=1.0)
    contact = di.SurfaceContact(body, *[f"b{k}/boundary" for k in range(3)])
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=contact)
    s.start(0.0, body.rigid_velocity((0.01, 0.0), cells="b0"))
    start, scale = momenta(s)
    while s.t < 6.0:
        s.step()
    m = body.mass * s.v_mean[: body.owned]
    last = [
        total(m @ body.rigid_velocity((1.0, 0.0), cells=f"b{k}")[: body.owned]) / (0.3 * 0.01)
        for k in range(3)
    ]
    assert np.abs(momenta(s)[0] - start)[:2].max() <= 1e-12 * scale
    assert last[2] > 0.9 and abs(last[0]) < 0.05 and abs(last[1]) < 0.1


@pytest.mark.mpi
def test_a_moved_tool_presses_on_a_free_part():
    """The tool comes down at 0.05; the free layer leaves at more than this, at most at twice."""
    tool = box([3, 1], [0.1, 0.002], [0.9, 0.102])
    body = di.Solid(
        di.mesh.join({"tool": tool, "part": box([5, 2], [0.0, -0.2], [1.0, 0.0])}),
        law=LAW,
        density=1.0,
        prescribed={"tool/boundary": {0: lambda t: 0.0, 1: lambda t: -0.05 * t}},
    )
    contact = di.SurfaceContact(body, "tool/bottom", "part/top")
    s = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact)
    s.start(0.0, body.rigid_velocity((0.0, -0.05), cells="tool"))
    while s.t < 1.0:
        s.step()
    part = body.rigid_velocity((0.0, 1.0), cells="part")[: body.owned]
    mean = total(body.mass * s.v_mean[: body.owned] @ part) / total(body.mass @ part)
    assert -0.1 <= mean < -0.05
    # The points but the corners are those of the free part.
    slave = contact.facets.part[contact.assembly.mortar.nodes]
    assert not anywhere(slave == 0)


def test_axisymmetric_discs_meet_flat():
    """As in the plane: the whole interface stops, and the momentum along the axis stays."""
    body = di.Solid(layers(5, 3), law=LAW, density=1.0, hypothesis="axisymmetric")
    s = di.CDLagrange(
        body, 0.3 * body.critical_time_step(), contact=di.SurfaceContact(body, "upper/bottom", "lower/top")
    )
    s.start(0.0, against_each_other(body))
    until_contact(s)
    assert largest(s.contact.L(s.v)) <= 1e-13
    m = body.mass.reshape(-1, 2)[:, 1]
    v = s.v[: body.owned].reshape(-1, 2)[:, 1]
    assert abs(total(m @ v)) <= 1e-13 * total(m @ np.abs(v))
    z = body.x[: m.size, 1]
    on = np.isclose(z, 0.0) | np.isclose(z, 1e-3)
    assert largest(v[on]) <= 1e-3 * 0.01


@pytest.mark.mpi
@pytest.mark.parametrize("kind", [di.CDLagrange, di.NohBathe])
def test_a_tie_at_the_axis_of_a_column_on_a_rough_floor(kind):
    """Its rows along the axis move nothing, to rounding: all others hold the contact law as ever."""

    def disc(low, n):
        mesh = dmesh.create_rectangle(COMM, [(0.0, low), (1.0, low + 0.5)], n, dmesh.CellType.quadrilateral)
        ends = {"bottom": lambda x: x[1] < low + 1e-9, "top": lambda x: x[1] > low + 0.5 - 1e-9}
        return di.named(mesh, **ends, axis=lambda x: x[0] < 1e-9)

    body = di.Solid(
        di.mesh.join({"a": disc(0.0, (3, 3)), "b": disc(0.5, (1, 2))}),
        law=di.LinearElastic(1e6, 0.3),
        density=1000.0,
        gravity=(0.0, -10.0),
        hypothesis="axisymmetric",
        fixed={"a/axis": (0,), "b/axis": (0,)},
    )
    floor = di.RigidContact(body, "a/bottom", di.Plane((0, 0), (0, 1)), friction=0.3)
    tie = di.SurfaceContact(body, "b/bottom", "a/top", tie=True)
    s = kind(body, 0.6 * kind.critical_step(body), contact=[floor, tie])
    s.start(0.0, 0.0)
    for _ in range(15):
        s.step()
        v = s.contact.L(s.v)
        assert largest(v[s.contact.bilateral]) <= 1e-10
        assert largest((v * s.r)[~s.contact.bilateral]) <= 1e-10


# -- output


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_nodal_impulses_are_those_of_both_sides(friction):
    s = meeting(friction=friction)
    until_contact(s)
    loaded = s.contact.nodes.loaded
    nodal = np.zeros(loaded.dofs.shape)
    s.contact.nodes.add_impulses(s.impulses, nodal)
    sums = total(nodal.sum(axis=0))
    assert largest(nodal) > 0
    assert np.abs(sums).max() <= 1e-13 * total(np.abs(nodal).sum())


def test_snapshots_and_fields_take_the_forces(shared_path):
    s = meeting(friction=0.3)
    kept = Snapshots(interval=10 * s.dt, forces=True)
    fields = FieldWriter(shared_path / "two.bp", every=20)
    run = di.simulate(s, t_end=60 * s.dt, observers=[kept, fields], progress=False)
    assert anywhere(run["r"] > 0)

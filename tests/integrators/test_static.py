"""Quasi-static equilibrium with contact: exact solutions, works, closing in time, what is refused."""

import basix.ufl
import numpy as np
import pytest
import ufl
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

COMM, ALONE = MPI.COMM_WORLD, MPI.COMM_SELF
E, NU = 2.1e11, 0.3
BORE, OUTER, LENGTH = 0.02, 0.04, 0.02


def rectangle(low, high, cells, comm=COMM):
    return dmesh.create_rectangle(comm, [low, high], list(cells), dmesh.CellType.quadrilateral)


def bar(comm=ALONE, **options):
    """A bar of length 1 along x, held at 0, EA = 2, with a bound at its end."""
    line = dmesh.create_interval(comm, 4, [0.0, 1.0])
    mesh = di.named(line, foot=lambda x: np.isclose(x[0], 0), tip=lambda x: np.isclose(x[0], 1))
    return di.Solid(mesh, density=1.0, law=di.LinearElastic(2.0, 0.0), fixed=["foot"], **options)


def at_tip(body, gap=0.1):
    tip = np.flatnonzero(np.isclose(body.x[: body.owned, 0], 1.0))
    return di.DofBound(body, [int(each) for each in tip], upper=gap)


def fit(interference, degree=1, cells=8):
    """A shaft in a ring, plane strain: the names of both sides where they meet, and the body."""
    sides = {
        "ends": lambda x: np.isclose(x[1], 0) | np.isclose(x[1], LENGTH),
        "axis": lambda x: np.isclose(x[0], 0),
    }
    shaft, ring = BORE + interference / 2, BORE - interference / 2
    parts = {
        "shaft": di.named(
            rectangle([0, 0], [shaft, LENGTH], (cells, 4)), **sides, side=lambda x: np.isclose(x[0], shaft)
        ),
        "ring": di.named(
            rectangle([ring, 0], [OUTER, LENGTH], (cells, 5)),
            ends=sides["ends"],
            bore=lambda x: np.isclose(x[0], ring),
        ),
    }
    held = {"shaft/axis": (0,), "shaft/ends": (1,), "ring/ends": (1,)}
    body = di.Solid(
        di.mesh.join(parts),
        density=7850.0,
        law=di.LinearElastic(E, NU),
        degree=degree,
        hypothesis="axisymmetric",
        fixed=held,
    )
    return body, di.SurfaceContact(body, "shaft/side", "ring/bore", allow_penetration=True)


def exact_pressure(interference):
    """Of a shaft in a ring of one material in plane strain (Lame) [Pa]."""
    modulus, ratio = E / (1 - NU**2), NU / (1 - NU)
    square = (OUTER**2 + BORE**2) / (OUTER**2 - BORE**2)
    return interference / (BORE / modulus * (square + ratio) + BORE / modulus * (1 - ratio))


def pressures(scheme, contact):
    found = contact.pressure(scheme.r, scheme.dt)
    every = np.concatenate(COMM.allgather(found))
    return every[every > 0]


@pytest.mark.mpi(1, 2, 3)
def test_shrink_fit_against_lame():
    delta = 1e-5
    body, contact = fit(delta)
    scheme = di.Static(body, 0.25, contact=contact, closing=1.0)
    scheme.start(0.0, 0.0, allow_penetration=True)
    for part in (0.25, 0.5, 0.75, 1.0, 1.0):
        scheme.step()
        found = pressures(scheme, contact)
        assert found == pytest.approx(part * exact_pressure(delta), rel=0.01)  # linear in what has closed
        gap = scheme.gap()[np.isfinite(scheme.gap())]
        assert np.abs(gap + (1 - part) * delta).max(initial=0.0) < 1e-12 * BORE + 1e-15
    stored = COMM.allreduce(body.stored_energy(scheme.u))
    assert stored == pytest.approx(np.pi * BORE * delta * exact_pressure(delta) * LENGTH, rel=0.01)


@pytest.mark.parametrize("kind", [di.MoreauJean, di.GeneralizedAlpha])
def test_closing_by_dynamics_ends_in_the_static_fit(kind):
    delta, duration = 1e-5, 2e-3
    body, contact = fit(delta, cells=4)
    options = {"theta": 1.0} if kind is di.MoreauJean else {"rho_inf": 0.0}
    scheme = kind(body, duration / 10, contact=contact, position=True, closing=duration, **options)
    scheme.start(0.0, 0.0, allow_penetration=True)
    for _ in range(14):
        scheme.step()
    other_body, other = fit(delta, cells=4)
    static = di.Static(other_body, 1.0, contact=other, closing=1.0)
    static.start(0.0, 0.0, allow_penetration=True)
    static.step()
    assert pressures(scheme, contact).mean() == pytest.approx(pressures(static, other).mean(), rel=1e-3)


def test_stop_takes_what_the_bar_does_not():
    """The tip closes at a third of the load; after that force balance gives the reaction, exactly."""
    body = bar(traction={"tip": ((0.6,), lambda t: t)})
    contact = at_tip(body)
    scheme = di.Static(body, 0.25, contact=contact)
    scheme.start(0.0, 0.0)
    result = di.simulate(scheme, t_end=1.0)
    load = 0.6 * result["t"][1:]
    force = np.maximum(load - 2.0 * 0.1, 0.0)  # EA u/l = 0.2 where the tip stands at the bound
    assert result["r"][1:, 0] / scheme.dt == pytest.approx(force, abs=1e-12)
    assert result["gap"].min() > -1e-15
    assert not result["kinetic"].any() and np.abs(result["residual"]).max() < 1e-14
    assert scheme.v[body.owned - 1] == pytest.approx(0.0, abs=1e-12)


def test_without_contact_a_load_parameter_gives_the_linear_answer():
    body = bar(traction={"tip": ((0.6,), lambda t: t)})
    scheme = di.Static(body, 0.5)
    scheme.start(0.0, 0.0)
    scheme.step()
    scheme.step()
    assert np.abs(scheme.u[: body.owned] - 0.3 * body.x[: body.owned, 0]).max() < 1e-14


def test_prescribed_work_is_stored_and_no_cell_turns():
    """Steps of 0.45 of a cell at the driven end: all cells share the compression at once."""
    mesh = di.named(
        rectangle([0, 0], [1, 1], (2, 4), ALONE),
        foot=lambda x: np.isclose(x[1], 0),
        top=lambda x: np.isclose(x[1], 1),
    )
    body = di.Solid(
        mesh,
        density=1.0,
        law=di.StVenantKirchhoff(1.0, 0.3),
        fixed=["foot"],
        prescribed={"top": {1: lambda t: -0.1125 * t}},
    )
    scheme = di.Static(body, 1.0)
    balance = scheme.balance()
    scheme.start(0.0, 0.0)
    balance.start()
    scheme.step()
    balance.step()
    x, y = body.x[:, 0], body.x[:, 1] + scheme.u.reshape(-1, 2)[:, 1]
    for place in (0.0, 0.5, 1.0):
        assert np.diff(np.sort(y[np.isclose(x, place)])).min() > 0.2  # 0.25 before
    assert balance.external == pytest.approx(balance.internal_work + balance.dissipated, rel=1e-10)
    assert scheme.halved.halved == 0


@pytest.mark.parametrize("shape", [di.Box((0.0, -0.05), (2.0, 0.1)), di.Sphere((0.0, -0.05), 0.05)])
def test_a_thin_obstacle_takes_a_point_along_that_it_has_touched(shape):
    """In steps of more than its thickness, from the first touch on."""
    point = di.PointMasses([1.0, 1.0], stiffness=np.eye(2))
    tool = di.MovingObstacle(shape, translation=((0.0, 1.0), lambda t: t - 0.1))
    scheme = di.Static(point, 0.175, contact=di.ObstacleContact(point, [[0, 1]], tool))
    scheme.start(0.0, 0.0)
    for _ in range(3):
        scheme.step()
        assert scheme.u == pytest.approx([0.0, scheme.t - 0.1], abs=1e-12)
        assert scheme.r.sum() / scheme.dt == pytest.approx(scheme.t - 0.1, abs=1e-12)  # at the end of a step
    assert scheme.halved.halved > 0


@pytest.mark.parametrize(
    ("system", "name"),
    [
        (lambda: di.PointMasses(1.0), "dof 0 of the PointMasses"),
        (lambda: di.PointMasses([1.0, 1.0], stiffness=[[1, -1], [-1, 1]]), "dof 0 of the PointMasses"),
    ],
)
def test_free_masses_are_refused(system, name):
    with pytest.raises(ValueError, match=f"{name} is free to move: hold it, or take MoreauJean"):
        di.Static(system(), 0.1)


@pytest.mark.mpi(1, 2, 3)
def test_part_that_a_gap_alone_holds_is_named():
    parts = {
        "plate": di.named(rectangle([0, 0], [1, 1], (2, 2)), foot=lambda x: np.isclose(x[1], 0)),
        "bolt": rectangle([2, 0], [3, 1], (2, 2)),
    }
    body = di.Solid(di.mesh.join(parts), density=1.0, law=di.LinearElastic(1.0, 0.3), fixed=["plate/foot"])
    with pytest.raises(ValueError, match="part 'bolt' is free to move"):
        di.Static(body, 0.1)


@pytest.mark.mpi(1, 3)
def test_a_free_part_is_named_on_ranks_without_cells():
    mesh = di.named(rectangle([0, 0], [1, 1], (2, 1)), left=lambda x: np.isclose(x[0], 0))
    body = di.Solid(mesh, density=1.0, law=di.LinearElastic(1.0, 0.3), fixed={"left": (0,)})
    with pytest.raises(ValueError, match="is free to move"):
        di.Static(body, 0.5)


def test_hinged_square_is_free_to_turn():
    mesh = di.named(rectangle([0, 0], [1, 1], (2, 2), ALONE), left=lambda x: np.isclose(x[0], 0))
    held = di.Solid(mesh, density=1.0, law=di.LinearElastic(1.0, 0.3), fixed={"left": (1,)})
    with pytest.raises(ValueError, match="is free to move"):  # along x
        di.Static(held, 0.1)


@pytest.mark.parametrize(("held", "free"), [((0, 1), False), ((0,), True), ((1,), True)])
def test_a_slender_part_is_held_as_others_are(held, free):
    """As soft as a rigid motion to round-off: its length is 2000 times its height."""
    mesh = di.named(rectangle([0, 0], [2000, 1], (20, 1), ALONE), end=lambda x: np.isclose(x[0], 0))
    body = di.Solid(mesh, density=1.0, law=di.LinearElastic(1.0, 0.3), fixed={"end": held}, degree=2)
    if not free:
        di.Static(body, 1.0)
        return
    with pytest.raises(ValueError, match="is free to move"):
        di.Static(body, 1.0)


def test_squares_that_a_corner_joins_are_hinged():
    """Cells without a common facet turn about the node that they share."""
    x = np.array([[i, j] for i in range(3) for j in range(3)], dtype=np.float64)
    cells = [[0, 1, 3, 4], [4, 5, 7, 8]]
    element = basix.ufl.element("Lagrange", "quadrilateral", 1, shape=(2,))
    mesh = dmesh.create_mesh(ALONE, cells=np.array(cells), x=x, e=ufl.Mesh(element))
    foot = {"foot": lambda x: np.isclose(x[0], 0)}
    body = di.Solid(di.named(mesh, **foot), density=1.0, law=di.LinearElastic(1.0, 0.3), fixed=["foot"])
    with pytest.raises(ValueError, match=r"the part at \(.*\) m is free to move"):
        di.Static(body, 1.0)


def test_a_wire_that_a_tool_bends():
    """1 m long and 0.5 mm thick: 3 EI w / L^3."""
    n, E, d = 10, 2e11, 5e-4
    x = np.linspace([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], n + 1)
    element = basix.ufl.element("Lagrange", "interval", 1, shape=(3,))
    cells = np.column_stack([np.arange(n), np.arange(1, n + 1)])
    line = dmesh.create_mesh(ALONE, cells=cells, x=x, e=ufl.Mesh(element))
    named = di.named(line, foot=lambda x: np.isclose(x[0], 0), tip=lambda x: np.isclose(x[0], 1))
    frame = di.Frame(named, density=1e3, E=E, nu=0.3, sections=di.Section.circle(d), fixed=["foot"])
    tool = di.MovingObstacle(di.Plane((0, 0, 0), (0, 0, -1)), translation=((0, 0, -1), lambda t: 0.01 * t))
    scheme = di.Static(frame, 1.0, contact=di.RigidContact(frame, "tip", tool))
    scheme.start(0.0, 0.0)
    scheme.step()
    assert scheme.r == pytest.approx(3 * E * np.pi * d**4 / 64 * 0.01, rel=2e-2)
    assert scheme.halved.halved == 0


def test_no_equilibrium_is_told():
    """A bar that a second stop holds inside the first one: no place fulfils both."""
    body = bar()
    tip = [int(k) for k in np.flatnonzero(np.isclose(body.x[: body.owned, 0], 1.0))]
    low = di.DofBound(body, tip, lower=0.1, allow_penetration=True)
    high = di.DofBound(body, tip, upper=-0.1, allow_penetration=True)
    scheme = di.Static(body, 1.0, contact=[low, high])
    scheme.start(0.0, 0.0)
    with pytest.raises(di.NotConverged, match="no equilibrium of contact at t = .* does the body buckle"):
        scheme.step()
    assert not scheme.u.any()


def test_closing_needs_position_and_a_time():
    ball = di.PointMasses(1.0)
    floor = di.DofBound(ball, 0, lower=0.0)
    with pytest.raises(ValueError, match="closing= pushes penetrations out at position level"):
        di.MoreauJean(ball, 0.1, contact=floor, closing=1.0)
    with pytest.raises(ValueError, match="closing must be a positive time"):
        di.MoreauJean(ball, 0.1, contact=floor, closing=0.0, position=True)


def test_step_control_is_refused():
    body = bar()
    scheme = di.Static(body, 0.1)
    scheme.start(0.0, 0.0)
    with pytest.raises(ValueError, match="Static"):
        di.simulate(scheme, t_end=1.0, adapt=di.StepControl())


def test_history_and_compiled_steps_are_refused():
    line = dmesh.create_rectangle(ALONE, [[0.0, 0.0], [1.0, 1.0]], [2, 2])
    mesh = di.named(line, foot=lambda x: np.isclose(x[0], 0))
    metal = di.Solid(
        mesh,
        density=1.0,
        law=di.J2Plasticity(1.0, 0.3, hardening=di.LinearHardening(0.1, 0.01)),
        fixed=["foot"],
    )
    with pytest.raises(ValueError, match="does not follow the history of a material"):
        di.Static(metal, 0.1)
    scheme = di.Static(bar(), 0.1)
    scheme.start(0.0, 0.0)
    with pytest.raises(ValueError, match="compiled"):
        di.simulate(scheme, t_end=1.0, compiled=True)


def test_restart_in_the_middle_of_closing_is_equal():
    def made():
        body, contact = fit(1e-5, cells=4)
        return di.Static(body, 0.125, contact=contact, closing=1.0)

    whole, first, second = made(), made(), made()
    for each in (whole, first):
        each.start(0.0, 0.0, allow_penetration=True)
    for _ in range(6):
        whole.step()
    for _ in range(3):
        first.step()
    second.resume(first.state())
    for _ in range(3):
        second.step()
    assert np.array_equal(second.u, whole.u) and np.array_equal(second.r, whole.r)
    assert np.array_equal(second.gap_start, whole.gap_start) and whole.gap_start.min() < -9e-6


def stacked(fixed):
    """A column of two parts, tied, under a tool that comes down by a tenth of it."""
    parts = {
        name: di.named(
            rectangle([0, low], [1, low + 0.5], (cells, 2)),
            bottom=lambda x, low=low: np.isclose(x[1], low),
            top=lambda x, low=low: np.isclose(x[1], low + 0.5),
            axis=lambda x: np.isclose(x[0], 0),
        )
        for name, low, cells in (("lower", 0.0, 3), ("upper", 0.5, 4))
    }
    law = di.LinearElastic(10.0, 0.0)
    body = di.Solid(di.mesh.join(parts), density=1.0, law=law, hypothesis="axisymmetric", fixed=fixed)
    tie = di.SurfaceContact(body, "upper/bottom", "lower/top", tie=True)
    lid = di.MovingObstacle(di.Plane((0.0, 1.0), (0.0, -1.0)), translation=((0.0, -1.0), lambda t: 0.1 * t))
    return body, [tie, di.RigidContact(body, "upper/top", lid)]


@pytest.mark.mpi(1, 2, 3)
def test_a_part_that_a_tie_holds():
    axis = {"lower/axis": (0,), "upper/axis": (0,)}
    body, contacts = stacked({**axis, "lower/bottom": (1,)})
    scheme = di.Static(body, 0.5, contact=contacts)
    scheme.start(0.0, 0.0)
    scheme.step()
    scheme.step()
    pushed = COMM.allreduce(scheme.r[contacts[0].count :].sum()) / scheme.dt
    assert pushed == pytest.approx(np.pi * 10.0 * 0.1, rel=1e-10)
    body, contacts = stacked(axis)  # both parts may move along the axis together
    with pytest.raises(ValueError, match="is free to move"):
        di.Static(body, 0.5, contact=contacts)


def test_the_first_step_knows_what_ties_hold():
    """The weight of a part that hangs by a tie alone is carried in the first step: stresses by statics."""
    parts = {
        "upper": rectangle([0, 0.5], [1, 1], (3, 2), ALONE),
        "lower": rectangle([0, 0], [1, 0.5], (4, 2), ALONE),
    }
    named = {
        "upper": di.named(
            parts["upper"], top=lambda x: np.isclose(x[1], 1), bottom=lambda x: np.isclose(x[1], 0.5)
        ),
        "lower": di.named(parts["lower"], top=lambda x: np.isclose(x[1], 0.5)),
    }
    body = di.Solid(
        di.mesh.join(named),
        density=1.0,
        law=di.LinearElastic(100.0, 0.0),
        gravity=(0.0, -1.0),
        prescribed={"upper/top": {0: lambda t: 0.0, 1: lambda t: 0.1 * t}},
    )
    scheme = di.Static(body, 1.0, contact=di.SurfaceContact(body, "upper/bottom", "lower/top", tie=True))
    scheme.start(0.0, 0.0)
    scheme.step()
    lowest = np.isclose(body.x[:, 1], 0.0)
    assert scheme.halved.halved == 0
    assert scheme.u[1::2][lowest] == pytest.approx(0.1 - 1.0 / 200.0, rel=1e-9)  # rho g L^2 / (2 E)

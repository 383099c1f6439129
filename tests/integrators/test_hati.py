"""HATI against a dense reference, and what it promises: equal velocities, a closed balance, restarts."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from hypothesis import Phase, given
from hypothesis import strategies as st
from support.examples import examples
from support.pairwise import pairwise
from support.parts import (
    COMM,
    DENSITY,
    GAP,
    SECTION,
    E,
    bar,
    dense_bar,
    divided,
    field,
    glued,
    plate,
    ride,
    solid,
)

import dolfinx_impact as di
from dolfinx_impact import HATI, parallel
from dolfinx_impact.algebra import kernels
from dolfinx_impact.algebra.operators import sparse_rows
from dolfinx_impact.algebra.sparse_solver import FactorisedSolver, SymmetricSolver
from dolfinx_impact.benchmark.cases.split_bar.measures import TotalVelocity
from dolfinx_impact.systems import matrices

LAYOUTS = {"left": lambda x: x[0] < 1 / 3, "both ends": lambda x: (x[0] < 1 / 3) | (x[0] > 0.6)}


ONE_RANK = pytest.mark.one_rank


def serially(*values):
    """Parameters that one rank is enough for."""
    return [pytest.param(value, marks=ONE_RANK) for value in values]


NAMES, ROWS = pairwise(near=LAYOUTS.values(), ratio=(1, 10, 3), alpha=(0.0, 0.5), compiled=(None, False))


def pulse(t):
    return np.sin(7.0 * t) ** 2


class Watched(HATI):
    """Makes its steps one by one in Python and keeps what it sees after fine ones."""

    def prefer_compiled(self, compiled):
        super().prefer_compiled(False)

    def begin(self):
        super().begin()
        self.prefer_compiled(None)
        self.seen = {"jump": [], "multipliers": [self.multipliers.copy()], "before": [], "after": [], "r": []}
        step = self.fine.step

        def watched():
            step()
            self.see()

        self.fine.step = watched

    def see(self):
        seen, g = self.seen, self.interface.dofs
        link = self.coarse.compliance @ self.interface.gather(self.multipliers)
        seen["jump"].append(self.fine.v_mean[g] - (self.fine.target - link[self.interface.mine]))
        seen["multipliers"].append(self.multipliers.copy())
        if self.contact is not None:
            seen["before"].append(self.contact.L(self.fine.v_before))
            seen["after"].append(self.contact.L(self.fine.v))
            seen["r"].append(self.fine.r.copy())


# -- the reference


class Part:
    """One side of a dense bar: its nodes, masses, stiffness, loads and copies of the interface nodes."""

    def __init__(self, nodes, cells, gravity, traction):
        self.at = np.unique(np.concatenate([cells, cells + 1]))
        self.M, self.K = np.zeros(nodes.size), np.zeros((nodes.size, nodes.size))
        for i in cells:
            mass, stiffness = dense_bar(nodes[i : i + 2])
            self.M[i : i + 2] += mass
            self.K[i : i + 2, i : i + 2] += stiffness
        self.M, self.K = self.M[self.at], self.K[np.ix_(self.at, self.at)]
        self.weight, self.end = gravity * self.M, (self.at == nodes.size - 1) * SECTION * traction

    def force(self, t):
        return self.weight + self.end * pulse(t)


def reference(nodes, near, dt, m, steps, alpha, u0, gap=GAP, gravity=-0.3, traction=0.4):
    """Algorithm 1 with dense systems: all unknowns of a fine step's gluing are solved for together.

    Yields the state at the coarse times: u and v of both sides, multipliers, impulses of the fine steps.
    """
    near_cells = np.flatnonzero(near((nodes[:-1] + nodes[1:])[None] / 2))
    far_cells = np.setdiff1d(np.arange(nodes.size - 1), near_cells)
    e, i = Part(nodes, near_cells, gravity, traction), Part(nodes, far_cells, gravity, traction)
    pairs, DT, beta, gamma = np.intersect1d(e.at, i.at), m * dt, 0.25, 0.5
    L_e = (e.at == pairs[:, None]).astype(float)
    L_i = -(i.at == pairs[:, None]).astype(float)
    effective = np.diag(i.M * (1 + gamma * DT * alpha)) + beta * DT**2 * i.K
    q, n_e, n_i = pairs.size, e.at.size, i.at.size
    saddle = np.block(
        [
            [np.diag(e.M), np.zeros((n_e, n_i)), -dt * L_e.T],
            [np.zeros((n_i, n_e)), effective, -L_i.T],
            [L_e / 2, gamma * DT * L_i, np.zeros((q, q))],
        ]
    )
    # Equal accelerations at the start.
    u_e, u_i = u0(nodes[e.at]), u0(nodes[i.at])
    v_e, v_i = np.full(n_e, -1.0), np.full(n_i, -1.0)
    touches = gap + u_e[0] <= 1e-12
    if touches:  # the whole impact, before half a kick
        v_e[0] = max(0.0, v_e[0])
    f_e = e.force(0.0) - e.K @ u_e - alpha * e.M * v_e
    f_i = i.force(0.0) - i.K @ u_i - alpha * i.M * v_i
    inverse = L_e @ np.diag(1 / e.M) @ L_e.T + L_i @ np.diag(1 / i.M) @ L_i.T
    multipliers = np.linalg.solve(inverse, -(L_e @ (f_e / e.M) + L_i @ (f_i / i.M)))
    a_i = (f_i + L_i.T @ multipliers) / i.M
    V = v_e + dt / 2 * (f_e + L_e.T @ multipliers) / e.M
    if touches:
        V[0] = max(0.0, V[0])
    free_old = v_i - gamma * DT * np.linalg.solve(effective, L_i.T @ multipliers)
    for n in range(steps):
        pV, pU = v_i + (1 - gamma) * DT * a_i, u_i + DT * v_i + (0.5 - beta) * DT**2 * a_i
        b = i.force((n + 1) * DT) - i.K @ pU - alpha * i.M * pV
        a_free = np.linalg.solve(effective, b)
        free_new, impulses = pV + gamma * DT * a_free, []
        for j in range(1, m + 1):
            u_e = u_e + dt * V
            w = dt * (e.force((n * m + j) * dt) - e.K @ u_e) / e.M - alpha * dt * V
            free = (1 - j / m) * free_old + j / m * free_new
            right = np.concatenate([np.zeros(n_e + n_i), -(L_e @ (V + w / 2) + L_i @ free)])
            link, a_link, multipliers = np.split(np.linalg.solve(saddle, right), [n_e, n_e + n_i])
            w = w + link
            closed = u_e[0] + gap <= 1e-12
            impulses.append(max(0.0, -e.M[0] * (V[0] + w[0])) if closed else 0.0)
            w[0] += impulses[-1] / e.M[0]
            V = V + w
        v_e, a_i = V - w / 2, a_free + a_link
        u_i, v_i, free_old = pU + beta * DT**2 * a_i, pV + gamma * DT * a_i, free_new
        yield u_e, v_e, u_i, v_i, multipliers, np.array(impulses)


def start_form(x):
    return 0.02 * np.sin(3.0 * x)


@pytest.mark.mpi
@pytest.mark.parametrize(NAMES, [row if row[1] == 3 else pytest.param(*row, marks=ONE_RANK) for row in ROWS])
def test_against_a_dense_reference(near, ratio, alpha, compiled):
    """Both sides, multipliers and the impulses of all fine steps, with loads that follow a signal."""
    compare_with_reference(near, ratio, alpha, compiled=compiled)


@pytest.mark.mpi
@pytest.mark.parametrize("ratio", [*serially(1), 4])
def test_gap_closed_at_the_start(ratio):
    """The first half-step velocity respects the obstacle already."""
    s = compare_with_reference(LAYOUTS["left"], ratio, 0.5, gap=0.0)
    s.start(0.0, -1.0)
    assert sum_over_ranks(s.r) > 0.01
    result = di.simulate(s, t_end=60 // ratio * s.dt, progress=False)
    assert np.abs(result["residual"]).max() < 1e-13 * result["kinetic"][0]


def compare_with_reference(near, ratio, alpha, gap=GAP, **options):
    s = glued(
        bar(near=near),
        ratio,
        damping=alpha,
        gravity=(-0.3,),
        gap=gap,
        fine=pulls(near, True),
        coarse=pulls(near, False),
        **options,
    )
    near_body, far_body = s.fine.system, s.coarse.system
    s.start(start_form(near_body.x[: near_body.owned, 0]), -1.0)
    found = []
    for _ in range(60 // ratio):
        s.step()
        near_side = [field(near_body, x) for x in (s.fine.u, s.fine.v_mean)]
        far_side = [field(far_body, x) for x in (s.coarse.u, s.coarse.v)]
        impulses = parallel.gather_rows(COMM, s.contacts.r.copy(), axis=1)[:, 0]
        found.append([*near_side, *far_side, sorted_by_place(s, s.multipliers), impulses])
    nodes = np.linspace(0.0, 1.0, 13)
    true = list(reference(nodes, near, s.fine.dt, ratio, 60 // ratio, alpha, start_form, gap=gap))
    for mine, theirs in zip(zip(*found), zip(*true)):
        mine, theirs = np.array(mine), np.array(theirs)
        assert mine.shape == theirs.shape
        assert np.abs(mine - theirs).max() < 1e-12 * np.abs(theirs).max()
    assert np.count_nonzero([step[-1] for step in true]) > 5
    return s


def pulls(near, of_fine):
    """The traction at the far end, for the side that has it."""
    return {"traction": {"end": ((0.4,), pulse)}} if near(np.array([[1.0]]))[0] == of_fine else {}


def sorted_by_place(s, values):
    """Values at this rank's pairs, all of them sorted by their places on the line."""
    x = parallel.gather_rows(COMM, s.fine.system.x[s.interface.dofs, 0])
    return parallel.gather_rows(COMM, values)[np.argsort(x)]


# -- what holds at every step


@pytest.mark.mpi
@pytest.mark.parametrize(
    "make, ratio", [pytest.param(bar, 1, marks=ONE_RANK), pytest.param(plate, 10, marks=ONE_RANK), (plate, 4)]
)
def test_velocities_agree_at_every_fine_time(make, ratio):
    """At coarse times as they are, between them as (74) interpolates; a compiled loop changes nothing."""
    s, plain = (glued(make(), ratio, kind=kind, damping=0.3) for kind in (Watched, HATI))
    jumps, results = [], []
    for each in (s, plain):
        each.start(0.0, [-1.0] * s.fine.system.gdim)
        results.append(
            di.simulate(
                each,
                t_end=60 // ratio * s.dt,
                progress=False,
                observers=[lambda x: jumps.append(x.velocity_jump())],
            )
        )
    assert len(s.seen["jump"]) == 60 // ratio * ratio
    assert max(jumps) < 1e-13
    assert parallel.largest(COMM, np.abs(np.array(s.seen["jump"]))) < 1e-13
    assert parallel.largest(COMM, np.abs(np.array(s.seen["multipliers"]))) > 0.01
    for a, b in (
        (s.u, plain.u),
        (s.v, plain.v),
        (s.fine.v, plain.fine.v),
        (s.multipliers, plain.multipliers),
        (s.contacts.r, plain.contacts.r),
        (s.contacts.gap, plain.contacts.gap),
    ):
        assert parallel.largest(COMM, np.abs(a - b)) < 1e-12
    for name in di.EnergyBalance.state_names:
        assert results[0][name] == pytest.approx(results[1][name], abs=1e-12)


def stretch(t):
    return 0.03 * np.cos(3.0 * t) - 0.03 - t


SETTINGS = {
    "contact": ("left", {}),
    "damping": ("left", {"damping": 0.8}),
    "loads": ("both ends", {"gravity": (-0.4,), "ground_acceleration": ((0.7,), pulse)}),
    "loads, damping": (
        "left",
        {
            "gravity": (-0.4,),
            "ground_acceleration": ((0.7,), pulse),
            "damping": 0.8,
            "coarse": {"traction": {"end": ((0.5,), pulse)}},
        },
    ),
    "moved fine": ("both ends", {"fine": {"prescribed": {"end": {0: ride}}}}),
    "moved coarse": ("left", {"coarse": {"prescribed": {"end": {0: stretch}}}}),
    "moved both": (
        "left",
        {
            "contact": False,
            "fine": {"prescribed": {"tip": {0: ride}}},
            "coarse": {"prescribed": {"end": {0: stretch}}},
        },
    ),
    "everything": (
        "left",
        {
            "contact": False,
            "gravity": (-0.4,),
            "ground_acceleration": ((0.7,), pulse),
            "damping": 0.8,
            "fine": {"prescribed": {"tip": {0: ride}}},
            "coarse": {"prescribed": {"end": {0: stretch}}},
        },
    ),
}


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "name, ratio", [pytest.param("everything", 1, marks=ONE_RANK), *((name, 7) for name in SETTINGS)]
)
def test_balance_closes(name, ratio):
    """Every joule has its term, those of whoever moves dofs too; moved dofs are where they belong."""
    layout, options = SETTINGS[name]
    s = glued(bar(near=LAYOUTS[layout]), ratio, **options)
    s.start(0.0, -1.0)
    strays = [0.0]
    sides = [side for side in (s.fine, s.coarse) if side.system.prescribed.any]

    def look(x):
        for side in sides:
            strays.extend(np.abs(side.u[side.system.prescribed.dofs] - side.system.prescribed(x.t)))

    result = di.simulate(s, t_end=140 // ratio * s.dt, progress=False, observers=[look])
    scale = max(np.abs(result[name]).max() for name in ("kinetic", "external", "internal", "dissipated"))
    assert np.abs(result["residual"]).max() < 1e-13 * scale
    assert np.abs(result["internal_work"] - result["internal"]).max() < 1e-13 * scale
    assert parallel.largest(COMM, np.array(strays)) < 1e-14
    assert s.velocity_jump() < 1e-13
    assert result.balance and np.abs(result["interface"]).max() > 1e-6 * scale
    assert (result["dissipated"][-1] > 0.01 * scale) == ("damping" in options)
    assert (np.abs(result["external"]).max() > 0.01 * scale) == (options.keys() - {"damping"} != set())
    assert (result["r"].sum() > 0.1) == options.get("contact", True)


@pytest.mark.mpi
@pytest.mark.parametrize("ratio", [1, 5])
def test_moved_nodes_of_the_interface(ratio):
    """Moved alike on both sides they need no multiplier; the other direction of the node keeps its own."""
    s = glued(
        plate(),
        ratio,
        prescribed={"side": {0: lambda t: 0.1 * np.sin(4.0 * t) ** 2}},
        damping=0.3,
        gravity=(0.2, -0.3),
    )
    s.start(0.0, np.tile([0.0, -1.0], s.fine.system.owned // 2))
    result = di.simulate(s, t_end=40 // ratio * s.dt, progress=False)
    assert s.interface.total == 25 and s.velocity_jump() < 1e-13
    scale = max(result["kinetic"].max(), np.abs(result["external"]).max())
    assert np.abs(result["residual"]).max() < 1e-13 * scale
    assert result["r"].sum() > 0.1 and np.abs(result["external"]).max() > 0.1


@pytest.mark.mpi
def test_prescribed_stretching_is_exact_on_both_sides():
    """u = c x t: no inertia, one stress everywhere; the work of the end is that of the spring."""
    rate = 0.3
    s = glued(
        bar(),
        5,
        contact=False,
        fine={"fixed": ("tip",)},
        coarse={"prescribed": {"end": {0: lambda t: rate * t}}},
    )
    x = s.fine.system.x[: s.fine.system.owned, 0]
    s.start(0.0, rate * x)
    result = di.simulate(s, t_end=30 * s.dt, progress=False)
    for side in (s.fine, s.coarse):
        n, inside = side.system.owned, side.system.active
        assert np.abs(side.u[:n] - rate * s.t * x)[inside].max(initial=0.0) < 1e-12
    tension = E * SECTION * rate * s.t
    assert parallel.gather_rows(COMM, s.multipliers) == pytest.approx([tension], rel=1e-11)
    assert result["external"][-1] == pytest.approx(tension * rate * s.t / 2, rel=1e-11)
    assert np.abs(result["interface"]).max() < 1e-13


@given(
    ratio=st.integers(1, 15),
    step=st.floats(0.05, 0.99),
    cut=st.integers(2, 10),
    damping=st.floats(0.0, 1.0),
    gap=st.floats(0.0, 0.3),
    restitution=st.floats(0.0, 1.0),
)
@examples(6, phases=[Phase.generate])
def test_whatever_the_ratio_and_the_parts(ratio, step, cut, damping, gap, restitution):
    """Equal velocities, a closed balance, and impulses of closed gaps alone, never pulling."""
    s = glued(
        bar(cut=(cut + 0.5) / 12),
        ratio,
        step=step,
        damping=damping,
        gap=gap,
        law={"restitution": restitution},
    )
    s.start(0.0, -1.0)
    worst = []

    def look(x):
        free = x.contacts.gap > x.contact.gap_tolerance
        worst.append([x.velocity_jump(), np.abs(x.contacts.r[free]).max(initial=0.0), -x.contacts.r.min()])

    result = di.simulate(s, t_end=max(1, 80 // ratio) * s.dt, progress=False, observers=[look])
    jump, pull, negative = np.max(worst, axis=0)
    assert jump < 1e-12 and pull == 0.0 and negative <= 0.0
    assert np.abs(result["residual"]).max() < 1e-12 * result["kinetic"].max()


def box():
    mesh = dmesh.create_box(COMM, [[0.0, 0.0, 0.0], [2.0, 1.0, 1.0]], [6, 2, 4], dmesh.CellType.hexahedron)
    return divided(mesh, lambda x: x[2] < 0.5, tip=lambda x: np.isclose(x[2], 0.0))


def growing(t):
    """A number to this power is not rounded as an array is."""
    return t**3 + np.sin(7.0 * t) ** 2


def in_rows(s):
    """Make the stiffness of both sides one in sparse rows, as that of frames is."""
    for body in (s.system.fine, s.system.coarse):
        body.stiffness.csr, body.stiffness.pairs = sparse_rows(body.stiffness.scipy()), None
    return s


@pytest.mark.parametrize(
    "make, options",
    [
        (bar, {"damping": 0.6, "ground_acceleration": ((0.7,), growing), "law": {"restitution": 0.5}}),
        (plate, {"gravity": (0.1, -0.3), "coarse": {"fixed": {"end": (0,)}}}),
        (plate, {"law": {"restitution": 0.3}, "kind": in_rows, "ground_acceleration": ((0.2, 0.1), growing)}),
        (bar, {"near": LAYOUTS["both ends"], "contact": False, "damping": 0.2, "kind": in_rows}),
        (box, {"damping": 0.3, "normal": (0.1, 0.2, 1.0), "law": {"restitution": 1.0}}),
    ],
)
def test_compiled_or_not_to_the_last_bit(make, options):
    """Coarse steps in a loop, fine steps in a loop, all of them one by one; also the state behind them."""
    pytest.importorskip("numba")
    own, found = dict(options), []
    near = {"near": own.pop("near")} if "near" in own else {}
    change = own.pop("kind", lambda s: s)
    for compiled in (True, None, False):
        s = change(glued(make(**near), 4, **own))
        dim = s.fine.system.mesh.geometry.dim
        x = s.fine.system.x[: s.fine.system.owned // dim]
        s.start(0.0, (0.1 * np.cos(3 * x[:, :dim]) - np.eye(dim)[-1]).ravel(), t0=0.1)
        rows = s.rows_of(s.fine.system.rows())
        run = di.simulate(s, t_end=0.1 + 40 * s.dt, record=rows, compiled=compiled, progress=False)
        assert s.compiled is not False or compiled is False
        found.append((run, s.state()))
    (fast, end), *others = found
    assert own.get("contact", True) == fast["r"].any()
    for slow, state in others:
        for name in ("u", "v", "v_t", "gap", "r", *di.EnergyBalance.state_names):
            np.testing.assert_array_equal(fast[name], slow[name], err_msg=name)
        for name, values in state.items():
            np.testing.assert_array_equal(end[name], values, err_msg=name)
    assert np.abs(fast["residual"]).max() < 1e-13 * max(fast[name].max() for name in ("kinetic", "external"))


@pytest.mark.mpi
@pytest.mark.parametrize("compiled", [None, *serially(True), False])
def test_a_long_way_gives_no_force(compiled):
    """A body that is far from where it was made keeps its balance, and moves as one that is not."""
    if not kernels.load().COMPILED:
        pytest.skip("only sums over pairs of nodes, which are for numba, are exact for translations")
    ends = []
    for away in (0.0, 1000.0):
        s = glued(plate(), 10, contact=False)
        s.start([away] * s.fine.system.gdim, swirl(s.fine.system))
        result = di.simulate(s, t_end=10 * s.dt, progress=False, compiled=compiled)
        assert np.abs(result["residual"]).max() < 1e-14 * result["kinetic"][0]
        ends.append([field(side.system, side.u) - away for side in (s.fine, s.coarse)])
    for near, far in zip(*ends):
        assert np.abs(near - far).max() < 1e-10  # u is rounded at 1000, to 1e-13, in every step


@pytest.mark.mpi
def test_who_solves_on_the_implicit_side(monkeypatch):
    """Own factors give what PETSc does; they are not for options of its solver, nor for many dofs."""
    from petsc4py import PETSc

    named = box()
    s = glued(named, 4)
    assert isinstance(s.coarse.solver, SymmetricSolver) == (COMM.size == 1 and kernels.load().COMPILED)
    monkeypatch.setattr(matrices, "SMALL", 10)
    large = glued(named, 4)
    monkeypatch.undo()
    PETSc.Options()["impact_hati_ksp_type"] = "preonly"
    try:
        asked = glued(named, 4)
    finally:
        PETSc.Options().delValue("impact_hati_ksp_type")
    b, found = np.cos(np.arange(float(s.coarse.u.size))), []
    for each in (s, large, asked):
        x = np.full(b.size, np.nan)
        each.coarse.solver.solve(b, x)
        found.append(x[: s.coarse.system.owned])
        assert np.abs(each.coarse.compliance - s.coarse.compliance).max() < 1e-13 * s.coarse.compliance.max()
    for x in found[1:]:
        assert parallel.largest(COMM, np.abs(x - found[0])) < 1e-13 * parallel.largest(COMM, np.abs(x))
    for each in (large, asked):
        assert isinstance(each.coarse.solver, FactorisedSolver)
        each.start(0.0, 0.0)
        why = "solved by PETSc" if COMM.size == 1 and kernels.load().COMPILED else "several ranks|numba"
        with pytest.raises(ValueError, match=why):
            di.simulate(each, t_end=each.dt, compiled=True, progress=False)


# -- the interface's energy, and the wrong readings


def run_noting(ratio, kind=HATI, step=0.6, contact=True, t_end=3.0):
    """A run, and at its coarse times: ``W_n`` and ``[u]`` at the explicit copies, multipliers."""
    s = glued(bar(), ratio, kind=kind, step=step, contact=contact)
    s.start(start_form(s.fine.system.x[: s.fine.system.owned, 0]), -1.0)
    g, notes = s.interface.dofs, []

    def note(x):
        notes.append([x.fine.v[g] - x.fine.v_before[g], x.fine.u[g], x.coarse.u[g], x.multipliers.copy()])

    note(s)
    result = di.simulate(s, t_end=t_end, progress=False, observers=[note])
    return s, result, [np.array(parts) for parts in zip(*notes)]


def sum_over_ranks(values):
    return COMM.allreduce(float(np.sum(values)))


def test_interface_energy_of_equal_steps():
    """W = -(dt/4) sum [L_E W].<Lambda>, of second order; the increments of (93) in print do not close."""
    losses = []
    for step in (0.4, 0.2):
        s, result, (kicks, fine, coarse, multipliers) = run_noting(1, step=step)
        means = (multipliers[1:] + multipliers[:-1]) / 2
        expected = -s.dt / 4 * sum_over_ranks(np.diff(kicks, axis=0) * means)
        scale = result["kinetic"][0]
        assert result["interface"][-1] == pytest.approx(expected, abs=1e-14 * scale)
        ways = np.diff(fine, axis=0) - np.diff(coarse, axis=0)
        assert result["interface"][-1] == pytest.approx(sum_over_ranks(ways * means), abs=1e-14 * scale)
        printed = sum_over_ranks(ways * np.diff(multipliers, axis=0))
        assert abs(result["residual"][-1]) < 1e-13 * scale
        assert abs(printed - expected) > 0.3 * abs(expected) > 1e-6 * scale
        _, smooth, _ = run_noting(1, step=step, contact=False)
        losses.append(np.abs(smooth["interface"]).max())
    orders = np.log2(np.array(losses[:-1]) / losses[1:])
    assert orders == pytest.approx([2.0], abs=0.15)


def test_total_velocity_in_place_of_the_free_one_loses_energy():
    """It keeps the velocities equal and closes its balance, too: only the loss tells."""
    losses = {}
    for kind in (HATI, TotalVelocity):
        s, result, _ = run_noting(10, kind=kind, step=0.05, t_end=2.0)
        losses[kind] = -result["interface"][-1] / result["kinetic"][0]
        assert s.velocity_jump() < 1e-13
        assert np.abs(result["residual"]).max() < 1e-13 * result["kinetic"][0]
    assert losses[TotalVelocity] > 0.1 > 10 * losses[HATI] > 0


def test_smaller_ratios_approach_the_undivided_body():
    """At one fine step, the fewer of them a coarse one has, the nearer to CD-Lagrange on the whole mesh."""
    named, errors = bar(24), []
    whole = solid(named)
    dt = 0.1 * whole.critical_time_step()
    explicit = di.CDLagrange(whole, dt, di.RigidContact(whole, "tip", di.Plane([-GAP], [1.0])))
    explicit.start(0.0, -1.0)
    steps = 160
    true = di.simulate(explicit, t_end=steps * dt, record=whole.rows(), progress=False)
    for ratio in (16, 4, 1):
        near, far = solid(named, "near"), solid(named, "far")
        s = HATI(near, far, dt, di.RigidContact(near, "tip", di.Plane([-GAP], [1.0])), ratio=ratio)
        s.start(0.0, -1.0)
        rows = s.coarse_rows(far.rows())
        found = di.simulate(s, t_end=steps * dt, record=rows, progress=False)
        slots = slice(whole_count(whole) - whole_count(far), None)
        errors.append(np.abs(found["u"] - true["u"][::ratio, slots]).max())
    assert (np.diff(errors) < 0).all()
    assert errors[-1] < 1e-3 * np.abs(true["u"]).max()


def whole_count(body):
    return COMM.allreduce(body.rows().count)


# -- on meshes of all dimensions and on several ranks


MESHES = {
    "line": bar,
    "quadrilaterals": plate,
    "box": box,
    "triangles": lambda: plate(dmesh.CellType.triangle),
}


@pytest.mark.mpi
@pytest.mark.parametrize("make", MESHES.values(), ids=MESHES.keys())
def test_same_on_any_number_of_ranks(make, as_on_one_rank):
    """The motion is that of one rank, wherever the partition cuts the interface."""
    s = glued(make(), 4)
    dim = s.fine.system.mesh.geometry.dim
    x = s.fine.system.x[: s.fine.system.owned // dim]
    s.start(0.0, (np.cos(2 * x[:, :1]) * 0.3 - np.eye(dim)[-1]).ravel())
    result = di.simulate(s, t_end=15 * s.dt, progress=False)
    assert np.abs(result["residual"]).max() < 1e-12 * result["kinetic"][0]
    assert s.velocity_jump() < 1e-13 and result["r"].sum() > 0.1
    if dim > 1:
        ranks = COMM.allreduce(int(s.interface.dofs.size > 0))
        assert ranks == COMM.size
        assert s.interface.total == COMM.allreduce(s.interface.dofs.size) == {2: 26, 3: 63}[dim]
    sides = [field(side.system, x) for side in (s.fine, s.coarse) for x in (side.u, side.v)]
    found = [result["r"], *sides]
    for mine, theirs in zip(found, as_on_one_rank(found)):
        assert np.abs(mine - theirs).max() < 1e-11 * np.abs(theirs).max()


def momenta(s):
    """Linear and, about the origin, angular momentum of both sides at ``t`` in the plane."""
    sums = np.zeros(3)
    for side, v in ((s.fine.system, s.fine.v_mean), (s.coarse.system, s.coarse.v)):
        n = side.owned
        p = (side.mass * v[:n]).reshape(-1, 2)
        x = side.x[: n // 2]
        sums += [*p.sum(axis=0), np.sum(x[:, 0] * p[:, 1] - x[:, 1] * p[:, 0])]
    return COMM.allreduce(sums)


def swirl(body):
    x = body.x[: body.owned // 2]
    return np.column_stack([np.sin(2 * x[:, 1]), np.cos(x[:, 0])]).ravel()


@pytest.mark.mpi
def test_momenta_without_loads():
    """The multipliers cancel: at m = 1 exactly, else up to how (54) and the fine steps weigh them."""
    s = glued(plate(), 1, contact=False)
    s.start(0.0, swirl(s.fine.system))
    p = [momenta(s)]
    di.simulate(s, t_end=50 * s.dt, progress=False, observers=[lambda x: p.append(momenta(x))])
    assert np.abs(np.array(p) - p[0]).max() < 1e-12 * np.abs(p[0]).max()
    s = glued(plate(), 7, kind=Watched, contact=False)
    s.start(0.0, swirl(s.fine.system))
    p, steps = momenta(s), 10
    di.simulate(s, t_end=steps * s.dt, progress=False)
    every = np.array(s.seen["multipliers"])
    fine = s.fine.dt * (every[1:] + every[:-1]).sum(axis=0) / 2
    coarse = s.dt * (every[7::7] + every[:-7:7]).sum(axis=0) / 2
    defect = [sum_over_ranks((fine - coarse)[s.interface.dofs % 2 == i]) for i in (0, 1)]
    change = momenta(s) - p
    assert change[:2] == pytest.approx(defect, abs=1e-13 * np.abs(p).max())
    assert 1e-6 < np.abs(change[:2]).max() / np.abs(p).max() < 0.1


# -- contact laws away from the interface


@pytest.mark.mpi
def test_restitution_at_fine_times():
    """Newton's law between the half-step velocities of the fine step at hand."""
    s = glued(bar(), 6, kind=Watched, law={"restitution": 0.6})
    s.start(0.0, -1.0)
    result = di.simulate(s, t_end=30 * s.dt, progress=False)
    seen = (np.array(s.seen[name]) for name in ("before", "after", "r"))
    before, after, r = (parallel.gather_rows(COMM, x, axis=1) for x in seen)
    hit = r > 0
    assert hit.sum() > 3 and (after[hit] > 0).any()
    assert np.abs(after[hit] + 0.6 * before[hit]).max() < 1e-13
    assert r.sum() == pytest.approx(result["r"].sum(), rel=1e-13)
    assert np.abs(result["residual"]).max() < 1e-13 * result["kinetic"][0]
    assert result["contact"][-1] < 0


@pytest.mark.mpi
@pytest.mark.parametrize("ratio", [1, 5])
def test_friction_takes_the_momentum_of_the_slip(ratio):
    s = glued(plate(), ratio, law={"friction": 0.2})
    s.start(0.0, np.tile([1.0, -1.0], s.fine.system.owned // 2))
    p, impulses = [momenta(s)], [np.zeros(2)]

    def note(x):
        p.append(momenta(x))
        impulses.append([sum_over_ranks(x.r_t[:, 0]), sum_over_ranks(x.r)])
        assert np.all(np.linalg.norm(x.r_t, axis=1) <= 0.2 * x.r * (1 + 1e-12))

    result = di.simulate(s, t_end=40 // ratio * s.dt, progress=False, observers=[note])
    impulses = np.array(impulses)
    assert impulses[:, 0].sum() < -0.1 and impulses[:, 1].sum() > 1.0
    assert np.abs(result["residual"]).max() < 1e-13 * result["kinetic"][0]
    if ratio == 1:  # the impulse of t acts by half on the mean velocity at t
        expected = np.cumsum(impulses, axis=0) - impulses / 2
        assert np.abs(np.array(p)[:, :2] - p[0][:2] - expected).max() < 1e-13 * np.abs(p[0]).max()


# -- restarts


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


@pytest.mark.mpi
@pytest.mark.parametrize("make", [bar, plate], ids=["line", "plate"])
def test_restart_goes_on_bit_by_bit(make):
    """All that the next step needs is in the state, also the free velocity of the step before."""
    s, again, wrong = (glued(make(), 5, damping=0.2) for _ in range(3))
    s.start(0.0, [-1.0] * s.fine.system.gdim, t0=0.3)
    for _ in range(2):
        s.step()
    state = s.state()
    again.resume(state)
    wrong.resume({**state, "free_velocity": 0 * state["free_velocity"]})
    assert (again.t, again.n, again.fine.t) == (s.t, s.n, s.fine.t)
    assert same(again.state(), state) and np.array_equal(again.multipliers, s.multipliers)
    impulses = 0.0
    for _ in range(6):
        for each in (s, again, wrong):
            each.step()
        impulses += sum_over_ranks(s.r)
        assert same(again.state(), s.state())
    assert impulses > 0.1
    assert parallel.largest(COMM, np.abs(wrong.u - s.u)) > 1e-3
    again.resume(state)
    result = di.simulate(again, t_end=s.t, progress=False)
    assert np.abs(result["residual"]).max() < 1e-13 * result["kinetic"][0]


@pytest.mark.mpi
def test_states_that_do_not_fit():
    s, other, loose = glued(bar(), 2), glued(bar(20), 2), glued(bar(), 2, contact=False)
    other.start(0.0, -1.0)
    state = other.state()
    with pytest.raises(ValueError, match="this is no state of the run: "):
        s.resume(state)
    s.start(0.0, -1.0)
    state = s.state()
    with pytest.raises(ValueError, match="this is no state of the implicit subdomain"):
        s.resume({name: value for name, value in state.items() if not name.startswith("coarse")})
    with pytest.raises(ValueError, match="this is no state of the run: free_velocity has shape"):
        s.resume({name: value for name, value in state.items() if name != "free_velocity"})
    with pytest.raises(ValueError, match="this is no state of the run: r.* has shape"):
        loose.resume(state)


# -- bad input


@pytest.mark.parametrize("ratio", [0, -1, 2.5, True, np.nan, np.inf])
def test_bad_ratio(ratio):
    with pytest.raises(ValueError, match="ratio of the time steps must be a whole number from 1 on, but is"):
        glued(bar(), ratio)


@pytest.mark.parametrize(
    "step, words",
    [
        (1.01, "is above the critical one"),
        (0.0, "dt must be positive"),
        (-1.0, "dt must be positive"),
        (np.nan, "dt must be positive"),
    ],
)
def test_bad_step(step, words):
    with pytest.raises(ValueError, match=words):
        glued(bar(), 3, step=step)


def test_step_limit_is_that_of_the_explicit_side():
    """A fine mesh of the implicit side does not count."""
    mesh = dmesh.create_interval(COMM, 12, [0.0, 1.0])
    mesh.geometry.x[:, 0] = np.minimum(mesh.geometry.x[:, 0], 0.5 + 0.1 * (mesh.geometry.x[:, 0] - 0.5))
    named = divided(mesh, lambda x: x[0] < 1 / 3, tip=lambda x: np.isclose(x[0], 0.0))
    s = glued(named, 4, step=0.9)
    assert s.fine.dt > 5 * s.coarse.system.critical_time_step() and not s.beyond_limit
    s.start(0.0, -1.0)
    result = di.simulate(s, t_end=50 * s.dt, progress=False)
    assert np.abs(result["residual"]).max() < 1e-12 * result["kinetic"][0]


def all_of(named):
    return HATI(solid(named), solid(named, "far"), 0.01, ratio=2)


def overlapping(named):
    return HATI(solid(named, "near"), solid(named, ("near", "far")), 0.01, ratio=2)


def of_two_meshes(named):
    return HATI(solid(named, "near"), solid(bar(), "far"), 0.01, ratio=2)


def of_two_degrees(named):
    return HATI(solid(named, "near"), solid(named, "far", degree=2), 0.01, ratio=2)


def no_body(named):
    return HATI(di.PointMasses(1.0), solid(named, "far"), 0.01, ratio=2)


def without_interface(named):
    """Three parts, the outer two of which do not touch."""
    mesh = named.mesh
    ends = divided(mesh, lambda x: x[0] < 1 / 3)
    apart = divided(mesh, lambda x: x[0] > 2 / 3)
    tags = np.where(apart.cell_tags.values == 1, 3, ends.cell_tags.values).astype(np.int32)
    tagged = dmesh.meshtags(mesh, 1, ends.cell_tags.indices, tags)
    three = di.NamedMesh(mesh, tagged, None, {"near": (1, 1), "middle": (1, 2), "far": (1, 3)})
    return HATI(solid(three, "near"), solid(three, "far"), 0.01, ratio=2)


def contact_on_the_interface(named):
    """All nodes on the plate's left edge, those where the two halves meet too."""
    near, far = solid(plate(), "near"), None
    far = di.Solid(near.named, density=DENSITY, law=near.law, cells="far")
    return HATI(near, far, 0.01, di.RigidContact(near, "side", di.Plane([-0.1, 0.0], [1.0, 0.0])), ratio=2)


def contact_of_another(named):
    near, far, other = solid(named, "near"), solid(named, "far"), solid(named, "near")
    return HATI(near, far, 0.01, di.RigidContact(other, "tip", di.Plane([-0.1], [1.0])), ratio=2)


def held_on_one_side(named):
    named = plate()
    return HATI(solid(named, "near", fixed={"side": (0,)}), solid(named, "far"), 0.01, ratio=2)


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "wrong, words",
    [
        (all_of, "one of the subdomains has all cells of the mesh"),
        (overlapping, "the subdomains overlap"),
        (of_two_meshes, "must be bodies on parts of one mesh with the same elements"),
        (of_two_degrees, "must be bodies on parts of one mesh with the same elements"),
        (no_body, "fine must be a Solid or a Frame, not"),
        (without_interface, "are not connected"),
        (contact_on_the_interface, "1 contact dofs lie on the interface .* leave at least one layer"),
        (contact_of_another, "the contact must be made for the explicit subdomain, fine"),
        (held_on_one_side, "dofs of the interface are constrained in one subdomain only"),
        (lambda named: solid(named, "nowhere"), "the parts nowhere have no cells in the mesh"),
        (lambda named: solid(named, "middle"), "no cells are named 'middle' in the mesh; named are"),
    ],
)
def test_bad_subdomains(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong(bar())


class Record:
    """A motion that is known for a while."""

    duration = 1.0

    def __call__(self, t):
        return -np.asarray(t)


@pytest.mark.mpi
def test_signal_that_ends_before_the_run():
    """Motions of the explicit side must be known one fine step further."""
    for part, longer in (("coarse", 0), ("fine", 1)):
        where = {"fine": "tip", "coarse": "end"}[part]
        s = glued(bar(), 2, contact=False, **{part: {"prescribed": {where: {0: Record()}}}})
        s.start(0.0, -1.0)
        assert s.system.until == 1.0
        whole = (1.0 - longer * s.fine.dt) // s.dt
        with pytest.raises(ValueError, match="but knows them to 1 s"):
            di.simulate(s, t_end=(whole + 1) * s.dt, progress=False)
        assert di.simulate(s, t_end=whole * s.dt, progress=False)["t"][-1] == pytest.approx(whole * s.dt)


class Asked(di.Solid):
    """A body with a solver of its own."""

    asked = 0

    def implicit_solver(self, *arguments, **options):
        self.asked += 1
        return super().implicit_solver(*arguments, **options)


def test_a_subdomain_with_a_solver_of_its_own_keeps_it():
    """The factors of loops would be those of another matrix."""
    law = di.LinearElastic(3.0, 0.0)
    named = bar()
    near, far = (
        di.Solid(named, density=2.0, law=law, cells="near"),
        Asked(named, density=2.0, law=law, cells="far"),
    )
    HATI(near, far, 0.5 * near.critical_time_step(), ratio=4)
    assert far.asked == 1

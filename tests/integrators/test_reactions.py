"""Forces of prescribed motions that bear contact: the balance of a tool, and the momentum that it gives."""

import numpy as np
import pytest
from mpi4py import MPI
from support.colliding import block

import dolfinx_impact as di
from dolfinx_impact import parallel

TERMS = di.EnergyBalance.state_names
COMM = MPI.COMM_WORLD
MU, WEIGHT, H = 0.3, 10.0 * 20.0, 2e-4
ELASTIC = di.LinearElastic(1e7, 0.0)
SCHEMES = [di.CDLagrange, di.NohBathe, di.MoreauJean, di.GeneralizedAlpha]


def body(moved, law=ELASTIC, cells=(4, 1), down=-10.0, **options):
    """A block of 0.2 m x 0.1 m, 20 kg, on a belt whose ``moved`` facets move at 1 m/s."""
    belt = di.named(
        block([-0.1, -0.1], [0.3, 0.0], cells),
        top=lambda x: np.isclose(x[1], 0.0),
        foot=lambda x: np.isclose(x[1], -0.1),
    )
    mesh = di.mesh.join({"a": block([0.0, 0.0], [0.2, 0.1], (2, 1)), "b": belt})
    motion = {moved: {0: lambda t: t, 1: lambda t: 0.0}} if moved else {}
    return di.Solid(mesh, law=law, density=1000.0, gravity=(0.0, down), prescribed=motion, **options)


def on_belt(moved="b/boundary", **options):
    """The block, its contact with friction, and no impulse of other obstacles."""
    solid = body(moved, **options)
    return solid, di.SurfaceContact(solid, "a/boundary", "b/top", friction=MU), lambda run: 0.0


def on_belt_at_wall():
    """A wall holds the block back on the belt: a list of contacts."""
    solid, contact, _ = on_belt()
    wall = di.RigidContact(solid, "a/boundary", di.Plane([0.2, 0.0], [-1.0, 0.0]), friction=0.1)
    return solid, [contact, wall], lambda run: -run["r"][1:, contact.total :].sum()


def tied():
    """The block is glued to the belt, and has its velocity at the start."""
    solid = body("b/boundary")
    return solid, di.SurfaceContact(solid, "a/boundary", "b/top", tie=True), lambda run: 0.0


def of_pairs():
    """Nodes that face each other; the belt is moved along its top and held at its foot."""
    belt = block([0.0, -0.1], [0.2, 0.0], (2, 1))
    belt = di.named(belt, top=lambda x: np.isclose(x[1], 0.0), foot=lambda x: np.isclose(x[1], -0.1))
    upper = di.named(block([0.0, 0.0], [0.2, 0.1], (2, 1)), down=lambda x: np.isclose(x[1], 0.0))
    solid = di.Solid(
        di.mesh.join({"a": upper, "b": belt}),
        law=ELASTIC,
        density=1000.0,
        gravity=(0.0, -10.0),
        fixed={"b/foot": [1]},
        prescribed={"b/boundary": {0: lambda t: t}},
    )
    pairs = di.NodePairs(solid, "b/top", "a/down", [0.0, 1.0], friction=MU)
    return solid, pairs, lambda run: 0.0


def momentum(solid, v):
    return parallel.total(solid.comm, float(np.sum((solid.mass * v[: solid.owned])[0::2])))


def run(scheme, solid, contact, steps, v0=None, adapt=None):
    """The run, its sum of horizontal reactions times h after each step, and the momentum that was gained."""
    s = scheme(solid, H, contact=contact)
    s.start(0.0, solid.rigid_velocity((1.0, 0.0), cells="b") if v0 is None else v0)
    across, given, before = solid.prescribed.dofs % 2 == 0, [], momentum(solid, s.v)

    def look(x):
        given.append(x.dt * parallel.total(solid.comm, float(x.reactions()[across].sum())))

    result = di.simulate(s, t_end=steps * H, observers=[look], progress=False, adapt=adapt)
    return result, np.array(given), momentum(solid, s.v) - before


def scale(result):
    names = ("kinetic", "internal", "external", "contact", "dissipated")
    return max(np.abs(result[name]).max() for name in names)


@pytest.mark.mpi(cases=3)
@pytest.mark.parametrize(
    ("make", "scheme"),
    [(on_belt, scheme) for scheme in SCHEMES]
    + [(on_belt_at_wall, scheme) for scheme in (di.CDLagrange, di.MoreauJean)]
    + [(tied, scheme) for scheme in (di.NohBathe, di.GeneralizedAlpha)]
    + [(of_pairs, scheme) for scheme in SCHEMES[:2]],
)
def test_a_tool_gives_the_momentum_and_its_balance_closes(make, scheme):
    """A tool whose contact nodes are moved themselves bears friction: mu m g, and works with it."""
    solid, contact, others = make()
    steps = 20 if make is on_belt else 8
    v0 = solid.rigid_velocity((1.0, 0.0)) if make is tied else None
    result, given, gained = run(scheme, solid, contact, steps, v0)
    assert np.abs(result["residual"]).max() < 1e-11 * scale(result)
    if scheme is not di.GeneralizedAlpha:  # whose forces act in part in the next step
        assert given.sum() + others(result) == pytest.approx(gained, rel=1e-9, abs=1e-9 * WEIGHT * H)
    if make is on_belt:
        assert given.sum() == pytest.approx(MU * WEIGHT * steps * H, rel=0.1)
        assert result["external"][-1] == pytest.approx(MU * WEIGHT * steps * H, rel=0.1)
        assert result["contact"][-1] == pytest.approx(-result["external"][-1] + gained**2 / 40, rel=0.1)


@pytest.mark.mpi
@pytest.mark.parametrize("scheme", [di.CDLagrange, di.NohBathe])
def test_an_impact_at_the_start_and_a_change_of_the_step_keep_the_balance_of_a_tool(scheme):
    """The tool bears the impact with its own velocity, and impulses before a change of the step once."""
    solid, contact, _ = on_belt(law=di.NeoHookean(1e7, 0.3))
    s = scheme(solid, H, contact=contact)
    v0 = solid.rigid_velocity((1.0, 0.0), cells="b") + solid.rigid_velocity((0.0, -1.0), cells="a")
    s.start(0.0, v0)
    assert parallel.total(solid.comm, float(s.reactions()[solid.prescribed.dofs % 2 == 0].sum())) > 1.0 / H
    balance = s.balance()
    balance.start()
    terms = [balance.terms()]
    for i in range(20):
        if i == 10:
            s.change_step(0.6 * H)
            balance.restart()
        s.step()
        balance.step()
        terms.append(balance.terms())
    terms = solid.comm.allreduce(np.array(terms), op=MPI.SUM)
    energies = dict(zip(TERMS, terms.T))
    residual = (
        energies["kinetic"] + energies["complementary"] - terms[0, :2].sum() + energies["internal_work"]
    )
    residual += energies["dissipated"] - energies["external"] - energies["contact"]
    assert np.abs(residual).max() < 1e-12 * np.abs(terms).max()
    # Friction of the impact, mu m v, with the velocity of the tool, beside that of the weight.
    assert energies["external"][3] > 0.3 * MU * 20.0


@pytest.mark.mpi
def test_a_tool_of_a_divided_body():
    """HATI: the reactions of the explicit subdomain, those of all of its steps in ``external``."""
    upper = di.named(
        block([0.0, 0.0], [0.2, 0.1], (2, 2)),
        down=lambda x: np.isclose(x[1], 0.0),
        cells={"near": lambda x: x[1] < 0.05 + 1e-9, "far": lambda x: x[1] > 0.05 - 1e-9},
    )
    belt = di.named(block([-0.1, -0.1], [0.3, 0.0], (4, 1)), top=lambda x: np.isclose(x[1], 0.0))
    mesh = di.mesh.join({"a": upper, "b": belt})
    motion = {"b/boundary": {0: lambda t: t, 1: lambda t: 0.0}}
    given = dict(law=ELASTIC, density=1000.0, gravity=(0.0, -10.0))
    fine = di.Solid(mesh, cells=("b", "a/near"), prescribed=motion, **given)
    coarse = di.Solid(mesh, cells="a/far", **given)
    contact = di.SurfaceContact(fine, "a/down", "b/top", friction=MU)
    s = di.HATI(fine, coarse, H, contact, ratio=2)
    v0 = fine.rigid_velocity((1.0, 0.0), cells="b")
    s.start(0.0, np.concatenate([v0[: fine.owned], np.zeros(coarse.owned)]))
    result = di.simulate(s, t_end=100 * H, progress=False)
    assert np.abs(result["residual"]).max() < 1e-11 * scale(result)
    assert result["external"][-1] == pytest.approx(MU * WEIGHT * 100 * H, rel=0.1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_held_at_rest_bears_the_loads_of_its_own_nodes_too(scheme):
    """A block of 20 kg on a foot that does not move: its weight, and a traction on the foot itself."""
    mesh = di.named(block([0.0, 0.0], [0.2, 0.1], (2, 1)), foot=lambda x: np.isclose(x[1], 0.0))
    held = {"foot": {0: lambda t: 0.0, 1: lambda t: 0.0}}
    loads = {"gravity": (0.0, -10.0), "traction": {"foot": (0.0, -50.0)}, "damping": 400.0}
    solid = di.Solid(mesh, law=di.NeoHookean(1e6, 0.3), density=1000.0, prescribed=held, **loads)
    part = 0.5 if scheme in (di.CDLagrange, di.NohBathe) else 1.0
    s = scheme(solid, part * solid.critical_time_step())
    s.start(0.0, 0.0)
    di.simulate(s, t_end=0.1, progress=False)
    upward = s.reactions()[solid.prescribed.dofs % 2 == 1].sum()
    assert upward == pytest.approx(WEIGHT + 50.0 * 0.2, rel=1e-6)

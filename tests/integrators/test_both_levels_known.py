"""Contact at position and velocity level: what is dropped, pulled and sheared, with exact answers."""

import math

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

ALONE, G = MPI.COMM_SELF, 9.81
SLOW = pytest.mark.slow


DROPS = [(1, 20), (1, 1000), (2, 1), (2, 100)]
OTHERS = [pytest.param(*each, marks=SLOW) for each in ((1, 1), (1, 100), (2, 20), (2, 1000))]


@pytest.mark.parametrize("dimension, courant", [*DROPS, *OTHERS])
def test_what_is_dropped_rests_with_its_weight(dimension, courant):
    """A bar and a block: no point is inside after any step, and ``r = m g h`` once it rests.

    To the rounding of the way of a free fall in a step.
    """
    kind = dmesh.CellType.quadrilateral
    made = (
        dmesh.create_interval(ALONE, 8, [0.0, 1.0])
        if dimension == 1
        else dmesh.create_rectangle(ALONE, [[0.0, 0.0], [1.0, 1.0]], [3, 3], kind)
    )
    up, last = np.eye(dimension)[-1], dimension - 1
    named = di.named(made, foot=lambda x: np.isclose(x[last], 0.0))
    law = di.LinearElastic(1e5, 0.0 if dimension == 1 else 0.3)
    body = di.Solid(named, density=10.0, law=law, gravity=tuple(-G * up))
    contact = di.RigidContact(body, "foot", di.Plane(tuple(0 * up), tuple(up)))
    s = di.MoreauJean(body, courant * body.critical_time_step(), theta=1.0, contact=contact, position=True)
    s.start(tuple(1e-3 * up), 0.0)
    fall = math.ceil(math.sqrt(2e-3 / G) / s.dt)
    for _ in range(fall + (400 if courant == 1 else 60)):
        s.step()
        assert s.gap().min() >= -1e-15 * (1.0 + 100.0 * G * s.dt**2)
    weight = body.mass[last::dimension].sum() * G
    assert s.r.sum() == pytest.approx(weight * s.dt, rel=1e-2 if courant == 1 else 1e-9)


# -- a chain of blocks on a rough floor, of which the last one is pulled

MASS, SPRING, MU, COUNT = 2.0, 1e3, 0.3, 4


def chain(courant, pull):
    K = np.zeros((2 * COUNT, 2 * COUNT))
    for i in range(COUNT - 1):
        ends = np.ix_([2 * i, 2 * i + 2], [2 * i, 2 * i + 2])
        K[ends] += SPRING * np.array([[1.0, -1.0], [-1.0, 1.0]])
    load = np.zeros(2 * COUNT)
    load[1::2], load[-2] = -MASS * G, pull
    system = di.PointMasses([MASS] * (2 * COUNT), load=load, stiffness=K)
    points = [[2 * i, 2 * i + 1] for i in range(COUNT)]
    contact = di.ObstacleContact(system, points, di.Plane((0, 0), (0, 1)), friction=MU)
    critical = 2 / math.sqrt(np.linalg.eigvalsh(K[::2, ::2]).max() / MASS)
    s = di.MoreauJean(system, courant * critical, theta=1.0, contact=contact, position=True)
    s.start(0.0, 0.0)
    for _ in range(60 if courant == 1 else 30):
        s.step()
    return s


@pytest.mark.parametrize("courant", [20, *(pytest.param(each, marks=SLOW) for each in (1, 100, 1000))])
def test_a_chain_of_blocks_slides(courant):
    """``a = (F - n mu m g) / (n m)``; a spring pulls the blocks behind it: ``i m (a + mu g)``."""
    pull = 40.0
    s = chain(courant, pull)
    a = (pull - COUNT * MU * MASS * G) / (COUNT * MASS)
    before = s.v[::2].copy()
    s.step()
    assert (s.v[::2] - before) / s.dt == pytest.approx(a, rel=1e-5)
    tension = np.arange(1, COUNT) * MASS * (a + MU * G)
    assert SPRING * np.diff(s.u[::2]) == pytest.approx(tension, rel=1e-5)
    assert s.halved.halved == 0


@pytest.mark.parametrize("courant, exact", [(100, 1e-2), pytest.param(1000, 1e-4, marks=SLOW)])
def test_a_chain_of_blocks_sticks(courant, exact):
    """Pulled by less than its friction: the last two have slid, and springs carry what is above that."""
    rough = MU * MASS * G
    pull = 2.5 * rough
    s = chain(courant, pull)
    before = s.u.copy()
    s.step()
    stretch = np.maximum(pull - rough * np.arange(COUNT - 1, 0, -1), 0.0) / SPRING
    assert np.diff(s.u[::2]) == pytest.approx(stretch, rel=exact, abs=1e-9)
    assert np.abs(s.u - before).max() < 1e-14 * courant and np.abs(s.v).max() < 1e-12


# -- the patch test under pressure and shear

E, NU, DOWN, SHEAR, HIGH = 1.0, 0.3, 0.3, 0.2, 0.2
LAME, MODULUS = E * NU / (1 + NU) / (1 - 2 * NU), E / 2 / (1 + NU)


def stress(t):
    """First Piola-Kirchhoff stress of ``F = [[1, c], [0, b]]``: b goes to 0.7 in a second, then c to 0.2."""
    F = np.eye(3)
    F[1, 1], F[0, 1] = 1.0 - DOWN * min(t, 1.0), SHEAR * max(t - 1.0, 0.0)
    inverse = np.linalg.inv(F).T
    return MODULUS * (F - inverse) + LAME * math.log(np.linalg.det(F)) * inverse


def patch():
    """Two flat rectangles of other meshes, with the dead loads of the uniform stress on their sides."""
    parts, loads = {}, {}
    for name, low, cells in (("upper", HIGH / 2, (3, 2)), ("lower", 0.0, (4, 1))):
        box = [(0.0, low), (1.0, low + HIGH / 2)]
        made = dmesh.create_rectangle(ALONE, box, cells, dmesh.CellType.quadrilateral)
        ends = {"bottom": low, "top": low + HIGH / 2}
        named = {end: lambda x, y=y: np.isclose(x[1], y) for end, y in ends.items()}
        for side, x0, sign in (("left", 0.0, -1.0), ("right", 1.0, 1.0)):
            for i in (0, 1):
                named[f"{side}{i}"] = lambda x, x0=x0: np.isclose(x[0], x0)
                along = tuple(sign * np.eye(2)[i])
                loads[f"{name}/{side}{i}"] = (along, lambda t, i=i: stress(t)[i, 0])
        parts[name] = di.named(made, **named)
    driven = {0: lambda t: HIGH * SHEAR * max(t - 1.0, 0.0), 1: lambda t: -HIGH * DOWN * min(t, 1.0)}
    return di.Solid(
        di.mesh.join(parts),
        density=1e-6,
        law=di.NeoHookean(E, NU),
        fixed=["lower/bottom"],
        prescribed={"upper/top": driven},
        traction=loads,
    )


@pytest.mark.parametrize("kind", [di.Static, pytest.param(di.MoreauJean, marks=SLOW)])
def test_a_patch_pressed_by_30_percent_and_sheared_while_it_sticks(kind):
    body = patch()
    contact = di.SurfaceContact(body, "upper/bottom", "lower/top", friction=2.0)
    options = {} if kind is di.Static else {"theta": 1.0, "position": True}
    s = kind(body, 0.25, contact=contact, **options)
    s.start(0.0, 0.0)
    for _ in range(8):
        s.step()
    X, u = body.x[:, :2], s.u.reshape(-1, 2)
    exact = np.column_stack([SHEAR * X[:, 1], -DOWN * X[:, 1]])
    assert np.abs(u - exact).max() < (1e-9 if kind is di.Static else 1e-8)
    P = np.array([-s.r_t_position[:, 0].sum(), -s.r_position.sum()]) / s.dt
    assert np.abs(P) == pytest.approx(np.abs(stress(2.0)[:2, 1]), abs=1e-9)
    assert s.halved.halved == 0

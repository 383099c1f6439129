"""The time of gaps and normals is an argument; user-defined contacts without it work as before."""

import warnings

import numpy as np
import pytest

import dolfinx_impact as di
from dolfinx_impact.algebra import kernels

pytestmark = pytest.mark.serial

H, STEPS = 1e-2, 60
RISE = (0.0, 1.0), lambda t: 0.3 * np.sin(3.0 * t)
BALL, CRATE = di.Sphere((0.0, -2.0), 2.0), di.Box((0.0, -1.0), (2.0, 2.0))
TABLE, BOX = (di.MovingObstacle(shape, translation=RISE) for shape in (BALL, CRATE))


class Lifted(di.ObstacleContact):
    """The gap of a thicker obstacle, with the time."""

    def gap(self, u, t=0.0):
        return super().gap(u, t) - 0.02

    def evaluate(self, u, t=0.0):
        return super().evaluate(u, t) - 0.02


class LiftedWithout(di.ObstacleContact):
    def gap(self, u):
        return super().gap(u) - 0.02

    def evaluate(self, u):
        return super().evaluate(u) - 0.02


class Own(di.ObstacleContact):
    """Calls methods of its own that it does not define."""

    def active_set(self, u, v=None):
        return self.closed(self.evaluate(u))


class OwnWith(di.ObstacleContact):
    def active_set(self, u, v=None, t=0.0):
        return self.closed(self.evaluate(u, t))


class Along(di.ObstacleContact):
    def evaluate_along(self, u, v):
        return super().evaluate_along(u, v)

    def active_set(self, u, v=None):
        return super().active_set(u, v=v)

    def speeds(self, u, v):
        return super().speeds(u, v)


class Counting:
    """Derives from no contact."""

    calls = 0

    def active_set(self, u, v=None):
        type(self).calls += 1
        return super().active_set(u, v)


class Mixed(Counting, di.ObstacleContact):
    pass


class Below(LiftedWithout):
    """Below a class without the time, with it and again without."""

    def gap(self, u, t=0.0):
        return super().gap(u, t)


class Lowest(Below):
    def gap(self, u):
        return super().gap(u)


def path(cls, obstacle=TABLE, join=False, scheme=di.CDLagrange):
    """Displacements of a ball that drops on a moving obstacle, and its contact."""
    system = di.PointMasses([1.0, 1.0], load=[0.0, -9.81])
    contact = cls(system, [[0, 1]], obstacle, restitution=0.5)
    ball = scheme(system, H, contact=[contact, di.DofBound(system, 0, lower=-5.0)] if join else contact)
    ball.start([0.1, 0.3], [0.0, -1.0])
    found = []
    for _ in range(STEPS):
        ball.step()
        found.append([*ball.u, *ball.gap()])
    return np.array(found), contact


@pytest.mark.parametrize("obstacle", [TABLE, BOX], ids=["sphere", "box"])
@pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])
@pytest.mark.parametrize(
    "without, with_time",
    [
        (LiftedWithout, Lifted), (Below, Lifted), (Lowest, Lifted), (Own, OwnWith),
        (Along, di.ObstacleContact), (Mixed, di.ObstacleContact),
    ],
    ids=lambda cls: cls.__name__,
)  # fmt: skip
def test_methods_without_the_time_are_evaluated_at_it(without, with_time, scheme, obstacle):
    found, expected = path(without, obstacle, scheme=scheme)[0], path(with_time, obstacle, scheme=scheme)[0]
    assert np.array_equal(found, expected)
    at_rest = path(with_time, BALL if obstacle is TABLE else CRATE, scheme=scheme)[0]
    assert not np.array_equal(found, at_rest)


def test_in_a_list_of_contacts_too():
    assert np.array_equal(path(LiftedWithout, join=True)[0], path(Lifted, join=True)[0])
    assert path(Mixed)[1].calls > STEPS / 2


def test_the_time_can_be_given_in_any_way_and_left_out():
    contact = path(LiftedWithout)[1]
    plain, u, v = path(Lifted)[1], np.array([0.1, 0.3]), np.zeros(2)
    for t in (0.1, 0.2):
        expected = plain.gap(u, t)
        assert contact.gap(u, t) == contact.gap(u, t=t) == contact.gap(u) == expected
        assert contact.evaluate_along(u, v, t) == contact.evaluate_along(u, v, t=t) == expected
        assert contact.active_set(u, None, t) == contact.active_set(u, t=t) == plain.active_set(u, t=t)
        assert contact.speeds(u, v, t) == plain.speeds(u, v, t)
    assert plain.gap(u, 0.2) != plain.gap(u) == plain.gap(u, 0.0)


def test_what_is_overridden_is_found_as_before():
    for cls, name in ((Own, "active_set"), (LiftedWithout, "gap"), (Lowest, "gap"), (Mixed, "active_set")):
        contact = path(cls)[1]
        assert kernels.overridden(contact, ("gap", "evaluate", "active_set")) == name
        own_gap = kernels.overridden(contact, ("gap", "evaluate"), di.ObstacleContact)
        assert own_gap == ("gap" if name == "gap" else None)
        assert type(contact).__name__ == cls.__name__


# -- the attribute of before


class Reading(di.DofBound):
    """A lift, whose height is asked for at the contact's time."""

    def gap(self, u):
        return super().gap(u) - 0.1 * self.time


class Given(di.DofBound):
    def gap(self, u, t=0.0):
        return super().gap(u, t) - 0.1 * t


def bound(cls):
    system = di.PointMasses(1.0, load=[-9.81])
    scheme = di.CDLagrange(system, H, contact=cls(system, 0, lower=0.0, restitution=0.5))
    scheme.start(0.1, 0.0)
    found = []
    for _ in range(STEPS):
        scheme.step()
        found.append([*scheme.u, *scheme.r, *scheme.gap()])
    return np.array(found)


def warns():
    return pytest.warns(DeprecationWarning, match=r"\w+\.time is an argument now, .* version 0\.3\.0$")


def test_contacts_that_read_their_time_still_do():
    with warns():
        found = bound(Reading)
    assert np.array_equal(found, bound(Given)) and found[:, 1].any()


@pytest.mark.parametrize("cls", [di.ObstacleContact, Lifted, LiftedWithout])
def test_a_time_that_is_set_is_that_of_calls_without_one(cls):
    contact, u = path(cls)[1], np.array([0.1, 0.3])
    with warns():
        contact.time = 0.2
    with warns():
        assert contact.time == 0.2
    assert contact.gap(u) == contact.evaluate(u) == path(cls)[1].gap(u, 0.2) != contact.gap(u, 0.0)
    assert isinstance(contact, cls) and repr(contact) == repr(path(cls)[1])


def test_the_time_that_is_read_is_that_of_the_last_evaluation():
    for join in (False, True):
        contact = path(di.ObstacleContact, join=join)[1]
        with warns():
            assert contact.time == pytest.approx(STEPS * H)


def test_nothing_else_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path(LiftedWithout)
        path(di.ObstacleContact, BOX)


# -- the time reaches what needs it


def test_tunnelling_at_position_level_is_found_where_no_gap_is_recorded():
    system = di.PointMasses([1.0, 1.0])
    thin = di.ObstacleContact(system, [[0, 1]], di.Sphere((0.0, 0.0), 0.1))
    ball = di.PaoliSchatzman(system, 0.1, contact=thin)
    with pytest.warns(UserWarning, match="may jump over it"):
        ball.start([1e-4, 1.0], [0.0, -4.0])
    with pytest.raises(RuntimeError, match="jumps over the obstacle"):
        for _ in range(10):
            ball.step()

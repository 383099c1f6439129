"""The time of gaps and normals is an argument; user-defined contacts at rest may leave it out."""

import numpy as np
import pytest

import dolfinx_impact as di
from dolfinx_impact.algebra import kernels

H, STEPS = 1e-2, 60
RISE = (0.0, 1.0), lambda t: 0.3 * np.sin(3.0 * t)
BALL, CRATE = di.Sphere((0.0, -2.0), 2.0), di.Box((0.0, -1.0), (2.0, 2.0))
TABLE = di.MovingObstacle(BALL, translation=RISE)


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


class Along(di.ObstacleContact):
    def evaluate_along(self, u, v):
        return super().evaluate_along(u, v)

    def active_set(self, u, v=None):
        return super().active_set(u, v=v)

    def speeds(self, u, v):
        return super().speeds(u, v, 0.0)


class Counting:
    """Derives from no contact."""

    calls = 0

    def active_set(self, u, v=None):
        type(self).calls += 1
        return super().active_set(u, v)


class Mixed(Counting, di.ObstacleContact):
    pass


class Below(LiftedWithout):
    """With the time, below a class without it."""

    def gap(self, u, t=0.0):
        return super().gap(u, t)


def path(cls, obstacle=BALL, join=False, scheme=di.CDLagrange):
    """Displacements and gaps of a ball that drops on an obstacle, and its contact."""
    system = di.PointMasses([1.0, 1.0], load=[0.0, -9.81])
    contact = cls(system, [[0, 1]], obstacle, restitution=0.5)
    ball = scheme(system, H, contact=[contact, di.DofBound(system, 0, lower=-5.0)] if join else contact)
    ball.start([0.1, 0.3], [0.0, -1.0])
    found = []
    for _ in range(STEPS):
        ball.step()
        found.append([*ball.u, *ball.gap()])
    return np.array(found), contact


PAIRS = [(LiftedWithout, Lifted), (Below, Lifted), (Along, di.ObstacleContact), (Mixed, di.ObstacleContact)]


@pytest.mark.parametrize("obstacle", [BALL, CRATE], ids=["sphere", "box"])
@pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])
@pytest.mark.parametrize("without, with_time", PAIRS, ids=lambda cls: cls.__name__)
def test_methods_without_the_time_serve_obstacles_at_rest(without, with_time, scheme, obstacle):
    found, expected = path(without, obstacle, scheme=scheme)[0], path(with_time, obstacle, scheme=scheme)[0]
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    "without, name",
    [(LiftedWithout, "evaluate"), (Below, "evaluate"), (Along, "speeds"), (Mixed, "active_set")],
)
def test_methods_without_the_time_are_refused_for_moving_obstacles(without, name):
    with pytest.raises(ValueError, match=rf"{name}\(\) of {without.__name__} takes no time, but the"):
        path(without, TABLE)


def test_the_time_reaches_a_users_gap():
    at_rest, moving = path(Lifted)[0], path(Lifted, TABLE)[0]
    assert not np.array_equal(at_rest, moving)
    contact, u = path(Lifted, TABLE)[1], np.array([0.1, 0.3])
    assert contact.gap(u, 0.2) == contact.gap(u, t=0.2) != contact.gap(u) == contact.gap(u, 0.0)
    assert contact.evaluate_along(u, np.zeros(2), 0.2) == contact.gap(u, 0.2)


def test_in_a_list_of_contacts_too():
    assert np.array_equal(path(LiftedWithout, join=True)[0], path(Lifted, join=True)[0])
    assert path(Mixed)[1].calls > STEPS / 2


def test_methods_without_the_time_count_as_overridden():
    for cls, name in ((LiftedWithout, "gap"), (Below, "gap"), (Mixed, "active_set")):
        contact = path(cls)[1]
        assert kernels.overridden(contact, ("gap", "evaluate", "active_set")) == name


# -- the attribute of before


class Reading(di.DofBound):
    """A bound that sinks with the time of the contact."""

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
    return pytest.warns(DeprecationWarning, match=r"\w+\.time is now an argument, .* version 0\.3\.0$")


def test_contacts_that_read_their_time_still_do():
    with warns():
        found = bound(Reading)
    assert np.array_equal(found, bound(Given)) and found[:, 1].any()


def test_the_time_cannot_be_set():
    contact = path(Lifted)[1]
    with pytest.raises(AttributeError, match=r"time of a Lifted is an argument now: write gap\(u, t\)"):
        contact.time = 0.2


def test_the_time_that_is_read_is_that_of_the_last_evaluation():
    contact = path(di.ObstacleContact)[1]
    with warns():
        assert contact.time == pytest.approx(STEPS * H)


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


# -- what a user's contact may follow


class Sticky(di.DofBound):
    """Remains closed within 1 mm once it was."""

    def active_set(self, u, v=None, t=0.0):
        gap = self.gap(u, t)
        return self.closed(gap) | (self.closed_before & (gap < 1e-3))


def test_points_that_were_closed_are_known_to_a_users_contact():
    system = di.PointMasses(1.0, load=[-9.81])
    contact = Sticky(system, 0, lower=0.0)
    scheme = di.CDLagrange(system, 1e-3, contact)
    scheme.start(1e-3, 0.0)
    seen = 0
    for _ in range(100):
        scheme.step()
        seen += int(contact.closed_before.sum())
    assert seen > 80


def test_a_drift_correction_that_is_set_after_the_start_acts():
    def deepest(late):
        bead = di.PointMasses([1.0, 1.0])
        ring = di.Sphere((0.0, 0.0), 1.0, inside=True)
        contact = di.ObstacleContact(bead, [[0, 1]], ring, drift_correction=0.0 if late else 0.5)
        scheme = di.CDLagrange(bead, H, contact)
        scheme.start([0.0, -1.0], [1.0, 0.0])
        contact.drift_correction = 0.5
        for _ in range(500):
            scheme.step()
        return -contact.gap(scheme.u)[0]

    assert deepest(late=True) < 2e-4 and deepest(late=False) < 2e-4


class Nested(Reading):
    """Its gap is called by the evaluation of the base class, without the time."""

    def evaluate(self, u):
        return super().evaluate(u)


def test_calls_within_a_method_without_the_time_are_at_the_same_time():
    with warns():
        found = bound(Nested)
    assert np.array_equal(found, bound(Given))


def test_a_warning_may_be_silenced_in_the_old_form():
    class Quiet(di.ObstacleContact):
        def warn_of_long_steps(self, u, v, dt):
            pass

    assert np.array_equal(path(Quiet, TABLE)[0], path(di.ObstacleContact, TABLE)[0])


def test_the_time_of_a_list_is_that_of_the_last_evaluation():
    system = di.PointMasses([1.0, 1.0], load=[-9.81, 0.0])
    scheme = di.CDLagrange(system, H, [di.DofBound(system, i, lower=0.0) for i in (0, 1)])
    scheme.start(1.0, 0.0)
    for _ in range(10):
        scheme.step()
    with warns():
        assert scheme.contact.time == pytest.approx(10 * H)

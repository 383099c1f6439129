"""The time of gaps and normals is an argument, that of users' contacts too."""

import numpy as np
import pytest

import dolfinx_impact as di

H, STEPS = 1e-2, 60
RISE = (0.0, 1.0), lambda t: 0.3 * np.sin(3.0 * t)
BALL = di.Sphere((0.0, -2.0), 2.0)
TABLE = di.MovingObstacle(BALL, translation=RISE)


class Lifted(di.ObstacleContact):
    """The gap of a thicker obstacle, with the time."""

    def gap(self, u, t=0.0):
        return super().gap(u, t) - 0.02


def path(cls, obstacle=BALL, join=False):
    """Displacements and gaps of a ball that drops on an obstacle, and its contact."""
    system = di.PointMasses([1.0, 1.0], load=[0.0, -9.81])
    contact = cls(system, [[0, 1]], obstacle, restitution=0.5)
    ball = di.CDLagrange(
        system, H, contact=[contact, di.DofBound(system, 0, lower=-5.0)] if join else contact
    )
    ball.start([0.1, 0.3], [0.0, -1.0])
    found = []
    for _ in range(STEPS):
        ball.step()
        found.append([*ball.u, *ball.gap()])
    return np.array(found), contact


def test_the_time_reaches_a_users_gap():
    at_rest, moving = path(Lifted)[0], path(Lifted, TABLE)[0]
    assert not np.array_equal(at_rest, moving)
    contact, u = path(Lifted, TABLE)[1], np.array([0.1, 0.3])
    assert contact.gap(u, 0.2) == contact.gap(u, t=0.2) != contact.gap(u) == contact.gap(u, 0.0)
    assert contact.at(u, np.zeros(2), 0.2, every=True).gap == contact.gap(u, 0.2)


def test_in_a_list_of_contacts_too():
    alone, listed = path(Lifted, TABLE)[0], path(Lifted, TABLE, join=True)[0]
    assert listed[:, :3] == pytest.approx(alone, rel=1e-12, abs=1e-12)


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

    def _active_set(self, u, v, t):
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

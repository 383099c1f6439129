"""Steps with two contact problems that are wrong in one thing each, and the number that tells it."""

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact.contact.state import ContactState
from dolfinx_impact.integrators.impulses.both_levels import BothLevels
from dolfinx_impact.integrators.one_step.active_set import ActiveSet, ActiveSets, Arguments
from dolfinx_impact.integrators.one_step.position_contact import PositionContact
from dolfinx_impact.integrators.one_step.position_step import PositionStep

ALONE, CELLS, G = MPI.COMM_SELF, 50, 9.81


def bar(kind, courant, gap, **options):
    """A bar of length, density, modulus and area 1 that flies against a stop, started."""
    line = di.named(dmesh.create_interval(ALONE, CELLS, [0.0, 1.0]), tip=lambda x: np.isclose(x[0], 1.0))
    body = di.Solid(line, density=1.0, law=di.LinearElastic(1.0))
    contact = di.RigidContact(body, "tip", di.Plane([1.0 + gap], [-1.0]))
    s = kind(body, courant * body.critical_time_step(), contact=contact, **options)
    s.start(0.0, 1.0)
    return s


def largest_energy(s, steps):
    """Over that of the start, by sums of one's own."""
    order, most = np.argsort(s.body.x[:, 0]), 0.0
    for _ in range(steps):
        s.step()
        springs = 0.5 * CELLS * np.sum(np.diff(s.u[order]) ** 2)
        most = max(most, 0.5 * s.body.mass @ s.v**2 + springs)
    return most / (0.5 * s.body.mass.sum())


def test_impulses_of_acary_and_bonnefon_create_energy():
    """``P = R - s``, which is 0 where the forecast was open: 4.1 times the energy of the start."""
    gaps = np.linspace(0.013, 0.487, 24)[8:14:2]
    combined = [largest_energy(bar(di.AcaryBonnefon, 20, gap, mass="lumped"), 12) for gap in gaps]
    assert max(combined) > 3.0
    ours = [largest_energy(bar(di.MoreauJean, 20, gap, position=True), 12) for gap in gaps]
    assert max(ours) < 1 + 1e-12


@pytest.mark.parametrize("rho, most", [(0.0, 2.0), (0.5, 1.3)])
def test_accelerations_without_reactions_create_energy(rho, most, monkeypatch):
    """At 100 critical steps, where a' comes from F(u') alone."""
    make = di.GeneralizedAlpha.make_part

    def forgetting(self):
        make(self)
        reactions = np.zeros(self.system.size)
        self.step_solver.position_impulses().add_to(reactions)
        self.a -= self.system.inverse_mass * reactions / (self.h * (1 - self._am))

    monkeypatch.setattr(di.GeneralizedAlpha, "make_part", forgetting)
    energies = [
        largest_energy(bar(di.GeneralizedAlpha, 100, gap, rho_inf=rho, position=True), 12)
        for gap in (0.013, 0.11, 0.2, 0.37)
    ]
    assert max(energies) > most


# -- friction: an elastic block on an incline of which gravity is turned


def block(mu, *, courant=20, slope=0.5):
    made = dmesh.create_rectangle(ALONE, [[0, 0], [0.1, 0.1]], [3, 3], dmesh.CellType.quadrilateral)
    named, angle = di.named(made, foot=lambda x: np.isclose(x[1], 0.0)), math.atan(slope)
    gravity = (G * math.sin(angle), -G * math.cos(angle))
    body = di.Solid(named, density=1000.0, law=di.LinearElastic(1e7, 0.3), gravity=gravity)
    contact = di.RigidContact(body, "foot", di.Plane((0, 0), (0, 1)), friction=mu)
    s = di.MoreauJean(body, courant * body.critical_time_step(), theta=1.0, contact=contact, position=True)
    s.start(0.0, 0.0)
    return s


class Smooth(ContactState):
    """A state with no friction at its points."""

    __slots__ = ()

    @property
    def frictions(self):
        return np.zeros_like(super().frictions)


def smooth(state):
    state = copy.copy(state)
    state.__class__ = Smooth
    return state


def smooth_position(monkeypatch):
    look = PositionContact.look

    def without(self, *given):
        looked = look(self, *given)
        looked.state = smooth(looked.state)
        return looked

    monkeypatch.setattr(PositionContact, "look", without)


def smooth_velocity(monkeypatch):
    find = BothLevels.impulses

    def without(self, s, response, **options):
        def solve(state, *given, **more):
            return response.solve(smooth(state), *given, **more)

        return find(self, s, SimpleNamespace(solve=solve), **options)

    monkeypatch.setattr(BothLevels, "impulses", without)


@pytest.mark.parametrize(
    "wrong, creep, speed",
    [(smooth_position, 1e-4, 0.1), (smooth_velocity, 1e-3, 1.0)],
    ids=["velocity alone", "position alone"],
)
def test_friction_in_one_problem_alone_does_not_hold_what_sticks(wrong, creep, speed, monkeypatch):
    """The block creeps by its forces in each step, or keeps a speed that nothing stops."""
    wrong(monkeypatch)
    s = block(0.7)
    for _ in range(40):
        before = s.u.copy()
        s.step()
    foot = s.contact.L.dofs
    crept, fast = np.abs(s.u - before)[foot].max(), np.abs(s.v[foot]).max()
    assert crept > creep and fast > speed


@pytest.mark.parametrize("checked", [True, False])
def test_a_slip_that_is_frozen_after_the_first_iteration(checked, monkeypatch):
    """The conditions of the end refuse what it leads to; without them friction is not Coulomb's."""
    find, first = Arguments.active_set, {}

    def frozen(self):
        found = find(self)
        if first["step"] is None:
            first["step"] = found.slipping
        return ActiveSet(found.closed, first["step"])

    begin = PositionStep.begin

    def anew(self):
        first["step"] = None
        begin(self)

    monkeypatch.setattr(Arguments, "active_set", frozen)
    monkeypatch.setattr(ActiveSets, "_without_reversals", lambda self, looked, active: active)
    monkeypatch.setattr(PositionStep, "begin", anew)
    s = block(0.3)
    if checked:
        with pytest.raises(di.NotConverged, match="no equilibrium of contact"):
            for _ in range(20):
                s.step()
        return
    monkeypatch.setattr(Arguments, "misfits", lambda self: np.zeros(0))
    outside = 0.0
    for _ in range(20):
        s.step()
        over = np.linalg.norm(s.r_t_position, axis=1) - 0.3 * s.r_position
        outside = max(outside, over.max() / s.r_position.max())
    assert outside > 0.1

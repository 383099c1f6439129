"""Contact laws with a defect, and schemes that have one of them, or a contact other than the given one."""

import copy
import functools

import numpy as np

from dolfinx_impact import AcaryBonnefon, GeneralizedAlpha, MoreauJean, Static
from dolfinx_impact.contact.state import Impulses
from dolfinx_impact.integrators import Newmark, PositionLevel, VelocityLevel

from .wrong_schemes import Central

# -- laws


def none(contact):
    """No impulses, wherever the points are."""
    if contact is None:
        return Impulses(None, np.zeros(0))
    state = contact.at(np.zeros(contact.system.size))
    return Impulses(state, np.zeros(contact.count))


class Silent(VelocityLevel):
    """No impulses at all."""

    def impulses(self, s, response, *, first=False):
        return none(self.contact)

    def impact(self, s, response):
        return self.impulses(s, response)


class Scaled(VelocityLevel):
    """Impulses too large or too small by factors, one for all points or one for each."""

    def __init__(self, contact, factors):
        super().__init__(contact)
        self.factors = np.asarray(factors)

    def impulses(self, s, response, *, first=False):
        impulses = super().impulses(s, response, first=first)
        return Impulses(impulses.state, self.factors * impulses.r, impulses.r_t)


class Milder(Scaled):
    """Nine tenths of the impulses."""

    def __init__(self, contact):
        super().__init__(contact, 0.9)


class Prescribed(VelocityLevel):
    """The force of a continuous bar as long as that touches."""

    def __init__(self, contact, bar):
        super().__init__(contact)
        self.bar = bar

    def impulses(self, s, response, *, first=False):
        touches = self.bar.contact_start <= s.t < self.bar.contact_end
        return Impulses(s.contact_state, np.full(self.contact.count, self.bar.force * s.dt * touches))


class Springs(VelocityLevel):
    """Springs of a length on the obstacle: a force in place of an impulse, contact lasts for a time."""

    def __init__(self, contact, stiffness, length=0.0):
        super().__init__(contact)
        self.stiffness, self.length = stiffness, length

    def impulses(self, s, response, *, first=False):
        state = self.contact.at(s.u, None, s.t, every=True)
        return Impulses(state, s.dt * self.stiffness * np.maximum(self.length - state.gap, 0.0))


class Held(VelocityLevel):
    """Points cannot lift off, wherever they are."""

    def impulses(self, s, response, *, first=False):
        state = s.contact_state
        everywhere = np.ones(self.contact.count, dtype=bool)
        return Impulses(state, -state.L(s.v) / response.delassus(state.L, everywhere))


class Gluing(VelocityLevel):
    """Keeps for ever what has touched once."""

    def __init__(self, contact):
        super().__init__(contact)
        self.held = np.zeros(contact.count, dtype=bool)

    def impulses(self, s, response, *, first=False):
        self.held |= self.contact.closed(self.contact.gap(s.u, s.t))
        s.v[self.contact.L.dofs[self.held, 0]] = 0.0
        # What it presses with counts, not the direction.
        return Impulses(s.contact_state, np.where(self.held, 1e-300, 0.0))


class Deepest(VelocityLevel):
    """Acts on the deepest point alone."""

    def impulses(self, s, response, *, first=False):
        impulses, gap = super().impulses(s, response, first=first), self.contact.gap(s.u, s.t)
        return Impulses(impulses.state, np.where(gap == gap.min(), impulses.r, 0.0), impulses.r_t)


class Ahead(VelocityLevel):
    """Acts a step before the gap closes."""

    def impulses(self, s, response, *, first=False):
        closed = self.contact.gap(s.u + s.dt * s.v, s.t + s.dt) <= 0
        state = self.contact.at(s.u, None, s.t, every=True)
        b = state.L(s.v) + self.contact.restitution * state.L(s.v_before)
        return response.solve(state, b, s.v, s.t, closed=closed)


class Skewed(VelocityLevel):
    """Impulses in the plane do not point along the normal."""

    def impulses(self, s, response, *, first=False):
        state = self.contact.at(s.u, None, s.t, every=True)
        weights = state.L.weights
        weights[:] = weights @ np.array([[np.cos(0.1), np.sin(0.1)], [-np.sin(0.1), np.cos(0.1)]])
        b = state.L(s.v) + self.contact.restitution * state.L(s.v_before)
        return response.solve(state, b, s.v, s.t)


class Searching(VelocityLevel):
    """Goes through the contact again and again where there is friction."""

    def impulses(self, s, response, *, first=False):
        for _ in range(10 if self.contact.friction > 0 else 1):
            impulses = super().impulses(s, response, first=first)
        return impulses


class Detecting(VelocityLevel):
    """Goes back to find the time of an impact."""

    touched = False

    def impulses(self, s, response, *, first=False):
        impulses, before = super().impulses(s, response, first=first), self.touched
        self.touched = bool(impulses.r.any())
        for k in range(1, 10) if self.touched and not before else ():
            part = 0.1 * k * s.dt
            self.contact.evaluate(s.u - part * s.v_before, s.t - part)
        return impulses


# -- CD-Lagrange with these


class NoContact(Central):
    """Bodies go through walls and through each other."""

    law = Silent


class Slack(Central):
    """Takes many steps to stop a body: three tenths of the impulse due."""

    law = staticmethod(functools.partial(Scaled, factors=0.3))


class Lively(Central):
    """Impacts give back 5 % more than the impulse due."""

    law = staticmethod(functools.partial(Scaled, factors=1.05))


class SoftWall(Central):
    """A wall that yields."""

    law = staticmethod(functools.partial(Springs, stiffness=100.0))


class Adhesive(Central):
    """What has touched once stays, see :class:`Gluing`."""

    law = Gluing


class OneNode(Central):
    """Contact at the deepest point alone."""

    law = Deepest


class Early(Central):
    """Contact before there is one, see :class:`Ahead`."""

    law = Ahead


class OffCentre(Central):
    """Impulses off the normal, see :class:`Skewed`."""

    law = Skewed


class Iterating(Central):
    """Contact again and again, see :class:`Searching`."""

    law = Searching


class Retracing(Central):
    """Steps back at impacts, see :class:`Detecting`."""

    law = Detecting


# -- with another contact than the given one


def other(contact, **changes):
    """A copy of a contact with other constants, functions of the given ones."""
    contact = copy.copy(contact)
    for name, change in changes.items():
        setattr(contact, name, change(getattr(contact, name)))
    return contact


class Other(Central):
    """CD-Lagrange with other constants of the contact."""

    changes = {}

    def taken(self, contact):
        return other(contact, **self.changes)


class Plastic(Other):
    """Knows no restitution."""

    changes = {"restitution": lambda e: 0.0}


class Elastic(Other):
    """Always rebounds."""

    changes = {"restitution": lambda e: 1.0}


class Energetic(Other):
    """Rebounds twice as fast as it should."""

    changes = {"restitution": lambda e: 2 * e}


class EnergeticImpact(Other):
    """Feeds energy in where the impact should be plastic."""

    changes = {"restitution": lambda e: 1.5 - 0.5 * e}


class Bouncier(Other):
    """Points rebound with a little more than the coefficient that they were given."""

    changes = {"restitution": lambda e: e + 1e-9}


class Smooth(Other):
    """No friction, but vectors of zeros where there should be some."""

    changes = {"friction": lambda mu: min(mu, 1e-300)}


class Weak(Other):
    """Half of the friction."""

    changes = {"friction": lambda mu: 0.5 * mu}


class Lossless(Other):
    """Takes nothing, neither along the wall nor across."""

    changes = {**Smooth.changes, **Elastic.changes}


# -- other schemes


class OneForecast(AcaryBonnefon):
    """The combined scheme with forecast 0.5 whatever is asked for."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, contact, forecast=0.5, mass="consistent")


class PlasticCombined(OneForecast):
    """The combined scheme that knows no restitution."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, other(contact, **Plastic.changes))


class Overcorrected(OneForecast):
    """Moves points a fixed distance further than tau, whatever the step."""

    too_far = 2e-5

    def advance(self):
        super().advance()
        more = np.where(self.tau > 1e-9, self.too_far, 0.0)
        self.tau += more
        self.contact.L.add_transpose(more, self.u)


class PositionOnly(Newmark):
    """Newmark's scheme, which knows no penetration but no impact law."""

    def __init__(self, system, dt, contact=None):
        law = PositionLevel(other(contact, **Plastic.changes))
        super().__init__(system, dt, law, beta=0.25, gamma=0.5, mass="consistent")


# -- levels of lasting contact


class AtVelocity(MoreauJean):
    """The position problem left out."""

    def __init__(self, system, dt, contact=None, *, position=True, closing=None, **options):
        super().__init__(system, dt, contact, **options)


class AlphaAtVelocity(GeneralizedAlpha):
    """The position problem left out."""

    def __init__(self, system, dt, contact=None, *, position=True, closing=None, **options):
        super().__init__(system, dt, contact, **options)


class AtBothLevels(MoreauJean):
    """The position problem, also where it is to be left out."""

    def __init__(self, system, dt, contact=None, *, position=False, **options):
        super().__init__(system, dt, contact, position=True, **options)


class Untouched(Static):
    """Nothing touches."""

    def __init__(self, system, dt, contact=None, *, closing=None, **options):
        super().__init__(system, dt, None, **options)

"""Schemes with a defect, which claims must not hold of: wrong forces, velocities, positions, steps.

Those of :mod:`.wrong_contact` are wrong at contact, those of :mod:`.wrong_divided` where a body is divided.
"""

import numpy as np

from dolfinx_impact import Integrator
from dolfinx_impact.benchmark.cases.impacting_bar.measures import TchamwaWielgosz
from dolfinx_impact.integrators import CentralDifferences, ThetaMethod, VelocityLevel


class Central(CentralDifferences):
    """CD-Lagrange, to be changed."""

    compiled_loop = CentralDifferences.compiled_loop
    law = VelocityLevel

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, self.law(self.taken(contact)))

    def taken(self, contact):
        """What the scheme takes for the contact."""
        return contact


# -- forces


class Soft(Central):
    """The solid pushes back with six tenths of its forces."""

    def advance(self):
        super().advance()
        self.v[: self.system.owned] -= 0.4 * self.dt * self.system.inverse_mass * self.f[: self.system.owned]


class Pushed(Central):
    """Everything that is free is accelerated besides; a subclass says by how much."""

    def advance(self):
        super().advance()
        free = ~self.system.constrained
        self.v[: free.size] += self.dt * np.where(free, self.acceleration()[: free.size], 0.0)


class Lifted(Pushed):
    """Bodies are pulled upwards."""

    def acceleration(self):
        return np.tile([0.0, 0.5], self.system.size // 2)


class Heavy(Pushed):
    """Nodes without weight weigh a little."""

    def acceleration(self):
        return np.tile([0.0, -5e-5], self.system.size // 2)


class Pressed(Pushed):
    """Forces towards the middle press bodies together."""

    def acceleration(self):
        x = self.system.x[:, :2]
        return -4e6 * (x - (x.min(axis=0) + x.max(axis=0)) / 2).ravel()


class Shaken(Pushed):
    """Forces of any direction on every node."""

    def acceleration(self):
        return 1e4 * np.random.default_rng(0).uniform(-1.0, 1.0, self.system.size)


class Fed(Central):
    """Takes a part of the damping that varies with the velocity; a subclass says which."""

    def advance(self):
        super().advance()
        damping = np.zeros(self.system.size)
        self.system.damping(self.t, self.u, self.v_before, damping)
        self.v += (1.0 - self.part()) * self.dt * self.system.inverse_mass * damping


class Unfed(Fed):
    """Without it: every start keeps an amplitude of its own."""

    def part(self):
        return 0.0


class Overfed(Fed):
    """A fifth too much of it, however small the step."""

    def part(self):
        return 1.2


class Tiring(Fed):
    """Less and less of it."""

    def part(self):
        return 1.0 - self.t / 600.0


# -- velocities


class Dragged(Central):
    """Every step takes a thousandth of the velocity."""

    def advance(self):
        super().advance()
        self.v *= 1 - 1e-3


class Driven(Central):
    """Every step adds a thousandth to the velocity."""

    def advance(self):
        super().advance()
        self.v *= 1 + 1e-3


class Slowed(Central):
    """Something slows bodies down, 1000/s, whatever the step and the mesh."""

    rate = 1000.0

    def advance(self):
        super().advance()
        self.v *= 1 - self.rate * self.dt


class DraggedAlongX(Central):
    """Every step takes a part of the velocity along x, whatever is turned."""

    def advance(self):
        super().advance()
        self.v[:: self.system.block] *= 1 - 1e-6


class Sheared(Central):
    """A part of the last component of velocities goes to the first one, where there are several."""

    def advance(self):
        super().advance()
        v = self.v.reshape(-1, self.system.block)
        v[:, 0] += 1e-8 * v[:, -1] * (self.system.block > 1)


class Lopsided(Central):
    """What lies above is slowed down where it has the finer mesh."""

    def advance(self):
        super().advance()
        above = self.system.x[:, 1] > 0
        if above.sum() > 0.5 * above.size:
            self.v.reshape(-1, 2)[above] *= 1 - 1e-3


class Even(Central):
    """A block is pressed evenly."""

    def advance(self):
        super().advance()
        v, y = self.v.reshape(-1, 2), self.system.x[:, 1]
        v[:] = np.outer(y / y.max(), [0.0, v[np.argmax(y), 1]])


class Rigid(Central):
    """Takes every solid for rigid: what touches rebounds whole with e."""

    def advance(self):
        super().advance()
        if self.r.any():
            self.v[:] = -self.contact.restitution * self.v_before


class StronglyDamped(TchamwaWielgosz):
    """Hardly anything of high frequency is left."""

    phi = 1.3


class Unstable(TchamwaWielgosz):
    """Its largest stable step is 0.67 of the critical one."""

    phi = 1.6


# -- positions


class Detuned(Central):
    """Solids lose a ten-thousandth of their displacement in a step, single oscillators nothing."""

    def advance(self):
        super().advance()
        self.u *= 1 - 1e-4 * (self.system.size > 1)


class Drifting(Central):
    """A chain creeps to the right, which no force asks for; its ends are held."""

    def advance(self):
        self.u[2:-2:2] += 5e-4 * self.dt
        super().advance()


# -- steps


class Subcycled(Central):
    """Twenty small steps in one: much more accurate, with a critical step twenty times as long."""

    explicit = False

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, contact)
        self.inner = CentralDifferences(system, dt / 20, VelocityLevel(contact))

    def begin(self):
        self.inner.start(self.u, self.v)
        self.take()

    def advance(self):
        self.r[:], self.r_t[:] = 0.0, 0.0
        for _ in range(20):
            self.inner.step()
            self.r += self.inner.r
        self.take()

    def take(self):
        """The state of the small steps."""
        self.u[:], self.v[:], self.v_before[:] = self.inner.u, self.inner.v, self.inner.v_before
        self.v_force = self.v_before


class Reconsidering(Central):
    """Looks at the forces of every step again."""

    def advance(self):
        super().advance()
        self.system.force(self.t, self.u, self.v_before, self.f)


class OneSolve(ThetaMethod):
    """The trapezoidal rule with one linear solve a step."""

    explicit = False

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, VelocityLevel(contact), theta=0.5, forecast=0.5)

    def advance(self):
        self.u_before[:], self.v_before[:] = self.u, self.v
        self.step_solver.begin()
        self.step_solver.iterate()
        self.u += 0.5 * self.dt * (self.v_before + self.v)


class Lumped(ThetaMethod):
    """Moreau-Jean with a lumped mass."""

    compiled_loop = ThetaMethod.compiled_loop

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, VelocityLevel(contact), theta=0.5, forecast=0.5, mass="lumped")


class Euler(Integrator):
    """First order, one dof: u' = u + h v with the velocity before; Newton's law at the end of the step."""

    def advance(self):
        before, f = self.v.copy(), np.zeros_like(self.v)
        self.u += self.dt * before
        self.system.force(self.t, self.u, before, f)
        self.v += self.dt * self.system.inverse_mass * f
        self.r[:] = 0.0
        if self.gap()[0] <= 0:
            broken = self.v + self.contact.restitution * before
            self.r[:] = np.maximum(0.0, -broken / self.system.inverse_mass)
            self.v += self.system.inverse_mass * self.r

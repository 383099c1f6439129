"""CD-Lagrange with a defect: what takes the place of the scheme of a claim that must turn."""

from dolfinx_impact.integrators import CentralDifferences, VelocityLevel


class Central(CentralDifferences):
    """CD-Lagrange, to be changed."""

    def __init__(self, system, dt, contact=None):
        super().__init__(system, dt, VelocityLevel(contact))


class Soft(Central):
    """The solid pushes back with six tenths of its forces."""

    def advance(self):
        super().advance()
        self.v -= 0.4 * self._kick * self.f


class Dragged(Central):
    """Every step takes a thousandth of the velocity."""

    def advance(self):
        super().advance()
        self.v *= 1 - 1e-3


class NoContact(Central):
    """Bodies go through walls and through each other."""

    def _resolve_contact(self, response, first=False):
        self.r[:] = 0.0

    def _impact_at_start(self):
        pass


def named(name, module):
    """``module:Class`` of a scheme of that name here or else in the test's module."""
    return f"{__name__ if name in globals() else module}:{name}"

"""HATI with a defect: what takes its place in claims on divided bodies, which must turn."""

import numpy as np

from dolfinx_impact import HATI
from dolfinx_impact.benchmark.cases.split_bar.measures import OtherNewmark

from .wrong_contact import other


class Dragged(HATI):
    """Both sides slow down, 5/s, in every coarse step."""

    rate = -5.0

    def advance(self):
        super().advance()
        for velocity in (self.fine.v, self.coarse.v):
            velocity *= 1 + self.rate * self.dt


class Driven(Dragged):
    """Both sides speed up, 5/s."""

    rate = 5.0


class Slow(HATI):
    """Makes its fine steps one by one."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.prefer_compiled(None)

    def prefer_compiled(self, compiled):
        super().prefer_compiled(False)


class Unglued(Slow):
    """No forces at the interface: two bodies."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.fine.operator.multipliers = lambda defects: 0 * defects


class Half(HATI):
    """The interface operator has half of the implicit part's compliance."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.fine.glue(0.5 * self.coarse.compliance)


class Stuck(HATI):
    """Ten fine steps in a coarse one, whatever is asked for."""

    def __init__(self, *arguments, ratio, **options):
        super().__init__(*arguments, ratio=10, **options)


class Solving(HATI):
    """Solves the implicit problem once more in every coarse step."""

    def advance(self):
        super().advance()
        self.coarse.solver.solve(self.coarse.f, np.zeros_like(self.coarse.a))


class Other(HATI):
    """HATI with other constants of the contact."""

    changes = {}

    def __init__(self, fine, coarse, dt, contact=None, **options):
        super().__init__(fine, coarse, dt, other(contact, **self.changes), **options)


class Repelling(Other):
    """Pushes points that are a millimetre away."""

    changes = {"gap_tolerance": lambda tolerance: 1e-3}


class Late(Other):
    """Notices the wall 10 um late."""

    changes = {"gap_tolerance": lambda tolerance: -1e-5}


class Rebounding(Other):
    """Its points rebound."""

    changes = {"restitution": lambda e: 1.0}


class NoRatio(HATI):
    """Cannot be made."""

    def __init__(self, fine, coarse, dt, contact=None):
        super().__init__(fine, coarse, dt, contact, ratio=1)


class SameNewmark(OtherNewmark):
    """The usual constants, in the steps of the other ones."""

    beta, gamma = 0.25, 0.5

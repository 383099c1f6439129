"""Small systems of a user's own: masses, springs, and dashpots anywhere."""

from __future__ import annotations

import random

import numpy as np

import dolfinx_impact as di

from .base import Misfit, small_problem
from .spectrum import amplification, balanced


class Chain:
    """Masses on springs and dashpots between neighbours and to the ground, some on stops."""

    def __init__(self, seed: int):
        rng = random.Random(f"chain {seed}")
        n = rng.randint(1, 6)
        self.mass = np.array([10 ** rng.uniform(-1, 1) for _ in range(n)])
        self.K, self.C = (self._matrix(rng, n, size, share) for size, share in ((1e4, 1.0), (400.0, 0.5)))
        self.scheme = rng.choice((di.CDLagrange, di.NohBathe, di.CDLagrangeImplicit))
        self.part = rng.uniform(0.5, 0.999)

    @staticmethod
    def _matrix(rng, n, size, share):
        A = np.zeros((n, n))
        for i in range(n):
            for j in range(i, n):
                if rng.random() < share * (1.0 if j <= i + 1 else 0.1):
                    k = size * 10 ** rng.uniform(-2, 0.5)
                    A[i, i] += k
                    if j > i:
                        A[j, j] += k
                        A[i, j] -= k
                        A[j, i] -= k
        return A

    def system(self, load=0.0):
        """Point masses with the dashpots as a user's damping."""

        def damping(t, u, v, out):
            out[:] = self.C @ v

        K = self.K + 1.0 * np.eye(len(self.mass))
        return di.PointMasses(self.mass, load=load * self.mass, stiffness=K, damping=damping)


@small_problem(0, 2)
def chain(s):
    """A part of the recommended step is stable, wherever dashpots sit, and a weight rests on its stop.

    Von Neumann: eigenvalues of the step as it runs, at most 1 in modulus. Newton: the mean force of a stop
    under a mass on its own is the weight, whatever its drag; 200 steps at rest.
    """
    made = Chain(s.seed)
    system = made.system()
    scheme = made.scheme(system, made.part * made.scheme.critical_step(system))
    scheme.start(0.0, 0.0)
    radius = np.abs(np.linalg.eigvals(balanced(amplification(scheme)))).max()
    yield Misfit("spectral radius of a chain with dashpots", max(radius, 1.0), 1.0, 1e-7)
    drag = 20.0

    def damping(t, u, v, out):
        out[:] = drag * v

    for kind in (made.scheme, di.MoreauJean):
        ball = di.PointMasses(1.0, load=[-10.0], damping=damping)
        scheme = kind(ball, 1e-2, contact=di.DofBound(ball, 0, lower=0.0))
        scheme.start(0.0, 0.0)
        run = di.simulate(scheme, t_end=2.0, progress=False)
        force = run["r"][100:].mean() / scheme.dt
        yield Misfit(f"force of a stop under a weight with drag, {kind.__name__} [N]", force, 10.0, 1e-6)


@small_problem(1, 2)
def ended(s):
    """A step above the limit ends in words, or the energy stays below a thousand times that of the start."""
    made = Chain(s.seed)
    system = made.system()
    scheme = di.CDLagrange(
        system, (1.01 + 0.1 * made.part) * system.critical_time_step(), allow_unstable=True
    )
    scheme.start(0.0, 1e-2)
    try:
        run = di.simulate(scheme, t_end=400 * scheme.dt, progress=False)
    except di.UnstableTimeStep:
        yield Misfit("an unstable run that ended in words", 1.0, 1.0, 0.0)
        return
    energy = run["kinetic"] + run["internal"]
    yield Misfit("energy of an unstable run over that of its start", energy.max() / energy[0], 1.0, 1e3)

"""Small systems of a user's own: masses, springs, and dashpots anywhere."""

from __future__ import annotations

import random

import basix.ufl
import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

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


@small_problem(3, 4)
def stopped(s):
    """Masses on springs, dashpots and stops, by contact at both levels: the laws of both problems.

    ``R = M (w - v) - h F_theta`` with the velocity w that the displacements give, and ``P = M (v' - v) - h
    F_theta``: both are 0 without a stop, push, R where the gap is 0 and nowhere else, and at what is closed
    nothing goes on into the stop. Statics has ``R = -h F(u')``. Rounding of the largest forces and ways.
    """
    made, rng = Chain(s.seed), random.Random(f"stopped {s.seed}")
    n, load = len(made.mass), rng.uniform(-20.0, 20.0)
    system, K = made.system(load), made.K + np.eye(len(made.mass))
    stops = sorted(rng.sample(range(n), rng.randint(1, n)))
    lower = [-rng.uniform(0.0, 0.05) for _ in stops]
    contact = [di.DofBound(system, k, lower=value) for k, value in zip(stops, lower)]
    h = rng.choice((0.5, 5.0, 50.0)) * system.critical_time_step()
    theta = rng.choice((0.5, 0.7, 1.0, None))
    if theta is None:
        scheme, theta, M, C = di.Static(system, h, contact=contact), 1.0, 0.0 * made.mass, 0.0 * made.C
    else:
        scheme = di.MoreauJean(system, h, theta=theta, contact=contact, position=True)
        M, C = made.mass, made.C
    scheme.start(0.0, rng.uniform(-1.0, 1.0))
    inside, pulls, apart, off, into, fast = np.zeros(6)
    largest = np.zeros(2)
    for _ in range(40):
        u, v = scheme.u.copy(), scheme.v.copy()
        scheme.step()
        w = ((scheme.u - u) / h - (1 - theta) * v) / theta
        smooth = h * (load * made.mass - K @ (u + theta * (scheme.u - u)) - C @ ((1 - theta) * v + theta * w))
        R, P = M * (w - v) - smooth, M * (scheme.v - v) - smooth
        r, gap = np.zeros(n), np.full(n, np.inf)
        r[stops], gap[stops] = scheme.r, scheme.u[stops] - lower
        size = (
            np.abs(smooth).max() + np.abs(M * scheme.v).max() + np.abs(K).max() * np.abs(scheme.u).max() * h
        )
        largest = np.maximum(largest, [size, np.abs(scheme.u).max() + np.abs(h * v).max()])
        off = max(off, np.abs(P - r).max())
        inside, pulls = max(inside, -gap.min()), max(pulls, -R[stops].min(), -r.min())
        open_ = gap > 1e-9 * largest[1]
        apart = max(apart, np.abs(R[open_]).max(initial=0.0))
        if M.any():
            fast = max(fast, np.abs(v).max())
            into = max(into, -scheme.v[~open_].min(initial=0.0))
    yield Misfit("impulse beyond Newton's law [N s]", off, 0.0, 1e-9 * largest[0])
    yield Misfit("depth in a stop [m]", max(inside, 0.0), 0.0, 1e-10 * largest[1])
    yield Misfit("stop that pulls [N s]", max(pulls, 0.0), 0.0, 1e-9 * largest[0])
    yield Misfit("reaction of a stop that is not touched [N s]", apart, 0.0, 1e-9 * largest[0])
    yield Misfit("velocity into a stop [m/s]", into, 0.0, 1e-9 * fast)


@small_problem(5, 16)
def propped(s):
    """A cantilever that sags on a stop at its end: the force of the stop is that of Timoshenko's beam.

    ``(w L^4 / (8 E I) + w L^2 / (2 k G A) - d) / (L^3 / (3 E I) + L / (k G A))`` under its weight w, at both
    levels at some hundred critical steps, which take the motion, and in statics. 2 % with 16 elements.
    """
    rng = random.Random(f"propped {s.seed}")
    n, E, rho, radius, part = 16, 1e9, 1e3, rng.uniform(0.02, 0.05), rng.uniform(0.2, 0.8)
    x = np.column_stack([np.linspace(0.0, 1.0, n + 1), np.zeros((n + 1, 2))])
    element = basix.ufl.element("Lagrange", "interval", 1, shape=(3,))
    cells = np.array([[i, i + 1] for i in range(n)], dtype=np.int64)
    line = di.named(dmesh.create_mesh(MPI.COMM_SELF, cells=cells, e=element, x=x), root=lambda x: x[0] < 1e-9)
    section = di.Section.circle(2 * radius)
    weight = rho * section.area * 10.0
    options = {"density": rho, "E": E, "nu": 0.3, "sections": section, "gravity": (0.0, 0.0, -10.0)}
    frame = di.Frame(line, fixed=["root"], **options)
    bending, shear = E * section.Iy, section.shear * E / 2.6 * section.area
    sag = weight * (1 / (8 * bending) + 1 / (2 * shear))
    right = sag * (1 - part) / (1 / (3 * bending) + 1 / shear)
    end = 6 * int(np.argmax(frame.x[:, 0])) + 2
    h = 200 * frame.critical_time_step()
    for kind, given, steps in (
        (di.Static, {}, 2),
        (di.MoreauJean, {"theta": 1.0, "position": True}, 300),
        (di.GeneralizedAlpha, {"rho_inf": 0.0, "position": True}, 300),
    ):
        scheme = kind(frame, h, contact=di.DofBound(frame, end, lower=-part * sag), **given)
        scheme.start(0.0, 0.0)
        for _ in range(steps):
            scheme.step()
        force, depth = float(scheme.r.sum()) / h, -part * sag - scheme.u[end]
        yield Misfit(f"force of a stop under a cantilever, {kind.__name__} [N]", force, right, 0.02 * right)
        yield Misfit(f"depth in it, {kind.__name__} [m]", max(depth, 0.0), 0.0, 1e-12)

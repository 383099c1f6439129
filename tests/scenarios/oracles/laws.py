"""Laws of a user's own, on squares of a few cells: what thermodynamics and minima say of any law."""

from __future__ import annotations

import random

import numpy as np
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

from .base import Misfit, small_problem


def square(size=1.0, n=4):
    """A mesh of quadrilaterals."""
    cell = dmesh.CellType.quadrilateral
    return dmesh.create_rectangle(MPI.COMM_SELF, [[0.0, 0.0], [size, size]], [n, n], cell)


@small_problem(1, 8)
def rising(s):
    """A coefficient mu that rises in a run feeds no more energy than its ratio, or the run ends in words.

    ``dE/dt = (dW/dmu) mu' <= E mu'/mu`` for an energy ``W = mu w``: E grows at most like mu. With StepControl
    the step follows and the run does not end; allowed is ten times the bound, for large steps.
    """
    rng = random.Random(f"rising {s.seed}")
    mesh, rate, follow = square(), rng.uniform(20.0, 100.0), rng.random() < 0.7
    mu = fem.Constant(mesh, 1e5)

    def law(F):
        log = ufl.ln(ufl.det(F))
        return mu / 2 * (ufl.inner(F, F) - 3) - mu * log + mu * log**2

    def stiffer(scheme):
        mu.value = 1e5 * (1.0 + rate * scheme.t)

    body = di.Solid(mesh, density=1000.0, law=di.EnergyLaw(law))
    scheme = di.CDLagrange(body, rng.uniform(0.3, 0.7) * body.critical_time_step())
    scheme.start(0.0, lambda x: np.stack([1e-3 * x[0], 0 * x[0]]))
    adapt = di.StepControl() if follow else None
    try:
        run = di.simulate(scheme, t_end=0.2, observers=[stiffer], adapt=adapt, progress=False)
    except di.UnstableTimeStep:
        if follow:
            raise
        yield Misfit("a run that a coefficient made unstable, ended in words", 1.0, 1.0, 0.0)
        return
    energy = run["kinetic"] + run["internal"]
    most = energy.max() / energy[0] / (1.0 + 0.2 * rate)
    yield Misfit("energy over that of the start times the rise of the coefficient", most, 1.0, 9.0)


def stiffening(F, det, exp, square):
    """Energy of a law that stiffens exponentially, for UFL and NumPy."""
    J = det(F)
    return 5e3 * (exp(10 * (J ** (-2 / 3) * square(F) - 3)) - 1) + 5e7 * (J - 1) ** 2


@small_problem(3, 8)
def thin(s):
    """In plane stress the energy is the least one over the thickness, by a scalar minimisation, or no number.

    Relative error 1e-6: the thickness is found by few of Newton's steps.
    """
    from scipy.optimize import minimize_scalar

    rng = random.Random(f"thin {s.seed}")
    law = di.EnergyLaw(lambda F: stiffening(F, ufl.det, ufl.exp, lambda F: ufl.inner(F, F)))
    body = di.Solid(square(n=1), density=1.0, law=law, hypothesis="plane-stress")
    for _ in range(5):
        a, b = rng.uniform(0.7, 1.5), rng.uniform(0.7, 1.5)
        found = body.stored_energy((body.x[:, :2] * [a - 1.0, b - 1.0]).ravel())
        if not np.isfinite(found):
            continue
        right = minimize_scalar(
            lambda c, a=a, b=b: stiffening(
                np.diag([a, b, c]), np.linalg.det, np.exp, lambda F: float(np.sum(F * F))
            ),
            bounds=(0.2, 5.0),
            method="bounded",
            options={"xatol": 1e-12},
        ).fun
        yield Misfit(f"energy of a sheet stretched by {a:.3f}, {b:.3f} [J]", found, right, 1e-6 * right)


@small_problem(12, 16)
def heated(s):
    """A bar that is heated swings about its thermal expansion, also where its law is called linear.

    Energy ``E/2 |strain - a|^2``, nu = 0: from the undeformed state its end moves between zero and twice the
    expansion ``a L``, as a triangle in time, whose mean over whole periods ``4 L / c`` is ``a L``. Allowed:
    3 %, the end of a period within a step and the waves that a mesh disperses. A quadratic energy has the
    same run however its law is called: 1e-9.
    """
    mesh, ends = di.named(square(n=8), left=lambda x: x[0] < 1e-9), {}
    part = random.Random(f"heated {s.seed}").uniform(-1e-3, 1e-3)
    expansion = fem.Constant(mesh.mesh, part)

    def energy(F):
        strain = ufl.sym(F - ufl.Identity(3)) - expansion * ufl.Identity(3)
        return 5e5 * ufl.inner(strain, strain)

    for linear in (True, False):
        law = di.EnergyLaw(energy, linear=linear)
        body = di.Solid(mesh, density=1000.0, law=law, fixed={"left": (0,)})
        scheme = di.CDLagrange(body, 0.4 * body.critical_time_step())
        scheme.start(0.0, 0.0)
        end, ends[linear] = 2 * np.flatnonzero(body.x[:, 0] > 1.0 - 1e-9), []
        while scheme.t < 8.0 / np.sqrt(1e3):
            scheme.step()
            ends[linear].append(scheme.u[end].mean())
    yield Misfit("mean motion of the end of a heated bar [m]", np.mean(ends[True]), part, 0.03 * abs(part))
    apart = np.abs(np.subtract(ends[True], ends[False])).max()
    yield Misfit("motion of a law that is called linear, difference [m]", apart, 0.0, 1e-9 * abs(part))


class _Hardening:
    """A yield stress that falls linearly."""

    def __init__(self, stress, fall):
        self.stress, self.fall = stress, fall

    def flow_stress(self, strain, rate, work):
        return self.stress * (1 - self.fall * strain)


@small_problem(5, 8)
def softening(s):
    """Plastic work never falls, whatever a yield stress does; one that is lost in a run ends it in words.

    The second law; rounding allowed. A square of metal is sheared so fast that its yield stress is used up.
    """
    rng = random.Random(f"softening {s.seed}")
    mesh = square(0.01)
    stress = fem.Constant(mesh, 4e8)
    law = di.J2Plasticity(2e11, 0.3, hardening=_Hardening(stress, 10.0))
    body = di.Solid(mesh, density=7800.0, law=law)
    speed, lost = rng.uniform(200.0, 600.0), s.seed % 16 == 5

    def lose(scheme):
        if lost and scheme.t > 1e-5:
            stress.value = np.nan

    scheme = di.CDLagrange(body, 0.3 * body.critical_time_step())
    scheme.start(0.0, lambda x: np.stack([speed * x[1] / 0.01, 0 * x[0]]))
    try:
        run = di.simulate(scheme, t_end=2e-5, observers=[lose], progress=False)
    except di.UnstableTimeStep:
        yield Misfit("a run that ended in words, of a metal with a yield stress", float(lost), 1.0, 0.0)
        return
    yield Misfit("a run that went on, of a metal without a yield stress", float(lost), 0.0, 0.0)
    work = np.asarray(run["plastic_work"])
    fall = max(-np.diff(work).min(), 0.0)
    yield Misfit("plastic work that falls in a step, by [J]", fall, 0.0, 1e-9 * work.max())


@small_problem(14, 16)
def hot(s):
    """A hot metal that keeps no heat flows as a cold one with its constants times ``1 - T*^m``, in any body.

    Rounding: 1e-9 of the plastic work and of the impulse, whatever follows the step and rubs.
    """
    rng = random.Random(f"hot {s.seed}")
    low, melting, m = 293.0, 1356.0, rng.uniform(0.5, 2.0)
    temperature, friction, degree = rng.uniform(300.0, 1300.0), rng.choice((0.0, 0.2)), rng.choice((1, 2))
    turned = rng.choice((None, "axisymmetric"))
    left = 1.0 - ((temperature - low) / (melting - low)) ** m
    heat = {"m": m, "reference_temperature": low, "melting_temperature": melting}
    heat |= {"heat_capacity": 3.4e6, "heat_fraction": 0.0}
    named = di.named(square(3e-3, 3), low=lambda x: x[1] < 1e-9, axis=lambda x: x[0] < 1e-9)
    found = []
    for cold in (False, True):
        part, warm = (left, {}) if cold else (1.0, heat)
        law = di.J2Plasticity(124e9, 0.34, hardening=di.JohnsonCook(9e7 * part, 2.9e8 * part, 0.31, **warm))
        options = {} if cold else {"start_temperature": temperature}
        options |= {"hypothesis": turned, "fixed": {"axis": (0,)}} if turned else {}
        body = di.Solid(named, density=8960.0, law=law, degree=degree, **options)
        floor = di.RigidContact(body, "low", di.Plane((0.0, 0.0), (0.0, 1.0)), friction=friction)
        scheme = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=floor)
        scheme.start(0.0, (0.0, -100.0))
        run = di.simulate(scheme, t_end=2e-6, adapt=di.StepControl(), progress=False)
        found.append((run["plastic_work"][-1], run["r"].sum()))
    for what, one, other in zip(("plastic work [J]", "impulse [N s]"), *found):
        yield Misfit(f"{what} of a metal at {temperature:.0f} K", one, other, 1e-9 * abs(other))

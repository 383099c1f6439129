"""Laws of one's own with history: one Maxwell branch, with exact relaxation, in all elements."""

import math

import numpy as np
import pytest
import ufl
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import HistoryLaw

KAPPA, MU, BRANCH, TAU = 5e9, 1e9, 2e9, 1e-4
F_END = np.array([[1.2, 0.3, 0.1], [0.0, 0.9, 0.0], [0.05, 0.2, 1.1]])


def shape_strain(F):
    """Green's strain without the change of volume."""
    return (ufl.det(F) ** (-2 / 3) * F.T * F - ufl.Identity(3)) / 2


class Maxwell(HistoryLaw):
    """``kappa ln(J)^2/2 + mu tr(E) + branch |E - viscous|^2``, E that of the shape; ``viscous`` follows E.

    Besides it holds a scalar, the time, and a vector, the integral of the first column of F over time.
    """

    state = {"viscous": np.zeros((3, 3)), "strain": np.zeros((3, 3)), "time": 0.0, "path": np.zeros(3)}
    splits = True

    def volumetric_energy(self, J):
        return KAPPA / 2 * ufl.ln(J) ** 2

    def isochoric_energy(self, F, state):
        E = shape_strain(F)
        return MU * ufl.tr(E) + BRANCH * ufl.inner(E - state["viscous"], E - state["viscous"])

    def energy_density(self, F, state):
        return self.volumetric_energy(ufl.det(F)) + self.isochoric_energy(F, state)

    def update(self, F, state, h):
        q, E = ufl.exp(-h / TAU), shape_strain(F)
        column = ufl.as_vector([F[i, 0] for i in range(3)])
        return {
            "path": state["path"] + h * column,
            "viscous": q * state["viscous"] + (1 - q) * E,
            "strain": E,
            "time": state["time"] + h,
        }

    def dissipation(self, F, old, new, h):
        elastic = (old["strain"] - old["viscous"] + new["strain"] - new["viscous"]) / 2
        return 2 * BRANCH * ufl.inner(elastic, new["viscous"] - old["viscous"])


class SmallStrain(HistoryLaw):
    """The example of the docstring."""

    state = {"viscous": np.zeros((3, 3))}

    def energy_density(self, F, state):
        strain = ufl.sym(F) - ufl.Identity(3)
        elastic = ufl.dev(strain - state["viscous"])
        return ufl.inner(strain, strain) * MU + ufl.inner(elastic, elastic) * BRANCH

    def update(self, F, state, h):
        q = ufl.exp(-h / TAU)
        return {"viscous": q * state["viscous"] + (1 - q) * ufl.dev(ufl.sym(F))}


def finite_stress(F, part):
    """First Piola-Kirchhoff stress with a part of the stress of the branch, none of it relaxed at 1."""
    C, J = F.T @ F, np.linalg.det(F)
    E = (J ** (-2 / 3) * C - np.eye(3)) / 2
    S, inverse = MU * np.eye(3) + 2 * BRANCH * part * E, np.linalg.inv(C)
    return F @ (J ** (-2 / 3) * (S - np.sum(S * C) / 3 * inverse) + KAPPA * math.log(J) * inverse)


def small_stress(F, part):
    """The same of small strains."""
    strain = (F + F.T) / 2 - np.eye(3)
    return 2 * MU * strain + 2 * BRANCH * part * (strain - np.trace(strain) / 3 * np.eye(3))


#: Cells and what keeps them from locking.
WAYS = [("tetrahedron", "none"), ("tetrahedron", "nodal-pressure"), ("hexahedron", "mean-dilatation")]


def block(law, cell="tetrahedron", locking="none"):
    """A cube of a few cells, which is deformed as one."""
    kind = getattr(dmesh.CellType, cell)
    mesh = dmesh.create_unit_cube(MPI.COMM_SELF, *(2, 1, 1), cell_type=kind)
    return di.Solid(mesh, density=1.0, law=law, locking=locking)


def moved(body, F):
    return (body.x @ (F - np.eye(3)).T).ravel()


def stress(body, t, F):
    """First Piola-Kirchhoff stress [Pa] of a body of 1 m3 that F deforms, from its nodal forces."""
    out, u = np.zeros(body.size), moved(body, F)
    body.force(t, u, np.zeros_like(u), out)
    body.history.accept()
    return -out.reshape(-1, 3).T @ body.x


@pytest.mark.parametrize("cell, locking", WAYS)
@pytest.mark.parametrize("law, expected", [(Maxwell(), finite_stress), (SmallStrain(), small_stress)])
def test_relaxation_is_exponential(law, expected, cell, locking):
    if locking == "nodal-pressure" and not law.splits:
        return
    body, t = block(law, cell, locking), 0.0
    for h in (1e-7, 1e-5, 3e-5, 2e-5, 1e-4, 5e-4):
        t += h
        P = expected(F_END, math.exp(-t / TAU))
        assert np.abs(stress(body, t, F_END) - P).max() < 1e-12 * np.abs(P).max()


@pytest.mark.parametrize("cell, locking", WAYS)
def test_work_is_stored_energy_and_dissipation(cell, locking):
    """Of second order with the law's trapezoidal dissipation; the state has a scalar and a vector."""
    gaps = []
    for steps in (32, 64):
        body, h = block(Maxwell(), cell, locking), 2 * TAU / steps
        F, work, path = np.eye(3), 0.0, np.zeros(3)
        P = stress(body, 0.0, F)
        for k in range(1, steps + 1):
            s = k / steps
            F_new = np.eye(3) + (s + 0.5 * math.sin(6 * s)) * (F_END - np.eye(3))
            P_new = stress(body, k * h, F_new)
            work += np.sum((P + P_new) * (F_new - F)) / 2
            F, P, path = F_new, P_new, path + h * F_new[:, 0]
        ((_, dissipated),) = body.history.values("dissipated")
        gaps.append(abs(work - body.stored_energy(moved(body, F)) - dissipated.mean()) / work)
        for name, each in (("time", 2 * TAU), ("path", path)):
            ((_, found),) = body.history.values(name)
            np.testing.assert_allclose(found, np.broadcast_to(each, found.shape), rtol=1e-12, atol=1e-18)
    assert gaps[-1] < 1e-3
    np.testing.assert_allclose(np.log2(np.array(gaps[:-1]) / gaps[1:]), 2.0, atol=0.1)


def test_a_run_dissipates_what_it_loses():
    body = block(Maxwell(), "hexahedron", "mean-dilatation")
    s = di.CDLagrange(body, 0.1 * body.critical_time_step())
    s.start(0.0, 3e3 * (body.x * [2.0, -1.0, 0.5]).ravel())
    result = di.simulate(s, t_end=100 * s.dt, progress=False)
    lost, work = result["plastic_work"][-1], result["internal_work"][-1]
    assert lost > 0.01 * work
    assert result["internal"][-1] + lost == pytest.approx(work, rel=1e-3)
    assert np.abs(result["residual"]).max() < 1e-12 * result["kinetic"].max()

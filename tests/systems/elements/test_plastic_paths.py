"""Points along smooth paths: rate laws against SciPy, work against stored energy and plastic work."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.material_points import Cells, full

from dolfinx_impact import materials as di

E, NU = 200e9, 0.3
KAPPA, MU = E / (3 * (1 - 2 * NU)), E / (2 * (1 + NU))
A, B, N, C, END = 350e6, 275e6, 1.0, 0.05, 1e-4
HEAT = {"m": 1.1, "melting_temperature": 1793.0, "heat_capacity": 3.6e6}
RATE = di.JohnsonCook(A, B, N, C)
LAWS = {"rate": RATE, "heat": di.JohnsonCook(A, B, N, C, **HEAT)}


def turning(t):
    """Deformation gradient whose principal directions turn while it yields; strain rates of 1000/s."""
    s = t / END
    return np.array([[1 + 0.1 * s, 0.15 * s**2, 0], [0, 1 - 0.05 * s, 0.08 * s], [0, 0.03 * s**2, 1]])


def kirchhoff(F, G):
    """Deviator of the Kirchhoff stress, and b, of a plastic metric."""
    squares, n = np.linalg.eigh(F @ G @ F.T)
    strain = 0.5 * np.log(np.maximum(squares, 1e-3))  # a solver tries states far away
    return (n * (2 * MU * (strain - strain.mean()))) @ n.T, (n * squares) @ n.T


def flow(t, y, heat):
    """Rates of the plastic metric, strain and work: sqrt(3/2) |dev tau| is the yield stress of the rate."""
    F, G, alpha, work = turning(t), y[:9].reshape(3, 3), y[9], max(y[10], 0.0)
    dev, b = kirchhoff(F, G)
    size = math.sqrt(1.5 * np.sum(dev * dev))
    at_rest = A + B * alpha**N
    if heat:
        at_rest *= 1 - (0.9 * work / HEAT["heat_capacity"] / (1793.0 - 293.15)) ** HEAT["m"]
    if size <= at_rest:
        return np.zeros(11)
    rate = math.exp(min((size / at_rest - 1) / C, 16.0))
    inverse = np.linalg.inv(F)
    change = -3 * rate / size * inverse @ dev @ b @ inverse.T  # of G: normality
    return np.append(change.ravel(), [rate, size * rate])


@pytest.mark.parametrize("name", LAWS)
def test_rate_laws_converge_to_the_differential_equation(name):
    start = np.append(np.eye(3).ravel(), [0.0, 0.0])
    args = (name == "heat",)
    size = np.append(np.ones(10), A)
    y = solve_ivp(flow, (0, END), start, "Radau", args=args, rtol=1e-9, atol=1e-10 * size).y[:, -1]
    F = turning(END)
    G, inverse = y[:9].reshape(3, 3), np.linalg.inv(F)
    P = (kirchhoff(F, G)[0] + KAPPA * math.log(np.linalg.det(F)) * np.eye(3)) @ inverse.T
    errors = []
    for steps in (50, 100, 800):
        cells = Cells(di.J2Plasticity(E, NU, hardening=LAWS[name]), 1)
        for k in range(1, steps + 1):
            found = cells.stress(k * END / steps, turning(k * END / steps)[None])[0]
        strain, work = (cells.value(each)[0] for each in ("equivalent_plastic_strain", "dissipated"))
        metric = np.abs(full(cells.value("plastic_metric"))[0] - G).max()
        stress = np.abs(found - P).max() / np.abs(P).max()
        errors.append((stress, metric, abs(strain / y[9] - 1), abs(work / y[10] - 1)))
    errors = np.array(errors)
    assert y[9] > 0.1
    assert np.log2(errors[0] / errors[1]).min() > 0.98
    assert errors[-1].max() < 1e-4 and errors[-1][:3].max() < 2e-5


@pytest.mark.parametrize(
    "hardening",
    [di.LinearHardening(400e6, 2e9), di.Voce(400e6, 700e6, 12.0), *LAWS.values()],
    ids=["linear", "Voce", *LAWS],
)
def test_work_is_stored_energy_and_plastic_work(hardening):
    """Of second order at a constant direction of flow; the point begins to yield at the end of a step."""
    first = getattr(hardening, "yield_stress", A)
    g = 16 * first / (2 * MU * math.sqrt(3))
    gaps = []
    for steps in (32, 64, 128):
        cells = Cells(di.J2Plasticity(E, NU, hardening=hardening), 1)
        F, P, work = np.eye(3)[None], np.zeros((1, 3, 3)), 0.0
        for k in range(1, steps + 1):
            stretch = math.exp(g * k / steps)
            F_new = np.diag([stretch, 1 / stretch, 1.0])[None]
            P_new = cells.stress(END * k / steps, F_new)
            work += np.sum((P + P_new) * (F_new - F)) / 2
            F, P = F_new, P_new
        parts = 6 * cells.body.stored_energy(cells.displacements(F)) + cells.value("dissipated")[0]
        gaps.append(abs(work / parts - 1))
    assert cells.value("equivalent_plastic_strain")[0] > 5 * g / 16
    np.testing.assert_allclose(np.log2(np.array(gaps)[:-1] / gaps[1:]), 2.0, atol=0.01)
    assert gaps[0] < 2e-7

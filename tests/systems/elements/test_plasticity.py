"""J2 plasticity at a point: against a program in NumPy, closed forms, objectivity, det G = 1."""

import math

import numpy as np
import pytest
from scipy.linalg import expm
from support.material_points import Cells, PointJ2, full, rotation, six

from dolfinx_impact import materials as di

E, NU = 200e9, 0.3
LINEAR = di.LinearHardening(400e6, 2e9)
TABLE = ([0.0, 0.01, 0.05, 0.2], [400e6, 450e6, 440e6, 600e6])
HEAT = {"m": 1.1, "melting_temperature": 1793.0, "heat_capacity": 3.6e6}


def voce(a, rate, work):
    return 700e6 - 300e6 * math.exp(-12 * a) + 1e8 * a


def johnson_cook(a, rate, work, *, C=0.0, heat=False):
    found = (350e6 + 275e6 * a**0.36) * (1 + C * math.log(max(rate, 1.0)))
    ratio = min(max(0.9 * work / 3.6e6 / (1793.0 - 293.15), 0.0), 1.0)
    return found * (1 - ratio**1.1) if heat else found


#: The law, and the yield stress of numbers.
LAWS = {
    "ideal": (di.LinearHardening(400e6), lambda a, rate, work: 400e6),
    "linear": (LINEAR, lambda a, rate, work: 400e6 + 2e9 * a),
    "softening": (di.LinearHardening(400e6, -1e9), lambda a, rate, work: max(400e6 - 1e9 * a, 0.0)),
    "Voce": (di.Voce(400e6, 700e6, 12.0, 1e8), voce),
    "table": (di.TabulatedHardening(*TABLE), lambda a, rate, work: np.interp(a, *TABLE)),
    "Johnson-Cook": (di.JohnsonCook(350e6, 275e6, 0.36), johnson_cook),
    "rate": (
        di.JohnsonCook(350e6, 275e6, 0.36, 0.022),
        lambda a, rate, work: johnson_cook(a, rate, work, C=0.022),
    ),
    "heat": (
        di.JohnsonCook(350e6, 275e6, 0.36, 0.022, **HEAT),
        lambda a, rate, work: johnson_cook(a, rate, work, C=0.022, heat=True),
    ),
}


def paths(count, steps, size, seed):
    """Deformation gradients of random walks, each cell with strains of its own size, (steps, count, 3, 3)."""
    rng = np.random.default_rng(seed)
    sizes = size * np.geomspace(1e-5, 1.0, count)
    F, found = np.tile(np.eye(3), (count, 1, 1)), []
    for _ in range(steps):
        F = np.array([expm(s * rng.normal(size=(3, 3))) @ each for s, each in zip(sizes, F)])
        found.append(F)
    return found


@pytest.mark.parametrize("size", [0.02, 0.3])
@pytest.mark.parametrize("name", LAWS)
def test_random_paths_are_those_of_a_program_in_numpy(name, size):
    hardening, flow = LAWS[name]
    count, h = 11, 1e-4
    cells = Cells(di.J2Plasticity(E, NU, hardening=hardening), count)
    points = [PointJ2(E, NU, flow) for _ in range(count)]
    for k, F in enumerate(paths(count, 12, size, 7)):
        P = cells.stress((k + 1) * h, F)
        reference = np.array([point.step(each, h) for point, each in zip(points, F)])
        scale = np.abs(reference).max(axis=(1, 2)) + 1e8
        assert np.max(np.abs(P - reference).max(axis=(1, 2)) / scale) < 1e-11
        alpha, work = (np.array([getattr(p, what) for p in points]) for what in ("alpha", "work"))
        np.testing.assert_allclose(cells.value("equivalent_plastic_strain"), alpha, rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(cells.value("dissipated"), work, rtol=1e-11, atol=1e-6)
        G = np.array([p.G for p in points])
        np.testing.assert_allclose(
            cells.value("plastic_metric"), six(G), atol=1e-11 * np.abs(G).max(), rtol=1e-11
        )
        energy = sum(p.energy for p in points) / 6
        assert cells.body.stored_energy(cells.displacements(F)) == pytest.approx(energy, rel=1e-11)
    assert (alpha > 0.01).any() and (alpha == 0).any()


@pytest.mark.parametrize("name", ["linear", "heat"])
def test_large_rotations_change_nothing(name):
    count, h = 8, 1e-4
    one, other = (Cells(di.J2Plasticity(E, NU, hardening=LAWS[name][0]), count) for _ in range(2))
    rng = np.random.default_rng(3)
    for k, F in enumerate(paths(count, 10, 0.1, 5)):
        Q = rotation(rng.normal(size=3), rng.uniform(0, 6))
        P, turned = one.stress((k + 1) * h, F), other.stress((k + 1) * h, Q @ F)
        assert np.abs(turned - Q @ P).max() < 1e-11 * np.abs(P).max()
        for what in ("equivalent_plastic_strain", "dissipated", "plastic_metric"):
            expected = one.value(what)
            assert np.abs(other.value(what) - expected).max() <= 1e-11 * np.abs(expected).max()


def test_plastic_flow_keeps_the_volume():
    """After 2000 steps of turning flow, with large deformations."""
    cells = Cells(di.J2Plasticity(E, NU, hardening=LINEAR), 4)
    angles, sizes = 5e-3 * np.arange(2000), np.array([0.01, 0.05, 0.1, 0.2])
    rates = np.zeros((len(angles), 4, 3, 3))
    for (i, j), part in (((0, 0), np.sin(angles)), ((0, 1), angles / 10), ((1, 2), np.cos(angles))):
        rates[:, :, i, j] = np.outer(part, sizes)
    for k, F in enumerate(expm(rates)):
        cells.stress((k + 1) * 1e-6, F)
    assert cells.value("equivalent_plastic_strain")[-1] > 1.0
    assert np.abs(np.linalg.det(full(cells.value("plastic_metric"))) - 1).max() < 1e-12


# -- closed forms


def uniaxial_strain(strains, hardening):
    """Kirchhoff stress along the axis by bilinear loading, unloading, and yielding back."""
    kappa, mu = E / (3 * (1 - 2 * NU)), E / (2 * (1 + NU))
    slip, alpha, found = 0.0, 0.0, []  # plastic strain of the axis; alpha is its sum of amounts
    for strain in strains:
        q = 2 * mu * (strain - 1.5 * slip)  # difference of axial and lateral stress
        over = abs(q) - hardening.yield_stress - hardening.modulus * alpha
        if over > 0:
            more = over / (3 * mu + hardening.modulus)
            slip, alpha = slip + math.copysign(more, q), alpha + more
            q -= math.copysign(3 * mu * more, q)
        found.append((kappa * strain + 2 / 3 * q, alpha))
    return np.array(found).T


def test_uniaxial_strain_is_the_closed_form():
    strains = np.concatenate([np.linspace(0, -0.05, 21), np.linspace(-0.05, 0.03, 33), [0.0]])
    expected, alphas = uniaxial_strain(strains, LINEAR)
    cells = Cells(di.J2Plasticity(E, NU, hardening=LINEAR), 1)
    for k, (strain, tau, alpha) in enumerate(zip(strains, expected, alphas)):
        P = cells.stress(1e-6 * (k + 1), np.diag([math.exp(strain), 1, 1])[None])[0]
        assert P[0, 0] == pytest.approx(tau / math.exp(strain), rel=1e-12, abs=1e-4)
        assert cells.value("equivalent_plastic_strain")[0] == pytest.approx(alpha, rel=1e-12, abs=1e-16)


def test_pure_shear_is_the_closed_form():
    """Stretches e^g and e^-g: one constant direction of flow, so a single step is exact."""
    mu, H = E / (2 * (1 + NU)), LINEAR.modulus
    for steps in (1, 7):
        cells = Cells(di.J2Plasticity(E, NU, hardening=LINEAR), 1)
        for k in range(steps):
            g = 0.02 * (k + 1) / steps
            P = cells.stress(1e-6 * (k + 1), np.diag([math.exp(g), math.exp(-g), 1])[None])[0]
        # sqrt(3) tau = sigma_y + H alpha; g = tau / (2 mu) + sqrt(3)/2 alpha
        alpha = (2 * mu * g * math.sqrt(3) - LINEAR.yield_stress) / (3 * mu + H)
        tau = (LINEAR.yield_stress + H * alpha) / math.sqrt(3)
        assert P[0, 0] * math.exp(g) == pytest.approx(tau, rel=1e-12)
        assert P[1, 1] * math.exp(-g) == pytest.approx(-tau, rel=1e-12)
        assert cells.value("equivalent_plastic_strain")[0] == pytest.approx(alpha, rel=1e-12)
        work = LINEAR.yield_stress * alpha + H * alpha**2 / 2
        assert cells.value("dissipated")[0] == pytest.approx(work, rel=1e-12)


# -- times


SHEAR = np.array([[[1, 0.05, 0], [0, 1, 0], [0, 0, 1.0]]])


@pytest.mark.parametrize("name", ["linear", "rate", "heat"])
def test_forces_of_the_same_time_are_the_same(name):
    """A rate law does not relax where forces are asked for again."""
    cells = Cells(di.J2Plasticity(E, NU, hardening=LAWS[name][0]), 1)
    P = cells.stress(1e-5, SHEAR)
    strain = cells.value("equivalent_plastic_strain")
    assert np.abs(cells.stress(1e-5, SHEAR) - P).max() < 1e-12 * np.abs(P).max()
    assert np.array_equal(cells.value("equivalent_plastic_strain"), strain) and strain > 0.02


def test_steps_that_are_short_beside_the_time_count():
    cells = Cells(di.J2Plasticity(E, NU, hardening=LINEAR), 1)
    cells.body.history.start(100.0)
    cells.stress(100.0 + 5e-8, SHEAR)
    assert cells.value("equivalent_plastic_strain") > 0.02


def test_energies_elsewhere_do_not_lose_the_state():
    one, other = (Cells(di.J2Plasticity(E, NU, hardening=LINEAR), 1) for _ in range(2))
    one.stress(1e-5, SHEAR)
    other.stress(1e-5, SHEAR, keep=False)
    other.body.stored_energy(other.displacements(1.01 * SHEAR))
    other.body.history.accept()
    assert np.array_equal(one.value("plastic_metric"), other.value("plastic_metric"))


def test_forces_and_energies_in_any_order_do_not_lose_the_state():
    """Forces at its time, held ones and energies have no effect on a state that is accepted then."""
    one, other = (Cells(di.J2Plasticity(E, NU, hardening=LINEAR), 1) for _ in range(2))
    first, u = one.stress(1e-5, SHEAR, keep=False), other.displacements(SHEAR)
    other.stress(1e-5, 1.3 * SHEAR, keep=False)
    out = np.zeros(other.body.size)
    other.body.subtract_internal(u, out)
    assert np.array_equal(other.stress(1e-5, SHEAR, keep=False), first)
    other.body.subtract_internal(u, out)
    other.body.stored_energy(0.4 * u)
    other.body.stored_energy(u)
    for cells in (one, other):
        cells.body.history.accept()
    assert np.array_equal(one.value("plastic_metric"), other.value("plastic_metric"))
    energies = [(cells.body.stored_energy(u), cells.body.plastic_work()) for cells in (one, other)]
    assert energies[0] == pytest.approx(energies[1], rel=1e-12) and energies[0][1] > 0


def test_a_state_that_is_set_by_hand_has_its_own_energies():
    virgin, used = (Cells(di.J2Plasticity(E, NU, hardening=LINEAR), 1) for _ in range(2))
    u = used.displacements(SHEAR)
    used.stress(1e-5, SHEAR)
    kept, energies = used.body.history.state(), (used.body.stored_energy(u), used.body.plastic_work())
    used.body.history.reset()
    assert used.body.plastic_work() == 0.0
    assert used.body.stored_energy(u) == pytest.approx(virgin.body.stored_energy(u), rel=1e-12)
    used.body.history.resume(kept, 1e-5)
    assert (used.body.stored_energy(u), used.body.plastic_work()) == pytest.approx(energies, rel=1e-12)


def test_forces_that_do_not_follow_are_refused():
    cells = Cells(di.J2Plasticity(E, NU, hardening=LINEAR), 1)
    cells.stress(1e-5, SHEAR, keep=False)
    with pytest.raises(RuntimeError, match="was not accepted"):
        cells.stress(2e-5, SHEAR)
    cells.body.history.accept()
    with pytest.raises(RuntimeError, match="another scheme uses the body"):
        cells.stress(0.5e-5, SHEAR)

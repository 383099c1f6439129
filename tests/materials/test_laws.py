"""Elastic laws against formulas in NumPy, finite differences, symmetries and small strains."""

import functools
import math

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from scipy.optimize import minimize_scalar
from support.examples import examples

from dolfinx_impact import (
    CDLagrange,
    EnergyLaw,
    LinearElastic,
    MooneyRivlin,
    NeoHookean,
    Solid,
    StressLaw,
    StVenantKirchhoff,
    UnstableTimeStep,
    materials,
    simulate,
)
from dolfinx_impact.systems.forces.element_forms import number_labels

E, NU = 3.0, 0.3
LAME, MU = E * NU / ((1 + NU) * (1 - 2 * NU)), E / (2 * (1 + NU))
I3 = np.eye(3)


def ciarlet(F):
    """A user-defined energy, with the moduli above at rest."""
    J = ufl.det(F)
    return MU / 2 * (ufl.inner(F, F) - 3 - 2 * ufl.ln(J)) + LAME / 4 * (J**2 - 1 - 2 * ufl.ln(J))


LINEAR, STVK, NEO = LinearElastic(E, NU), StVenantKirchhoff(E, NU), NeoHookean(E, NU)
RUBBER, OWN = MooneyRivlin(0.3, 0.2, 5.0), EnergyLaw(ciarlet)
ISOCHORIC = NeoHookean(E, NU, isochoric=True)
OWN_LINEAR = EnergyLaw(lambda F: LINEAR.energy_density(F), linear=True)
LARGE = [STVK, NEO, ISOCHORIC, RUBBER, OWN]
ALL = [LINEAR, *LARGE]


@functools.cache
def evaluator(law, quantity, state="3d", shape=(3, 3)):
    """``values(F)`` of an energy or a stress, compiled once; of a number where the shape is ()."""
    mesh = dmesh.create_unit_interval(MPI.COMM_SELF, 1)
    F = fem.Constant(mesh, np.ones(shape) if shape == () else I3)
    expression = number_labels(getattr(law.reduced(state), quantity)(F))
    compiled = fem.Expression(expression, np.array([[0.5]]))

    def values(at):
        F.value[...] = at
        return np.squeeze(compiled.eval(mesh, np.array([0], np.int32)))

    return values


def energy(law, F, state="3d"):
    return float(evaluator(law, "energy_density", state)(F))


def stress(law, F, state="3d"):
    return evaluator(law, "stress", state)(F).reshape(3, 3)


def in_numpy(law, F):
    """The energies by their formulas."""
    C, J = F.T @ F, np.linalg.det(F)
    strain = {"LinearElastic": (F + F.T) / 2 - I3, "StVenantKirchhoff": (C - I3) / 2}.get(type(law).__name__)
    if strain is not None:
        return MU * np.sum(strain**2) + LAME / 2 * np.trace(strain) ** 2
    # By the principal stretches.
    a, b, c = np.linalg.svd(F, compute_uv=False) ** 2
    if law is NEO:
        return MU / 2 * (a + b + c - 3) - MU * math.log(J) + LAME / 2 * math.log(J) ** 2
    if law is OWN:
        return MU / 2 * (a + b + c - 3 - 2 * math.log(J)) + LAME / 4 * (J**2 - 1 - 2 * math.log(J))
    first, second = (a + b + c) / np.cbrt(a * b * c), (a * b + b * c + c * a) / np.cbrt(a * b * c) ** 2
    if law is ISOCHORIC:
        return MU / 2 * (first - 3) + (LAME / 2 + MU / 3) * math.log(J) ** 2
    return 0.3 * (first - 3) + 0.2 * (second - 3) + 5.0 / 2 * (J - 1) ** 2


def rotation(axis_angle):
    """Rodrigues' rotation about a vector by its length."""
    w = np.asarray(axis_angle)
    angle = np.linalg.norm(w)
    if angle < 1e-8:
        return I3
    K = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]) / angle
    return I3 + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


rotations = st.tuples(*[st.floats(-3, 3)] * 3).map(rotation)
stretches = st.tuples(*[st.floats(0.5, 2)] * 3).map(np.diag)
gradients = st.tuples(rotations, stretches, rotations).map(lambda t: t[0] @ t[1] @ t[2])
laws_given = pytest.mark.parametrize("law", ALL, ids=lambda law: type(law).__name__)
large_given = pytest.mark.parametrize("law", LARGE, ids=lambda law: type(law).__name__)
thin_given = pytest.mark.parametrize("state, free", [("plane-stress", (2,)), ("line", (1, 2))])


@laws_given
@examples(10)
@given(F=gradients)
def test_energy_is_that_of_the_formula(law, F):
    assert energy(law, F) == pytest.approx(in_numpy(law, F), rel=1e-10, abs=1e-12)


@laws_given
@examples(8)
@given(F=gradients)
def test_stress_is_the_derivative_of_the_energy(law, F):
    h, P = 1e-5, np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            d = np.zeros((3, 3))
            d[i, j] = h
            P[i, j] = (in_numpy(law, F + d) - in_numpy(law, F - d)) / (2 * h)
    np.testing.assert_allclose(stress(law, F), P, atol=1e-6 * (1 + np.abs(P).max()))


@large_given
@examples(10)
@given(F=gradients, Q=rotations)
def test_rotations_before_and_after_change_no_energy(law, F, Q):
    W = energy(law, F)
    assert energy(law, Q @ F) == pytest.approx(W, rel=1e-10, abs=1e-12)  # frame indifference
    assert energy(law, F @ Q) == pytest.approx(W, rel=1e-10, abs=1e-12)  # isotropy
    np.testing.assert_allclose(stress(law, Q @ F), Q @ stress(law, F), atol=1e-9 * (1 + W))


@laws_given
def test_at_rest_there_is_no_stress_and_no_energy(law):
    for state in materials.STATES:
        assert abs(energy(law, I3, state)) < 1e-14
        np.testing.assert_allclose(stress(law, I3, state), 0, atol=1e-13)


@pytest.mark.parametrize("state", ["3d", "plane-stress", "line"])
@pytest.mark.parametrize("law", [STVK, NEO, OWN, RUBBER], ids=lambda law: type(law).__name__)
def test_small_strains_are_those_of_the_linear_law(law, state):
    linear = LINEAR
    if law is RUBBER:
        mu, bulk = 2 * (0.3 + 0.2), 5.0
        linear = LinearElastic(9 * bulk * mu / (3 * bulk + mu), (3 * bulk - 2 * mu) / (2 * (3 * bulk + mu)))
    H = np.random.default_rng(1).standard_normal((3, 3))
    n = {"3d": 3, "plane-stress": 2, "line": 1}[state]
    H[n:], H[:, n:] = 0, 0
    errors = [
        np.abs(stress(law, I3 + h * H, state) / h - stress(linear, I3 + H, state))[:n, :n].max()
        for h in (1e-4, 5e-5)
    ]
    assert errors[0] < 3e-3 * np.abs(H).max() ** 2 * linear.E
    assert errors[1] == pytest.approx(errors[0] / 2, rel=0.01)


@thin_given
@pytest.mark.parametrize("law", ALL + [OWN_LINEAR], ids=lambda law: type(law).__name__)
def test_thin_bodies_have_the_least_energy_over_the_thickness(law, state, free):
    law3d = LINEAR if law is OWN_LINEAR else law
    for F2 in ([[1.1, 0.2], [-0.1, 0.9]], [[1.3, -0.3], [0.1, 1.0]], [[0.8, 0], [0.1, 0.85]]):
        F = I3.copy()
        F[:2, :2] = F2
        if state == "line":
            F = np.diag([F[0, 0], 1, 1])

        def at(stretch, F=F):
            G = F.copy()
            G[free, free] = stretch
            return in_numpy(law3d, G)

        least = minimize_scalar(at, bounds=(0.2, 3), method="bounded", options={"xatol": 1e-10}).fun
        assert energy(law, F, state) == pytest.approx(least, rel=1e-9, abs=1e-12)


@thin_given
@pytest.mark.parametrize(
    "law", [NEO, RUBBER, OWN, NeoHookean(E, 0.49), NeoHookean(E, 0), MooneyRivlin(0.3, 0.2, 500.0)], ids=repr
)
@examples(10)
@given(stretch=st.tuples(st.floats(0.5, 2), st.floats(0.5, 2)), angle=st.floats(-3, 3))
def test_no_stress_across_the_thickness(law, state, free, stretch, angle):
    F = np.diag([*stretch, 1.0]) @ rotation((0, 0, angle)) if state != "line" else np.diag([stretch[0], 1, 1])
    P = stress(law, F, state)
    assert np.abs(P[free, free]).max() <= 1e-10 * (law.wave_modulus or E)


@pytest.mark.parametrize("law", [NEO, RUBBER, OWN, OWN_LINEAR], ids=lambda law: type(law).__name__)
def test_stress_of_a_thin_body_is_the_derivative_of_its_energy(law):
    F, h = np.array([[1.4, 0.2, 0], [-0.3, 0.7, 0], [0, 0, 1]]), 1e-5
    P = stress(law, F, "plane-stress")
    for i in range(2):
        for j in range(2):
            d = np.zeros((3, 3))
            d[i, j] = h
            slope = (energy(law, F + d, "plane-stress") - energy(law, F - d, "plane-stress")) / (2 * h)
            assert P[i, j] == pytest.approx(slope, abs=1e-8)


def test_quadratic_laws_in_plane_stress_and_on_a_line():
    F = np.diag([1.02, 0.97, 1.0])
    a, b = 0.02, -0.03
    plane = E / (1 - NU**2) / 2 * (a**2 + b**2 + 2 * NU * a * b)
    assert energy(LINEAR, F, "plane-stress") == pytest.approx(plane, rel=1e-12)
    line = np.diag([1.02, 1, 1])
    for nu in (-0.4, 0.0, 0.3):
        assert energy(LinearElastic(E, nu), line, "line") == pytest.approx(E * a**2 / 2, rel=1e-12)
    green = (1.02**2 - 1) / 2
    assert energy(STVK, line, "line") == pytest.approx(E * green**2 / 2, rel=1e-12)


@pytest.mark.parametrize("law", [LINEAR, STVK, NEO, RUBBER], ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("state", materials.STATES)
def test_wave_modulus_is_the_stiffness_at_rest(law, state):
    h = 1e-6 * np.diag([1, 0, 0])
    slope = (stress(law, I3 + h, state) - stress(law, I3 - h, state))[0, 0] / 2e-6
    assert law.reduced(state).wave_modulus == pytest.approx(slope, rel=1e-7)


def test_what_laws_say_of_themselves():
    assert LINEAR.linear and OWN_LINEAR.linear and not any(law.linear for law in LARGE)
    assert all(law.reduced(s).linear == law.linear for law in [*ALL, OWN_LINEAR] for s in materials.STATES)
    own = StressLaw(lambda F: NEO.stress(F))
    assert NEO.has_energy and OWN.has_energy and not own.has_energy
    assert OWN.wave_modulus is None and own.wave_modulus is None and OWN.reduced("line").wave_modulus is None
    F = I3 + 0.1 * np.arange(9).reshape(3, 3) % 0.4
    np.testing.assert_array_equal(stress(own, F), stress(NEO, F))
    for state in ("3d", "plane-strain", "axisymmetric"):
        assert all(law.reduced(state) == law for law in (*ALL, own))
    with pytest.raises(ValueError, match="no stored energy: use EnergyLaw"):
        own.energy_density(None)


@pytest.mark.parametrize(
    "law",
    [ISOCHORIC, RUBBER, EnergyLaw(RUBBER.isochoric_energy, volumetric=lambda J: (J - 1) ** 2)],
    ids=repr,
)
@examples(8)
@given(F=gradients, size=st.floats(0.5, 2))
def test_energies_that_split(law, F, size):
    """The isochoric part does not depend on the volume, the sum of both is the energy."""
    assert law.splits and not NEO.splits
    J = np.linalg.det(F)
    isochoric = float(evaluator(law, "isochoric_energy")(F))
    larger = float(evaluator(law, "isochoric_energy")(size * F))
    assert larger == pytest.approx(isochoric, rel=1e-9, abs=1e-11)
    volumetric = float(evaluator(law, "volumetric_energy", shape=())(J))
    assert energy(law, F) == pytest.approx(volumetric + isochoric, rel=1e-10, abs=1e-12)


def test_poisson_ratio_at_rest():
    assert [law.poisson_ratio for law in (LINEAR, STVK, NEO, ISOCHORIC)] == pytest.approx([NU] * 4, rel=1e-14)
    assert RUBBER.poisson_ratio == pytest.approx((3 * 5.0 - 2) / (6 * 5.0 + 2), rel=1e-14)
    assert OWN.poisson_ratio is None


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: LinearElastic(0.0), "Young's modulus E must be positive .* is 0.0"),
        (lambda: LinearElastic(math.inf), "E must be a finite number, but is inf"),
        (lambda: StVenantKirchhoff("3", 0.1), "E must be a finite number, but is '3'"),
        (lambda: NeoHookean(1.0, None), "nu must be a finite number, but is None"),
        (lambda: NeoHookean(1.0, 0.5), r"nu must lie in \(-1, 0.5\), but is 0.5"),
        (lambda: LinearElastic(1.0, -1), r"nu must lie in \(-1, 0.5\), but is -1"),
        (lambda: MooneyRivlin(1.0, -1.0, 1.0), r"c10 \+ c01 must be positive"),
        (lambda: MooneyRivlin(1.0, math.nan, 1.0), "c01 must be a finite number, but is nan"),
        (lambda: MooneyRivlin(1.0, 0.0, 0.0), "bulk modulus must be positive"),
        (lambda: EnergyLaw(3.0), "EnergyLaw needs a function of the deformation gradient, but got 3.0"),
        (lambda: EnergyLaw(ciarlet, volumetric=2.0), "EnergyLaw needs a function of det F, but got 2.0"),
        (lambda: StressLaw(None), "StressLaw needs a function .* got None"),
        (lambda: LINEAR.reduced("2d"), "unknown state '2d'; the states are '3d', 'plane-strain'"),
        (lambda: OWN.reduced("stress"), "unknown state 'stress'"),
        (lambda: StressLaw(ufl.cofac).reduced("line"), "StressLaw cannot be used with the hypothesis 'line'"),
        (lambda: NeoHookean(1.0, -0.2).reduced("plane-stress"), "needs nu >= 0, but the law is Neo"),
        (lambda: MooneyRivlin(1.0, -0.2, 1.0).reduced("line"), "'line' needs c10 >= 0 and c01 >= 0"),
    ],
)
def test_bad_constants_and_states(make, match):
    with pytest.raises(ValueError, match=match):
        make()


def broken(F):
    return F[3, 3]


def test_volumetric_energies_are_checked_when_applied():
    J = fem.Constant(dmesh.create_unit_interval(MPI.COMM_SELF, 1), 1.0)
    with pytest.raises(ValueError, match=r"broken\(J\) failed with .* from J = det F"):
        EnergyLaw(ciarlet, volumetric=broken).volumetric_energy(J)


@pytest.mark.parametrize(
    "function, match",
    [
        (broken, r"broken\(F\) failed with .*; it must give the energy per volume, a UFL scalar"),
        (lambda F: F, r"a UFL scalar, but gave an expression of shape \(3, 3\)"),
        (lambda F: 2.0, "a UFL scalar, but gave float 2.0"),
        (lambda F: F[ufl.i, ufl.j], "but gave an expression of shape .* free indices"),
    ],
)
def test_energies_of_one_s_own_are_checked_when_applied(function, match):
    F = fem.Constant(dmesh.create_unit_interval(MPI.COMM_SELF, 1), I3)
    for apply in (EnergyLaw(function).energy_density, EnergyLaw(function).stress):
        with pytest.raises(ValueError, match=match):
            apply(F)
    with pytest.raises(ValueError, match="UFL scalar"):
        EnergyLaw(function).reduced("plane-stress").stress(F)


@pytest.mark.parametrize(
    "function, match",
    [
        (
            broken,
            r"broken\(F\) failed with .*; it must give the first Piola-Kirchhoff stress, a 3x3 UFL tensor",
        ),
        (ufl.det, r"a 3x3 UFL tensor, but gave an expression of shape \(\)"),
        (lambda F: I3, "a 3x3 UFL tensor, but gave ndarray"),
    ],
)
def test_stresses_of_one_s_own_are_checked_when_applied(function, match):
    F = fem.Constant(dmesh.create_unit_interval(MPI.COMM_SELF, 1), I3)
    with pytest.raises(ValueError, match=match):
        StressLaw(function).stress(F)


def stiffening(F):
    """A law that stiffens exponentially; in NumPy too."""
    J, exp = (ufl.det(F), ufl.exp) if not isinstance(F, np.ndarray) else (np.linalg.det(F), np.exp)
    square = ufl.inner(F, F) if not isinstance(F, np.ndarray) else np.sum(F * F)
    return 5e3 * (exp(10 * (J ** (-2 / 3) * square - 3)) - 1) + 5e7 * (J - 1) ** 2


@pytest.mark.parametrize("stretch", [0.7, 0.75, 0.8, 0.9, 1.1, 1.3, 1.4, 1.6])
def test_a_thickness_that_is_not_found_gives_no_energy_and_no_stress(stretch):
    """Newton's iteration for it has a fixed length: what has not converged is NaN, numbers are right."""
    law, F = EnergyLaw(stiffening), np.diag([stretch, stretch, 1.0])
    W, P = energy(law, F, "plane-stress"), stress(law, F, "plane-stress")
    if stretch in (0.7, 0.75, 1.4, 1.6):
        assert np.isnan(W) and np.isnan(P[0, 0])
        return
    least = minimize_scalar(
        lambda x: stiffening(np.diag([stretch, stretch, x])),
        bounds=(0.3, 3),
        method="bounded",
        options={"xatol": 1e-12},
    ).fun
    assert W == pytest.approx(least, rel=1e-9)
    assert abs(P[2, 2]) < 1e-6 * abs(P[0, 0])


def test_a_run_in_which_the_thickness_is_not_found_ends():
    square = dmesh.create_unit_square(MPI.COMM_WORLD, 1, 1)
    sheet = Solid(square, density=1000.0, law=EnergyLaw(stiffening), hypothesis="plane-stress")
    s = CDLagrange(sheet, 0.4 * sheet.critical_time_step())
    s.start(lambda x: 0.3 * x[:2], lambda x: 100.0 * x[:2])
    with pytest.raises(UnstableTimeStep, match="a law does not find the thickness of the body"):
        simulate(s, t_end=1000 * s.dt, progress=False)


def test_a_law_that_needs_no_thickness_is_not_blamed():
    square = dmesh.create_unit_square(MPI.COMM_WORLD, 1, 1)
    block = Solid(square, density=1000.0, law=NeoHookean(1e6, 0.3))
    s = CDLagrange(block, 0.4 * block.critical_time_step())
    s.start(0.0, lambda x: -1e3 * x[:2])  # inside out within a step or two: the logarithm of J is no number
    with pytest.raises(UnstableTimeStep, match="no longer finite") as caught:
        simulate(s, t_end=1000 * s.dt, progress=False)
    assert "thickness" not in str(caught.value)

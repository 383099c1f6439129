"""Hardening laws and laws with history: what they refuse."""

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import HistoryLaw, J2Plasticity, JohnsonCook, LinearHardening, TabulatedHardening, Voce

HOT = {"melting_temperature": 1500.0, "heat_capacity": 3e6}


def square():
    return dmesh.create_unit_square(MPI.COMM_WORLD, 2, 2)


def j2(hardening, nu=0.3):
    return J2Plasticity(2.6, nu, hardening=hardening)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: LinearHardening(-1.0), r"the yield stress must be positive \[Pa\], but is -1"),
        (lambda: LinearHardening(np.nan), "must be positive"),
        (lambda: Voce(1.0, 2.0, 0.0), "the exponent must be positive"),
        (lambda: TabulatedHardening([0, 0.1, 0.1], [1, 2, 3]), "must begin with 0 and increase"),
        (lambda: TabulatedHardening([0.1, 0.2], [1, 2]), "must begin with 0 and increase"),
        (lambda: TabulatedHardening([0, 0.1], [1, 2, 3]), "one stress for each plastic strain"),
        (lambda: TabulatedHardening("ab", [1, 2]), "one stress for each plastic strain"),
        (lambda: TabulatedHardening([0, 1], [1, 0]), "must be positive"),
        (lambda: TabulatedHardening([0, np.inf], [1, 2]), "not finite"),
        (lambda: JohnsonCook(1.0, 1.0, 0.0), "n must be positive"),
        (lambda: JohnsonCook(1.0, 1.0, 1.0, m=1.0), "needs melting_temperature"),
        (lambda: JohnsonCook(1.0, 1.0, 1.0, m=1.0, melting_temperature=1500.0), "needs heat_capacity"),
        (
            lambda: JohnsonCook(1.0, 1.0, 1.0, m=1.0, reference_temperature=2000.0, **HOT),
            "melting_temperature must be above the reference",
        ),
        (
            lambda: JohnsonCook(1.0, 1.0, 1.0, m=1.0, start_temperature=1500.0, **HOT),
            "start_temperature must be positive and below the melting temperature",
        ),
        (lambda: JohnsonCook(1.0, 1.0, 1.0, heat_fraction=1.1), r"heat_fraction must lie in \[0, 1\]"),
        (lambda: j2(None), "hardening must be a law of the yield stress.* but is None"),
        (lambda: j2(Voce), "but is the class Voce"),
        (lambda: j2(4e8), "hardening must be a law of the yield stress"),
        (lambda: j2(LinearHardening(1.0), nu=0.5), r"must lie in \(-1, 0.5\)"),
        (lambda: j2(LinearHardening(1.0, -3.0)), "must be less than 3 mu = 3 Pa"),
        (lambda: j2(TabulatedHardening([0, 0.1], [1.0, 0.5])), "the yield stress falls by 5 Pa"),
        (lambda: j2(Voce(2.0, 1.0, 3.5)), "the yield stress falls by 3.5 Pa"),
    ],
)
def test_constants_out_of_range(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_hot_start_lowers_the_yield_stress():
    """Half way to melting at the start, with m = 2: three quarters of it are left; heat is added to that."""
    half = 0.5 * (293.15 + 1500.0)
    law = JohnsonCook(8.0, 1.0, 1.0, m=2.0, start_temperature=half, heat_fraction=0.9, **HOT)
    assert law.temperature(1e6) == pytest.approx(half + 0.9 * 1e6 / 3e6)
    stress = law.flow_stress(fem.Constant(square(), 0.0), 1.0, 0.0)
    assert fem.assemble_scalar(fem.form(stress * ufl.dx)) == pytest.approx(6.0)


@pytest.mark.parametrize("name", ["plane-stress", "line"])
def test_free_thickness_is_refused(name):
    mesh = dmesh.create_interval(MPI.COMM_WORLD, 3, [0, 1]) if name == "line" else square()
    with pytest.raises(ValueError, match=f"is not for the hypothesis '{name}'.* take a plane-strain"):
        di.Solid(mesh, density=1.0, law=j2(LinearHardening(1.0)), hypothesis=name)


# -- laws of one's own


class Own(HistoryLaw):
    state = {"past": np.zeros((3, 3))}

    def energy_density(self, F, state):
        return ufl.inner(F - ufl.Identity(3) - state["past"], F - ufl.Identity(3) - state["past"])

    def update(self, F, state, h):
        return {"past": state["past"]}


class Other(Own):
    def update(self, F, state, h):
        return {"other": state["past"]}


class Scalar(Own):
    def update(self, F, state, h):
        return {"past": ufl.tr(state["past"])}


class Nothing(Own):
    def update(self, F, state, h):
        return None


class Array(Own):
    def update(self, F, state, h):
        return {"past": np.eye(3)}


class Unknown(Own):
    def update(self, F, state, h):
        return {"past": state["last"]}


class TensorEnergy(Own):
    def energy_density(self, F, state):
        return F


class TensorLoss(Own):
    def dissipation(self, F, old, new, h):
        return new["past"]


class NoLoss(Own):
    def dissipation(self, F, old, new, h):
        return None


class Whole(Own):
    splits = True


class Complex(Own):
    state = {"past": np.eye(3) * 1j}


class Stateless(Own):
    state = {}


class NotFinite(Own):
    state = {"past": np.full((3, 3), np.inf)}


class Work(Own):
    state = {"past": np.zeros((3, 3)), "dissipated": 0.0}


class NoEnergy(HistoryLaw):
    state = {"past": 0.0}


@pytest.mark.parametrize(
    "law, kind, message",
    [
        (Other, ValueError, r"update\(\) of Other must give 'past' by name, but gave 'other'"),
        (Scalar, ValueError, r"must give 'past' with the shape \(3, 3\) .* but gave the shape \(\)"),
        (Array, ValueError, r"must give 'past' .* in UFL, but gave an array of shape \(3, 3\)"),
        (Unknown, ValueError, "the law has no state 'last', only 'past': give every variable a value"),
        (TensorEnergy, ValueError, r"energy_density\(\) of TensorEnergy must give a scalar .* \(3, 3\)"),
        (TensorLoss, ValueError, r"dissipation\(\) of TensorLoss must give a scalar .* \(3, 3\)"),
        (NoLoss, ValueError, r"dissipation\(\) of NoLoss must give a scalar .* in UFL, but gave None"),
        (Complex, ValueError, "the state 'past' must have finite numbers at the start"),
        (Nothing, ValueError, "must give 'past' by name, but gave None"),
        (Stateless, ValueError, "Stateless has no state: give names and values"),
        (NotFinite, ValueError, "the state 'past' must have finite numbers at the start"),
        (Work, ValueError, "the name 'dissipated' is that of the work"),
        (NoEnergy, NotImplementedError, "NoEnergy has no energy_density"),
    ],
)
def test_laws_of_ones_own_that_are_wrong(law, kind, message):
    with pytest.raises(kind, match=message):
        di.Solid(square(), density=1.0, law=law())


def test_a_law_that_splits_without_the_parts():
    with pytest.raises(NotImplementedError, match=r"no isochoric_energy\(\), which laws with splits"):
        di.Solid(square(), density=1.0, law=Whole(), locking="nodal-pressure")


def test_a_class_instead_of_a_law():
    with pytest.raises(ValueError, match="the class Own without its constants|the law is the class Own"):
        di.Solid(square(), density=1.0, law=Own)


def test_a_correct_law_is_taken():
    body = di.Solid(square(), density=1.0, law=Own())
    assert body.history.names == ("past", "dissipated")


# -- hardening laws of one's own


class Stress:
    """A yield stress by a function of the plastic strain and its rate."""

    def __init__(self, of):
        self.of = of

    def flow_stress(self, strain, rate, work):
        return self.of(strain, rate)


@pytest.mark.parametrize(
    ("of", "message"),
    [
        (lambda strain, rate: 4e8 + 1e8 * (strain - 1e-3) ** 0.3, "must be a positive number .* is nan"),
        (lambda strain, rate: 4e8 + 1e8 * ufl.ln(rate), "must be a positive number .* is -inf"),
        (lambda strain, rate: 1e8 * strain, "must be a positive number .* is 0"),
        (lambda strain, rate: 4e8 * ufl.exp(-1e3 * strain), "falls by 4e.11 Pa per plastic strain .* 3 mu"),
    ],
)
def test_yield_stresses_that_are_none_or_fall_too_steeply_are_refused(of, message):
    law = J2Plasticity(2e11, 0.3, hardening=Stress(of))
    with pytest.raises(ValueError, match=message):
        di.Solid(square(), density=7800.0, law=law)


def sheared(hardening):
    """A block in shear, until all points have yielded."""
    block = di.Solid(square(), density=7800.0, law=J2Plasticity(2e11, 0.3, hardening=hardening))
    s = di.CDLagrange(block, 0.3 * block.critical_time_step())
    s.start(0.0, lambda x: np.stack([500 * x[1], 0 * x[0]]))
    return s


def test_a_yield_stress_that_becomes_negative_is_zero():
    """As the line of the package that ends at 0: plastic work never decreases."""
    found = []
    for hardening in (Stress(lambda strain, rate: 4e8 * (1 - 10 * strain)), LinearHardening(4e8, -4e9)):
        s = sheared(hardening)
        run = di.simulate(s, t_end=80 * s.dt, progress=False)
        assert np.diff(run["plastic_work"]).min() >= 0.0
        assert s.system.history.largest("equivalent_plastic_strain") > 0.1
        found.append(run["plastic_work"][-1])
    assert found[0] == pytest.approx(found[1], rel=1e-10)


def test_a_yield_stress_that_is_no_number_ends_the_run():
    mesh = square()
    start = fem.Constant(mesh, 4e8)
    s = sheared(Stress(lambda strain, rate: start * (1 - 10 * strain)))
    s.step()
    start.value = np.nan
    with pytest.raises(di.UnstableTimeStep):
        di.simulate(s, t_end=40 * s.dt, progress=False)

"""Bodies of one temperature at the start: as laws that start at it, kept in checkpoints, refused in words."""

import re

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

COOK = {"m": 1.1, "melting_temperature": 1356.0, "heat_capacity": 3.4e6}
KINDS = {
    "axisymmetric": (dmesh.CellType.quadrilateral, {"hypothesis": "axisymmetric", "fixed": {"axis": (0,)}}),
    "plane strain": (dmesh.CellType.triangle, {}),
    "degree 2": (dmesh.CellType.quadrilateral, {"degree": 2}),
    "space": (dmesh.CellType.hexahedron, {}),
}


def metal(temperature=None, kind=di.J2Plasticity, **changed):
    constants = {**COOK, "start_temperature": temperature, **changed}
    return kind(124e9, 0.34, hardening=di.JohnsonCook(9e7, 2.9e8, 0.31, 0.025, **constants))


def cells(kind=dmesh.CellType.quadrilateral):
    """A short rod, its lower half named."""
    if kind == dmesh.CellType.hexahedron:
        rod = dmesh.create_box(MPI.COMM_WORLD, [[0.0] * 3, [3e-3, 3e-3, 6e-3]], (2, 2, 4), kind)
    else:
        rod = dmesh.create_rectangle(MPI.COMM_WORLD, [[0.0, 0.0], [3e-3, 6e-3]], (2, 4), kind)
    up = rod.geometry.dim - 1
    halves = {"near": lambda x: x[up] < 3.001e-3, "far": lambda x: x[up] > 2.999e-3}
    axis = {"axis": lambda x: np.isclose(x[0], 0.0)}
    return di.named(rod, face=lambda x: np.isclose(x[up], 0.0), cells=halves, **axis)


def struck(law, kind="axisymmetric", **options):
    """A rod that is about to hit a wall."""
    shape, more = KINDS[kind]
    body = di.Solid(cells(shape), density=8960.0, law=law, **more, **options)
    up = np.eye(body.block)[-1]
    wall = di.RigidContact(body, "face", di.Plane(0.0 * up, up))
    scheme = di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=wall)
    scheme.start(0.0, -200.0 * up)
    return scheme


def run(scheme, steps=40, **how):
    return di.simulate(scheme, t_end=steps * scheme.dt, progress=False, **how)


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("kind", KINDS)
def test_a_body_starts_as_a_law_does(kind):
    found, same, cold = (
        run(struck(law, kind, **body))
        for law, body in ((metal(), {"start_temperature": 720.0}), (metal(720.0), {}), (metal(), {}))
    )
    np.testing.assert_array_equal(found["u"], same["u"])
    np.testing.assert_array_equal(found["plastic_work"], same["plastic_work"])
    # What is hot yields by a smaller stress: more of it flows, which takes up less.
    assert found["plastic_work"][-1] < 0.99 * cold["plastic_work"][-1]


@pytest.mark.mpi
def test_the_temperature_is_kept_with_a_run(shared_path):
    whole = run(struck(metal(), start_temperature=700.0))
    run(struck(metal(), start_temperature=700.0), 21, checkpoint=di.Checkpoint(shared_path / "run", every=21))
    for law, body in ((metal(), {"start_temperature": 700.0}), (metal(700.0), {})):
        again = run(struck(law, **body), restart=shared_path / "run")
        np.testing.assert_array_equal(again["u"], whole["u"])
    for law, body in ((metal(), {"start_temperature": 710.0}), (metal(), {})):
        with pytest.raises(ValueError, match=r"its material is .*start_temperature=700\.0.*this one's "):
            run(struck(law, **body), restart=shared_path / "run")


ELASTIC = di.LinearElastic(124e9, 0.34)
RATE = di.J2Plasticity(124e9, 0.34, hardening=di.JohnsonCook(9e7, 2.9e8, 0.31, 0.025))


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("law", "temperature", "message"),
    [
        (metal(), 1356.0, "start_temperature must be below the melting temperature 1356 K, but is 1356"),
        (metal(), 2000.0, "must be below the melting temperature 1356 K, but is 2000"),
        (metal(), 0.0, "start_temperature must be positive [K], but is 0.0"),
        (metal(), np.nan, "must be positive [K], but is nan"),
        (metal(), "hot", "must be positive [K], but is 'hot'"),
        (metal(500.0), 600.0, "start_temperature of the body is 600 K, that of its law 500 K: give one of"),
        (ELASTIC, 600.0, "metals whose yield stress depends on the temperature, as J2Plasticity(E, nu, hard"),
        (
            RATE,
            600.0,
            "depends on the temperature, as J2Plasticity(E, nu, hardening=JohnsonCook(A, B, n, C, m",
        ),
        (di.J2Plasticity, 600.0, "but law is the class J2Plasticity"),
        ({"near": ELASTIC, "far": RATE}, 600.0, "but law is a LinearElastic, a J2Plasticity"),
        ({"near": metal(), "far": metal(melting_temperature=500.0)}, 600.0, "the melting temperature 500 K"),
    ],
)
def test_what_is_refused(law, temperature, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        di.Solid(cells(), density=8960.0, law=law, start_temperature=temperature)


class Copper(di.J2Plasticity):
    """A user's metal with a constructor of its own."""

    def __init__(self):
        super().__init__(124e9, 0.34, hardening=metal().hardening)


class Steel(di.JohnsonCook):
    """A user's yield stress, with a constructor of its own."""

    def __init__(self):
        super().__init__(9e7, 2.9e8, 0.31, 0.025, **COOK)


def temperatures(body):
    return {type(m.law).__name__: m.law.hardening.start_temperature for m in body.materials}


def test_laws_of_ones_own_and_the_given_ones():
    copper, steel = Copper(), di.J2Plasticity(2e11, 0.3, hardening=Steel())
    body = di.Solid(cells(), density=8960.0, law={"near": copper, "far": steel}, start_temperature=500)
    assert temperatures(body) == {"Copper": 500.0, "J2Plasticity": 500.0}
    assert copper.hardening.start_temperature is None and steel.hardening.start_temperature is None
    assert body.law["near"].hardening.temperature(1e6) == pytest.approx(500.0 + 0.9e6 / 3.4e6)


def test_a_hot_metal_that_keeps_no_heat_is_a_softer_cold_one():
    """Its constants times ``1 - T*^m``, by hand."""
    left = 1.0 - ((720.0 - 293.0) / (1356.0 - 293.0)) ** 1.1
    cold = di.J2Plasticity(124e9, 0.34, hardening=di.JohnsonCook(9e7 * left, 2.9e8 * left, 0.31, 0.025))
    hot = metal(reference_temperature=293.0, heat_fraction=0.0)
    found, same = run(struck(hot, "degree 2", start_temperature=720.0)), run(struck(cold, "degree 2"))
    assert same["plastic_work"][-1] > 0.0
    assert found["plastic_work"][-1] == pytest.approx(same["plastic_work"][-1], rel=1e-10)


def test_a_temperature_of_ones_own_counts():
    """A class that says how hot the metal is flows as that one, bit by bit but for the order of the sum."""

    class Hotter(di.JohnsonCook):
        def temperature(self, work):
            return super().temperature(work) + 427.0

    constants = {**COOK, "reference_temperature": 293.0}
    law = di.J2Plasticity(124e9, 0.34, hardening=Hotter(9e7, 2.9e8, 0.31, 0.025, **constants))
    found, hot, cold = (
        run(struck(each))["plastic_work"][-1]
        for each in (law, metal(720.0, reference_temperature=293.0), metal(reference_temperature=293.0))
    )
    assert found == pytest.approx(hot, rel=1e-10) != pytest.approx(cold, rel=0.05)


def test_laws_beside_a_metal_stay_as_they_are():
    body = di.Solid(cells(), density=8960.0, law={"near": metal(), "far": ELASTIC}, start_temperature=720.0)
    far, near = (m.law for m in body.materials)
    assert near.hardening.start_temperature == 720.0 and far == body.law["far"] == ELASTIC
    alone = di.Solid(cells(), density=8960.0, law=metal(600.0), start_temperature=600.0)
    assert temperatures(alone) == {"J2Plasticity": 600.0}

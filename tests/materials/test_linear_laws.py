"""Laws with ``linear=True``: stress and energy at rest are those of the same law with ``linear=False``."""

import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import parallel

COMM = MPI.COMM_WORLD
TERMS = ("internal", "internal_work", "external", "dissipated", "contact", "kinetic", "u", "v", "r")
SCHEMES = {
    "CDLagrange": di.CDLagrange,
    "CDLagrangeSingular": di.CDLagrangeSingular,
    "NohBathe": di.NohBathe,
    "MoreauJean": di.MoreauJean,
    "GeneralizedAlpha": di.GeneralizedAlpha,
}
#: What is distributed is that of an explicit and of an implicit scheme: the others run on one rank.
RELATIVES = [
    pytest.param(name, marks=pytest.mark.one_rank)
    for name in ("CDLagrangeSingular", "NohBathe", "GeneralizedAlpha")
]


def plate(n=2):
    square = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.0]], [n, n], dmesh.CellType.quadrilateral)
    return di.named(square, bottom=lambda x: x[1] < 1e-9)


def heated(mesh, *, linear, stress=False, scale=1.0, **options):
    """A plate with a thermal strain that differs by direction and a constant energy."""
    strain = fem.Constant(mesh.mesh, scale * np.diag([0.01, 0.02, 0.03]))

    def energy(F):
        e = ufl.sym(F - ufl.Identity(3)) - strain
        return 1e6 * ufl.inner(e, e) + 0.75e6 * ufl.tr(e) ** 2 + 5.0

    def piola(F):
        F = ufl.variable(F)
        return ufl.diff(energy(F), F)

    law = di.StressLaw(piola, linear=linear) if stress else di.EnergyLaw(energy, linear=linear)
    body = di.Solid(mesh, density=1000.0, law=law, **options)
    body.strain = strain
    return body


def run_of(make, body, steps=15, **options):
    floor = di.RigidContact(body, "bottom", di.Plane((0.0, -0.005), (0.0, 1.0)))
    scheme = make(body, 2e-3, contact=floor)
    scheme.start(0.0, (0.0, -0.1))
    return di.simulate(scheme, t_end=steps * 2e-3, progress=False, **options)


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["CDLagrange", "MoreauJean", *RELATIVES])
def test_runs_are_those_of_the_law_that_is_not_declared_linear(name):
    loads = {"gravity": (0.0, -10.0), "damping": 3.0}
    one, other = (run_of(SCHEMES[name], heated(plate(), linear=linear, **loads)) for linear in (True, False))
    assert one["internal"][0] > 3000.0 and one["r"].sum() > 0
    for term in TERMS:
        assert np.abs(one[term] - other[term]).max() <= 2e-12 * max(np.abs(other[term]).max(), 1.0)
    assert np.abs(one["residual"]).max() < 1e-9 or name == "CDLagrangeSingular"


@pytest.mark.mpi
def test_stress_at_rest_and_the_strain_without_stress():
    """The free expansion by the thermal strain has the energy of the strain that the plane hinders."""
    mesh = plate()
    body, other = (heated(mesh, linear=linear) for linear in (True, False))
    zero = np.zeros(body.size)
    stress = [di.VonMises(each)(zero)[: body.owned // 2] for each in (body, other)]
    assert stress[0] == pytest.approx(stress[1], rel=1e-12)
    assert stress[0] == pytest.approx(np.full(stress[0].size, 2e6 * 0.01 * np.sqrt(3)), rel=1e-12)
    strain = np.linalg.solve(2e6 * np.eye(2) + 1.5e6, 2e6 * np.array([0.01, 0.02]) + 1.5e6 * 0.06)
    u, forces = (body.x[:, :2] * strain).ravel(), np.zeros(body.size)
    body.subtract_internal(u, forces)
    assert parallel.largest(COMM, np.abs(forces[: body.owned])) < 1e-8
    hindered = np.diag([*strain, 0.0]) - np.diag([0.01, 0.02, 0.03])
    energy = 1e6 * np.sum(hindered**2) + 0.75e6 * np.trace(hindered) ** 2 + 5.0
    assert parallel.total(COMM, body.stored_energy(u)) == pytest.approx(energy, rel=1e-12)


def test_a_law_by_its_stress_moves_alike():
    one, other = (
        run_of(di.CDLagrange, heated(plate(), linear=linear, stress=True)) for linear in (True, False)
    )
    for term in ("u", "v", "internal_work", "external", "kinetic"):
        assert np.abs(one[term] - other[term]).max() <= 2e-12 * max(np.abs(other[term]).max(), 1.0)


def test_hati_whichever_side_is_heated():
    left = lambda x: x[0] < 0.5 + 1e-9  # noqa: E731
    mesh = di.named(plate(4).mesh, cells={"left": left, "right": lambda x: x[0] > 0.5 - 1e-9})
    runs = []
    for linear in (True, False):
        fine = heated(mesh, linear=linear, cells="left").law, di.LinearElastic(1e6, 0.3)
        sides = [
            di.Solid(mesh, density=1000.0, law=law, cells=part) for law, part in zip(fine, ("left", "right"))
        ]
        scheme = di.HATI(sides[0], sides[1], 2e-3, ratio=3)
        scheme.start(0.0, 0.0)
        runs.append(di.simulate(scheme, t_end=0.06, progress=False))
    assert np.abs(runs[0]["residual"]).max() < 1e-9 * runs[0]["internal"][0]
    for term in ("u", "internal", "internal_work", "kinetic"):
        assert np.abs(runs[0][term] - runs[1][term]).max() <= 1e-11 * np.abs(runs[1][term]).max()
    coarse = di.HATI(sides[1], heated(mesh, linear=True, cells="left"), 2e-3, ratio=3)
    coarse.start(0.0, 0.0)
    run = di.simulate(coarse, t_end=0.06, progress=False)
    assert np.abs(run["residual"]).max() < 1e-9 * run["internal"][0] and run["internal"][0] > 2000.0


def test_coefficients_that_change_enter_by_reassemble():
    mesh = plate()
    body = heated(mesh, linear=True, fixed=["boundary"])
    scheme = di.MoreauJean(body, 1e-2)
    before, after, stale = np.zeros((3, body.size))
    body.subtract_internal(before, before)
    body.strain.value = 2 * body.strain.value
    body.subtract_internal(np.zeros(body.size), stale)
    assert np.array_equal(stale, before)
    body.reassemble()
    body.subtract_internal(np.zeros(body.size), after)
    assert after == pytest.approx(2 * before, rel=1e-12) and before.any()
    assert body.stored_energy(np.zeros(body.size)) == pytest.approx(
        heated(mesh, linear=False, scale=2.0).stored_energy(np.zeros(body.size)), rel=1e-12
    )
    scheme.start(0.0, 0.0)
    with pytest.raises(RuntimeError, match="the system was reassembled: make the MoreauJean anew"):
        di.simulate(scheme, t_end=0.1, progress=False)


IDENTITY = ufl.Identity(3)
NOT_LINEAR = {
    "neo-Hookean": lambda F: di.NeoHookean(1e6, 0.3).energy_density(F),
    "of two moduli": lambda F: (
        ufl.conditional(ufl.gt(F[0, 0], 1.0), 2e6, 1e6) * ufl.inner(F - IDENTITY, F - IDENTITY)
    ),
}


@pytest.mark.mpi
@pytest.mark.parametrize("energy", NOT_LINEAR.values(), ids=NOT_LINEAR)
def test_laws_that_are_not_linear_are_refused(energy):
    with pytest.raises(ValueError, match=r"linear=True has forces f_0 \+ K u, but those of EnergyLaw"):
        di.Solid(plate(), density=1000.0, law=di.EnergyLaw(energy, linear=True))


def test_a_law_without_stress_at_rest_keeps_its_compiled_loop():
    law = di.EnergyLaw(lambda F: di.LinearElastic(1e6, 0.3).energy_density(F), linear=True)
    body = di.Solid(plate(), density=1000.0, law=law)
    assert not body.stressed_at_rest
    run_of(di.CDLagrange, body, compiled=True)
    with pytest.raises(ValueError, match="a linear law has a stress at rest"):
        run_of(di.CDLagrange, heated(plate(), linear=True), compiled=True)

"""Runs of yielding bodies: momenta, energy balance, restarts, critical steps."""

import numpy as np
import pytest
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.history_laws import Branch
from support.restarts import difference, kept, same_bits, whole

import dolfinx_impact as di
from dolfinx_impact import materials, parallel
from dolfinx_impact.simulation import run_fingerprint

COMM = MPI.COMM_WORLD
HEAT = {"m": 1.1, "melting_temperature": 1793.0, "heat_capacity": 3.6e6}
LINEAR = materials.LinearHardening(200e6, 1e9)
HARDENING = {"linear": LINEAR, "heat": materials.JohnsonCook(200e6, 275e6, 0.36, 0.022, **HEAT)}


def tumbling(hardening=LINEAR, courant=0.5, kind=dmesh.CellType.tetrahedron, cells=2, scheme=di.CDLagrange):
    """A scheme of a cube that spins while it is stretched, and its velocities."""
    mesh = dmesh.create_box(COMM, [[0.0] * 3, [0.1] * 3], [cells] * 3, kind)
    law = materials.J2Plasticity(200e9, 0.3, hardening=hardening)
    body = di.Solid(mesh, density=7800.0, law=law)
    x = body.x - 0.05
    v = np.cross([300.0, 500.0, -200.0], x) + x * [1500.0, -2000.0, 1000.0] + 3e4 * x[:, [1, 2, 0]] ** 2
    return scheme(body, courant * body.critical_time_step()), v.ravel()


def momenta(s):
    """Linear and angular momentum by the mean velocity, and a sum of magnitudes."""
    body, n = s.system, s.system.owned
    x = (body.x[: n // 3].ravel() + s.u[:n]).reshape(-1, 3)
    p = (body.mass[:n] * s.v[:n]).reshape(-1, 3)
    sums = [*p.sum(axis=0), *np.cross(x, p).sum(axis=0)]
    found = [parallel.total(COMM, float(each)) for each in sums]
    return np.array(found), parallel.total(COMM, float(np.abs(p).sum()))


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("kind", [dmesh.CellType.tetrahedron, dmesh.CellType.hexahedron])
@pytest.mark.parametrize("name", HARDENING)
def test_momenta_and_balance_are_kept(name, kind):
    s, v = tumbling(HARDENING[name], 0.5, kind)
    s.start(0.0, v)
    before, size = momenta(s)
    result = di.simulate(s, t_end=60 * s.dt, progress=False)
    after, _ = momenta(s)
    assert s.system.history.largest("equivalent_plastic_strain") > 0.02
    assert np.abs(after - before).max() < 1e-12 * size
    scale = np.abs(result["kinetic"]).max()
    assert np.abs(result["residual"]).max() < 1e-12 * scale
    assert np.all(np.diff(result["plastic_work"]) >= -1e-14 * scale)


@pytest.mark.nightly
@pytest.mark.parametrize("name", HARDENING)
def test_momenta_and_balance_are_kept_over_many_steps(name):
    s, v = tumbling(HARDENING[name], 0.5, dmesh.CellType.hexahedron, cells=1)
    s.start(0.0, v)
    before, size = momenta(s)
    result = di.simulate(s, t_end=100_000 * s.dt, every=100, progress=False)
    assert s.n == 100_000 and s.system.history.largest("equivalent_plastic_strain") > 0.02
    assert np.abs(momenta(s)[0] - before).max() < 1e-12 * size
    assert np.abs(result["residual"]).max() < 1e-12 * np.abs(result["kinetic"]).max()


@pytest.mark.parametrize("name", HARDENING)
def test_internal_work_is_elastic_energy_and_plastic_work(name):
    gaps = []
    for courant in (0.1, 0.025):
        s, v = tumbling(HARDENING[name], courant)
        s.start(0.0, v)
        result = di.simulate(s, t_end=round(12 / courant) * s.dt, progress=False)
        work = result["internal_work"][-1]
        gaps.append(abs(work - result["internal"][-1] - result["plastic_work"][-1]) / work)
    assert gaps[0] < 0.01 and gaps[0] > 10 * gaps[1]  # points begin to yield at any time of a step


def test_noh_bathe_follows_the_history_in_both_substeps():
    found = []
    for scheme, courant in ((di.CDLagrange, 0.0125), *((di.NohBathe, c) for c in (0.4, 0.2, 0.1))):
        s, v = tumbling(HARDENING["heat"], courant, scheme=scheme)
        s.start(0.0, v)
        result = di.simulate(s, t_end=round(6 / courant) * s.dt, progress=False)
        scale = np.abs(result["kinetic"]).max()
        assert np.abs(result["residual"]).max() < 1e-12 * scale
        assert np.all(np.diff(result["plastic_work"]) >= -1e-14 * scale)
        strain = s.system.history.largest("equivalent_plastic_strain")
        found.append([strain, result["plastic_work"][-1]])
    true, *others = np.array(found)
    errors = np.abs(np.array(others) / true - 1).max(axis=1)
    assert true[0] > 0.02 and errors[0] < 0.01 and errors[2] < errors[0] / 8, errors


@pytest.mark.parametrize("name", HARDENING)
def test_a_run_goes_on_in_the_middle_of_flow(name, tmp_path):
    def make():
        return tumbling(HARDENING[name])

    one, other = whole(make, 40), kept(make, tmp_path / "run", 40, 21)
    assert difference(one, other) == 0.0 and same_bits(one, other)
    assert one["plastic_work"][20] > 0.05 * one["plastic_work"][-1] > 0


@pytest.mark.mpi
def test_a_run_with_steps_that_follow_goes_on(shared_path):
    def adapted(**options):
        s, v = tumbling(HARDENING["heat"], 0.8)
        if "restart" not in options:
            s.start(0.0, v)
        control = di.StepControl(every=20, safety=0.6)
        t_end = 40 * s.dt
        return control, s, di.simulate(s, t_end=t_end, adapt=control, progress=False, **options)

    control, s, reference = adapted()
    assert control.changes > 0
    again, t, same = adapted(checkpoint=di.Checkpoint(shared_path / "run", every=17))
    assert difference(reference, same) == 0.0
    again, t, late = adapted(restart=shared_path / "run")
    assert difference(reference, late) == 0.0 and again.changes == control.changes
    scale = np.abs(reference["kinetic"]).max()
    assert np.abs(reference["residual"]).max() < 1e-12 * scale


@pytest.mark.mpi
def test_the_critical_step_at_rest_is_that_of_rest_after_yield():
    s, v = tumbling()
    fresh, body = tumbling()[0].system, s.system
    s.start(0.0, v)
    di.simulate(s, t_end=40 * s.dt, progress=False, energies=False, every=7)
    assert body.history.largest("equivalent_plastic_strain") > 0.02
    rest = fresh.critical_time_step()
    assert body.critical_time_step() == pytest.approx(rest, rel=1e-6)
    assert body.critical_time_step(u=s.u) < 0.99 * rest
    assert body.critical_time_step(u=np.zeros(body.size)) != pytest.approx(rest, rel=1e-6)  # with G
    body.history.reset()
    assert body.critical_time_step(u=np.zeros(body.size)) == pytest.approx(rest, rel=1e-3)


def test_a_run_without_step_control_is_told(caplog):
    s, v = tumbling()
    s.start(0.0, v)
    di.simulate(s, t_end=3 * s.dt, progress=False)
    assert "let the step follow" in caplog.text
    caplog.clear()
    s.start(0.0, v)
    assert "starts with the history" in caplog.text
    s.system.history.reset()
    caplog.clear()
    s.start(0.0, v)
    di.simulate(s, t_end=3 * s.dt, adapt=di.StepControl(), progress=False)
    assert not caplog.text


def test_schemes_that_do_not_follow_the_history_are_refused():
    body = tumbling()[0].system
    with pytest.raises(ValueError, match="MoreauJean does not follow the history .* explicit scheme"):
        di.MoreauJean(body, 1e-6)


def test_linear_schemes_and_forms_refuse_the_law():
    s, _ = tumbling(cells=1)
    with pytest.raises(ValueError, match="the implicit subdomain must be linear"):
        di.HATI(s.system, s.system, s.dt, ratio=2)
    u, law = fem.Function(s.system.space), materials.J2Plasticity(200e9, 0.3, hardening=LINEAR)
    with pytest.raises(ValueError, match="internal must be a UFL linear form, but is a J2Plasticity"):
        di.FormSystem(s.system.space, u=u, internal=law, density=1.0)
    with pytest.raises(ValueError, match="stiffness matrix of a body with history is not assembled"):
        s.system.matrices.stiffness()


@pytest.mark.parametrize("energies", [True, False])
@pytest.mark.parametrize("kind", [dmesh.CellType.tetrahedron, dmesh.CellType.hexahedron])
def test_a_step_too_large_is_told(kind, energies):
    """Elements that are crushed: inverted ones, or energies that explode."""
    s, _ = tumbling(courant=0.9, kind=kind)
    s.start(0.0, (2e4 * (s.system.x - 0.05) * [-3.0, 4.0, -2.0]).ravel())
    with pytest.raises(
        di.UnstableTimeStep, match="where a body is compressed its critical time step shrinks"
    ):
        di.simulate(s, t_end=200 * s.dt, progress=False, energies=energies)


def test_a_checkpoint_of_another_hardening_is_refused(tmp_path):
    s, v = tumbling()
    s.start(0.0, v)
    di.simulate(s, t_end=5 * s.dt, checkpoint=di.Checkpoint(tmp_path / "run", every=5), progress=False)
    other, _ = tumbling(materials.LinearHardening(200e6, 2e9))
    with pytest.raises(
        ValueError, match="its material is .*modulus=1000000000.0.*this one's .*modulus=2000000000.0"
    ):
        di.simulate(other, t_end=9 * other.dt, restart=tmp_path / "run", progress=False)


class Power:
    """A user's hardening law, an object like any other."""

    def __init__(self, stress, exponent):
        self.stress, self.exponent = stress, exponent

    def flow_stress(self, strain, rate, work):
        return self.stress * (1 + 100 * strain) ** self.exponent


def cube(law, **options):
    box = dmesh.create_box(COMM, [[0.0] * 3, [0.01] * 3], [1] * 3, dmesh.CellType.hexahedron)
    s = di.CDLagrange(di.Solid(box, density=1000.0, law=law, **options), 1e-7)
    s.start(0.0, lambda x: np.stack([100 * x[0], 0 * x[0], 0 * x[0]]))
    return s


def test_own_hardening_goes_on_and_is_told_from_another(tmp_path):
    def metal(exponent=0.2, **options):
        return cube(materials.J2Plasticity(2e11, 0.3, hardening=Power(2e8, exponent)), **options)

    di.simulate(metal(), t_end=4e-7, checkpoint=di.Checkpoint(tmp_path / "run", every=4))
    assert di.simulate(metal(), t_end=8e-7, restart=tmp_path / "run").steps == 8
    for changed, words in (
        (metal(0.3), "its material is .*exponent=0.2.*this one's .*exponent=0.3"),
        (metal(locking="none"), "its locking is .*mean-dilatation.*this one's "),
    ):
        with pytest.raises(ValueError, match=words):
            di.simulate(changed, t_end=8e-7, restart=tmp_path / "run")


def test_the_constants_of_a_law_with_history_are_told():
    one, other = (run_fingerprint._material(Branch(tau)) for tau in (2e-5, 2e-4))
    assert one == "Branch(tau=2e-05) with viscous" and other != one
    assert run_fingerprint._material(Branch(np.float64(2e-5))) == one


def test_time_far_from_zero():
    """The state of a step follows from its length, however far from t = 0 it is."""
    strains = []
    for t0 in (0.0, 1e6):
        metal = materials.J2Plasticity(2e11, 0.3, hardening=materials.LinearHardening(2e8, 1e9))
        s = cube(metal)
        s.start(0.0, lambda x: np.stack([3e4 * x[1], 0 * x[0], 0 * x[0]]), t0)
        for _ in range(10):
            s.step()
        strains.append(s.system.history.largest("equivalent_plastic_strain"))
    assert strains[0] > 1e-3 and strains[1] == pytest.approx(strains[0], rel=1e-3)
    with pytest.raises(ValueError, match="lost in the round-off of times"):
        s.start(0.0, 0.0, 1e8)


class Copied(di.Solid):
    """Internal forces from a method of its own, which asks that of the base."""

    def subtract_internal(self, u, out):
        super().subtract_internal(u, out)


class Alone(di.Solid):
    """A force that does not ask that of the base, which knows the time."""

    def force(self, t, u, v, out):
        self.external(t, u, v, out)
        self.subtract_internal(u, out)


class Doubled(di.Solid):
    def _energy_form(self):
        return 2 * super()._energy_form()


def struck(kind):
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 0.2]], (8, 2))
    body = kind(mesh, density=1.0, law=di.J2Plasticity(1.0, 0.3, hardening=di.LinearHardening(0.01, 0.1)))
    scheme = di.CDLagrange(body, 0.3 * body.critical_time_step())
    scheme.start(0.0, lambda x: np.stack([-0.2 * x[0], 0.0 * x[0]]))
    for _ in range(20):
        scheme.step()
    return scheme


def test_classes_with_forces_of_their_own_yield_or_are_refused():
    plain, copied = struck(di.Solid), struck(Copied)
    assert plain.system.plastic_work() > 0
    np.testing.assert_array_equal(plain.u, copied.u)
    with pytest.raises(RuntimeError, match=r"state of t = 0 s, but a step ended at .*super\(\).force"):
        struck(Alone)
    with pytest.raises(ValueError, match="Doubled has forms of its own, but laws with history"):
        struck(Doubled)


def test_waves_are_elastic_until_a_metal_yields():
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 0.2]], (8, 2))
    metal = di.J2Plasticity(2e11, 0.3, hardening=di.LinearHardening(3e8, 1e9))
    speeds = [
        di.Solid(mesh, density=7850.0, law=law).wave_speed for law in (metal, di.LinearElastic(2e11, 0.3))
    ]
    assert speeds[0] == pytest.approx(speeds[1], rel=1e-12)

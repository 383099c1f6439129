"""What rests on an obstacle is carried with its weight, whatever the damping."""

import dolfinx
import numpy as np
import pytest
import ufl
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import SCHEMES

#: Without the decoupled scheme, whose impulse answers a free motion that is damped, as it says; explicit
#: penalty oscillates about the weight.
NAMES = sorted(set(SCHEMES) - {"hati", "moreau-jean-decoupled", "dep-5.3"})


def drag(t, u, v, out):
    out[:] = 20.0 * v


def together(t, u, v, out):
    """Drag, and a damper between both masses."""
    out[:] = 5.0 * v + 30.0 * np.array([v[0] - v[1], v[1] - v[0]])


def gently(t, u, v, out):
    """Less of both, for a contact node without mass: damping over stiffness is below half of the step."""
    together(t, u, v, out)
    out *= 0.04


def carried(scheme, system, contact, dt, u, steps=6, **options):
    """Mean contact forces of a body that rests [N], sum over the points."""
    s = scheme(system, dt, contact=contact, **options)
    s.start(u, 0.0, allow_penetration=True)
    run = di.simulate(s, t_end=steps * dt, progress=False)
    assert np.abs(run["u"] - run["u"][0]).max() < 1e-9 * max(np.abs(run["u"]).max(), 1e-3)
    return run["r"][1:].sum(axis=1).mean() / dt


@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_a_mass_with_drag_in_every_scheme_that_takes_it(dt):
    taken = []
    for name in NAMES:
        system = di.PointMasses(1.0, load=[-10.0], damping=drag)
        try:
            force = carried(SCHEMES[name].make, system, di.DofBound(system, 0, lower=0.0), dt, 0.0)
        except ValueError:
            continue
        assert force == pytest.approx(10.0, rel=1e-9), name
        taken.append(name)
    assert {"cd-lagrange", "noh-bathe", "paoli-schatzman", "moreau-jean", "generalized-alpha"} < set(taken)
    assert len(taken) >= 8


def test_a_mass_with_a_damper_to_another_one_in_every_scheme_that_takes_it():
    """Among them the singular mass, which hands the mass of the contact node to the other."""
    spring, load, taken = np.array([[300.0, -300.0], [-300.0, 300.0]]), np.array([-10.0, -20.0]), []
    rest = [0.0, -20.0 / 300.0]
    for name in NAMES:
        damping = gently if name == "cd-lagrange-singular" else together
        system = di.PointMasses([1.0, 2.0], stiffness=spring, load=load, damping=damping)
        try:
            force = carried(SCHEMES[name].make, system, di.DofBound(system, 0, lower=0.0), 1e-2, rest)
        except ValueError:
            continue
        assert force == pytest.approx(30.0, rel=1e-9), name
        taken.append(name)
    assert {"cd-lagrange", "cd-lagrange-singular", "noh-bathe", "moreau-jean"} < set(taken)


HEIGHT, RHO, E = 0.1, 1100.0, 1e6


def named():
    mesh = dolfinx.mesh.create_rectangle(
        MPI.COMM_SELF, [[0.0, 0.0], [0.1, HEIGHT]], [2, 3], dolfinx.mesh.CellType.quadrilateral
    )
    bottom = dolfinx.mesh.locate_entities_boundary(mesh, 1, lambda x: np.isclose(x[1], 0.0))
    tags = dolfinx.mesh.meshtags(mesh, 1, np.sort(bottom), np.ones(bottom.size, np.int32))
    return di.NamedMesh(mesh, None, tags, {"bottom": (1, 1)})


def standing(x):
    """Displacements under the weight, ``E u'' = rho g``, exact at the nodes of a uniform mesh."""
    return np.stack([0.0 * x[0], RHO * 10.0 / E * (x[1] ** 2 / 2 - HEIGHT * x[1])])


def block(**options):
    law = di.LinearElastic(E, 0.0)
    return di.Solid(named(), density=RHO, law=law, gravity=(0.0, -10.0), **options)


def dampers():
    """The block as a script's forms, with dampers along its boundary."""
    mesh = named()
    space = dolfinx.fem.functionspace(mesh.mesh, ("Lagrange", 1, (2,)))
    u, w = ufl.TrialFunction(space), ufl.TestFunction(space)
    stiffness = E * ufl.inner(ufl.sym(ufl.grad(u)), ufl.sym(ufl.grad(w))) * ufl.dx
    load = dolfinx.fem.Constant(mesh.mesh, (0.0, -10.0 * RHO))
    options = {"density": RHO, "damping": 2e3 * ufl.inner(u, w) * ufl.ds, "load": ufl.inner(load, w) * ufl.dx}
    return di.FormSystem(space, stiffness=stiffness, parts=mesh, **options)


BODIES = {
    "alpha": lambda: block(damping=60.0),
    "beta": lambda: block(stiffness_damping=1e-3),
    "bulk": lambda: block(bulk_viscosity=(0.5, 1.2)),
    "all": lambda: block(damping=20.0, stiffness_damping=1e-4, bulk_viscosity=(0.06, 0.0)),
    "form": dampers,
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_block_with_every_damping_of_bodies(kind):
    """Friction, which holds it too, changes nothing."""
    body = BODIES[kind]()
    weight, schemes = 10.0 * RHO * 0.1 * HEIGHT, [di.CDLagrange, di.NohBathe, di.MoreauJean]
    for scheme in [*schemes, di.GeneralizedAlpha, di.Carpenter, di.CDLagrangeSingular]:
        for part, friction in ((0.9, 0.0), (0.2, 0.3)):
            if friction and scheme not in (di.CDLagrange, di.MoreauJean):
                continue
            floor = di.RigidContact(body, "bottom", di.Plane((0.0, 0.0), (0.0, 1.0)), friction=friction)
            explicit = scheme in (di.CDLagrange, di.NohBathe, di.Carpenter)
            dt = part * (scheme.critical_step(body) if explicit else 0.05 * body.critical_time_step())
            if scheme is di.CDLagrangeSingular and kind != "alpha":
                continue  # it refuses damping by the stiffness that is this strong
            assert carried(scheme, body, floor, dt, standing) == pytest.approx(weight, rel=1e-9), scheme


def test_what_slides_with_drag_has_its_weight_and_second_order():
    """``v' = -2 v - mu g``: the drag of Noh-Bathe is predicted with the friction of the substep before."""
    mu, errors = 0.3, []

    def force(t, u, v, out):
        out[:] = 2.0 * v

    system = di.PointMasses([1.0, 1.0], load=[0.0, -10.0], damping=force)
    exact = (3.0 + 5.0 * mu) * np.exp(-0.6) - 5.0 * mu
    for h in (2e-2, 1e-2):
        floor = di.ObstacleContact(system, [[0, 1]], di.Plane((0.0, 0.0), (0.0, 1.0)), friction=mu)
        s = di.NohBathe(system, h, contact=floor)
        s.start(0.0, [3.0, 0.0])
        run = di.simulate(s, t_end=0.3, progress=False)
        assert run["r"][1:].mean() / h == pytest.approx(10.0, rel=1e-12)
        errors.append(abs(run["v_t"][-1, 0] - exact))
    assert errors[0] < 3e-4 and 3.8 < errors[0] / errors[1] < 4.2

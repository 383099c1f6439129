"""Systems from a script's own forms, beside a Solid of the same material."""

import functools
import re

import basix.ufl
import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from dolfinx.fem import petsc
from mpi4py import MPI
from support.pairwise import pairwise
from support.surfaces import largest

import dolfinx_impact as di
from dolfinx_impact import FieldWriter, checkpoint
from dolfinx_impact.materials import kinematics
from dolfinx_impact.systems.masses.mass_lumping import scalar_element

COMM = MPI.COMM_WORLD
E, NU, RHO = 1e5, 0.3, 1000.0
LAM, MU = E * NU / (1 + NU) / (1 - 2 * NU), E / 2 / (1 + NU)
GRAVITY = (0.3, -9.81)


@functools.cache
def plate(kind="triangle", ghosts=dmesh.GhostMode.none):
    cell = getattr(dmesh.CellType, kind)
    return dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 0.5]], [5, 3], cell, ghost_mode=ghosts)


def strain(u):
    return ufl.sym(ufl.grad(u))


def stress(u):
    return 2 * MU * strain(u) + LAM * ufl.tr(strain(u)) * ufl.Identity(u.ufl_shape[0])


def bilinear(V):
    """Stiffness and mass forms, of quadrilaterals with the quadrature of a Solid."""
    u, w = ufl.TrialFunction(V), ufl.TestFunction(V)
    rule = kinematics.quadrature(V.mesh, scalar_element(V).degree, "plane-strain", True)
    return ufl.inner(stress(u), strain(w)) * ufl.dx(metadata=rule or {}), RHO * ufl.inner(u, w) * ufl.dx


def weight(V):
    return RHO * ufl.inner(fem.Constant(V.mesh, GRAVITY), ufl.TestFunction(V)) * ufl.dx


def hyperelastic(F):
    J = ufl.det(F)
    return MU / 2 * (ufl.inner(F, F) - 3) - MU * ufl.ln(J) + LAM / 2 * ufl.ln(J) ** 2


def energy(u):
    """Plane strain, with the third stretch in the invariant."""
    F = ufl.Identity(2) + ufl.grad(u)
    J = ufl.det(F)
    return (MU / 2 * (ufl.inner(F, F) - 2) - MU * ufl.ln(J) + LAM / 2 * ufl.ln(J) ** 2) * ufl.dx


@functools.cache
def space(degree=1, **options):
    return fem.functionspace(plate(**options), ("Lagrange", degree, (2,)))


def dropped(system, scheme=di.CDLagrange, *, dt, steps=6):
    """A run that hits a rough floor."""
    floor = di.RigidContact(system, "boundary", di.Plane((0.0, -0.001), (0.0, 1.0)), friction=0.3)
    s = scheme(system, dt, contact=floor)
    s.start(0.0, (0.3, -1.0))
    return s, di.simulate(s, t_end=steps * dt, progress=False)


LINEAR, HYPERELASTIC = di.LinearElastic(E, NU), di.EnergyLaw(hyperelastic)


@functools.cache
def run_of_solid(mesh, scheme, degree, law, **options):
    """What a Solid does, and its step, critical step and mass; once for all systems that are compared."""
    solid = di.Solid(mesh, law=law, density=RHO, degree=degree, gravity=GRAVITY, **options)
    dt = 0.5 * solid.critical_time_step()
    s, run = dropped(solid, scheme, dt=dt)
    return s.u[: solid.owned].copy(), run, dt, solid.critical_time_step(), solid.total_mass


def is_solid(system, scheme=di.CDLagrange, degree=1, law=LINEAR, stored=True, **options):
    """Assert that a system moves as a Solid does: displacements, impulses, energies, critical step."""
    u, true, dt, critical, mass = run_of_solid(system.mesh, scheme, degree, law, **options)
    s, mine = dropped(system, scheme, dt=dt)
    assert largest(s.u[: system.owned] - u) <= 1e-12 * largest(u)
    assert mine["r"].sum() == pytest.approx(true["r"].sum(), rel=1e-10) and mine["r"].max() > 0
    for name in ("external", "dissipated", *(["internal"] if stored else [])):
        assert mine[name] == pytest.approx(true[name], abs=1e-10 * true["kinetic"].max())
    assert np.abs(mine["residual"]).max() <= 1e-12 * mine["kinetic"].max()
    assert system.critical_time_step() == pytest.approx(critical, rel=1e-6)
    assert system.total_mass == pytest.approx(mass, rel=1e-12)


ON_RANKS = pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])
#: Newton's method on several ranks takes long; what is distributed is the same as of linear systems.
SCHEMES = pytest.mark.parametrize(
    "scheme", [di.CDLagrange, pytest.param(di.MoreauJean, marks=pytest.mark.one_rank)]
)


GHOSTS = [dmesh.GhostMode.none, dmesh.GhostMode.shared_facet]
CELLS = [("triangle", 1), ("triangle", 2), ("quadrilateral", 2)]
NAMES, ROWS = pairwise(scheme=[di.CDLagrange, di.MoreauJean], ghosts=GHOSTS, cell=CELLS)


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(NAMES, ROWS)
def test_linear_forms(scheme, ghosts, cell):
    kind, degree = cell
    V = space(degree, kind=kind, ghosts=ghosts)
    system = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO, load=weight(V))
    is_solid(system, scheme, degree)


@pytest.mark.mpi(cases=1)
@ON_RANKS
@pytest.mark.parametrize("given", ["forms", "matrices"])
def test_mass_and_stiffness_as_forms_or_matrices(scheme, given):
    V = space()
    pair = bilinear(V)
    if given == "matrices":
        pair = [petsc.assemble_matrix(fem.form(form)) for form in pair]
        for matrix in pair:
            matrix.assemble()
    is_solid(di.FormSystem(V, stiffness=pair[0], mass=pair[1], load=weight(V)), scheme)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "given, scheme",
    [
        *((given, di.CDLagrange) for given in ("energy", "internal", "both")),
        *(pytest.param(given, di.MoreauJean, marks=pytest.mark.one_rank) for given in ("energy", "internal")),
    ],
)
def test_nonlinear_forms_leave_the_functions_to_the_script(scheme, given):
    V = space()
    u = fem.Function(V)
    u.x.array[:] = 7.0
    forms = {"energy": energy(u), "internal": ufl.derivative(energy(u), u, ufl.TestFunction(V))}
    forms = forms if given == "both" else {given: forms[given]}
    system = di.FormSystem(V, u=u, density=RHO, load=weight(V), **forms)
    is_solid(system, scheme, law=HYPERELASTIC, stored=given != "internal")
    assert np.all(u.x.array == 7.0)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "given, scheme",
    [
        *((given, di.CDLagrange) for given in ("linear", "matrix", "form in v", "internal in v")),
        *(
            pytest.param(given, di.MoreauJean, marks=pytest.mark.one_rank)
            for given in ("linear", "form in v")
        ),
    ],
)
def test_damping(scheme, given):
    beta, V = 1e-4, space()
    u, v, w = fem.Function(V), fem.Function(V), ufl.TestFunction(V)
    a, _ = bilinear(V)
    if given in ("linear", "matrix"):
        c = beta * a
        if given == "matrix":
            c = petsc.assemble_matrix(fem.form(c))
            c.assemble()
        system = di.FormSystem(V, stiffness=a, density=RHO, load=weight(V), damping=c)
        return is_solid(system, scheme, stiffness_damping=beta)
    F = ufl.derivative(energy(u), u, w)
    viscous = beta * ufl.derivative(F, u, v)
    forms = {"internal": F, "damping": viscous} if given == "form in v" else {"internal": F + viscous}
    system = di.FormSystem(V, u=u, v=v, energy=energy(u), density=RHO, load=weight(V), **forms)
    is_solid(system, scheme, law=HYPERELASTIC, stiffness_damping=beta)
    return None


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_line(degree, shape):
    mesh = dmesh.create_interval(COMM, 10, [0.0, 1.0])
    V = fem.functionspace(mesh, ("Lagrange", degree, shape) if shape else ("Lagrange", degree))
    u, w = ufl.TrialFunction(V), ufl.TestFunction(V)
    system = di.FormSystem(V, stiffness=E * ufl.inner(ufl.grad(u), ufl.grad(w)) * ufl.dx, density=RHO)
    solid = di.Solid(mesh, law=di.LinearElastic(E, 0.0), density=RHO, degree=degree)
    dt, ends = 0.7 * solid.critical_time_step(), []
    for each in (system, solid):
        s = di.CDLagrange(each, dt, contact=di.RigidContact(each, "boundary", di.Plane((-1e-3,), (1.0,))))
        s.start(0.0, -1.0)
        di.simulate(s, t_end=100 * dt, progress=False)
        ends.append(s.u[: each.owned].copy())
    assert largest(ends[0] - ends[1]) <= 1e-12 * largest(ends[1])


@pytest.mark.mpi
def test_equispaced_nodes_and_hexahedra():
    """Another variant moves the nodes, not the physics: the first eigenfrequency, and HRZ masses."""
    cells = dmesh.create_unit_square(COMM, 3, 3, dmesh.CellType.quadrilateral)
    steps = []
    for variant in (basix.LagrangeVariant.gll_warped, basix.LagrangeVariant.equispaced):
        element = basix.ufl.element("Lagrange", "quadrilateral", 3, lagrange_variant=variant, shape=(2,))
        V = fem.functionspace(cells, element)
        system = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO)
        steps.append(system.critical_time_step())
        s = di.CDLagrange(system, 0.5 * steps[-1])
        s.start(0.0, lambda x: np.stack([0.1 * x[0], 0.0 * x[0]]))
        run = di.simulate(s, t_end=20 * s.dt, progress=False)
        assert np.abs(run["residual"]).max() <= 1e-13
    assert steps[0] != pytest.approx(steps[1], rel=1e-3)


# -- conditions and time


def amplitude(t):
    return 0.01 * np.sin(40 * t)


def conditions(kind, V):
    """Conditions that hold the left side along x and move it along y, and their update."""
    fdim = V.mesh.topology.dim - 1
    facets = dmesh.locate_entities_boundary(V.mesh, fdim, lambda x: np.isclose(x[0], 0.0))
    along = fem.locate_dofs_topological(V.sub(0), fdim, facets)
    held = fem.dirichletbc(0.0, along, V.sub(0))
    if kind == "constant":
        y = fem.Constant(V.mesh, 0.0)
        bc = fem.dirichletbc(y, fem.locate_dofs_topological(V.sub(1), fdim, facets), V.sub(1))
        return [held, bc], lambda t: y.value.fill(amplitude(t))
    if kind == "function":
        whole = fem.Function(V)
        bc = fem.dirichletbc(whole, fem.locate_dofs_topological(V, fdim, facets))
        return [bc], lambda t: whole.interpolate(lambda x: np.stack([0.0 * x[0], amplitude(t) + 0.0 * x[0]]))
    component, _ = V.sub(1).collapse()
    part = fem.Function(component)
    bc = fem.dirichletbc(part, fem.locate_dofs_topological((V.sub(1), component), fdim, facets), V.sub(1))
    return [held, bc], lambda t: part.x.array.fill(amplitude(t))


def left_and_bottom(mesh):
    return di.named(
        mesh, left=lambda x: np.isclose(x[0], 0.0), free=lambda x: np.isclose(x[1], 0.0) & (x[0] > 0.1)
    )


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "kind, scheme",
    [
        *((kind, di.CDLagrange) for kind in ("constant", "function", "collapsed")),
        pytest.param("function", di.MoreauJean, marks=pytest.mark.one_rank),
    ],
)
def test_held_dofs_follow_their_conditions(scheme, kind):
    V = space()
    named = left_and_bottom(V.mesh)
    bcs, update = conditions(kind, V)
    system = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO, bcs=bcs, update=update, parts=named)
    motion = {"fixed": {"left": (0,)}, "prescribed": {"left": {1: amplitude}}}
    solid = di.Solid(named, law=di.LinearElastic(E, NU), density=RHO, **motion)
    dt, found = 0.5 * solid.critical_time_step(), []
    for each in (system, solid):
        floor = di.RigidContact(each, "free", di.Plane((0.0, -0.004), (0.0, 1.0)), friction=0.2)
        s = scheme(each, dt, contact=floor)
        s.start(0.0, (0.0, 0.4))
        found.append((s, di.simulate(s, t_end=60 * dt, progress=False)))
    (a, mine), (b, true) = found
    assert largest(a.u[: system.owned] - b.u[: solid.owned]) <= 1e-12
    assert mine["external"] == pytest.approx(true["external"], rel=1e-9)
    assert np.abs(mine["residual"]).max() <= 1e-12 * np.abs(mine["external"]).max()
    assert mine["r"].sum() > 0 and mine["external"][-1] > 0


def clamped(V):
    fdim = V.mesh.topology.dim - 1
    facets = dmesh.locate_entities_boundary(V.mesh, fdim, lambda x: np.isclose(x[0], 0.0))
    return [fem.dirichletbc(np.zeros(2), fem.locate_dofs_topological(V, fdim, facets), V)]


@pytest.mark.mpi
@SCHEMES
def test_loads_in_time(scheme):
    V = space()
    push = fem.Constant(V.mesh, (0.0, 0.0))

    def update(t):
        push.value[1] = -3000 * np.sin(30 * t)

    load = ufl.inner(push, ufl.TestFunction(V)) * ufl.dx
    system = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO, load=load, bcs=clamped(V), update=update)
    solid = di.Solid(
        left_and_bottom(V.mesh),
        law=di.LinearElastic(E, NU),
        density=RHO,
        fixed=["left"],
        body_force=((0.0, -3000.0), lambda t: np.sin(30 * t)),
    )
    ends = []
    for each in (system, solid):
        s = scheme(each, 0.5 * solid.critical_time_step())
        s.start(0.0, 0.0)
        run = di.simulate(s, t_end=80 * s.dt, progress=False)
        ends.append((s.u[: each.owned].copy(), run["external"][-1]))
    assert largest(ends[0][0] - ends[1][0]) <= 1e-12 * largest(ends[1][0])
    assert ends[0][1] == pytest.approx(ends[1][1], rel=1e-9)


def test_two_systems_with_one_constant_do_not_disturb_each_other():
    """Each calls its update before every evaluation, whatever the other one has set."""
    V = space()
    push, w = fem.Constant(V.mesh, 0.0), ufl.TestFunction(V)
    load = push * w[0] * ufl.dx
    systems = [
        di.FormSystem(
            V, stiffness=bilinear(V)[0], density=RHO, load=load,
            update=lambda t, a=a: push.value.fill(a * (1 + t)),
        )
        for a in (100.0, 300.0)
    ]  # fmt: skip
    schemes = [di.CDLagrange(each, 0.5 * each.critical_time_step()) for each in systems]
    for s in schemes:
        s.start(0.0, 0.0)
    for _ in range(10):
        for s in schemes:
            s.step()
    assert schemes[1].u == pytest.approx(3 * schemes[0].u, rel=1e-12)


@pytest.mark.mpi
@SCHEMES
def test_a_load_that_the_script_changes_between_two_steps(scheme):
    V = space()
    push = fem.Constant(V.mesh, 100.0)
    load = push * ufl.TestFunction(V)[0] * ufl.dx
    system = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO, load=load)
    dt, speeds = 0.5 * system.critical_time_step(), []
    for factor in (1.0, 3.0):
        push.value = 100.0
        s = scheme(system, dt)
        s.start(0.0, 0.0)
        s.step()
        before = s.v[: system.owned].copy()
        push.value = 100.0 * factor
        s.step()
        speeds.append((system.mass * (s.v[: system.owned] - before)).sum())
    gained = COMM.allreduce(np.array(speeds))
    assert gained == pytest.approx([50.0 * dt, 150.0 * dt], rel=1e-9)


@pytest.mark.mpi
def test_stored_stiffness_and_reassemble():
    V = space()
    factor, density = fem.Constant(V.mesh, 1.0), fem.Constant(V.mesh, RHO)
    system = di.FormSystem(V, stiffness=factor * bilinear(V)[0], density=density)
    first = system.critical_time_step()
    stretch = np.zeros(system.size)
    stretch[0::2] = 0.01 * system.x[:, 0]

    def force():
        out = np.zeros(system.size)
        system.force(0.0, stretch, 0 * stretch, out)
        return out[: system.owned].copy()

    before = force()
    s = di.CDLagrange(system, 0.4 * first)
    s.start(stretch, 0.0)
    s.step()
    implicit = di.MoreauJean(system, first)
    implicit.start(stretch, 0.0)
    factor.value, density.value = 0.25, 4 * RHO
    s.step()
    assert np.array_equal(force(), before) and system.critical_time_step() == first
    system.reassemble()
    assert force() == pytest.approx(0.25 * before, abs=1e-12 * largest(before))
    assert system.critical_time_step() == pytest.approx(4 * first, rel=1e-6)
    assert system.total_mass == pytest.approx(4 * 500.0)
    u, v = s.u.copy(), s.v.copy()
    s.step()  # with the new mass and stiffness
    anew = di.FormSystem(V, stiffness=factor * bilinear(V)[0], density=density)
    f = np.zeros(system.size)
    anew.force(0.0, u + s.dt * v, v, f)
    n = system.owned
    assert s.v[:n] == pytest.approx(v[:n] + s.dt * anew.inverse_mass * f[:n], abs=1e-12 * largest(v))
    with pytest.raises(RuntimeError, match="reassembled: make the MoreauJean anew"):
        implicit.step()
    new = di.MoreauJean(system, first)
    new.resume(implicit.state())
    new.step()
    factor.value = 100.0
    system.reassemble()
    with pytest.raises(ValueError, match="reassembled, and the time step .* is above its critical one"):
        s.step()


def test_a_compiled_run_says_that_its_system_was_reassembled():
    V = space()
    system = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO)
    s = di.CDLagrange(system, 0.5 * system.critical_time_step())
    s.start(0.0, 0.0)

    class Reassembles(di.Observer):
        def follow(self, steps):
            system.reassemble()

    with pytest.raises(RuntimeError, match="compiled=False"):
        di.simulate(s, t_end=1e5 * s.dt, observers=[Reassembles()], compiled=True, progress=False, every=1000)


# -- subdomains, contact, output


@pytest.mark.mpi
def test_two_subdomains_by_the_measures_of_the_forms():
    V = space()
    mesh, tdim = V.mesh, V.mesh.topology.dim
    soft = dmesh.locate_entities(mesh, tdim, lambda x: x[0] <= 0.6 + 1e-9)
    count = mesh.topology.index_map(tdim).size_local + mesh.topology.index_map(tdim).num_ghosts
    values = np.full(count, 2, dtype=np.int32)
    values[soft] = 1
    tags = dmesh.meshtags(mesh, tdim, np.arange(count, dtype=np.int32), values)
    dx = ufl.Measure("dx", domain=mesh, subdomain_data=tags)
    u, w = ufl.TrialFunction(V), ufl.TestFunction(V)
    product, work = ufl.inner(u, w), ufl.inner(stress(u), strain(w))
    system = di.FormSystem(
        V,
        stiffness=work * dx(1) + 4 * work * dx(2),
        mass=RHO * product * dx(1) + 2 * RHO * product * dx(2),
        parts=tags,
    )
    named = di.NamedMesh(mesh, tags, None, {"soft": (tdim, 1), "stiff": (tdim, 2)})
    solid = di.Solid(
        named,
        law={"soft": di.LinearElastic(E, NU), "stiff": di.LinearElastic(4 * E, NU)},
        density={"soft": RHO, "stiff": 2 * RHO},
    )
    assert system.mass == pytest.approx(solid.mass, rel=1e-12)
    dt, ends = 0.5 * solid.critical_time_step(), []
    for each in (system, solid):
        s, _ = dropped(each, dt=dt)
        ends.append(s.u[: each.owned].copy())
    assert largest(ends[0] - ends[1]) <= 1e-12 * largest(ends[1])


@pytest.mark.mpi
def test_surfaces_of_a_form_system():
    lower = dmesh.create_rectangle(COMM, [[0.0, -0.3], [1.0, 0.0]], [5, 2], dmesh.CellType.quadrilateral)
    upper = dmesh.create_rectangle(COMM, [[0.2, 1e-3], [0.7, 0.3]], [3, 2], dmesh.CellType.quadrilateral)
    joined = di.mesh.join({"lower": lower, "upper": upper})
    V = fem.functionspace(joined.mesh, ("Lagrange", 1, (2,)))
    system = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO, parts=joined)
    solid = di.Solid(joined, law=di.LinearElastic(E, NU), density=RHO)
    dt, ends = 0.5 * solid.critical_time_step(), []
    for each in (system, solid):
        contact = di.SurfaceContact(each, "lower/boundary", "upper/boundary", friction=0.3)
        s = di.CDLagrange(each, dt, contact=contact)
        s.start(0.0, each.rigid_velocity((0.1, -0.5), cells="upper"))
        run = di.simulate(s, t_end=40 * dt, progress=False)
        ends.append((s.u[: each.owned].copy(), run["r"].sum(), contact.areas().sum()))
    assert largest(ends[0][0] - ends[1][0]) <= 1e-12 * largest(ends[1][0])
    assert ends[0][1:] == pytest.approx(ends[1][1:], rel=1e-12) and ends[0][1] > 0


@pytest.mark.mpi
def test_stress_pressure_and_checkpoints(tmp_path):
    folder = COMM.bcast(tmp_path)
    V = space()

    def in_space(u):
        s = stress(u)
        third = NU * (s[0, 0] + s[1, 1])
        return ufl.as_matrix([[s[0, 0], s[0, 1], 0], [s[1, 0], s[1, 1], 0], [0, 0, third]])

    system = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO, stress=in_space)
    solid = di.Solid(V.mesh, law=di.LinearElastic(E, NU), density=RHO)
    u = np.sin(np.arange(system.size))
    u = np.concatenate([0.01 * system.x[:, 0] ** 2, 0.02 * system.x[:, 1]]).reshape(2, -1).T.ravel()
    assert di.VonMises(system)(u) == pytest.approx(di.VonMises(solid)(u), rel=1e-12)
    floor = di.RigidContact(system, "boundary", di.Plane((0.0, -0.001), (0.0, 1.0)), friction=0.3)
    dt = 0.5 * system.critical_time_step()
    s = di.CDLagrange(system, dt, contact=floor)
    s.start(0.0, (0.3, -1.0))
    fields = FieldWriter(folder / "drop.xdmf", every=5, names=("displacement", "stress", "pressure"))
    di.simulate(s, t_end=20 * dt, observers=[fields], progress=False)
    checkpoint.save(folder / "drop.npz", s)
    for _ in range(10):
        s.step()
    other = di.CDLagrange(system, dt, contact=floor)
    checkpoint.load(folder / "drop.npz", other)
    for _ in range(10):
        other.step()
    assert np.array_equal(other.u[: system.owned], s.u[: system.owned])
    assert (floor.areas() > 0).all()
    plain = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO)
    with pytest.raises(ValueError, match="not of a FormSystem; a FormSystem needs stress="):
        di.VonMises(plain)


@pytest.mark.mpi
@SCHEMES
def test_functions_of_the_script(scheme):
    V = space()
    system = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO)
    u0, v0 = fem.Function(V), fem.Function(V)
    u0.interpolate(lambda x: np.stack([0.01 * x[0], 0.0 * x[0]]))
    v0.interpolate(lambda x: np.stack([0.0 * x[0], 0.1 * x[0]]))
    s = scheme(system, 0.5 * system.critical_time_step())
    s.start(u0, v0)
    kept = s.u_function
    assert kept.function_space == V
    assert kept.x.array == pytest.approx(u0.x.array, abs=1e-16)
    s.step()
    now, v = s.u_function, s.v_function
    assert now is kept and np.array_equal(now.x.array[: system.owned], s.u[: system.owned])
    assert np.array_equal(v.x.array[: system.owned], s.v_mean[: system.owned])
    # Ghosts are there: a form of the script can use it.
    area = COMM.allreduce(fem.assemble_scalar(fem.form(ufl.div(now) * ufl.dx)))
    assert area == pytest.approx(0.5 * 0.01, rel=0.5)


@pytest.mark.mpi
def test_both_sides_of_hati():
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 0.2]], [10, 2], dmesh.CellType.quadrilateral)
    named = di.named(
        mesh,
        end=lambda x: np.isclose(x[0], 0.0),
        cells={"fine": lambda x: x[0] <= 0.5 + 1e-9, "coarse": lambda x: x[0] >= 0.5 - 1e-9},
    )
    V = fem.functionspace(mesh, ("Lagrange", 1, (2,)))
    dx = ufl.Measure("dx", domain=mesh, subdomain_data=named.cell_tags)
    ends = []
    for forms in (True, False):
        sides = []
        for part in ("fine", "coarse"):
            if forms:
                u, w = ufl.TrialFunction(V), ufl.TestFunction(V)
                a = ufl.inner(stress(u), strain(w)) * dx(named.tags(part))
                sides.append(di.FormSystem(V, stiffness=a, density=RHO, parts=named, cells=part))
            else:
                sides.append(di.Solid(named, law=di.LinearElastic(E, NU), density=RHO, cells=part))
        fine, coarse = sides
        wall = di.RigidContact(fine, "end", di.Plane((-1e-3, 0.0), (1.0, 0.0)))
        s = di.HATI(fine, coarse, 0.4 * fine.critical_time_step(), ratio=2, contact=wall)
        s.start(0.0, (-1.0, 0.0))
        run = di.simulate(s, t_end=40 * s.dt, progress=False)
        assert run["r"].max() > 0
        ends.append(s.u[: s.system.owned].copy())
    assert largest(ends[0] - ends[1]) <= 1e-10 * largest(ends[1])


# -- what is refused


def refused(words, V=None, **given):
    V = V or space()
    given = {"stiffness": bilinear(V)[0], "density": RHO} | given
    with pytest.raises(ValueError, match=re.escape(words)):
        di.FormSystem(V, **{k: v for k, v in given.items() if v is not None})


@pytest.mark.mpi
def test_spaces_that_are_refused():
    mesh = plate()
    linear = basix.ufl.element("Lagrange", "triangle", 1, shape=(2,))
    mixed = basix.ufl.mixed_element([linear, basix.ufl.element("Lagrange", "triangle", 1)])
    for element in (("Lagrange", 1), ("DG", 1, (2,)), ("N1curl", 1), ("Lagrange", 1, (3,)), mixed):
        with pytest.raises(ValueError, match="displacements need a Lagrange space with 2 components"):
            di.FormSystem(fem.functionspace(mesh, element), stiffness=1, density=1.0)
    with pytest.raises(ValueError, match="first argument must be the function space"):
        di.FormSystem(mesh, stiffness=1, density=1.0)


@pytest.mark.mpi
def test_forms_that_are_refused():
    V, other = space(), space(2)
    u, w = fem.Function(V), ufl.TestFunction(V)
    a, m = bilinear(V)
    F = ufl.derivative(energy(u), u, w)
    refused("either stiffness=", internal=F, u=u)
    refused("either stiffness=", stiffness=None, density=RHO)
    refused("need u=", stiffness=None, internal=F, density=RHO)
    refused(
        "u is a Function of another space", stiffness=None, internal=F, density=RHO, u=fem.Function(other)
    )
    refused("must be a linear form, but is a bilinear form", stiffness=None, internal=a, u=u, density=RHO)
    refused("stiffness must be a bilinear form, but is a linear form", stiffness=F, density=RHO)
    refused("the UFL form, not the compiled one", stiffness=fem.form(a), density=RHO)
    refused("of another space than the system's", stiffness=bilinear(other)[0], density=RHO)
    refused("the system has no mass", density=None)
    refused("either density=, or mass=", mass=m)
    refused("density must be positive", density=-1.0)
    refused(
        "load= depends on u or v", stiffness=None, internal=F, u=u, density=RHO, load=u[0] * w[0] * ufl.dx
    )
    refused("update must be a function of time", update=3.0)
    refused("one is 3", bcs=[3])
    refused("another function space", bcs=clamped(other))
    refused("stiffness is not symmetric", stiffness=a + ufl.TrialFunction(V)[0] * w[1] * ufl.dx, density=RHO)
    refused("parts= are those of another mesh", parts=dmesh.create_unit_square(COMM, 2, 2))
    refused(
        "lumped_mass must be positive", density=None, lumped_mass=np.zeros(V.dofmap.index_map.size_local * 2)
    )


@pytest.mark.mpi
def test_row_sums_of_p2_are_refused_with_the_ways_out():
    V = space(2)
    a, m = bilinear(V)
    refused("row sums of mass= go down to", V, stiffness=a, mass=m, density=None)
    weights = di.Solid(V.mesh, law=di.LinearElastic(E, NU), density=RHO, degree=2).mass
    is_solid(di.FormSystem(V, stiffness=a, mass=m, lumped_mass=weights, load=weight(V)), degree=2)
    system = di.FormSystem(V, stiffness=a, lumped_mass=weights)
    with pytest.raises(ValueError, match="mass='consistent' needs mass= or density="):
        di.MoreauJean(system, 1e-3)


@pytest.mark.mpi
def test_an_update_that_fails_ends_the_run_on_all_ranks():
    V = space()

    def update(t):
        if t > 0 and COMM.rank == COMM.size - 1:
            raise ZeroDivisionError("of the script")

    system = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO, update=update)
    s = di.CDLagrange(system, 0.5 * system.critical_time_step())
    s.start(0.0, 0.0)
    with pytest.raises(ZeroDivisionError, match="of the script"):
        s.step()


# -- coefficients that change, in every place where they are read


def graded(V, factor):
    """A system whose stiffness and load have Constants, and its scheme of some steps."""
    push = fem.Constant(V.mesh, 1.0)
    load = push * ufl.TestFunction(V)[0] * ufl.dx
    return di.FormSystem(V, stiffness=factor * bilinear(V)[0], density=RHO, load=load), push


@pytest.mark.mpi
def test_what_is_stored_is_that_of_construction_for_every_scheme():
    """Also where a matrix is assembled long after the script changed a coefficient."""
    V = space()
    factor, density = fem.Constant(V.mesh, 1.0), fem.Constant(V.mesh, RHO)
    form, mass = bilinear(V)
    system = di.FormSystem(
        V, stiffness=factor * form, mass=density / RHO * mass, damping=1e-4 * factor * form
    )
    plain = di.FormSystem(V, stiffness=form, mass=mass, damping=1e-4 * form)
    factor.value, density.value = 100.0, 3 * RHO
    assert system.critical_time_step() == pytest.approx(plain.critical_time_step(), rel=1e-9)
    ends = []
    for each in (system, plain):
        s = di.MoreauJean(each, plain.critical_time_step())
        s.start(0.0, lambda x: np.stack([x[0] * x[1], 0.0 * x[0]]))
        run = di.simulate(s, t_end=20 * s.dt, progress=False)
        assert np.abs(run["residual"]).max() <= 1e-12 * run["kinetic"].max()
        ends.append(s.u[: each.owned].copy())
    assert largest(ends[0] - ends[1]) <= 1e-12 * largest(ends[1])
    assert factor.value == 100.0


def test_a_load_that_an_observer_changes_counts_in_long_runs():
    V, ends = space(), []
    for compiled in (None, False):
        system, push = graded(V, 1.0)

        class Pushes(di.Observer):
            def follow(self, steps, push=push):
                push.value = 1000.0

        s = di.CDLagrange(system, 0.5 * system.critical_time_step())
        s.start(0.0, 0.0)
        di.simulate(s, t_end=2000 * s.dt, observers=[Pushes()], every=100, compiled=compiled, progress=False)
        ends.append(s.u.copy())
    assert np.array_equal(*ends) and ends[0][::2].mean() > 2.5


def test_energies_and_damping_are_those_of_the_time_of_the_state():
    """Prescribed values are asked for at the next time: coefficients go back afterwards."""
    V = space()
    u, v = fem.Function(V), fem.Function(V)
    factor = fem.Constant(V.mesh, 1.0)

    def update(t):
        factor.value = 1 + 50 * t

    drag = factor * 100.0 * ufl.inner(v, ufl.TestFunction(V)) * ufl.dx
    system = di.FormSystem(
        V, u=u, v=v, energy=factor * energy(u), density=RHO, damping=drag, bcs=clamped(V), update=update
    )
    s = di.CDLagrange(system, 0.4 * system.critical_time_step())
    s.start(0.0, lambda x: np.stack([x[0], 0.0 * x[0]]))
    run = di.simulate(s, t_end=20 * s.dt, progress=False)
    factor.value = 1 + 50 * s.t
    at = fem.Function(V)
    at.x.array[:] = s.u
    true = fem.assemble_scalar(fem.form(factor * energy(at)))
    assert run["internal"][-1] == pytest.approx(true, rel=1e-12)


@pytest.mark.mpi
def test_conditions_on_one_rank_alone():
    """Other ranks have none, and give none."""
    V = space()
    fdim = V.mesh.topology.dim - 1
    facets = dmesh.locate_entities_boundary(V.mesh, fdim, lambda x: np.isclose(x[0], 0.0))
    dofs = fem.locate_dofs_topological(V, fdim, facets)
    bcs = [fem.dirichletbc(np.array([0.01, 0.0]), dofs, V)] if dofs.size else []
    system = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO, bcs=bcs)
    assert system.prescribed.any
    s = di.CDLagrange(system, 0.5 * system.critical_time_step())
    s.start(0.0, 0.0)
    s.step()
    assert COMM.allreduce(float(s.u[: system.owned].max(initial=0.0)), op=MPI.MAX) == 0.01


@pytest.mark.mpi
def test_a_condition_that_moves_without_update_is_told():
    V = space()
    moved = fem.Function(V)
    fdim = V.mesh.topology.dim - 1
    facets = dmesh.locate_entities_boundary(V.mesh, fdim, lambda x: np.isclose(x[0], 0.0))
    bc = fem.dirichletbc(moved, fem.locate_dofs_topological(V, fdim, facets))
    system = di.FormSystem(V, stiffness=bilinear(V)[0], density=RHO, bcs=[bc])
    s = di.CDLagrange(system, 0.5 * system.critical_time_step())
    s.start(0.0, 0.0)
    s.step()
    moved.x.array[:] = 0.01
    with pytest.raises(ValueError, match="was zero when the system was made"):
        s.step()


def test_both_sides_of_hati_read_their_loads_in_every_step():
    mesh = plate("quadrilateral")
    named = di.named(
        mesh, cells={"fine": lambda x: x[0] <= 0.6 + 1e-9, "coarse": lambda x: x[0] >= 0.6 - 1e-9}
    )
    V = fem.functionspace(mesh, ("Lagrange", 1, (2,)))
    dx = ufl.Measure("dx", domain=mesh, subdomain_data=named.cell_tags)
    push, sums = fem.Constant(mesh, 1.0), []
    u, w = ufl.TrialFunction(V), ufl.TestFunction(V)
    for compiled in (None, False):
        push.value = 1.0
        sides = [
            di.FormSystem(
                V,
                stiffness=ufl.inner(stress(u), strain(w)) * dx(named.tags(part)),
                load=push * w[0] * dx(named.tags(part)),
                density=RHO,
                parts=named,
                cells=part,
            )
            for part in ("fine", "coarse")
        ]
        s = di.HATI(*sides, 0.4 * sides[0].critical_time_step(), ratio=2)
        s.prefer_compiled(compiled)
        s.start(0.0, 0.0)
        for k in range(40):
            push.value = 1.0 if k < 20 else 1e5
            s.step()
        sums.append(s.u.sum())
    assert sums[0] == pytest.approx(sums[1], rel=1e-9) and sums[0] > 1


def test_stress_as_an_expression_and_a_nonlinear_line():
    V = space()
    u = fem.Function(V)
    system = di.FormSystem(V, u=u, energy=energy(u), density=RHO, stress=ufl.tr(strain(u)))
    field = np.zeros(system.size)
    field[0::2] = 0.01 * system.x[:, 0]
    assert di.VonMises(system)(field) == pytest.approx(0.01)
    line = dmesh.create_interval(MPI.COMM_SELF, 5, [0.0, 1.0])
    V1 = fem.functionspace(line, ("Lagrange", 1))
    u1 = fem.Function(V1)
    bar = di.FormSystem(V1, u=u1, energy=E / 2 * u1.dx(0) ** 2 * ufl.dx, density=RHO)
    s = di.CDLagrange(bar, 0.5 * bar.critical_time_step())
    s.start(0.0, -1.0)
    run = di.simulate(s, t_end=10 * s.dt, progress=False)
    assert run["u"][-1] == pytest.approx(-10 * s.dt)


def test_a_run_after_reassemble_goes_on():
    V = space()
    factor = fem.Constant(V.mesh, 1.0)
    system, _ = graded(V, factor)
    s = di.CDLagrange(system, 0.5 * system.critical_time_step())
    s.start(0.0, 0.0)
    di.simulate(s, t_end=30 * s.dt, progress=False)
    factor.value = 0.5
    system.reassemble()
    before = s.u.copy()
    di.simulate(s, t_end=60 * s.dt, progress=False)
    assert not np.array_equal(s.u, before)


@pytest.mark.mpi
def test_functions_in_the_wrong_place():
    V = space()
    u, v, w = fem.Function(V), fem.Function(V), ufl.TestFunction(V)
    a, m = bilinear(V)
    nonlinear = {"stiffness": None, "density": RHO, "u": u}
    refused("u= and v= are the same", **nonlinear, v=u, energy=energy(u))
    refused("energy= depends on v", **nonlinear, v=v, energy=energy(u) + ufl.inner(v, v) * ufl.dx)
    refused("energy= does not depend on u=", **nonlinear, energy=energy(v))
    refused(
        "stiffness= depends on u or v", stiffness=a + u[0] * ufl.inner(ufl.TrialFunction(V), w) * ufl.dx, u=u
    )
    refused("stiffness is negative", stiffness=-a, density=RHO)
    refused("damping is not symmetric", damping=ufl.TrialFunction(V)[0] * w[1] * ufl.dx)
    refused("on another mesh", load=fem.Function(space(kind="quadrilateral"))[0] * w[0] * ufl.dx(V.mesh))
    refused("masses down to", density=fem.Constant(V.mesh, np.nan))
    refused("stress= is an expression", stress=ufl.tr(strain(u)))
    refused("stress must be a function of u", stress=7)
    other = dmesh.create_unit_square(COMM, 2, 2)
    refused("another mesh", parts=dmesh.meshtags(other, 1, np.zeros(0, np.int32), np.zeros(0, np.int32)))


def test_matrices_that_the_script_changes_in_place():
    V = space()
    form, mass = bilinear(V)
    K = petsc.assemble_matrix(fem.form(form))
    K.assemble()
    system = di.FormSystem(V, stiffness=K, mass=mass)
    first = system.critical_time_step()
    K.scale(100.0)
    s = di.MoreauJean(system, first)
    s.start(0.0, lambda x: np.stack([x[0] * x[1], 0.0 * x[0]]))
    run = di.simulate(s, t_end=20 * first, progress=False)
    assert np.abs(run["residual"]).max() <= 1e-12 * run["kinetic"].max()
    system.reassemble()
    assert system.critical_time_step() == pytest.approx(0.1 * first, rel=1e-6)


def test_energies_of_two_systems_that_share_a_coefficient():
    V = space()
    factor, systems = fem.Constant(V.mesh, 1.0), []
    u = fem.Function(V)
    for a in (1.0, 3.0):
        update = functools.partial(lambda t, a: factor.value.fill(a * (1 + 50 * t)), a=a)
        systems.append(di.FormSystem(V, u=u, energy=factor * energy(u), density=RHO, update=update))
    field = 0.01 * np.sin(np.arange(systems[0].size))
    for each in systems:
        each.force(0.01, field, 0 * field, np.zeros(each.size))
    first, second = (each.stored_energy(field) for each in systems)
    assert second == pytest.approx(3 * first, rel=1e-12) and first > 0


def test_a_damping_that_rises_in_a_run_shortens_the_step():
    V = fem.functionspace(plate(), ("Lagrange", 1, (2,)))
    u, v, w = fem.Function(V), fem.Function(V), ufl.TestFunction(V)
    eta = fem.Constant(V.mesh, 1.0)
    drag = eta * ufl.inner(ufl.grad(v), ufl.grad(w)) * ufl.dx
    system = di.FormSystem(V, u=u, v=v, energy=energy(u), damping=drag, density=RHO)
    dt = 0.8 * system.critical_time_step()
    scheme = di.CDLagrange(system, dt)
    scheme.start(lambda x: np.stack([1e-3 * x[0], 0.0 * x[0]]), 0.0)

    def rises(s):
        eta.value = 1500.0 if s.t > 10 * dt else 1.0

    run = di.simulate(scheme, t_end=60 * dt, observers=[rises], adapt=di.StepControl(), progress=False)
    later = np.diff(run["t"])[run["t"][1:] > 40 * dt]
    assert later.max() < 0.7 * dt and largest(scheme.u) < 1e-2

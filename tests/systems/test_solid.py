"""Solids against independent dense references, on any number of ranks."""

import dolfinx
import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import mesh
from dolfinx_impact.algebra import kernels
from dolfinx_impact.materials.kinematics import deformation_gradient
from dolfinx_impact.systems.forces.stiffness import StoredStiffness

COMM = MPI.COMM_WORLD


def bar(dimension=3, **options):
    named = mesh.read(
        mesh.package_mesh("bar.geo"),
        gdim=dimension,
        parameters={
            "dimension": dimension,
            "elements": 5,
            "lateral": 2,
            "tetrahedra": options.pop("tetrahedra", 0),
        },
    )
    return di.Solid(
        named,
        density=7847.0,
        law=di.LinearElastic(2.1e11, 0.3 if dimension > 1 else 0.0),
        cross_section=0.645e-3 if dimension == 1 else 1.0,
        **options,
    )


def everywhere(local):
    return np.concatenate(COMM.allgather(local))


def dense(matrix):
    matrix = matrix.convert("aij")
    return np.vstack(COMM.allgather(matrix[slice(*matrix.getOwnershipRange()), :]))


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("dimension, tetrahedra", [(1, 0), (3, 0), (3, 1)])
def test_force_is_that_of_the_stiffness_matrix(dimension, tetrahedra):
    """The pairwise product, PETSc's product and the dense one agree; a translation gives none."""
    solid = bar(dimension, tetrahedra=tetrahedra)
    K = dense(solid.matrices.stiffness())
    u = np.cos(7.0 * np.arange(solid.size) + COMM.rank)
    f = np.zeros(solid.size)
    solid.force(0.0, u, u, f)
    expected = -K @ everywhere(u[: solid.owned])
    assert np.abs(everywhere(f[: solid.owned]) - expected).max() < 1e-13 * np.abs(expected).max()
    solid.force(0.0, np.full(solid.size, 3.0), u, f)
    assert np.abs(everywhere(f[: solid.owned])).max() < 1e-13 * np.abs(K).max()
    assert np.abs(K - K.T).max() < 1e-13 * np.abs(K).max()


@pytest.mark.mpi
def test_both_products_agree(monkeypatch):
    """Without compiled loops the product is PETSc's."""
    solid = bar()
    u = np.sin(3.0 * np.arange(solid.size))
    fast, plain = np.zeros(solid.size), np.zeros(solid.size)
    solid.stiffness.subtract_product(u, fast)
    from dolfinx_impact.algebra.kernels import _numpy as _numpy_kernels

    monkeypatch.setattr(kernels, "load", lambda: _numpy_kernels)
    stiffness = StoredStiffness(fem.form(solid._stiffness_form()), solid.space)
    stiffness.subtract_product(u, plain)
    n = solid.owned
    assert np.abs(fast[:n] - plain[:n]).max(initial=0.0) < 1e-12 * np.abs(everywhere(plain[:n])).max()


@pytest.mark.mpi
@pytest.mark.parametrize("dimension", [1, 3])
def test_masses(dimension):
    """Lumped masses are the row sums of the consistent ones and add up to the body's mass."""
    solid = bar(dimension)
    M = dense(solid.matrices.mass("consistent"))
    assert everywhere(solid.mass) == pytest.approx(M.sum(axis=1), rel=1e-12)
    assert dense(solid.matrices.mass("lumped")).diagonal() == pytest.approx(M.sum(axis=1), rel=1e-12)
    assert solid.total_mass == pytest.approx(7847.0 * 0.645e-3 * 0.254, rel=1e-12)
    assert everywhere(solid.mass).sum() == pytest.approx(dimension * solid.total_mass, rel=1e-12)
    v, out = np.arange(float(solid.size)) + COMM.rank, np.zeros(solid.size)
    solid.mass_product(v, "consistent", out)
    assert everywhere(out[: solid.owned]) == pytest.approx(M @ everywhere(v[: solid.owned]), rel=1e-11)
    with pytest.raises(ValueError, match="mass must be 'lumped' or 'consistent', not 'heavy'"):
        solid.matrices.mass("heavy")


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@pytest.mark.parametrize("fixed", [(), ("free",), {"free": (0, 2)}])
def test_implicit_solver_against_a_dense_one(mass, fixed):
    solid = bar(fixed=fixed)
    factor = 1e-13
    A = dense(solid.matrices.mass(mass)) + factor * dense(solid.matrices.stiffness())
    held = everywhere(solid.constrained)
    A[held], A[:, held] = 0.0, 0.0
    A[held, held] = 1.0
    b, x = np.sin(np.arange(solid.size) + COMM.rank), np.zeros(solid.size)
    solid.implicit_solver(factor, mass).solve(b, x)
    rhs = everywhere(b[: solid.owned])
    rhs[held] = 0.0
    true = np.linalg.solve(A, rhs)
    assert np.abs(everywhere(x[: solid.owned]) - true).max() < 1e-11 * np.abs(true).max()
    assert held.sum() == {0: 0, 1: 27, 2: 18}[len(fixed) if isinstance(fixed, tuple) else 2]


@pytest.mark.mpi
def test_gravity_and_body_force_add_up_to_the_weight():
    solid = bar(gravity=(0.0, 0.0, -9.81), body_force=(100.0, 0.0, 0.0))
    out = np.zeros(solid.size)
    solid.external(0.0, out, out, out)
    total = everywhere(out[: solid.owned]).reshape(-1, 3).sum(axis=0)
    volume = 0.645e-3 * 0.254
    assert total == pytest.approx([100.0 * volume, 0.0, -9.81 * 7847.0 * volume], rel=1e-12, abs=1e-15)


@pytest.mark.mpi
@pytest.mark.parametrize("scheme", [di.CDLagrange, di.MoreauJean])
def test_held_dofs_stay_and_the_balance_closes(scheme):
    """A cantilever under its weight: the clamped end does not move, energy is conserved."""
    solid = bar(gravity=(0.0, 0.0, -9.81), fixed=("free",))
    integrator = scheme(solid, 0.5 * solid.critical_time_step())
    integrator.start(0.0, [1.0, 1.0, 1.0])
    result = di.simulate(integrator, t_end=300 * integrator.dt, record=solid.rows(), progress=False)
    assert not integrator.u[: solid.owned][solid.constrained].any()
    assert np.abs(result["residual"]).max() < 1e-12 * result["kinetic"][0]
    assert np.abs(result["internal_work"] - result["internal"]).max() < 1e-11 * result["kinetic"][0]


@pytest.mark.mpi
def test_rigid_motion_of_a_free_body_is_exact():
    """A free translation: no internal force, momentum and energy stay to round-off."""
    solid = bar()
    integrator = di.CDLagrange(solid, 0.9 * solid.critical_time_step())
    integrator.start(0.0, [2.0, 2.0, 2.0])
    result = di.simulate(integrator, t_end=500 * integrator.dt, record=solid.rows(), progress=False)
    assert np.abs(result["v"] - 2.0).max() < 1e-13
    assert result["internal"].max() < 1e-20 * result["kinetic"][0]


@pytest.mark.mpi
def test_plane_strain_stiffness_of_a_square():
    """Uniform strain on a DOLFINx mesh without names: energy is that of the law."""
    square = dmesh.create_unit_square(COMM, 4, 3, dmesh.CellType.quadrilateral)
    law = di.LinearElastic(10.0, 0.25)
    solid = di.Solid(square, density=1.0, law=law, cross_section=0.5)
    u = np.zeros(solid.size)
    u[::2] = 0.01 * solid.x[:, 0]
    f = np.zeros(solid.size)
    solid.force(0.0, u, u, f)
    energy = COMM.allreduce(-0.5 * float(u[: solid.owned] @ f[: solid.owned]))
    mu, lame = 4.0, 4.0
    assert energy == pytest.approx(0.5 * (mu + lame / 2) * 1e-4, rel=1e-12)


@pytest.mark.mpi
def test_law_of_the_line_and_of_uniaxial_strain():
    line = dmesh.create_unit_interval(COMM, 3)
    x = ufl.SpatialCoordinate(line)
    u = ufl.as_vector([0.1 * x[0]])
    density = di.LinearElastic(8.0, 0.3).reduced("line").energy_density(deformation_gradient(u, "line"))
    total = COMM.allreduce(fem.assemble_scalar(fem.form(density * ufl.dx)))
    assert total == pytest.approx(8.0 * 0.01 / 2, rel=1e-12)


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda: bar(gravity=(0.0, 1.0)), "gravity must be 3 numbers"),
        (lambda: bar(body_force=(0.0, 1.0, np.nan)), "body_force must be 3 numbers"),
        (lambda: bar(fixed=("nowhere",)), r"no facets are named 'nowhere'.*\['contact', 'free', 'sides'\]"),
        (lambda: bar(fixed={"free": (3,)}), "directions are 0 to 2, not 3"),
        (lambda: di.LinearElastic(-1.0), "E must be positive"),
        (lambda: di.LinearElastic(1.0, 0.5), "nu must lie in"),
        (lambda: di.Solid(bar().named, density=-1.0, law=di.LinearElastic(1.0)), "density must be positive"),
        (
            lambda: di.Solid(bar().named, density=1.0, cross_section=0.0, law=di.LinearElastic(1.0)),
            "cross_section must be",
        ),
        (
            lambda: di.Solid(bar().named, density=1.0, cross_section=0.01, law=di.LinearElastic(1.0)),
            "cross_section is the area of a line or the thickness of a plane mesh, .* a body in space",
        ),
        (lambda: turned(cross_section=0.01), "but this is a body of revolution: leave it out"),
        (lambda: turned(gravity=(1.0, 0.0)), "gravity of a body of revolution is along z, but is"),
        (
            lambda: turned(ground_acceleration=((1, 0), np.sin)),
            r"ground_acceleration of .* is \(1, 0\) in \(r, z\)",
        ),
        (lambda: turned().rigid_velocity((0.0, 1.0), spin=2.0), "does not spin, but spin is 2"),
        (lambda: turned().rigid_velocity((0.1, 1.0)), "translation of a body of revolution is along z"),
        (
            lambda: di.CDLagrange(turned(), 1e-3).start(0.0, (0.1, 1.0)),
            "a uniform v0 of a body of revolution is",
        ),
    ],
)
def test_bad_input(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()


def turned(**options):
    square = dmesh.create_unit_square(COMM, 2, 2)
    return di.Solid(square, density=1.0, law=di.LinearElastic(1.0), hypothesis="axisymmetric", **options)


def test_a_body_of_revolution_moves_along_its_axis():
    body = turned(ground_acceleration=((0.0, 1.0), np.sin), gravity=(0.0, -1.0))
    scheme = di.CDLagrange(body, 1e-3)
    scheme.start(0.0, (0.0, 1.0))
    fall = np.tile([0.0, -0.5e-3], body.size // 2)
    assert scheme.v == pytest.approx(body.rigid_velocity((0.0, 1.0), spin=0.0) + fall, abs=1e-14)
    scheme.start(0.0, lambda x: np.stack([0.1 * x[0], 0.0 * x[0]]))  # expands
    assert scheme.v.max() == pytest.approx(0.1, rel=1e-3)


class Lawless:
    linear = False

    def energy_density(self, F):
        return ufl.inner(F, F) ** 2


def line_in_the_plane():
    import basix.ufl

    element = basix.ufl.element("Lagrange", "interval", 1, shape=(2,))
    cells, x = np.array([[0, 1], [1, 2]]), np.array([[0.0, 0.0], [1.0, 0.5], [2.0, 0.0]])
    if COMM.rank > 0:
        cells, x = cells[:0], x[:0]
    return dmesh.create_mesh(COMM, cells=cells, x=x, e=element)


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda: di.Solid(bar().named, density=1.0, law=Lawless()), "no law, it has no reduced"),
        (lambda: di.Solid(line_in_the_plane(), density=1.0, law=di.LinearElastic(1.0)), "dimension 1 of 2"),
        (lambda: di.Solid(bar().named, density=1.0, law=di.LinearElastic(1.0), degree=0), "degree must be"),
        (lambda: di.Solid(bar().named, density=1.0, law=di.LinearElastic(1.0), degree=1.5), "degree must be"),
    ],
)
def test_what_a_solid_cannot_be(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()


@pytest.mark.mpi
def test_body_that_is_held_everywhere_has_no_critical_step():
    named = mesh.read(mesh.package_mesh("bar.geo"), gdim=1, parameters={"dimension": 1, "elements": 1})
    solid = di.Solid(named, density=1.0, law=di.LinearElastic(1.0), fixed=("contact", "free"))
    assert solid.critical_time_step() == np.inf


@pytest.mark.mpi
def test_another_step_or_material_compiles_nothing(monkeypatch):
    """h, E, nu and density are constants of the forms, not numbers in them."""
    forms = []
    compiler = dolfinx.jit.ffcx_jit

    def note(comm, form, **options):
        forms.append(form.signature() if isinstance(form, ufl.Form) else "element")
        return compiler(comm, form, **options)

    monkeypatch.setattr(dolfinx.jit, "ffcx_jit", note)
    found = []
    for E, factor in ((1.0, 1e-13), (2.5, 3e-13)):
        named = bar().named
        forms.clear()
        solid = di.Solid(named, density=3.0 * E, law=di.LinearElastic(E, 0.1 * E))
        solid.implicit_solver(factor, "consistent")
        solid.critical_time_step()
        found.append(set(forms))
    assert found[0] == found[1] and len(found[0]) >= 3


@pytest.mark.parametrize("gdim", [2, 3])
def test_a_linear_body_that_turns_is_warned_of(gdim):
    """The rotation is found as it is; the summary says what the law is for."""
    kind = dmesh.create_unit_square if gdim == 2 else dmesh.create_unit_cube
    mesh = kind(MPI.COMM_WORLD, *[2] * gdim)
    body = di.Solid(di.NamedMesh(mesh, None, None, {}), density=1000.0, law=di.LinearElastic(1e6, 0.3))
    axis = np.array([0.0, 0.0, 1.0]) if gdim == 2 else np.array([1.0, 2.0, -2.0]) / 3
    for angle in (0.0, 0.3, 2.5):
        cross = np.cross(np.eye(3), -axis)
        turn = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
        x = body.x - 0.2
        u = (x @ (1.01 * turn - np.eye(3)).T)[:, :gdim].ravel()
        assert body.rigid_rotation(u) == pytest.approx(angle, abs=1e-7)
    s = di.CDLagrange(body, 0.5 * body.critical_time_step())
    for spin, words in ((0.5, False), (50.0, True)):
        s.start(0.0, body.rigid_velocity(np.zeros(gdim), spin=spin * axis if gdim == 3 else spin))
        run = di.simulate(s, t_end=10 * s.dt, progress=False)
        assert ("its law is for small rotations" in run.summary()) == words, run.turned


def halves():
    """A strip of two parts, and a name for the facets between them and at the right end."""
    strip = dmesh.create_rectangle(COMM, [[0.0, 0.0], [2.0, 1.0]], [4, 2], dmesh.CellType.quadrilateral)
    tdim, cells = 2, []
    for which in (lambda x: x[0] < 1 + 1e-9, lambda x: x[0] > 1 - 1e-9):
        cells.append(dmesh.locate_entities(strip, tdim, which))
    number = np.concatenate([np.full(each.size, k + 1, np.int32) for k, each in enumerate(cells)])
    every = np.concatenate(cells)
    order = np.argsort(every)
    tags = dmesh.meshtags(strip, tdim, every[order], number[order])
    faces = [dmesh.locate_entities(strip, 1, lambda x, at=at: np.abs(x[0] - at) < 1e-9) for at in (1.0, 2.0)]
    faces = np.sort(np.concatenate(faces))
    of_faces = dmesh.meshtags(strip, 1, faces, np.full(faces.size, 7, np.int32))
    return mesh.NamedMesh(strip, tags, of_faces, {"left": (2, 1), "right": (2, 2), "face": (1, 7)})


@pytest.mark.mpi
def test_the_interface_of_a_part_is_on_the_outside_of_its_body():
    """A traction acts there as on any other facet, and nodes have areas; facets of others are left out."""
    options = {"law": di.LinearElastic(1e6, 0.3), "density": 1.0, "traction": {"face": (5.0, 0.0)}}
    for part, area in (("left", 1.0), ("right", 2.0)):
        body = di.Solid(halves(), cells=part, **options)
        assert COMM.allreduce(body.loads.constant[: body.owned].sum()) == pytest.approx(5.0 * area)
        assert COMM.allreduce(body.facet_areas("face").sum()) == pytest.approx(area)
    with pytest.raises(ValueError, match="2 of the facets 'face' lie inside the body, not on its surface"):
        di.Solid(halves(), **options)


def test_units_that_are_mixed_up_are_a_line_of_the_log(caplog):
    caplog.set_level("INFO", "dolfinx_impact")
    for size, modulus, words in (
        (100.0, 2.1e11, "the body has an extent of 141.4 m: are its mesh in m"),
        (0.1, 2.1e5, "the body has a wave speed of 6 m/s: are"),
        (0.1, 2.1e11, ""),
    ):
        caplog.clear()
        square = dmesh.create_rectangle(COMM, [[0, 0], [size, size]], [1, 1])
        di.Solid(square, density=7850.0, law=di.LinearElastic(modulus, 0.3))
        assert words in caplog.text and bool(caplog.text) == bool(words)

"""Von Mises stresses at nodes against closed forms."""

import numpy as np
import pytest
import ufl
from dolfinx import mesh as dmesh
from mpi4py import MPI
from scipy.optimize import brentq

import dolfinx_impact as di
from dolfinx_impact import VonMises

pytestmark = pytest.mark.mpi

COMM = MPI.COMM_WORLD
E, NU = 2.0e6, 0.3
LAME, MU = E * NU / ((1 + NU) * (1 - 2 * NU)), E / (2 * (1 + NU))
CELLS = {
    "triangle": dmesh.CellType.triangle,
    "quadrilateral": dmesh.CellType.quadrilateral,
    "tetrahedron": dmesh.CellType.tetrahedron,
    "hexahedron": dmesh.CellType.hexahedron,
}
PLANE = ("triangle", "quadrilateral")
SHAPES = [(cell, degree) for cell in CELLS for degree in (1, 2)]


def block(cell, degree=1, law=None, **options):
    if cell in PLANE:
        mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.5]], [3, 4], CELLS[cell])
    else:
        mesh = dmesh.create_box(COMM, [[0.0] * 3, [1.0, 1.5, 0.5]], [3, 2, 2], CELLS[cell])
    return di.Solid(mesh, density=1000.0, law=law or di.LinearElastic(E, NU), degree=degree, **options)


def field(solid, gradient):
    """Displacements with a uniform gradient; those of ghosts are wrong."""
    H = np.asarray(gradient, dtype=float)
    u = (solid.x[:, : solid.block] @ H.T).ravel()
    u[solid.owned :] = 1e3
    return u


def mises(sigma):
    deviator = np.asarray(sigma) - np.trace(sigma) / 3 * np.eye(3)
    return np.sqrt(1.5 * np.sum(deviator**2))


def embedded(H):
    full = np.zeros((3, 3))
    full[: len(H), : len(H)] = H
    return full


def linear(H, lame=LAME, mu=MU):
    strain = (embedded(H) + embedded(H).T) / 2
    return lame * np.trace(strain) * np.eye(3) + 2 * mu * strain


def neo_hookean(F):
    b, J = F @ F.T, np.linalg.det(F)
    return (MU * (b - np.eye(3)) + LAME * np.log(J) * np.eye(3)) / J


def check(solid, H, expected, rel=1e-12):
    """One stress everywhere, also at ghosts, whatever was asked before."""
    stress = VonMises(solid)
    stress(field(solid, -3.0 * np.asarray(H)))
    found = stress(field(solid, H))
    assert found.shape == (solid.size // solid.block,)
    assert found == pytest.approx(expected, rel=rel, abs=1e-8 * E)


GRADIENTS = {
    "stretch": [[0.2, 0, 0], [0, -0.05, 0], [0, 0, 0.1]],
    "shear": [[0, 0.3, 0], [0, 0, 0], [0, 0, 0]],
    "both": [[0.1, 0.2, 0], [-0.05, 0.15, 0], [0, 0, 0]],
}


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("cell, degree", SHAPES)
def test_uniform_stretch_and_simple_shear(cell, degree):
    """Closed forms of small strains and of neo-Hooke's law, plane strain included."""
    d = 2 if cell in PLANE else 3
    solid, soft = block(cell, degree), block(cell, degree, di.NeoHookean(E, NU))
    for H in GRADIENTS.values():
        H = np.array(H)[:d, :d]
        check(solid, H, mises(linear(H)))
        check(soft, H, mises(neo_hookean(np.eye(3) + embedded(H))))


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "law",
    [di.NeoHookean(E, NU), di.StVenantKirchhoff(E, NU), di.MooneyRivlin(2e5, 1e5, 3e6)],
    ids=lambda law: type(law).__name__,
)
@pytest.mark.parametrize("cell", ["triangle", "hexahedron"])
def test_a_rotation_has_no_stress(cell, law):
    solid = block(cell, 1, law)
    c, s = np.cos(1.0), np.sin(1.0)
    H = embedded([[c - 1, -s], [s, c - 1]])
    stress = VonMises(solid)(field(solid, H[: solid.block, : solid.block]))
    assert np.abs(stress).max() < 1e-8 * E
    # The same stretch, turned or not, has the same stress.
    stretch = np.diag([1.1, 0.9, 1.0])
    turned = (H + np.eye(3)) @ stretch - np.eye(3)
    fields = [field(solid, G[: solid.block, : solid.block]) for G in (stretch - np.eye(3), turned)]
    first, second = (VonMises(solid)(u) for u in fields)
    assert first == pytest.approx(second, rel=1e-10) and first.min() > 0.1 * E


def test_shear_by_hand():
    """sqrt(3) tau for small strains; plane strain holds sigma_zz = nu (sigma_xx + sigma_yy)."""
    check(block("triangle"), [[0, 1e-3], [0, 0]], np.sqrt(3) * MU * 1e-3)
    x, y = 3.0, 1.0
    z = NU * (x + y)
    strain = [(x - NU * (y + z)) / E, (y - NU * (x + z)) / E]
    expected = np.sqrt(((x - y) ** 2 + (y - z) ** 2 + (z - x) ** 2) / 2)
    stress = VonMises(block("quadrilateral", 2))(field(block("quadrilateral", 2), np.diag(strain)))
    assert stress == pytest.approx(expected, rel=1e-10)


def test_plane_stress():
    """No stress across: a uniaxial one is that of a bar; large strains divide by the true thickness."""
    thin = block("triangle", hypothesis="plane-stress")
    check(thin, np.diag([2e-3, -NU * 2e-3]), E * 2e-3)
    check(thin, [[0, 1e-3], [0, 0]], np.sqrt(3) * MU * 1e-3)
    # Neo-Hooke: sigma_33 = 0.
    F = np.array([[1.2, 0.1, 0], [0, 0.95, 0], [0, 0, 1.0]])
    F[2, 2] = brentq(lambda z: neo_hookean(F + (z - 1) * np.diag([0, 0, 1]))[2, 2], 0.5, 2.0, xtol=1e-14)
    soft = block("quadrilateral", 1, di.NeoHookean(E, NU), hypothesis="plane-stress")
    check(soft, F[:2, :2] - np.eye(2), mises(neo_hookean(F)), rel=1e-9)
    # St. Venant-Kirchhoff: S33 = 0 gives E33.
    F[2, 2] = 1.0
    strain = (F.T @ F - np.eye(3)) / 2
    strain[2, 2] = -NU / (1 - NU) * (strain[0, 0] + strain[1, 1])
    F[2, 2] = np.sqrt(1 + 2 * strain[2, 2])
    S = LAME * np.trace(strain) * np.eye(3) + 2 * MU * strain
    expected = mises(F @ S @ F.T / np.linalg.det(F))
    stiff = block("triangle", 1, di.StVenantKirchhoff(E, NU), hypothesis="plane-stress")
    check(stiff, F[:2, :2] - np.eye(2), expected)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize(
    "law",
    [di.LinearElastic(E, NU), di.StVenantKirchhoff(E, NU), di.NeoHookean(E, NU)],
    ids=lambda law: type(law).__name__,
)
def test_a_bar(law):
    """Uniaxial stress on a line, for large strains over the area that there is then."""
    solid = di.Solid(dmesh.create_interval(COMM, 5, [0.0, 2.0]), density=1.0, law=law, cross_section=0.1)
    stretch = 1.1
    if law.linear:
        expected = E * (stretch - 1)
    elif isinstance(law, di.StVenantKirchhoff):
        strain = (stretch**2 - 1) / 2
        expected = E * strain * stretch / (1 - 2 * NU * strain)
    else:
        across = brentq(lambda y: neo_hookean(np.diag([stretch, y, y]))[1, 1], 0.5, 2.0, xtol=1e-14)
        expected = neo_hookean(np.diag([stretch, across, across]))[0, 0]
    check(solid, [[stretch - 1]], expected, rel=1e-9)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("cell, degree", [("triangle", 1), ("quadrilateral", 2), ("quadrilateral", 1)])
def test_bodies_of_revolution(cell, degree):
    """Hoop stress, also on the axis; Lame's tube."""
    options = {"hypothesis": "axisymmetric", "degree": degree}
    for law, stress in (
        (di.LinearElastic(E, NU), linear),
        (di.NeoHookean(E, NU), lambda H: neo_hookean(np.eye(3) + H)),
    ):
        solid = block(cell, law=law, **options)
        check(solid, np.diag([0.1, -0.03]), mises(stress(np.diag([0.1, -0.03, 0.1]))))
    a, b, p = 1.0, 2.0, 1e4
    mesh = dmesh.create_rectangle(COMM, [[a, 0.0], [b, 0.2]], [80 // degree, 2], CELLS[cell])
    tube = di.Solid(mesh, density=1.0, law=di.LinearElastic(E, NU), **options)
    A, B = p * a**2 / (b**2 - a**2), p * a**2 * b**2 / (b**2 - a**2)
    r = tube.x[:, 0]
    u = np.zeros((r.size, 2))
    u[:, 0] = (1 + NU) / E * ((1 - 2 * NU) * A * r + B / r)
    expected = [mises(np.diag([A - B / s**2, 2 * NU * A, A + B / s**2])) for s in r]
    assert VonMises(tube)(u.ravel()) == pytest.approx(expected, rel=0.03 / degree)


def two_parts():
    """A strip of two materials and a third part that is no part of the body."""
    mesh = dmesh.create_rectangle(COMM, [[0.0, 0.0], [3.0, 1.0]], [6, 2], CELLS["triangle"])
    mesh.topology.create_connectivity(2, 0)
    cells = np.arange(mesh.topology.index_map(2).size_local, dtype=np.int32)
    middle = dmesh.compute_midpoints(mesh, 2, cells)
    tags = dmesh.meshtags(mesh, 2, cells, np.floor(middle[:, 0]).astype(np.int32))
    return di.NamedMesh(mesh, tags, None, {"soft": (2, 0), "hard": (2, 1), "rest": (2, 2)})


def test_several_materials_on_part_of_a_mesh():
    """Each cell has its law; nodes between are averages, nodes without cells of the body get 0."""
    laws = {"soft": di.LinearElastic(E, NU), "hard": di.NeoHookean(5 * E, NU)}
    solid = di.Solid(two_parts(), density=1.0, law=laws, cells=("soft", "hard"))
    H = [[1e-7, 2e-7], [0, 0]]
    one = mises(linear(H))
    stress, x = VonMises(solid)(field(solid, H)), solid.x[:, 0]
    for where, factor in ((x < 0.9, 1.0), ((x > 1.1) & (x < 2.1), 5.0), (x > 2.1, 0.0)):
        assert stress[where] == pytest.approx(factor * one, rel=1e-6)
    between = stress[abs(x - 1) < 1e-9]
    assert np.all((between > 1.1 * one) & (between < 4.9 * one))
    total = COMM.allreduce(VonMises(solid).volume[: solid.owned // 2].sum())
    assert total == pytest.approx(3 * 2.0)  # every cell counts at each of its nodes


def test_weights_are_volumes():
    """On a line of two cells of lengths 1 and 3 the node between takes a quarter and three quarters."""
    mesh = dmesh.create_interval(COMM, 6, [0.0, 6.0])
    x = mesh.geometry.x
    x[:, 0] = np.interp(x[:, 0], [0, 3, 4, 6], [0, 3, 6, 8])  # a cell of length 3 among others of length 1
    solid = di.Solid(mesh, density=1.0, law=di.LinearElastic(E))
    u = np.maximum(solid.x[:, 0] - 3.0, 0.0) * 1e-3
    stress, at = VonMises(solid)(u), solid.x[:, 0]
    assert stress[abs(at - 3) < 1e-9] == pytest.approx(0.75 * E * 1e-3)
    assert stress[at > 3.1] == pytest.approx(E * 1e-3) and not stress[at < 2.9].any()


def test_own_law_of_a_stress():
    law = di.StressLaw(
        lambda F: (
            LAME * ufl.tr(F - ufl.Identity(3)) * ufl.Identity(3) + 2 * MU * ufl.sym(F - ufl.Identity(3))
        ),
        linear=True,
    )
    H = np.array(GRADIENTS["both"])
    check(block("tetrahedron", 1, law), H, mises(linear(H)))


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("law", ["neo-Hookean", "St. Venant-Kirchhoff", "isochoric neo-Hookean"])
def test_mean_dilatation(law):
    """The stress is that of the law at the volume ratio of the cell, but for a pressure."""
    a, b, nu = 0.15, -0.1, 0.4999
    lame, mu = E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))

    def kirchhoff(F):
        C, one = F.T @ F, np.eye(3)
        if law == "St. Venant-Kirchhoff":
            return F @ (lame / 2 * np.trace(C - one) * one + mu * (C - one)) @ F.T
        return mu * F @ F.T * (np.linalg.det(F) ** (-2 / 3) if law.startswith("isochoric") else 1.0)

    given = {"neo-Hookean": di.NeoHookean(E, nu), "St. Venant-Kirchhoff": di.StVenantKirchhoff(E, nu)}
    mesh = dmesh.create_unit_square(COMM, 1, 1, CELLS["quadrilateral"])
    solid = di.Solid(mesh, density=1.0, law=given.get(law, di.NeoHookean(E, nu, isochoric=True)))
    assert solid.locking == "mean-dilatation"
    X, Y = solid.x[:, 0], solid.x[:, 1]
    stress = VonMises(solid)
    stress(np.column_stack([X, -Y]).ravel() / 9)
    found = stress(np.column_stack([a * X * Y, b * X * Y]).ravel())
    for x, y, each in zip(X, Y, found):
        F = np.array([[1 + a * y, a * x, 0.0], [b * y, 1 + b * x, 0.0], [0.0, 0.0, 1.0]])
        J, ratio = np.linalg.det(F), 1 + (a + b) / 2
        assert each == pytest.approx(mises(kirchhoff((ratio / J) ** (1 / 3) * F)) / J, rel=1e-10)


def test_only_solids():
    with pytest.raises(ValueError, match="the stress is that of a Solid, not of a PointMasses"):
        VonMises(di.PointMasses(1.0))

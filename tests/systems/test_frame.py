"""Frames against beam theory, rigid motions and an independent element by element assembly."""

import math

import basix.ufl
import numpy as np
import pytest
import ufl
from dolfinx import mesh as dmesh
from hypothesis import given
from hypothesis import strategies as st
from mpi4py import MPI
from scipy.linalg import eigh, expm
from scipy.optimize import brentq
from support.examples import examples

from dolfinx_impact import CDLagrange, Frame, NamedMesh, Section, mesh

pytest.importorskip("gmsh")
WORLD = MPI.COMM_WORLD
E, NU, RHO = 2.1e11, 0.3, 7850.0
G = E / (2 * (1 + NU))
BOX = Section.box(0.2, 0.3, flange=0.01, web=0.02)
STEEL = {"density": RHO, "E": E, "nu": NU}
#: Directions of a cantilever: along an axis, in a plane, anywhere.
DIRECTIONS = [(1, 0, 0), (0, -1, 0), (3, 4, 0), (1, 0, 1), (-1, 2, 0.7)]

LINES = """{points}
{lines}
Transfinite Curve {{1:{count}}} = {nodes};
{parts}
Physical Point("base") = {{1}};
Physical Point("tip") = {{2}};
"""


def read_lines(folder, points, lines, elements):
    """Straight lines between points, one part ``beam 1``, ``beam 2``, ... each; whole on every rank."""
    path = folder / f"lines-{WORLD.rank}.geo"
    path.write_text(
        LINES.format(
            points="\n".join(
                f"Point({i}) = {{{x!r}, {y!r}, {z!r}}};" for i, (x, y, z) in enumerate(points, 1)
            ),
            lines="\n".join(f"Line({i}) = {{{a}, {b}}};" for i, (a, b) in enumerate(lines, 1)),
            parts="\n".join(f'Physical Curve("beam {i}") = {{{i}}};' for i in range(1, len(lines) + 1)),
            count=len(lines),
            nodes=elements + 1,
        )
    )
    return mesh.read(path, comm=MPI.COMM_SELF)


def unit(direction):
    return np.asarray(direction, dtype=float) / np.linalg.norm(direction)


@pytest.fixture
def cantilever(shared_path):
    """``cantilever(elements, direction, length, section)``: clamped at the origin, with its local axes."""

    def build(elements=8, direction=(1, 0, 0), length=2.0, section=BOX, fixed=("base",), **options):
        x = unit(direction)
        ends = [(0.0, 0.0, 0.0), tuple(map(float, length * x))]
        frame = Frame(
            read_lines(shared_path, ends, [(1, 2)], elements),
            sections={"beam 1": section},
            fixed=fixed,
            **{**STEEL, **options},
        )
        up = np.asarray(options.get("up", (0, 0, 1)), dtype=float)
        z = unit(up - (up @ x) * x)
        return frame, np.array([x, np.cross(z, x), z])

    return build


@pytest.fixture
def portal(shared_path):
    """``portal(**options)``: five beams of three sections, skew and branching, four of them at one node."""

    def build(**options):
        points = [(0, 0, 0), (1, 0.2, 1), (2, -0.5, 0.1), (1.2, 1.5, 0.8), (-0.3, 0.9, 1.1)]
        points = [tuple(map(float, p)) for p in points]
        lines = [(1, 2), (2, 3), (2, 4), (2, 5), (4, 5)]
        kinds = [BOX, Section.I(0.1, 0.2, 0.01, 0.006), Section.circle(0.15, 0.01)]
        sections = {f"beam {i + 1}": kinds[i % 3] for i in range(5)}
        return Frame(read_lines(shared_path, points, lines, 3), sections=sections, **{**STEEL, **options})

    return build


def dense(matrix):
    matrix = matrix.convert("aij")
    return matrix[:, :]


def solve(frame, forces):
    """Displacements under nodal forces, held dofs at zero, shape (nodes, 6)."""
    free = ~frame.constrained
    u = np.zeros(frame.owned)
    u[free] = np.linalg.solve(dense(frame.matrices.stiffness())[np.ix_(free, free)], forces.ravel()[free])
    return u.reshape(-1, 6)


def under_tip_load(frame, load):
    forces = np.zeros((frame.owned // 6, 6))
    (tip,) = frame.nodes("tip")
    forces[tip] = load
    return solve(frame, forces)[tip]


def rigid_motions(x):
    """The six displacements ``a + b x X`` with rotations ``b``, shape (6, nodes, 6)."""
    motions = np.zeros((6, len(x), 6))
    for i, e in enumerate(np.eye(3)):
        motions[i, :, :3] = e
        motions[3 + i, :, :3], motions[3 + i, :, 3:] = np.cross(e, x), e
    return motions


# -- stiffness


def test_rigid_motions_meet_no_force(portal):
    frame = portal()
    K = dense(frame.matrices.stiffness())
    assert np.abs(K - K.T).max() < 1e-14 * np.abs(K).max()
    for motion in rigid_motions(frame.x):
        force = np.zeros(frame.size)
        frame.force(0.0, motion.ravel(), motion.ravel(), force)
        assert np.abs(force).max() < 1e-13 * np.abs(K).max() * np.abs(motion).max()
    assert np.linalg.matrix_rank(K, tol=1e-10 * np.abs(K).max()) == frame.owned - 6


def element_stiffness(ends, section, up):
    """12 x 12, dofs of one end after the other, from the strains at the middle of the element."""
    length = np.linalg.norm(ends[1] - ends[0])
    x = unit(ends[1] - ends[0])
    z = unit(up - (up @ x) * x)
    R = np.array([x, np.cross(z, x), z])
    # Rows: u', v' - thz, w' + thy, thx', thy', thz'.
    B = np.hstack([-np.eye(6), np.eye(6)]) / length
    B[1, [5, 11]], B[2, [4, 10]] = -0.5, 0.5
    kGA = section.shear * G * section.area
    D = np.diag([E * section.area, kGA, kGA, G * section.J, E * section.Iy, E * section.Iz])
    B = B @ np.kron(np.eye(4), R)
    return length * B.T @ D @ B


@pytest.mark.parametrize("up", [(0.0, 0.0, 1.0), (0.3, -0.1, 2.0)])
def test_stiffness_is_the_sum_of_the_elements(portal, up):
    """Independent assembly; the force product is that of the matrix."""
    frame = portal(up=up)
    kinds = [BOX, Section.I(0.1, 0.2, 0.01, 0.006), Section.circle(0.15, 0.01)]
    K = np.zeros((frame.owned, frame.owned))
    for i in range(5):
        for cell in frame.named.cells(f"beam {i + 1}"):
            nodes = frame.space.dofmap.list[cell]
            dofs = (6 * nodes[:, None] + np.arange(6)).ravel()
            K[np.ix_(dofs, dofs)] += element_stiffness(frame.x[nodes], kinds[i % 3], np.array(up))
    assert dense(frame.matrices.stiffness()) == pytest.approx(K, abs=1e-13 * np.abs(K).max())
    u, force = np.sin(np.arange(frame.size) + 0.5), np.zeros(frame.size)
    frame.force(0.0, u, u, force)
    assert force == pytest.approx(-K @ u, abs=1e-12 * np.abs(K @ u).max())
    assert frame.stored_energy(u) == pytest.approx(u @ K @ u / 2, rel=1e-12)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_cantilever_under_tip_loads(cantilever, direction):
    """Exact nodal values of the element, so order 2 against the theory, in all directions.

    Bending: ``P L^3 / (3 E I) (1 - 1 / (4 n^2)) + P L / (k G A)``; stretch and twist are exact.
    """
    L, P, kGA = 2.0, 1e4, BOX.shear * G * BOX.area
    for n in (1, 2, 4, 16):
        frame, axes = cantilever(n, direction, L)
        flexible = [L / (E * BOX.area)] + [
            L**3 / (3 * E * second) * (1 - 1 / (4 * n**2)) + L / kGA for second in (BOX.Iz, BOX.Iy)
        ]
        for axis, expected in zip(axes, flexible):
            tip = under_tip_load(frame, np.concatenate([P * axis, np.zeros(3)]))
            assert axis @ tip[:3] == pytest.approx(P * expected, rel=1e-9)
        for axis, stiffness in zip(axes, (G * BOX.J, E * BOX.Iy, E * BOX.Iz)):
            tip = under_tip_load(frame, np.concatenate([np.zeros(3), P * axis]))
            assert tip[3:] == pytest.approx(P * L / stiffness * axis, rel=1e-9, abs=1e-9 * P * L / stiffness)


@pytest.mark.parametrize("plane", [1, 2])
def test_static_deflection_converges_with_order_two(cantilever, plane):
    L, P, second = 2.0, 1e4, (BOX.Iz, BOX.Iy)[plane - 1]
    exact = P * L**3 / (3 * E * second) + P * L / (BOX.shear * G * BOX.area)
    errors = []
    for n in (4, 8, 16):
        frame, axes = cantilever(n, (1, 0, 1), L)
        tip = under_tip_load(frame, np.concatenate([P * axes[plane], np.zeros(3)]))
        errors.append(abs(axes[plane] @ tip[:3] - exact))
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders == pytest.approx([2.0, 2.0], abs=1e-3)


@examples(4)
@given(st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1))
def test_turning_the_frame_with_its_up_changes_nothing(tmp_path_factory, quaternion):
    """Eigenvalues of K do not depend on how the global axes lie."""
    w, x, y, z = unit(quaternion)
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    corner, folder = np.array([[0, 0, 0], [1.5, 0, 0], [1.5, 1, 0.3]]), tmp_path_factory.mktemp("turned")
    spectra = []
    for R in (np.eye(3), turn):
        points = [tuple(map(float, R @ p)) for p in corner]
        named = read_lines(folder, points, [(1, 2), (2, 3)], 2)
        frame = Frame(named, sections=BOX, up=R @ [0.0, 0.2, 1.0], **STEEL)
        spectra.append(np.linalg.eigvalsh(dense(frame.matrices.stiffness())))
    assert spectra[0] == pytest.approx(spectra[1], abs=1e-12 * spectra[0][-1])


# -- masses


def test_lumped_masses_along_the_axes(cantilever):
    """Half an element to each node; rotary inertia about the local axes, whichever way they lie."""
    h = 2.0 / 4
    about = RHO * np.array([BOX.Iy + BOX.Iz, BOX.Iy, BOX.Iz]) * h
    for direction, order in (((1, 0, 0), [0, 1, 2]), ((0, -1, 0), [1, 0, 2])):
        frame, _ = cantilever(4, direction)
        mass = frame.mass.reshape(-1, 6)
        expected = np.concatenate([np.full(3, RHO * BOX.area * h), about[order]])
        ends = np.concatenate([frame.nodes("base"), frame.nodes("tip")])
        inner = np.setdiff1d(np.arange(5), ends)
        assert mass[inner] == pytest.approx(np.tile(expected, (3, 1)), rel=1e-10)
        assert mass[ends] == pytest.approx(np.tile(expected / 2, (2, 1)), rel=1e-10)
        assert frame.total_mass == pytest.approx(RHO * BOX.area * 2.0, rel=1e-10)


def test_lumped_masses_of_skew_beams(cantilever):
    frame, _ = cantilever(2, (1, 1, 0))
    inner = frame.mass.reshape(-1, 6)[np.setdiff1d(np.arange(3), [*frame.nodes("base"), *frame.nodes("tip")])]
    assert inner[0, 3:] == pytest.approx(np.full(3, RHO * (BOX.Iy + BOX.Iz) * 1.0), rel=1e-10)
    assert inner[0, :3] == pytest.approx(np.full(3, RHO * BOX.area * 1.0), rel=1e-10)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_consistent_mass_knows_rigid_motions(cantilever, direction):
    """Kinetic energies of a straight beam that moves and turns about its own end are exact."""
    frame, axes = cantilever(3, direction, fixed=())
    M, L = dense(frame.matrices.mass("consistent")), 2.0
    motions = rigid_motions(frame.x)
    line = RHO * np.array([0.0, BOX.area * L**3 / 3, BOX.area * L**3 / 3])
    turned = axes.T @ np.diag(line + RHO * L * np.array([BOX.Iy + BOX.Iz, BOX.Iy, BOX.Iz])) @ axes
    for i in range(3):
        v = motions[i].ravel()
        assert v @ M @ v == pytest.approx(frame.total_mass, rel=1e-12)
        for j in range(3):
            energy = motions[3 + i].ravel() @ M @ motions[3 + j].ravel()
            assert energy == pytest.approx(turned[i, j], rel=1e-12, abs=1e-12 * turned.max())


def test_point_masses(portal):
    bare, frame = portal(), portal(point_masses={"tip": 70.0, "base": 30.0})
    extra = (frame.mass - bare.mass).reshape(-1, 6)
    expected = np.zeros_like(extra)
    expected[frame.nodes("tip"), :3], expected[frame.nodes("base"), :3] = 70.0, 30.0
    assert extra == pytest.approx(expected, abs=1e-10)
    assert frame.total_mass == pytest.approx(bare.total_mass + 100.0, rel=1e-14)
    difference = dense(frame.matrices.mass("consistent")) - dense(bare.matrices.mass("consistent"))
    assert difference == pytest.approx(np.diag(expected.ravel()), abs=1e-10)
    assert dense(frame.matrices.mass("lumped")) == pytest.approx(np.diag(frame.mass), rel=1e-15)


def test_gravity_and_shaking(portal):
    """The forces are those of the lumped masses, point masses included, none at clamped nodes."""
    options = {"point_masses": {"tip": 70.0}, "fixed": ("base",)}
    frame = portal(gravity=(0, 0, -10.0), ground_acceleration=((1.0, 0, 2.0), lambda t: 3.0 * t), **options)
    force, at_rest = np.zeros(frame.size), np.zeros(frame.size)
    frame.external(0.5, at_rest, at_rest, force)
    expected = frame.mass.reshape(-1, 6) * np.array([-1.5, 0.0, -10.0 - 3.0, 0, 0, 0])
    expected[frame.nodes("base")] = 0.0
    assert force.reshape(-1, 6) == pytest.approx(expected, rel=1e-14)


def test_own_weight_of_a_cantilever(cantilever):
    """Gravity bends it as the theory says, ``q L^4 / (8 E I) + q L^2 / (2 k G A)``."""
    frame, _ = cantilever(64, gravity=(0, 0, -10.0))
    q, L = 10.0 * RHO * BOX.area, 2.0
    tip = solve(frame, frame.loads.constant.copy())[frame.nodes("tip")[0]]
    exact = q * L**4 / (8 * E * BOX.Iy) + q * L**2 / (2 * BOX.shear * G * BOX.area)
    assert -tip[2] == pytest.approx(exact, rel=3e-4)


@pytest.mark.mpi
def test_bodies_on_parts_add_up(portal):
    """Masses and stiffness of two frames on parts of one mesh are those of the whole."""
    whole = portal()
    kinds = [BOX, Section.I(0.1, 0.2, 0.01, 0.006), Section.circle(0.15, 0.01)]
    sections = {f"beam {i + 1}": kinds[i % 3] for i in range(5)}
    parts = [
        Frame(whole.named, sections=sections, cells=names, **STEEL)
        for names in (["beam 1", "beam 4"], ["beam 2", "beam 3", "beam 5"])
    ]
    assert sum(part.mass for part in parts) == pytest.approx(whole.mass, rel=1e-13)
    K = sum(dense(part.matrices.stiffness()) for part in parts)
    assert K == pytest.approx(dense(whole.matrices.stiffness()), abs=1e-13 * np.abs(K).max())
    assert whole.part_mass("beam 2") == pytest.approx(parts[1].part_mass(["beam 1", "beam 2"]), rel=1e-14)


# -- frequencies


def timoshenko_frequencies(L, section, second, rotary, count):
    """Bending frequencies of a Timoshenko cantilever [Hz]: roots of its characteristic determinant.

    ``second`` [m4] is what resists bending, ``rotary`` [m4] the second moment of the rotary inertia.
    """
    kGA, A = section.shear * G * section.area, section.area

    def determinant(omega):
        # w' = theta + Q / kGA, theta' = M / EI, M' = -Q - rho I omega^2 theta, Q' = -rho A omega^2 w
        system = np.array(
            [
                [0, 1, 0, 1 / kGA],
                [0, 0, 1 / (E * second), 0],
                [0, -RHO * rotary * omega**2, 0, -1],
                [-RHO * A * omega**2, 0, 0, 0],
            ]
        )
        scale = np.diag([1.0, 1.0, E * second, E * second])
        return np.linalg.det(expm(np.linalg.inv(scale) @ system @ scale * L)[2:, 2:])

    euler = math.sqrt(E * second / (RHO * A)) / L**2
    grid = np.linspace(0.1 * euler, (math.pi * (count + 0.2)) ** 2 * euler, 400)
    values = [determinant(omega) for omega in grid]
    changes = [i for i in range(399) if values[i] * values[i + 1] < 0][:count]
    return np.array([brentq(determinant, grid[i], grid[i + 1]) for i in changes]) / (2 * math.pi)


@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 0.6, 0.8)])
def test_bending_frequencies_of_a_cantilever(cantilever, direction):
    """The first three of both planes against Timoshenko's theory, within 0.2 % at 20 elements.

    The lumped rotary inertia of a skew beam is the largest of the three, that about its axis.
    """
    L, section = 2.0, Section.rectangle(0.03, 0.045)
    skew = np.count_nonzero(direction) > 1
    exact = [
        timoshenko_frequencies(L, section, second, section.Iy + section.Iz if skew else second, 3)
        for second in (section.Iz, section.Iy)
    ]
    euler = np.array([1.8751040687, 4.6940911330, 7.8547574382]) ** 2 / (2 * math.pi * L**2)
    for second, found in zip((section.Iz, section.Iy), exact):
        ratios = found / (euler * math.sqrt(E * second / (RHO * section.area)))
        assert np.all(np.diff(ratios) < 0) and np.all((0.98 < ratios) & (ratios < 1.0))
    frame, _ = cantilever(20, direction, L, section)
    bending = np.sort(np.concatenate(exact))
    assert frame.frequencies(6) == pytest.approx(bending, rel=2e-3)
    assert cantilever(80, direction, L, section)[0].frequencies(6) == pytest.approx(bending, rel=2e-4)


def test_frequencies_are_those_of_the_dense_problem(portal):
    frame = portal(fixed={"base": (0, 1, 2), "tip": (0, 2, 4)}, point_masses={"tip": 50.0})
    free = ~frame.constrained
    K = dense(frame.matrices.stiffness())[np.ix_(free, free)]
    squares = eigh(K, np.diag(frame.mass[free]), eigvals_only=True)
    assert frame.frequencies(20) == pytest.approx(np.sqrt(squares[:20]) / (2 * math.pi), rel=1e-7)
    assert frame.critical_time_step() == pytest.approx(2 / math.sqrt(squares[-1]), rel=1e-6)
    with pytest.raises(ValueError, match="of [0-9]+ free dofs 1 to [0-9]+ frequencies can be asked for"):
        frame.frequencies(frame.owned)
    with pytest.raises(ValueError, match="frequencies can be asked for"):
        frame.frequencies(0)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_free_tube_has_six_rigid_motions_and_pairs_of_frequencies(cantilever, direction):
    """Zeros come out as zeros; the bending frequencies of a circle are the same in both planes."""
    frame, _ = cantilever(16, direction, 4.0, Section.circle(0.1, 0.01), fixed=())
    found = frame.frequencies(12)
    assert np.all(found[:6] == 0.0) and np.all(found[6:] > 1.0)
    # Euler and Bernoulli's free beam is a little stiffer.
    section = Section.circle(0.1, 0.01)
    first = 4.7300407449**2 / (2 * math.pi * 16.0) * math.sqrt(E * section.Iy / (RHO * section.area))
    assert found[6:8] == pytest.approx([first, first], rel=0.02)
    assert found[6:12:2] == pytest.approx(found[7:12:2], rel=1e-6)


def test_inflated_inertia_gains_a_larger_step_at_a_known_cost(cantilever):
    """A slender square beam: its step grows to nearly the time a wave takes through an element."""
    L, section, n = 1.0, Section.rectangle(0.02, 0.02), 10
    physical, _ = cantilever(n, (1, 0, 0), L, section)
    inflated, _ = cantilever(n, (1, 0, 0), L, section, inflated_inertia=True)
    gain = inflated.critical_time_step() / physical.critical_time_step()
    wave = (L / n) / math.sqrt(E / RHO)
    assert 0.9 < inflated.critical_time_step() / wave < 1.0 and 4.0 < gain < 5.5
    for frame in (physical, inflated):
        cost = frame.inflation_cost(6)
        assert cost.step_gain == pytest.approx(gain, rel=1e-6)
        changes = inflated.frequencies(6) / physical.frequencies(6) - 1
        assert cost.frequency_changes == pytest.approx(changes, abs=1e-9)
        assert np.all(changes < 0) and np.all(-changes < [2e-3, 2e-3, 0.013, 0.013, 0.03, 0.03])
    assert inflated.total_mass == physical.total_mass
    least = RHO * section.area * (L / n) ** 2 * section.shear * G / (4 * E)
    assert inflated.mass.reshape(-1, 6)[:, 4].sum() == pytest.approx(least * L, rel=1e-12)
    assert inflated.mass.reshape(-1, 6)[:, 3].sum() == pytest.approx(physical.mass.reshape(-1, 6)[:, 3].sum())


def test_inflation_is_idle_on_fine_meshes(cantilever):
    cost = cantilever(20, (1, 0, 0), 1.0, Section.rectangle(0.2, 0.3), fixed=())[0].inflation_cost(8)
    assert cost.step_gain == 1.0 and np.all(cost.frequency_changes == 0.0)


def test_a_frame_vibrates_freely_with_its_frequency(cantilever):
    """Central differences: after one period of the first mode the frame is back, its energy kept."""
    frame, axes = cantilever(4, (1, 0, 0), 2.0, Section.circle(0.1))
    u0 = 1e-3 * solve(frame, np.where(np.arange(frame.owned) % 6 == 2, 1.0, 0.0))
    free = ~frame.constrained
    K = dense(frame.matrices.stiffness())[np.ix_(free, free)]
    modes = eigh(K, np.diag(frame.mass[free]))[1]
    u = np.zeros(frame.owned)
    u[free] = modes[:, 0] * (modes[:, 0] @ (frame.mass[free] * u0.ravel()[free]))
    period = 1 / frame.frequencies(1)[0]
    steps = math.ceil(period / (0.2 * frame.critical_time_step()))
    scheme = CDLagrange(frame, period / steps)
    scheme.start(u, np.zeros(frame.owned))
    turned = False
    for _ in range(steps):
        scheme.step()
        turned = turned or (scheme.u @ u < -0.99 * (u @ u))
    assert turned
    assert scheme.u == pytest.approx(u, abs=1e-4 * np.abs(u).max())


# -- what is refused


@pytest.mark.mpi
def test_a_distributed_mesh_is_refused():
    if WORLD.size == 1:
        pytest.skip("one rank distributes nothing")
    nodes = np.column_stack([np.linspace(0.0, 1.0, 13), np.zeros((13, 2))])
    cells = np.column_stack([np.arange(12), np.arange(1, 13)])
    domain = ufl.Mesh(basix.ufl.element("Lagrange", "interval", 1, shape=(3,)))
    mine = slice(None) if WORLD.rank == 0 else slice(0)
    line = dmesh.create_mesh(WORLD, cells[mine], x=nodes[mine], e=domain)
    with pytest.raises(ValueError, match="a frame stays whole: its mesh must not be distributed over"):
        Frame(line, sections=BOX, **STEEL)


@pytest.mark.mpi
def test_a_line_in_space_is_read_whole():
    line = mesh.read(mesh.package_mesh("bar.geo"), gdim=3)
    beam = Frame(line, sections={"bar": BOX}, **STEEL)
    assert line.mesh.comm.size == 1 and WORLD.allgather(beam.size) == [6 * 51] * WORLD.size


def test_up_of_each_part():
    """Local axes by part: a tall section bends about the axis that `up` gives it."""
    named = mesh.read(mesh.package_mesh("bar.geo"), gdim=3)
    tall = Section.rectangle(0.01, 0.04)
    sags = []
    for up in ((0.0, 0.0, 1.0), {"bar": (0.0, 1.0, 0.0)}, {}):
        beam = Frame(named, sections=tall, up=up, fixed=("contact",), **STEEL)
        free = np.flatnonzero(~beam.constrained)
        load = beam.inertia((0.0, 0.0, -1.0))[free]
        u = np.linalg.solve(beam.stiffness.scipy()[free][:, free].toarray(), load)
        sags.append(np.abs(u).max())
    # The slender beam is softer by Iy / Iz = 16, its shear by nothing.
    assert sags[1] / sags[0] == pytest.approx(16, rel=0.02) and sags[2] == sags[0]
    with pytest.raises(ValueError, match="no cells are named 'columns'"):
        Frame(named, sections=tall, up={"columns": (1.0, 0.0, 0.0)}, **STEEL)


@pytest.mark.mpi
def test_other_meshes_are_refused():
    alone = MPI.COMM_SELF
    for bad in (dmesh.create_interval(alone, 2, [0.0, 1.0]), dmesh.create_unit_square(alone, 1, 1)):
        with pytest.raises(ValueError, match="a Frame is made of lines in space, but its cells have dim"):
            Frame(bad, sections=BOX, **STEEL)


def test_curved_cells_are_refused(tmp_path):
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.model.geo.addPoint(0, 0, 0), gmsh.model.geo.addPoint(1, 0, 0)
    gmsh.model.geo.addLine(1, 2)
    gmsh.model.geo.synchronize()
    gmsh.model.addPhysicalGroup(1, [1], name="beam")
    gmsh.model.mesh.generate(1)
    gmsh.model.mesh.setOrder(2)
    named = mesh.read(gmsh.model)
    gmsh.finalize()
    with pytest.raises(ValueError, match="a Frame is made of straight beams: its mesh must have two"):
        Frame(named, sections=BOX, **STEEL)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"density": 0.0}, "density must be positive, but is 0.0"),
        ({"E": math.inf}, "E must be positive, but is inf"),
        ({"nu": 0.5}, r"Poisson's ratio nu must lie in \(-1, 0.5\), but is 0.5"),
        ({"nu": None}, "a Frame takes either nu or G"),
        ({"G": 8e10}, "a Frame takes either nu or G"),
        ({"nu": None, "G": -1.0}, "G must be positive, but is -1.0"),
        ({"up": (0, 1)}, "up must be 3 numbers"),
        ({"up": (1.0, 0.2, 1.0)}, r"the beam from \[.*\] to \[.*\] is parallel to up = .*: give another up"),
        ({"up": (0.0, 0.0, 0.0)}, "give another up"),
        ({"sections": {"beam 1": BOX}}, r"12 cells have no section; .*: \['beam 2', 'beam 3', 'beam"),
        ({"sections": {"beam 9": BOX}}, "no cells are named 'beam 9' in the mesh"),
        ({"sections": {"beam 1": 0.1}}, "sections holds one Section for each part, not 0.1"),
        ({"point_masses": {"tip": -1.0}}, r"point_masses\['tip'\] must be positive, but is -1.0"),
        ({"point_masses": {"top": 1.0}}, "no facets are named 'top'"),
        ({"point_masses": {"tip": 1.0}, "cells": "beam 1", "fixed": ()}, "no node of the frame is there"),
        ({"fixed": {"base": (6,)}}, r"fixed\['base'\]: directions are 0 to 5, not 6"),
        ({"gravity": (1.0, 2.0)}, "gravity must be 3 numbers"),
    ],
)
def test_bad_input_is_refused(shared_path, options, message):
    points = [(0, 0, 0), (2, -0.5, 0.1), (1, 0.2, 1), (1.2, 1.5, 0.8), (-0.3, 0.9, 1.1)]
    points = [tuple(map(float, p)) for p in points]
    named = read_lines(shared_path, points, [(1, 3), (3, 2), (3, 4), (3, 5), (4, 5)], 3)
    with pytest.raises(ValueError, match=message):
        Frame(named, **{**STEEL, "sections": BOX, "fixed": ("base",), **options})


def test_cells_without_names_may_lack_sections_too(shared_path):
    named = read_lines(shared_path, [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], [(1, 2)], 3)
    with pytest.raises(ValueError, match="3 cells have no section; their parts: nameless"):
        Frame(NamedMesh(named.mesh, None, None, {}), sections={}, **STEEL)
    assert Frame(named.mesh, sections=BOX, **STEEL).total_mass == pytest.approx(RHO * BOX.area)


@pytest.mark.mpi
def test_every_rank_has_the_same_frame(portal):
    """On several ranks each computes the whole, and they agree to the last digit."""
    frame = portal(fixed=("base",))
    assert frame.comm.size == 1
    found = [frame.mass, frame.frequencies(5), frame.critical_time_step()]
    for other in WORLD.allgather(found):
        assert all(np.array_equal(a, b) for a, b in zip(other, found))

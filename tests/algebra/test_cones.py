"""Normal and frictional impulses together: Coulomb's law, enumeration, and the implicit schemes."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact import NotConverged, complementarity
from dolfinx_impact.algebra import coulomb

seeds = st.integers(0, 2**32 - 1)
coefficients = st.one_of(st.just(0.0), st.floats(1e-3, 1.5))


def random_problem(seed, p, d, scale=1.0):
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(p * d, p * d + 2))
    return scale * (G @ G.T + 0.3 * np.eye(p * d)), rng.normal(size=p * d)


@examples(37)
@given(
    seed=seeds,
    p=st.integers(1, 5),
    d=st.sampled_from([2, 3]),
    mu=coefficients,
    scale=st.sampled_from([1e-9, 1.0, 1e7]),
)
def test_coulomb_s_law_holds_at_every_point(seed, p, d, mu, scale):
    H, b = random_problem(seed, p, d, scale)
    r = coulomb.solve(H, b, mu, d)
    assert coulomb.residual(H, b, r, mu, d) < 1e-13
    w, impulses = (H @ r + b).reshape(p, d), r.reshape(p, d) * scale
    r_n, r_t, w_n, w_t = impulses[:, 0], impulses[:, 1:], w[:, 0], w[:, 1:]
    assert np.all(r_n >= 0) and np.all(w_n > -1e-11) and np.all(np.minimum(r_n, w_n) < 1e-11)
    size, slip = np.linalg.norm(r_t, axis=1), np.linalg.norm(w_t, axis=1)
    assert np.all(size <= mu * r_n + 1e-11)
    slides = slip > 1e-10
    assert size[slides] == pytest.approx(mu * r_n[slides], abs=1e-10)
    # Rubbing goes straight against the slip, and so takes energy.
    along = np.sum(r_t * w_t, axis=1)
    assert along == pytest.approx(-size * slip, abs=1e-10) and np.all(along < 1e-11)


@examples(10)
@given(seed=seeds, p=st.integers(1, 5), d=st.sampled_from([1, 2, 3]))
def test_without_friction_it_is_the_complementarity_problem(seed, p, d):
    H, b = random_problem(seed, p, d)
    r = coulomb.solve(H, b, 0.0, d).reshape(p, d)
    assert r[:, 0] == pytest.approx(complementarity.solve(H[::d, ::d], b[::d]), abs=1e-13)
    assert not r[:, 1:].any()
    # A coefficient that goes to zero leads there.
    assert coulomb.solve(H, b, 1e-12, d) == pytest.approx(r.ravel(), abs=1e-9)


def enumerate_states(H, b, mu):
    """All solutions in 2D: every point open, sticking, or sliding one way or the other."""
    p, found = b.size // 2, []
    for states in itertools.product(("open", "stick", mu, -mu), repeat=p):
        A, rhs = np.zeros_like(H), np.zeros_like(b)
        for k, state in enumerate(states):
            n, t = 2 * k, 2 * k + 1
            A[n], rhs[n] = (np.eye(b.size)[n], 0.0) if state == "open" else (H[n], -b[n])
            if state == "open":
                A[t, t] = 1.0
            elif state == "stick":
                A[t], rhs[t] = H[t], -b[t]
            else:
                A[t, t], A[t, n] = 1.0, -state
        if np.linalg.cond(A) < 1e12:
            r = np.linalg.solve(A, rhs)
            if coulomb.residual(H, b, r, mu, 2) < 1e-11:
                found.append(r)
    return found


@examples(20)
@given(seed=seeds, p=st.integers(1, 3), mu=st.floats(1e-3, 1.5))
def test_agrees_with_the_enumeration_of_all_states(seed, p, mu):
    H, b = random_problem(seed, p, 2)
    r, solutions = coulomb.solve(H, b, mu, 2), enumerate_states(H, b, mu)
    assert solutions
    assert min(np.abs(r - other).max() for other in solutions) < 1e-10


@given(seed=seeds, mu=st.floats(0.01, 2.0))
def test_a_free_mass_in_space_is_stopped_by_projection(seed, mu):
    """H = 1/m: the impulse that stops the slip, cut off at mu r, Di Stasio et al., Algorithm 2."""
    b = np.random.default_rng(seed).normal(size=3)
    r_n, stop = max(0.0, -2.0 * b[0]), -2.0 * b[1:]
    stop *= min(1.0, mu * r_n / np.linalg.norm(stop))
    assert coulomb.solve(0.5 * np.eye(3), b, mu, 3) == pytest.approx([r_n, *stop], abs=1e-14)


@given(seed=seeds, p=st.integers(1, 4), mu=st.floats(0.01, 0.3), angle=st.floats(0.0, 6.3))
def test_the_choice_of_tangents_does_not_matter(seed, p, mu, angle):
    H, b = random_problem(seed, p, 3)
    H += 20 * np.eye(3 * p)  # one solution only
    turn = np.eye(3)
    turn[1:, 1:] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    Q = np.kron(np.eye(p), turn)
    turned = coulomb.solve(Q @ H @ Q.T, Q @ b, mu, 3)
    assert turned == pytest.approx(Q @ coulomb.solve(H, b, mu, 3), abs=1e-12)


def test_two_walls_on_one_node():
    """More impulses than dofs: H is singular, the velocity is unique."""
    L = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [-1.0, 0.0]])
    H, v = L @ L.T, np.array([-1.0, -2.0])
    r = coulomb.solve(H, L @ v, 0.3, 2)
    assert L @ (v + L.T @ r) == pytest.approx(0.0, abs=1e-12)


@given(seed=seeds, d=st.sampled_from([2, 3]), nearly=st.sampled_from([0.0, 1e-8, 1.0]))
def test_tangents_complete_the_normal(seed, d, nearly):
    rng = np.random.default_rng(seed)
    n = nearly * rng.normal(size=(4, d)) - np.eye(d)[-1]
    n /= np.linalg.norm(n, axis=1)[:, None]
    bases = np.concatenate([n[:, None], coulomb.tangents(n)], axis=1)
    assert bases @ bases.transpose(0, 2, 1) == pytest.approx(np.broadcast_to(np.eye(d), (4, d, d)), abs=1e-14)


def test_no_answer_is_said():
    H = np.array([[1.0, 0.0, 3.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-3.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    with pytest.raises(NotConverged, match="2 points was not solved: residual .* above -1"):
        coulomb.solve(H, -np.ones(4), 0.2, 2, tolerance=-1.0)
    with pytest.raises(NotConverged, match="not finite"):
        coulomb.solve(H, np.full(4, np.nan), 0.2, 2)
    assert coulomb.solve(np.zeros((0, 0)), np.zeros(0), 0.2, 2).size == 0


def sliding(system, scheme=di.MoreauJean, mu=0.3, e=0.4):
    dimension = system.size
    floor = di.ObstacleContact(
        system,
        [range(dimension)],
        di.Plane([-0.05] + [0] * (dimension - 1), np.eye(dimension)[0]),
        restitution=e,
        friction=mu,
    )
    integrator = scheme(system, 0.05, 0.6, floor)
    integrator.start([0.1] + [0.0] * (dimension - 1), [-1.0, 2.0, 0.7][:dimension])
    return di.simulate(integrator, t_end=3.0, progress=False)


@pytest.mark.parametrize("dimension", [2, 3])
def test_newton_and_the_factorised_step_rub_alike(dimension):
    """A linear system given by its stiffness, and by a callable of the same force."""
    A = np.array([[40.0, -15.0, 3.0], [-15.0, 20.0, 1.0], [3.0, 1.0, 9.0]])[:dimension, :dimension]
    masses = [1.0, 3.0, 2.0][:dimension]
    runs = [
        sliding(di.PointMasses(masses, stiffness=A)),
        sliding(di.PointMasses(masses, internal=lambda t, u, v, out: np.copyto(out, A @ u))),
    ]
    for run in runs:
        assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]
        size = np.linalg.norm(run["r_t"][:, 0], axis=1)
        assert np.all(size <= 0.3 * run["r"][:, 0] + 1e-14) and np.any(size > 0.01)
        work = np.sum(run["r_t"][:, 0] * run["v"], axis=1)
        assert np.all(work <= 1e-14) and np.any(work < -1e-3)
    for key in ("u", "v", "r", "r_t", "contact", "dissipated"):
        assert runs[0][key] == pytest.approx(runs[1][key], abs=1e-11)


@pytest.mark.parametrize("linear", [True, False])
def test_the_decoupled_step_rubs_like_a_free_mass(linear):
    """Without springs nothing couples: both variants and the law by hand are the same."""
    forces = {} if linear else {"internal": lambda t, u, v, out: out.fill(0.0)}
    coupled, decoupled = (
        sliding(di.PointMasses([2.0, 2.0], **forces), scheme)
        for scheme in (di.MoreauJean, di.MoreauJeanDecoupled)
    )
    assert coupled["v"][-1] == pytest.approx([0.4, 2.0 - 0.3 * 1.4], abs=1e-13)
    assert decoupled["v"][-1] == pytest.approx(coupled["v"][-1], abs=1e-13)
    assert decoupled["r_t"].sum(axis=(0, 1)) == pytest.approx([0.0, -2.0 * 0.3 * 1.4], abs=1e-13)


def test_held_points_do_not_rub():
    system = di.PointMasses([1.0, 1.0], fixed=[1])
    floor = di.ObstacleContact(system, [[0, 1]], di.Plane((0.0, 0.0), (1.0, 0.0)), friction=0.1)
    with pytest.raises(ValueError, match="friction acts on points with dofs that are constrained"):
        di.MoreauJean(system, 0.1, contact=floor)


def with_held_tangent(d, seed, tilt):
    """H and b of two points, one of which has a tangential row that is a multiple of its normal one."""
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((2 * d, 2 * d))
    J[1] = -tilt * J[0]
    return J @ J.T, J @ rng.standard_normal(2 * d)


@pytest.mark.parametrize("d", [2, 3])
@examples(12)
@given(seed=st.integers(0, 10**6), tilt=st.floats(1e-7, 0.3), mu=st.floats(0.05, 1.0))
def test_a_tangent_along_a_held_direction_where_the_normal_tilts(d, seed, tilt, mu):
    """Nodes at an axis under a deformed surface: their motion along the axis alone is in both rows."""
    H, b = with_held_tangent(d, seed, tilt)
    r = coulomb.solve(H, b, mu, d)
    assert coulomb.residual(H, b, r, mu, d) < 1e-10


@pytest.mark.parametrize(
    "seed, tilt, mu", [(330, 1.0, 1.0), (554, 1e-3, 0.3), (1069, 1e-3, 1.0), (820, 0.1, 0.3)]
)
def test_a_point_with_a_held_tangent_that_has_no_solution_alone(seed, tilt, mu):
    """Sweeps from point to point settle at no solution, while the whole problem has one."""
    H, b = with_held_tangent(3, seed, tilt)
    r = coulomb.solve(H, b, mu, 3)
    assert coulomb.residual(H, b, r, mu, 3) < 1e-14


def test_two_faces_of_one_node_that_hardly_slip():
    """A rebound in a corner: the slip is so slow that its direction is hard to tell (H has rank 3 of 6)."""
    frames = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, 0], [1, 0, 0], [0, 0, 1]], dtype=float)
    H = 95.22550507941783 * frames @ frames.T
    b = np.array(
        [
            -2.563302696741642,
            2.9122481271746303,
            0.29989073591960097,
            -2.9180634120631344,
            -2.563302696741642,
            0.29989073591960097,
        ]
    )
    r = coulomb.solve(H, b, 0.3, 3)
    assert coulomb.residual(H, b, r, 0.3, 3) < 1e-14
    w = (H @ r + b).reshape(2, 3)
    assert r.reshape(2, 3)[:, 0].min() > 0 and np.abs(w[:, 0]).max() < 1e-13


def test_a_node_between_two_walls_that_hardly_rebounds():
    """Restitution of a node that is nearly at rest: no wall can hold it, so it slips at both."""
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [8.4443445600150675e-6, 1.0], [-1.0, 8.4443445600150675e-6]])
    H = rows @ rows.T
    b = np.array([-1.1209274359842447, -2.7356594951265016, -2.7356689631292537, 1.120904339464263])
    r = coulomb.solve(H, b, 0.1, 2)
    assert coulomb.residual(H, b, r, 0.1, 2) < 1e-14
    w = H @ r + b
    assert np.abs(w[::2]).max() < 1e-14
    assert r[1::2] == pytest.approx(-0.1 * r[::2] * np.sign(w[1::2]), abs=1e-14)


def in_corner(seed, faces, e, *, box=False):
    """A node of one or three masses that hits some faces, and may rest on others: H and b."""
    rng = np.random.default_rng(seed)
    n = np.eye(3)[:faces]
    while not box:
        n = rng.normal(size=(faces, 3))
        n /= np.linalg.norm(n, axis=1)[:, None]
        if np.all(n @ n.sum(axis=0) > 0.3):
            break
    rows = np.concatenate([n[:, None], coulomb.tangents(n)], axis=1).reshape(-1, 3)
    inverse = rng.uniform(0.1, 10.0) * (np.ones(3) if seed % 2 else rng.uniform(0.1, 1.0, size=3))
    speeds = -rng.random(faces) * (rng.random(faces) < 0.7)  # 0 at faces that it slides along
    v = np.linalg.lstsq(n, speeds, rcond=None)[0]
    if faces == 2:
        v += rng.normal() * np.cross(n[0], n[1])
    b = rows @ (v + 1e-3 * rng.normal(size=3))
    b[::3] += e * speeds
    return rows * inverse @ rows.T, b


@pytest.mark.parametrize("mu, e", [(0.3, 0.0), (1.0, 0.0), (1000.0, 0.0), (0.3, 0.5), (0.3, 1.0)])
@pytest.mark.parametrize("faces", [2, 3])
def test_a_node_in_the_corner_of_a_box(faces, mu, e):
    """With restitution H has rank 3 and w is not in its range: found in milliseconds, to round-off."""
    begun = time.process_time()
    for seed in range(30):
        H, b = in_corner(seed, faces, e, box=True)
        r = coulomb.solve(H, b, mu, 3)
        assert coulomb.residual(H, b, r, mu, 3) < 1e-11
    assert time.process_time() - begun < 30 * 0.02


@pytest.mark.parametrize("faces", [2, 3])
def test_a_corner_without_any_solution_is_refused_at_once(faces):
    """Faces that turn the node back at once, and friction that would not let it go from the other face."""
    begun, refused = time.process_time(), 0
    for seed in range(20):
        H, b = in_corner(seed, faces, 0.5)
        try:
            r = coulomb.solve(H, b, 3.0, 3)
        except NotConverged as error:
            refused += "there may be no solution: lower friction or restitution" in str(error)
        else:
            assert coulomb.residual(H, b, r, 3.0, 3) < 1e-11
    assert refused > 2
    assert time.process_time() - begun < 20 * 0.05


def test_between_parallel_walls_and_on_a_floor():
    """Normals that are not independent: both walls hold the node, which slides along the floor."""
    n = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    rows = np.concatenate([n[:, None], coulomb.tangents(n)], axis=1).reshape(-1, 3)
    r = coulomb.solve(rows @ rows.T, rows @ np.array([0.0, 1.0, -2.0]), 0.3, 3)
    assert [0.0, 1.0, -2.0] + r @ rows == pytest.approx([0.0, 1.0 - 0.6, 0.0], abs=1e-10)


def test_much_friction_at_five_points():
    """Strong coupling of normal and tangential impulses: sweeps go round in circles."""
    H, b = random_problem(101, 5, 3)
    begun = time.process_time()
    r = coulomb.solve(H, b, 10.0, 3)
    assert coulomb.residual(H, b, r, 10.0, 3) < 1e-13
    assert time.process_time() - begun < 0.5


@pytest.mark.parametrize("seed", [4964, 6813, 2897])
def test_problems_of_a_few_points_that_take_several_turns(seed):
    """Matrices of low rank, which Gauss-Seidel with Newton's method does not solve in its first turn."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    A = rng.normal(size=(n * d, int(rng.integers(d, n * d + 1))))
    H = A @ A.T + (1e-3 * np.eye(n * d) if rng.random() < 0.5 else 0.0)
    b, mu = A @ (3 * rng.normal(size=A.shape[1])), rng.uniform(0.1, 3.0, n)
    r = coulomb.solve(H, b, mu, d)
    assert coulomb.residual(H, b, r, mu, d) <= 1e-12
    assert r.max() > 0

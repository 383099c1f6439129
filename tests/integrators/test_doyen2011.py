"""The discretizations of Doyen, Ern and Piperno: balances, identities, references, many nodes, bad input."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support import cases

import dolfinx_impact as di
from dolfinx_impact import SCHEMES
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.integrators.impulses.penalty import EnergyConservingPenalty

DEP = [name for name, scheme in SCHEMES.items() if name.startswith("dep-") and scheme.contact_level != "none"]
#: They amplify the rounding of the gap.
ROUGH = {"dep-4.1"}
#: Steps that explicit penalty bears [s].
EXPLICIT = {"dep-5.3": 0.0025}
#: Without a balance of their own.
OPEN = {"dep-4.3", "dep-4.6"}


def test_all_eighteen_are_there():
    numbers = [name for name in SCHEMES if name.startswith("dep-")]
    sections = {2: 3, 4: 8, 5: 3, 6: 2, 7: 2}
    assert numbers == [f"dep-{s}.{i}" for s, count in sections.items() for i in range(1, count + 1)]


@functools.cache
def bounces(scheme, **changes):
    """A coarse bar that falls on the ground and leaves it, in steps at one of which it arrives."""
    h = EXPLICIT.get(scheme, 0.02)
    return cases.run("signorini-bounces", scheme, **{"elements": 10, "h": h, "t_end": 2.0, **changes})


@pytest.mark.parametrize("scheme", DEP)
def test_balances_close_at_every_step(scheme):
    _, result, results, _ = bounces(scheme)
    assert result.balance == (scheme not in OPEN)
    if result.balance:
        assert results["balance_residual"] < (1e-12 if SCHEMES[scheme].explicit else 1e-11)
    scale = max(result["internal"].max(), result["kinetic"].max())
    np.testing.assert_allclose(
        result["internal_work"], result["internal"] - result["internal"][0], rtol=0, atol=1e-11 * scale
    )
    assert result["r"].max() > 0


@pytest.mark.parametrize("scheme", [n for n in DEP if SCHEMES[n].contact_level == "position"])
def test_position_level_is_complementary(scheme):
    result = bounces(scheme).result
    r, gap = result["r"][:, 0], result["gap"][:, 0]
    # The impulse of central differences at t_n closes the gap of t_{n+1}; that of 7.2 that of t_n.
    late = 1 if SCHEMES[scheme].explicit and scheme != "dep-7.2" else 0
    assert r.min() >= 0 and gap.min() > -1e-12
    assert np.abs(gap[late:][r[: len(r) - late] > 1e-9 * r.max()]).max() < 1e-12


IDENTITIES = [
    ("dep-4.4", {}, "dep-4.5", {}),
    ("dep-4.7", {}, "dep-4.8", {}),
    ("dep-4.7", {}, "carpenter", {}),
    ("dep-4.7", {}, "paoli-schatzman", {}),
    ("dep-4.1", {}, "carpenter-implicit", {}),
    (
        "dep-6.1",
        {},
        "moreau-jean",
        {"theta": 0.5, "restitution": 1.0, "forecast": 0.0, "touching": False, "gap_tolerance": 1e-9},
    ),
    ("dep-6.2", {}, "cd-lagrange", {"restitution": 0.0, "touching": False, "gap_tolerance": 1e-9}),
    ("dep-4.2", {"theta": 0.5}, "dep-4.4", {}),
]


@pytest.mark.parametrize("one, settings, other, others", IDENTITIES)
def test_identities(one, settings, other, others):
    """Two impacts under the weight."""
    t_end = 2.0 if {one, other} & ROUGH else 4.5
    a, b = (bounces(name, t_end=t_end, **given).result for name, given in ((one, settings), (other, others)))
    assert a["r"].max() > 0 and np.abs(a["u"] - b["u"]).max() < 1e-9
    assert np.abs(a["r"] - b["r"]).max() < 1e-6 * a["r"].max()


@pytest.mark.parametrize("scheme", [name for name in DEP if name not in ROUGH])
def test_a_touch_of_rounding_changes_nothing(scheme):
    """A gap that closes just before or after the end of a step."""
    numbers = []
    for shift in (-1e-11, 1e-11):
        coarse = {"elements": 10, "h": EXPLICIT.get(scheme, 0.025), "t_end": 1.5}
        results = cases.run("signorini-impact", scheme, h0=5.0 + shift, **coarse).results
        numbers.append({k: v for k, v in results.items() if isinstance(v, float) and k != "balance_residual"})
    assert numbers[0]["contact_end"] > 1.1 and len(numbers[0]) > 8
    for name, value in numbers[0].items():
        assert numbers[1][name] == pytest.approx(value, rel=1e-6, abs=1e-6), name


# -- an independent dense reference


def dense_bar(n=10, E=900.0, length=10.0, g=10.0):
    l = length / n  # noqa: E741
    K, M, lumped = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1)), np.zeros(n + 1)
    for i in range(n):
        at = np.ix_([i, i + 1], [i, i + 1])
        K[at] += E / l * np.array([[1, -1], [-1, 1]])
        M[at] += l / 6 * np.array([[2, 1], [1, 2]])
        lumped[i : i + 2] += l / 2
    return M, np.diag(lumped), K, -g * lumped


def reference_hht(steps, h, alpha, penalty=0.0, massless=False):
    M, _, K, F = dense_bar()
    if massless:
        M = M.copy()
        M[0, :] = M[:, 0] = 0.0
    beta, gamma = (1 - alpha) ** 2 / 4, 0.5 - alpha
    A = M + (1 + alpha) * beta * h**2 * K
    u, v, a = np.full(11, 5.0), np.zeros(11), np.zeros(11)
    if massless:
        u[0] = (F[0] - K[0, 1:] @ u[1:]) / K[0, 0]
        a[1:] = np.linalg.solve(M[1:, 1:], (F - K @ u)[1:])
    else:
        a = np.linalg.solve(M, F - K @ u)
    found = []
    for _ in range(steps):
        up = u + h * v + h**2 * (0.5 - beta) * a
        column = np.linalg.solve(A, np.eye(11)[0])
        a_free = np.linalg.solve(A, F - K @ ((1 + alpha) * up - alpha * u))
        D = beta * h**2 * column[0] + penalty
        r = max(0.0, -(up[0] + beta * h**2 * a_free[0]) / D)
        new = a_free + column * r
        u = up + beta * h**2 * new
        v = v + h * ((1 - gamma) * a + gamma * new)
        a = new
        found.append((u[0], h * r))
    return np.array(found)


def reference_semi_explicit(steps, h):
    _, M, K, F = dense_bar()
    m, k = np.diag(M)[1:], K[1:, 1:]

    def settle(w):
        load = F[0] - K[0, 1:] @ w
        r = max(0.0, -load)  # the contact dof alone: K_cc u_c = load + r >= 0
        return (load + r) / K[0, 0], r

    w = np.full(10, 5.0)
    c, r = settle(w)
    v = h / 2 * (F[1:] - k @ w - K[1:, 0] * c) / m
    found = []
    for _ in range(steps):
        w = w + h * v
        c, r = settle(w)
        v = v + h * (F[1:] - k @ w - K[1:, 0] * c) / m
        found.append((c, h * r))
    return np.array(found)


def reference_conserving_penalty(steps, h, eps):
    from scipy.optimize import brentq

    M, _, K, F = dense_bar()
    A = M + h**2 / 4 * K
    u, v = np.full(11, 5.0), np.zeros(11)
    column = np.linalg.solve(A, np.eye(11)[0])

    def V(g):
        return min(g, 0.0) ** 2 / (2 * eps)

    found = []
    for _ in range(steps):
        free = v + np.linalg.solve(A, h * (F - K @ (u + h / 2 * v)))
        f, D = u[0] + h / 2 * (v[0] + free[0]), h**2 / 2 * column[0]

        def miss(x, f=f, D=D, g=u[0]):
            mean = -(V(x) - V(g)) / (x - g) if abs(x - g) > 1e-14 else max(-g, 0) / eps
            return x - f - D * mean

        x = brentq(miss, f - 1.0, max(f, u[0]) + 10.0, xtol=1e-15)
        R = (x - f) / D
        after = free + h * R * column
        u, v = u + h / 2 * (v + after), after
        found.append((u[0], h * R))
    return np.array(found)


def reference_theta(steps, h, theta):
    M, _, K, F = dense_bar()
    A = M + theta**2 * h**2 * K
    column = np.linalg.solve(A, np.eye(11)[0])
    u, v, found = np.full(11, 5.0), np.zeros(11), []
    for _ in range(steps):
        free = v + np.linalg.solve(A, h * (F - K @ (u + theta * h * v)))
        r = max(0.0, -(u + h * (theta * free + (1 - theta) * v))[0] / (theta * h * column[0]))
        after = free + column * r
        u, v = u + h * (theta * after + (1 - theta) * v), after
        found.append((u[0], r))
    return np.array(found)


def reference_dissipative(steps, h, projected):
    """4.5 with the consistent mass, 4.6 with the lumped one: accelerations apart from the reaction's."""
    M, lumped, K, F = dense_bar()
    inverse = np.linalg.inv(lumped if projected else M)
    u, v, e, found = np.full(11, 5.0), np.zeros(11), np.eye(11)[0], []
    a = inverse @ (F - K @ u)
    A = np.eye(11) + h**2 / 4 * inverse @ K
    column = np.linalg.solve(A, h**2 / 2 * inverse @ e)
    for _ in range(steps):
        p = u + h * v
        if projected:
            p = p + inverse @ e * max(0.0, -p[0] / inverse[0, 0])
        free = np.linalg.solve(A, p + h**2 / 4 * (a + inverse @ F))
        force = max(0.0, -free[0] / column[0])
        u = free + column * force
        after = inverse @ (F - K @ u)
        v, a = v + h * ((a + after) / 2 + inverse @ e * force), after
        found.append((u[0], h * force))
    return np.array(found)


def reference_reset(steps, h):
    M, _, K, F = dense_bar()
    A = M + h**2 / 4 * K
    column = np.linalg.solve(A, np.eye(11)[0])
    u, v, found = np.full(11, 5.0), np.zeros(11), []
    a = np.linalg.solve(M, F - K @ u)
    for _ in range(steps):
        up = u + h * v + h**2 / 4 * a
        free = np.linalg.solve(A, F - K @ up)
        force = max(0.0, -(up[0] + h**2 / 4 * free[0]) / (h**2 / 4 * column[0]))
        after = free + column * force
        u, v, a = up + h**2 / 4 * after, v + h / 2 * (a + after), after
        if force > 1e-4:
            v[0] = a[0] = 0.0
        found.append((u[0], h * force))
    return np.array(found)


REFERENCES = [
    ("dep-4.2", {}, lambda n: reference_theta(n, 0.02, 0.6)),
    ("dep-4.2", {"theta": 1.0}, lambda n: reference_theta(n, 0.02, 1.0)),
    ("dep-4.3", {}, lambda n: reference_reset(n, 0.02)),
    ("dep-4.4", {}, lambda n: reference_theta(n, 0.02, 0.5)),
    ("dep-4.5", {}, lambda n: reference_dissipative(n, 0.02, False)),
    ("dep-4.6", {}, lambda n: reference_dissipative(n, 0.02, True)),
    ("dep-4.1", {"t_end": 1.1}, lambda n: reference_hht(n, 0.02, 0.0)),
    ("dep-4.1", {"alpha": -0.2}, lambda n: reference_hht(n, 0.02, -0.2)),
    ("dep-5.1", {"eps": 1e-3}, lambda n: reference_hht(n, 0.02, 0.0, penalty=1e-3)),
    ("dep-7.1", {}, lambda n: reference_hht(n, 0.02, 0.0, massless=True)),
    ("dep-7.1", {"alpha": -0.1}, lambda n: reference_hht(n, 0.02, -0.1, massless=True)),
    ("dep-7.2", {}, lambda n: reference_semi_explicit(n, 0.02)),
    ("dep-5.2", {"eps": 1e-3}, lambda n: reference_conserving_penalty(n, 0.02, 1e-3)),
]


@pytest.mark.parametrize("scheme, settings, reference", REFERENCES)
def test_dense_reference(scheme, settings, reference):
    result = bounces(scheme, **settings).result
    true = reference(len(result["t"]) - 1)
    assert true[:, 1].max() > 0
    np.testing.assert_allclose(result["u"][1:, 0], true[:, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(result["r"][1:, 0], true[:, 1], rtol=0, atol=1e-7 * true[:, 1].max())


# -- many nodes in two dimensions


@functools.cache
def block(angle, scheme, steps=100, **settings):
    """A block of 12 x 6 elements, turned by an angle, dropped onto the ground."""
    square = dmesh.create_rectangle(MPI.COMM_WORLD, [[0, 0], [2, 1]], [12, 6], dmesh.CellType.quadrilateral)
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    square.geometry.x[:, :2] = square.geometry.x[:, :2] @ np.array([[c, s], [-s, c]])
    tdim = square.topology.dim
    square.topology.create_connectivity(tdim - 1, tdim)
    bottom = dmesh.locate_entities_boundary(
        square, tdim - 1, lambda x: np.isclose(-s * x[0] + c * x[1], 0.0, atol=1e-9)
    )
    tags = dmesh.meshtags(square, tdim - 1, np.sort(bottom), np.ones(len(bottom), dtype=np.int32))
    named = di.NamedMesh(square, None, tags, {"bottom": (1, 1)})
    body = di.Solid(named, density=1.0, law=di.LinearElastic(900.0, 0.3))
    ground = di.RigidContact(
        body,
        "bottom",
        di.Plane((0.0, -0.01), (0.0, 1.0)),
        restitution=1.0 if scheme == "dep-6.1" else 0.0,
        touching=scheme != "dep-6.1",
        gap_tolerance=1e-9,
    )
    h = 0.5 * body.critical_time_step()
    values = {**{n: o.default for n, o in SCHEMES[scheme].options.items()}, **settings}
    integrator = SCHEMES[scheme].bind(body, h, ground, values)
    v0 = np.zeros(body.size)
    v0[1::2] = -1.0
    integrator.start(0.0, v0)
    return di.simulate(integrator, t_end=steps * h, progress=False)


BLOCKS = [
    "dep-4.1",
    "dep-4.4",
    "dep-4.6",
    "dep-4.7",
    "dep-5.2",
    "dep-6.1",
    "dep-7.1",
    "dep-7.2",
    "moreau-jean",
]


@pytest.mark.parametrize(
    "scheme, angle",
    [(each, 5.0) for each in BLOCKS] + [(each, 0.0) for each in ("dep-4.1", "dep-7.1", "dep-7.2")],
)
def test_a_block_lands(scheme, angle):
    result = block(angle, scheme)
    had = result["kinetic"][0]
    assert result["r"].max() > 0
    if scheme not in OPEN:
        assert np.abs(result["residual"]).max() < 1e-10 * had
    if SCHEMES[scheme].contact_level == "position":
        assert result["gap"].min() > -1e-11 and result["r"].min() >= 0
        late = 1 if SCHEMES[scheme].explicit and scheme != "dep-7.2" else 0
        r, gap = result["r"][: len(result["r"]) - late], result["gap"][late:]
        assert np.abs(r * gap).max() < 1e-9 * r.max() * 0.01
    if scheme in ("dep-4.4", "dep-4.6", "dep-4.7"):
        energy = result["kinetic"] + result["internal"] + result["complementary"]
        assert energy.max() < had * (1 + 1e-3)
    assert np.isfinite(result["u"]).all()


def pressure_ripple(result):
    """Mean second difference of the nodes' impulses over their mean, while the block touches."""
    r = result["r"]
    touching = np.flatnonzero(r.sum(axis=1) > 0)
    inside = r[touching[0] + 3 : touching[-1] - 3]
    return np.abs(np.diff(inside, 2, axis=0)).mean() / inside.mean()


@pytest.mark.parametrize("angle", [0.0, 5.0])
def test_modified_mass_keeps_its_promise(angle):
    """Hardly any energy lost or gained, and no oscillation of the pressure, in two dimensions too."""
    drift, ripple = {}, {}
    for scheme in ("cd-lagrange", "dep-4.1", "dep-7.1", "dep-7.2"):
        result = block(angle, scheme)
        energy = result["kinetic"] + result["internal"] + result["complementary"]
        drift[scheme], ripple[scheme] = abs(energy[-1] / energy[0] - 1), pressure_ripple(result)
    for scheme in ("dep-7.1", "dep-7.2"):
        assert drift[scheme] < 0.1 * drift["cd-lagrange"]
        assert ripple[scheme] < ripple["cd-lagrange"] and ripple[scheme] < 0.02 * ripple["dep-4.1"]


@pytest.mark.mpi
@pytest.mark.parametrize("scheme", ["dep-4.1", "dep-4.6", "dep-5.2", "dep-7.1", "dep-7.2", "moreau-jean"])
def test_blocks_agree_on_ranks(scheme, as_on_one_rank):
    run = block(5.0, scheme)
    names = ("u", "gap", "r", "kinetic", "contact")
    one = as_on_one_rank({name: run[name] for name in names})
    for name in names:
        scale = np.abs(one["kinetic" if name == "contact" else name]).max()
        assert np.abs(run[name] - one[name]).max() <= (1e-6 if scheme in ROUGH else 1e-10) * scale, name


# -- bad input


def spring():
    system = di.PointMasses([1.0, 1.0], stiffness=[[2.0, -1.0], [-1.0, 1.0]])
    return system, di.DofBound(system, 0, lower=0.0)


@pytest.mark.parametrize(
    "scheme, settings, reason",
    [
        ("dep-5.1", {"eps": 0.0}, "eps must be a positive compliance"),
        ("dep-5.3", {"eps": -1.0}, "eps must be a positive compliance"),
        ("dep-5.2", {"per_area": True}, "per_area=True takes contact of facets, whose points have areas"),
        ("dep-4.2", {"theta": 1.5}, r"theta must lie in \[0, 1\]"),
        ("dep-4.2", {"theta": 0.0}, "theta above 0"),
        ("dep-4.1", {"alpha": -0.4}, r"alpha must lie in \[-1/3, 0\]"),
        ("dep-4.1", {"alpha": 0.1}, r"alpha must lie in \[-1/3, 0\]"),
        ("dep-4.1", {"beta": 0.0}, "beta and gamma must be positive"),
        ("dep-4.6", {"mass": "consistent"}, "lumped mass, not 'consistent'"),
    ],
)
def test_bad_numbers(scheme, settings, reason):
    system, floor = spring()
    with pytest.raises(ValueError, match=reason):
        SCHEMES[scheme].make(system, 0.01, contact=floor, **settings)


def test_bad_contacts():
    system, floor = spring()
    for scheme in ("dep-7.1", "dep-7.2"):
        with pytest.raises(ValueError, match="there is no contact"):
            SCHEMES[scheme].make(system, 0.01)
    with pytest.raises(ValueError, match="without contact"):
        SCHEMES["dep-2.1"].make(system, 0.01, contact=floor)
    plane = di.PointMasses([1.0, 1.0], stiffness=np.eye(2))
    rough = di.ObstacleContact(plane, [[0, 1]], di.Plane((0, -1), (0, 1)), friction=0.3)
    for scheme in ("dep-4.1", "dep-4.4", "dep-5.1", "dep-7.1"):
        with pytest.raises(ValueError, match="does not support friction, but the contact has 0.3"):
            SCHEMES[scheme].make(plane, 0.01, contact=rough)
    oblique = di.ObstacleContact(plane, [[0, 1]], di.Plane((0, -1), (1, 1)))
    with pytest.raises(ValueError, match="across a coordinate direction"):
        SCHEMES["dep-7.1"].make(plane, 0.01, contact=oblique)


def test_a_penalty_too_stiff_for_the_step_is_seen_to_explode():
    with pytest.raises(di.UnstableTimeStep, match="take a smaller time step"):
        cases.run("signorini-bounces", "dep-5.3", eps=1e-7)


@pytest.mark.mpi
def test_stiff_penalties_of_many_points_are_solved():
    """Ten times the stiffness of what lies behind a node: Gauss-Seidel alone would not settle."""
    result = block(5.0, "dep-5.2", 100, eps=1e-6)
    energy = result["kinetic"] + result["internal"] - result["contact"]
    assert result["r"].max() > 0 and np.ptp(energy) < 1e-11 * energy[0]


def test_explicit_formulas_have_the_lumped_mass_alone():
    with pytest.raises(ValueError, match="mass must be one of lumped"):
        runner.parse(CASES["signorini-impact"], "dep-4.7", ["mass=consistent"])
    with pytest.raises(ValueError, match="restitution must be one of 0.0"):
        runner.parse(CASES["signorini-impact"], "dep-4.1", ["restitution=0.5"])


@pytest.mark.parametrize("seed", range(12))
def test_springs_of_points_that_a_step_couples_give_back_what_they_took(seed):
    """The work of each force is the change of its own energy, whatever the other points do."""
    rng, h = np.random.default_rng(seed), 1e-2
    n = int(rng.integers(2, 9))
    A, eps = rng.normal(size=(n, n)), 10.0 ** rng.uniform(-3, 1, n)
    H = A @ A.T * 10.0 ** rng.uniform(-3, 3) / h
    before, free = rng.normal(size=(2, n))
    gaps = iter([before, free])
    law = EnergyConservingPenalty(None)
    law.compliance = eps
    law.contact = SimpleNamespace(gap=lambda u, t: next(gaps), at=lambda u, v, t, every: None)
    s = SimpleNamespace(
        dt=h, t=0.0, u_before=None, v=None, end_position=lambda: None, constrained=lambda e: (None, 1.0)
    )
    r = law.impulses(s, SimpleNamespace(solve_by=lambda law, state, which, *values: law(H, *values))).r
    after = free + H @ r
    energies = np.minimum([before, after], 0.0) ** 2 / (2 * eps)
    work = r * (after - before) / h
    assert r.max() > 0
    assert work == pytest.approx(energies[0] - energies[1], abs=1e-9 * energies.max())

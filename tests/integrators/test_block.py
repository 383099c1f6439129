"""A compiled loop gives what step by step gives, for every case, and says when it cannot run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import cases, wrong_schemes
from support.examples import examples

import dolfinx_impact as di
from dolfinx_impact.algebra import kernels
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.simulation import loop

numba = pytest.importorskip("numba")

TERMS = di.EnergyBalance.state_names
RUNS = [
    ("bouncing-ball", "paoli-schatzman", {"restitution": 0.8}),
    ("bouncing-ball", "carpenter", {"restitution": 0.0}),
    ("bouncing-ball", "cd-lagrange", {"z0": 0.0, "restitution": 0.0, "touching": False}),
    ("van-der-pol", "cd-lagrange", {"t_end": 8.0, "h": 1e-2, "every": 101}),
    ("van-der-pol", "cd-lagrange", {"t_end": 8.0, "h": 1e-2, "wall": "none"}),
    ("rotating-spring", "cd-lagrange", {}),
    ("rotating-spring", "cd-lagrange", {"friction": 0.2, "restitution": 0.0, "every": 7}),
    ("discrete-arch", "cd-lagrange", {"restitution": 0.5, "t_end": 150.0}),
    ("impacting-bar", "cd-lagrange", {}),
    ("impacting-bar", "carpenter", {}),
    ("impacting-bar", "cd-lagrange", {"dimension": 3, "elements": 10, "lateral": 2}),
    ("two-bars", "cd-lagrange", {}),
    ("bouncing-ball", "noh-bathe", {}),
    ("van-der-pol", "noh-bathe", {"t_end": 8.0, "h": 1e-2, "every": 101}),
    ("rotating-spring", "noh-bathe", {"friction": 0.2, "restitution": 0.0, "every": 7}),
    ("discrete-arch", "noh-bathe", {"t_end": 150.0}),
    ("impacting-bar", "noh-bathe", {"dimension": 3, "elements": 10, "lateral": 2}),
]


def run(case, scheme, changes, compiled):
    problem = cases.made(case, scheme, **changes)
    result = problem.simulate(compiled=compiled)
    return result, *problem.judge(result)


@pytest.mark.parametrize("case, scheme, changes", RUNS)
def test_both_ways_give_the_same(case, scheme, changes):
    """Bitwise where the arithmetic is the same: all but sums over several dofs."""
    plain, results, verdicts = run(case, scheme, changes, False)
    compiled, results_c, verdicts_c = run(case, scheme, changes, True)
    same_arithmetic = changes.get("dimension", 1) == 1
    energy = max(np.abs(plain[name]).max() for name in TERMS)
    for name in plain:
        if plain[name].dtype.kind != "f":
            np.testing.assert_array_equal(plain[name], compiled[name])
        elif name in (*TERMS, "residual"):
            np.testing.assert_allclose(compiled[name], plain[name], rtol=0, atol=1e-13 * energy)
        elif same_arithmetic and name not in ("r", "r_t"):
            np.testing.assert_array_equal(plain[name], compiled[name], err_msg=name)
        else:
            scale = np.abs(plain[name]).max(initial=0.0)
            np.testing.assert_allclose(compiled[name], plain[name], rtol=0, atol=1e-13 * scale)
    for name in set(results) - {"balance_residual", "energy_lost"}:
        assert results[name] == pytest.approx(results_c[name], rel=1e-12, abs=1e-13), name
    assert [v.reproduced for v in verdicts] == [v.reproduced for v in verdicts_c]


def test_a_run_goes_on_step_by_step_from_where_the_loop_ends():
    ends = []
    for compiled in (False, True):
        integrator = (
            CASES["van-der-pol"]
            .make("cd-lagrange", runner.parse(CASES["van-der-pol"], "cd-lagrange", []), False)
            .integrator
        )
        di.simulate(integrator, t_end=3.0, progress=False, compiled=compiled)
        again = di.simulate(integrator, t_end=3.5, progress=False, compiled=False)
        ends.append((integrator.n, integrator.t, integrator.u[0], integrator.v[0], again["kinetic"][-1]))
    assert ends[0] == ends[1]


@examples(10)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([2, 3]),
    st.booleans(),
    st.sampled_from([0.0, 0.4, 1.0]),
    st.sampled_from([0.0, 0.3]),
    st.booleans(),
)
def test_masses_in_space_against_obstacles(seed, dimension, round_wall, e, mu, springs):
    """Points with weight, joined by springs or free, inside a ball or above an oblique plane."""
    rng = np.random.default_rng(seed)
    n = 3 * dimension
    root = rng.normal(size=(n, n))
    normal = rng.normal(size=dimension)
    obstacle = (
        di.Sphere(np.zeros(dimension), 1.0, inside=True)
        if round_wall
        else di.Plane(-0.5 * normal / np.linalg.norm(normal), normal)
    )
    u0, v0 = rng.uniform(-0.28, 0.28, size=n), 3.0 * rng.normal(size=n)  # within 0.5 of the middle
    mass, load = np.repeat(rng.uniform(0.5, 2.0, 3), dimension), rng.normal(size=n)
    runs = []
    for compiled in (False, True):
        system = di.PointMasses(mass, load=load, stiffness=0.1 * root @ root.T if springs else None)
        contact = di.ObstacleContact(
            system, np.arange(n).reshape(3, dimension), obstacle, restitution=e, friction=mu
        )
        integrator = di.CDLagrange(system, 0.01, contact=contact)
        integrator.start(u0, v0)
        runs.append(di.simulate(integrator, t_end=1.5, every=11, progress=False, compiled=compiled))
    assert runs[0]["r"].any() or not round_wall
    for name in ("u", "v", "v_t", "gap", "r", *(["r_t"] if mu else []), *TERMS):
        scale = np.abs(runs[0][name]).max() + 1.0
        np.testing.assert_allclose(runs[1][name], runs[0][name], rtol=0, atol=1e-9 * scale, err_msg=name)


def test_an_explosion_is_seen_at_the_same_step():
    said = []
    for compiled in (False, True):
        system = di.PointMasses([1.0], stiffness=[[100.0]])
        integrator = di.CDLagrange(system, 0.2001, allow_unstable=True)
        integrator.start(0.1, 0.0)
        with pytest.raises(di.UnstableTimeStep, match=r"\(step \d\d+\) the energy is .* 10 times") as stop:
            di.simulate(integrator, t_end=2001.0, progress=False, compiled=compiled)
        said.append(str(stop.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("compiled", [False, True])
def test_values_that_are_no_numbers_end_the_run(compiled):
    def wild(t, u, v, out):
        out[0] = np.nan if t > 0.5 else 0.0

    integrator = di.CDLagrange(di.PointMasses(1.0, numba.njit(wild)), 0.1)
    integrator.start(0.0, 1.0)
    with pytest.raises(di.UnstableTimeStep, match=r"no longer finite at t = 0.6 s \(step 6\)"):
        di.simulate(integrator, t_end=500.0, progress=False, compiled=compiled)


def started(scheme=di.CDLagrange, system=None, contact=None):
    system = system or di.PointMasses(1.0, load=[-9.81])
    integrator = scheme(system, 1e-2, contact=contact(system) if contact else None)
    integrator.start(np.ones(system.size), 0.0)
    return integrator


def in_python(t, u, v, out):
    out[:] = -9.81


REFUSED = {
    "Python force": (lambda: started(system=di.PointMasses(1.0, in_python)), (), "not of a compiled kind"),
    "implicit": (lambda: started(di.CarpenterImplicit), (), "CarpenterImplicit makes its steps one by one"),
    "own scheme": (lambda: started(wrong_schemes.Dragged), (), "Dragged derives from Central"),
    "observer": (started, (lambda integrator: None,), "called after every step"),
    "own force": (lambda: started(system=Heavy(1.0)), (), "Heavy derives from PointMasses"),
    "own gap": (
        lambda: started(contact=lambda s: Rising(s, 0, lower=0.0)),
        (),
        "Rising derives from DofBound",
    ),
    "shared dofs": (
        lambda: started(
            system=di.PointMasses([1.0, 1.0]),
            contact=lambda s: di.ObstacleContact(
                s, [[0, 1]], di.UnionObstacle([di.Plane((0, 0), (0, 1)), di.Plane((0, 0), (1, 0))])
            ),
        ),
        (),
        "points .* share dofs",
    ),
    "own obstacle": (
        lambda: started(
            system=di.PointMasses([1.0, 1.0]), contact=lambda s: di.ObstacleContact(s, [[0, 1]], Bowl())
        ),
        (),
        "Bowl offers no compiled gap",
    ),
    "own gap of a known obstacle": (
        lambda: started(
            system=di.PointMasses([1.0, 1.0]),
            contact=lambda s: di.ObstacleContact(s, [[0, 1]], Dented((0.0, 0.0), 5.0, inside=True)),
        ),
        (),
        "Dented derives from Sphere",
    ),
}


class Dented(di.Sphere):
    """A user-defined sphere with another gap."""

    def gap(self, x, t=0.0):
        return super().gap(x, t) - 0.5


class Heavy(di.PointMasses):
    def force(self, t, u, v, out):
        out[:] = -9.81


class Rising(di.DofBound):
    def gap(self, u, t=0.0):
        return super().gap(u, t) - 0.1


class Bowl:
    flat = False

    def gap(self, x):
        return 5.0 - np.linalg.norm(x, axis=1)

    def normal(self, x):
        return -x / np.maximum(np.linalg.norm(x, axis=1), 1e-9)[:, None]


@pytest.mark.parametrize("what", REFUSED)
def test_it_says_why_no_loop_can_be_compiled(what):
    make, observers, reason = REFUSED[what]
    with pytest.raises(ValueError, match=f"no compiled loop for this run: .*{reason}"):
        di.simulate(make(), t_end=1.0, observers=observers, progress=False, compiled=True)


@pytest.mark.parametrize("what", ["Python force", "observer", "own gap of a known obstacle"])
def test_by_default_such_a_run_is_made_step_by_step(what, monkeypatch):
    monkeypatch.setattr(loop, "_MANY_STEPS", 200)
    make, observers, _ = REFUSED[what]
    assert di.simulate(make(), t_end=2.0, observers=observers, progress=False).steps == 200


def test_without_numba_there_is_no_loop(monkeypatch):
    from dolfinx_impact.algebra.kernels import _numpy as _numpy_kernels

    monkeypatch.setattr(kernels, "load", lambda: _numpy_kernels)
    with pytest.raises(ValueError, match="numba is not installed"):
        di.simulate(started(), t_end=1.0, progress=False, compiled=True)
    assert kernels.jit(in_python) is in_python


COMPILE_TWICE = """
import numba, sys
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact import simulate
from dolfinx_impact.integrators.compiled import _central_loop, _functions
case = CASES["van-der-pol"]
problem = case.make("cd-lagrange", runner.parse(case, "cd-lagrange", []), False)
made, usual = [], numba.config.CACHE_DIR
njit = numba.njit
def note(*arguments, **options):
    wrap = njit(*arguments, **options)
    def keep(function):
        numba.config.CACHE_DIR = sys.argv[1]  # of the loop alone: what it calls need not be compiled again
        made.append(wrap(function))
        numba.config.CACHE_DIR = usual
        return made[-1]
    return keep
_functions.numba.njit = note
simulate(problem.integrator, t_end=3.0, record=problem.record, observers=problem.observers(), compiled=True)
(loop,) = [f for f in made if f.py_func is _central_loop.advance]
print(sum(loop.stats.cache_hits.values()), sum(loop.stats.cache_misses.values()))
"""


@pytest.mark.slow
def test_what_was_compiled_is_kept_on_disk(launch, tmp_path):
    first, second = (launch(["-c", COMPILE_TWICE, str(tmp_path)]) for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert first.stdout.split() == ["0", "1"] and second.stdout.split() == ["1", "0"]

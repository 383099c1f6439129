"""The bridge crane as a solid: model, rest, frequencies, runs, and events beside those of the frame."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from mpi4py import MPI
from scipy import sparse
from scipy.sparse.linalg import splu
from support import cases

from dolfinx_impact import Section, parallel, simulate
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.cases.bridge_crane import model as frame
from dolfinx_impact.benchmark.cases.bridge_crane.events import Events
from dolfinx_impact.benchmark.cases.solid_crane import case, events, figures, model, statics
from dolfinx_impact.benchmark.runs import Runs
from dolfinx_impact.benchmark.speed import hati
from dolfinx_impact.benchmark.speed.main import TABLE

#: One layer of elements of 6 m: stiffer than the frame.
SMALL = {"coarse": 6.0, "layers": 1, "t_end": 1e-3, "ratio": 20, "every": 1}
#: Weight that acts at once throws wheels off and on.
SUDDEN = {"coarse": 6.0, "layers": 1, "t_end": 3e-3, "start": "sudden", "friction": 0.2}
#: What the crane at rest, the frame's events and its frequencies depend on.
MESH, FRAME = ("treads", "layers", "coarse", "trolley"), ("trolley", "record", "alpha", "start", "t_end")


def once(compute, names):
    """The function of a case's parameters, computed once for those of these names, and further arguments."""
    known = {}

    def kept(p, *more):
        asked = (*(p[name] for name in names), *more)
        if asked not in known:
            known[asked] = compute(p, *more)
        return known[asked]

    return kept


@pytest.fixture(autouse=True, scope="module")
def one_rest_for_all():
    """The crane at rest, which is most of making a case, and what it is compared with are computed once."""
    with pytest.MonkeyPatch.context() as patch:
        for name, names in (("at_rest", MESH), ("frame_events", FRAME), ("frame_frequencies", ("trolley",))):
            patch.setattr(case, name, once(getattr(case, name), names))
        if MPI.COMM_WORLD.size > 1:  # no test asks for frequencies there, and all wait for rank 0
            patch.setattr(statics, "natural_frequencies", lambda body, count, tied=None: [1.0] * count)
        yield


def parameters(scheme="hati", **changes):
    return cases.values("solid-crane", scheme, **{**SMALL, **changes})


@pytest.fixture(scope="module")
def made():
    """The crane with friction 0.1, at rest or to be pushed."""
    return cases.made("solid-crane", "hati", **SMALL, friction=0.1)


def push(made):
    """Start it at rest, with a trolley that moves along the girders and a little across."""
    made.integrator.start(made.setup.beside.rest.field, lambda x: np.outer([0.03, 0.01, 0.0], x[2] > 0.7005))
    return made.integrator


class Few(Runs):
    """Runs in which HATI makes few fine steps in a coarse one."""

    def __call__(self, case, scheme, **settings):
        return super().__call__(case, scheme, **settings, **({"ratio": 10} if scheme == "hati" else {}))


# -- model


@pytest.mark.parametrize("name", ["girders", "end-carriages", "trolley"])
def test_rectangles_bend_and_twist_as_boxes(name):
    beam, box = model.BEAMS[name], frame.SECTIONS[name]
    full = Section.rectangle(beam.width, beam.height)
    assert beam.E * full.Iy == pytest.approx(frame.STEEL["E"] * box.Iy, rel=1e-12)
    assert beam.E * full.Iz == pytest.approx(frame.STEEL["E"] * box.Iz, rel=1e-12)
    shear = frame.STEEL["E"] / 2 / (1 + frame.STEEL["nu"])
    torsion = beam.E / 2 / (1 + beam.nu) * full.J / (shear * box.J)
    assert torsion == pytest.approx(1.0 if name != "trolley" else 1.1518, rel=1e-4)


@pytest.mark.mpi
@pytest.mark.parametrize("trolley", [0.0, 4.0])
def test_mesh_and_bodies(trolley):
    """Masses are the frame's; rails and wheels face each other node by node, away from the interface."""
    p = parameters(trolley=trolley)
    named = model.crane_mesh(p, MPI.COMM_WORLD)
    (whole,) = model.bodies(named, p, None, divided=False)
    explicit, implicit = model.bodies(named, p, None, divided=True)
    assert whole.total_mass == pytest.approx(sum(frame.MASSES.values()), rel=1e-12)
    piece = 4 * model.TREAD**2 * frame.STEEL["density"]
    assert explicit.total_mass == pytest.approx(piece * (model.RAIL + model.WHEEL), rel=1e-12)
    assert implicit.total_mass == pytest.approx(whole.total_mass - explicit.total_mass, rel=1e-12)
    pairs = model.wheels(explicit, friction=0.2)
    assert pairs.total == 4 * 9
    gaps = pairs.gap(np.zeros(explicit.size))
    assert gaps == pytest.approx(np.full(pairs.count, model.CLEARANCE), abs=1e-12)
    places = pairs.L.order * (1e-8 * explicit.length)
    wheels = np.bincount(model.wheel_of(places, p), minlength=4)
    assert list(MPI.COMM_WORLD.allreduce(wheels)) == [9, 9, 9, 9]
    rows = model.wheel_rows(explicit, p)
    assert rows.sorted_labels(MPI.COMM_WORLD) == [
        f"w_{name}_{i}" for name in ("trolley", "girder") for i in (1, 2, 3, 4)
    ]
    interface = explicit.active & implicit.active
    assert parallel.total(MPI.COMM_WORLD, float(np.count_nonzero(interface))) == 4 * 9 * 2 * 3


def test_planes():
    found = model.divided([0.0, 4.0, 1.0], 1.0, [(2.0, 2.2)], 4)
    assert found == pytest.approx([0.0, 1.0, 2.0, 2.05, 2.1, 2.15, 2.2, 3.1, 4.0])


def test_rest_is_an_equilibrium():
    """Forces that press evenly on the treads balance weight and stiffness; the gaps are closed there."""
    p = parameters()
    rest = case.at_rest(p)
    body = model.crane_solid(model.crane_mesh(p, MPI.COMM_SELF), p, None)
    contact = statics.MeanGaps(body, p)
    u = rest.field(body.x.T).T.ravel()
    assert np.abs(contact.gap(u)).max() < 1e-15
    left = body.loads.constant - body.stiffness.scipy() @ u
    contact.L.add_transpose(rest.reactions, left)
    weight = frame.MASSES["trolley"] * frame.GRAVITY
    assert np.abs(left[~body.constrained]).max() < 1e-6 * weight
    assert rest.reactions == pytest.approx(np.full(4, weight / 4), rel=1e-8)
    pairs = model.wheels(body, gap0=rest.gap0)
    assert np.abs(pairs.gap(u)).max() == 0.0 and np.abs(rest.gap0).max() < 1e-4
    assert rest.masses == pytest.approx(frame.MASSES, rel=1e-12)


def lower(body, frequency):
    """How many natural frequencies are lower [Hz]: the negative pivots of ``K - omega^2 M``."""
    free = np.flatnonzero(~body.constrained)
    shifted = body.stiffness.scipy() - (2 * np.pi * frequency) ** 2 * sparse.diags(body.mass)
    options = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    factors = splu(shifted[free][:, free].tocsc(), permc_spec="MMD_AT_PLUS_A", **options)
    assert np.array_equal(factors.perm_r, factors.perm_c)  # pivots of the diagonal alone
    return np.count_nonzero(factors.U.diagonal() < 0)


def test_frequencies_of_the_frame_and_of_a_tied_trolley():
    """Each is passed by one mode of the frame; ties leave fewer free dofs and no slower modes."""
    body = frame.crane_frame(frame.crane_mesh())
    found = statics.natural_frequencies(body, 4)
    assert lower(body, 0.01) == 6  # rigid motions
    for n, frequency in enumerate(found, 6):
        assert [lower(body, (1 + by) * frequency) for by in (-1e-6, 1e-6)] == [n, n + 1]
    tied = statics.natural_frequencies(body, 4, frame.wheels(body, gap0=0.0).L)
    assert tied[:2] == pytest.approx(found[:2], rel=1e-6) and tied[2] == pytest.approx(6.7849, abs=1e-4)


@pytest.mark.nightly
def test_frequencies_of_the_default_mesh():
    p = {**runner.parse(CASES["solid-crane"], "hati", [])}
    loose, tied = case.frame_frequencies(p)
    rest = case.at_rest(p)
    assert rest.frequencies == pytest.approx(loose, rel=0.03)
    assert rest.tied == pytest.approx(tied, rel=0.03)


# -- runs


@pytest.mark.mpi
def test_same_on_any_number_of_ranks(made):
    """Wheels that stay down carry the weight; the same on every number of ranks."""
    result = made.simulate()
    found, _ = made.judge(result)
    load, found_step = frame.MASSES["trolley"] * frame.GRAVITY / 4, made.p["h"]
    assert np.array(found["impulses"]) == pytest.approx(load * (result["t"][-1] + found_step), rel=2e-4)
    assert found["balance_residual"] < 1e-14 and found["max_gap"] < 1e-12
    assert abs(found["interface_energy"]) < 1e-6 * found["energy_end"]


@pytest.mark.mpi
def test_sliding_is_the_same_on_any_number_of_ranks(made):
    """A trolley that is pushed along, its wheels cut between ranks or not: numbers of one rank."""
    s = push(made)
    impulses = np.zeros(3)
    for _ in range(8):
        s.step()
        impulses += MPI.COMM_WORLD.allreduce(s.r_t.sum(axis=0))
    normal = parallel.total(MPI.COMM_WORLD, float(s.r.sum()))
    expected = [5.309553582407521, -4.062508089200175, -1.2346608701811714]
    assert [normal, *impulses[:2]] == pytest.approx(expected, rel=1e-8)
    assert np.abs(impulses[2]) < 1e-12


def slid(made, compiled):
    """History of a trolley that was pushed along, and displacements, velocities and impulses at the end."""
    s = push(made)
    result = simulate(s, t_end=10 * s.dt, record=made.record, progress=False, compiled=compiled)
    assert s.compiled is compiled
    return result, s.u.copy(), s.v.copy(), s.r_t.copy(), s.fine.r_t.copy()


def test_compiled_friction_is_that_of_single_steps(made):
    """A trolley that is pushed along slides and sticks: u, v and impulses to the last bit.

    ``None`` compiles the fine steps, ``True`` the coarse ones too.
    """
    true, *expected = slid(made, False)
    size = np.linalg.norm(true["r_t"].reshape(*true["r"].shape, 3), axis=2)
    assert np.any(true["r"] > 0) and np.any(size > 0.0999 * true["r"]) and size.max() > 0
    for loop in (None, True):
        ours, *state = slid(made, loop)
        for mine, theirs in zip(state, expected):
            assert np.array_equal(mine, theirs)
        for name in ("u", "v_t", "gap", "r", "r_t"):
            assert np.array_equal(ours[name], true[name]), name
        for name in ("kinetic", "internal", "contact", "external", "interface", "residual"):
            assert np.abs(ours[name] - true[name]).max() < 1e-13 * true["kinetic"].max(), name


@pytest.fixture(scope="module")
def sudden(tmp_path_factory):
    """Runs whose crane takes its weight at once, and where they are kept."""
    return Few(tmp_path_factory.mktemp("runs"))


def test_hati_beside_the_explicit_run(sudden):
    """Weight that acts at once throws wheels off and on: same impulses and events as the explicit run."""
    made = {"hati": sudden("solid-crane", "hati", every=1, **SUDDEN)}
    (table,) = (
        np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2) for file in sudden.folder.glob("*/events.csv")
    )
    made["cd-lagrange"] = sudden("solid-crane", "cd-lagrange", **SUDDEN)
    for each in made.values():
        failed = [v["claim"] for v in each.summary["verdicts"] if not v["reproduced"]]
        assert all("frequencies" in claim for claim in failed)  # of so coarse a mesh
        assert each.results["landings"] == each.results["landings_frame"] == []
    ours, true = made["hati"].results, made["cd-lagrange"].results
    assert ours["impulses"] == pytest.approx(true["impulses"], rel=0.02)
    assert ours["energy_end"] == pytest.approx(true["energy_end"], rel=0.02)
    assert len(table) == ours["closures"] > 0


def test_speed(capsys):
    """What is measured, on few elements for a short time."""
    (row,) = (each for each in TABLE if each.name == "solid-crane")
    build = partial(hati.cranes, layers=(1,), steps=(1e-4,), t_end=1e-3, coarse=6.0)
    found = replace(row, build=build).measure([])["solid-crane"]
    assert found["dofs, 1 layers"] == 7632.0
    for name, largest in (("difference", 0.1), ("interface", 0.01)):
        values = [value for key, value in found.items() if key.startswith(name)]
        assert len(values) == 1 and 0 < values[0] < largest
    assert sum(key.startswith("faster with set-up") for key in found) == 1
    told = capsys.readouterr().out
    assert "explicit throughout" in told and told.count(" with its set-up of ") == 1


def test_figure(sudden):
    """Gaps of the solid crane and of the frame over time, and a bar for each flight."""
    figure = pytest.importorskip("matplotlib.figure").Figure()
    figures.draw_flights(sudden, figure, SUDDEN)
    gaps, flights = figure.axes
    assert [line.get_label() for line in gaps.lines] == ["frame, explicit", "solid, HATI", "solid, explicit"]
    assert flights.get_ylabel() == "wheel" and not flights.patches
    landed = {"landings": [[0.8, 0.1, [1, 3]]], "landings_frame": [[0.7, 0.2, [2]]]}
    figures.draw_bars(flights, [landed["landings_frame"], landed["landings"], []])
    bars = [(bar.get_x(), bar.get_width(), round(bar.get_y() + 0.1)) for bar in flights.patches]
    assert [bar[2] for bar in bars] == [2, 1, 3]
    assert np.array(bars)[:, :2] == pytest.approx(np.array([[0.5, 0.2], [0.7, 0.1], [0.7, 0.1]]))


@pytest.mark.nightly
def test_long_flights_are_those_of_the_frame(shared_path):
    """The whole record with HATI: long flights end where those of the explicit solid and of the frame do."""
    summary = runner.run("solid-crane", "hati", [], shared_path)
    long = [time for time, length, _ in summary["results"]["landings"] if length > 2 * case.LONG]
    assert long == pytest.approx([0.61355, 0.75280, 0.91615], abs=1e-3)  # explicit throughout
    failed = [v["claim"] for v in summary["verdicts"] if not v["reproduced"]]
    assert [claim[:30] for claim in failed] == ["flights of 10 ms and more end "]


# -- order of events


def of(*given):
    time, wheel, length = np.array(given, dtype=float).reshape(-1, 3).T
    return Events(time, wheel.astype(int), length, 0 * time, 0 * time)


def test_landings_and_their_order():
    """Wheels that come down together are one landing, in any order; short flights do not count."""
    found = events.landings(
        of((0.1, 2, 0.02), (0.101, 1, 0.03), (0.102, 3, 0.001), (0.2, 1, 0.05), (0.202, 1, 0.011)), 0.01
    )
    assert found == [(0.1, 0.02, (1, 2)), (0.2, 0.05, (1,)), (0.202, 0.011, (1,))]
    assert events.matches(found, found, 0.0) == [(0, 0), (1, 1), (2, 2)]
    # One is missing, another too much, the rest in order; a late one is another one.
    other = [found[0]._replace(time=0.105), events.Landing(0.15, 0.02, (4,)), found[2]]
    assert events.matches(found, other, 0.01) == [(0, 0), (2, 2)]
    assert events.matches(found, other, 0.001) == [(2, 2)]
    assert events.matches([], other, 0.01) == []


def test_verdicts_on_the_order():
    """Long flights and short ones are judged apart, these beside the frame with half its step."""
    every = [1, 2, 3, 4]
    results = {
        "landings": [[0.61, 0.05, every], [0.75, 0.04, every], [0.96, 0.014, every]],
        "landings_frame": [[0.618, 0.05, every], [0.722, 0.019, every], [0.754, 0.03, every]],
        "landings_in_both": 2,
        "landings_in_both_frames": 2,
    }
    long, all_of_them, beside = case.order_verdicts(results)
    assert long.reproduced and (long.measured, long.expected) == (2, 2)
    assert not all_of_them.reproduced and (all_of_them.measured, all_of_them.expected) == (2, 3)
    assert beside.reproduced
    assert not list(case.order_verdicts({**results, "landings_in_both_frames": 3}))[2].reproduced

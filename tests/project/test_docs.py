"""Pages of the documentation: programs run, tables of schemes are those of the classes, links exist."""

import gzip
import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from support import verdicts
from support.paths import ROOT

import dolfinx_impact as di
from dolfinx_impact import exact, parallel
from dolfinx_impact.benchmark import report
from dolfinx_impact.benchmark.cases import bridge_crane
from dolfinx_impact.benchmark.claims import CLAIMS, FIGURES
from dolfinx_impact.benchmark.speed import solids

DOCS = ROOT / ".docs"
FILES = [path for path in sorted(DOCS.rglob("*.md")) if "demos" not in path.relative_to(DOCS).parts]
PAGES = {str(path.relative_to(DOCS).with_suffix("")): path.read_text() for path in FILES}
PROGRAMS = {name: re.findall(r"^```python\n(.*?)^```", text, re.S | re.M) for name, text in PAGES.items()}

SPHINX = pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="needs Sphinx")


def part_of_the_site(name):
    """A module of ``.docs/_site``, which is no package of the tests."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module(f"_site.{name}")
    finally:
        sys.path.remove(str(DOCS))


@pytest.fixture
def names_of(shared_path, monkeypatch):
    """``names_of(page)``: what the programs of a page define, run in a temporary folder."""

    def run(page):
        monkeypatch.chdir(shared_path)
        names: dict = {"__name__": page}
        exec(compile("\n".join(PROGRAMS[page]), f".docs/{page}.md", "exec"), names)
        return names

    return run


def closes(run):
    """Whether the energy balance of a run closes."""
    return np.abs(run["residual"]).max() < 1e-12 * max(run["kinetic"].max(), run["external"].max())


# -- programs


def test_ball_is_that_of_the_readme():
    for page in ("index", "tutorial/ball"):
        assert f"```python\n{PROGRAMS[page][0]}```" in (ROOT / "README.md").read_text()


def test_picture_of_the_ball(names_of):
    assert closes(names_of("tutorial/ball")["run"]) and Path("ball.png").stat().st_size > 10_000


def test_bar(names_of):
    """The impulse is that of the slender bar, less what Poisson's ratio disperses."""
    names = names_of("tutorial/bar")
    run, true = names["run"], names["true"]
    assert closes(run) and 0.97 < run["r"].sum() / true.impulse < 1.0


def test_programs_beside_those_of_others(names_of):
    """Newton's law, the impulse of a bar, the momentum of the column; lines of code alone count."""
    names = names_of("among_others")
    bounces, rebound, column = (names[name] for name in ("bounces", "rebound", "column"))
    assert bounces["u"][100:200].max() == pytest.approx(0.81, abs=5e-3) and closes(bounces)
    assert rebound["r"].sum() == pytest.approx(2 * 7800.0 * 3.14e-4 * 0.998 * 0.1, rel=0.02)
    weight, gained = 10 * 9.81 * 2.0, column["v_t"][-1].sum()
    assert column["r"][:, 0].sum() - weight == pytest.approx(gained, abs=1e-9 * weight)
    lines = part_of_the_site("programs").lines
    assert lines("```python\n# words\nimport os\n\nx = 1\n```\n") == "These are 2 lines."
    counted = [lines(f"```python\n{program}```\n").split()[2] for program in PROGRAMS["among_others"]]
    paper = (ROOT / ".release" / "paper" / "paper.md").read_text()
    assert "{}, {} and {} here".format(*counted) in paper


def test_part_from_a_cad_file(names_of):
    """It bounces: the floor gave it more than its momentum, less than twice as much."""
    names = names_of("tutorial/cad_part")
    run, body, speed = names["run"], names["body"], names["speed"]
    assert closes(run) and Path("drop.bp").exists()
    assert 1.0 < run["r"].sum() / (body.total_mass * speed) < 2.0


def test_two_discs(names_of, monkeypatch):
    """Momentum is conserved, friction takes energy; the site draws the moments."""
    monkeypatch.setattr(di.plot, "strip", lambda *_, **__: None)
    names = names_of("tutorial/two_bodies")
    assert len(names["moments"].states) == 4
    before, after, energy = names["before"], names["after"], names["energy"]
    assert after == pytest.approx(before, abs=1e-12 * np.abs(before).max())
    assert closes(names["run"]) and 0.9 < energy[-1] / energy[0] < 1 - 1e-3


def test_own_law(names_of):
    """The stiffening law stores no more than the energy of the motion; both blocks bounce."""
    names = names_of("howto/own_law")
    assert names["runs"].keys() == {"Gent", "neo-Hookean"}
    for run in names["runs"].values():
        assert closes(run) and run["r"].sum() > 10.0 * 3.0
        assert 0.8 * run["kinetic"][0] < run["internal"].max() < run["kinetic"][0]


def test_own_obstacle(names_of):
    names = names_of("howto/own_obstacle")
    run, scheme = names["run"], names["scheme"]
    assert closes(run) and -3.0 * scheme.dt < run["gap"].min() < 0.0
    x = np.array([[0.3, 0.1]])
    assert names["waves"].gap(x) == pytest.approx(0.1 - 0.02 * np.sin(6.0), rel=1e-14)


def test_own_scheme(names_of):
    """It rebounds at the height of Newton's law."""
    run = names_of("howto/own_scheme")["run"]
    first = exact.BouncingBall(1.0, 9.81, 1.0, 0.0, 0.8)
    after = (run["t"] > 0.46) & (run["t"] < 1.1)
    assert run["u"][after, 0].max() == pytest.approx(0.64, abs=1e-2)
    assert np.abs(run["u"][:, 0] - first.position(run["t"])).max() < 0.05


def test_friction(names_of):
    """Speeds of rigid blocks, and of the belt in the end."""
    names = names_of("howto/friction")
    sliding, exact = names["sliding"][1, -1], names["exact"][-1]
    assert sliding == pytest.approx(exact, rel=0.02) and abs(names["sticking"][1, -1]) < 1e-3
    assert names["carried"][1, -1] == pytest.approx(1.0, rel=1e-2)
    assert closes(names["run"]) and Path("friction.png").exists()


def test_force_of_a_tool(names_of):
    """The force over the path of the tool is the work on the block, of which nearly all comes back."""
    names = names_of("howto/tool_force")
    history, run, second = names["history"], names["run"], names["second"]
    force = -history.impulses[:, 1] / names["scheme"].dt
    path = np.array([names["path"](t) for t in history.t])
    down = path.argmin()
    work = -np.trapezoid(force[: down + 1], path[: down + 1])
    assert work == pytest.approx(run["contact"].max(), rel=0.05)
    assert closes(run) and np.abs(second["residual"]).max() < 1e-12 * second["internal"].max()
    assert 0 < second["external"][-1] < 0.01 * second["external"].max()


def test_own_contacts(names_of):
    """The rope exchanges momentum; friction in the bowl never gives energy."""
    names = names_of("howto/own_contact")
    run, rope, energy = names["run"], names["rope"], names["energy"]
    assert names["momentum"] == pytest.approx([2.0, 1.0], abs=1e-12) and closes(run)
    w, u, s = np.random.default_rng(0).normal(size=4), run["u"][-1], 1e-6
    rope.evaluate(u)
    slope = (rope.gap(u + s * w) - rope.gap(u - s * w)) / (2 * s)
    assert rope.L(w) == pytest.approx(slope, rel=1e-8)
    assert energy[-1] < 0.1 * energy[0] + 1e-6 and closes(names["ride"])


def test_mesh_of_gmsh(names_of):
    names = names_of("howto/gmsh")
    assert set(names["part"].names) == {"frame", "core", "foot"} and closes(names["run"])
    circle = np.pi * 0.015**2
    mass = 7800.0 * circle + 1100.0 * (0.1 * 0.06 - circle)
    assert names["body"].total_mass == pytest.approx(mass, rel=0.03)


def test_parts_of_a_form_system(names_of):
    """The impulse is the change of momentum of the block, on a plate that bends little."""
    names = names_of("howto/form_system_parts")
    run = names["run"]
    assert closes(run) and 0.0 < names["rebound"] < 2.0
    assert run["r"].sum() == pytest.approx(7800.0 * 0.04 * (0.04 - 1e-4) * (2.0 + names["rebound"]), rel=0.01)


def test_heavy_heads(names_of):
    """The heavier, the more a rigid mass."""
    names = names_of("howto/rigid_tools")
    off = {
        head: np.abs(impulse - names["exact"](t)).max() / (names["m"] * names["v0"])
        for head, (t, impulse) in names["heads"].items()
    }
    assert off[1, 1] > 0.1 > off[10, 1] > off[100, 1] and off[100, 1] < 0.015


@pytest.mark.slow
def test_folding(names_of):
    """The clip comes to lie on itself; its surfaces stay apart."""
    names = names_of("howto/folding")
    run, said = names["run"], names["contact"].certificate()
    assert closes(run) and run["r"].sum() > 0 and not run.warnings
    assert said.passed == 0 < said.added and 0.0 < said.skin_used < 1.0


@pytest.mark.slow
def test_press_fits(names_of, monkeypatch):
    """A shaft beside Lame, a bolt beside springs, a hook beside a beam; what velocity level loses."""
    monkeypatch.setattr(di.plot, "strip", lambda *_, **__: None)
    names = names_of("howto/press_fits")
    assert names["found"] == pytest.approx(names["slope"], rel=0.05)
    pressed = {
        name: names["pressed"][name] for name in ("external", "internal", "contact", "residual", "gap")
    }
    assert (
        pressed["gap"].min() > -1e-15 and np.abs(pressed["residual"]).max() < 1e-9 * pressed["external"][-1]
    )
    assert pressed["external"][-1] == pytest.approx(
        pressed["internal"][-1] - pressed["contact"][-1], rel=1e-6
    )
    load, bolt, clamping, springs = (names[name] for name in ("load", "bolt_force", "clamping", "springs"))
    assert bolt - clamping == pytest.approx(load, abs=1.0)  # N, but for inertia
    assert bolt == pytest.approx(springs, rel=0.06) and clamping[0] > 1e4 and clamping[-1] == 0.0
    push, snapped = np.array(names["push"]), names["snapped"]
    assert push.max() == pytest.approx(names["peak"], rel=0.05) and push.min() < -0.8 * push.max()
    assert np.abs(push[-20:]).max() < 1e-3 * push.max()  # straight again
    assert snapped.newton["halved"] > 0 and closes(snapped) and (np.diff(snapped["dissipated"]) >= 0).all()
    assert names["pressure"] == pytest.approx(43.27e6, rel=0.01)
    stored = names["stored"]
    assert stored["CDLagrangeSingular"] == pytest.approx([1.0, 1.0], abs=1e-4)
    assert stored["with position=True"] == pytest.approx([1.0, 1.0], abs=1e-3)
    assert stored["CDLagrange"][0] < 0.9 and stored["CDLagrange"][1] == pytest.approx(1.0, abs=2e-3)
    assert max(stored["GeneralizedAlpha"]) < 0.5


def test_own_work(names_of):
    names = names_of("howto/own_work")
    assert closes(names["run"]) and Path("results/drop.npz").exists()


def test_run_that_goes_on(names_of):
    """Impacts of the spring come every half period, pi / 10 s."""
    names = names_of("howto/restart")
    first, second = ((names[name]["r"] > 0).sum() for name in ("first", "second"))
    assert (first, second) == (int(10 / np.pi), int(20 / np.pi))


@pytest.mark.slow
def test_studies(launch, tmp_path):
    """A script, since processes import it; its balls rise to e^2 of their height."""
    (tmp_path / "balls.py").write_text(PROGRAMS["howto/studies"][0])
    done = launch(["balls.py"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    *rows, last = done.stdout.splitlines()
    assert len(rows) == 4 and float(last.rpartition(" ")[2]) < 0.01
    assert (tmp_path / "results" / "balls" / "table.csv").read_text().count("\n") == 5


@pytest.mark.mpi
def test_fields_for_paraview(names_of):
    names = names_of("howto/paraview")
    assert closes(names["run"]) and Path("cube.pvd").exists()
    highest = parallel.largest(names["cube"].comm, di.VonMises(names["cube"])(names["scheme"].u))
    if "reader" in names:
        assert len(names["reader"].time_values) == 11 and names["highest"] == pytest.approx(highest)


def test_units(names_of):
    """The impulse per area of one system is a millionth of that of the other."""
    first, second = names_of("howto/units")["impulses"].values()
    assert second == pytest.approx(1e-6 * first, rel=1e-6)
    assert first == pytest.approx(2 * 7847.0 * 0.254 * 5.0, rel=0.02)


def test_block(names_of):
    """The box acts on it by normal impulses, friction and torque, which are consistent."""
    names = names_of("bodies")
    run, block, scheme = names["run"], names["block"], names["scheme"]
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]
    assert np.all(np.linalg.norm(run["r_t"], axis=2) <= 0.4 * run["r"] * (1 + 1e-12))
    assert run["r"].sum() > 0 and run["contact"][-1] < 0 and run["gap"].min() > -3.5 * scheme.dt
    assert block.total_mass == pytest.approx(8.0, rel=1e-12)


@pytest.fixture(scope="module")
def names_of_contact():
    """What the programs of the page of contact define; they write no files."""
    names: dict = {"__name__": "contact"}
    exec(compile("\n".join(PROGRAMS["contact"]), ".docs/contact.md", "exec"), names)
    return names


def test_obstacles(names_of_contact):
    gaps = names_of_contact["gaps"]
    assert gaps.keys() == {"bowl", "stairs", "wavy floor", "lift"}
    assert gaps["bowl"] == pytest.approx(1 - np.hypot(0.3, 0.5), rel=1e-14)
    assert gaps["stairs"] == pytest.approx(0.5, rel=1e-14)
    assert gaps["wavy floor"] == pytest.approx(0.5 - 0.1 * np.sin(0.3), rel=1e-14)
    assert gaps["lift"] == pytest.approx(0.5 - 0.2, rel=1e-14)


def test_sharp_obstacles(names_of_contact):
    """The spike between the nodes is not passed: it is as deep as the path of a step."""
    assert 0 < names_of_contact["deepest"] < 1e-3


def test_drift(names_of_contact):
    """The last bead is the one whose drift is corrected."""
    names = names_of_contact
    assert names["correction"] and names["run"].penetration < 1e-3 and names["lost"] < 1e-3


def test_colliding_blocks(names_of):
    """The upper block has bounced off the lower one, and both have their momentum; edges have met."""
    names = names_of("surfaces")
    run, body, scheme = names["run"], names["body"], names["scheme"]
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]
    v = scheme.v_mean[: body.owned].reshape(-1, 2)
    momentum = body.comm.allreduce(body.mass[::2] @ v)
    assert momentum == pytest.approx([180 * 0.2, -180.0], abs=1e-10)
    assert run["r"].sum() > 100 and -0.5 * run["kinetic"][0] < run["contact"][-1] < 0
    assert np.nanmin(run["gap"]) > -2.0 * scheme.dt
    said = names["everything"].certificate()  # of crossed bars
    assert said.passed == said.together == 0 < said.added


def test_resumed_run(names_of):
    """The history of a resumed run is that of an uninterrupted one."""
    names = names_of("runs_and_files")
    names["scheme"].start(1.0, 0.0)
    whole, again = di.simulate(names["scheme"], t_end=2.0), names["again"]
    assert again.steps == 2000 and again["r"].sum() > 1.5 * names["run"]["r"].sum() > 0
    assert all(np.array_equal(whole[name], again[name]) for name in whole)
    row, frame = names["row"], names["frame"]
    assert row["impulse"] == frame["r:0"].sum() and row["lost"] == pytest.approx(0.36 * 9.81, rel=1e-2)
    assert Path("ball.csv").read_text().count("\n") == 1 + len(frame)


def test_split_bar(names_of):
    names = names_of("subdomains")
    run, scheme = names["run"], names["scheme"]
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]
    assert scheme.velocity_jump() < 1e-13 * 5
    # The wall reverses the momentum of the whole bar: m v0 = 6.43 N s twice.
    momentum = 7847 * 0.645e-3 * 0.254 * 5
    assert run["r"].sum() == pytest.approx(2 * momentum, rel=0.02)


def test_plots(names_of, shared_path):
    names_of("plots")
    for name in ("ball.png", "energy.png"):
        assert (shared_path / name).stat().st_size > 10_000


def test_metals(names_of):
    """Both laws dissipate what the vibrations lose, to the error of the time integration."""
    names = names_of("metals")
    assert closes(names["metal"]) and closes(names["run"])
    assert 1.5 < names["strain"] < 3.0 and 0.3 < names["share"] < 0.45
    assert names["left"] + names["run"]["plastic_work"][-1] / names["run"]["kinetic"][0] == pytest.approx(
        1, abs=0.03
    )


def test_every_program_is_run():
    """By this file, or by another test that names the page."""
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for page, programs in PROGRAMS.items():
        assert not programs or page == "index" or page.rpartition("/")[2] in sources, page


# -- tables


@SPHINX
def test_every_demo_has_its_card_and_page():
    demos, programs = part_of_the_site("demos"), {path.stem for path in (ROOT / "demos").glob("*.py")}
    assert set(demos.DEMOS) == programs == set(re.findall(r"^demos/(\w+)$", PAGES["demos"], re.M))
    assert "<!-- insert: gallery -->" in PAGES["demos"] and "cluster.sh" in PAGES["demos"]
    cards = demos.gallery("", "../")
    assert all(
        f"](../demos/{name}.py)" in cards and demo.shows in cards for name, demo in demos.DEMOS.items()
    )


def test_every_page_is_in_a_table_of_contents():
    """Those of the how-to guides by a pattern."""
    for page in PAGES.keys() - {"index"}:
        folder, _, name = page.rpartition("/")
        index = PAGES[f"{folder}/index" if folder and name != "index" else "index"]
        assert re.search(rf"^{re.escape(page if name == 'index' else name)}$", index, re.M) or (
            folder == "howto" and ":glob:" in index
        ), page


@pytest.mark.parametrize("folder", [".", ".docs", ".github"])
def test_links_lead_to_files(folder):
    pages = FILES if folder == ".docs" else list((ROOT / folder).glob("*.md"))
    assert pages
    for page in pages:
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
        for target in re.findall(r"\]\((?!https?:|mailto:)([^)#]+)[^)]*\)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_picture_is_small():
    (picture,) = (path for path in DOCS.rglob("*.png") if "demos" not in path.relative_to(DOCS).parts)
    assert picture.stat().st_size <= 100_000 and f".docs/{picture.name}" in (ROOT / "README.md").read_text()


# -- the site


@SPHINX
def test_every_public_name_is_on_a_page_of_the_reference():
    api = part_of_the_site("api")
    pages = {page: api.reference(page) for page in api.PAGES}
    assert all(f"<!-- insert: api {page} -->" in PAGES[f"api/{page}"] for page in pages)
    for name in di.__all__:
        thing = getattr(di, name)
        what = f"automodule:: {thing.__name__}" if inspect.ismodule(thing) else f":: dolfinx_impact.{name}"
        listed = [page for page, text in pages.items() if re.search(rf"{re.escape(what)}\n", text)]
        assert len(listed) == 1 or name == "__version__", f"{name}: {listed}"


@SPHINX
def test_names_of_public_modules_are_on_their_pages():
    api = part_of_the_site("api")
    text = "".join(api.reference(page) for page in api.PAGES)
    for module in (di.materials, di.mesh, di.obstacles, di.output, di.plot, di.exact, report, bridge_crane):
        for name in module.__all__:
            thing = getattr(module, name)
            path = name if name in di.__all__ else f"{module.__name__.removeprefix('dolfinx_impact.')}.{name}"
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert f":: dolfinx_impact.{path}\n" in text, path


@SPHINX
def test_page_of_the_report(monkeypatch):
    """It counts the claims of each kind and source, and gives the reason of those that do not hold."""
    claim = {"id": "a", "paper": "Jean (1999)", "where": "Fig. 1", "claim": "It holds.", "measured": 0.5}
    claim |= {"expected": 0.0, "tolerance": 0.1, "relation": "<=", "reproduced": True, "why": "a reason"}
    claim["kind"] = "verified"
    other = {**claim, "id": "b", "claim": "It does not.", "reproduced": False, "why": "another | reason"}
    shots = [{**other, "id": CLAIMS[0].id, "kind": "validated", "paper": "Taylor (1948)"}]
    report = {"date": "2026-01-02", "versions": {"commit": "abc123"}, "claims": [claim, other, *shots]}
    site = part_of_the_site("report")
    page, validated = site.describe(report).split("## Validated against measurements\n")
    assert "| Taylor (1948) | 1 | 0 | 1 | 0 |" in validated and "Taylor" not in page
    assert "2026-01-02" in page and "abc123" in page
    assert "| Jean (1999) | 2 | 1 | 1 | 0 |" in page
    assert r"| It does not. | 0.5 | 0 | another \| reason |" in page and "| It holds. | 0.5 | 0 |" in page
    monkeypatch.setattr(site, "stored", lambda: report)
    *_, verified, validated = site.counts("").splitlines()
    assert verified.endswith("| 2 | 1 | 1 | 0 |") and validated.startswith("| [validated](experiments.md) ")
    shown = site.validated(CLAIMS[0].case)
    assert "| Fig. 1 | It does not. | 0.5 | ≤ 0.1 | not reproduced |" in shown
    assert r"another \| reason" in shown.partition("<details>")[2]


@SPHINX
def test_tables_of_experiments():
    """All shots are in both; a set that is claimed says its bound."""
    experiments, studies = part_of_the_site("experiments"), part_of_the_site("studies")
    sets = [line.strip("| ").split(" | ") for line in experiments.table("sets").splitlines()[2:]]
    assert sum(int(row[3]) for row in sets) == 79 == len(studies.table("shots").splitlines()) - 2
    assert dict((row[0], row[-1]) for row in sets)["6061-wilkins"] == "4%, 6%"
    assert "| 90, 292, 0.31, 0.025, 1.09 |" in experiments.table("metals")


@SPHINX
def test_tables_of_schemes(monkeypatch):
    """Every scheme is in those of the classes; the measured properties are those of the stored report."""
    schemes = part_of_the_site("schemes")
    listed = f"{schemes.catalogue()}\n{schemes.numbered()}"
    assert all(f"| `{name}` |" in listed for name in di.SCHEMES)
    assert all(line.count("|") == 8 for line in listed.splitlines())
    rows = [{"name": "order", "measured": 1.98765, "reproduced": True}]
    rows += [{"name": "rest", "measured": None, "reproduced": None}]
    monkeypatch.setattr(schemes.report, "stored", lambda: {"schemes": {"cd-lagrange": rows}})
    head, _, row = schemes.properties().splitlines()
    assert head == "| scheme | order | rest |" and row == "| `cd-lagrange` | yes (1.99) | - |"


@SPHINX
def test_tables_of_measured_costs(tmp_path, monkeypatch):
    """They show what the command prints, when and where; a case that is measured anew takes its place."""
    measured = part_of_the_site("measured")
    assert all(f"<!-- insert: measured {name} -->" in "".join(PAGES.values()) for name in measured.TABLES)
    elements = measured.elements().splitlines()
    assert {row.split(" | ")[0].strip("| ") for row in elements[2:-2]} == solids.KINDS.keys()
    assert re.fullmatch(r"Measured on \d{4}-\d\d-\d\d: .+\.", elements[-1])
    before = measured.FILE.read_text()
    monkeypatch.setattr(measured, "FILE", tmp_path / "measured.jsonl")
    measured.FILE.write_text(before)
    commands = []

    def printed(words, **how):
        commands.append(words)
        numbers = {"faster": 2.0, "faster with set-up": 1.5, "difference": 0.01, "interface": 0.25}
        same = {"case": "solid-crane", "what": "solid-crane"}
        of = ", m = 7, 8 layers"
        lines = [{**same, "name": name + of, "value": value} for name, value in numbers.items()]
        return subprocess.CompletedProcess(words, 0, "\n".join(map(json.dumps, lines)))

    monkeypatch.setattr(measured.subprocess, "run", printed)
    measured.renew(["solid-crane"])
    assert [words[1:] for words in commands] == [
        ["-m", "dolfinx_impact.benchmark", "speed", "--json", "--case", "solid-crane"]
    ]
    assert measured.crane().splitlines()[2:3] == ["| m = 7 | 2.0 | 1.5 | 1.0% | 25% |"]
    assert measured.elements().splitlines() == elements
    commands.clear()
    measured.renew()
    ranks = [words[words.index("-n") + 1] if "mpirun" in words else "1" for words in commands]
    assert ranks == ["1", "2", "1", "1", "2", "1", "1", "1", "2", "1", "1"] and "--dofs" in commands[0]


@SPHINX
def test_tables_of_studies():
    """Each is stored, and on a page."""
    studies = part_of_the_site("studies")
    assert studies.TABLES.keys() == json.loads(studies.FILE.read_text()).keys()
    for name in studies.TABLES:
        assert any(f"<!-- insert: study {name} -->" in text for text in PAGES.values())
        assert studies.table(name).splitlines()[1].startswith("| --- |")


@SPHINX
def test_table_of_the_release():
    """CD-Lagrange stops the contact node, 1 / (2 N) of the energy; without its mass little is lost."""
    (row,) = part_of_the_site("measured").release([25]).splitlines()[2:3]
    elements, quiet, loud, little, lost = (float(cell) for cell in row.strip("| ").split(" | "))
    assert elements == 25 and lost == pytest.approx(1 / 50, rel=1e-6) and little < 0.05 * lost
    assert quiet < 0.5 * loud < 0.1


@SPHINX
def test_page_of_a_demo():
    """It begins with its film and three sentences, and ends with what is printed and what that says."""
    demos = part_of_the_site("demos")
    for name in demos.DEMOS:
        cells = demos.notebook(demos.page(name, (ROOT / "demos" / f"{name}.py").read_text())).cells
        title, film, words, *_ = cells[0].source.split("\n\n")
        assert title.startswith("# ") and f"../_static/demos/{name}/" in film, name
        assert len(re.findall(r"[.:](?=\s|$)", words)) >= 3 and cells[-1].source.startswith("## The result")
        assert "```text\n" in cells[-2].source


@SPHINX
def test_stored_files():
    """4 MB in all; a film or picture, a card and what is printed of every demo; claims that the code has."""
    demos, report = part_of_the_site("demos"), part_of_the_site("report")
    files = [path for path in demos.STORED.parent.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 4e6
    for name, demo in demos.DEMOS.items():
        first = Path(demo.first)
        wanted = {"card.webp", "printed.txt", f"{first.stem}.webp"}
        wanted |= {f"{first.stem}.mp4"} if first.suffix == ".gif" else set()
        assert wanted <= {path.name for path in (demos.STORED / name).iterdir()}, name
    known = json.loads(verdicts.KNOWN.read_text())
    assert verdicts.differences(report.stored(), known) == [] and known.keys() == {c.id for c in CLAIMS}
    drawn = {path.name.partition(".")[0] for path in report.STORED.glob("*.svg.gz")}
    assert drawn == {figure.id for figure in FIGURES}
    for path in report.STORED.glob("*.svg.gz"):  # letters are there, and are not shrunk to nothing
        text = gzip.decompress(path.read_bytes()).decode()
        assert "DejaVuSans" in text and not re.search(r"scale\(0(\.0+)?[ )]", text), path.name


def test_every_argument_of_a_public_name_is_described():
    """Where a docstring has a list of arguments, none is missing."""
    modules = (di, exact, di.mesh, di.plot)
    names = [(module, name) for module in modules for name in module.__all__]
    missing = []
    for module, name in names:
        thing = getattr(module, name)
        described = (inspect.getdoc(thing) or "").partition("Args:")[2]
        if not callable(thing) or not described:
            continue
        described = re.split(r"\n(?:Returns|Raises|Attributes):", described)[0]
        given = inspect.signature(thing).parameters.values()
        wanted = [each.name for each in given if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
        missing += [f"{name}: {each}" for each in wanted if not re.search(rf"\b{each}\b", described)]
    assert missing == []


@SPHINX
def test_a_report_is_stored(tmp_path, monkeypatch):
    """What pages show of it, a row a line; figures with coordinates to a tenth, and factors as they are."""
    store = part_of_the_site("store")
    monkeypatch.setattr(store, "RESULTS", tmp_path)
    monkeypatch.setattr(store.report, "STORED", tmp_path / "stored")
    with pytest.raises(SystemExit, match="benchmark report"):
        store.store_report()
    claim = dict.fromkeys(
        "id paper where claim kind measured expected tolerance relation reproduced why scale".split(), 1
    )
    made = {
        "versions": {"numpy": "2"},
        "cases": {"a": {}},
        "claims": [claim],
        "schemes": {"hati": [claim | {"name": "n"}]},
    }
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "report.json").write_text(json.dumps(made))
    (tmp_path / "report" / "a.svg").write_text(
        '<svg><!-- no -->\n <path d="M 1.2345 -2.0001" transform="scale(0.015625)"/>\n</svg>'
    )
    store.store_report()
    stored = store.report.stored()
    assert "scale" not in stored["claims"][0] and stored["versions"] == {"numpy": "2"}
    assert gzip.decompress((tmp_path / "stored" / "a.svg.gz").read_bytes()) == (
        b'<svg>\n<path d="M 1.2 -2" transform="scale(0.015625)"/>\n</svg>'
    )
    with pytest.raises(SystemExit, match="nothing is called 'x'"):
        store.main(["x"])


@SPHINX
def test_sketches():
    """All are on pages, have a title and a size, and name every obstacle."""
    sketches = part_of_the_site("sketches")
    assert set(sketches.SKETCHES) == set(re.findall(r"insert: sketch (\S+) -->", "".join(PAGES.values())))
    for name in sketches.SKETCHES:
        figure = ElementTree.fromstring(sketches.sketch(name).replace("&#8203;", ""))
        for svg in figure:
            assert (
                svg.get("role") == "img"
                and svg[0].tag.endswith("title")
                and svg[0].text == svg.get("aria-label")
            )
            _, _, width, height = map(float, svg.get("viewBox").split())
            points = [point.split(",") for part in svg for point in (part.get("points") or "").split()]
            assert all(0 <= float(x) <= width and 0 <= float(y) <= height for x, y in points), name
    drawn = sketches.sketch("obstacles")
    shapes = set(di.obstacles.__all__) - {"Obstacle", "Shape"}
    assert all(f">{shape}</text>" in drawn for shape in shapes)


@SPHINX
def test_search_knows_no_internals():
    api = part_of_the_site("api")
    public = ("Solid", "Solid.force", "SCHEMES", "mesh.read", "benchmark.report.write")
    assert all(api.is_public(f"dolfinx_impact.{name}") for name in public)
    internal = ("contact.surfaces.search.Boxes", "systems.masses.lumped", "integrators.options.LUMPED")
    assert not any(api.is_public(f"dolfinx_impact.{name}") for name in internal)


@SPHINX
def test_theme_is_repaired():
    """Its script imports what it calls; its dark colours are those of readers who prefer them."""
    theme = part_of_the_site("theme")
    assert (
        theme.script('import * as Gumshoe from "./g.js";\nf(\n  console.log(`a`);\n)')
        == 'import "./g.js";\nf(\n)'
    )
    given = 'body[data-theme="dark"] {\n  --color-a: #000; }'
    once = theme.style(given)
    assert once.startswith(given) and 'body:not([data-theme="light"]) {\n  --color-a: #000; }' in once
    assert theme.style(once) == once


@SPHINX
def test_insertions_of_all_pages_are_known(tmp_path):
    insertions, programs = part_of_the_site("insertions"), part_of_the_site("programs")
    kinds = {kind for text in PAGES.values() for kind, _ in insertions.LINE.findall(text)}
    assert kinds == {"lines", "output", *insertions.MAKERS, *insertions.PLACED}
    program = "```python\nprint({} + 1)\n```\n\n<!-- insert: output -->\n"
    text, file = program.format(1) + program.format(2), DOCS / "page.md"
    page = insertions.expand(text, file, programs.outputs(text, file, tmp_path))
    assert "```text\n2\n```" in page and "```text\n3\n```" in page  # each what is new


@SPHINX
@pytest.mark.nightly  # a workflow of its own builds the site with every change
def test_site_is_built_without_a_warning(launch, tmp_path):
    """With the Sphinx of Debian 13 (that of unstable follows the link to the demos); no demo is run."""
    if importlib.import_module("sphinx").version_info >= (9,):
        pytest.skip("the site is built in the image of Debian 13")
    options = ["-W", "--keep-going", "-q", "-b", "dummy", "-d", tmp_path / "trees"]
    done = launch(["-m", "sphinx", *options, DOCS, tmp_path / "site"])
    assert done.returncode == 0, done.stderr

"""Pages of the documentation: programs run, tables of schemes are those of the classes, links exist."""

import re
from pathlib import Path

import numpy as np
import pytest
from support.paths import ROOT

import dolfinx_impact as di
from dolfinx_impact.integrators.catalogue import CLASSES, table

PAGES = {path.stem: path.read_text() for path in (ROOT / ".docs").glob("*.md")}
PROGRAMS = {name: re.findall(r"```python\n(.*?)```", text, re.S) for name, text in PAGES.items()}


def run_program(page):
    """Names that the program of a page defines."""
    (program,) = PROGRAMS[page]
    names: dict = {}
    exec(compile(program, f".docs/{page}.md", "exec"), names)
    return names


def test_ball_is_that_of_the_readme():
    (program,) = PROGRAMS["getting_started"]
    assert f"```python\n{program}```" in (ROOT / "README.md").read_text()


@pytest.mark.mpi
def test_block():
    """The box acts on it by normal impulses, friction and torque, which are consistent."""
    names = run_program("bodies")
    run, block, scheme = names["run"], names["block"], names["scheme"]
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]
    assert np.all(np.linalg.norm(run["r_t"], axis=2) <= 0.4 * run["r"] * (1 + 1e-12))
    assert run["r"].sum() > 0 and run["contact"][-1] < 0 and run["gap"].min() > -3.5 * scheme.dt
    assert block.total_mass == pytest.approx(8.0, rel=1e-12)


def test_obstacles():
    gaps = run_program("contact")["gaps"]
    assert gaps.keys() == {"bowl", "stairs", "wavy floor", "lift"}
    assert gaps["bowl"] == pytest.approx(1 - np.hypot(0.3, 0.5), rel=1e-14)
    assert gaps["stairs"] == pytest.approx(0.5, rel=1e-14)
    assert gaps["wavy floor"] == pytest.approx(0.5 - 0.1 * np.sin(0.3), rel=1e-14)
    assert gaps["lift"] == pytest.approx(0.5 - 0.2, rel=1e-14)


@pytest.mark.mpi
def test_colliding_blocks():
    """The upper block has bounced off the lower one, and both have their momentum."""
    names = run_program("surfaces")
    run, body, scheme = names["run"], names["body"], names["scheme"]
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]
    v = scheme.v_mean[: body.owned].reshape(-1, 2)
    momentum = body.comm.allreduce(body.mass[::2] @ v)
    assert momentum == pytest.approx([180 * 0.2, -180.0], abs=1e-10)
    assert run["r"].sum() > 100 and -0.5 * run["kinetic"][0] < run["contact"][-1] < 0
    assert np.nanmin(run["gap"]) > -2.0 * scheme.dt


@pytest.mark.mpi
def test_resumed_run(shared_path, monkeypatch):
    """The history of a resumed run is that of an uninterrupted one."""
    monkeypatch.chdir(shared_path)
    names = run_program("runs_and_files")
    names["scheme"].start(1.0, 0.0)
    whole, again = di.simulate(names["scheme"], t_end=2.0), names["again"]
    assert again.steps == 2000 and again["r"].sum() > 1.5 * names["run"]["r"].sum() > 0
    assert all(np.array_equal(whole[name], again[name]) for name in whole)


@pytest.mark.mpi
def test_split_bar():
    names = run_program("subdomains")
    run, scheme = names["run"], names["scheme"]
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]
    assert scheme.velocity_jump() < 1e-13 * 5
    # The wall reverses the momentum of the whole bar: m v0 = 6.43 N s twice.
    momentum = 7847 * 0.645e-3 * 0.254 * 5
    assert run["r"].sum() == pytest.approx(2 * momentum, rel=0.02)


@pytest.mark.mpi
def test_plots(shared_path, monkeypatch):
    monkeypatch.chdir(shared_path)
    run_program("plots")
    for name in ("ball.png", "energy.png"):
        assert (shared_path / name).stat().st_size > 10_000


def test_user_defined_scheme():
    spring = di.PointMasses(1.0, stiffness=[[4.0]])
    scheme = run_program("extending")["FreeFlight"](spring, 1e-3)
    scheme.start(1.0, 0.0)
    run = di.simulate(scheme, t_end=10.0)
    assert np.abs(run["u"][:, 0] - np.cos(2 * run["t"])).max() < 2e-3


def test_every_program_is_run():
    source = Path(__file__).read_text()
    for page, programs in PROGRAMS.items():
        assert len(programs) <= 1 and (not programs or f'"{page}"' in source), page


def test_tables_of_schemes_are_those_of_the_classes():
    numbered = [name for name in CLASSES if name.startswith("dep-")]
    assert table(*(name for name in CLASSES if name not in numbered)) in PAGES["schemes"]
    assert table(*numbered, papers=False) in PAGES["schemes"]
    assert all(f"| `{name}` |" in PAGES["schemes"] for name in di.SCHEMES)


def test_index_has_every_page():
    listed = re.findall(r"^\| \[.*?\]\((\w+)\.md\)", PAGES["index"], re.M)
    assert sorted(listed) == sorted(PAGES.keys() - {"index"})


def test_every_demo_has_its_row():
    listed = re.findall(r"^\| `(\S+)` \|", PAGES["demos"], re.M)
    assert sorted(listed) == sorted(path.name for path in (ROOT / "demos").iterdir() if path.is_file())


@pytest.mark.parametrize("folder", [".", ".docs", ".github"])
def test_links_lead_to_files(folder):
    pages = list((ROOT / folder).glob("*.md"))
    assert pages
    for page in pages:
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
        for target in re.findall(r"\]\((?!https?:|mailto:)([^)#]+)[^)]*\)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"

"""The README says what is so."""

import re

import numpy as np
import pytest
from support.paths import ROOT

import dolfinx_impact as di

README = (ROOT / "README.md").read_text()


def test_ball_of_the_readme():
    program, *_ = re.findall(r"```python\n(.*?)```", README, re.S)
    names: dict = {}
    exec(compile(program, "README.md", "exec"), names)
    run = names["run"]
    # The first impact of the exact solution, and its height after it.
    first = np.sqrt(2 / 9.81)
    assert run["t"][np.flatnonzero(run["r"].sum(axis=1))[0]] == pytest.approx(first, abs=2e-3)
    bounce = run["u"][(run["t"] > first) & (run["t"] < 2.5 * first), 0].max()
    assert bounce == pytest.approx(0.8**2, abs=1e-2)
    assert np.abs(run["residual"]).max() < 1e-12 * run["external"].max()
    assert program.count("\n") <= 14


def test_block_of_the_readme():
    """The box acts on it by normal impulses, friction and torque, which are consistent."""
    _, program, *_ = re.findall(r"```python\n(.*?)```", README, re.S)
    names: dict = {}
    exec(compile(program, "README.md", "exec"), names)
    run, block, scheme = names["run"], names["block"], names["scheme"]
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]
    assert np.all(np.linalg.norm(run["r_t"], axis=2) <= 0.4 * run["r"] * (1 + 1e-12))
    assert run["r"].sum() > 0 and run["contact"][-1] < 0 and run["gap"].min() > -3.5 * scheme.dt
    assert block.total_mass == pytest.approx(8.0, rel=1e-12)


def test_kept_ball_of_the_readme(shared_path, monkeypatch):
    """The history of a run that went on is that of one that did not stop."""
    _, _, program, *_ = re.findall(r"```python\n(.*?)```", README, re.S)
    monkeypatch.chdir(shared_path)
    names: dict = {}
    exec(compile(program, "README.md", "exec"), names)
    names["scheme"].start(1.0, 0.0)
    whole, again = di.simulate(names["scheme"], t_end=2.0), names["again"]
    assert again.steps == 2000 and again["r"].sum() > 1.5 * names["run"]["r"].sum() > 0
    assert all(np.array_equal(whole[name], again[name]) for name in whole)


def test_divided_bar_of_the_readme():
    _, _, _, program, _ = re.findall(r"```python\n(.*?)```", README, re.S)
    names: dict = {}
    exec(compile(program, "README.md", "exec"), names)
    run, scheme = names["run"], names["scheme"]
    assert np.abs(run["residual"]).max() < 1e-12 * run["kinetic"][0]
    assert scheme.velocity_jump() < 1e-13 * 5
    # The wall turns the momentum of the whole bar round: m v0 = 6.43 N s twice.
    momentum = 7847 * 0.645e-3 * 0.254 * 5
    assert run["r"].sum() == pytest.approx(2 * momentum, rel=0.02)


def test_scheme_of_the_readme():
    *_, program = re.findall(r"```python\n(.*?)```", README, re.S)
    names: dict = {}
    exec(compile(program, "README.md", "exec"), names)
    spring = di.PointMasses(1.0, stiffness=[[4.0]])
    scheme = names["FreeFlight"](spring, 1e-3)
    scheme.start(1.0, 0.0)
    run = di.simulate(scheme, t_end=10.0)
    assert np.abs(run["u"][:, 0] - np.cos(2 * run["t"])).max() < 2e-3


def test_every_scheme_is_in_the_table():
    for name in di.SCHEMES:
        assert f"| `{name}` |" in README


def test_versions_are_those_of_the_package():
    project = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{di.__version__}"' in project
    assert f"version = {{{di.__version__}}}" in README

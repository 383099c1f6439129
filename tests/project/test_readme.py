"""The README says what is so."""

import re

import numpy as np
import pytest
from support.paths import ROOT

import dolfinx_impact as di

README = (ROOT / "README.md").read_text()


def test_ball_of_the_readme():
    (program,) = re.findall(r"```python\n(.*?)```", README, re.S)
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


def test_it_has_at_most_150_lines():
    assert README.count("\n") <= 150


def test_versions_are_those_of_the_package():
    """Also at the top of the change log: the last release, or the one under way."""
    project, change_log, citation = (
        (ROOT / name).read_text() for name in ("pyproject.toml", "CHANGELOG.md", "CITATION.cff")
    )
    assert f'version = "{di.__version__}"' in project
    assert f"version = {{{di.__version__}}}" in README
    assert re.search(r"^version: (.*)$", citation, re.M)[1] == di.__version__
    sections = re.findall(r"^## \[(.*?)\]", change_log, re.M)
    assert next(name for name in sections if name != "Unreleased") == di.__version__

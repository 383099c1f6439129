"""Output during a run."""

import re
import sys

import numpy as np
import pytest
from mpi4py import MPI
from support.points import ball

from dolfinx_impact import Checkpoint, simulate
from dolfinx_impact.simulation import progress


@pytest.fixture
def at_once(monkeypatch):
    """A bar that is drawn at every step."""
    pytest.importorskip("tqdm")
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    monkeypatch.setenv("COLUMNS", "160")


@pytest.mark.mpi
@pytest.mark.parametrize("compiled", [False, None])
def test_bar_and_summary(compiled, at_once, capfd):
    run = simulate(ball(), t_end=1.0, progress=True, compiled=compiled)
    said = capfd.readouterr().err
    if MPI.COMM_WORLD.rank > 0:
        assert said == ""
        return
    *bars, last = said.replace("\r", "\n").strip().splitlines()
    assert last == run.summary() and "balance residual" in last
    final = next(line for line in reversed(bars) if line.strip())
    assert "100%" in final and "1000/1000 steps" in final
    assert re.search(r"\[\d\d:\d\d<\d\d:\d\d, .*(steps/s|\?)", final)
    drift = float(re.search(r"energy drift (\S+) \[", final)[1])
    assert abs(drift) < 1e-12


def test_a_bar_alone(at_once, capfd, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    simulate(ball(), t_end=0.3, progress="bar")
    said = capfd.readouterr().err
    assert "steps to t =" not in said
    assert MPI.COMM_WORLD.rank > 0 or "300/300 steps" in said


def test_a_run_that_goes_on_begins_where_it_was(at_once, shared_path, capfd):
    scheme = ball()
    simulate(scheme, t_end=1.0, checkpoint=Checkpoint(shared_path / "run", every=600), progress=False)
    simulate(ball(), t_end=1.0, restart=shared_path / "run", progress=True)
    said = capfd.readouterr().err
    if MPI.COMM_WORLD.rank == 0:
        first = next(line for line in said.replace("\r", "\n").splitlines() if "/1000 steps" in line)
        assert int(re.search(r"(\d+)/1000 steps", first)[1]) >= 600


def test_without_a_balance_there_is_no_drift(at_once, capfd):
    simulate(ball(), t_end=0.1, progress=True, energies=False)
    said = capfd.readouterr().err
    assert "drift" not in said and (MPI.COMM_WORLD.rank > 0 or "t = 0.1 s" in said)


def test_nobody_looks(capfd):
    run = simulate(ball(), t_end=0.1)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "") and np.isfinite(run["residual"]).all()

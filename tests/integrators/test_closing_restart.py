"""Runs that are stopped while an interference closes, after steps in parts, and go on as if they were not."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact.integrators.one_step.position_step import PositionStep
from dolfinx_impact.integrators.one_step.static_step import StaticStep

KINDS = {
    "theta": (di.MoreauJean, {"theta": 1.0, "position": True}),
    "alpha": (di.GeneralizedAlpha, {"rho_inf": 0.3, "position": True}),
    "static": (di.Static, {}),
}
STEPS, HALF, IN_PARTS = 6, 3, 1
#: The others are like it in what they keep.
NAMES = [pytest.param(name, marks=pytest.mark.slow) for name in ("theta", "alpha")] + ["static"]


def made(name):
    """Two blocks 4 mm inside each other, the upper one dragged: rough surfaces, closing in 5 of 6 steps."""
    parts = {}
    for part, low, cells in (("upper", 0.096, (3, 1)), ("lower", 0.0, (4, 1))):
        box = [(0.0, low), (0.3, low + 0.1)]
        parts[part] = di.named(
            dmesh.create_rectangle(MPI.COMM_SELF, box, cells, dmesh.CellType.quadrilateral),
            bottom=lambda x, y=low: np.isclose(x[1], y),
            top=lambda x, y=low + 0.1: np.isclose(x[1], y),
        )
    body = di.Solid(
        di.mesh.join(parts),
        density=1.0,
        law=di.LinearElastic(1e3, 0.3),
        fixed=["lower/bottom"],
        prescribed={"upper/top": {0: lambda t: 2e-3 * t, 1: lambda t: 0.0}},
    )
    contact = di.SurfaceContact(body, "upper/bottom", "lower/top", friction=0.3, allow_penetration=True)
    kind, options = KINDS[name]
    return kind(body, 1.0, contact=contact, closing=5.0, **options)


@pytest.fixture
def in_parts(monkeypatch):
    """The second step is found in two halves alone."""
    for solver in (PositionStep, StaticStep):
        original = solver.update

        def update(self, original=original):
            original(self)
            s = self._scheme
            if abs(s.t - s.t0 - IN_PARTS - 1) < 1e-9 and s.h == s.dt and s.n == IN_PARTS + 1:
                raise di.NotConverged("as the test wants")

        monkeypatch.setattr(solver, "update", update)


def run(s, steps):
    for _ in range(steps):
        s.step()
        assert s.h == s.dt and s.part_end is None  # no part of a step survives it
    return s


def start(name):
    s = made(name)
    s.start(0.0, 0.0, allow_penetration=True)
    return s


@pytest.mark.parametrize("name", NAMES)
def test_a_run_goes_on_while_it_closes(name, in_parts, tmp_path):
    whole = run(start(name), STEPS)
    assert (whole.halved.halved, whole.halved.smallest) == (1, 2)
    first = run(start(name), HALF)
    assert first.gap_start.min() == pytest.approx(-4e-3, rel=1e-3)
    assert np.abs(first.r_t_position).max() > 0.0
    path = tmp_path / "half.npz"
    di.checkpoint.save(path, first)
    again = made(name)
    di.checkpoint.load(path, again)
    assert {"r_position", "r_t_position", "gap_start"} < set(again.state())
    if name == "alpha":  # which has the contact part of the accelerations
        assert np.array_equal(again.a, first.a) and np.abs(first.a).max() > 0.0
    run(again, STEPS - HALF)
    assert again.halved.halved == 0
    for each in (*whole.state_names, "w"):
        size = np.abs(getattr(whole, each)).max()
        np.testing.assert_allclose(
            getattr(again, each), getattr(whole, each), rtol=0, atol=1e-12 * size, err_msg=each
        )


def test_interference_taken_anew_at_a_restart_closes_otherwise():
    """The negative control: of 4 mm two fifths are left, which would be taken for the whole again."""
    first = run(start("static"), HALF)
    again = made("static")
    again.resume(first.state())
    again._note_penetrations()
    assert again.gap_start.min() == pytest.approx(-4e-3 * 2 / 5, rel=1e-3)
    run(again, 1)
    run(first, 1)
    assert np.abs(again.u - first.u).max() > 1e-4

"""Histories are cut from parts of a run: how long the parts are changes nothing, on any number of ranks."""

import numpy as np
import pytest
from support import cases
from support.restarts import STEPS, rubber, whole

import dolfinx_impact as di
from dolfinx_impact.integrators import step_buffer as steps

IN_SPACE = {"dimension": 3, "elements": 10, "lateral": 2}
TERMS = di.EnergyBalance.state_names

pytestmark = pytest.mark.mpi


def run(case, scheme="cd-lagrange", **changes):
    problem = cases.made(case, scheme, **changes)
    result = problem.simulate(compiled=False)
    return result, problem.judge(result)[0]


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize(
    "every, case, scheme, settings",
    [
        *((every, "impacting-bar", "cd-lagrange", IN_SPACE) for every in (1, 7, 1000)),
        (7, "impacting-bar", "combined", {}),
        (1, "rotating-spring", "cd-lagrange", {"friction": 0.2, "restitution": 0.0, "t_end": 20.0}),
    ],
)
def test_the_length_of_the_parts_changes_nothing(case, scheme, settings, every, monkeypatch):
    """Ranks with and without contact points must hand on the same steps together."""
    whole, results = run(case, scheme, every=every, **settings)
    monkeypatch.setattr(steps, "_NUMBERS", 2500)
    parts, results_of_parts = run(case, scheme, every=every, **settings)
    energy = max(np.abs(whole[name]).max() for name in TERMS)
    for name in whole:
        if whole[name].dtype.kind == "f":  # on several ranks two meshes are not numbered alike
            scale = energy if name in (*TERMS, "residual") else np.abs(whole[name]).max(initial=0)
            np.testing.assert_allclose(parts[name], whole[name], rtol=0, atol=1e-12 * scale, err_msg=name)
    assert results_of_parts == pytest.approx(results, rel=1e-10, abs=1e-13)


def test_impulses_between_samples_are_summed():
    every_step, _ = run("bouncing-ball", restitution=0.5)
    seldom, _ = run("bouncing-ball", restitution=0.5, every=45)
    ends = np.minimum(np.arange(len(seldom["t"])) * 45, len(every_step["t"]) - 1)
    sums = np.diff(np.cumsum(every_step["r"][:, 0])[ends], prepend=0.0)
    np.testing.assert_allclose(seldom["r"][:, 0], sums, rtol=1e-13)
    np.testing.assert_array_equal(seldom["t"], every_step["t"][ends])


def test_stored_energy_is_that_of_the_samples():
    """Energies of samples every few steps equal those of runs that sample every step."""

    class Counted:
        def __init__(self, needs_energies):
            self.needs_energies, self.internal = needs_energies, []

        def follow(self, steps):
            self.internal += list(steps.energies[: steps.count, TERMS.index("internal")])

    every, few = whole(rubber), whole(rubber, every=40, observers=[Counted(False)])
    where = [*range(0, STEPS, 40), STEPS]
    for name in ("kinetic", "internal", "internal_work", "contact", "residual"):
        assert np.array_equal(few[name], every[name][where]), name
    watched, lazy = Counted(True), Counted(False)
    whole(rubber, every=40, observers=[watched])
    whole(rubber, every=40, observers=[lazy])
    assert len(set(lazy.internal)) < 10 < len(set(watched.internal))

"""The scheme of the demo does what its description says."""

import ast
import sys

import numpy as np
import pytest
from mpi4py import MPI
from support.paths import DEMOS

import dolfinx_impact as di
from dolfinx_impact.benchmark.cases import CASES
from dolfinx_impact.benchmark.cases.impacting_bar import case as impacting_bar
from dolfinx_impact.benchmark.cases.solid_crane import statics
from dolfinx_impact.benchmark.report import properties
from dolfinx_impact.benchmark.runs import FailedRun

sys.path.append(str(DEMOS))

from own_scheme import TchamwaWielgosz  # noqa: E402


class Undamped(TchamwaWielgosz):
    phi = 1.0


class Strong(TchamwaWielgosz):
    phi = 1.3


def test_it_takes_at_most_sixty_lines():
    tree = ast.parse((DEMOS / "own_scheme.py").read_text())
    (scheme,) = (node for node in tree.body if getattr(node, "name", "") == "TchamwaWielgosz")
    assert scheme.end_lineno - scheme.lineno < 60


def bar(scheme, h=None):
    p = properties.defaults("impacting-bar", elements=20, t_end=2e-4, nu=None, mass=None)
    setup = impacting_bar.Bar().build(p)
    integrator = scheme(setup.system, h or 0.7 * setup.critical, contact=setup.contact)
    integrator.start(0.0, -p["v0"])
    return di.simulate(integrator, t_end=p["t_end"], progress=False)


def test_without_damping_it_is_cd_lagrange():
    mine, built_in = bar(Undamped), bar(di.CDLagrange)
    for name in ("u", "v_t", "r", "gap"):
        scale = np.abs(built_in[name]).max()
        assert np.abs(mine[name] - built_in[name]).max() <= 1e-12 * scale


def test_a_mode_loses_what_the_theory_says():
    """|lambda|^2 = 1 - (phi - 1)(omega h)^2, in every step of an oscillator without contact."""
    omega, h = 3.0, 0.1
    scheme = Strong(di.PointMasses(1.0, stiffness=[[omega**2]]), h)
    columns = []
    for state in np.eye(3):
        scheme.start(0.0, 0.0)
        scheme.u[0], scheme.v[0], scheme.v_before[0] = state
        scheme.step()
        columns.append([scheme.u[0], scheme.v[0], scheme.v_before[0]])
    largest = np.abs(np.linalg.eigvals(np.array(columns).T)).max()
    assert largest**2 == pytest.approx(1 - 0.3 * (omega * h) ** 2, rel=1e-12)


def test_its_limit_is_below_that_of_central_differences():
    oscillator = di.PointMasses(1.0, stiffness=[[4.0]])
    limit = 1.0 / np.sqrt(2 * 1.3 - 1)
    Strong(oscillator, limit)
    with pytest.raises(ValueError, match="above the critical one"):
        Strong(oscillator, 1.001 * limit)
    for factor, grows in ((0.999, False), (1.01, True)):
        scheme = Strong(oscillator, limit)
        scheme.dt = factor * limit
        scheme.start(1.0, 0.0)
        for _ in range(2000):
            scheme.step()
        assert (abs(scheme.u[0]) > 1.5) == grows


def test_friction_is_refused():
    spring = CASES["rotating-spring"]
    values = properties.defaults("rotating-spring", friction=0.2)
    with pytest.raises(ValueError, match="does not support friction"):
        spring.make("test_own_scheme:Strong", values, False)


OWN = "own_scheme:TchamwaWielgosz"


def test_a_driven_end_takes_reactions(runs):
    with pytest.raises(FailedRun, match="has no reactions.*: forces of prescribed motions"):
        runs("press-fit", OWN, friction=0, columns=2, rows=4, t_end=1e-3)


#: Cases of contact between surfaces.
COLLIDING = (
    *("non-matching-blocks", "two-spheres", "oblique-discs", "unequal-bars", "meshed-incline"),
    *("sphere-plate", "sphere-rod", "shaft-in-ring", "hertz-static"),
)
#: Steps of those whose own ones are far above the critical one [s].
LASTING = dict.fromkeys(("shaft-in-ring", "hertz-static"), {"h": 1e-13})


@pytest.mark.parametrize("case", COLLIDING)
def test_it_refuses_surfaces(case):
    with pytest.raises(ValueError, match="does not support contact between surfaces"):
        CASES[case].make(OWN, properties.defaults(case, **LASTING.get(case, {})), False)


#: Cases with friction by default.
RUBBED = ("rigid-body", "sliding-block", "spinning-disc", "oblique-bar")
#: Meshes as coarse and runs as short as show the contact.
SMALL = {
    "van-der-pol": {"t_end": 5, "h": 1e-2},
    "discrete-arch": {"t_end": 300},
    "bridge-crane": {"t_end": 1e-3},
    "solid-crane": {"coarse": 3, "t_end": 2e-5, "friction": 0, "every": 1, "start": "sudden"},
    "pin-drop": {"along": 8, "length": 0.32, "layers": 2, "t_end": 3e-5},
    "free-flight": {"t_end": 0.1},
    "cook-membrane": {"elements": 4, "t_end": 3},
    "taylor-bar": {"size": 1.6e-3, "t_end": 2e-6, "h": 2e-8},
    "taylor-tests": {"shots": 1, "cells": 6, "t_end": 2e-6, "h": 2e-8},
    "plastic-wave": {"cells": 20, "h": 1e-6},
    "rubber-block": {"elements": 3, "shape": "ball", "courant": 0.5, "t_end": 2e-3},
    "hertz-sphere": {"resolution": 2, "v0": 1, "t_end": 2e-5},
    "ring-in-cylinder": {"t_end": 0.03},
    "signorini-impact": {"elements": 20},
    "signorini-bounces": {"elements": 20, "t_end": 1.5},
    "plane-block": {"divisions": 2},
    "wave-block": {"degree": 1, "elements": 4},
    **dict.fromkeys(RUBBED, {"friction": 0}),
}


#: Contact that tests paths within a step, for schemes of central differences.
SWEPT = ("crossed-bars", "pile", "folded-strip", "sphere-hole")


@pytest.mark.parametrize("case", [name for name in CASES if name not in (*COLLIDING, *SWEPT, "press-fit")])
def test_it_runs_all_cases(case, runs, monkeypatch):
    # They belong to the solid crane, whatever the scheme.
    monkeypatch.setattr(statics, "natural_frequencies", lambda body, count, tied=None: [1.0] * count)
    run = runs(case, OWN, **SMALL.get(case, {}))
    assert np.isfinite(run["u"]).all() and np.abs(np.diff(run["v"], axis=0)).max() > 0
    assert (run["r"].max(initial=0.0) > 0) == (case not in ("free-flight", "wave-block", "cook-membrane"))


def test_the_released_bar_swings_less():
    spread = [float(np.std(bar(s)["v_t"][-20:, 0])) for s in (di.CDLagrange, TchamwaWielgosz)]
    assert spread[1] < spread[0]
    assert MPI.COMM_WORLD.allgather(spread) == [spread] * MPI.COMM_WORLD.size

"""One run is two runs in a row, a restart, single steps, a compiled loop."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from pathlib import Path

import numpy as np

import dolfinx_impact as di

from ..observe import build
from ..program import program
from .base import Misfit, oracle


def _differences(s, once, scheme, what):
    """Rounding; with implicit schemes what solutions from other first iterates differ by.

    What rests has the velocities of rounding: of places over a step.
    """
    part = 1e-11 if s.explicit else 1e-9
    size = np.abs(once.u).max() + 1e-300
    fast = np.abs(once.v).max() + 1e-9 + 1e-6 * size / once.dt
    yield Misfit(f"displacement {what}, difference [m]", np.abs(scheme.u - once.u).max(), 0.0, part * size)
    yield Misfit(
        f"velocity {what}, difference [m/s]", np.abs(scheme.v - once.v).max(), 0.0, 100 * part * fast
    )


def steps(s):
    """Fewer where steps are dear and contact is there from the first one on."""
    return 20 if s.motion == "rest" and not s.explicit else 60


@oracle(lambda s: not s.adapt, runs=True)
def ways(s):
    """Numbers do not depend on how the steps are called: 1e-11 (another order of sums in compiled loops)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        left, other = build(s), build(s)
        scheme, again = left["scheme"], other["scheme"]
        end = steps(s) * scheme.dt
        run = di.simulate(scheme, t_end=end, progress=False, compiled=False)
        first = di.simulate(again, t_end=0.5 * end, progress=False)
        with tempfile.TemporaryDirectory() as folder:
            di.checkpoint.save(Path(folder) / "half.npz", again)
            second = di.simulate(again, t_end=end, progress=False)
            yield from _differences(s, scheme, again, "in two runs")
            di.checkpoint.load(Path(folder) / "half.npz", scheme)
        both = first["r"].sum() + second["r"].sum()
        yield Misfit(
            "impulse in two runs [N s]", both, run["r"].sum(), 1e-9 * (np.abs(run["r"]).sum() + 1e-300)
        )
        jump = float(np.abs(first["u"][-1] - second["u"][0]).max(initial=0.0))
        allowed = 1e-11 * (np.abs(first["u"]).max(initial=0.0) + 1e-300)
        yield Misfit("recorded displacement where the second run begins, difference [m]", jump, 0.0, allowed)
        for _ in range(steps(s) // 2):
            scheme.step()
        yield from _differences(s, scheme, again, "after a restart")
        with contextlib.suppress(ValueError):
            scheme = _anew(s, left)
            loop = di.simulate(scheme, t_end=end, progress=False, compiled=True)
            yield from _differences(s, again, scheme, "in a compiled loop")
            scale = np.abs(run["kinetic"]).max() + np.abs(run["external"]).max() + 1e-300
            for name in ("kinetic", "internal", "external", "contact", "dissipated"):
                yield Misfit(f"{name} in a compiled loop [J]", loop[name][-1], run[name][-1], 1e-9 * scale)


def _anew(s, left):
    """The scheme made and started anew with the body and the contact that are there."""
    exec("\n".join(program(s)[-2:]), left)
    return left["scheme"]

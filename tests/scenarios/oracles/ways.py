"""One run is two runs in a row, a restart, single steps, a compiled loop."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from pathlib import Path

import numpy as np

import dolfinx_impact as di

from ..observe import build
from .base import Misfit, oracle


def _differences(seen, scheme, what):
    u = seen.record.u[-1]
    size, fast = np.abs(u).max() + 1e-300, np.abs(seen.record.v).max() + 1e-300
    yield Misfit(f"displacement {what}, difference [m]", np.abs(scheme.u - u).max(), 0.0, 1e-11 * size)
    yield Misfit(
        f"velocity {what}, difference [m/s]", np.abs(scheme.v - seen.record.v[-1]).max(), 0.0, 1e-10 * fast
    )


@oracle(lambda s: not s.adapt)
def ways(seen):
    """Numbers do not depend on how the steps are called: 1e-11 (another order of sums in compiled loops)."""
    s, steps = seen.scenario, len(seen.record.t) - 1
    half = steps // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scheme = build(s)["scheme"]
        first = di.simulate(scheme, t_end=half * scheme.dt, progress=False)
        second = di.simulate(scheme, t_end=steps * scheme.dt, progress=False)
        yield from _differences(seen, scheme, "in two runs")
        both = first["r"].sum() + second["r"].sum()
        yield Misfit("impulse in two runs [N s]", both, seen.run["r"].sum(), 1e-9 * (abs(both) + 1e-300))
        yield Misfit(
            "recorded displacement where the second run begins, difference [m]",
            float(np.abs(first["u"][-1] - second["u"][0]).max(initial=0.0)),
            0.0,
            1e-11 * (np.abs(seen.record.u).max() + 1e-300),
        )
        with tempfile.TemporaryDirectory() as folder:
            scheme, file = build(s)["scheme"], Path(folder) / "half.npz"
            for _ in range(half):
                scheme.step()
            di.checkpoint.save(file, scheme)
            scheme = build(s)["scheme"]
            di.checkpoint.load(file, scheme)
            for _ in range(steps - half):
                scheme.step()
            yield from _differences(seen, scheme, "after a restart")
        with contextlib.suppress(ValueError):
            scheme = build(s)["scheme"]
            run = di.simulate(scheme, t_end=steps * scheme.dt, progress=False, compiled=True)
            yield from _differences(seen, scheme, "in a compiled loop")
            scale = np.abs(seen.run["kinetic"]).max() + np.abs(seen.run["external"]).max()
            for name in ("kinetic", "internal", "external", "contact", "dissipated"):
                yield Misfit(
                    f"{name} in a compiled loop [J]", run[name][-1], seen.run[name][-1], 1e-9 * scale
                )

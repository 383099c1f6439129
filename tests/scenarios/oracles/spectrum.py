"""The recommended step is stable: the spectral radius of the whole amplification is at most 1."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..compose import Scenario
from ..observe import build
from .base import Misfit, oracle


def _explicit(s):
    linear = s.law == "linear" and not s.bulk
    return s.explicit and linear and s.scheme not in ("CDLagrangeSingular", "dep-7.2", "HATI")


def bare(s: Scenario) -> Scenario:
    """The last block alone, free, at the whole recommended step; one cell in space and of degree 2."""
    most = 2 if s.gdim == 2 and s.degree == 1 else 1
    block = dataclasses.replace(s.blocks[-1], across=min(most, s.blocks[-1].across), up=1, gap=0.0)
    return s.changed(
        motion="flying",
        floor="none",
        blocks=(block,),
        joint="surfaces",
        general="",
        sharp=False,
        part=1.0 - 1e-6,
        gravity=0.0,
        ground=0.0,
        traction=0.0,
        push=0.0,
        wave=False,
        stretch=0.0,
        bend=0.0,
        adapt=False,
        scaled=False,
        friction=0.0,
        speed=(0.0, 0.0),
        spin=0.0,
        tilt=0.0,
        drive=0.0,
    )


def amplification(scheme) -> np.ndarray:
    """The step as a matrix: unit states are resumed, stepped and read.

    Whatever arrays the next step depends on, by the scheme's own list; a linear step from zero stays zero.
    """
    start = scheme.state()
    names = [name for name, value in start.items() if name not in ("t0", "n", "dt") and value.size > 0]
    sizes = [start[name].size for name in names]
    ends = np.cumsum([0, *sizes])
    A = np.zeros((ends[-1], ends[-1]))
    zero = {name: np.zeros_like(start[name]) for name in names}
    for k in range(ends[-1]):
        state = {**start, **{name: value.copy() for name, value in zero.items()}, "n": np.array(1)}
        which = int(np.searchsorted(ends, k, side="right")) - 1
        state[names[which]].flat[k - ends[which]] = 1.0
        scheme.resume(state)
        scheme.step()
        after = scheme.state()
        A[:, k] = np.concatenate([after[name].ravel() for name in names])
    return A


@oracle(_explicit, runs=True)
def spectrum(s):
    """Stability in the sense of von Neumann, of the scheme as it runs.

    The eigenvalue 1 of rigid motion is double and not semisimple, so that round-off moves it by 1e-8
    and more: allowed 1e-5. A step 1e-6 below the recommended one.
    """
    scheme = build(bare(s))["scheme"]
    A = amplification(scheme)
    radius = np.abs(np.linalg.eigvals(balanced(A))).max()
    yield Misfit("spectral radius at the recommended step", max(radius, 1.0), 1.0, 1e-5)


def balanced(A: np.ndarray) -> np.ndarray:
    """Similar to A, rows and columns of about one size (Osborne): states have many units."""
    import scipy.linalg

    return scipy.linalg.matrix_balance(A, permute=False)[0]

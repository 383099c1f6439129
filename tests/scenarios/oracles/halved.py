"""Half the step, and cells of half the size, move towards the same answer."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..observe import build
from .base import Misfit, oracle
from .energy import UNSTABLE


def _bounces(s):
    some = s.seed % 4 == 0 and s.motion == "thrown" and s.law == "linear"
    return some and not s.adapt and not s.scaled and s.part <= 9.0 and s.scheme not in UNSTABLE


def _mean(scheme, s, x):
    """Mean over the mass of a vertical field."""
    mass, n = np.asarray(scheme.system.mass), scheme.system.owned
    up = slice(s.gdim - 1, None, s.gdim)
    return float(mass[up] @ np.array(x)[:n][up] / mass[up].sum())


def _stepped(s, end):
    """The scheme after the time ``end``, or after the steps of the scenario, and that time [s]."""
    scheme = build(s)["scheme"]
    end = s.steps * scheme.dt if end is None else end
    while scheme.t < end - 0.5 * scheme.dt:
        scheme.step()
    return scheme, end


@oracle(_bounces, runs=True)
def halved(s):
    """The mean velocity of the blocks changes less from h/2 to h/4 than from h to h/2, or little.

    All schemes converge where impacts are resolved, but those whose impacts are unstable at any step; the
    time of an impact is found to a step, so that a mean velocity has an error of a few steps of the contact
    force: allowed 0.4 of the speed of the impact.
    """
    means, end = [], None
    for divisor in (1, 2, 4):
        scheme, end = _stepped(s.changed(part=s.part / divisor), end)
        means.append(_mean(scheme, s, scheme.v_mean))
    first, second = abs(means[1] - means[0]), abs(means[2] - means[1])
    speed = max(abs(s.speed[1]), 0.1)
    yield Misfit("mean velocity from h/2 to h/4, change [m/s]", second, 0.0, max(first, 0.4 * speed))


def _plane(s):
    """Explicit ones, whose runs with 16 times the cells take a second; not an L, whose cells are given, nor
    steps that follow something else than the cells, nor contact nodes without mass, which some meshes cannot
    have, as they say, nor a tip, which one node of each mesh hits: that converges, but later."""
    plain = s.gdim == 2 and s.degree == 1 and s.hypothesis is None and s.law in ("linear", "neo-hookean")
    some = s.seed % 4 == 2 and s.motion == "thrown" and s.explicit and s.floor not in ("corner", "cone")
    return plain and some and "massless" not in s.takes and not s.adapt and not s.scaled


def finer(s, n):
    """The scenario with cells and steps of 1/n: steps are given as a part of the critical one."""
    blocks = tuple(dataclasses.replace(b, across=n * b.across, up=n * b.up) for b in s.blocks)
    return s.changed(blocks=blocks)


@oracle(_plane, runs=True)
def refined(s):
    """With cells and steps halved the mean way of the blocks changes less each time, or little.

    Its mean over the time, so that oscillations and the step of an impact are not asked. What an impact stops
    at once is the mass of the nodes at the floor, of two rows of cells a quarter, then an eighth and a
    sixteenth: from the second to the third mesh 0.06 of the speed of the impact is late by the time that a
    wave takes through a row; allowed 0.1 of that speed. All blocks have finer cells, so that surfaces that
    match still do.
    """
    ways, end = [], None
    for n in (1, 2, 4):
        scheme, end = _stepped(finer(s, n), end)
        ways.append(_mean(scheme, s, scheme.u) / scheme.t)
    first, second = abs(ways[1] - ways[0]), abs(ways[2] - ways[1])
    speed = max(abs(s.speed[1]), 0.1)
    what = "mean way over the time from cells and steps of 1/2 to 1/4, change [m/s]"
    yield Misfit(what, second, 0.0, max(first, 0.1 * speed))

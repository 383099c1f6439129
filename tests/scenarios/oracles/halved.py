"""Half the step moves towards the same answer."""

from __future__ import annotations

import numpy as np

from ..observe import build
from .base import Misfit, oracle
from .energy import UNSTABLE


def _bounces(s):
    some = s.seed % 4 == 0 and s.motion == "thrown" and s.law == "linear"
    return some and not s.adapt and not s.scaled and s.part <= 9.0 and s.scheme not in UNSTABLE


@oracle(_bounces, runs=True)
def halved(s):
    """The mean velocity of the blocks changes less from h/2 to h/4 than from h to h/2, or little.

    All schemes converge where impacts are resolved, but those whose impacts are unstable at any step; the
    time of an impact is found to a step, so that a mean velocity has an error of a few steps of the contact
    force: allowed 0.3 of the speed of the impact.
    """
    means, end = [], None
    for divisor in (1, 2, 4):
        scheme = build(s.changed(part=s.part / divisor))["scheme"]
        end = s.steps * scheme.dt if end is None else end
        while scheme.t < end - 0.5 * scheme.dt:
            scheme.step()
        mass, n = np.asarray(scheme.system.mass), scheme.system.owned
        v = np.array(scheme.v_mean)[:n]
        up = slice(s.gdim - 1, None, s.gdim)
        means.append(float(mass[up] @ v[up] / mass[up].sum()))
    first, second = abs(means[1] - means[0]), abs(means[2] - means[1])
    speed = max(abs(s.speed[1]), 0.1)
    yield Misfit("mean velocity from h/2 to h/4, change [m/s]", second, 0.0, max(first, 0.3 * speed))

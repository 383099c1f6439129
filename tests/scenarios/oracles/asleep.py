"""What is far from each other may be left out of a step, and nothing differs."""

from __future__ import annotations

import warnings

import numpy as np
from support.awake import awake

from ..observe import build
from .base import Misfit, oracle

#: Steps of a run: parts that are thrown meet in them.
STEPS = 60


@oracle(lambda s: len(s.blocks) > 1 and "surfaces" in s.takes and s.explicit and s.joint != "tie", runs=True)
def asleep(s):
    """Contact of surfaces with all gaps in each step, and no pair left out as far, is the same to the bit.

    Explicit schemes alone, whose steps are evaluated at one place each; not ties, which evaluate nothing.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = build(s)["scheme"], build(s)["scheme"]
        awake(other.contact)
        for _ in range(STEPS):
            one.step()
            other.step()
        for name in ("u", "v", "r"):
            difference = np.abs(getattr(one, name) - getattr(other, name)).max(initial=0.0)
            yield Misfit(f"{name} with all pairs awake, difference", difference, 0.0, 0.0)

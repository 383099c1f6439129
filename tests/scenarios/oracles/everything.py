"""Contact of everything with everything is that of named pairs where no more can meet, and nothing passes."""

from __future__ import annotations

import warnings

import numpy as np

from ..observe import build
from .base import Misfit, oracle

#: Steps of a run: parts that are thrown meet in them.
STEPS = 60


@oracle(
    lambda s: (
        (s.general == "unswept" and s.motion != "rest")
        or (s.sharp and s.floor in ("plane", "moving", "planes") and not s.general)
    ),
    runs=True,
)
def named(s):
    """Without tests of paths all surfaces at once are the named pairs, and facets on planes their nodes.

    The parts are convex and thrown one above the other, none meets itself, and a facet is nearest to a plane
    at a node. Rows and points come in another order: allowed 1e-9. Not skins, which move surfaces.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = build(s)["scheme"]
        other = build(s.changed(general="", sharp=False, joint="together"))["scheme"]
        for _ in range(STEPS):
            one.step()
            other.step()
    for name in ("u", "v"):
        a, b = getattr(one, name), getattr(other, name)
        size = np.abs(b).max() + 1e-300
        yield Misfit(f"{name} with the named pairs, difference", np.abs(a - b).max(), 0.0, 1e-9 * size)


@oracle(lambda s: s.general in ("swept", "skin"))
def passed(seen):
    """A run whose paths are tested says that nothing passed, and covered surfaces stay near each other.

    They penetrate by the motion of points that the mean gap of a segment lets in, a small part of a cell.
    """
    every = seen.contact if isinstance(seen.contact, list) else [seen.contact]
    for contact in every:
        if getattr(contact, "swept", False):
            said = contact.certificate()
            passed = -1.0 if said.passed is None else float(said.passed)
            yield Misfit("pairs of features that passed", passed, 0.0, 0.0)
            yield Misfit("penetration of covered surfaces over the height of a cell", said.deepest, 0.0, 0.2)

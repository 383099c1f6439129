"""What users compose beside the plain: each choice suits some scenarios and changes a few of their fields.

Drawn from a sequence of its own, after all else: a quarter of the seeds has none of these.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

from .kinds import CURVED, DIVIDED, MESHED, RIGID, SCHEMES, STEADY

#: Which scenarios a choice suits, the change, and how often it is taken beside others.
_NAMES: dict[str, tuple[Callable, Callable, int]] = {}


def further(s):
    """The scenario with up to two of the choices that suit it."""
    rng = random.Random(f"further {s.seed}")
    if s.joint == "tie" and s.motion != "rest":
        s = _tied(s)
    for _ in range(rng.choice((0, 1, 1, 2))):
        known = [each for each in _NAMES.values() if each[0](s)]
        if known:
            s = rng.choices(known, [often for *_, often in known])[0][1](rng, s)
    return s


def _choice(suits, often=1):
    def register(change):
        _NAMES[change.__name__] = (suits, change, often)
        return change

    return register


def _tied(s):
    """Movable blocks that are glued: without gaps, one above the other, with one motion."""
    first = s.movable[0]
    x = s.blocks[first].offset
    glued = [dataclasses.replace(b, gap=0.0, offset=x, distort=0.0) for b in s.blocks[first + 1 :]]
    return s.changed(blocks=(*s.blocks[: first + 1], *glued), spin=0.0)


def _alone(s):
    """One block that is not at rest, nor held."""
    return s.motion != "rest" and len(s.blocks) == 1


def _thrown_on_shapes(s):
    return s.motion == "thrown" and s.floor in (*RIGID, *CURVED) and s.hypothesis != "axisymmetric"


@_choice(lambda s: _thrown_on_shapes(s) and s.joint != "pairs" and s.scheme in SCHEMES, 2)
def another_shape(rng, s):
    s = s.changed(floor=rng.choice(("cone", "funnel", "torus", "union")), drive=0.0)
    return s if s.floor == "union" else s.changed(blocks=s.blocks[:1], joint="surfaces")


@_choice(lambda s: s.floor in ("planes", "box") and s.hypothesis != "axisymmetric")
def a_union(rng, s):
    return s.changed(floor="union")


@_choice(lambda s: s.floor in CURVED and s.scheme not in ("PaoliSchatzman", "Carpenter"), 4)
def a_shape_that_moves(rng, s):
    return s.changed(drive=rng.choice((0.5, -0.5)))


@_choice(lambda s: s.scheme not in STEADY and not s.forms)
def a_body_force(rng, s):
    return s.changed(push=rng.choice((5000.0, 1e4)), wave=s.motion != "rest" and rng.random() < 0.5)


@_choice(lambda s: s.motion != "rest" and s.scheme in SCHEMES and not (s.forms or s.bend))
def a_traction_with_a_signal(rng, s):
    return s.changed(traction=rng.choice((2000.0, -4000.0)), wave=True)


@_choice(lambda s: s.rate > 0 and s.scheme in ("CDLagrange", "NohBathe") and not s.forms)
def dashpots(rng, s):
    return s.changed(dashpots=True)


@_choice(lambda s: _alone(s) and s.degree == 2 and s.traction == 0, 4)
def curved_cells(rng, s):
    return s.changed(bend=rng.choice((0.02, 0.05)), facets="boundary", stretch=0.0)


def _may_have_pairs(s):
    free = _thrown_on_shapes(s) and s.floor in RIGID and not s.forms
    return free and "nonlinear" in s.takes and "divided" not in s.takes


@_choice(_may_have_pairs, 2)
def node_pairs(rng, s):
    if s.scheme == "CDLagrangeSingular" or s.bend:
        return s
    first = dataclasses.replace(s.blocks[0], distort=0.0)
    upper = dataclasses.replace(
        first, height=rng.choice((0.3, 0.5)), up=rng.choice((2, 3)), gap=rng.uniform(0.002, 0.01)
    )
    floor = "plane" if s.floor == "moving" else s.floor
    friction = s.friction if s.scheme in ("CDLagrange", "NohBathe") else 0.0
    s = s.changed(blocks=(first, upper), joint="pairs", floor=floor, friction=friction, drive=0.0)
    return s.changed(
        speed=(0.0, s.speed[1]), spin=0.0, tilt=0.0, rough="all", laws=(), stretch=0.0, ground=0.0
    )


def _may_lock(s):
    cured = (
        s.explicit
        and s.scheme not in DIVIDED
        and s.degree == 1
        and s.hypothesis != "plane-stress"
        and not s.forms
    )
    return cured and (s.law == "linear" or (s.law == "neo-hookean" and s.cell == "quadrilateral"))


@_choice(_may_lock)
def locking(rng, s):
    quads = s.cell in ("quadrilateral", "hexahedron")
    nu = rng.choice((0.3, 0.45)) if s.motion != "rest" else s.nu
    return s.changed(locking="mean-dilatation" if quads else "nodal-pressure", nu=nu)


@_choice(lambda s: _alone(s) and s.floor not in MESHED)
def a_rate_of_deformation(rng, s):
    return s.changed(stretch=rng.choice((1.0, -2.0)))


@_choice(lambda s: s.scheme in ("CDLagrange", "NohBathe") and s.motion != "rest" and not s.adapt)
def steps_that_are_adapted(rng, s):
    return s.changed(adapt=not s.scaled and not s.dashpots)


def _several(s):
    rough = "friction" in s.takes and "restitution" in s.takes
    return rough and s.motion == "thrown" and len(s.blocks) > 1 and s.joint != "pairs"


@_choice(_several, 2)
def laws_of_each(rng, s):
    laws = [(0.0, 0.6, False), (0.3, 0.0, True), (0.1, 0.3, False)]
    rng.shuffle(laws)
    return s.changed(laws=tuple(laws), friction=0.3, restitution=0.6, ground=0.0)


def _steady(s):
    plain = s.law == "linear" and s.degree == 1 and s.hypothesis is None and s.gdim == 2
    return plain and s.motion != "rest"


@_choice(_steady, 2)
def a_scheme_for_steady_forces(rng, s):
    free = s.floor == "none"
    s = s.changed(scheme=rng.choice([name for name, takes in STEADY.items() if free == ("free" in takes)]))
    s = s.changed(
        blocks=(s.blocks[s.movable[0]],),
        joint="surfaces",
        friction=0.0,
        restitution=0.0,
        drift=False,
        drive=0.0,
    )
    s = s.changed(
        floor="none" if free else "plane",
        rate=0.0,
        beta=0.0,
        bulk=0.0,
        ground=0.0,
        traction=0.0,
        push=0.0,
        wave=False,
    )
    s = s.changed(dashpots=False, adapt=False, scaled=False, locking=None, forms=False, laws=())
    if "massless" in s.takes:  # what has no mass must be held by what has
        s = s.changed(facets="bottom")
    return s.changed(part=min(s.part, 0.6) if s.explicit else rng.choice((0.6, 2.0)), steps=100)


def _divided(s):
    simple = s.degree == 1 and s.hypothesis != "axisymmetric"
    return simple and s.motion == "thrown" and s.floor in (*RIGID, *CURVED) and s.scheme in SCHEMES


@_choice(_divided, 3)
def two_time_scales(rng, s):
    s = s.changed(blocks=s.blocks[:1], joint="surfaces", facets="bottom", beta=0.0, bulk=0.0, laws=())
    s = s.changed(adapt=False, scaled=False, locking=None, forms=False, dashpots=False, traction=0.0)
    return s.changed(scheme="HATI", ratio=rng.choice((1, 2)), part=min(s.part, 0.6), steps=100)


def _has_forms(s):
    elastic = s.law in ("linear", "neo-hookean") and s.degree == 1 and s.hypothesis is None
    return elastic and s.motion != "rest" and s.floor not in MESHED and s.scheme in SCHEMES


@_choice(_has_forms, 2)
def forms(rng, s):
    """In the place of a solid, with what forms can say."""
    blocks = tuple(dataclasses.replace(b, distort=0.0, density=1.0, modulus=1.0) for b in s.blocks)
    s = s.changed(blocks=blocks, ground=0.0, traction=0.0, push=0.0, wave=False, bulk=0.0, dashpots=False)
    if s.law != "linear" or s.scheme == "NohBathe":
        s = s.changed(rate=0.0, beta=0.0)
    return s.changed(forms=True, scaled=False, adapt=False, locking=None)


def by_forms(s):
    """Where a few lines of UFL say the same: one elastic material in the plane or in space, free.

    The limit of Noh-Bathe knows frequencies with Rayleigh damping, which forms do not say: none there.
    """
    one = (
        s.scheme not in DIVIDED
        and len({(b.density, b.modulus) for b in s.blocks}) == 1
        and not any(b.distort for b in s.blocks)
    )
    loads = s.ground or s.traction or s.push or s.bulk or s.scaled or s.dashpots or s.motion == "pressed"
    cells = s.locking is None and s.degree == 1 and s.hypothesis is None and not s.adapt
    laws = s.law in ("linear", "neo-hookean")
    damped = s.law == "linear" and s.scheme != "NohBathe"
    laws = laws and (damped or s.rate == s.beta == 0)
    return one and s.floor not in MESHED and laws and cells and not loads

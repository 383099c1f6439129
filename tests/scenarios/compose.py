"""Whole small problems at random: a scenario is plain data, made from a seed.

Lengths are of the order of 1 m, the modulus 1e6 Pa, the density 1000 kg/m3: waves run at about 30 m/s.
Kinds of forms are few, since each costs seconds to compile; all else varies.
"""

from __future__ import annotations

import dataclasses
import json
import math
import random

from .further import further
from .kinds import BODIES, CURVED, DIVIDED, GENERAL, HELD, MESHED, RIGID, SCHEMES, SIMPLICES, STEADY

__all__ = ["BODIES", "CURVED", "DIVIDED", "HELD", "MESHED", "RIGID", "SCHEMES", "STEADY"]
__all__ += ["Block", "Scenario", "compose"]


@dataclasses.dataclass(frozen=True)
class Block:
    """A rectangle or box above the one before: ``gap`` above it, ``offset`` aside [m]."""

    width: float = 1.0
    height: float = 0.5
    across: int = 3
    up: int = 2
    offset: float = 0.0
    gap: float = 0.0
    distort: float = 0.0
    density: float = 1.0
    modulus: float = 1.0


@dataclasses.dataclass(frozen=True)
class Scenario:
    """A problem; ``turn``, ``mirror``, ``shift``, ``units`` and orders say in which frame it is written.

    ``push`` is a body force downwards [N/m3]; with ``wave`` loads have a signal; ``dashpots`` is the damping
    rate by a class of the user's own; ``bend`` curves the cells [m]; ``stretch`` is a rate of deformation at
    the start [1/s]; ``laws`` are friction, restitution and drift correction of contacts, in turn;
    ``ratio`` is that of the steps of HATI; ``position`` is the theta of contact at both levels, of
    generalized alpha ``1 - rho_inf``, 0 for none; ``closing`` is the part of the run in which what begins
    inside is pushed out; ``general`` is how contact of all surfaces stands in the place of named pairs,
    ``sharp`` whether facets touch obstacles between nodes. With the motion "pressed" the top of the last
    block is driven with ``speed``, which all blocks have at the start.
    """

    seed: int = 0
    cell: str = "quadrilateral"
    degree: int = 1
    hypothesis: str | None = None
    law: str = "linear"
    nu: float = 0.0
    motion: str = "rest"
    blocks: tuple[Block, ...] = (Block(),)
    floor: str = "plane"
    joint: str = "surfaces"
    facets: str = "boundary"
    friction: float = 0.0
    restitution: float = 0.0
    rough: str = "all"
    drift: bool = False
    speed: tuple[float, float] = (0.0, 0.0)
    spin: float = 0.0
    tilt: float = 0.0
    gravity: float = 10.0
    traction: float = 0.0
    ground: float = 0.0
    drive: float = 0.0
    rate: float = 0.0
    beta: float = 0.0
    bulk: float = 0.0
    forms: bool = False
    scaled: bool = False
    scheme: str = "CDLagrange"
    part: float = 0.8
    steps: int = 100
    adapt: bool = False
    late: float = 0.0
    turn: float = 0.0
    mirror: bool = False
    shift: float = 0.0
    units: tuple[float, float, float] = (1.0, 1.0, 1.0)
    backwards: bool = False
    swapped: bool = False
    push: float = 0.0
    wave: bool = False
    dashpots: bool = False
    bend: float = 0.0
    locking: str | None = None
    stretch: float = 0.0
    laws: tuple[tuple[float, float, bool], ...] = ()
    renumbered: bool = False
    ratio: int = 1
    position: float = 0.0
    closing: float = 0.0
    general: str = ""
    sharp: bool = False

    @property
    def gdim(self) -> int:
        return 3 if self.cell in ("hexahedron", "tetrahedron") else 2

    @property
    def takes(self) -> str:
        return (SCHEMES | STEADY | DIVIDED | HELD)[self.scheme]

    @property
    def explicit(self) -> bool:
        return "explicit" in self.takes

    @property
    def duration(self) -> float | None:
        """Time after which what was put down has come to rest, to exp(-6) [s]; None for other motions.

        The midpoint rule damps a mode of the frequency w at half the rate ``(alpha + beta w^2) / (1 + (w dt /
        2)^2)`` only, and ``w dt`` is at most twice the part of the critical step.
        """
        if self.motion != "rest":
            return None
        slower = 1.0 if self.explicit else 1.0 + self.part**2
        slower /= 1.0 + 4.0 * self.beta / (self.rate * self.shortest**2) * (not self.explicit)
        return 12.0 * max(1.0, slower) / self.rate * self.units[2]

    @property
    def shortest(self) -> float:
        """Time of a wave through the smallest cell of a movable block, at least the critical step [s]."""
        blocks = [self.blocks[i] for i in self.movable]
        wave = [math.sqrt(1000.0 * b.modulus / b.density) for b in blocks]
        return min(min(b.width / b.across, b.height / b.up) / c for b, c in zip(blocks, wave))

    @property
    def movable(self) -> tuple[int, ...]:
        """Numbers of the blocks that nothing holds."""
        return tuple(range(1 if self.floor in MESHED else 0, len(self.blocks)))

    def changed(self, **fields) -> Scenario:
        return dataclasses.replace(self, **fields)

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Scenario:
        given = json.loads(text)
        given["blocks"] = tuple(Block(**each) for each in given["blocks"])
        given["speed"], given["units"] = tuple(given["speed"]), tuple(given["units"])
        given["laws"] = tuple(tuple(each) for each in given.get("laws", ()))
        return cls(**given)


def compose(seed: int, bodies: int = len(BODIES)) -> Scenario:
    """The scenario of a seed, of one of the first kinds of bodies."""
    rng = random.Random(f"scenario {seed}")
    kind = BODIES[min(int(rng.random() ** 1.5 * bodies), bodies - 1)]
    s = Scenario(seed, *kind, nu=rng.choice((0.0, 0.0, 0.3)))
    s = s.changed(motion=_motion(rng, s))
    s = s.changed(scheme=_scheme(rng, s))
    s = s.changed(floor=_floor(rng, s))
    if s.floor == "sphere":
        s = s.changed(floor=CURVED[seed % (2 if s.gdim == 2 else 3)])
    s = s.changed(blocks=_blocks(rng, s))
    s = s.changed(joint=_joint(rng, s), facets=rng.choice(("boundary", "bottom")))
    s = _laws_of_contact(rng, s)
    s = _moved(rng, s)
    s = _loaded(rng, s)
    return _general(_at_both_levels(_slow_enough(further(_stepped(rng, s)))))


def _general(s):
    """Some of those with explicit steps have contact of all surfaces at once, by numbers of their own."""
    rng = random.Random(f"general {s.seed}")
    plain = s.scheme == "CDLagrange" and s.hypothesis is None and not (s.forms or s.bend)
    plain = plain and s.joint in ("surfaces", "together", "tie")
    if plain and len(s.blocks) > 1 and s.floor != "corner" and rng.random() < 0.7:
        kinds = [kind for kind in GENERAL if kind != "skin" or s.motion != "rest"]  # what touches has no room
        s = s.changed(general=rng.choice(kinds), rough="all", drift=False, laws=())
    if plain and s.floor in RIGID and rng.random() < 0.6:
        s = s.changed(sharp=True)
    return s


def _at_both_levels(s):
    """Some of those with an implicit scheme have contact at position level too, by numbers of their own."""
    if s.scheme not in ("MoreauJean", "GeneralizedAlpha") or s.drift or any(drift for *_, drift in s.laws):
        return s
    none = s.floor == "none" and len(s.blocks) == 1
    long = s.motion == "rest" and len(s.blocks) > 1 and (s.degree > 1 or s.gdim == 3)
    if none or long:
        return s
    rng = random.Random(f"position {s.seed}")
    s = s.changed(position=rng.choice((0.0, 0.5, 1.0)))
    if s.position and len(s.blocks) > 1:  # surfaces are evaluated some 20 times in each correction
        s = s.changed(steps=min(s.steps, 30))
    if s.position and s.motion == "thrown" and not (s.forms or s.bend) and rng.random() < 0.7:
        s = _pressed(rng, s)
    return s


def _pressed(rng, s):
    """Lasting contact at steps far above the critical one, of blocks that are driven slowly from above.

    Some begin inside what they touch. Statics where all movable blocks are glued to the one that is driven.
    """
    blocks, first = list(s.blocks), s.movable[0]
    for i in s.movable:
        glued = s.joint == "tie" and i > first
        blocks[i] = dataclasses.replace(
            blocks[i], gap=blocks[i].gap if s.joint == "pairs" else 0.002 * (not glued)
        )
    flat = s.floor in ("plane", "box", "moving", "base")
    if flat and rng.random() < 0.4:
        blocks[first] = dataclasses.replace(blocks[first], gap=-0.003)
        s = s.changed(closing=rng.choice((0.3, 0.6)))
    if rng.random() < 0.5 and (len(s.movable) == 1 or s.joint == "tie"):
        s = s.changed(scheme="Static", position=1.0, restitution=0.0)
        s = s.changed(laws=tuple((friction, 0.0, drift) for friction, _, drift in s.laws))
    s = s.changed(motion="pressed", steps=12, blocks=tuple(blocks), spin=0.0, tilt=0.0, stretch=0.0)
    if s.gdim == 3:  # some hundred times the time of one in the plane
        few = [
            dataclasses.replace(b, across=min(b.across, 2 + 2 * (b.width > 1)), up=min(b.up, 2))
            for b in s.blocks
        ]
        s = s.changed(blocks=tuple(few[: first + 1]), steps=6, joint="surfaces")
    s = s.changed(part=rng.choice((2.0, 20.0, 100.0)))
    down = sum(max(blocks[i].gap, 0.0) for i in s.movable) + rng.choice((0.005, 0.015))
    along = rng.choice((0.0, 0.01)) if s.hypothesis != "axisymmetric" else 0.0
    time = s.steps * s.part * s.shortest / s.degree
    drive = math.copysign(0.02 / time, s.drive) if s.drive else 0.0
    return s.changed(speed=(along / time, -down / time), drive=drive)


def _motion(rng, s):
    if s.law == "metal":
        return rng.choice(("thrown", "flying"))
    if s.hypothesis == "axisymmetric":
        return rng.choice(("rest", "thrown"))
    return rng.choice(("rest", "rest", "thrown", "thrown", "flying"))


def _scheme(rng, s):
    known = [name for name, takes in SCHEMES.items() if _suits(takes, s)]
    if s.motion == "rest":  # nodes without mass do not take damping rates like these
        known = [name for name in known if name != "CDLagrangeSingular"]
    return rng.choice(known + [name for name in known if "surfaces" in SCHEMES[name]] * 2)


def _suits(takes, s):
    if s.law == "metal":
        return "metal" in takes
    return s.law == "linear" or "nonlinear" in takes


def _floor(rng, s):
    if s.motion == "flying":
        return "none"
    known = list(RIGID[:4])
    if "surfaces" in s.takes:
        known += ["base", "base", "tool"]
        if s.gdim == 2 and s.cell == "quadrilateral" and s.hypothesis is None:
            known += ["corner"]
    if s.motion == "thrown":
        known += ["sphere"]
    if s.hypothesis == "axisymmetric":
        # Obstacles whose normals may turn are refused at the axis, where nodes are held.
        known = [each for each in known if each in ("plane", "base")]
    if s.scheme in ("PaoliSchatzman", "Carpenter"):
        known = [each for each in known if each != "moving"]
    return rng.choice(known)


def _blocks(rng, s):
    most = 3 if "surfaces" in s.takes and s.floor not in CURVED else 1
    if s.motion == "flying" or not s.explicit:
        most = min(most, 2 if s.degree == 1 else 1)
    if s.motion == "rest" and s.gdim == 3:  # long runs
        most = min(most, 2 if s.explicit else 1)
    count = rng.choice((1, 1, 2, 3)[: most + 1]) if most > 1 else 1
    first = rng.choice((0.4, 1.0))
    made = []
    if s.floor in MESHED:
        wide = 1.5 if s.hypothesis == "axisymmetric" else 3.0
        deep = 1 if s.gdim == 3 else rng.choice((1, 2))
        made.append(Block(wide, 0.3, rng.choice((5, 7, 12)), deep, density=rng.choice((1.0, 0.3))))
    for i in range(count):
        at_rest = s.motion == "rest"
        made.append(
            Block(
                first if i == 0 or at_rest else rng.choice((0.4, 0.7, 1.0)),
                rng.choice((0.3, 0.5)),
                rng.choice((1, 2, 3, 5) if s.gdim == 2 and s.degree == 1 else (1, 2, 3)),
                rng.choice((2, 3)),
                0.0 if at_rest or s.hypothesis == "axisymmetric" else rng.uniform(-0.1, 0.1),
                0.0 if at_rest else rng.uniform(0.01, 0.03),
                0.0 if at_rest or s.degree > 1 else rng.choice((0.0, 0.03)),
                rng.choice((1.0, 1.0, 3.0)),
                rng.choice((1.0, 1.0, 2.0)),
            )
        )
    if s.floor == "corner":  # none over the wall, nor in it
        lowest = made[1]
        narrow = [min(b.width, lowest.width) for b in made[2:]]
        made[2:] = [
            dataclasses.replace(b, width=width, offset=lowest.offset) for b, width in zip(made[2:], narrow)
        ]
    if len({b.density for b in made}) > 1 and s.gdim == 3:
        made = [dataclasses.replace(b, density=1.0, modulus=1.0) for b in made]
    if s.motion == "rest" and s.gdim == 3 and not s.explicit:
        most = (5, 2) if s.degree == 1 else (3, 1)
        made = [dataclasses.replace(b, across=min(b.across, most[b.width <= 1])) for b in made]
    return tuple(made)


def _joint(rng, s):
    if len(s.blocks) < 2:
        return "surfaces"
    return rng.choice(("surfaces", "surfaces", "together", "tie"))


def _laws_of_contact(rng, s):
    friction = rng.choice((0.0, 0.0, 0.3)) if "friction" in s.takes else 0.0
    restitution = rng.choice((0.0, 0.0, 0.6)) if s.motion == "thrown" and "restitution" in s.takes else 0.0
    if s.floor == "tool" and "friction" in s.takes:
        friction = rng.choice((0.0, 0.3, 0.3))
    if s.hypothesis == "axisymmetric" and s.floor == "plane" and s.scheme not in ("CDLagrange", "NohBathe"):
        friction = 0.0  # refused where nodes are held along the obstacle
    rough = rng.choice(("all", "all", "floor"))
    if s.motion == "rest" and s.cell in SIMPLICES and len(s.blocks) > 2 and "friction" in s.takes:
        friction, rough = 0.3, "all"  # smooth blocks that lean, by their diagonals, slide off each other
    drift = "surfaces" in s.takes and rng.random() < 0.2
    return s.changed(friction=friction, restitution=restitution, rough=rough, drift=drift)


def _moved(rng, s):
    if s.floor == "tool":
        s = s.changed(drive=rng.choice((0.5, -1.0)))
    if s.floor == "moving":
        s = s.changed(drive=rng.choice((1.0, -1.0)))
    if s.motion == "rest":
        return s
    if s.hypothesis == "axisymmetric":
        return s.changed(speed=(0.0, -rng.uniform(0.5, 2.0)))
    s = s.changed(speed=(rng.uniform(-1.0, 1.0), -rng.uniform(0.5, 2.0)))
    if s.law == "metal":
        s = s.changed(speed=(s.speed[0], 2.0 * s.speed[1]))
    if s.motion == "flying" or (s.floor not in MESHED and len(s.blocks) == 1):
        s = s.changed(spin=rng.choice((0.0, 2.0, -3.0)))
    return s.changed(tilt=rng.choice((0.0, 0.0, 0.03, -0.05)) if len(s.blocks) == 1 else 0.0)


def _loaded(rng, s):
    s = s.changed(gravity=10.0 if s.motion == "rest" else rng.choice((0.0, 10.0)))
    if s.hypothesis != "axisymmetric" and s.friction == 0 and s.motion != "rest":
        s = s.changed(ground=rng.choice((0.0, 0.0, 5.0)))
    if s.motion == "rest":
        s = s.changed(traction=rng.choice((0.0, 0.0, -2000.0)))
    if s.scheme == "CDLagrangeSingular":
        return s.changed(facets="bottom")
    s = s.changed(beta=rng.choice((0.0, 0.0, 1e-3)), bulk=rng.choice((0.0, 0.0, 0.1)))
    return s.changed(rate=settling_rate(s) if s.motion == "rest" else rng.choice((0.0, 0.0, 5.0)))


def settling_rate(s: Scenario) -> float:
    """Damping rate of 0.7 of the critical one for the slowest mode of a column of the blocks [1/s].

    A faster one would make slower modes creep. Quadrilaterals and hexahedra are symmetric about their middle
    and are only compressed; triangles and tetrahedra have one diagonal and sway too: a cantilever that
    shears and bends (Dunkerley).
    """
    height = sum(b.height for b in s.blocks)
    wave = math.sqrt(1e6 / (1000.0 * max(b.density for b in s.blocks)))
    slowest = 0.5 * math.pi * wave / height
    if s.cell in SIMPLICES:
        slender = height / min(b.width for b in s.blocks)
        slowest /= math.hypot(1 / 0.57, 0.5 * math.pi * slender / 1.015)
    return 1.4 * slowest


def _stepped(rng, s):
    s = s.changed(part=rng.choice((0.9, 0.6, 0.3)) if s.explicit else rng.choice((0.6, 2.0, 2.0, 20.0)))
    if s.motion == "rest":  # long runs of implicit schemes have large steps, in which fast modes last
        s = s.changed(part=max(s.part, 0.6)) if s.explicit else s.changed(part=2.0, beta=1e-3)
    steps = 60 if s.gdim == 3 else 100
    if s.part > 2.0 and s.motion != "rest":
        steps = 12
    adapt = s.scheme in ("CDLagrange", "NohBathe") and s.law != "linear" and rng.random() < 0.3
    scaled = s.explicit and s.law == "linear" and rng.random() < 0.1
    # Nodes of others, and of few cells about an axis, may need more than their mass.
    few = s.hypothesis == "axisymmetric" and min(b.across for b in s.blocks) < 3
    scaled &= s.cell in ("quadrilateral", "hexahedron") and not few
    if s.law == "metal" and not adapt:  # the critical step of what yields falls as it is compressed
        s = s.changed(part=min(s.part, 0.3))
    return _on_its_tool(s.changed(steps=steps, adapt=adapt, scaled=scaled))


def _on_its_tool(s):
    """No block goes over the edge of a tool: it moves slowly at rest, briefly under what is thrown."""
    if s.floor != "tool":
        return s
    room = 0.9 * min(0.5 * (s.blocks[0].width - b.width) - abs(b.offset) for b in s.blocks[1:])
    if s.duration is not None:
        return s.changed(drive=math.copysign(min(abs(s.drive), round(room / s.duration, 2)), s.drive))
    way = (abs(s.drive) + abs(s.speed[0])) * s.part * s.shortest
    return s.changed(steps=max(12, min(s.steps, int(room / way))))


def _slow_enough(s):
    """With a step below the limit at the first impacts, which the quadratic bulk viscosity lowers.

    A mode of the frequency w that is damped by ``2 z w`` has the limit ``2 / w (hypot(1, z) - z)``; z is b1,
    and where a node is stopped with it ``2 b2^2 v / c``, as in a line of cells: 6.5 times that at corners of
    cells of degree 2, as measured.
    """
    if not (s.bulk and s.explicit and s.motion != "rest") or s.adapt:
        return s
    c = min(math.sqrt(1e6 * b.modulus / (1000.0 * b.density)) for b in s.blocks)
    size = max(math.hypot(b.width, b.height) for b in s.blocks)
    e = max([s.restitution, *(each[1] for each in s.laws)])
    speed = (1 + e) * (min(len(s.movable), 2) * abs(s.speed[1]) + 0.5 * abs(s.spin) * size)
    z = s.bulk + 2 * 1.2**2 * speed / c * (6.5 if s.degree > 1 else 1.0)
    limit = (math.hypot(1.0, z) - z) / (math.hypot(1.0, s.bulk) - s.bulk)
    return s.changed(part=min(s.part, round(0.8 * limit, 3)))

"""The contacts of a scenario, and its obstacles, as lines of a program."""

from __future__ import annotations

import math

import numpy as np

from .compose import CURVED, MESHED, RIGID, Scenario
from .kinds import GENERAL
from .layout import Frame, names, shown, up

#: Radius of a bowl [m].
BOWL = 3.0
#: Half angle of cones [degrees], radii of a torus [m].
CONE, TORUS = 70.0, (0.6, 0.4)
#: Distance that each surface keeps, where it has one [m].
SKIN = 0.002


def contact_lines(s: Scenario, f: Frame) -> list[str]:
    """The lines that make ``contact``."""
    made = _made(s, f)
    if s.backwards:
        made.reverse()
    if not made:
        return ["contact = None"]
    if len(made) == 1:
        return [f"contact = {made[0]}"]
    return ["contact = [", *(f"    {each}," for each in made), "]"]


def _made(s, f):
    """The contacts, from below."""
    name, made = names(s), []
    axis = s.hypothesis == "axisymmetric"
    skin = f"{name[0]}/{'bottom' if axis else s.facets}"
    if s.floor in (*RIGID, *CURVED):
        options = _law(s, 0, drift=s.floor in CURVED) + (", facets=True" if s.sharp else "")
        made.append(f'di.RigidContact(body, "{skin}", {_obstacle(s, f)}{options})')
    if s.general:
        glued = range(1 + s.movable[0], len(name)) if s.joint == "tie" else ()
        ties = [_between(s, f, name[i], name[i - 1], "tie", "") for i in glued]
        return [*made, *ties, _everything(s, f)]
    if s.joint == "together" and len(name) > 2 and not axis:
        listed = ", ".join(f'"{n}/boundary"' for n in name)
        made.append(f"di.SurfaceContact(body, {listed}{_law(s, len(made))})")
        name = name[:1]
    for i in range(1, len(name)):
        held = s.floor in MESHED and i == 1
        law = _law(s, len(made), smooth=s.rough == "floor" and not held)
        made.append(_between(s, f, name[i], name[i - 1], "surfaces" if held else s.joint, law))
    return made


def _everything(s, f):
    """Contact of all surfaces."""
    listed = ", ".join(f'"{n}/boundary"' for n in names(s))
    given = GENERAL[s.general].format(skin=shown(SKIN * f.length), names=listed)
    return f"di.SurfaceContact({given}{_law(s, 0)})"


def _between(s, f, upper, lower, joint, law):
    if joint == "tie":
        return f'di.SurfaceContact(body, "{upper}/bottom", "{lower}/top", tie=True)'
    if joint == "pairs":
        return f'di.NodePairs(body, "{lower}/top", "{upper}/bottom", {f.along(*up(s, 0, 1))}{law})'
    if s.hypothesis == "axisymmetric":
        return f'di.SurfaceContact(body, "{upper}/bottom", "{lower}/top"{law})'
    return f'di.SurfaceContact(body, "{upper}/boundary", "{lower}/boundary"{law})'


def _law(s, number, smooth=False, drift=True):
    """Options of a contact: those of all, or its own."""
    friction, restitution, corrected = s.friction, s.restitution, s.drift
    if s.laws:
        friction, restitution, corrected = s.laws[number % len(s.laws)]
    text = f", friction={friction}" if friction and not smooth else ""
    text += f", restitution={restitution}" if restitution else ""
    text += ", allow_penetration=True" if s.closing else ""
    return text + (", drift_correction=True" if corrected and drift else "")


def _obstacle(s, f):
    still = _shape(s, f)
    if not (s.floor == "moving" or (s.floor in CURVED and s.drive)):
        return still
    way = f"({f.along(*up(s, s.drive, 0), unit=f.speed)}, lambda t: t)"
    if s.hypothesis == "axisymmetric":
        way = f"({f.along(*up(s, 0, 0.1), unit=f.speed)}, lambda t: t)"
    scale = "" if f.time == 1 else f", time_scale={1e-3 * f.time}"
    return f"di.MovingObstacle({still}, translation={way}{scale})"


def _shape(s, f):
    zero, normal = up(s, 0, 0), f.along(*up(s, 0, 1))
    plane = f"di.Plane({f.place(*zero)}, {normal})"
    if s.floor in ("plane", "moving"):
        return plane
    if s.floor == "planes":
        return f"[{plane}, di.Plane({f.place(*up(s, -0.8, 0))}, {f.along(*up(s, 1, 0))})]"
    if s.floor == "box":
        return _box(s, f, (0, -0.3), (4, 0.6))
    if s.floor == "union":
        return f"di.UnionObstacle([{_box(s, f, (0, -0.3), (4, 0.6))}, {_box(s, f, (-1.2, 0.3), (0.8, 1.2))}])"
    if s.floor == "bowl":
        return f"di.Sphere({f.place(*up(s, 0.0, bowl(s)))}, {shown(BOWL * f.length)}, inside=True)"
    if s.floor == "cone":
        return f"di.Cone({f.place(*zero)}, {f.along(*up(s, 0, -1))}, {CONE})"
    if s.floor == "funnel":
        return f"di.Cone({f.place(*up(s, 0.0, funnel(s)))}, {normal}, {CONE}, inside=True)"
    if s.floor == "torus":
        radii = ", ".join(shown(each * f.length) for each in TORUS)
        return f"di.Torus({f.place(*up(s, 0.05, -TORUS[1]))}, {normal}, {radii})"
    if s.floor == "cylinder":
        along = f.along(0.0, 1.0, 0.0)
        return f"di.Cylinder({f.place(*up(s, 0.05, -2.0))}, {along}, {shown(2.0 * f.length)})"
    return f"di.Sphere({f.place(*up(s, 0.05, -2.0))}, {shown(2.0 * f.length)})"


def _box(s, f, middle, size):
    size = up(s, *size) if s.gdim == 2 else (size[0], 4.0, size[1])
    axes = "" if f.plain else f", axes=[{', '.join(shown(row) for row in f.Q.T)}]"
    return f"di.Box({f.place(*up(s, *middle))}, {shown(f.length * np.array(size))}{axes})"


def bowl(s: Scenario) -> float:
    """Height of the centre of a bowl that is at the height 0 beside all corners of the lowest block."""
    return math.sqrt(BOWL**2 - _reach(s) ** 2)


def funnel(s: Scenario) -> float:
    """Height of the apex of a funnel that is at the height 0 beside all corners of the lowest block."""
    return -_reach(s) / math.tan(math.radians(CONE))


def _reach(s):
    b = s.blocks[0]
    return (0.5 * b.width + abs(b.offset) + 0.1) * math.sqrt(s.gdim - 1)

"""A drawing of the set-up of every case."""

from __future__ import annotations

import math

from .sketch import HOLE, Point, Sketch, inclined, turned


def bouncing_ball() -> Sketch:
    """The ball above the ground, its bounces beside it."""
    drawn = Sketch().fixed((12, 24), (230, 24)).circle((44, 112), 13)
    drawn.dimension((20, 26), (20, 112), "z₀", -4).arrow((44, 92), (44, 56), "g", 8)
    path: list[Point] = [(70 + 1.1 * k, 37 + 76 * (1 - (k / 16) ** 2)) for k in range(17)]
    left, top = 87.6, 76 * 0.64
    while top > 2:
        half = 17.6 * math.sqrt(top / 76)
        path += [(left + half * (1 + k / 12), 37 + top * (1 - (k / 12) ** 2)) for k in range(-12, 13)]
        left, top = left + 2 * half, 0.64 * top
    return drawn.line(*path, dashed=True).label((150, 118), "height over time")


def van_der_pol() -> Sketch:
    """A mass between a wall and its spring and damper."""
    drawn = Sketch().fixed((28, 120), (28, 34)).fixed((222, 34), (222, 120)).fixed((28, 34), (222, 34))
    drawn.block((78, 36), 54, 46).spring((132, 70), (222, 70)).dashpot((132, 48), (222, 48))
    drawn.label((177, 82), "ω₀").label((150, 53), "ξ").arrow((104, 94), (140, 94), "x")
    return drawn.dimension((30, 60), (77, 60), "gap").label((22, 128), "wall", "start")


def rotating_spring() -> Sketch:
    """A mass on a spring inside a circular wall."""
    c: Point = (120, 74)
    at = turned(c, 44, 0.45)
    drawn = Sketch().ring(c, 62).spring(c, at).nodes(c).circle(at, 8)
    drawn.arrow((at[0] - 3, at[1] + 9), (at[0] - 13, at[1] + 32)).label((at[0] - 14, at[1] + 16), "v₀", "end")
    return drawn.dimension(c, turned(c, 61, 3.6), "R", -9).label((110, 82), "k", "end")


def impacting_bar() -> Sketch:
    """A bar that flies to a wall."""
    drawn = Sketch().fixed((38, 118), (38, 36)).block((64, 58), 156, 34, 12)
    drawn.arrow((166, 112), (116, 112), "v₀", -8).dimension((39, 48), (63, 48), "gap", -14)
    return drawn.dimension((64, 40), (220, 40), "ℓ", -12)


def discrete_arch() -> Sketch:
    """A chain of nodes between supports that snaps onto a floor."""
    n, drawn = 11, Sketch().fixed((12, 26), (228, 26))
    chain: list[Point] = [(24 + 192 * k / n, 84 + 46 * math.sin(math.pi * k / n)) for k in range(n + 1)]
    low: list[Point] = [(x, max(30.0, 84 - 1.25 * (y - 84))) for x, y in chain]
    drawn.line(*low, dashed=True).line(*chain).nodes(*chain)
    for x in (24, 216):
        drawn.line((x, 84), (x - 8, 70), (x + 8, 70), filled=True)
    drawn.dimension((30, 27), (30, 69), "").label((36, 33), "floor", "start").label((120, 54), "snapped")
    return drawn.arrow((111.3, 149), (111.3, 136)).arrow((128.7, 149), (128.7, 136)).label((146, 140), "F")


def signorini_impact() -> Sketch:
    """A bar that falls upright on the ground."""
    drawn = Sketch().fixed((40, 26), (200, 26)).block((106, 58), 28, 84, 1, 8)
    return drawn.dimension((90, 27), (90, 58), "h₀", 8).arrow((154, 112), (154, 72), "v₀", 8)


def signorini_bounces() -> Sketch:
    """A bar that bounces upright under its weight."""
    drawn = Sketch().fixed((20, 26), (220, 26)).block((50, 58), 28, 84, 1, 8)
    drawn.dimension((36, 27), (36, 58), "h₀", 8).arrow((96, 112), (96, 72), "g", 8)
    times = [(k, s / 16) for k in range(3) for s in range(17)]
    path = [(126 + 30 * (k + s), 28 + 60 * (1 - (2 * s - 1) ** 2)) for k, s in times]
    return drawn.line(*path, dashed=True).label((171, 98), "gap over time")


def two_bars() -> Sketch:
    """Two bars that fly against each other."""
    drawn = Sketch().block((10, 58), 100, 34, 8).block((130, 58), 100, 34, 8)
    drawn.arrow((40, 110), (84, 110), "v₀").arrow((200, 110), (156, 110), "v₀", -8)
    return drawn.dimension((110, 46), (130, 46), "gap", -13)


def split_bar() -> Sketch:
    """A bar that flies to a wall, fine and explicit at its tip, implicit elsewhere."""
    drawn = Sketch().fixed((28, 118), (28, 36)).block((46, 60), 54, 32, 9).block((100, 60), 126, 32, 7)
    drawn.line((100, 34), (100, 120), dashed=True).label((100, 126), "interface")
    drawn.label((72, 42), "explicit, h").label((164, 42), "implicit, m h")
    return drawn.arrow((204, 110), (160, 110), "v₀", -8)


def bridge_crane() -> Sketch:
    """A trolley on the girders of a bridge whose runways shake."""
    drawn = Sketch().fixed((6, 44), (40, 44)).fixed((200, 44), (234, 44))
    drawn.block((14, 62), 212, 12, 14).block((92, 86), 56, 20)
    drawn.circle((104, 80), 6).circle((136, 80), 6)
    for x in (22, 218):
        drawn.line((x - 8, 44), (x - 4, 62), (x + 4, 62), (x + 8, 44), filled=True)
        drawn.arrow((x, 30), (x, 14)).arrow((x, 14), (x, 30))
    drawn.label((120, 112), "trolley").label((120, 46), "girders").label((120, 20), "vertical shaking")
    return drawn.dimension((160, 75), (160, 92), "loose", -5)


def hertz_sphere() -> Sketch:
    """An elastic sphere on a plane."""
    c: Point = (120, 84)
    drawn = Sketch().circle(c, 54).fixed((30, 30), (210, 30)).nodes(c)
    for radius in (14, 26):
        drawn.line(*(turned((120, 30), radius, math.pi * k / 16) for k in range(17)), thin=True)
    drawn.dimension(c, turned(c, 54, 0.6), "R").arrow((192, 104), (192, 66), "v₀", 8)
    return drawn.dimension((106, 17), (134, 17), "2a", -12)


def cube_drop() -> Sketch:
    """A cube that falls flat on a plane."""
    drawn = Sketch().fixed((30, 26), (210, 26)).block((84, 38), 72, 72, 6, 6)
    drawn.line((84, 110), (104, 126), (176, 126), (156, 110), filled=True)
    drawn.line((156, 38), (156, 110), (176, 126), (176, 54), filled=True)
    return drawn.arrow((54, 96), (54, 56), "v₀", -8)


def rigid_body() -> Sketch:
    """A disc and a square that hit a plane."""
    drawn = Sketch().fixed((12, 30), (228, 30)).circle((66, 62), 32).nodes((66, 62))
    drawn.arrow((66, 62), (90, 40), "v").turn((66, 62), 40, 60, 130, "ω")
    corners = [turned((172, 65), 35, math.radians(angle)) for angle in (-90, 0, 90, 180)]
    drawn.line(*corners, filled=True).nodes((172, 65)).arrow((172, 65), (196, 44), "v")
    return drawn.turn((172, 65), 42, 60, 130, "ω").label((120, 12), "e, μ")


def sliding_block() -> Sketch:
    """A block on an inclined plane."""
    place = inclined((18, 30), math.radians(24))
    drawn = Sketch().fixed((18, 30), place(220, 0)).line((18, 30), (222, 30), dashed=True)
    drawn.grid(lambda s, t: place(90 + 64 * s, 36 * t), 6, 4).arrow((210, 76), (210, 46), "g", 6)
    drawn.turn((18, 30), 60, 2, 22).label((86, 38), "α").label((30, 56), "μ")
    return drawn.arrow(place(96.4, 46.8), place(61.2, 46.8), "a", -8)


def spinning_disc() -> Sketch:
    """An elastic disc with spin that is thrown at a plane."""
    c: Point = (96, 86)
    drawn = Sketch().fixed((12, 24), (228, 24)).circle(c, 36).spokes(c, 14, 36, 12)
    drawn.circle(c, 25, "none").circle(c, 14, "none")
    drawn.turn(c, 46, 70, 130, "ω").arrow((136, 72), (166, 42), "v₀").label((200, 32), "μ")
    return drawn.dimension((60, 25), (60, 50), "gap", 6)


def ring_in_cylinder() -> Sketch:
    """An elastic ring inside a circular wall."""
    c: Point = (112, 70)
    drawn = Sketch().ring((120, 74), 62).circle(c, 34).spokes(c, 24, 34, 16).circle(c, 24, HOLE)
    return drawn.arrow(c, (140, 86), "v₀").turn(c, 41, 120, 190, "ω").nodes((120, 74))


def free_flight() -> Sketch:
    """A block that spins and stretches without any force."""
    c: Point = (104, 76)
    turn = inclined(c, 0.5)

    def place(s: float, t: float) -> Point:
        return turn(90 * (s - 0.5), 54 * (t - 0.5) * (1 - 0.25 * math.cos(math.pi * (s - 0.5))))

    drawn = Sketch().line((8, 40), (232, 124), dashed=True).grid(place, 8, 5, 3).nodes(c)
    return drawn.arrow((168, 100), (208, 115), "v₀").turn(c, 58, 100, 165, "ω")


def oblique_bar() -> Sketch:
    """A bar and its wall, turned in space."""
    place = inclined((48, 44), math.radians(28))
    drawn = Sketch().fixed(place(0, 46), place(0, -34)).line((40, 40), (224, 40), dashed=True)
    drawn.grid(lambda s, t: place(18 + 138 * s, -10 + 28 * t), 12, 2)
    drawn.arrow(place(120, 34), place(82, 48), "v₀", -8)
    return drawn.turn((48, 40), 150, 1, 20).label((214, 62), "angle")


def wave_block() -> Sketch:
    """A block in its standing shear wave."""

    def place(s: float, t: float) -> Point:
        x, y = math.pi * s, math.pi * t
        return 66 + 108 * s + 14 * math.cos(x) * math.sin(y), 22 + 108 * t - 14 * math.sin(x) * math.cos(y)

    drawn = Sketch().grid(place, 8, 8, 3)
    drawn.line((66, 22), (174, 22), (174, 130), (66, 130), (66, 22), dashed=True)
    return drawn.dimension((40, 22), (40, 130), "L", 6)

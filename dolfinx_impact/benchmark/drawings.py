"""A drawing of the set-up of every case."""

from __future__ import annotations

import math

from .sketch import HOLE, Place, Point, Sketch, inclined, turned


def _bounces() -> list[Point]:
    """The height of a ball over time: half an arc down, then arcs that shrink."""
    path: list[Point] = [(70 + 1.1 * k, 37 + 76 * (1 - (k / 16) ** 2)) for k in range(17)]
    left, top = 87.6, 76 * 0.64
    while top > 2:
        half = 17.6 * math.sqrt(top / 76)
        path += [(left + half * (1 + k / 12), 37 + top * (1 - (k / 12) ** 2)) for k in range(-12, 13)]
        left, top = left + 2 * half, 0.64 * top
    return path


def _stretched(place: Place) -> Place:
    """A block of 90 by 54 that is thinner in its middle."""
    return lambda s, t: place(90 * (s - 0.5), 54 * (t - 0.5) * (1 - 0.25 * math.cos(math.pi * (s - 0.5))))


def _sheared(s: float, t: float) -> Point:
    """A square block in its standing shear wave."""
    x, y = math.pi * s, math.pi * t
    return 66 + 108 * s + 14 * math.cos(x) * math.sin(y), 22 + 108 * t - 14 * math.sin(x) * math.cos(y)


bouncing_ball = Sketch().fixed((12, 24), (230, 24)).circle((44, 112), 13)
bouncing_ball.dimension((20, 26), (20, 112), "z₀", -4).arrow((44, 92), (44, 56), "g", 8)
bouncing_ball.line(*_bounces(), dashed=True).label((150, 118), "height over time")

van_der_pol = Sketch().fixed((28, 120), (28, 34)).fixed((222, 34), (222, 120)).fixed((28, 34), (222, 34))
van_der_pol.block((78, 36), 54, 46).spring((132, 70), (222, 70)).dashpot((132, 48), (222, 48))
van_der_pol.label((177, 82), "ω₀").label((150, 53), "ξ").arrow((104, 94), (140, 94), "x")
van_der_pol.dimension((30, 60), (77, 60), "gap").label((22, 128), "wall", "start")

_x, _y = _mass = turned((120, 74), 44, 0.45)
rotating_spring = Sketch().ring((120, 74), 62).spring((120, 74), _mass).nodes((120, 74)).circle(_mass, 8)
rotating_spring.arrow((_x - 3, _y + 9), (_x - 13, _y + 32)).label((_x - 14, _y + 16), "v₀", "end")
rotating_spring.dimension((120, 74), turned((120, 74), 61, 3.6), "R", -9).label((110, 82), "k", "end")

impacting_bar = Sketch().fixed((38, 118), (38, 36)).block((64, 58), 156, 34, 12)
impacting_bar.arrow((166, 112), (116, 112), "v₀", -8).dimension((39, 48), (63, 48), "gap", -14)
impacting_bar.dimension((64, 40), (220, 40), "ℓ", -12)

_chain: list[Point] = [(24 + 192 * k / 11, 84 + 46 * math.sin(math.pi * k / 11)) for k in range(12)]
_snapped: list[Point] = [(x, max(30.0, 84 - 1.25 * (y - 84))) for x, y in _chain]
discrete_arch = Sketch().fixed((12, 26), (228, 26)).line(*_snapped, dashed=True).line(*_chain).nodes(*_chain)
discrete_arch.line((24, 84), (16, 70), (32, 70), filled=True)
discrete_arch.line((216, 84), (208, 70), (224, 70), filled=True)
discrete_arch.dimension((30, 27), (30, 69), "").label((36, 33), "floor", "start").label((120, 54), "snapped")
discrete_arch.arrow((111.3, 149), (111.3, 136)).arrow((128.7, 149), (128.7, 136)).label((146, 140), "F")

signorini_impact = Sketch().fixed((40, 26), (200, 26)).block((106, 58), 28, 84, 1, 8)
signorini_impact.dimension((90, 27), (90, 58), "h₀", 8).arrow((154, 112), (154, 72), "v₀", 8)

signorini_bounces = Sketch().fixed((20, 26), (220, 26)).block((50, 58), 28, 84, 1, 8)
signorini_bounces.dimension((36, 27), (36, 58), "h₀", 8).arrow((96, 112), (96, 72), "g", 8)
_times = [(k, s / 16) for k in range(3) for s in range(17)]
_path: list[Point] = [(126 + 30 * (k + s), 28 + 60 * (1 - (2 * s - 1) ** 2)) for k, s in _times]
signorini_bounces.line(*_path, dashed=True).label((171, 98), "gap over time")

two_bars = Sketch().block((10, 58), 100, 34, 8).block((130, 58), 100, 34, 8)
two_bars.arrow((40, 110), (84, 110), "v₀").arrow((200, 110), (156, 110), "v₀", -8)
two_bars.dimension((110, 46), (130, 46), "gap", -13)

split_bar = Sketch().fixed((28, 118), (28, 36)).block((46, 60), 54, 32, 9).block((100, 60), 126, 32, 7)
split_bar.line((100, 34), (100, 120), dashed=True).label((100, 126), "interface")
split_bar.label((72, 42), "explicit, h").label((164, 42), "implicit, m h")
split_bar.arrow((204, 110), (160, 110), "v₀", -8)

pin_drop = Sketch().fixed((90, 30), (150, 30)).block((16, 78), 208, 22, 16, 2).block((113, 50), 14, 28, 2, 5)
pin_drop.line((100, 78), (140, 78), dashed=True).label((178, 60), "explicit, h")
pin_drop.label((62, 112), "implicit, m h").arrow((204, 134), (204, 108), "v₀", 9)

bridge_crane = Sketch().fixed((6, 44), (40, 44)).fixed((200, 44), (234, 44))
bridge_crane.block((14, 62), 212, 12, 14).block((92, 86), 56, 20).circle((104, 80), 6).circle((136, 80), 6)
for x in (22, 218):
    bridge_crane.line((x - 8, 44), (x - 4, 62), (x + 4, 62), (x + 8, 44), filled=True)
    bridge_crane.arrow((x, 30), (x, 14)).arrow((x, 14), (x, 30))
bridge_crane.label((120, 112), "trolley").label((120, 46), "girders").label((120, 20), "vertical shaking")
bridge_crane.dimension((160, 75), (160, 92), "loose", -5)

solid_crane = Sketch().fixed((6, 44), (40, 44)).fixed((200, 44), (234, 44))
solid_crane.block((14, 44), 14, 26, 2, 2).block((212, 44), 14, 26, 2, 2).block((28, 38), 184, 34, 8, 2)
for x in (84, 144):
    solid_crane.block((x, 72), 12, 10, 2, 3).block((x, 86), 12, 10, 2, 3)
solid_crane.block((72, 96), 96, 18, 8, 2).label((120, 120), "trolley, implicit").label((197, 84), "explicit")
solid_crane.label((120, 26), "girders, implicit").arrow((21, 34), (21, 14)).arrow((219, 14), (219, 34))

hertz_sphere = Sketch().circle((120, 84), 54).fixed((30, 30), (210, 30)).nodes((120, 84))
for radius in (14, 26):
    hertz_sphere.line(*(turned((120, 30), radius, math.pi * k / 16) for k in range(17)), thin=True)
hertz_sphere.dimension((120, 84), turned((120, 84), 54, 0.6), "R").arrow((192, 104), (192, 66), "v₀", 8)
hertz_sphere.dimension((106, 17), (134, 17), "2a", -12)

cube_drop = Sketch().fixed((30, 26), (210, 26)).block((84, 38), 72, 72, 6, 6)
cube_drop.line((84, 110), (104, 126), (176, 126), (156, 110), filled=True)
cube_drop.line((156, 38), (156, 110), (176, 126), (176, 54), filled=True).arrow((54, 96), (54, 56), "v₀", -8)

_corners = [turned((172, 65), 35, math.radians(angle)) for angle in (-90, 0, 90, 180)]
rigid_body = Sketch().fixed((12, 30), (228, 30)).circle((66, 62), 32).nodes((66, 62))
rigid_body.arrow((66, 62), (90, 40), "v").turn((66, 62), 40, 60, 130, "ω").line(*_corners, filled=True)
rigid_body.nodes((172, 65)).arrow((172, 65), (196, 44), "v").turn((172, 65), 42, 60, 130, "ω")
rigid_body.label((120, 12), "e, μ")

_slope = inclined((18, 30), math.radians(24))
sliding_block = Sketch().fixed((18, 30), _slope(220, 0)).line((18, 30), (222, 30), dashed=True)
sliding_block.grid(lambda s, t: _slope(90 + 64 * s, 36 * t), 6, 4).arrow((210, 76), (210, 46), "g", 6)
sliding_block.turn((18, 30), 60, 2, 22).label((86, 38), "α").label((30, 56), "μ")
sliding_block.arrow(_slope(96.4, 46.8), _slope(61.2, 46.8), "a", -8)

spinning_disc = Sketch().fixed((12, 24), (228, 24)).circle((96, 86), 36).spokes((96, 86), 14, 36, 12)
spinning_disc.circle((96, 86), 25, "none").circle((96, 86), 14, "none").turn((96, 86), 46, 70, 130, "ω")
spinning_disc.arrow((136, 72), (166, 42), "v₀").label((200, 32), "μ").dimension((60, 25), (60, 50), "gap", 6)

ring_in_cylinder = Sketch().ring((120, 74), 62).circle((112, 70), 34).spokes((112, 70), 24, 34, 16)
ring_in_cylinder.circle((112, 70), 24, HOLE).arrow((112, 70), (140, 86), "v₀")
ring_in_cylinder.turn((112, 70), 41, 120, 190, "ω").nodes((120, 74))

free_flight = Sketch().line((8, 40), (232, 124), dashed=True)
free_flight.grid(_stretched(inclined((104, 76), 0.5)), 8, 5, 3).nodes((104, 76))
free_flight.arrow((168, 100), (208, 115), "v₀").turn((104, 76), 58, 100, 165, "ω")

_way = inclined((48, 44), math.radians(28))
oblique_bar = Sketch().fixed(_way(0, 46), _way(0, -34)).line((40, 40), (224, 40), dashed=True)
oblique_bar.grid(lambda s, t: _way(18 + 138 * s, -10 + 28 * t), 12, 2)
oblique_bar.arrow(_way(120, 34), _way(82, 48), "v₀", -8).turn((48, 40), 150, 1, 20)
oblique_bar.label((214, 62), "angle")

wave_block = Sketch().grid(_sheared, 8, 8, 3)
wave_block.line((66, 22), (174, 22), (174, 130), (66, 130), (66, 22), dashed=True)
wave_block.dimension((40, 22), (40, 130), "L", 6)

non_matching_blocks = Sketch().block((66, 18), 60, 50, 3, 4).block((66, 84), 60, 50, 5, 4)
non_matching_blocks.arrow((150, 40), (150, 66), "v₀", -9).arrow((150, 124), (150, 98), "v₀", 9)
non_matching_blocks.dimension((54, 68), (54, 84), "gap", 18)

two_spheres = Sketch().circle((120, 110), 32).circle((120, 44), 32)
two_spheres.arrow((172, 128), (172, 98), "v₀", 9).arrow((172, 26), (172, 56), "v₀", -9)
two_spheres.dimension((120, 110), turned((120, 110), 31, 2.6), "R", -9)

oblique_discs = Sketch().circle((134, 112), 28).circle((104, 58), 28).arrow((178, 126), (178, 96), "v₀", 9)
oblique_discs.arrow((60, 42), (60, 72), "v₀", 9).dimension((104, 24), (134, 24), "offset", -12)

unequal_bars = Sketch().block((16, 60), 70, 30, 6, 2).block((104, 60), 120, 30, 9, 3)
unequal_bars.arrow((30, 108), (70, 108), "v₁").arrow((146, 108), (172, 108), "v₂")
unequal_bars.dimension((16, 48), (86, 48), "ℓ₁", -12).dimension((104, 48), (224, 48), "ℓ₂", -12)

meshed_incline = Sketch().grid(lambda s, t: _slope(14 + 200 * s, -12 + 12 * t), 14, 1)
meshed_incline.grid(lambda s, t: _slope(90 + 64 * s, 36 * t), 6, 4).arrow((210, 90), (210, 60), "g", 6)
meshed_incline.label((40, 62), "μ").arrow(_slope(96.4, 46.8), _slope(61.2, 46.8), "a", -8)


def _membrane(s: float, t: float) -> Point:
    """Cook's membrane, twice as large."""
    return 64 + 96 * s, 14 + 88 * s + (88 - 56 * s) * t


cook_membrane = Sketch().fixed((64, 112), (64, 4)).grid(_membrane, 6, 6, 3)
cook_membrane.arrow((172, 104), (172, 134), "F", -10).nodes((160, 134)).label((160, 140), "tip")

rubber_block = Sketch().fixed((20, 32), (130, 32)).fixed((130, 112), (20, 112)).block((35, 32), 80, 80, 8, 8)
rubber_block.arrow((75, 146), (75, 122)).fixed((150, 32), (234, 32)).circle((192, 66), 32)
rubber_block.arrow((192, 132), (192, 104), "v₀", 9)

_half: list[Point] = [(21, 0), (15, 8), (11, 16), (9, 26), (8, 90)]
_bar = [(172 - x, 30 + y) for x, y in _half] + [(172 + x, 30 + y) for x, y in reversed(_half)]
taylor_bar = Sketch().fixed((20, 30), (230, 30)).block((64, 30), 16, 112, 2, 14)
taylor_bar.arrow((44, 110), (44, 76), "v₀", 9).arrow((98, 84), (134, 84)).line(*_bar, filled=True)
taylor_bar.dimension((172, 20), (193, 20), "", 8).label((206, 12), "radius")

plastic_wave = Sketch().fixed((24, 118), (24, 36)).block((24, 62), 204, 30, 17)
plastic_wave.line((84, 46), (84, 122), dashed=True).label((84, 128), "plastic")
plastic_wave.line((168, 46), (168, 122), dashed=True).label((168, 128), "elastic")
plastic_wave.arrow((84, 50), (108, 50)).arrow((168, 50), (206, 50)).arrow((216, 106), (186, 106), "v₀", -8)

#: The drawings by the names of the cases.
DRAWINGS = {name.replace("_", "-"): each for name, each in list(vars().items()) if isinstance(each, Sketch)}

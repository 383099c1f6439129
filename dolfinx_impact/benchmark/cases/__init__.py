"""The cases of the benchmark by name, and in folders what the papers claim of each."""

from __future__ import annotations

from collections.abc import Mapping

from ..case import Case
from .bouncing_ball.case import BOUNCING_BALL
from .bridge_crane.case import BRIDGE_CRANE
from .discrete_arch.case import DISCRETE_ARCH
from .impacting_bar.case import IMPACTING_BAR
from .materials.cook_membrane import COOK_MEMBRANE
from .materials.plastic_wave import PLASTIC_WAVE
from .materials.rubber_block import RUBBER_BLOCK
from .materials.taylor_bar import TAYLOR_BAR
from .pin_drop.case import PIN_DROP
from .rotating_spring.case import ROTATING_SPRING
from .signorini.case import SIGNORINI_BOUNCES, SIGNORINI_IMPACT
from .solid_crane.case import SOLID_CRANE
from .solids.cube_drop import CUBE_DROP
from .solids.free_flight import FREE_FLIGHT
from .solids.hertz_sphere import HERTZ_SPHERE
from .solids.oblique_bar import OBLIQUE_BAR
from .solids.rigid_body import RIGID_BODY
from .solids.sliding_block import SLIDING_BLOCK
from .solids.spinning import RING_IN_CYLINDER, SPINNING_DISC
from .solids.wave_block import WAVE_BLOCK
from .split_bar.case import SPLIT_BAR
from .surfaces.meshed_incline import MESHED_INCLINE
from .surfaces.non_matching_blocks import NON_MATCHING_BLOCKS
from .surfaces.oblique_discs import OBLIQUE_DISCS
from .surfaces.two_spheres import TWO_SPHERES
from .surfaces.unequal_bars import UNEQUAL_BARS
from .two_bars.case import TWO_BARS
from .van_der_pol.case import VAN_DER_POL

CASES: Mapping[str, Case] = {
    "bouncing-ball": BOUNCING_BALL,
    "van-der-pol": VAN_DER_POL,
    "rotating-spring": ROTATING_SPRING,
    "impacting-bar": IMPACTING_BAR,
    "discrete-arch": DISCRETE_ARCH,
    "signorini-impact": SIGNORINI_IMPACT,
    "signorini-bounces": SIGNORINI_BOUNCES,
    "two-bars": TWO_BARS,
    "split-bar": SPLIT_BAR,
    "bridge-crane": BRIDGE_CRANE,
    "solid-crane": SOLID_CRANE,
    "pin-drop": PIN_DROP,
    "hertz-sphere": HERTZ_SPHERE,
    "cube-drop": CUBE_DROP,
    "rigid-body": RIGID_BODY,
    "sliding-block": SLIDING_BLOCK,
    "spinning-disc": SPINNING_DISC,
    "ring-in-cylinder": RING_IN_CYLINDER,
    "free-flight": FREE_FLIGHT,
    "oblique-bar": OBLIQUE_BAR,
    "wave-block": WAVE_BLOCK,
    "non-matching-blocks": NON_MATCHING_BLOCKS,
    "two-spheres": TWO_SPHERES,
    "oblique-discs": OBLIQUE_DISCS,
    "unequal-bars": UNEQUAL_BARS,
    "meshed-incline": MESHED_INCLINE,
    "cook-membrane": COOK_MEMBRANE,
    "rubber-block": RUBBER_BLOCK,
    "taylor-bar": TAYLOR_BAR,
    "plastic-wave": PLASTIC_WAVE,
}

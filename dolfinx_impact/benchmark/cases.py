"""The cases of the benchmark by name."""

from __future__ import annotations

from collections.abc import Mapping

from .bouncing_ball import BOUNCING_BALL
from .bridge_crane import BRIDGE_CRANE
from .case import Case
from .cube_drop import CUBE_DROP
from .discrete_arch import DISCRETE_ARCH
from .free_flight import FREE_FLIGHT
from .hertz_sphere import HERTZ_SPHERE
from .impacting_bar import IMPACTING_BAR
from .oblique_bar import OBLIQUE_BAR
from .rigid_body import RIGID_BODY
from .ring_in_cylinder import RING_IN_CYLINDER
from .rotating_spring import ROTATING_SPRING
from .signorini import SIGNORINI_BOUNCES, SIGNORINI_IMPACT
from .sliding_block import SLIDING_BLOCK
from .spinning_disc import SPINNING_DISC
from .split_bar import SPLIT_BAR
from .two_bars import TWO_BARS
from .van_der_pol import VAN_DER_POL
from .wave_block import WAVE_BLOCK

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
    "hertz-sphere": HERTZ_SPHERE,
    "cube-drop": CUBE_DROP,
    "rigid-body": RIGID_BODY,
    "sliding-block": SLIDING_BLOCK,
    "spinning-disc": SPINNING_DISC,
    "ring-in-cylinder": RING_IN_CYLINDER,
    "free-flight": FREE_FLIGHT,
    "oblique-bar": OBLIQUE_BAR,
    "wave-block": WAVE_BLOCK,
}

"""The cases of the benchmark by name, and in folders what the papers claim of each."""

from __future__ import annotations

from collections.abc import Mapping

from ..case import Case
from .bouncing_ball.case import Ball
from .bridge_crane.case import CraneCase
from .discrete_arch.case import Arch
from .impacting_bar.case import Bar
from .materials.cook_membrane import CookMembrane
from .materials.plastic_wave import MetalWave
from .materials.rubber_block import RubberBlock
from .materials.taylor_bar import TaylorBar
from .pin_drop.case import PinDrop
from .rotating_spring.case import Spring
from .signorini.case import SIGNORINI_BOUNCES, SIGNORINI_IMPACT
from .solid_crane.case import SolidCraneCase
from .solids.cube_drop import CubeDrop
from .solids.free_flight import FreeFlight
from .solids.hertz_sphere import HertzSphere, TwoSpheres
from .solids.oblique_bar import ObliqueBar
from .solids.rigid_body import RigidBodyCase
from .solids.sliding_block import MeshedIncline, SlidingBlock
from .solids.spinning import RingInCylinder, SpinningDisc
from .solids.wave_block import WaveBlock
from .split_bar.case import SplitBar
from .surfaces.non_matching_blocks import NonMatchingBlocks
from .surfaces.oblique_discs import ObliqueDiscs
from .surfaces.unequal_bars import UnequalBars
from .two_bars.case import TwoBars
from .van_der_pol.case import Oscillator

CASES: Mapping[str, Case] = {
    "bouncing-ball": Ball(),
    "van-der-pol": Oscillator(),
    "rotating-spring": Spring(),
    "impacting-bar": Bar(),
    "discrete-arch": Arch(),
    "signorini-impact": SIGNORINI_IMPACT,
    "signorini-bounces": SIGNORINI_BOUNCES,
    "two-bars": TwoBars(),
    "split-bar": SplitBar(),
    "bridge-crane": CraneCase(),
    "solid-crane": SolidCraneCase(),
    "pin-drop": PinDrop(),
    "hertz-sphere": HertzSphere(),
    "cube-drop": CubeDrop(),
    "rigid-body": RigidBodyCase(),
    "sliding-block": SlidingBlock(),
    "spinning-disc": SpinningDisc(),
    "ring-in-cylinder": RingInCylinder(),
    "free-flight": FreeFlight(),
    "oblique-bar": ObliqueBar(),
    "wave-block": WaveBlock(),
    "non-matching-blocks": NonMatchingBlocks(),
    "two-spheres": TwoSpheres(),
    "oblique-discs": ObliqueDiscs(),
    "unequal-bars": UnequalBars(),
    "meshed-incline": MeshedIncline(),
    "cook-membrane": CookMembrane(),
    "rubber-block": RubberBlock(),
    "taylor-bar": TaylorBar(),
    "plastic-wave": MetalWave(),
}

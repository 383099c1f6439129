"""The cases of the benchmark by name, and in folders what the papers claim of each."""

from __future__ import annotations

from collections.abc import Mapping

from ..case import Case
from .bouncing_ball.case import Ball
from .bridge_crane.case import CraneCase
from .discrete_arch.case import Arch
from .experiments import taylor_tests
from .experiments.sphere_plate import SpherePlate
from .experiments.sphere_rod import SphereRod
from .general_contact.crossed_bars import CrossedBars
from .general_contact.folded_strip import FoldedStrip
from .general_contact.pile import Pile
from .general_contact.sphere_hole import SphereHole
from .impacting_bar.case import Bar
from .lasting import hertz_static, shaft_in_ring
from .lasting.press_fit import PressFit
from .materials import cook_membrane, plastic_wave, rubber_block, taylor_bar
from .pin_drop.case import PinDrop
from .plane_block.case import PlaneBlock
from .rotating_spring.case import Spring
from .signorini.case import SIGNORINI_BOUNCES, SIGNORINI_IMPACT
from .solid_crane.case import SolidCraneCase
from .solids import cube_drop, free_flight, hertz_sphere, oblique_bar, rigid_body, sliding_block
from .solids.spinning import RingInCylinder, SpinningDisc
from .solids.wave_block import WaveBlock
from .split_bar.case import SplitBar
from .surfaces import non_matching_blocks, oblique_discs, unequal_bars
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
    "plane-block": PlaneBlock(),
    "two-bars": TwoBars(),
    "split-bar": SplitBar(),
    "bridge-crane": CraneCase(),
    "solid-crane": SolidCraneCase(),
    "pin-drop": PinDrop(),
    "hertz-sphere": hertz_sphere.HertzSphere(),
    "cube-drop": cube_drop.CubeDrop(),
    "rigid-body": rigid_body.RigidBodyCase(),
    "sliding-block": sliding_block.SlidingBlock(),
    "spinning-disc": SpinningDisc(),
    "ring-in-cylinder": RingInCylinder(),
    "free-flight": free_flight.FreeFlight(),
    "oblique-bar": oblique_bar.ObliqueBar(),
    "wave-block": WaveBlock(),
    "non-matching-blocks": non_matching_blocks.NonMatchingBlocks(),
    "two-spheres": hertz_sphere.TwoSpheres(),
    "oblique-discs": oblique_discs.ObliqueDiscs(),
    "unequal-bars": unequal_bars.UnequalBars(),
    "meshed-incline": sliding_block.MeshedIncline(),
    "cook-membrane": cook_membrane.CookMembrane(),
    "rubber-block": rubber_block.RubberBlock(),
    "taylor-bar": taylor_bar.TaylorBar(),
    "plastic-wave": plastic_wave.MetalWave(),
    "taylor-tests": taylor_tests.TaylorTests(),
    "sphere-plate": SpherePlate(),
    "sphere-rod": SphereRod(),
    "press-fit": PressFit(),
    "shaft-in-ring": shaft_in_ring.ShaftInRing(),
    "hertz-static": hertz_static.HertzStatic(),
    "crossed-bars": CrossedBars(),
    "pile": Pile(),
    "folded-strip": FoldedStrip(),
    "sphere-hole": SphereHole(),
}

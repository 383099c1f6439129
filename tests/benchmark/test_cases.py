"""All cases of the benchmark alike: values that describe no case are refused at the door."""

import math

import pytest
from support import cases

from dolfinx_impact import SCHEMES
from dolfinx_impact.benchmark import runner
from dolfinx_impact.benchmark.cases import CASES


def outside(option):
    """Values just outside the interval of a parameter, no number, and what is not among those allowed."""
    if option.allowed:
        return ["something else"]
    if not option.interval:
        return []
    low, high = map(float, option.interval.strip("[]()").split(","))
    least = [low - 1 if option.interval.startswith("[") else low] if math.isfinite(low) else []
    most = [high + 1 if option.interval.endswith("]") else high] if math.isfinite(high) else []
    return [math.nan, *least, *most]


def wrong_values(parameters):
    return [(name, value) for name, option in parameters.items() for value in outside(option)]


@pytest.mark.parametrize("case", CASES)
def test_what_a_case_declares_it_refuses(case):
    chosen = CASES[case]
    values, wrong = cases.values(case, chosen.schemes[0]), wrong_values(chosen.parameters)
    assert len(wrong) >= 8
    for name, value in wrong:
        refused = "give h" if name == "courant" and chosen.no_critical_step else f"^{name} must"
        with pytest.raises(ValueError, match=refused):
            chosen.make(chosen.schemes[0], {**values, name: value})


@pytest.mark.parametrize(
    "scheme", [name for name, s in SCHEMES.items() if s.contact_level != "none" and not s.static]
)
def test_what_a_scheme_declares_is_refused(scheme):
    case = next(case for case in CASES.values() if scheme in case.schemes)
    numbers = {name: option for name, option in SCHEMES[scheme].options.items() if not option.allowed}
    for name, value in wrong_values(numbers):
        with pytest.raises(ValueError, match=f"{name} must"):
            runner.parse(case, scheme, [f"{name}={value}"])


#: Cases of contact that lasts.
LASTING = ("press-fit", "shaft-in-ring", "hertz-static")


@pytest.mark.parametrize("case", CASES)
def test_impacts_have_no_static_scheme(case):
    assert any(SCHEMES[name].static for name in CASES[case].schemes) == (case in LASTING)
    if case not in LASTING:
        with pytest.raises(ValueError, match=f"unknown scheme 'static' for {case}"):
            runner.find(case, "static")


#: Rules between parameters, of steps, of schemes and of bodies: case, scheme, changes, and the refusal.
RULES = [
    ("bouncing-ball", "cd-lagrange", {"v0": math.nan}, "v0 must be finite"),
    ("bouncing-ball", "carpenter", {}, "no restitution"),
    ("bouncing-ball", "carpenter-implicit", {}, "no restitution"),
    ("van-der-pol", "cd-lagrange", {"wall": "2"}, "x0 must not lie behind the wall at 2 m, but is 1 m"),
    ("van-der-pol", "cd-lagrange", {"h": 3.0}, "above the critical one, 2 s"),
    ("rotating-spring", "carpenter", {}, "Carpenter's scheme has no restitution"),
    ("rotating-spring", "paoli-schatzman", {"friction": 0.1}, "does not support friction"),
    ("rotating-spring", "cd-lagrange", {"x0": 1.5}, "inside the wall and not at its center"),
    ("rotating-spring", "cd-lagrange", {"x0": 0.0}, "inside the wall and not at its center"),
    ("rotating-spring", "cd-lagrange", {"h": 0.64}, "above the critical one, 0.632456 s"),
    ("rotating-spring", "moreau-jean", {"friction": -1.0}, "friction must be a coefficient"),
    ("discrete-arch", "cd-lagrange", {"restitution": 1.5}, "restitution must lie in"),
    ("discrete-arch", "cd-lagrange", {"opening": 7.0}, "opening must lie between"),
    ("discrete-arch", "cd-lagrange", {"h": 1.1}, "above the critical one"),
    ("discrete-arch", "cd-lagrange", {"courant": 1.1}, "above the critical one"),
    ("two-bars", "cd-lagrange", {"courant": 1.1}, "is above the critical one, 1.22748e-06 s"),
    ("split-bar", "hati", {"explicit_elements": 0}, "must be 1 to 39 of the 40 elements, .*but is 0"),
    ("split-bar", "hati", {"explicit_elements": 40}, "1 to 39 .*both parts have some, but is 40"),
    ("split-bar", "hati", {"explicit_elements": 41}, "explicit_elements must be 1 to 39 .*but is 41"),
    ("split-bar", "hati", {"ratio": 0}, "ratio of the time steps must be a whole number from 1 on, but is 0"),
    ("split-bar", "hati", {"courant": 1.1}, "is above the critical one, 1.227.*e-06 s"),
    ("split-bar", "hati", {"h": 1.3e-6}, "is above the critical one, 1.227.*e-06 s"),
    ("solid-crane", "hati", {"trolley": 9.5}, "trolley must be within 9 m of the middle, but is 9.5 m"),
    ("pin-drop", "hati", {"along": 102}, "along must be a multiple of 4, but is 102"),
    ("pin-drop", "hati", {"across": 6}, "across must be a multiple of 4, but is 6"),
    ("pin-drop", "hati", {"along": 60}, "the pin must have an even number of elements along the beam"),
    ("pin-drop", "hati", {"layers": 3, "tip": 0.02}, "3 layers of .* are no pin of 0.05 m"),
    ("cube-drop", "cd-lagrange", {"v0": 1e-7}, "v0 must be above gap_tolerance"),
    ("plane-block", "cd-lagrange", {"divisions": 1}, "half of the width must be a whole .* 2.5 m are 2.5 of"),
    ("plane-block", "cd-lagrange", {"height": 0.01}, "the height must be a whole number of squares"),
    ("hertz-sphere", "cd-lagrange", {"v0": 1e3}, "contact radius would be .* R"),
    ("hertz-sphere", "cd-lagrange", {"v0": 1e-5}, "contact radius would be .* R"),
    ("hertz-sphere", "cd-lagrange", {"gap_tolerance": 1e-6}, "gap_tolerance must be small"),
    ("sliding-block", "cd-lagrange", {"elements": 0}, "elements must be at least 1, .* but is 0"),
    ("sliding-block", "cd-lagrange", {"length": 1e9}, "with at most 1000000 in the block, but is 4"),
    (
        "sliding-block",
        "cd-lagrange",
        {"length": 1e300, "height": 1e-300},
        "with at most 1000000 in the block",
    ),
    ("sliding-block", "cd-lagrange", {"angle": 70.0, "friction": 3.0}, "tips over: .* than 2.747 heights"),
    ("sliding-block", "cd-lagrange", {"courant": 1.1}, "is above the critical one"),
    ("spinning-disc", "cd-lagrange", {"vy0": 1.0}, "vy0 must be negative"),
    ("ring-in-cylinder", "cd-lagrange", {"hole": 0.1}, "hole must lie between 0 and R"),
    ("ring-in-cylinder", "cd-lagrange", {"x0": 0.11}, "the ring must lie inside the wall"),
    ("ring-in-cylinder", "cd-lagrange", {"vx0": 0.0, "vy0": 0.0, "spin0": 0.0}, "nothing would move"),
    ("free-flight", "cd-lagrange", {"spin": 0.0}, "spin must be a number other than 0"),
    ("free-flight", "cd-lagrange", {"courant": 1.1}, "above the critical one"),
    ("oblique-bar", "cd-lagrange", {"area": 1e12}, "of 1e.12 m2 and a length of 0.254 m cannot be meshed"),
    ("oblique-bar", "cd-lagrange", {"courant": 1.1}, "is above the critical one"),
    ("wave-block", "cd-lagrange", {"elements": 1}, "elements must be a whole number from 2"),
    ("wave-block", "cd-lagrange", {"elements": 2.5}, "elements must be a whole number from 2"),
    ("wave-block", "cd-lagrange", {"courant": 1.1}, "above the critical one"),
    ("non-matching-blocks", "moreau-jean", {"delassus": "diagonal"}, "control for explicit schemes"),
    ("oblique-discs", "cd-lagrange", {"offset": 2.0}, "offset must be below two radii"),
    ("unequal-bars", "cd-lagrange", {"v2": 6.0}, "v1 must be above v2"),
    ("two-spheres", "cd-lagrange", {"v0": 1e4}, "Hertz's contact radius"),
    ("meshed-incline", "cd-lagrange", {"length": 0.01}, "tips over"),
    ("sphere-plate", "cd-lagrange", {"v0": 1e4}, "the contact radius would be .*: change v0 or E"),
    ("sphere-rod", "cd-lagrange", {"v0": 1e-6}, "the contact radius would be .*: change v0 or E"),
    ("taylor-bar", "cd-lagrange", {"size": 0.01}, "at most the radius"),
    (
        "press-fit",
        "moreau-jean",
        {"steps": 30},
        "steps are those of static, but are 30 .*: give courant or h",
    ),
    ("press-fit", "static", {"courant": 5.0}, "static has no critical step, but courant is 5.0: give steps"),
    ("press-fit", "static", {"steps": 30, "h": 1e-3}, "give h or steps, not both"),
    ("press-fit", "cd-lagrange", {"courant": 1.1}, "above the critical one"),
    ("press-fit", "moreau-jean", {"theta": 0.4}, "theta"),
    ("press-fit", "moreau-jean", {"mass": "consistent"}, "lumped"),
    ("shaft-in-ring", "static", {"bore": 0.02}, "bore must be below radius, but is 0.02 m of 0.02 m"),
    ("shaft-in-ring", "static", {"outer": 0.01}, "radius must be below outer"),
    ("shaft-in-ring", "static", {"interference": 1e-3}, "at most a hundredth of the thickness"),
    ("shaft-in-ring", "static", {"gap_tolerance": 1e-6}, "small against the interference"),
    ("shaft-in-ring", "static", {"push": 0.015}, "push must be below half of the length"),
    ("shaft-in-ring", "static", {"push": 1e-5, "friction": 0.0}, "friction must be above 0 with it"),
    ("shaft-in-ring", "static", {"closing": None}, "closing must be a time"),
    ("shaft-in-ring", "static", {"t_end": 0.5}, "t_end must be at least closing, 1 s, but is 0.5 s"),
    ("shaft-in-ring", "moreau-jean", {"position": False}, "give position=True too"),
    ("hertz-static", "static", {"radius2": -0.01}, "concave body must have a larger radius than 0.01 m"),
    ("hertz-static", "static", {"load": 1e9}, "half-width would be .* of the smaller radius, .*the load"),
    ("hertz-static", "static", {"load": 1e-9}, "half-width would be .* of the smaller radius"),
    ("hertz-static", "static", {"gap_tolerance": 1e-9}, "small against the depth of the contact, 1e-08 m"),
    ("crossed-bars", "cd-lagrange", {"v1": "1,2"}, "v1 must be three numbers with commas .*, not '1,2'"),
    ("crossed-bars", "cd-lagrange", {"spin2": "1,2,x"}, "spin2 must be three numbers"),
    ("crossed-bars", "cd-lagrange", {"place2": 0.035}, "place2 must be a side from the ends of the bar"),
    ("folded-strip", "moreau-jean", {"gaps": "0.03,a"}, "gaps must be numbers with commas"),
    ("folded-strip", "moreau-jean", {"gaps": "0.03,0.031"}, "gaps must fall, from 0.01 m on"),
    ("folded-strip", "moreau-jean", {"gaps": "0.04,0.02"}, "gaps must fall, .* by a factor of 1.5 at most"),
    ("folded-strip", "moreau-jean", {"cells": 2.5}, "cells must be a whole number, but is 2.5"),
    ("sphere-hole", "cd-lagrange", {"opening": 0.01}, "opening must be 0.2 to 1.5 diameters"),
    ("sphere-hole", "cd-lagrange", {"opening": 0.2}, "opening must differ from the diameter"),
    ("plastic-wave", "cd-lagrange", {"v0": 1.0}, "two fronts run at a speed above that of yielding"),
]


@pytest.mark.parametrize("case, scheme, changes, words", RULES)
def test_what_no_interval_tells_is_refused(case, scheme, changes, words):
    with pytest.raises(ValueError, match=words):
        cases.made(case, scheme, **changes)

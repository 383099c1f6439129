"""A verdict that cannot turn says nothing: checks that every claim turns with another scheme."""

import json

import pytest

#: Flips of the fast tier: of every file one for each kind of comparison (``=``, ``<=``, ``>``, its own), and
#: some claims that do not hold; the cheapest ones.
FAST = {
    "acary-ball-schatzman-position-e0",
    "acary-ball-schatzman-position-e08",
    "csma-bar-e0-quiet",
    "csma-bar-e1-ripple-cd-lagrange",
    "csma-bar-e1-ripple-moreau-jean",
    "csma-spring-dissipative",
    "csma-spring-exact",
    "csma-spring-mean",
    "csma-spring-no-contact",
    "cube-drop-not-restitution-cd-lagrange",
    "distasio-arch-sign",
    "distasio-ball-carpenter-energy",
    "distasio-fig06-moreau-jean",
    "distasio-fig12-lowered",
    "distasio-fig21-equivalent",
    "doyen-2.1-hht-stable",
    "doyen-3.1-duration",
    "doyen-3.1-rebound",
    "doyen-4.1-magnitude",
    "doyen-4.1-work",
    "doyen-6.1-oscillates",
    "doyen-appendix-smaller",
    "fekak-bars-accurate-velocity",
    "fekak-bars-balance",
    "fekak-bars-converted",
    "fekak-bars-loss",
    "fekak-hati-equal-steps",
    "fekak-hati-explicit-limit",
    "plane-bar-dep-4.6",
    "plane-bar-dep-5.2",
    "rigid-body-coefficient-cd-lagrange",
}


#: Beginnings of those of the nightly tier: the bridge crane's take as long as all others together, those of
#: orders and limits and of Doyen's schemes make many runs, those of spheres, discs and Cook's membrane take
#: fine meshes, some of the others take more than 4 s.
LONG = (
    "fekak-crane-",
    "non-matching-blocks-order-",
    "two-spheres-",
    "sphere-",
    "cook-membrane-tip-",
    "taylor-bar-literature",
    "distasio-fig10-close",
    "distasio-fig11-jump",
    "distasio-fig13-order-",
    "distasio-vdp-only-conservative",
    "distasio-arch-",
    "hertz-sphere-",
    "hertz-static-",
    "press-fit-explicit",
    "press-fit-slot-",
    "press-fit-work-generalized-alpha",
    "oblique-discs-",
    "crossed-bars-",
    "pile-",
    "folded-strip-",
    "sphere-hole-",
    "plane-reference-",
    "plane-loss-",
    "plane-least",
    "plane-agrees",
    "acary-bar-multiplier",
    "acary-bar-tau-forecast",
    "acary-bar-energy-forecast",
    "csma-spring-impacts",
    "distasio-ball-no-limit",
    "distasio-bar-generalized-alpha",
    "distasio-bar-noh-bathe",
    "distasio-fig11-forty-cycles",
    "distasio-fig13-cd-larger",
    "distasio-fig13-no-matter",
    "distasio-fig18-phases",
    "plane-keeps-dep-7.1",
    "press-fit-stored-generalized-alpha",
    "press-fit-work-moreau-jean",
    "shaft-in-ring-push-static",
    "doyen-",
    "distasio-fig11-stays",
    "press-fit-depth-generalized-alpha",
    "press-fit-stored-moreau-jean",
    "csma-vdp-no-matter",
    "distasio-ball-newmark",
    "distasio-bar-critical-step",
    "distasio-bar-one-node",
    "distasio-fig03-carpenter",
    "distasio-vdp-as-good",
    "plane-bar-cd-lagrange-singular",
    "plane-bar-noh-bathe",
)


def tiers(claims):
    """Parameters of a test of every claim (or its id), with the marks of their tiers."""
    ids = [getattr(claim, "id", claim) for claim in claims]
    return [pytest.param(claim, id=id, marks=_tier(id)) for claim, id in zip(claims, ids)]


def _tier(id):
    if id in FAST:
        return ()
    return pytest.mark.nightly if id.startswith(LONG) else pytest.mark.slow


def named(kind):
    """``module:Class`` of a class; names as they are."""
    return kind if isinstance(kind, str) else f"{kind.__module__}:{kind.__name__}"


def check(claim, runs, broken):
    """The verdict on the claim, after it was seen to turn with schemes in the place of others.

    A claim that holds must not hold with schemes that lack the property; one that does not hold must
    hold with schemes that have it.

    Args:
        claim: The claim.
        runs: The runs that decide it.
        broken: By the name of a scheme what stands for it, a name or a class.
    """
    return _both(claim, runs, broken)[0]


def _both(claim, runs, broken):
    """The verdicts on the claim, as it is and turned."""
    finding = claim.decide(runs)
    json.dumps(vars(finding), allow_nan=False)
    assert finding.words and finding.reproduced is not None
    assert None not in (finding.measured, finding.expected, finding.tolerance), finding.words
    turned = claim.decide(instead(runs, broken))
    assert turned.reproduced is (not finding.reproduced), f"{claim.id}: {finding} stays {turned}"
    return finding, turned


def instead(runs, broken):
    """Runs with schemes in the place of others, see :func:`check`."""
    return runs.instead({scheme: named(kind) for scheme, kind in broken.items()})


def check_by_number(claim, runs, broken):
    """As :func:`check`; the claim turns by a number or, one on stability, by a run that explodes."""
    finding, turned = _both(claim, runs, broken)
    exploded = claim.id.endswith(("-stable", "-step")) and "UnstableTimeStep" in turned.words
    assert turned.measured is not None or exploded, f"turns because {turned.words}"
    return finding

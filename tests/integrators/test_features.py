"""The table of what schemes take, tick by tick: each runs two steps, each cross is refused in words."""

import functools

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.parts import divided, plate

import dolfinx_impact as di
from dolfinx_impact.integrators.catalogue import CLASSES
from dolfinx_impact.integrators.features import FEATURES, takes

GAP, SPEED = 1e-9, (0.02, -0.1)
NEO, LINEAR = di.NeoHookean(3.0, 0.3), di.LinearElastic(3.0, 0.3)
METAL = di.J2Plasticity(3.0, 0.3, hardening=di.LinearHardening(0.1, 0.1))
BODIES = {
    "nonlinear forces": {"law": NEO},
    "loads over time": {"traction": {"end": ((0.0, 0.4), np.cos)}},
    "damping": {"damping": 0.7},
    "prescribed motion": {"prescribed": {"end": {1: lambda t: -0.1 * t}}},
    "history laws": {"law": METAL},
}
POINTS = {
    "nonlinear forces": {"internal": lambda t, u, v, out: np.copyto(out, u + u**3)},
    "loads over time": {"force": lambda t, u, v, out: out.fill(-0.1 * np.cos(t))},
    "damping": {"damping": lambda t, u, v, out: np.copyto(out, 0.1 * v)},
}
PLANE = di.Plane((0.0, -GAP), (0.0, 1.0))
OBSTACLES = {
    "moving obstacles": di.MovingObstacle(PLANE, translation=lambda t: np.array([0.0, 0.1 * t])),
    "curved obstacles": di.Sphere((1.5, -1.0 - GAP), 1.0),
}
#: What says what is refused, and what to take or to leave out instead.
REFUSED = {
    "history laws": "not follow the history of a material: take an explicit scheme|nonlinear forces.*: take ",
    "friction": "does not support friction, .* set it to 0, or take CDLagrange or MoreauJean",
    "surfaces": r"does not take contact of surfaces \(SurfaceContact\), .*: take CDLagrange or MoreauJean",
    "moving obstacles": "does not support moving obstacles: take CDLagrange or MoreauJean",
    "curved obstacles": "takes flat obstacles alone: take CDLagrange or MoreauJean",
    "adaptive step": "{} cannot change its time step: leave adapt out",
    "compiled loop": "no compiled loop for this run: .*(makes its steps one by one|is no contact law)",
}
OTHERS = "formula without contact: give none|take PointMasses, not a Solid: take CDLagrange"


@functools.cache
def layers():
    """Two plates that nearly touch, ``near`` where they do."""

    def layer(low, cells, near):
        high = (low[0] + 1.0, low[1] + 1.0)
        made = dmesh.create_rectangle(MPI.COMM_WORLD, [low, high], cells, dmesh.CellType.quadrilateral)
        bottom, top = (lambda x, y=y: np.isclose(x[1], y) for y in (low[1], high[1]))
        return divided(made, near, bottom=bottom, top=top)

    upper = layer((0.0, 0.0), (2, 2), lambda x: x[1] < 0.5)
    return di.mesh.join({"upper": upper, "lower": layer((0.1, -1.0 - GAP), (3, 2), lambda x: x[1] > -0.5)})


@functools.cache
def bodies(divided_in_two, feature):
    """The system with a feature, or the explicit and the implicit part of it."""
    if feature == "surfaces":
        mesh, cells = layers(), [[f"{p}/{half}" for p in ("upper", "lower")] for half in ("near", "far")]
    else:
        mesh, cells = plate(cells=(2, 4)), ["near", "far"]
    options, shared = BODIES.get(feature, {}), {"density": 2.0, "cross_section": 0.5}
    law, rest = options.get("law", LINEAR), {n: v for n, v in options.items() if n != "law"}
    if not divided_in_two:
        return (di.Solid(mesh, law=law, **shared, **rest),)
    both = rest if feature == "damping" else {}
    return (
        di.Solid(mesh, law=law, cells=cells[0], **shared, **both),
        di.Solid(mesh, law=LINEAR, cells=cells[1], **shared, **rest),
    )


def points(feature):
    """Two dofs on springs: a point in a plane."""
    spring = {} if feature == "nonlinear forces" else {"stiffness": np.eye(2)}
    return (di.PointMasses([1.0, 1.0], **spring, **POINTS.get(feature, {})),)


def contact_of(system, feature):
    """A contact that closes in the first step."""
    rough = {"friction": 0.3} if feature == "friction" else {}
    if feature == "surfaces":
        return di.SurfaceContact(system, "upper/bottom", "lower/top")
    if isinstance(system, di.PointMasses):
        shifted = di.MovingObstacle(
            OBSTACLES["curved obstacles"], translation=lambda t: np.array([-1.5, 0.0])
        )
        obstacle = shifted if feature == "curved obstacles" else OBSTACLES.get(feature, PLANE)
        return di.ObstacleContact(system, [[0, 1]], obstacle, **rough)
    return di.RigidContact(system, "tip", OBSTACLES.get(feature, PLANE), **rough)


def scheme(name, feature):
    """A scheme with what has the feature."""
    kind, word = CLASSES[name], takes(CLASSES[name])[feature]
    with_points = kind is di.CDLagrangeImplicit and feature not in (
        "prescribed motion",
        "surfaces",
        "history laws",
    )
    systems = points(feature) if with_points else bodies(kind.divided, feature)
    touches = kind.contact_level != "none" or (feature in REFUSED and word == "no")
    contact = contact_of(systems[0], feature) if touches else None
    options = {"ratio": 2} if kind.divided else {}
    if "eps" in kind.options:
        options["eps"] = 1.0
    if word == "with the lumped mass":
        options["mass"] = "lumped"
    return kind(*systems, 0.2 * min(systems[0].critical_time_step(), 1.0), contact=contact, **options)


def started(name, feature):
    made = scheme(name, feature)
    for history in made._histories or (made.explicit_part._histories if feature == "history laws" else ()):
        history.reset()
    made.start(
        0.0, SPEED if feature != "surfaces" else lambda x: np.where(x[1] >= 0, 1.0, 0.0) * [[0.0], [-0.1]]
    )
    return made


def two_steps(name, feature):
    """Two steps with the feature, or three, the last of them by a scheme that has resumed."""
    made = started(name, feature)
    if feature == "restart":
        made.step()
        other = scheme(name, feature)
        other.resume(made.state())
        for each in (made, other):
            each.step()
        assert np.array_equal(other.u, made.u) and np.array_equal(other.v, made.v)
        return made, None
    adapt = di.StepControl() if feature == "adaptive step" else None
    compiled = True if feature == "compiled loop" else False if feature in REFUSED else None
    return made, di.simulate(made, t_end=2 * made.dt, adapt=adapt, compiled=compiled, progress=False)


#: What has no mass meets nothing in flight: see test_static.
IN_FLIGHT = [name for name, kind in CLASSES.items() if not kind.static]


@pytest.mark.parametrize("name", IN_FLIGHT)
def test_ticks(name):
    """Contact acts where there is one, with friction along it, and the balance closes where it is one."""
    for feature, word in takes(CLASSES[name]).items():
        if word == "no":
            continue
        made, run = two_steps(name, feature)
        assert np.all(np.isfinite(made.u)), feature
        if run is None:
            continue
        if made.contact is not None:
            assert run["r"].any(), feature
        if feature == "friction":
            assert run["r_t"].any()
        if made.balance().closes:
            assert np.abs(run["residual"]).max() < 1e-12 * max(run["kinetic"].max(), 1e-2), feature


@pytest.mark.parametrize("name", IN_FLIGHT)
def test_crosses(name):
    kind = CLASSES[name]
    for feature, word in takes(kind).items():
        if word == "no":
            words = REFUSED.get(
                feature, f"takes no .*{feature}.* has {feature}.*: take CDLagrange or MoreauJean"
            )
            with pytest.raises(ValueError, match=f"{words.format(kind.__name__)}|{OTHERS}"):
                two_steps(name, feature)


@pytest.mark.parametrize(
    "names, words",
    [
        (("friction",), "a Mine does not support friction, but the contact has 0.3"),
        (("frictoin",), "excludes of a Mine has 'frictoin': .*friction"),
    ],
)
def test_a_class_of_ones_own_says_what_it_does_not_take(names, words):
    class Mine(di.CDLagrange):
        excludes = names

    (mass,) = points("friction")
    with pytest.raises(ValueError, match=words):
        Mine(mass, 0.1, contact_of(mass, "friction"))


def test_the_table_has_every_feature_of_every_scheme():
    assert all(tuple(takes(kind)) == FEATURES for kind in CLASSES.values())
    assert set(takes(di.CDLagrange).values()) == {"yes"}


@pytest.mark.parametrize("divided_in_two", [False, True])
@pytest.mark.parametrize("has", [("damping",), ("loads over time",), ("damping", "loads over time")])
def test_what_is_excluded_is_seen_beside_what_is_not(has, divided_in_two):
    """Also in one of the two bodies of HATI."""
    options = {name: value for feature in has for name, value in BODIES[feature].items()}
    mesh, base = plate(cells=(2, 4)), {"density": 2.0, "law": LINEAR}
    parts = [{"cells": "near"}, {"cells": "far", **options}] if divided_in_two else [options]
    made = [di.Solid(mesh, **base, **each) for each in parts]
    kind, ratio = (di.HATI, {"ratio": 2}) if divided_in_two else (di.CDLagrange, {})
    for name in ("damping", "loads over time"):
        mine = type("Mine", (kind,), {"excludes": (name,)})
        if name in has:
            with pytest.raises(ValueError, match=f"a Mine takes no {name}; the system has {name}"):
                mine(*made, 0.01, **ratio)
        else:
            assert mine(*made, 0.01, **ratio).n == -1

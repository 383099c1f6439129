"""What contacts say of themselves: clamped nodes left out, small obstacles, options without effect."""

import logging
import warnings

import numpy as np
import pytest
from support.surfaces import box, layers

import dolfinx_impact as di

SOFT = {"law": di.LinearElastic(1e4, 0.0), "density": 1000.0}
GROUND = di.Plane((0.0, -0.01), (0.0, 1.0))


def clamped(**options):
    mesh = di.named(box([4, 1], [0.0, 0.0], [1.0, 0.1]), wall=lambda x: np.isclose(x[0], 0.0))
    return di.Solid(mesh, gravity=(0.0, -9.81), **SOFT, **options)


def test_clamped_nodes_of_a_surface_are_left_out(caplog):
    body = clamped(fixed=["wall"])
    with caplog.at_level(logging.INFO, "dolfinx_impact"):
        contact = di.RigidContact(body, "boundary", GROUND)
    assert "2 nodes of 'boundary' are fixed or prescribed" in caplog.text
    assert contact.total == 8 and contact.areas().sum() == pytest.approx(2 * (1.0 - 0.125))
    assert contact.nodes.facet_sizes() == pytest.approx([0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.175, 0.175])
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=contact)
    s.start(0.0, 0.0)
    run = di.simulate(s, t_end=0.2)
    assert run["r"].sum() > 0 and run.penetration < 2e-3


def test_clamps_that_leave_nothing_or_hold_one_direction():
    with pytest.raises(ValueError, match="contact on 'wall' acts on dofs that are constrained"):
        di.RigidContact(clamped(fixed=["wall"]), "wall", GROUND)
    with pytest.raises(ValueError, match="contact on 'boundary' acts on dofs that are constrained"):
        di.RigidContact(clamped(fixed={"wall": (1,)}), "boundary", GROUND)
    assert di.RigidContact(clamped(fixed={"wall": (0,)}), "boundary", GROUND).total == 10


@pytest.mark.parametrize("radius, told", [(0.03, True), (0.2, False)])
def test_an_obstacle_smaller_than_the_facets(radius, told):
    """Facets of 250 mm; a sphere of 60 mm flies between their nodes."""
    ball = di.Sphere((0.4, -0.01 - radius), radius)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        di.RigidContact(clamped(), "bottom", ball)
    texts = [str(each.message) for each in seen if "may pass between their nodes" in str(each.message)]
    assert len(texts) == told and all("0.06 m wide, less than the facets of 'bottom'" in t for t in texts)


def test_drift_corrections_without_effect(caplog):
    body = di.Solid(layers(2, 3), **SOFT)
    for make in (
        lambda **options: di.RigidContact(body, "upper/bottom", di.Plane((0.0, 0.0), (0.0, 1.0)), **options),
        lambda **options: di.SurfaceContact(body, "upper/bottom", "lower/top", **options),
    ):
        caplog.clear()
        make()
        assert "drift_correction" not in caplog.text
        make(drift_correction=True)
        assert caplog.text.count("drift_correction has no effect on") == 1
    caplog.clear()
    di.SurfaceContact(body, "upper/boundary", "lower/boundary", drift_correction=True)
    di.RigidContact(body, "upper/bottom", di.Sphere((0.5, -2.0), 2.0), drift_correction=True)
    assert "drift_correction" not in caplog.text


def test_a_list_of_surfaces():
    body = di.Solid(layers(2, 3), **SOFT)
    with pytest.raises(ValueError, match=r"not a list: SurfaceContact\(body, 'upper/bottom', 'lower/top', "):
        di.SurfaceContact(body, ["upper/bottom", "lower/top"])

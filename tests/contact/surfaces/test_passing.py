"""Parts that pass through each other between two steps end a run; those that sink in or slide off do not."""

import numpy as np
import pytest
from support.surfaces import box, layers

import dolfinx_impact as di
from dolfinx_impact.contact.tunnelling import Tunnelled

STEEL = {"law": di.LinearElastic(1e9, 0.3), "density": 1000.0}


def dropped(kind, dt, height, *, t_end, gravity=(0.0, -9.81), speed=(0.0, 0.0), names=("a", "b"), at=0.5):
    """A block over a thin plate; returns the run, and the least height of the block's nodes at its end."""
    block = box([2, 2], [at - 0.1, height], [at + 0.1, height + 0.2])
    plate = box([20, 1], [0.0, -0.004], [1.0, 0.0])
    body = di.Solid(di.mesh.join({"a": block, "b": plate}), gravity=gravity, fixed=["b/bottom"], **STEEL)
    contact = di.SurfaceContact(body, *(f"{name}/boundary" for name in names), swept=False)
    s = kind(body, dt, contact=contact)
    s.start(0.0, body.rigid_velocity(speed, cells="a"))
    run = di.simulate(s, t_end=t_end, energies=False)
    above = np.flatnonzero(body.x[:, 1] >= height)
    return run, (body.x[:, 1] + s.u.reshape(-1, 2)[:, 1])[above].min(initial=np.inf)


@pytest.mark.parametrize("kind", [di.MoreauJean, di.GeneralizedAlpha])
def test_a_block_at_rest_that_falls_through_a_plate(kind):
    """It is 0.5 m above: nothing warns at the start. 100 mm a step, the overlap is seen to 52 mm."""
    with pytest.raises(Tunnelled, match=r"'[ab]/boundary' goes 0\.1\d+ m through '[ab]/boundary', from \("):
        dropped(kind, 40e-3, 0.5, t_end=0.6)
    with pytest.raises(Tunnelled, match=r"'the outer surface' goes 0\.1\d+ m through 'the outer surface'"):
        dropped(kind, 40e-3, 0.5, t_end=0.6, names=())
    run, low = dropped(kind, 4e-3, 0.5, t_end=0.36)
    assert run["r"].sum() > 0 and low > -0.02


def test_explicit_steps():
    """At forty times the speed of sound."""
    with pytest.warns(UserWarning, match="may pass through"), pytest.raises(Tunnelled):
        dropped(di.CDLagrange, 2e-6, 0.01, t_end=1e-4, gravity=(0.0, 0.0), speed=(0.0, -5e4))


@pytest.mark.filterwarnings("ignore:surfaces move by")
def test_a_deep_overlap_that_is_seen():
    """30 mm in a step: contact stops the block there."""
    run, low = dropped(di.MoreauJean, 10e-3, 0.018, t_end=0.1, gravity=(0.0, 0.0), speed=(0.0, -3.0))
    assert run.penetration > 0.02 and run["r"].sum() > 0 and low > -0.04


@pytest.mark.filterwarnings("ignore:surfaces move by")
def test_a_block_that_slides_off_an_edge_in_a_long_step():
    """From the plate to beside it, lower than its surface."""
    run, low = dropped(di.MoreauJean, 60e-3, 0.0, t_end=0.6, speed=(5.0, 0.0), at=0.85)
    assert low < -0.5
    # It flies by, sideways of the plate.
    run, low = dropped(di.MoreauJean, 60e-3, 0.5, t_end=0.6, speed=(0.0, -5.0), at=1.2)
    assert low < -1.0 and run["r"].sum() == 0


@pytest.mark.mpi
@pytest.mark.parametrize("kind", ["hexahedron", "tetrahedron"])
def test_layers_in_space(kind):
    """A layer that jumps through another one, on all ranks alike; beside it does not."""
    body = di.Solid(layers(3, 4, kind, gap=0.05), fixed=["lower/bottom"], **STEEL)
    at = body.rigid_velocity((0.0, 0.0, -0.5), cells="upper")
    for names, said in (
        ((), "outer surface"),
        (
            ("upper/boundary", "lower/boundary"),
            r"'upper/boundary' goes 0\.5 m through 'lower/boundary'|'lower",
        ),
    ):
        contact = di.SurfaceContact(body, *names, swept=False)
        contact.start(np.zeros(body.size), 0.0)
        with pytest.raises(Tunnelled, match=said):
            contact.at(at, t=1.0)
    contact.at(body.rigid_velocity((1.3, 0.0, -0.5), cells="upper"), t=1.0)
    # Round the plate in three steps.
    for shift in ((1.3, 0.0, 0.0), (1.3, 0.0, -0.5), (0.0, 0.0, -0.5)):
        contact.at(body.rigid_velocity(shift, cells="upper"), t=1.0)
        contact.accept(None)

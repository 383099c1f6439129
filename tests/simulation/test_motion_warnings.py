"""Motions that jump or begin where the body is not, contacts that no scheme has: one line of the log."""

import logging

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

COMM = MPI.COMM_WORLD
PLANE = di.Plane((0.0, -0.001), (0.0, 1.0))


def square(**options):
    mesh = dmesh.create_rectangle(COMM, [[0, 0], [0.1, 0.1]], [3, 3], dmesh.CellType.quadrilateral)
    named = di.named(mesh, foot=lambda x: x[1] < 1e-9, head=lambda x: x[1] > 0.1 - 1e-9)
    return di.Solid(named, density=1000.0, law=di.LinearElastic(1e6, 0.3), **options)


def said(caplog, body, contact=None, steps=20, u0=0.0):
    """Lines of the log of a run, and its result."""
    caplog.clear()
    with caplog.at_level(logging.WARNING, "dolfinx_impact"):
        s = di.CDLagrange(body, 5e-4, contact=contact)
        s.start(u0, 0.0)
        di.simulate(s, t_end=steps * s.dt)
    return [each.getMessage() for each in caplog.records]


JUMPS = {"step": lambda t: 0.02 * (t > 2.2e-3), "stairs": lambda t: 1e-3 * np.floor(t / 2.2e-3)}
SMOOTH = {
    "from rest": lambda t: 20 * t**2,
    "late": lambda t: max(0.0, t - 2.2e-3),
    "root": lambda t: 1e-3 * np.sqrt(max(0.0, t - 2.2e-3)),
    "wave": lambda t: 1e-3 * np.sin(900 * t),
}


@pytest.mark.parametrize("name", [*JUMPS, *SMOOTH])
def test_only_a_jump_is_told(name, caplog):
    """Once each, of obstacles and of prescribed dofs."""
    signal = {**JUMPS, **SMOOTH}[name]
    body = square()
    floor = di.MovingObstacle(PLANE, translation=((0.0, 1.0), signal))
    lines = said(caplog, body, di.RigidContact(body, "boundary", floor))
    lines += said(caplog, square(prescribed={"foot": {0: signal}}))
    told = [f"{what} jumps by" for what in ("the translation of a moving obstacle", "a prescribed motion")]
    assert len(lines) == 2 * (name in JUMPS)
    assert all(words in line for words, line in zip(told, lines))


@pytest.mark.mpi
def test_a_motion_that_begins_elsewhere(caplog):
    body = square(prescribed={"foot": {0: lambda t: 1e-3 + t, 1: lambda t: 0.0}})
    lines = said(caplog, body)
    first = COMM.rank == 0
    assert len(lines) == first and all("up to 0.001 m from u0" in line for line in lines)
    assert not said(caplog, body, u0=(1e-3, 0.0))


@pytest.mark.mpi
def test_a_contact_that_no_scheme_has(caplog):
    body = square()
    given, idle = di.RigidContact(body, "foot", PLANE), di.RigidContact(body, "boundary", PLANE)
    lines = said(caplog, body, given)
    assert len(lines) == (COMM.rank == 0)
    assert all("1 contact(s) of the system were made, but given to no scheme" in line for line in lines)
    assert not said(caplog, body, [given, idle]) and not said(caplog, body)  # each has had a scheme
    assert idle.total > 0


@pytest.mark.mpi
def test_a_contact_that_nobody_has_any_more_is_not_told(caplog):
    body = square()
    di.NodePairs(body, "foot", "head", (0.0, 1.0), gap0=1.0)
    di.RigidContact(body, "foot", PLANE)
    di.SurfaceContact(body)
    assert not said(caplog, body)

"""The scripts of the page howto/fenicsx_script beside a plain loop over DOLFINx on one rank."""

import re

import numpy as np
import pytest
import ufl
from dolfinx import fem, la
from mpi4py import MPI
from support.paths import ROOT

import dolfinx_impact as di

COMM = MPI.COMM_WORLD
PAGE = ROOT / ".docs" / "howto" / "fenicsx_script.md"
PROGRAM = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M))
#: Until the beam has met the floor.
WHOLE, SHORT = "T, steps = 0.3, 3000", "T, steps = 0.1, 1000"


@pytest.fixture(scope="module")
def page():
    """What the programs of the page define on all ranks."""
    names: dict = {}
    assert WHOLE in PROGRAM
    exec(compile(PROGRAM.replace(WHOLE, SHORT), str(PAGE), "exec"), names)
    return names


def assembled(form):
    vector = fem.assemble_vector(form)
    vector.scatter_reverse(la.InsertMode.add)
    return vector.array


def plain(V, residual, u, mass, points, floor, friction, held, run):
    """Central differences with Newton's and Coulomb's laws at the nodes; displacements and impulses.

    Args:
        residual: Linear form of all forces at the Function u.
        mass: Nodal masses, shape (dofs,).
        points: Nodes that may touch the floor at this height.
        held: Dofs, and a function of time for their displacements.
        run: Step, number of steps, initial velocity.
    """
    h, steps, v0 = run
    compiled, x = fem.form(residual), V.tabulate_dof_coordinates()
    m = mass.reshape(-1, 2)[points, 0]
    v, total = np.tile(v0, len(x)), np.zeros(2)
    for n in range(steps + 1):
        u.x.array[:] += h * v * (n > 0)
        v += (h if n else h / 2) * assembled(compiled) / mass
        dofs, at = held
        v[dofs] = (at((n + 1) * h) - u.x.array[dofs]) / h
        now = v.reshape(-1, 2)
        closed = u.x.array.reshape(-1, 2)[points, 1] + x[points, 1] <= floor
        r = np.where(closed, np.maximum(0.0, -m * now[points, 1]), 0.0)
        r_t = np.clip(-m * now[points, 0], -friction * r, friction * r)
        now[points] += np.column_stack([r_t, r]) / m[:, None]
        total += [r_t.sum(), r.sum()]
    return x, u.x.array.copy(), total


@pytest.fixture
def compare(page, as_on_one_rank):
    """Compares with what a plain loop finds on one rank, given as a function of the names of the page."""

    def compared(scheme, run, loop):
        agree(scheme, run, *as_on_one_rank(loop(page) if COMM.size == 1 else None))

    return compared


def agree(scheme, run, at, u, total):
    """Displacements by coordinates, and the sum of the impulses."""
    body, (_, normal) = scheme.system, total
    place = {tuple(x): value for x, value in zip(np.round(at, 9) + 0.0, u.reshape(-1, 2))}
    n = body.owned // 2
    true = np.array([place[tuple(x)] for x in np.round(body.x[:n], 9) + 0.0]).reshape(-1, 2)
    mine = scheme.u[: body.owned].reshape(-1, 2)
    assert np.abs(mine - true).max(initial=0.0) <= 1e-9 * np.abs(u).max()
    assert run["r"].sum() == pytest.approx(normal, rel=1e-9) and normal > 0


NOTHING = (np.zeros(0, dtype=int), lambda t: 0.0)


def beam(page):
    V, u = page["V"], fem.Function(page["V"])
    x = V.tabulate_dof_coordinates()
    clamp = np.flatnonzero(np.isclose(x[:, 0], 0.0))
    edge = (x[:, 0] > 1e-9) & ((x[:, 1] < 1e-9) | (x[:, 1] > 0.1 - 1e-9) | (x[:, 0] > 1 - 1e-9))
    # A facet is free where both its ends are off the clamp.
    edge &= x[:, 0] > 0.04
    held = np.concatenate([2 * clamp, 2 * clamp + 1]), lambda t: 0.0
    mass = assembled(fem.form(page["rho"] * ufl.inner(ufl.as_vector((1, 1)), ufl.TestFunction(V)) * ufl.dx))
    forces = page["L"] - ufl.action(page["a"], u)
    run = page["dt"], page["steps"], (0.0, 0.0)
    return plain(V, forces, u, mass, np.flatnonzero(edge), -0.05, 0.3, held, run)


@pytest.mark.mpi
def test_graded_beam(page, compare):
    compare(page["scheme"], page["run"], beam)


def test_without_contact_it_is_the_loop_of_the_script(page):
    free = di.CDLagrange(page["system"], page["dt"])
    free.start(0.0, 0.0)
    di.simulate(free, t_end=page["T"], progress=False)
    n, true = page["system"].owned, page["uh"].x.array
    assert np.abs(free.u[:n] - true[:n]).max(initial=0.0) <= 1e-11 * 0.54


def fibres(page):
    V, u, rubber = page["P2"], fem.Function(page["P2"]), page["rubber"]
    W = page["W"] * ufl.dx
    (given,) = [each for each in W.coefficients() if each.function_space == V]
    forces = -ufl.replace(ufl.derivative(W, given), {given: u})
    x = V.tabulate_dof_coordinates()
    edge = np.flatnonzero(np.isclose(np.abs(x[:, :2] - 0.05).max(axis=1), 0.05))
    s = page["thrown"]
    return plain(V, forces, u, rubber.mass, edge, -0.001, 0.5, NOTHING, (s.dt, s.n, (1.0, -3.0)))


@pytest.mark.mpi
def test_block_with_fibres(page, compare):
    compare(page["thrown"], page["bounce"], fibres)
    assert np.abs(page["bounce"]["residual"]).max() < 1e-12 * page["bounce"]["kinetic"].max()


def plate(page):
    V, u, shaken = page["Q2"], fem.Function(page["Q2"]), page["shaken"]
    x = V.tabulate_dof_coordinates()
    side = np.flatnonzero(np.isclose(x[:, 0], 0.0))
    held = np.concatenate([2 * side, 2 * side + 1])

    def motion(t):
        return np.concatenate([0.0 * side, -0.02 * np.sin(20 * t) ** 2 + 0.0 * side])

    rim = (x[:, 1] < 1e-9) | (x[:, 1] > 0.1 - 1e-9) | (x[:, 0] > 0.4 - 1e-9)
    tip = np.flatnonzero(rim & (x[:, 0] > 0.34))
    forces = -ufl.action(page["stiffness"], u)
    s = page["shaking"]
    return plain(V, forces, u, shaken.mass, tip, -0.01, 0.2, (held, motion), (s.dt, s.n, (0.0, 0.0)))


@pytest.mark.mpi
def test_plate_on_a_moving_support(page, compare):
    knocks = page["knocks"]
    compare(page["shaking"], knocks, plate)
    assert np.abs(knocks["residual"]).max() < 1e-12 * knocks["external"].max() and knocks["external"][-1] > 0

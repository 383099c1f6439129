"""What is read, kept, told and drawn: files, restarts, warnings and pictures of small bodies."""

from __future__ import annotations

import logging
import random
import tempfile
from pathlib import Path

import numpy as np
import ufl
from dolfinx import fem
from support.history_laws import Branch

import dolfinx_impact as di

from .base import Misfit, small_problem
from .laws import square


@small_problem(2, 16)
def read(s):
    """A square of gmsh has its mass, or is refused in words where it lies in another plane."""
    import gmsh

    rng = random.Random(f"read {s.seed}")
    tilt = rng.choice((0.0, rng.uniform(0.1, 1.4)))
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.occ.addRectangle(0, 0, 0, 1, 1)
        gmsh.model.occ.rotate([(2, 1)], 0, 0, 0, 1, 0, 0, tilt)
        gmsh.model.occ.synchronize()
        gmsh.model.addPhysicalGroup(2, [1], name="body")
        gmsh.option.setNumber("Mesh.MeshSizeMax", 0.5)
        gmsh.model.mesh.generate(2)
        mesh = di.mesh.read(gmsh.model, gdim=2)
    except ValueError:
        yield Misfit("a square that was refused lies in the plane", float(tilt == 0.0), 0.0, 0.0)
        return
    finally:
        gmsh.finalize()
    mass = di.Solid(mesh, density=1000.0, law=di.LinearElastic(1e6, 0.0)).total_mass
    yield Misfit(f"mass of a square at an angle of {tilt:.2f} [kg]", mass, 1000.0, 1e-9)


@small_problem(10, 16)
def grouped(s):
    """A traction acts on all edges of its physical group, whatever other groups have them too."""
    import gmsh

    rng = random.Random(f"grouped {s.seed}")
    groups = {name: rng.sample((1, 2, 3, 4), rng.randint(1, 4)) for name in rng.sample("abcd", 3)}
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        rectangle = gmsh.model.occ.addRectangle(0, 0, 0, 1, 1)
        gmsh.model.occ.synchronize()
        gmsh.model.addPhysicalGroup(2, [rectangle], name="body")
        for name, edges in groups.items():
            gmsh.model.addPhysicalGroup(1, edges, name=name)
        gmsh.option.setNumber("Mesh.MeshSizeMax", 0.5)
        gmsh.model.mesh.generate(2)
        mesh = di.mesh.read(gmsh.model, gdim=2)
    finally:
        gmsh.finalize()
    for name, edges in groups.items():
        body = di.Solid(mesh, density=1.0, law=di.LinearElastic(1e6, 0.0), traction={name: (1.0, 0.0)})
        zero, load = np.zeros(body.size), np.zeros(body.size)
        body.force(0.0, zero, zero, load)
        what = f"load on {len(edges)} edges of length 1, in {groups} [N]"
        yield Misfit(what, load.sum(), float(len(edges)), 1e-12)


@small_problem(4, 16)
def resumed(s):
    """A run goes on from its checkpoint as if it had not ended, and with another material not at all."""

    def begun(tau):
        body = di.Solid(square(0.01, 1), density=1000.0, law=Branch(tau))
        scheme = di.CDLagrange(body, 1e-7)
        scheme.start(0.0, lambda x: np.stack([100 * x[0], 0 * x[0]]))
        return scheme

    with tempfile.TemporaryDirectory() as folder:
        path, whole, again, other = Path(folder) / "run", begun(2e-5), begun(2e-5), begun(2e-4)
        di.simulate(begun(2e-5), t_end=4e-7, checkpoint=di.Checkpoint(path, every=4), progress=False)
        di.simulate(whole, t_end=8e-7, progress=False)
        di.simulate(again, t_end=8e-7, restart=path, progress=False)
        yield Misfit("displacement of a run that went on [m]", abs(again.u - whole.u).max(), 0.0, 1e-18)
        said = ""
        try:
            di.simulate(other, t_end=8e-7, restart=path, progress=False)
        except ValueError as error:
            said = str(error)
        yield Misfit("words of the refusal of another material", min(len(said.split()), 5), 5, 0)


class _Heard(logging.Handler):
    """Warnings of the package."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.said = []

    def emit(self, record):
        self.said.append(record.getMessage())


@small_problem(6, 16)
def locks(s):
    """A body is as stiff as its law, or it is told: the force of a bent square against that of degree 2.

    Elements of degree 1 without a cure resist bending at constant volume many times too much. In the field
    ``u = (x y, -x^2/2)`` of pure bending a nearly incompressible body has the energy of its shear modulus.
    """
    rng = random.Random(f"locks {s.seed}")
    nu = rng.choice((0.3, 0.45, 0.4999))
    logger, heard = logging.getLogger("dolfinx_impact"), _Heard()
    before = logging.root.manager.disable
    logging.disable(logging.NOTSET)
    logger.addHandler(heard)
    try:
        bodies = [
            di.Solid(square(n=2), density=1.0, law=di.LinearElastic(1.0, nu), degree=degree)
            for degree in (1, 2)
        ]
    finally:
        logger.removeHandler(heard)
        logging.disable(before)

    def energy(body):
        x, y = body.x[:, 0] - 0.5, body.x[:, 1] - 0.5
        bent = np.column_stack([x * y, -0.5 * x**2 - 0.5 * nu / (1.0 - nu) * y**2])
        return body.stored_energy(1e-3 * bent.ravel())

    ratio = energy(bodies[0]) / energy(bodies[1])
    told = any("lock" in each for each in heard.said)
    if not told:
        yield Misfit(f"stiffness in bending of linear cells, nu = {nu}, over the right one", ratio, 1.0, 5.0)
    else:
        yield Misfit("a warning of locking where cells are too stiff", float(ratio > 5.0), 1.0, 0.0)


@small_problem(8, 16)
def drawn(s):
    """Pictures show the stress that a body had at their time, and places to a millionth of its size.

    The stress at a time by :class:`.VonMises` in an observer, of a law whose modulus falls in the run.
    """
    from dolfinx_impact.plot import Snapshots
    from dolfinx_impact.plot.shots import Wanted, gather

    far = random.Random(f"drawn {s.seed}").choice((0.0, 1e5, 1e6))
    mesh = square(n=2)
    mesh.geometry.x[:, 0] += far
    modulus, seen = fem.Constant(mesh, 1e6), []
    law = di.EnergyLaw(lambda F: modulus * ufl.inner(F - ufl.Identity(3), F - ufl.Identity(3)))
    body = di.Solid(mesh, density=1000.0, law=law)
    scheme = di.CDLagrange(body, 0.5 * body.critical_time_step())
    scheme.start(lambda x: np.stack([0.01 * (x[0] - far), 0 * x[0]]), 0.0)
    moments, stress = Snapshots([4.0 * scheme.dt]), di.VonMises(body)

    def softer(scheme):
        seen.append((scheme.t, stress(scheme.u).max(), scheme.u.copy()))
        modulus.value = 1e6 * max(0.1, 1.0 - 0.1 * scheme.n)

    di.simulate(scheme, t_end=8.0 * scheme.dt, observers=[moments, softer], progress=False)
    moment = moments.states[0]
    t, right, u = min(seen, key=lambda each: abs(each[0] - moment.t))
    wanted = Wanted(None, None, "stress", None, 1.0, None, None, None, None, ())
    shot = gather(body, moments.states, wanted)[2][0]
    yield Misfit(f"largest stress in a picture of {t:.3g} s [Pa]", shot.values.max(), right, 1e-5 * right)
    place = np.sort(body.x[:, 0] - far + u[::2])
    wrong = np.abs(np.sort(shot.points[:, 0] - far) - place).max()
    yield Misfit(f"place in a picture, {far:.0e} m from the origin, difference [m]", wrong, 0.0, 1e-6)

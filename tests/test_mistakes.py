"""Typical mistakes of new users: each raises an error of one line that has the remedy."""

import numpy as np
import pytest
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di

COMM = MPI.COMM_WORLD


def square():
    """Nine squares, their lower side ``foot``, their upper one ``top``."""
    cells = dmesh.create_rectangle(COMM, [[0.0, 0.0], [1.0, 1.0]], [3, 3])
    sides = [dmesh.locate_entities_boundary(cells, 1, lambda x, y=y: np.isclose(x[1], y)) for y in (0.0, 1.0)]
    facets, order = np.unique(np.concatenate(sides), return_index=True)
    tags = np.repeat([1, 2], [side.size for side in sides])[order].astype(np.int32)
    names = {"foot": (1, 1), "top": (1, 2)}
    return di.NamedMesh(cells, None, dmesh.meshtags(cells, 1, facets, tags), names)


@pytest.fixture(scope="module")
def names():
    """Objects used in the mistakes."""
    named = square()
    law = di.LinearElastic(1e7, 0.3)
    body, other = (di.Solid(named, density=1e3, law=law) for _ in range(2))
    plane = di.Plane((0.0, -0.1), (0.0, 1.0))
    contact = di.RigidContact(body, "foot", plane)
    dt = 0.5 * body.critical_time_step()
    scheme = di.CDLagrange(body, dt, contact)
    scheme.start(0.0, (0.0, -1.0))
    masses = di.PointMasses([1.0, 2.0])
    held = di.PointMasses([1.0, 2.0], fixed=[1])
    space = fem.functionspace(named.mesh, ("Lagrange", 2, (2,)))
    return {
        "di": di,
        "np": np,
        "named": named,
        "mesh": named.mesh,
        "law": law,
        "body": body,
        "other": other,
        "plane": plane,
        "contact": contact,
        "dt": dt,
        "scheme": scheme,
        "pm": masses,
        "held": held,
        "solid": {"density": 1e3, "law": law},
        "quadratic": fem.Function(space),
        "film": di.FieldWriter("film.xdmf", every=10),
        "weight": _weight,
        "ramp": _ramp,
    }


def _weight(t, u, v, out):
    out[:] = -9.81


def _ramp(t):
    return 0.1 * t


MISTAKES = [
    # bodies
    ("di.Solid('part.msh', **solid)", r"must be a mesh, but is 'part.msh': .*mesh.read\('part.msh'"),
    ("di.Solid(None, **solid)", "the mesh must be a mesh, but is None"),
    ("di.Solid((mesh, None), **solid)", r"dolfinx.io returns \(mesh, cell_tags, facet_tags\)"),
    ("di.Solid(mesh, density=None, law=law)", "density must be positive .kg/m3., but is None"),
    ("di.Solid(mesh, density='a', law=law)", "density must be positive .kg/m3., but is 'a'"),
    ("di.Solid(mesh, density=True, law=law)", "density must be positive .kg/m3., but is True"),
    ("di.Solid(mesh, density=-1, law=law)", "density must be positive .kg/m3., but is -1"),
    (
        "di.Solid(mesh, density=1e3, law=di.LinearElastic)",
        r"the class LinearElastic .* LinearElastic\(E, nu\)",
    ),
    ("di.Solid(mesh, density=1e3, law=di.NeoHookean)", r"the class NeoHookean .* NeoHookean\(E, nu\)"),
    ("di.Solid(mesh, density=1e3, law=2.1e11)", "210000000000.0 is no law"),
    ("di.Solid(mesh, degree='2', **solid)", "degree must be a whole number from 1 on, but is '2'"),
    ("di.Solid(mesh, degree=1.5, **solid)", "degree must be a whole number from 1 on, but is 1.5"),
    ("di.Solid(mesh, cross_section=None, **solid)", "cross_section must be positive, but is None"),
    ("di.Solid(mesh, damping='a', **solid)", "damping must be a rate of at least 0 .1/s., but is 'a'"),
    ("di.Solid(mesh, gravity=-9.81, **solid)", "gravity must be 2 numbers, one a direction, not -9.81"),
    ("di.Solid(mesh, gravity=(0, 0, -9.81), **solid)", r"gravity must be 2 numbers, .* not \(0, 0, -9.81\)"),
    ("di.Solid(named, fixed={'foot': 2}, **solid)", r"fixed\['foot'\] must be a list, as .*, but is 2"),
    ("di.Solid(named, fixed=2.5, **solid)", "fixed must be a name or several, but is 2.5"),
    ("di.Solid(named, fixed=9, **solid)", "no facets have the tag 9 in the mesh; tags are:"),
    ("di.Solid(named, fixed='Foot', **solid)", r"no facets are named 'Foot' .*did you mean 'foot'\?"),
    ("di.Solid(named, fixed={'foot': (0, 2)}, **solid)", r"fixed\['foot'\]: directions are 0 to 1, not 2"),
    ("di.Solid(named, traction=[0.0, -1e5], **solid)", r"traction must be given by names, as .*\[0.0, -1"),
    ("di.Solid(named, traction={'top': 1e5}, **solid)", r"traction\['top'\] must be 2 numbers"),
    (
        "di.Solid(named, prescribed={'foot': ramp}, **solid)",
        r"prescribed\['foot'\] must be given by names, as prescribed=",
    ),
    ("di.Solid(named, prescribed={'foot': {1: 0.1}}, **solid)", "a function of time is needed, not 0.1"),
    ("di.LinearElastic('2.1e11', 0.3)", "E must be a finite number, but is '2.1e11'"),
    ("di.LinearElastic(2.1e11, 0.5)", r"nu must lie in \(-1, 0.5\), but is 0.5"),
    # contacts and obstacles
    (
        "di.RigidContact(body, 'foot', other)",
        "must be one of dolfinx_impact.obstacles, but is a Solid: bodies",
    ),
    ("di.RigidContact(body, 'foot', di.Plane)", "must be one of .*obstacles, but is the class Plane"),
    (
        "di.RigidContact(body, 'foot', lambda x: x[1])",
        "is the function <lambda>: wrap a function in SignedDis",
    ),
    (
        "di.RigidContact(body, 'bottom', plane)",
        r"no facets are named 'bottom' .*named are: \['foot', 'top'\]",
    ),
    ("di.RigidContact(body, 9, plane)", "no facets have the tag 9 in the mesh; tags are:"),
    ("di.RigidContact(body, None, plane)", r"no facets are named None .*named are: \['foot"),
    ("di.RigidContact(plane, 'foot', body)", "first argument must be the body, .* but is a Plane"),
    ("di.RigidContact(pm, 'foot', plane)", "first argument must be the body, .* but is a PointMasses"),
    ("di.RigidContact(body, 'foot', di.Plane((0, 0, 0), (0, 0, 1)))", "has 3 directions, the body 2"),
    ("di.RigidContact(body, 'foot', plane, friction='0.3')", "friction must be a coefficient .* is '0.3'"),
    ("di.RigidContact(body, 'foot', plane, restitution=80)", r"restitution must lie in \[0, 1\], but is 80"),
    ("di.RigidContact(body, 'foot', plane, gap_tolerance='1')", "gap_tolerance must be a length .* is '1'"),
    ("di.RigidContact(body, 'foot', plane, touching='no')", "touching must be True or False, but is 'no'"),
    ("di.Plane('floor', 'up')", "point 'floor' and normal 'up' must have one number a direction"),
    ("di.Plane(0.0, 1.0)", "point 0.0 and normal 1.0 must have one number a direction"),
    ("di.Sphere((0, 0), '1')", "the radius must be positive .m., but is '1'"),
    ("di.Sphere(1.0, (0, 0))", "a sphere needs a finite center, one number a direction, not 1.0"),
    ("di.Box((0, 0), 1.0)", "the size of a box must be 2 positive lengths .m., not 1.0"),
    (
        "di.UnionObstacle(di.Sphere((0, 0), 1.0))",
        r"a union must be a list, as UnionObstacle\(\[sphere, plane\]\), but is a Sph",
    ),
    ("di.UnionObstacle([plane, 'wall'])", "must be one of dolfinx_impact.obstacles, but is 'wall'"),
    ("di.MovingObstacle(plane, translation=(0, 1))", "translation"),
    ("di.DofBound(pm, 0)", "give either lower= or upper="),
    ("di.DofBound(pm, 0, lower='a')", "lower must be a finite number, but is 'a'"),
    ("di.DofBound(pm, 2, lower=0.0)", "dof must be one of the 2 dofs 0, 1, ..., but is 2"),
    ("di.DofBound(pm, [0, 0], lower=0.0)", r"dof names a dof twice, \[0, 0\]"),
    ("di.DofBound(pm, True, lower=0.0)", "dof must be one of the 2 dofs 0, 1, ..., but is True"),
    ("di.DofBound(0, pm, lower=0.0)", "first argument must be the system, .* but is 0"),
    ("di.ObstacleContact(pm, [[0, 7]], plane)", r"each of dofs must be one of the 2 dofs .* is \[\[0, 7\]\]"),
    (
        "di.ObstacleContact(pm, [[0, -1]], plane)",
        r"each of dofs must be one of the 2 dofs .* is \[\[0, -1\]\]",
    ),
    ("di.ObstacleContact(pm, [[0, 0.5]], plane)", "each of dofs must be one of the 2 dofs"),
    ("di.ObstacleContact(pm, [[0, 0]], plane)", "dofs names a dof twice in one point"),
    ("di.ObstacleContact(pm, [0, 1], plane)", "dofs must have a row for each point"),
    ("di.ObstacleContact(held, [[0, 1]], plane)", "contact on points acts on dofs that are constrained"),
    ("di.NodePairs(named, 'foot', 'top', (0, 1))", "first argument must be the body, .* but is a NamedMesh"),
    # point masses
    ("di.PointMasses(None)", "mass must be positive numbers, one a dof .kg., but is None"),
    ("di.PointMasses(1.0, lambda t, u, v, out: -9.81)", r"force\(t, u, v, out\) must write into out"),
    ("di.PointMasses(1.0, lambda t: -9.81)", r"force\(t, u, v, out\) must be callable with these four"),
    ("di.PointMasses(1.0, -9.81)", "force must be callable as"),
    ("di.PointMasses([1.0, 1.0], load=-9.81)", "load must be 2 numbers, one a dof .N., but is -9.81"),
    ("di.PointMasses([1.0, 1.0], fixed=[2])", r"fixed must name dofs 0 to 1, not \[2\]"),
    # schemes
    ("di.CDLagrange(body, contact, dt)", r"dt must be positive .s., but is a RigidContact: the order is"),
    ("di.CDLagrange(body, None)", "the time step dt must be positive .s., but is None"),
    ("di.CDLagrange(body, np.array([1e-5]))", r"dt must be positive .s., but is array\(\[1e-05\]\)"),
    ("di.CDLagrange(body, 10 * dt)", "is above the critical one"),
    ("di.CDLagrange(named, dt)", "first argument must be the system, .* but is a NamedMesh"),
    (
        "di.CDLagrange(body, dt, plane)",
        r"contact must be .* the obstacle alone, a Plane: .*RigidContact\(body",
    ),
    ("di.Carpenter(body, dt, plane)", "contact must be .* the obstacle alone, a Plane"),
    ("di.CDLagrange(body, dt, 'foot')", "contact must be a contact .*, but is 'foot'"),
    ("di.CDLagrange(other, dt, contact)", "was made for another system"),
    ("di.MoreauJean(body, dt, contact)", "third argument is theta: give the contact by its name, contact="),
    ("di.MoreauJean(body, dt, theta='0.5')", r"theta must lie in \[0, 1\], but is '0.5'"),
    ("di.MoreauJean(body, dt, contact=plane)", "contact must be .* the obstacle alone, a Plane"),
    ("di.HATI(body, other, dt, contact)", "ratio"),
    ("di.SCHEMES['cdlagrange']", r"no scheme 'cdlagrange': did you mean 'cd-lagrange'\?"),
    ("di.SCHEMES['dep-4.4'].make(body, dt, contact=plane)", "contact must be .* the obstacle alone, a Plane"),
    # starts and runs
    ("scheme.start(0.0, -1.0)", r"v0 = -1 would act along the diagonal of the 2 .* example \(0.0, -1.0\)"),
    ("scheme.start(0.0, (0, 0, -1.0))", r"v0 has 3 values, the system .* give 0, 2 numbers \(one a dir"),
    ("scheme.start(0.0, None)", r"v0 must be 0, 2 numbers \(one a direction\), .* but is None"),
    ("scheme.start(0.0, 'down')", r"v0 must be 0, 2 numbers \(one a direction\), .* but is 'down'"),
    ("scheme.start(0.0, (0, np.nan))", "v0 has values that are not finite"),
    ("scheme.start(quadratic, 0.0)", "u0 is a Function of another space than the body's"),
    ("scheme.start(0.0, lambda x: (0.0, -1.0))", r"v0\(x\) must give an array of shape \(2, n\)"),
    ("scheme.start(0.0, lambda x: 0 * x)", r"v0\(x\) must give an array of shape \(2, n\) .*shape \(3, "),
    ("scheme.start(0.0, lambda x, y: x)", r"v0\(x\) must give .* fails: TypeError"),
    ("scheme.start(0.0, 0.0, t0='now')", "t0 must be a finite time .s., but is 'now'"),
    (
        "di.CDLagrange(pm, 1e-3).start(lambda x: x, 0.0)",
        "u0 is a function of x, but the system has no places",
    ),
    ("di.simulate(scheme, t_end='1')", "t_end must be a finite time .s., but is '1'"),
    ("di.simulate(scheme, t_end=-1.0)", "t_end must come after the start"),
    ("di.simulate(scheme, t_end=0.3 * dt)", "is 0.3 steps of .* extent .* m, mass 1000 kg, wave speed"),
    ("di.simulate(scheme, t_end=10 * dt, every='1')", "every must be a whole number of steps .* is '1'"),
    (
        "di.simulate(scheme, t_end=10 * dt, observers=film)",
        r"observers must be a list, but is a FieldWriter: write obs",
    ),
    ("di.simulate(scheme, t_end=10 * dt, observers=[3])", "observers are functions of the integrator"),
    ("di.simulate(scheme, t_end=10 * dt, record='u')", "record must be rows of the system, .* but is 'u'"),
    ("di.simulate(scheme, t_end=10 * dt, adapt=True)", "adapt must be a StepControl"),
    ("di.simulate(scheme, t_end=10 * dt, checkpoint='a')", "checkpoint must be a Checkpoint"),
    ("di.simulate(body, t_end=1.0)", "a Solid cannot be run"),
]


@pytest.mark.parametrize("typed, words", MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_a_mistake_is_answered_by_one_line(typed, words, names):
    with pytest.raises((ValueError, TypeError, KeyError), match=words) as caught:
        eval(typed, dict(names))
    assert "\n" not in str(caught.value) and " at 0x" not in str(caught.value)

"""Meshes joined to one: measures, names and motions are those of the parts, on any number of ranks."""

import basix.ufl
import numpy as np
import pytest
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from mpi4py import MPI
from support.pairs import named as with_facets
from support.parts import divided, field, nodes_in

import dolfinx_impact as di
from dolfinx_impact import _compat, parallel
from dolfinx_impact.mesh import join

WORLD = MPI.COMM_WORLD
KINDS = ("interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron")
RUBBER, FOAM = di.LinearElastic(3e6, 0.3), di.LinearElastic(1e6, 0.2)


def box(kind, start=0.0, length=1.0, cells=2, comm=WORLD):
    """A bar of this length along x, 1 m thick, from ``start``, with so many cells in every direction."""
    d = {"interval": 1, "triangle": 2, "quadrilateral": 2}.get(kind, 3)
    if d == 1:
        return dmesh.create_interval(comm, 3 * cells, [start, start + length])
    corners = [[start] + [0.0] * (d - 1), [start + length] + [1.0] * (d - 1)]
    make = dmesh.create_rectangle if d == 2 else dmesh.create_box
    return make(comm, corners, [cells] * d, cell_type=getattr(dmesh.CellType, kind))


def bent(mesh):
    """The mesh with a geometry of degree 2: every node moved, midpoints of edges out of line."""
    d = mesh.geometry.dim
    space = fem.functionspace(mesh, ("Lagrange", 2, (d,)))
    index_map, owned = space.dofmap.index_map, mesh.topology.index_map(d).size_local
    nodes = space.dofmap.list[:owned]
    x = space.tabulate_dof_coordinates()[: index_map.size_local, :d].copy()
    x[:, 1] *= 1 + 0.1 * x[:, 0] ** 2
    return dmesh.create_mesh(
        mesh.comm,
        cells=index_map.local_to_global(nodes.ravel().astype(np.int32)).reshape(nodes.shape),
        x=x,
        e=basix.ufl.element("Lagrange", mesh.topology.cell_name(), 2, shape=(d,)),
        partitioner=_compat.cell_partitioner(dmesh.GhostMode.none),
    )


def integral(mesh, dx):
    return parallel.total(WORLD, fem.assemble_scalar(fem.form(fem.Constant(mesh, 1.0) * dx)))


def volume(named, name):
    return measure(named, "dx", named.cells(name))


def area(named, name):
    return measure(named, "ds", named.facets(name))


def measure(named, kind, entities):
    """Volume of cells or area of facets on the boundary, by one form for all names."""
    dim = named.mesh.topology.dim - (kind == "ds")
    tags = dmesh.meshtags(named.mesh, dim, entities, np.ones(entities.size, np.int32))
    return integral(named.mesh, ufl.Measure(kind, domain=named.mesh, subdomain_data=tags)(1))


def count(mesh, dim):
    mesh.topology.create_entities(dim)
    return mesh.topology.index_map(dim).size_global


def on_facets(named, name):
    """Number of facets over all ranks, those between two ranks once."""
    owned = named.mesh.topology.index_map(named.mesh.topology.dim - 1).size_local
    return WORLD.allreduce(int(np.count_nonzero(named.facets(name) < owned)))


def touching(kind="tetrahedron"):
    """Two bars that touch at x = 1, with as many nodes there."""
    return {"left": box(kind, 0.0, 1.0), "right": box(kind, 1.0, 2.0)}


# -- measures and names


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("kind", KINDS)
def test_parts_keep_their_measures(kind):
    parts = {"left": box(kind, 0.0, 1.0, 2), "right": box(kind, 1.0, 2.0, 3)}
    named, d = join(parts), parts["left"].topology.dim
    for dim in range(d + 1):
        assert count(named.mesh, dim) == sum(count(part, dim) for part in parts.values())
    assert set(named.names) == {"left", "left/boundary", "right", "right/boundary"} and not named.groups
    for name, length in (("left", 1.0), ("right", 2.0)):
        assert volume(named, name) == pytest.approx(length, rel=1e-12)
        surface = 2 + 2 * (d - 1) * length
        assert area(named, f"{name}/boundary") == pytest.approx(surface, rel=1e-12)


@pytest.mark.mpi
def test_a_part_of_another_mesh():
    """DOLFINx has no numbers of the cells of a submesh."""
    whole = box("quadrilateral", 0.0, 2.0, 4)
    cells = dmesh.locate_entities(whole, 2, lambda x: x[0] < 1.0 + 1e-9)
    part = dmesh.create_submesh(whole, 2, cells)[0]
    named = join({"part": part, "other": box("quadrilateral", 3.0, 1.0, 2)})
    assert volume(named, "part") == pytest.approx(1.0, rel=1e-12)
    body = di.Solid(named, density=1.0, law=di.LinearElastic(1.0))
    assert body.total_mass == pytest.approx(2.0, rel=1e-12)


@pytest.mark.mpi(cases=1)
@pytest.mark.parametrize("kind", ["triangle", "quadrilateral", "tetrahedron", "hexahedron"])
def test_curved_cells(kind):
    parts = {"one": bent(box(kind, cells=2)), "other": bent(box(kind, 0.5, 1.0, 3))}
    named = join(parts)
    assert named.mesh.geometry.index_map().size_global == sum(
        part.geometry.index_map().size_global for part in parts.values()
    )
    for name, part in parts.items():
        assert volume(named, name) == pytest.approx(integral(part, ufl.dx(part)), rel=1e-12)
        assert area(named, f"{name}/boundary") == pytest.approx(integral(part, ufl.ds(part)), rel=1e-12)


def halves(kind, start=0.0):
    """A box with named halves and two named sides."""
    return divided(
        box(kind, start, cells=4),
        lambda x: x[0] < start + 0.5,
        tip=lambda x: np.isclose(x[0], start),
        end=lambda x: np.isclose(x[0], start + 1.0),
    )


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("kind", KINDS)
def test_names_are_carried_over(kind):
    parts = {"a": halves(kind), "bare": box(kind, 3.0), "b": halves(kind, 1.0)}
    named = join(parts)
    for part in ("a", "b"):
        for name in ("near", "far"):
            assert volume(named, f"{part}/{name}") == pytest.approx(volume(parts[part], name), rel=1e-12)
        for name in ("tip", "end"):
            assert area(named, f"{part}/{name}") == pytest.approx(area(parts[part], name), rel=1e-12)
        assert volume(named, part) == pytest.approx(1.0, rel=1e-12)
        whole = integral(parts[part].mesh, ufl.ds(parts[part].mesh))
        assert area(named, f"{part}/boundary") == pytest.approx(whole, rel=1e-12)
        assert WORLD.allreduce(named.cells(f"{part}/nowhere").size) == 0
    assert [named.tags(name) for name in ("a", "bare", "b")] == [(1, 2, 3), (4,), (5, 6, 7)]
    x = parallel.gather_rows(WORLD, midpoints_of_facets(named, "b/tip"))
    assert len(x) and x[:, 0] == pytest.approx(np.ones(len(x)), abs=1e-12)


def midpoints_of_facets(named, name):
    fdim = named.mesh.topology.dim - 1
    named.mesh.topology.create_connectivity(fdim, fdim + 1)
    return dmesh.compute_midpoints(named.mesh, fdim, named.facets(name))


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("kind", KINDS)
def test_facets_inside(kind):
    """One name for facets inside and outside: both are found, and the boundary has none inside."""
    mesh = box(kind, cells=4)
    fdim = mesh.topology.dim - 1
    wall = dmesh.locate_entities(mesh, fdim, lambda x: np.isclose(x[0], 0.5) | np.isclose(x[0], 0.0))
    tags = dmesh.meshtags(mesh, fdim, wall, np.full(wall.size, 7, np.int32))
    given = di.NamedMesh(mesh, None, tags, {"walls": (fdim, 7), "edges of gmsh": (fdim - 1, 3)})
    named = join({"other": box(kind, 2.0), "box": given})
    assert set(named.groups) == {"box/walls", "box/boundary"}
    assert on_facets(named, "box/walls") == on_facets(given, "walls")
    if fdim:  # DOLFINx 0.9 takes the vertices between two ranks for ends of a line
        assert area(named, "box/walls") == pytest.approx(1.0, rel=1e-12)
    assert area(named, "box/boundary") == pytest.approx(integral(mesh, ufl.ds(mesh)), rel=1e-12)
    outside = WORLD.allreduce(dmesh.exterior_facet_indices(mesh.topology).size)
    assert on_facets(named, "box/boundary") == outside


@pytest.mark.mpi
def test_a_boundary_of_its_own():
    """The name boundary of a part stays what it is."""
    given = with_facets(box("triangle"), boundary=lambda x: np.isclose(x[1], 0.0))
    assert area(join({"a": given}), "a/boundary") == pytest.approx(1.0, rel=1e-12)


@pytest.mark.mpi
@pytest.mark.parametrize("kind, sides", [("interval", 2), ("quadrilateral", 4)])
def test_joined_again(kind, sides):
    inner = join({"a": halves(kind), "b": box(kind, 1.0, cells=4)})
    named = join({"pair": inner, "c": box(kind, 2.0, 3.0)})
    assert volume(named, "pair/a") == pytest.approx(1.0) and volume(named, "c") == pytest.approx(3.0)
    assert volume(named, "pair") == pytest.approx(2.0) and area(named, "pair/a/tip") == pytest.approx(1.0)
    each = 1 if sides == 2 else 4
    assert on_facets(named, "pair/boundary") == 2 * on_facets(named, "pair/b/boundary") == 2 * sides * each
    numbers = np.sort(np.concatenate(WORLD.allgather(named.cell_numbers)))
    assert np.array_equal(numbers, np.arange(count(named.mesh, named.mesh.topology.dim)))


@pytest.mark.mpi
def test_one_part_alone():
    named = join({"box": box("hexahedron")})
    assert volume(named, "box") == pytest.approx(1.0) and area(named, "box/boundary") == pytest.approx(6.0)


@pytest.mark.mpi
def test_numbers_of_cells_do_not_depend_on_the_partition():
    """The cell of a number is where the part has the cell of that number."""
    parts = touching("triangle")
    named, before = join(parts), 0
    found = midpoints(named.mesh, named.cell_numbers)
    for part in parts.values():
        for number, x in midpoints(part, part.topology.original_cell_index).items():
            assert found[before + number] == pytest.approx(x, abs=1e-12)
        before += count(part, 2)
    assert len(found) == before


def midpoints(mesh, numbers):
    """Midpoint of the cell with each number, of all ranks."""
    owned = mesh.topology.index_map(2).size_local
    x = dmesh.compute_midpoints(mesh, 2, np.arange(owned, dtype=np.int32))
    pairs = WORLD.allgather(list(zip(np.asarray(numbers)[:owned].tolist(), x)))
    return {number: x for each in pairs for number, x in each}


# -- bodies


@pytest.mark.mpi
def test_masses_of_the_parts():
    density = {"left": 1000.0, "right": 200.0}
    body = di.Solid(join(touching()), density=density, law={"left": RUBBER, "right": FOAM})
    assert body.total_mass == pytest.approx(1000.0 * 1.0 + 200.0 * 2.0, rel=1e-12)
    for name, mass in (("left", 1000.0), ("right", 400.0)):
        nodes = np.repeat(nodes_in(body, name), 3)[: body.owned]
        assert parallel.total(WORLD, body.mass[nodes].sum()) == pytest.approx(3 * mass, rel=1e-12)
    right = di.Solid(body.named, cells="right", density=200.0, law=FOAM)
    assert right.total_mass == pytest.approx(400.0, rel=1e-12)


@pytest.mark.mpi(cases=2)
@pytest.mark.parametrize("kind", KINDS)
def test_one_part_does_not_move_the_other(kind):
    body = di.Solid(join(touching(kind)), density=1000.0, law=RUBBER)
    s = di.CDLagrange(body, 0.5 * body.critical_time_step())
    d = body.mesh.geometry.dim
    s.start(0.0, body.rigid_velocity([3.0] + [0.0] * (d - 1), cells="left"))
    for _ in range(20):
        s.step()
    left = np.repeat(nodes_in(body, "left"), d)[: body.owned]
    moved = s.u[: body.owned]
    assert not np.any(moved[~left])
    assert moved[left].reshape(-1, d)[:, 0] == pytest.approx(np.full(left.sum() // d, 3.0 * s.t), rel=1e-9)


def wave(x):
    """A velocity field that stretches and shears [m/s]."""
    return np.column_stack([np.sin(2 * x[:, 0]), x[:, 0] * x[:, 1], x[:, 2] ** 2])


def motion(mesh, law, dt, **options):
    """Displacements after 30 steps, sorted by coordinates and directions, and the coordinates."""
    body = di.Solid(mesh, density=1000.0, law=law, **options)
    s, d = di.CDLagrange(body, dt), body.mesh.geometry.dim
    s.start(0.0, np.ascontiguousarray(wave(body.x)[:, :d]).ravel())
    for _ in range(30):
        s.step()
    x = np.repeat(body.x, d, axis=0)[: body.owned]
    return field(body, s.u), np.column_stack([field(body, np.ascontiguousarray(x[:, i])) for i in range(3)])


@pytest.mark.mpi
@pytest.mark.parametrize("degree", [1, pytest.param(2, marks=pytest.mark.one_rank)])
@pytest.mark.parametrize("kind", ["triangle", "tetrahedron"])
def test_motion_is_that_of_the_parts(kind, degree):
    """Each part moves as alone; of coincident nodes that of the first part comes first."""
    parts, laws, dt = touching(kind), {"left": RUBBER, "right": FOAM}, 2e-4
    u, x = motion(join(parts), laws, dt, degree=degree)
    alone = [motion(parts[name], laws[name], dt, degree=degree) for name in parts]
    every, at = (np.concatenate(arrays) for arrays in zip(*alone))
    d = parts["left"].geometry.dim
    # A stable sort of whole nodes keeps the first part in front.
    order = np.lexsort(np.round(at[::d], 9).T[::-1])
    rows = (order[:, None] * d + np.arange(d)).ravel()
    assert x == pytest.approx(at[rows], abs=1e-12)
    assert u == pytest.approx(every[rows], abs=1e-12 * np.abs(u).max())


@pytest.mark.mpi
def test_bars_collide():
    """Equal bars exchange their velocities."""
    left = with_facets(box("interval", -1.0, 1.0, 10), tip=lambda x: np.isclose(x[0], 0.0))
    right = with_facets(box("interval", 0.01, 1.0, 10), tip=lambda x: np.isclose(x[0], 0.01))
    body = di.Solid(join({"left": left, "right": right}), density=1.0, law=di.LinearElastic(100.0, 0.0))
    pairs = di.NodePairs(body, "left/tip", "right/tip", [1.0])
    s = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=pairs)
    s.start(0.0, body.rigid_velocity([1.0], cells="left"))
    while s.t < 0.35:  # 0.01 s of flight, 0.2 s of contact
        s.step()
    for name, expected in (("left", 0.0), ("right", 1.0)):
        nodes = nodes_in(body, name)[: body.owned]
        speed = parallel.total(WORLD, body.mass[nodes] @ s.v_mean[: body.owned][nodes])
        assert speed == pytest.approx(expected, abs=0.05)


# -- errors


def bad_parts():
    one, line = box("triangle"), box("interval")
    no_end = with_facets(one, end=lambda x: np.isclose(x[0], 0.0))
    half = halves("triangle")
    partly = di.NamedMesh(half.mesh, half.cell_tags, None, {"near": (2, 1)})
    surface = dmesh.create_mesh(
        WORLD,
        cells=np.array([[0, 1, 2]] if WORLD.rank == 0 else np.zeros((0, 3)), dtype=np.int64),
        x=np.eye(3) if WORLD.rank == 0 else np.zeros((0, 3)),
        e=basix.ufl.element("Lagrange", "triangle", 1, shape=(3,)),
    )
    return [
        ({}, "parts names no mesh: give one mesh or several, as {'upper'"),
        ([one, one], "parts must be given by names, as {'upper'"),
        ({1: one}, "name of a part must be a text .* but is 1"),
        ({" ": one}, "name of a part must be a text that is not empty .* but is ' '"),
        ({"a/b": one}, "no '/', but is 'a/b'"),
        ({"a": one, "b": "bar.msh"}, "the mesh must be a mesh, but is 'bar.msh': read it first"),
        ({"a": no_end, "b": line}, "different cells, 'a' triangle, 'b' interval: give meshes of one"),
        ({"a": one, "b": bent(one)}, "different degrees, 'a' degree 1, 'b' degree 2"),
        ({"a": surface}, "cells of 'a' have dimension 2 in space of dimension 3"),
        ({"a": one, "b": partly}, "16 cells of 'b' have no name; named are near: name all cells"),
    ]


@pytest.mark.mpi
def test_refused():
    for parts, message in bad_parts():
        with pytest.raises(ValueError, match=message):
            join(parts)


@pytest.mark.mpi
@pytest.mark.skipif(WORLD.size == 1, reason="needs several ranks")
def test_other_ranks_are_refused():
    mine = box("triangle", comm=MPI.COMM_SELF)
    with pytest.raises(ValueError, match="mesh of 'b' is replicated, every rank has all of it: .*COMM_WORLD"):
        join({"a": box("triangle"), "b": mine})
    turned = WORLD.Split(0, -WORLD.rank)
    with pytest.raises(ValueError, match="different communicators, 'a' . ranks, 'b' . ranks .others.: give"):
        join({"a": box("triangle"), "b": box("triangle", comm=turned)})
    turned.Free()


@pytest.mark.mpi
def test_unknown_names_and_parts_named_twice():
    named = join({"upper": halves("triangle"), "lower": box("triangle", 1.0)})
    with pytest.raises(ValueError, match="no facets are named 'upper/tp'.*did you mean 'upper/tip'"):
        named.facets("upper/tp")
    with pytest.raises(ValueError, match="no cells are named 'uper'.*did you mean 'upper'"):
        named.cells("uper")
    laws = {name: RUBBER for name in ("upper", "upper/near", "lower")}
    with pytest.raises(
        ValueError, match="16 cells are in several of lower, upper, upper/near: give each one"
    ):
        di.Solid(named, density=1000.0, law=laws)

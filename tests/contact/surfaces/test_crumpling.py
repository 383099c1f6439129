"""Thin sheets that crumple: layers lie on each other, and with a skin nothing intersects. On one rank."""

import numpy as np
import pytest
from dolfinx import mesh as dmesh
from mpi4py import MPI
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation
from support.needles import Intersections
from support.pairs import made, named
from support.surfaces import momenta, total

import dolfinx_impact as di

WIDTH, THICK = 0.4, 0.05
LAW = di.NeoHookean(2e4, 0.3)


def block(cells, low, high):
    """Nodes and cells of a box of hexahedra."""
    corners = [np.array(low), np.array(high)]
    mesh = dmesh.create_box(MPI.COMM_SELF, corners, cells, dmesh.CellType.hexahedron)
    return mesh.geometry.x.copy(), mesh.geometry.dofmap


def surface(points, cells):
    return named(made("hexahedron", points, cells), all=lambda x: np.full(x.shape[1], True))


def zigzag(layers=4, cells=8, slope=0.35):
    """A strip that lies to and fro at an angle [rad], in layers of length 1, with mitred folds."""
    x, nodes = block([cells * layers, 3, 1], [0.0] * 3, [layers, WIDTH, THICK])
    s, out = x[:, 0], x[:, 2] - 0.5 * THICK
    layer = np.minimum(s.astype(int), layers - 1)
    on, back = s - layer, layer % 2 == 1
    fold = (np.abs(s - np.round(s)) < 1e-9) & (s > 0.5) & (s < layers - 0.5)
    normal = np.column_stack([np.full(s.size, -np.sin(slope)), np.where(back, -1, 1) * np.cos(slope)])
    normal[fold] = [-1.0, 0.0]
    along = np.where(back, 1.0 - on, on) * np.cos(slope)
    points = np.column_stack([along + out * normal[:, 0], x[:, 1], s * np.sin(slope) + out * normal[:, 1]])
    return surface(points, nodes)


def crumple(s, contact, steps):
    """Steps without intersections, every tenth looked at; terms of the balance at each of these."""
    seen, balance = Intersections(contact), s.balance()
    balance.start()
    terms = [total(balance.terms())]
    for k in range(steps):
        s.step()
        balance.step()
        if k % 10 == 9:
            assert not seen(s)
            terms.append(total(balance.terms()))
    kinetic, complementary, internal, *_ = np.array(terms).T
    energy = kinetic + complementary + internal
    assert energy.max() <= energy[0] * (1 + 1e-3)
    return energy


@pytest.mark.slow
def test_a_strip_folds_onto_itself_thrice():
    """Case 7: four layers that are pressed flat by their own motion; symmetric until features act."""
    pytest.importorskip("ipctk")
    body = di.Solid(zigzag(), density=1000.0, law=LAW)
    contact = di.SurfaceContact(body, skin=0.007)
    s = di.CDLagrange(body, 0.3 * body.critical_time_step(), contact=contact)
    height = body.x[:, 2] - body.x[:, 2].mean()
    v = np.zeros_like(body.x)
    v[:, 2] = -1.2 * height / height.max()
    s.start(0.0, v.ravel())
    before, size = momenta(s)
    crumple(s, contact, 230)
    mirror = np.array([1.0, -1.0, 1.0])
    _, image = cKDTree(body.x).query(body.x * mirror + [0.0, WIDTH, 0.0])
    u = s.u.reshape(-1, 3)
    assert np.abs(u - u[image] * mirror).max() < 1e-10 and contact.certificate().added == 0
    crumple(s, contact, 120)
    assert np.abs(momenta(s)[0] - before)[:3].max() < 1e-12 * size
    said = contact.certificate()
    assert said.added > 100 and said.inside == 0 and 0.0 < said.skin_used < 1.0
    assert "surfaces did not touch" in str(said)
    now = body.x[:, 2] + s.u.reshape(-1, 3)[:, 2]
    assert np.ptp(now) < 0.3 * np.ptp(body.x[:, 2])


@pytest.mark.slow
def test_a_sheet_dropped_on_its_edge_crumples():
    """Case 7: it falls at two thirds of its wave speed."""
    pytest.importorskip("ipctk")
    points, cells = block([1, 4, 16], [0.0] * 3, [THICK, WIDTH, 1.0])
    points = points @ Rotation.from_rotvec([0.0, 0.1, 0.0]).as_matrix().T
    points[:, 2] += 0.02 - points[:, 2].min()
    floor = block([6, 3, 1], [-1.0, -0.3, -0.2], [1.2, 0.7, 0.0])
    low = named(made("hexahedron", *floor), bottom=lambda x: np.isclose(x[2], -0.2))
    mesh = di.mesh.join({"sheet": surface(points, cells), "floor": low})
    body = di.Solid(mesh, density=1000.0, law=LAW, fixed="floor/bottom")
    contact = di.SurfaceContact(body, skin=0.006)
    s = di.CDLagrange(body, 0.3 * body.critical_time_step(), contact=contact)
    s.start(0.0, body.rigid_velocity((0.0, 0.0, -3.0), cells="sheet"))
    energy = crumple(s, contact, 150)
    said = contact.certificate()
    assert said.added > 500 and said.inside == 0 and said.passed == 0
    assert {"part 1", "part 2"} in [set(each.parts) for each in contact.events() if each.what == "contact"]
    assert ("part 2", "part 2") in [each.parts for each in contact.events()]
    assert energy[-1] < 0.9 * energy[0]

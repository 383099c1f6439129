"""Blocks that are poured into a box: their mesh, masses and places at the start."""

from __future__ import annotations

import math

import numpy as np
from dolfinx import mesh as dmesh
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from .... import Box, NamedMesh, NeoHookean, RigidContact, Solid, parallel
from ...boxes import create
from ...case import Values, contact_law

#: Blocks of so many masses, equally many of each.
KINDS = 5
#: Distance of the blocks' places at the start over the side: no two that turn freely touch.
PITCH = 1.8
#: Places of a layer along each side of the box.
ACROSS = 4
#: Width of the box over the side.
WIDTH = ACROSS * PITCH
#: A block is deformed by its own weight, resting on a face, by this part of the side about.
SOFT = 1e-3
NU = 0.3
#: Stiffness damping over the time in which a wave crosses a block.
DAMPING = 0.05
SEED = 36


def masses(p: Values) -> NDArray:
    """Masses of the kinds, equally far apart, shape (KINDS,) [kg]."""
    return np.asarray(p["mass"] * (1 + p["mass_spread"] * np.linspace(-1, 1, KINDS)))


def kinds(p: Values) -> NDArray:
    """Kind of each block, all equally often, in a fixed order without one, shape (blocks,)."""
    every = np.arange(p["blocks"]) % KINDS
    return np.asarray(np.random.default_rng(SEED).permutation(every))


def modulus(p: Values) -> float:
    """Young's modulus of all blocks [Pa]: soft, so that steps are long."""
    return float(p["mass"] * p["gravity"] / (SOFT * p["side"] ** 2))


def placed(p: Values) -> tuple[NDArray, NDArray]:
    """Centres, shape (blocks, 3) [m], and rotations, shape (blocks, 3, 3), layer by layer at random."""
    rng, count, pitch = np.random.default_rng(SEED + 1), p["blocks"], PITCH * p["side"]
    number = np.arange(count)
    layer, in_layer = number // ACROSS**2, number % ACROSS**2
    grid = np.column_stack([in_layer % ACROSS, in_layer // ACROSS, layer])
    centres = pitch * (grid + 0.5)
    # The space between two that turn is PITCH - sqrt(3) sides; some of it is left to the skins.
    centres[:, :2] += 0.2 * (PITCH - math.sqrt(3)) * p["side"] * rng.uniform(-1, 1, (count, 2))
    return centres, Rotation.random(count, random_state=SEED + 2).as_matrix()


def blocks_mesh(p: Values) -> NamedMesh:
    """All blocks as one mesh, whose cells have the names of their kinds. Collective."""
    count = p["cells"] + 1
    n = np.arange(count) / p["cells"] - 0.5
    cube = p["side"] * np.stack(np.meshgrid(n, n, n, indexing="ij"), axis=-1).reshape(-1, 3)
    i = np.arange(count**3).reshape((count,) * 3)
    ends = slice(None, -1), slice(1, None)
    corners = [i[a, b, c].ravel() for c in ends for b in ends for a in ends]
    cells = np.stack(corners, axis=1)
    centres, turns = placed(p)
    points = np.einsum("bij,nj->bni", turns, cube) + centres[:, None]
    numbers = cells + len(cube) * np.arange(p["blocks"])[:, None, None]
    mesh = create(points.reshape(-1, 3), numbers.reshape(-1, 8), "hexahedron")
    tags = np.repeat(kinds(p), len(cells)).astype(np.int32) + 1
    own = tags[mesh.topology.original_cell_index]
    cell_tags = dmesh.meshtags(mesh, 3, np.arange(own.size, dtype=np.int32), own)
    return NamedMesh(mesh, cell_tags, None, {f"kind {k}": (3, k + 1) for k in np.unique(kinds(p))})


def make_blocks(p: Values) -> Solid:
    """The blocks, with friction in their material: damping by the rate of strain alone. Collective."""
    named, E = blocks_mesh(p), modulus(p)
    density = dict(zip((f"kind {k}" for k in range(KINDS)), masses(p) / p["side"] ** 3))
    transit = p["side"] / math.sqrt(E / (p["mass"] / p["side"] ** 3))
    return Solid(
        named,
        density={name: density[name] for name in named.names},
        law=NeoHookean(E, NU),
        gravity=(0.0, 0.0, -p["gravity"]),
        stiffness_damping=DAMPING * transit,
    )


def layers(p: Values) -> int:
    """Number of layers in which the blocks begin."""
    return math.ceil(p["blocks"] / ACROSS**2)


def height(p: Values) -> float:
    """Height of the uppermost layer at the start, above the floor [m]."""
    return float(PITCH * p["side"] * layers(p))


def walls(body: Solid, p: Values) -> RigidContact:
    """Contact with the inside of the box: floor and four walls; its lid is out of reach. Collective."""
    width = WIDTH * p["side"]
    inside = Box.between((0.0, 0.0, 0.0), (width, width, 2 * height(p)), inside=True)
    return RigidContact(body, "boundary", inside, **contact_law(p))


def top(body: Solid, u: NDArray) -> float:
    """Height of the highest node above the floor [m]. Collective."""
    n = body.owned // 3
    return float(parallel.largest(body.comm, body.x[:n, 2] + u[2 : body.owned : 3]))

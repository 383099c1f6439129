"""Node-to-node contact between deformable bodies for small displacements, with a constant normal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from .. import arguments, parallel
from .._types import FloatArray, IntArray
from ..algebra import coulomb, kernels
from ..algebra.contact_operator import ContactOperator
from ..algebra.node_rows import NodeRows
from ..algebra.operators import SharedSparseRows, SparseRows, coordinate_order
from ..systems.body import Body
from ..systems.continuum import Continuum
from ..systems.outer_facets import collect_facets
from .base import Contact
from .compiled import CompiledContact, Surface
from .nodes import ContactNodes
from .pressure import PointFacets, facets_of_nodes, global_nodes
from .state import Impulses
from .surfaces.halo import Halo

#: Largest tangential distance between the nodes of a pair, relative to the body's length.
_APART = 1e-6


class _PairNodes(ContactNodes):
    """Both nodes of every pair; the points are the first ones."""

    _contact: NodePairs

    def __init__(self, contact: NodePairs) -> None:
        super().__init__(contact)
        self._impulses = np.zeros(contact.body.size)

    @property
    def loaded(self) -> SparseRows:
        """See :attr:`.ContactNodes.loaded`: the nodes of both sides that this rank owns."""
        return self._contact.both

    def dofs(self) -> IntArray:
        """See :meth:`.ContactNodes.dofs`: those of the first nodes, shape (p, gdim)."""
        return _dofs(self._contact.body, self._contact.first)

    def add_impulses(self, impulses: Impulses, out: FloatArray) -> None:
        """See :meth:`.ContactNodes.add_impulses`. Collective."""
        at = self.loaded.dofs
        self._impulses[at] = 0.0
        impulses.add_to(self._impulses)
        out += self._impulses[at]

    def least_gaps(self, gap: FloatArray, block: int, out: FloatArray) -> None:
        """See :meth:`.ContactNodes.least_gaps`; both nodes have that of their pair. Collective."""
        contact, rows = self._contact, self.loaded
        keys = parallel.gather_rows(contact.comm, contact.L.order)
        every = parallel.gather_rows(contact.comm, gap)
        gaps = {key.tobytes(): value for key, value in zip(keys, every)}
        # The key of a node is its side and that of the pair.
        at_rows: FloatArray = np.array([gaps[key.tobytes()] for key in rows.order[:, 1:].copy()])
        np.fmin.at(out, rows.dofs // block, at_rows.reshape(-1, 1))

    def _find_facets(self) -> PointFacets | None:
        """See :meth:`.ContactNodes.facets`; those of the first side, None for frames."""
        contact = self._contact
        if not isinstance(contact.body, Continuum):
            return None
        outer = collect_facets(contact.body, contact.name).facing(contact.normal)
        numbers = global_nodes(contact.body, contact.L, contact.first)
        return facets_of_nodes(outer, numbers, sides=False)


class NodePairs(Contact):
    """Node-to-node contact between two named sets of facets of one system.

    Fekak et al. (2017), (47b), with a gap at the start: ``g = (x2 + u2 - x1 - u1) . n``. L has +n at the
    second node of a pair and -n at the first; an impulse r >= 0 pushes them apart.

    Nodes are paired by their positions in the plane normal to n, on whatever ranks they are; a pair belongs
    to the rank that owns its first node. Points are sorted by the coordinates of the first nodes.

    With friction, Coulomb's law holds for the tangential part of the relative velocity of the two nodes, and
    explicit schemes with contact at velocity level take the contact; but for the fine steps of HATI they make
    their steps one by one. Nodes stay pairs however far they slide.

    Args:
        body: The system, with both bodies on one mesh.
        first: Name of the facets on one side.
        second: Name of the facets on the other side, with as many nodes.
        normal: Direction from the first side to the second, shape (gdim,), any length but zero.
        gap0: Gaps at zero displacement, one number or one per pair in order [m]; by default those of the
            coordinates.
        restitution: Newton's coefficient e of every pair, 0 to 1.
        friction: Coulomb's coefficient mu, at least 0.
        gap_tolerance: See :class:`.Contact`; default 1e-12 times the body's length.
        touching: See :class:`.Contact`.
        drift_correction: See :class:`.Contact`; without effect, since L never changes.
        allow_penetration: See :class:`.Contact`.

    Raises:
        ValueError: An unknown facet name, sides that do not match node by node, a zero normal, gaps of
            another shape, contact on constrained dofs.
    """

    body: Body
    normal: FloatArray
    name: str
    first: IntArray
    #: Rows with the dofs of both nodes, those of this rank; with friction in all directions.
    both: SparseRows
    _NODES = _PairNodes

    def __init__(
        self,
        body: Body,
        first: str,
        second: str,
        normal: Sequence[float],
        *,
        gap0: ArrayLike | None = None,
        restitution: float = 0.0,
        friction: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        drift_correction: float | bool = False,
        allow_penetration: bool = False,
    ) -> None:
        arguments.number("friction", friction, "be a coefficient of at least 0", least=0.0)
        if not isinstance(body, Body):
            raise ValueError(
                f"the first argument must be the body, a Solid or a Frame, but is {arguments.shown(body)}"
            )
        n = _direction(body, normal)
        ends = _match(body, (first, second), n)
        gaps = _gaps(ends, n, gap0)
        owner = ends[0].rank
        order = np.argsort(owner, kind="stable")  # by rank, then by coordinates
        ends, gaps = (ends[0].select(order), ends[1].select(order)), gaps[order]
        owned = ends[0].rank == body.comm.rank
        self.body, self.normal, self._gap0 = body, n, gaps[owned]
        self.first, self.name = ends[0].node[owned], first
        keys = coordinate_order(ends[0].x, body.length)
        rows, self._approach = _operators(body, ends, n, keys, (first, second))
        _refuse_constrained(body, self._approach, first, second)
        towards = self._approach
        self.both = SparseRows(towards.dofs, np.zeros(towards.dofs.shape), towards.order)
        if friction > 0:
            rows, self.both = _vector_rows(body, ends, n, keys)
            #: Those of the first and of the second node of each pair; of use where one rank has both.
            self._dofs = np.hstack([_dofs(body, end.node[owned]) for end in ends])
        self.velocity_level_only = friction > 0
        super().__init__(
            body,
            rows,
            restitution=restitution,
            friction=friction,
            gap_tolerance=gap_tolerance,
            touching=touching,
            drift_correction=drift_correction,
            allow_penetration=allow_penetration,
        )

    def gap(self, u: FloatArray, t: float = 0.0) -> FloatArray:
        """``(x2 + u2 - x1 - u1) . n``, shape (p,) [m]; collective where pairs lie on two ranks."""
        gaps: FloatArray = self._gap0 + self.L(u)
        return gaps

    def places(self, u: FloatArray) -> FloatArray:
        """Current positions of the first nodes at ``u``, shape (p, gdim) [m]."""
        places: FloatArray = self.body.x[self.first, : self.body.gdim] + u[_dofs(self.body, self.first)]
        return places

    def compiled(self, surface: Surface | None = None, x: FloatArray | None = None) -> CompiledContact:
        """See :meth:`.Contact.compiled`; with friction on one rank."""
        if self.friction == 0:
            return super().compiled(surface, x)
        if self.comm.size > 1:
            raise kernels.NotCompiled("node pairs with friction of other ranks")
        return CompiledContact(
            self._dofs,
            np.tile(np.concatenate([-self.normal, self.normal]), (self.count, 1)),
            self._gap0,
            np.zeros(self._dofs.shape),
            None,
            self.restitution,
            self.gap_tolerance,
            self.touching,
            self.friction,
            paired=True,
        )

    def local_bases(self) -> FloatArray:
        """See :attr:`.ContactState.bases`; with friction shape (p, gdim, gdim), the normal first."""
        if self.friction == 0:
            return super().local_bases()
        normals = np.tile(self.normal, (self.count, 1))
        return np.concatenate([normals[:, None, :], coulomb.tangents(normals)], axis=1)

    def approach(self) -> SparseRows:
        """Rows for the displacement of each node towards the other node of its pair [m].

        The first nodes come first, then the second ones in the same order.
        """
        return self._approach


class _End:
    """One node of every pair: owning rank, local number, coordinates [m]."""

    def __init__(self, rank: IntArray, node: IntArray, x: FloatArray) -> None:
        self.rank, self.node, self.x = rank, node, x

    def select(self, which: IntArray) -> _End:
        return _End(self.rank[which], self.node[which], self.x[which])


def _direction(body: Body, normal: Sequence[float]) -> FloatArray:
    """Unit normal, with components at round-off level set to zero. Collective."""
    n = np.atleast_1d(arguments.floats(normal))
    gdim, size, error = body.mesh.geometry.dim, np.linalg.norm(n), None
    if n.shape != (gdim,) or not (size > 0 and np.isfinite(size)):
        error = ValueError(f"normal must be a direction of {gdim} finite numbers, not {normal}")
    parallel.agree(body.comm, error)
    n /= size
    n[np.abs(n) < 1e-12] = 0.0
    return n


def _match(body: Body, names: tuple[str, str], n: FloatArray) -> tuple[_End, _End]:
    """Nodes of both sides, paired and sorted by the first ones; replicated on all ranks. Collective."""
    first, second = (_nodes(body, name) for name in names)
    if first.rank.size != second.rank.size:
        raise ValueError(
            f"{names[0]!r} has {first.rank.size} nodes and {names[1]!r} {second.rank.size}: node pairs need "
            "as many on both sides"
        )
    first = first.select(np.lexsort(coordinate_order(first.x, body.length).T[::-1]))
    both = set(zip(first.rank, first.node)) & set(zip(second.rank, second.node))
    if both:
        raise ValueError(f"{names[0]!r} and {names[1]!r} share {len(both)} nodes: a node cannot touch itself")
    across = [end.x[:, : n.size] - np.outer(end.x[:, : n.size] @ n, n) for end in (first, second)]
    if not first.rank.size:
        return first, second
    apart, partner = cKDTree(across[1]).query(across[0])
    if np.unique(partner).size != partner.size or apart.max() > _APART * body.length:
        raise ValueError(
            f"the nodes of {names[0]!r} and {names[1]!r} do not face each other one by one: matched across "
            f"the normal {n.tolist()}, nodes are up to {apart.max():.3g} m apart"
        )
    return first, second.select(partner)


def _nodes(body: Body, name: str) -> _End:
    """Nodes on the named facets, of all ranks. Collective."""
    nodes = body.nodes(name)
    local = np.column_stack([np.full(nodes.size, body.comm.rank), nodes, body.x[nodes]])
    every = parallel.gather_rows(body.comm, local)
    return _End(every[:, 0].astype(np.intp), every[:, 1].astype(np.intp), every[:, 2:])


def _gaps(ends: tuple[_End, _End], n: FloatArray, gap0: ArrayLike | None) -> FloatArray:
    """Gaps at zero displacement, in the order of the pairs, shape (pairs,) [m]."""
    count = ends[0].rank.size
    if gap0 is None:
        return (ends[1].x - ends[0].x)[:, : n.size] @ n
    values = arguments.floats(gap0)
    if values.shape not in ((), (count,)) or not np.all(np.isfinite(values)):
        raise ValueError(f"gap0 must be a finite gap or one for each of the {count} pairs, but is {gap0}")
    return np.full(count, values) if values.ndim == 0 else values


def _operators(
    body: Body, ends: tuple[_End, _End], n: FloatArray, keys: FloatArray, names: tuple[str, str]
) -> tuple[ContactOperator, SparseRows]:
    """Contact operator L and the rows of :meth:`NodePairs.approach`; pairs in rank order."""
    directions = np.flatnonzero(n)
    dofs = [end.node[:, None] * body.block + directions for end in ends]
    here = [end.rank == body.comm.rank for end in ends]
    weights = np.broadcast_to(n[directions], dofs[0].shape)
    towards = SparseRows(
        np.concatenate([d[h] for d, h in zip(dofs, here)]),
        np.concatenate([sign * weights[h] for sign, h in zip((1.0, -1.0), here)]),
        np.concatenate([np.insert(keys[h], 0, side, axis=1) for side, h in enumerate(here)]),
        [name for name, h in zip(names, here) for _ in range(np.count_nonzero(h))],
    )
    own = here[0]
    if np.array_equal(ends[0].rank, ends[1].rank):
        both = np.column_stack([d[own] for d in dofs]), np.column_stack([-weights[own], weights[own]])
        return SparseRows(*both, keys[own]), towards
    point = np.concatenate([np.repeat(np.flatnonzero(h), directions.size) for h in here])
    shared = SharedSparseRows(body.comm, point, towards.dofs.ravel(), -towards.weights.ravel(), keys[own])
    return shared, towards


def _dofs(body: Body, nodes: IntArray) -> IntArray:
    """Displacement dofs of nodes, shape (n, gdim)."""
    return nodes[:, None] * body.block + np.arange(body.gdim)


def _vector_rows(
    body: Body, ends: tuple[_End, _End], n: FloatArray, keys: FloatArray
) -> tuple[NodeRows, SparseRows]:
    """Contact operator for friction, and rows with the dofs of all nodes of this rank; pairs in rank order.

    Collective.
    """
    rank, gdim = body.comm.rank, body.gdim
    own = ends[0].rank == rank
    count = int(np.count_nonzero(own))
    rows = NodeRows(keys[own], gdim, shared=body.comm.size > 1)
    ranks, nodes = (
        np.concatenate([getattr(end, name)[own] for end in ends]).astype(np.int64)
        for name in ("rank", "node")
    )
    rows.set_nodes(Halo(body.comm, ranks, nodes, body.block, gdim))
    places = np.arange(2 * count).reshape(2, count).T.ravel()
    signs = np.tile([-1.0, 1.0], count)
    rows.set(2 * np.arange(count + 1), places, np.outer(signs, n), signs)
    here = [end.rank == rank for end in ends]
    dofs = np.concatenate([_dofs(body, end.node[h]) for end, h in zip(ends, here)])
    order = np.concatenate([np.insert(keys[h], 0, side, axis=1) for side, h in enumerate(here)])
    return rows, SparseRows(dofs, np.zeros(dofs.shape), order)


def _refuse_constrained(body: Body, rows: SparseRows, first: str, second: str) -> None:
    if body.comm.allreduce(bool(np.any(body.constrained[rows.dofs]))):
        raise ValueError(
            f"contact of {first!r} with {second!r} acts on dofs that are constrained: free them or "
            "leave them out"
        )

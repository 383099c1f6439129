"""Contact between surfaces of deformable bodies, and ties."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ... import arguments
from ..._types import AnyArray, BoolArray, FloatArray
from ...algebra import coulomb, kernels
from ...algebra.node_rows import NodeRows
from ...systems.continuum import Continuum
from ..base import RANKS, Contact
from ..compiled import CompiledContact, Surface
from ..state import ContactState
from .assembly import Assembly
from .checks import refuse_facing_away, refuse_intersections, refuse_overlap, unseen_overlap
from .corners import CORNER
from .facet_shape import facet_shape
from .facets import Facets, collect
from .held_facets import HeldFacets, with_sides
from .nodes import SurfaceNodes
from .passing import PassingCheck
from .roles import Roles, slave_and_master
from .surface_names import checked, facet_skins, named_skins
from .swept.certificate import Certificate
from .swept.events import Event
from .swept.swept_features import Features, SweptFeatures
from .tables import FACING, NEARLY
from .tied_surfaces import tied_entries

#: 1 minus the cosine of the angle between normals up to which a surface is flat.
_FLAT = 1e-12


class SurfaceContact(Contact):
    """Contact of surfaces of a body's parts, with each other and with themselves, or a tie between them.

    Without names all outer facets of all parts are in contact, each part with itself too; with one name, or
    ``self_contact=True``, the facets of these names. Two names or more alone are a contact of each surface
    with every other one.

    The parts find each other at any place. Points are the nodes of the slave side of each pair of surfaces,
    which the contact chooses (less mass per area), one for each smooth side between edges sharper than 45
    degrees and, where the other surface has sharp concave edges, for each of the walls that meet there. Where
    a surface is in contact with itself all its nodes have points, and roles are those of each pair of facets:
    see :class:`.Roles`. They have the weighted gap and contact operator of dual mortar rows, integrated over
    segments with a common normal for each pair of facets::

        g_i   = (1/A_i) int psi_i n.(x_s - x_m) dA,     L_i v = (1/A_i) int psi_i n.(v_s - v_m) dA
        W_i v = (1/A_i) int psi_i (v_s - v_m) dA        (friction acts on its tangential part)

    ``psi`` is the dual basis of the covered part of a facet, Cichosz and Bischoff, Comput. Methods Appl.
    Mech. Eng. 200 (2011), doi:10.1016/j.cma.2010.11.004. With a lumped mass the part of the slave in the
    Delassus operator is then diagonal. Against a flat surface ``g_i`` is the distance of the node. Every row
    sums to zero and n is parallel to ``x_s - x_m``: both momenta are kept without friction; friction across
    a gap leaves a torque of gap times tangential impulse. Corners that no facet faces, and corners that press
    into a coarse facet, have rows of their own: the distance of the node to the opposite facet.

    With ``tie=True`` the surfaces are glued: ``W v = 0`` in all directions, with the weights of the state at
    zero displacement, impulses of any sign, and one point for each node and direction. An initial misfit
    stays.

    Schemes with contact at velocity level take it, and those at both levels (``position=True``), for steps
    far above the critical one. Facets: those of P1 and Q1 elements, Q2 and Q3
    with GLL nodes, P2 simplices by linear parts.

    Args:
        body: The solid, with all parts on one mesh; see :func:`dolfinx_impact.mesh.join`.
        surfaces: Names of facets; without ``self_contact`` two or more have no common nodes. None for all
            outer facets.
        restitution: Newton's coefficient e of every point, 0 to 1. With friction or different e, e > 0 may
            create energy (the balance shows it).
        gap_tolerance: See :class:`.Contact`; default 1e-12 times the body's length.
        touching: See :class:`.Contact`.
        friction: Coulomb's coefficient mu, at least 0.
        drift_correction: See :class:`.Contact`.
        allow_penetration: Accept surfaces that overlap at zero displacement and at the start.
        tie: Whether the surfaces are glued.
        self_contact: Whether several surfaces are in contact with themselves too.
        skin: Offset s of the surfaces along their normals [m], at most a quarter of the smallest cell height;
            a mapping of names for different ones. The gap is ``n.(x_s - x_m) - s_s - s_m``: with more than
            the drift of smooth bodies (5 to 10 % of a cell) the surfaces themselves stay apart. Friction
            then has the lever of the skin. What is nearer at the start, and not glued, is refused there.
        swept: Whether the paths of edges and points are tested in every step, so that none of them pass
            through each other; by default for the forms without names and with one. For schemes that make
            explicit steps of central differences.

    Attributes:
        itself: Whether the surfaces are one that is in contact with itself.
        swept: As given.
        facets: Facets of the surfaces and those around them that this rank holds.
        assembly: Gaps and rows of all pairs of surfaces, and the search for facets that face each other.

    Raises:
        Tunnelled: (in a run) parts pass through each other within one step.
        ValueError: No solid of two or three dimensions, unknown names, surfaces without outer facets or with
            common nodes, that overlap (the message names the deepest point) or face away from each other; all
            nodes constrained; a tie with restitution, friction, a skin or ``touching=False``, of less than
            two surfaces, or one without facets that face each other; a skin that is too thick.
    """

    velocity_level_only = True
    #: The features whose paths are tested.
    paths: SweptFeatures | None = None

    def __init__(
        self,
        body: Continuum,
        *surfaces: str,
        friction: float = 0.0,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        drift_correction: float | bool = False,
        allow_penetration: bool = False,
        tie: bool = False,
        self_contact: bool = False,
        skin: float | Mapping[str, float] = 0.0,
        swept: bool | None = None,
    ) -> None:
        arguments.flag("tie", tie)
        arguments.flag("self_contact", self_contact)
        if swept is not None:
            arguments.flag("swept", swept)
        if tie and (friction or restitution or drift_correction or not touching or skin or swept):
            raise ValueError(
                "a tie has neither friction nor restitution nor gaps: leave the other options out"
            )
        names = checked(body, surfaces, tie=tie, self_contact=self_contact)
        self.body, self.surfaces, self.tie = body, names, bool(tie)
        self.itself = bool(self_contact) or len(names) < 2
        self.swept = len(names) < 2 if swept is None else bool(swept)
        self.constant = self.tie
        self.skin = skin
        flat = self._make_assembly(allow_penetration)
        self._passing, self._evaluated_at = PassingCheck(self.assembly, names), 0.0
        self._beside: list[Assembly] = []  # the ties that it respects
        gdim = body.gdim
        order = self.assembly.order()
        if tie:
            order = np.column_stack([np.repeat(order, gdim, axis=0), np.tile(np.arange(gdim), len(order))])
        super().__init__(
            body,
            NodeRows(order, gdim, shared=body.comm.size > 1),
            restitution=restitution,
            gap_tolerance=gap_tolerance,
            touching=touching,
            friction=friction,
            drift_correction=drift_correction,
            allow_penetration=allow_penetration,
        )
        self.assembly.tolerance, self._tie_mask = self.gap_tolerance, np.full(self.count, self.tie)
        self.assembly.update(np.zeros(body.size))
        if self.swept:
            self.paths = SweptFeatures(self.assembly, names, itself=self.itself)
        if tie:
            self._tie()
        elif not allow_penetration:
            # What is nearer than the skin may be glued by a tie of the same list: it is known at the start.
            refuse_overlap(self, np.zeros(body.size), nearness=not skin)
        if self.drift_correction > 0 and flat:
            self._tell_no_drift()

    def _make_assembly(self, allow_penetration: bool) -> bool:
        """Collect the facets, choose roles, and set the points; whether all surfaces are flat. Collective."""
        body, names, itself = self.body, self.surfaces, self.itself
        skins, named = named_skins(body, self.skin, names)
        facets = collect(body, facet_shape(body.space), named, one=itself, every=not names)
        offsets = facet_skins(facets, skins)
        pairs = [(0, 0)] if itself else list(itertools.combinations(range(len(names)), 2))
        if not (allow_penetration or self.tie or itself):
            for first, second in pairs:
                refuse_facing_away(facets, first, second, names)
        sides = pairs if itself else [slave_and_master(facets, first, second) for first, second in pairs]
        corners = not (self.tie or itself or self.swept)
        self.assembly = Assembly(
            body,
            with_sides(facets, sides, divided=not self.tie, angle=CORNER if corners else None),
            sides,
            divided=not self.tie,
            corners=corners,
            roles=Roles(facets, body.length) if itself else None,
            skin=offsets,
            whole=self.swept or offsets is not None,
            facing=NEARLY if self.swept else FACING,
            shallow=self.swept and not allow_penetration,
        )
        return _flat(facets, 1 if itself else len(names))

    def _tie(self) -> None:
        """Set the rows of the tie, which never change. Collective."""
        covered = np.isfinite(self.assembly.gap)
        if not self.comm.allreduce(bool(covered.any())):
            raise ValueError("nothing to tie: no facets of these surfaces face each other closely")
        self.L.set_nodes(self.assembly.halo, self.assembly.ranks.route)
        self.L.set(*tied_entries(self.assembly))
        self._tied = np.repeat(covered, self.body.gdim)

    L: NodeRows
    _NODES = SurfaceNodes

    @property
    def facets(self) -> HeldFacets:
        """See above."""
        return self.assembly.facets

    @property
    def bilateral(self) -> BoolArray:
        """See :attr:`.Contact.bilateral`."""
        return self._tie_mask

    @property
    def small_parts(self) -> bool:
        """See :attr:`.Contact.small_parts`; in the state of the last evaluation."""
        return self.assembly.small_parts

    def warn_of_long_steps(self, u: FloatArray, v: FloatArray, dt: float, t: float = 0.0) -> None:
        """Warn where two surfaces may pass through each other in a step of ``dt``. Collective."""
        path, deepest = self.assembly.longest_path(v, dt)
        if not (self.tie or self.swept) and path > 0.5 * deepest and self.comm.rank == 0:
            warnings.warn(
                f"surfaces move by up to {path:.3g} m towards each other in a step, more than half of the "
                f"{deepest:.3g} m in which their overlap is seen: they may pass through each other; take a "
                "smaller time step",
                stacklevel=4,
            )

    # -- gaps and rows

    def respect(self, members: Sequence[Contact]) -> None:
        """See :meth:`.Contact.respect`: facets that a tie glues to each other are in no other contact."""
        ties = [each.assembly for each in members if isinstance(each, SurfaceContact) and each.tie]
        if not self.tie and ties != self._beside:
            self._beside = ties
            self.assembly.leave_out(ties)
            if self.paths is not None:
                self.paths.search_anew()

    def press(self, which: BoolArray) -> None:
        """See :meth:`.Contact.press`: beside points that press, corners may sink into a coarse facet."""
        if not self.tie:
            self.assembly.press(which)

    def gap(self, u: FloatArray, t: float = 0.0) -> FloatArray:
        """Gaps at ``u``, shape (p,) [m]; infinite where nothing is opposite, 0 for ties. Collective."""
        if self.tie:
            return np.zeros(self.count)
        self.assembly.update(u)
        return self.assembly.gap.copy()

    def _evaluate(self, u: FloatArray, v: FloatArray | None, t: float) -> FloatArray:
        """See :meth:`.Contact.at`: gaps; rows of L for all points with a finite one. Collective."""
        gap = self.gap(u, t)
        if not self.tie:
            self._evaluated_at = t
            self._refuse_passing(u)
            self._set_rows(np.isfinite)
        return gap

    def _active_set(self, u: FloatArray, v: FloatArray | None, t: float) -> BoolArray:
        """See :meth:`.Contact.at`: closed points; other rows are empty. Collective."""
        if self.tie:
            return self._tied.copy()
        self._evaluated_at = t
        self.assembly.update(u, every=False, renew=True)
        closed = self.closed(self.assembly.gap)
        self._refuse_passing(u)
        self._set_rows(self.closed)
        return closed

    # -- features

    def certificate(self) -> Certificate:
        """What may be said of the steps since the start: whether anything passed through anything."""
        return self.paths.certificate() if self.paths is not None else Certificate()

    def features(self) -> Features | None:
        """Rows of the last step that are no nodes' own; None where paths are not tested."""
        return None if self.paths is None else self.paths.last

    def events(self) -> list[Event]:
        """First and last contacts of parts, and other events; empty where paths are not tested."""
        return [] if self.paths is None else self.paths.events.all()

    def _refuse_passing(self, u: FloatArray) -> None:
        """Refuse nodes that have passed a surface, where paths are not tested. Collective."""
        if not self.swept:
            self._passing.refuse(u)

    def _set_rows(self, which: Callable[[FloatArray], BoolArray]) -> None:
        self.L.set_nodes(self.assembly.halo, self.assembly.ranks.route)
        self.L.set(*self.assembly.entries(which))

    def places(self, u: FloatArray) -> FloatArray:
        """Current positions of the points at ``u``, shape (p, gdim) [m]."""
        x = self.facets.x[self.assembly.nodes]
        x = np.repeat(x, self.body.gdim, axis=0) if self.tie else x
        places: FloatArray = x + u[self.nodes.dofs()]
        return places

    def local_bases(self) -> FloatArray:
        """Local bases at the last evaluation, shape (p, gdim, gdim): the normal first."""
        normals = self.L.normals()
        return np.concatenate([normals[:, None, :], coulomb.tangents(normals)], axis=1)

    def surface_velocity(self, t: float) -> FloatArray:
        """Zero, shape (p, gdim): L and W hold the velocity relative to the opposite surface."""
        return np.zeros((self.count, self.body.gdim))

    def compiled(self, surface: Surface | None = None, x: FloatArray | None = None) -> CompiledContact:
        """None: see :meth:`.Contact.compiled`."""
        raise kernels.NotCompiled("contact of surfaces makes its steps one by one")

    # -- history: the state that the next step depends on

    def start(self, u: FloatArray, t: float) -> None:
        """See :meth:`.Contact.start`."""
        super().start(u, t)
        if not self.tie:
            self._evaluated_at, self._started_at = t, u
            self.assembly.take(self.assembly.ranks.leave())
            self._start_rows(renew=True)
            self._passing.accept_step(t)

    def _start_rows(self, *, renew: bool) -> None:
        self.assembly.update(self._started_at, renew=renew)
        self._set_rows(self.closed)

    def accept(self, state: ContactState | None) -> None:
        """See :meth:`.Contact.accept`."""
        super().accept(state)
        if not self.tie:
            self.assembly.ranks.count_step()
            self._passing.accept_step(self._evaluated_at)

    def refuse_penetration(self, u: FloatArray, t: float) -> None:
        """See :meth:`.Contact.refuse_penetration`; also where surfaces overlap deeply. Collective."""
        if not self.tie:
            refuse_overlap(self, u)
        if self.swept:
            refuse_intersections(self, u)

    def unseen_overlap(self, u: FloatArray) -> str:
        """See :meth:`.Contact.unseen_overlap`. Collective."""
        return "" if self.tie else unseen_overlap(self, u)

    def past(self) -> dict[str, AnyArray]:
        """See :meth:`.Contact.past`; L of the last step follows from the displacements."""
        past: dict[str, AnyArray] = {RANKS: self.assembly.ranks.past()} if self.assembly.ranks.route else {}
        return {**past, "closed": self.closed_before.astype(np.float64)} if self.remembers else past

    def resume(self, past: Mapping[str, AnyArray]) -> None:
        """See :meth:`.Contact.resume`."""
        if "closed" in past:
            self.closed_before[:] = past["closed"] > 0.5
        if RANKS in past and self.assembly.ranks.resume(past[RANKS]):
            self.assembly.take(True)
            self._start_rows(renew=False)


def _flat(facets: Facets, count: int) -> bool:
    """Whether each surface is flat at zero displacement; of all facets, since a rank may hold none."""
    normals, _ = facets.normals(facets.x)
    each = [normals[facets.of(k)] for k in range(count)]
    return all(bool((n @ n[0] > 1.0 - _FLAT).all()) for n in each)

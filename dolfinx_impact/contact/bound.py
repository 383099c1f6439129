"""Bounds on single dofs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import arguments, parallel
from .._types import FloatArray, IntArray
from ..algebra.contact_operator import ascending
from ..algebra.operators import SparseRows, coordinate_order
from ..systems.body import Body
from ..systems.system import System
from .base import Contact
from .compiled import CompiledContact, Surface


class DofBound(Contact):
    """Bound on one dof, or on each of several: ``u >= lower`` or ``u <= upper``.

    Args:
        system: The system.
        dof: Number of the dof, or of several, each a contact point; points of a body are sorted by their
            places, others by their numbers. On a distributed system a list of local numbers, empty on ranks
            that own none of them.
        lower: Smallest value allowed; or
        upper: largest value allowed (give one of the two).
        restitution: Newton's coefficient e, 0 to 1.
        gap_tolerance: See :class:`.Contact`; default 1e-12 times the system's length.
        touching: See :class:`.Contact`.
        drift_correction: See :class:`.Contact`; without effect, since L never changes.
        allow_penetration: See :class:`.Contact`.

    Raises:
        ValueError: Not exactly one bound, or a dof that does not exist.
    """

    L: SparseRows

    def __init__(
        self,
        system: System,
        dof: int | Sequence[int],
        *,
        lower: float | None = None,
        upper: float | None = None,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        drift_correction: float | bool = False,
        allow_penetration: bool = False,
    ) -> None:
        arguments.system(system)
        if (lower is None) == (upper is None):
            raise ValueError("give either lower= or upper=")
        dofs, error = arguments.local_dofs("dof", dof, system)
        dofs = dofs.reshape(-1, 1)
        if error is None and np.unique(dofs).size < dofs.size:
            error = ValueError(f"dof names a dof twice, {arguments.shown(dof)}: once is enough")
        if error is not None:
            pass
        elif system.comm.size > 1 and np.ndim(dof) == 0:
            error = ValueError("several ranks share the system: give a list of the dofs of this rank")
        elif np.any(system.constrained[dofs]):
            error = ValueError("a bound acts on dofs that are constrained: free them or leave them out")
        parallel.agree(system.comm, error)
        name, sign, value = ("lower", 1.0, lower) if lower is not None else ("upper", -1.0, upper)
        self.value = arguments.number(name, value)
        keys = _keys(system, dofs)
        dofs, keys = dofs[ascending(keys)], keys[ascending(keys)]
        rows = SparseRows(dofs, np.full(dofs.shape, sign), keys)
        super().__init__(
            system,
            rows,
            restitution=restitution,
            gap_tolerance=gap_tolerance,
            touching=touching,
            drift_correction=drift_correction,
            allow_penetration=allow_penetration,
        )

    def gap(self, u: FloatArray, t: float = 0.0) -> FloatArray:
        """``u - lower`` or ``upper - u``, shape (p,)."""
        return self.L.weights[:, 0] * (u[self.L.dofs[:, 0]] - self.value)

    def places(self, u: FloatArray) -> FloatArray | None:
        """Current positions of the nodes of a body at ``u``, shape (p, gdim) [m]; None for other systems."""
        body = self.system
        if not isinstance(body, Body):
            return None
        nodes = self.L.dofs[:, 0] // body.block
        places: FloatArray = (
            body.x[nodes, : body.gdim] + u[nodes[:, None] * body.block + np.arange(body.gdim)]
        )
        return places

    def compiled(self, surface: Surface | None = None, x: FloatArray | None = None) -> CompiledContact:
        """See :meth:`.Contact.compiled`."""
        return super().compiled(surface, x)


def _keys(system: System, dofs: IntArray) -> FloatArray:
    """Sorting keys of dofs, shape (p, m): places and directions in a body, global numbers elsewhere."""
    if not isinstance(system, Body):
        return system.global_dofs()[dofs].astype(np.float64)
    nodes, direction = np.divmod(dofs[:, 0], system.block)
    return np.column_stack([coordinate_order(system.x[nodes], system.length), direction])

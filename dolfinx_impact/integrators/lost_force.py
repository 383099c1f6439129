"""The force that a lasting penetration hides, beside the contact force itself.

At velocity level a point that has arrived stays as deep as the step in which it came has brought it. An
impact does not mind. Where bodies press on each other for long, as in a press fit, that depth is missing
in the deformation, and with it force, energy and friction.

**Stiffness of a point.** ``k_i |g_i|`` is the force that would push the point out if all other nodes stayed
where they are. The nodes j of its row of L, ``g_i = sum_j L_ij u_j + ...``, act like springs in a row: under
a force f along the row each dof yields by ``L_ij f / K_jj``, so that::

    k_i = 1 / sum_j L_ij^2 / K_jj,      K_jj the diagonal of the stiffness at rest, a held dof yields 0

For a point against an obstacle, with the normal along an axis, this is ``n.K_ii n``. Nodes of a uniform bar
of cells of length l have ``K_jj = 2 E A / l`` and ``m_j = rho A l`` (half of both at its ends), and the
critical step is ``h_crit = l / c``: then ``k_i = 2 / (H_i h_crit^2)`` exactly, ``H_i = L_i M^-1 L_i^T``,
which says the same by the step. In place of the step of the whole body, which its stiffest part sets, K_jj
knows that of the cells at the node: a soft part on a stiff one hides little at the steps of both.

**Ratio.** Over 20 steps in a row in which a point has an impulse::

    ratio_i = k_i mean |g_i| / mean (r_i / h),   g_i < 0

renewed every 5 steps, and 0 for points that do not last. ``lost_force`` of a history is the largest one of
all points.

**Warning.** An impact at the critical step reaches ratios of about 1 in its first cells: the body arrives one
step late and is as deep, which changes nothing else. So a run warns of points with a ratio above 0.5 only
where what they hide, ``sum_i k_i mean |g_i|^2 / 2``, is also visible beside the stored energy: 2 % of the
largest one with plastic work, 14 % in force. Without energies the ratio alone decides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI

from .. import parallel
from .._types import BoolArray, FloatArray
from ..algebra import kernels
from ..systems.forces.nodal_stiffness import diagonal_stiffness
from .step_buffer import Steps

#: Steps in a row over which a contact lasts, in so many parts.
LONG, _PARTS = 20, 4
#: Ratio from which on a point hides much, and part of the stored energy from which on there is a warning.
MUCH, _VISIBLE = 0.5, 0.02
#: What a user does about it.
WAY_OUT = "take MoreauJean or GeneralizedAlpha with position=True, or smaller steps"
#: Columns of a point: steps in a row with an impulse; sums of forces and of depths in the last parts of them;
#: the ratio; its stiffness; the largest ratio, its time; where it was large, the largest depth and energy.
_STEPS, _FORCE, _DEPTH, _RATIO = 0, 1, 1 + _PARTS, 1 + 2 * _PARTS
_STIFFNESS, _WORST, _TIME, _DEEP, _ENERGY = range(_RATIO + 1, _RATIO + 6)
_PART = LONG // _PARTS
#: Compliance of a dof without stiffness, and that from which on a point has none [m/N].
_FREE, _SOFT = 1e200, 1e100


class Hidden(NamedTuple):
    """The largest ratio of a run.

    Attributes:
        ratio: Force that a penetration hides over the contact force.
        point: Label of the point.
        t: Time at the end of the 20 steps [s].
    """

    ratio: float = 0.0
    point: str = ""
    t: float = 0.0


class LostForce:
    """Follows the steps of a run and writes their column ``lost_force``. Collective.

    Schemes with contact at another level, systems that do not know their stiffness, ties and runs of less
    than 20 steps have zeros.

    Args:
        integrator: The integrator, started or resumed.
        steps: Number of steps of the run.
    """

    def __init__(self, integrator: Any, steps: int) -> None:
        self._s, contact = integrator, integrator.contact
        self._points, self._done = np.zeros((integrator.r.size, _ENERGY + 1)), 0
        self._watched: BoolArray = np.zeros(0, dtype=bool)
        self._compliance: FloatArray | None = None
        self._follows = False
        if contact is not None and integrator.contact_level == "velocity":
            self._watched = ~contact.bilateral
            self._follows = parallel.anywhere(contact.comm, bool(self._watched.any()))
        if self._follows and steps * integrator.substeps >= LONG:
            self._compliance = _compliance(contact)
        self._varies = self._compliance is not None and not contact.constant
        #: Steps between two looks at rows that vary.
        self._every = max(1, LONG // integrator.substeps)
        self._look()

    def follow(self, part: Steps, before: int) -> None:
        """After a step: look at rows that vary, now and then. Collective.

        Args:
            part: The buffer.
            before: Number of steps in it before this one.
        """
        if self._varies and self._s.n % self._every == 0:
            self._fill(part, before)
            self._look()

    def steps_to_look(self, most: int) -> int:
        """Steps from the present one to the next look at rows, at most ``most``."""
        return min(most, self._every - self._s.n % self._every) if self._varies else most

    def finish(self, part: Steps) -> None:
        """Write the column of the steps of the buffer, for all ranks. Collective."""
        if not self._follows:
            return
        self._fill(part, part.count)
        self._done, column = 0, np.ascontiguousarray(part.lost_force[: part.count])
        self._s.system.comm.Allreduce(MPI.IN_PLACE, column, op=MPI.MAX)
        part.lost_force[: part.count] = column

    def _fill(self, part: Steps, end: int) -> None:
        """Write the column of the first ``end`` steps that came since the last call, for this rank alone."""
        new, self._done = slice(self._done, end), end
        r, gap, t, each = part.r[new], part.gap[new], part.t[new], 1
        if "gap" in part.fine:
            each = self._s.substeps
            r, gap = (part.fine[name][new].reshape(t.size * each, r.shape[1]) for name in ("r", "gap"))
        ratios = np.zeros(t.size * each)
        count = kernels.jit(_count) if kernels.load().COMPILED else _count_rows
        count(r, gap, np.repeat(t, each), self._s.dt / each, self._watched, self._points, ratios)
        part.lost_force[new] = ratios.reshape(t.size, each).max(axis=1)

    def _look(self) -> None:
        """Take the stiffnesses of the points from their rows, where these are known now. Collective."""
        if self._compliance is not None:
            yields = self._s.contact.L.diagonal(self._compliance)
            known = yields > 0.0
            soft = yields[known] > _SOFT
            self._points[known, _STIFFNESS] = np.where(soft, 0.0, 1.0 / yields[known])

    def state(self) -> FloatArray:
        """What a checkpoint holds of each point, shape (p, k)."""
        return self._points

    def resume(self, state: FloatArray) -> None:
        """Restore a :meth:`state`; a run that was too short to look at stiffnesses has none."""
        own = self._points[:, _STIFFNESS].copy()
        self._points[:] = state
        unknown = state[:, _STIFFNESS] == 0.0
        self._points[unknown, _STIFFNESS] = own[unknown]

    def worst(self, stored: float) -> tuple[Hidden, list[str]]:
        """The largest ratio of the run, and texts of warnings. Collective.

        Args:
            stored: The largest stored energy with plastic work [J]; 0 where it is not known.
        """
        contact = self._s.contact
        if self._compliance is None:
            return Hidden(), []
        every = parallel.gather_rows(contact.comm, self._points)[contact.L.sorting(contact.comm)]
        most = int(np.argmax(every[:, _WORST]))
        label = contact.L.sorted_labels(contact.comm)[most]
        hidden = Hidden(float(every[most, _WORST]), label, float(every[most, _TIME]))
        many = every[every[:, _WORST] > MUCH]
        if not many[:, _ENERGY].sum() > _VISIBLE * stored:
            return hidden, []
        stay, whose = ("point stays", "its") if len(many) == 1 else ("points stay", "their")
        return hidden, [
            f"{len(many)} {stay} up to {many[:, _DEEP].max():.3g} m inside for {LONG} steps and more, which "
            f"hides about {hidden.ratio:.2g} times {whose} contact force: {WAY_OUT}"
        ]


def _compliance(contact: Any) -> FloatArray | None:
    """``1 / K_jj`` of the dofs on which a contact acts, 0 at held ones, shape (owned,) [m/N]. Collective."""
    L, system = contact.L, contact.system
    at = L.support if hasattr(L, "dofs") else np.unique(contact.nodes.loaded.dofs)
    stiffness = diagonal_stiffness(system, at)
    if stiffness is None:
        return None
    held, stiff = np.asarray(system.constrained), stiffness > 0.0
    compliance = np.zeros(system.owned)
    compliance[at] = _FREE
    compliance[stiff] = 1.0 / stiffness[stiff]
    compliance[held] = 0.0
    return compliance


def _count(
    r: FloatArray,
    gap: FloatArray,
    t: FloatArray,
    h: float,
    watched: BoolArray,
    points: FloatArray,
    ratios: FloatArray,
) -> None:
    """Follow consecutive steps, and write the largest ratio after each, shape (n,).

    Args:
        r, gap, t: Impulses, gaps and times, shapes (n, p), (n, p) and (n,) [N s, m, s].
        h: Time step [s].
        watched: Mask of the points that count, shape (p,).
        points: Columns of the points, shape (p, k); updated.
        ratios: Updated.
    """
    for i in range(r.shape[0]):
        for j in range(r.shape[1]):
            if not (watched[j] and r[i, j] > 0.0):
                if points[j, _STEPS] > 0.0:
                    for k in range(_STIFFNESS):
                        points[j, k] = 0.0
                continue
            made = int(points[j, _STEPS])
            part = made // _PART % _PARTS
            if made % _PART == 0:
                points[j, _FORCE + part], points[j, _DEPTH + part] = 0.0, 0.0
            points[j, _STEPS] += 1.0
            points[j, _FORCE + part] += r[i, j] / h
            points[j, _DEPTH + part] += max(-gap[i, j], 0.0)
            if made + 1 >= LONG and (made + 1) % _PART == 0:
                force, depth = 0.0, 0.0
                for k in range(_PARTS):
                    force, depth = force + points[j, _FORCE + k], depth + points[j, _DEPTH + k]
                ratio = points[j, _STIFFNESS] * depth / force
                points[j, _RATIO] = ratio
                if ratio > points[j, _WORST]:
                    points[j, _WORST], points[j, _TIME] = ratio, t[i]
                if ratio > MUCH:
                    points[j, _DEEP] = max(points[j, _DEEP], depth / LONG)
                    points[j, _ENERGY] = 0.5 * points[j, _STIFFNESS] * points[j, _DEEP] ** 2
            ratios[i] = max(ratios[i], points[j, _RATIO])


def _count_rows(
    r: FloatArray,
    gap: FloatArray,
    t: FloatArray,
    h: float,
    watched: BoolArray,
    points: FloatArray,
    ratios: FloatArray,
) -> None:
    """:func:`_count` in NumPy, with the same results."""
    for i, acting in enumerate(watched & (r > 0.0)):
        points[~acting, :_STIFFNESS] = 0.0
        if not acting.any():
            continue
        one, rows = points[acting], np.arange(int(acting.sum()))
        made = one[:, _STEPS].astype(np.intp)
        part, new = made // _PART % _PARTS, made % _PART == 0
        one[rows[new], _FORCE + part[new]], one[rows[new], _DEPTH + part[new]] = 0.0, 0.0
        one[:, _STEPS] += 1.0
        one[rows, _FORCE + part] += r[i, acting] / h
        one[rows, _DEPTH + part] += np.maximum(-gap[i, acting], 0.0)
        last = (made + 1 >= LONG) & ((made + 1) % _PART == 0)
        depth, force = one[:, _DEPTH:_RATIO].sum(axis=1), one[:, _FORCE:_DEPTH].sum(axis=1)
        one[last, _RATIO] = one[last, _STIFFNESS] * depth[last] / force[last]
        worse = last & (one[:, _RATIO] > one[:, _WORST])
        one[worse, _WORST], one[worse, _TIME] = one[worse, _RATIO], t[i]
        much = last & (one[:, _RATIO] > MUCH)
        one[much, _DEEP] = np.maximum(one[much, _DEEP], depth[much] / LONG)
        one[much, _ENERGY] = 0.5 * one[much, _STIFFNESS] * one[much, _DEEP] ** 2
        points[acting], ratios[i] = one, one[:, _RATIO].max()

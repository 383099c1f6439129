"""Projected Richardson iteration with Barzilai-Borwein steps for contact problems with friction.

``x = P(x - w (S x + c))`` with the Delassus operator S of unit diagonal. P projects on the admissible
impulses: ``x_N >= 0`` and the Coulomb disc of radius ``mu x_N``; nothing for points of a tie. The step w is
that of Barzilai and Borwein, IMA J. Numer. Anal. 8 (1988), doi:10.1093/imanum/8.1.141. What has not converged
then, as friction at nodes between several walls, where S is singular, is mixed from the last iterates with a
fixed w: Anderson, J. ACM 12 (1965), doi:10.1145/321296.321305. Few points that are still left, as tilted ones
with a direction held, where S is singular in a block, are solved by :mod:`.ties`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from .. import parallel
from .._types import BoolArray, FloatArray
from . import kernels, ties
from .complementarity import NotConverged

#: Residual that is sought, and the largest one that is accepted where round-off ends the progress before.
_SOUGHT, _ACCEPTED = 1e-14, 1e-12
#: And that of a dense solution, which is exact in another scale of the tangents.
_ENOUGH = 1e-10
_MOST, _PATIENCE = 3000, 12
#: Iterations with free choice of the step; afterwards it is the smallest one seen, and iterates are mixed.
_FREE = 150
#: Iteration at which a problem of at most so many unknowns is solved as a dense one instead.
_LATE, _FEW = 300, 300
#: Changes of iterates that are mixed, and the least singular value of their products, relative.
_MEMORY, _INDEPENDENT = 15, 1e-12
#: Mixed iterates without a smaller residual after which mixing begins anew, with another part of the step.
_PATIENT, _PARTS = 20, (1.0, 0.5, 0.25, 0.7, 0.35)
#: Relative residual down to which changes of iterates tell of the spectrum; below it round-off does.
_TELLING = 1e-8


@dataclass
class AdmissibleImpulses:
    """Admissible scaled impulses of the points of this rank.

    Attributes:
        active: Mask of the active points, shape (p,).
        bilateral: Mask of the points whose impulses have any sign, shape (p,).
        friction: Coulomb's coefficients, shape (p,).
    """

    active: BoolArray
    bilateral: BoolArray
    friction: FloatArray

    def project(self, x: FloatArray) -> FloatArray:
        """Projection of impulses, shape (p, d), in place: normal component, then the disc."""
        kernels.jit(project)(x, self.active, self.bilateral, self.friction)
        return x

    def limits(self) -> FloatArray:
        """Limits of each point for :meth:`solved`, shape (p, k)."""
        return np.column_stack([self.friction, self.bilateral.astype(np.float64)])

    @staticmethod
    def solved(S: FloatArray, c: FloatArray, limits: FloatArray, start: FloatArray) -> FloatArray:
        """Impulses by a dense S, shape (p, d), for c, limits and a start of all points in one order."""
        mu, tied = limits[:, 0], limits[:, 1] > 0
        return ties.coulomb_solve(S, c.ravel(), mu, c.shape[1], tied, start.ravel()).reshape(c.shape)


def project(x: FloatArray, active: BoolArray, bilateral: BoolArray, friction: FloatArray) -> None:
    """See :meth:`AdmissibleImpulses.project`."""
    for i in range(x.shape[0]):
        if not active[i]:
            x[i] = 0.0
            continue
        if not bilateral[i]:
            x[i, 0] = max(x[i, 0], 0.0)
        size = 0.0
        for k in range(1, x.shape[1]):
            size += x[i, k] * x[i, k]
        size, radius = math.sqrt(size), friction[i] * x[i, 0]
        if size > radius:
            for k in range(1, x.shape[1]):
                x[i, k] *= radius / size


class Mixing:
    """Anderson's mixing of the last iterates of a fixed-point iteration. Collective.

    Args:
        comm: Communicator of the ranks that share the iterates.
    """

    def __init__(self, comm: MPI.Comm) -> None:
        self._comm = comm
        self._iterates: deque[FloatArray] = deque(maxlen=_MEMORY + 1)
        self._changes: deque[FloatArray] = deque(maxlen=_MEMORY + 1)

    def next(self, x: FloatArray, image: FloatArray) -> FloatArray:
        """The next iterate from the last one and its image."""
        f = image - x
        self._iterates.append(x)
        self._changes.append(f)
        if len(self._changes) == 1:
            return image
        dx = np.diff(np.array(self._iterates), axis=0).reshape(len(self._iterates) - 1, -1)
        df = np.diff(np.array(self._changes), axis=0).reshape(len(dx), -1)
        products = np.column_stack([df @ df.T, df @ f.ravel()])
        if self._comm.size > 1:
            self._comm.Allreduce(MPI.IN_PLACE, products, op=MPI.SUM)
        weights = parallel.on_root(self._comm, lambda: _weights(products))
        if weights is None:
            return image
        mixed: FloatArray = image - (weights @ (dx + df)).reshape(x.shape)
        return mixed


def _weights(products: FloatArray) -> FloatArray | None:
    """Weights of the changes, from their products, shape (m, m + 1); None where these do not tell them."""
    with np.errstate(all="ignore"):
        scale = 1.0 / np.sqrt(np.maximum(products.diagonal(), np.finfo(float).tiny))
        scaled = products * scale[:, None]
        scaled[:, :-1] *= scale
    if not np.all(np.isfinite(scaled)):
        return None
    try:
        weights: FloatArray = scale * np.linalg.lstsq(scaled[:, :-1], scaled[:, -1], rcond=_INDEPENDENT)[0]
    except np.linalg.LinAlgError:  # the decomposition may fail for data of round-off
        return None
    return weights


@dataclass
class QuotientRange:
    """Extent of the Rayleigh quotients of S met by an iteration: a part of its spectrum.

    Attributes:
        least, largest: Least and largest quotient.
    """

    least: float = math.inf
    largest: float = 0.0

    def add(self, quotient: float) -> None:
        """Count a quotient."""
        self.least, self.largest = min(self.least, quotient), max(self.largest, quotient)

    @property
    def condition(self) -> float:
        """Lower bound of the condition number of S in the directions of the problem, 1 without quotients."""
        return self.largest / self.least if self.largest > 0.0 else 1.0


def solve(
    product: Callable[[FloatArray], FloatArray],
    c: FloatArray,
    cone: AdmissibleImpulses,
    start: FloatArray,
    comm: MPI.Comm,
    quotients: QuotientRange | None = None,
) -> tuple[FloatArray, int]:
    """Solve the problem on all ranks. Collective.

    Args:
        product: Function ``x -> S x`` of the components of the points, shape (p, d); collective.
        c: Scaled free velocities, shape (p, d).
        cone: Admissible impulses.
        start: First iterate, shape (p, d).
        comm: Communicator.
        quotients: Where Rayleigh quotients are counted.

    Returns:
        Impulses with a natural residual ``|x - P(x - (S x + c))|`` of at most 1e-12 of the largest c, 1e-14
        where round-off allows it and 1e-10 of a dense solution, and the number of products.

    Raises:
        NotConverged: When this is not reached.
    """
    scale = comm.allreduce(float(np.max(np.abs(c[cone.active]), initial=0.0)), op=MPI.MAX)
    if not np.isfinite(scale):
        raise NotConverged("the contact problem has values that are not finite: did the run explode?")
    x = cone.project(start.copy())
    if scale == 0.0:
        return np.zeros_like(x), 0
    best, least, since, w, smallest, mixing, step = x, np.inf, 0, 1.0, 1.0, Mixing(comm), 1.0
    x_old = g_old = np.zeros_like(x)
    for sweep in range(_MOST):
        g = product(x) + c
        g[~cone.active] = 0.0
        residual = _natural(x, g, cone)
        dx, dg = x - x_old, g - g_old
        sums = np.array([(dx * dx).sum(), (dx * dg).sum()])
        largest = np.array([residual])
        if comm.size > 1:
            comm.Allreduce(MPI.IN_PLACE, largest, op=MPI.MAX)
            comm.Allreduce(MPI.IN_PLACE, sums, op=MPI.SUM)
        worst = float(largest[0]) / scale
        if worst < least:
            best, least, since = x, worst, 0
        else:
            since += 1
        if least <= _SOUGHT or (least <= _ACCEPTED and since >= _PATIENCE):
            return best, sweep + 1
        if sweep == _LATE:
            together = _solve_dense(product, c, cone, best, comm)
            if together is not None:
                if _worst(together, product(together) + c, cone, comm) <= _ENOUGH * scale:
                    return together, sweep + 1
                x, mixing = together, Mixing(comm)
                continue
        if sweep > _FREE:
            if since and since % _PATIENT == 0:
                mixing = Mixing(comm)
                step = _PARTS[since // _PATIENT % len(_PARTS)]
            x = cone.project(mixing.next(x, cone.project(x - step * smallest * g)))
            continue
        if sweep > 0 and sums[1] > 0.0:
            w = min(max(float(sums[0] / sums[1]), 0.05), 20.0)
            smallest = min(smallest, w)
            if quotients is not None and worst > _TELLING:
                quotients.add(sums[1] / sums[0])
        x_old, g_old = x, g
        x = cone.project(x - w * g)
    if least <= _ACCEPTED:
        return best, _MOST
    raise NotConverged(
        f"the contact problem was not solved: after {_MOST} iterations its residual is {least:.3g}, above "
        f"{_ACCEPTED:g}. Do surfaces overlap deeply, or is friction large at corners?"
    )


def _natural(x: FloatArray, g: FloatArray, cone: AdmissibleImpulses) -> float:
    """Largest natural residual of this rank; g where nothing is projected, which x - g loses for huge x."""
    trial = x - g
    projected = cone.project(trial.copy())
    return float(np.abs(np.where(projected == trial, g, x - projected)).max(initial=0.0))


def _worst(x: FloatArray, g: FloatArray, cone: AdmissibleImpulses, comm: MPI.Comm) -> float:
    """Largest natural residual of all ranks. Collective."""
    g[~cone.active] = 0.0
    worst: float = comm.allreduce(_natural(x, g, cone), op=MPI.MAX)
    return worst


def _solve_dense(
    product: Callable[[FloatArray], FloatArray],
    c: FloatArray,
    cone: AdmissibleImpulses,
    start: FloatArray,
    comm: MPI.Comm,
) -> FloatArray | None:
    """Solution with S as a dense matrix; None for many unknowns, or without success. Collective."""
    d, active = c.shape[1], cone.active
    counts = np.array(comm.allgather(int(active.sum())))
    if counts.sum() * d > _FEW:
        return None
    first, mine = int(counts[: comm.rank].sum()), np.flatnonzero(active)
    columns = np.zeros((mine.size, d, int(counts.sum()) * d))
    for j in range(columns.shape[2]):
        x, point = np.zeros_like(c), j // d - first
        if 0 <= point < mine.size:
            x[mine[point], j % d] = 1.0
        columns[:, :, j] = product(x)[mine]
    S = parallel.gather_rows(comm, columns.reshape(-1, columns.shape[2]))
    of_all = parallel.gather_rows(comm, np.column_stack([c[mine], start[mine], cone.limits()[mine]]))

    def solution() -> FloatArray | None:
        try:
            return cone.solved(S, of_all[:, :d], of_all[:, 2 * d :], of_all[:, d : 2 * d])
        except (NotConverged, np.linalg.LinAlgError):
            return None

    found = parallel.on_root(comm, solution)
    if found is None:
        return None
    x = np.zeros_like(c)
    x[mine] = found[first : first + mine.size]
    return x

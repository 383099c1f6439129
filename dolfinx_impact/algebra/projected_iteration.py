"""Projected Richardson iteration with Barzilai-Borwein steps for contact problems with friction.

``x = P(x - w (S x + c))`` with the Delassus operator S of unit diagonal. P projects on the admissible
impulses: ``x_N >= 0`` and the Coulomb disc of radius ``mu x_N``; nothing for points of a tie. The step w is
that of Barzilai and Borwein, IMA J. Numer. Anal. 8 (1988), doi:10.1093/imanum/8.1.141. What has not converged
then, as friction in a heap whose bodies have more contacts than degrees of freedom, is accelerated by
momentum that begins anew where it points uphill: O'Donoghue and Candes, Found. Comput. Math. 15 (2015),
doi:10.1007/s10208-013-9150-3. What is left, as friction at nodes between several walls, is mixed from the
last iterates with a fixed w: Anderson, J. ACM 12 (1965), doi:10.1145/321296.321305. Few points that are
still left, as tilted ones with a direction held, where S is singular in a block, are solved by :mod:`.ties`.
"""

from __future__ import annotations

import math
import warnings
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
SOUGHT, ACCEPTED = 1e-14, 1e-12
#: And that of a dense solution, which is exact in another scale of the tangents.
_ENOUGH = 1e-10
_MOST, PATIENCE = 5000, 12
#: Iterations with free choice of the step; afterwards it is the smallest one seen, and iterates are mixed.
FREE = 150
#: Iteration up to which iterates are accelerated.
ACCELERATED = 2000
#: Residual that is accepted then with friction, where it stalls: a heap, whose bodies have more contacts than
#: degrees of freedom, may have no impulses that fulfil Coulomb's law to round-off.
OF_HEAPS, _STALLED = 1e-6, 300  # and iterations without a smaller one
#: Iteration at which a problem of at most so many unknowns is solved as a dense one instead.
_LATE, _FEW = 2100, 300
#: Changes of iterates that are mixed, and the least singular value of their products, relative.
_MEMORY, _INDEPENDENT = 15, 1e-12
#: Mixed iterates without a smaller residual after which mixing begins anew, with another part of the step.
_PATIENT, _PARTS = 20, (1.0, 0.5, 0.25, 0.7, 0.35)
#: Relative residual down to which changes of iterates tell of the spectrum; below it round-off does.
TELLING = 1e-8
#: Least and largest step.
SHORTEST, LONGEST = 0.05, 20.0


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


class Momentum:
    """Projected steps with Nesterov's momentum, which begins anew where it points uphill. Collective.

    Args:
        comm: Communicator of the ranks that share the iterates.
        step: First step w; shortened where the spectrum asks for it.
    """

    def __init__(self, comm: MPI.Comm, step: float) -> None:
        self._comm, self._step, self._weight = comm, step, 1.0
        self._end: FloatArray | None = None
        self._last: tuple[FloatArray, FloatArray] | None = None

    def next(self, x: FloatArray, g: FloatArray, cone: AdmissibleImpulses) -> FloatArray:
        """The next iterate from the last one and ``g = S x + c`` there."""
        if self._last is not None:
            dx, dg = x - self._last[0], g - self._last[1]
            squares, products = self._sums(dx * dx, dx * dg)
            if products * self._step > squares:
                self._step = 0.95 * squares / products
        self._last = x, g
        end = cone.project(x - self._step * g)
        if self._end is None:
            self._end = end
            return end
        (uphill,) = self._sums((x - end) * (end - self._end))
        before = 1.0 if uphill > 0.0 else self._weight
        self._weight = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * before**2))
        ahead = cone.project(end + (before - 1.0) / self._weight * (end - self._end))
        self._end = end
        return ahead

    def _sums(self, *values: FloatArray) -> list[float]:
        local = np.array([each.sum() for each in values])
        if self._comm.size > 1:
            self._comm.Allreduce(MPI.IN_PLACE, local, op=MPI.SUM)
        return [float(each) for each in local]


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


@dataclass
class Progress:
    """Where an iteration stands.

    Attributes:
        x: The next iterate, shape (p, d).
        best: The one with the least residual.
        scale: Largest scaled free velocity of all ranks, over which residuals are taken; positive.
        least: Residual of the best iterate.
        since: Iterates since then.
        smallest: Smallest step that was taken.
        sweeps: Products so far.
    """

    x: FloatArray
    best: FloatArray
    scale: float
    least: float = math.inf
    since: int = 0
    smallest: float = 1.0
    sweeps: int = 0

    def add(self, residual: float) -> bool:
        """Count the residual of ``x``; whether the best iterate is the solution."""
        if residual < self.least:
            self.best, self.least, self.since = self.x, residual, 0
        else:
            self.since += 1
        self.sweeps += 1
        return self.least <= SOUGHT or (self.least <= ACCEPTED and self.since >= PATIENCE)


def refuse_infinite(scale: float) -> None:
    """Raise a NotConverged for free velocities whose largest is not finite."""
    if not math.isfinite(scale):
        raise NotConverged("the contact problem has values that are not finite: did the run explode?")


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
        where round-off allows it, 1e-10 of a dense solution and 1e-6 of one with friction that
        momentum does not lessen any more, and the number of products.

    Raises:
        NotConverged: When this is not reached.
    """
    scale = comm.allreduce(float(np.max(np.abs(c[cone.active]), initial=0.0)), op=MPI.MAX)
    refuse_infinite(scale)
    x = cone.project(start.copy())
    if scale == 0.0:
        return np.zeros_like(x), 0
    return go_on(product, c, cone, comm, Progress(x, x, scale), quotients)


def go_on(
    product: Callable[[FloatArray], FloatArray],
    c: FloatArray,
    cone: AdmissibleImpulses,
    comm: MPI.Comm,
    at: Progress,
    quotients: QuotientRange | None = None,
) -> tuple[FloatArray, int]:
    """:func:`solve` from where an iteration stands, its first one or one after the free ones. Collective."""
    w, x_old, g_old, mixing, part = 1.0, np.zeros_like(at.x), np.zeros_like(at.x), Mixing(comm), 1.0
    momentum: Momentum | None = None
    enough = OF_HEAPS if parallel.anywhere(comm, cone.friction[cone.active].any()) else ACCEPTED
    for sweep in range(at.sweeps, _MOST):
        x = at.x
        g = product(x) + c
        g[~cone.active] = 0.0
        residual, squares, products = _measured(x, g, x - x_old, g - g_old, cone, comm)
        if at.add(residual / at.scale):
            return at.best, at.sweeps
        if sweep == _LATE:
            together = _solve_dense(product, c, cone, at.best, comm)
            if together is not None:
                if _worst(together, product(together) + c, cone, comm) <= _ENOUGH * at.scale:
                    return together, at.sweeps
                at.x, mixing = together, Mixing(comm)
                continue
        if FREE < sweep <= ACCELERATED:
            momentum = momentum or Momentum(comm, at.smallest)
            if at.least <= enough and (sweep == ACCELERATED or at.since >= _STALLED):
                return _nearly(at, comm), at.sweeps
            at.x = momentum.next(x, g, cone) if sweep < ACCELERATED else at.best
            continue
        if sweep > FREE:
            if at.since and at.since % _PATIENT == 0:
                mixing, part = Mixing(comm), _PARTS[at.since // _PATIENT % len(_PARTS)]
            at.x = cone.project(mixing.next(x, cone.project(x - part * at.smallest * g)))
            continue
        if sweep > 0 and products > 0.0:
            w = min(max(squares / products, SHORTEST), LONGEST)
            at.smallest = min(at.smallest, w)
            if quotients is not None and residual / at.scale > TELLING:
                quotients.add(products / squares)
        x_old, g_old = x, g
        at.x = cone.project(x - w * g)
    if at.least <= enough:
        return _nearly(at, comm), _MOST
    raise NotConverged(
        f"the contact problem was not solved: after {_MOST} iterations its residual is {at.least:.3g}, above "
        f"{enough:g}. Do surfaces overlap deeply, or is friction large at corners?"
    )


def _nearly(at: Progress, comm: MPI.Comm) -> FloatArray:
    """The best iterate; told once where it is no solution to round-off."""
    if at.least > ACCEPTED and comm.rank == 0:
        warnings.warn(
            f"contact with friction is solved to {OF_HEAPS:g} of the largest free velocity in some steps, as "
            "of bodies with more contacts than degrees of freedom: no better impulses are found",
            stacklevel=2,
        )
    return at.best


def _measured(
    x: FloatArray, g: FloatArray, dx: FloatArray, dg: FloatArray, cone: AdmissibleImpulses, comm: MPI.Comm
) -> tuple[float, float, float]:
    """Largest natural residual of all ranks, and the sums of dx.dx and dx.dg in their order. Collective."""
    local = np.array([[_natural(x, g, cone), (dx * dx).sum(), (dx * dg).sum()]])
    of_all = parallel.gather_rows(comm, local)
    squares, products = (sum(each.tolist()) for each in of_all.T[1:])
    return float(of_all[:, 0].max()), squares, products


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

"""A standing shear wave in a block of GLL elements: orders of convergence in space and time.

Lame's equivoluminal mode of a block of side L, with k = pi / L and no traction on any face::

    u_x = A cos(kx) sin(ky) cos(wt),   u_y = -A sin(kx) cos(ky) cos(wt),   u_z = 0

No divergence, no e_xy; s_xx = -s_yy = -2 mu k A sin(kx) sin(ky) cos(wt) vanishes on the faces, and ``mu lap
u = rho u''`` gives ``w = sqrt(2 mu / rho) k``. Source: Achenbach, Wave Propagation in Elastic Solids, 1973;
Graff, Wave Motion in Elastic Solids, 1975.

As an eigenfunction in space it moves like one oscillator of frequency w, against whose discrete motion errors
in space are taken, whatever the step: displacements in L2, strains in energy norm, after a period, where the
error of the phase, of order twice the degree, enters squared. The order in time is that of the amplitude on
one mesh after 9/8 of a period, where the phase counts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import ufl
from dolfinx import fem
from numpy.typing import NDArray

from .... import PointMasses, Solid, parallel
from ....integrators import Integrator, Option, Scheme, find_scheme
from ...boxes import box
from ...case import EXPLICIT, Problem, Results, Setup, Values, Verdict, Verdicts
from . import common

_ELEMENTS = "elements along a side (default by dimension and degree); the orders take up to twice as many"
PARAMETERS = {
    "dimension": Option(2, "-", "quadrilaterals in plane strain, or hexahedra", (2, 3)),
    "degree": Option(2, "-", "degree of the elements", (1, 2, 3)),
    "elements": Option(None, "-", _ELEMENTS),
    "side": Option(0.1, "m", "side of the block", interval="(0, inf)"),
    **common.material(2.1e11, 7850.0),
    "amplitude": Option(1e-5, "m", "largest displacement", interval="(0, inf)"),
    **common.times(0.5, "a period"),
}
#: Elements along a side by dimension and degree.
ELEMENTS = {(2, 1): 16, (2, 2): 16, (2, 3): 8, (3, 1): 8, (3, 2): 8, (3, 3): 4}
#: Periods of the wave after which the orders in space and in time are measured.
PERIODS_SPACE, PERIODS_TIME = 1.0, 1.125
#: An order in space may lie by so much beside the degree plus 1, one in time beside 2.
TOLERANCE_SPACE, TOLERANCE_TIME = 0.3, 0.1


def frequency(p: Values) -> float:
    """``w = sqrt(2 mu / rho) pi / L`` [rad/s]."""
    return math.sqrt(p["E"] / (1 + p["nu"]) / p["rho"]) * math.pi / p["side"]


def mode(x: Any, k: Any, functions: Any) -> list[Any]:
    """The mode with A = 1 at ``x``, three entries; ``functions`` has ``cos`` and ``sin`` (numpy, ufl)."""
    cos, sin = functions.cos, functions.sin
    return [cos(k * x[0]) * sin(k * x[1]), -sin(k * x[0]) * cos(k * x[1]), 0.0 * x[0]]


def make_block(p: Values) -> Solid:
    """The block, a corner at the origin, in space a quarter as deep as wide. Collective."""
    n, side = p["elements"], p["side"]
    top, cells = [side, side, side / 4][: p["dimension"]], [n, n, max(1, n // 4)][: p["dimension"]]
    block = box([[0.0] * len(top), top], cells)
    return common.elastic(block, p, degree=p["degree"])


def wave_field(block: Solid, p: Values) -> NDArray:
    """The mode with A = 1 at the nodes, shape (size,)."""
    return np.stack(mode(block.x.T, math.pi / p["side"], np)[: p["dimension"]], axis=1).ravel()


def whole_step(t_end: float, most: float) -> float:
    """The largest step up to ``most`` that divides ``t_end`` [s]."""
    return t_end / math.ceil(t_end / most * (1 - 1e-12))


def errors(integrator: Integrator, scheme: str, p: Values) -> tuple[float, float]:
    """Errors in space at ``t`` in L2 and energy norm, over those of the wave at its largest. Collective."""
    exact = p["amplitude"] * oscillation(scheme, integrator.n, integrator.dt, p)
    return norms(integrator.system, integrator.u, exact, p)


def oscillation(scheme: str, steps: int, h: float, p: Values) -> float:
    """Answer of the scheme to ``cos(wt)`` after so many steps: an oscillator of frequency w alone."""
    oscillator = find_scheme(scheme).bind(PointMasses(1.0, stiffness=[[frequency(p) ** 2]]), h, None, p)
    oscillator.start(1.0, 0.0)
    for _ in range(steps):
        oscillator.step()
    return float(oscillator.u[0])


def norms(block: Any, u: NDArray, exact: float, p: Values) -> tuple[float, float]:
    """L2 and energy norm of ``u`` less ``exact`` times the mode, over those of the wave. Collective."""
    field, x = fem.Function(block.space), ufl.SpatialCoordinate(block.mesh)
    field.x.array[: block.owned] = u[: block.owned]
    field.x.scatter_forward()
    k, part = (fem.Constant(block.mesh, value) for value in (math.pi / p["side"], exact))
    wave = ufl.as_vector(mode(x, k, ufl)[: p["dimension"]])
    dx = ufl.dx(metadata={"quadrature_degree": 2 * p["degree"] + 4})

    def lame(v: Any) -> Any:
        strain = ufl.sym(ufl.grad(v))
        ratio = fem.Constant(block.mesh, p["nu"] / (1 - 2 * p["nu"]))  # lambda / (2 mu)
        return ufl.inner(strain, strain) + ratio * ufl.tr(strain) ** 2

    def norm(form: Any) -> float:
        return math.sqrt(parallel.total(block.comm, fem.assemble_scalar(fem.form(form * dx))))

    error, scale = field - part * wave, p["amplitude"]
    displacement = norm(ufl.inner(error, error)) / norm(ufl.inner(wave, wave)) / scale
    return displacement, norm(lame(error)) / norm(lame(wave)) / scale


def amplitude(block: Any, u: NDArray, p: Values) -> float:
    """Part of the mode in ``u``, by the lumped masses, over the wave's largest. Collective."""
    n = block.owned
    wave = wave_field(block, p)[:n]
    part, whole = block.comm.allreduce(np.array([wave * block.mass @ u[:n], wave * block.mass @ wave]))
    return float(part / whole / p["amplitude"])


def orders(scheme: str, p: Values, critical: float) -> dict[str, float]:
    """Orders of convergence as the mesh alone and the step alone are refined. Collective.

    ``critical`` is the step [s] of the mesh with the elements of ``p``.
    """
    n, period = p["elements"], 2 * math.pi / frequency(p)
    meshes, last = (n, 3 * n // 2, 2 * n), PERIODS_SPACE * period
    known = zip(meshes, (critical, None, None))
    ends = (run(scheme, {**p, "elements": m}, last, critical=h) for m, h in known)
    both = np.array([errors(end, scheme, p) for end in ends])
    displacement, strain = -np.polyfit(np.log(meshes), np.log(both), 1)[0]
    ends = (run(scheme, p, PERIODS_TIME * period, 2**halvings, critical) for halvings in range(3))
    coarse, middle, fine = (amplitude(end.system, end.u, p) for end in ends)
    in_time = math.log2(abs(coarse - middle) / abs(middle - fine))
    return {"order_space": float(displacement), "order_energy": float(strain), "order_time": in_time}


def run(scheme: str, p: Values, t_end: float, parts: int = 1, critical: float | None = None) -> Integrator:
    """A run of its own to ``t_end``, with so many parts of the step of ``courant``. Collective.

    ``critical`` is the critical step where it is known [s].
    """
    critical = critical or make_block(p).critical_time_step()
    h = whole_step(t_end, p["courant"] * critical) / parts
    problem = WaveBlock().make(scheme, {**p, "h": h, "t_end": t_end})
    problem.simulate([], energies=False)
    return problem.integrator


class WaveBlock(common.SolidCase):
    """A standing shear wave in an elastic block shows the orders of convergence in space and in time."""

    parameters = PARAMETERS

    def settled(self, p: Values, scheme: Scheme) -> dict[str, Any]:
        """The parameters with the number of elements."""
        n = p["elements"] if p["elements"] is not None else ELEMENTS[p["dimension"], p["degree"]]
        if not (2 <= n <= 100 and n == int(n)):
            raise ValueError(f"elements must be a whole number from 2 to 100, but is {n}")
        return {**p, "elements": int(n), "t_end": p["t_end"] or 2 * math.pi / frequency(p)}

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """The block; the nodes of an edge are recorded. Collective."""
        block = make_block(p)
        edge = np.all(block.x[: block.owned // block.block, [0, 2]] < 1e-9 * p["side"], axis=1)
        u0 = p["amplitude"] * wave_field(block, p)
        return Setup(system=block, record=block.rows(np.flatnonzero(edge)), u0=u0)

    def time_step(self, p: Values, scheme: Scheme, setup: Setup) -> float:
        """``h``, or the largest step that ends at ``t_end`` [s]; ``courant`` is of central differences."""
        return p["h"] or whole_step(p["t_end"], p["courant"] * setup.body.critical_time_step())

    def measure(self, run: Problem) -> Results:
        """Errors after the run, and the orders of a stable scheme. Collective."""
        displacement, strain = errors(run.integrator, run.scheme, run.p)
        period = 2 * math.pi / frequency(run.p)
        after = {"period": period, "error_displacement": displacement, "error_energy": strain}
        critical = run.setup.body.critical_time_step()
        courant = run.p["h"] / critical if run.given["h"] else run.given["courant"]
        unstable = find_scheme(run.scheme).explicit and courant > 1
        if unstable or run.integrator.beyond_limit:
            return after
        return {**after, **orders(run.scheme, {**run.p, "courant": courant}, critical)}

    def verdicts(self, run: Problem) -> Verdicts:
        """Whether the orders are those of the elements and of the scheme."""
        if "order_time" not in run.results:
            return
        degree, in_time = run.p["degree"], 2.0 if run.p.get("theta", 0.5) == 0.5 else 1.0
        space = f"order in space of the %s of Q{degree} in the %s norm: degree%s"
        words = space % ("displacement", "L2", " + 1")
        yield Verdict.equal(words, run.results["order_space"], degree + 1, TOLERANCE_SPACE)
        words = space % ("strain", "energy", "")
        yield Verdict.equal(words, run.results["order_energy"], degree, TOLERANCE_SPACE)
        yield Verdict.equal("order in time", run.results["order_time"], in_time, TOLERANCE_TIME)

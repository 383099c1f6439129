"""Two equal elastic spheres fly against each other, beside Hertz's theory.

Each sphere moves as one that flies against a rigid plane with the same speed: force and duration are those of
``hertz-sphere`` at v0. Axisymmetric, the spheres are half discs in (r, z); in 3D quarters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import mesh
from ....contact.surfaces import SurfaceContact
from ....integrators import find_scheme
from ....systems.solid import Solid
from ... import drawings
from ...case import Case, Problem, Values
from ..solids import common, hertz_sphere
from ..solids.hertz_sphere import PARAMETERS, SHARES, WINDOW, ForceLog, exact, sphere_mesh

#: Deviation from Hertz that is allowed.
ALLOWED = {"axisymmetric": 0.02, "3d": 0.02}
#: As :data:`.hertz_sphere.GROWTH`; in 3D finer away from the contact, where coarse tetrahedra are too stiff.
GROWTH = {**hertz_sphere.GROWTH, "3d": (1.1, 1 / 20)}


def build(p: Values) -> Solid:
    """The meshed parts of both spheres, which touch at the origin. Collective."""
    upper, lower = sphere_mesh(p, GROWTH), sphere_mesh(p, GROWTH)
    last = upper.mesh.geometry.dim - 1
    # Turned and not mirrored: cells keep their orientation, and the meshes match at no node but one.
    x = lower.mesh.geometry.x
    x[:, last] *= -1.0
    named = mesh.join({"upper": upper, "lower": lower})
    if last == 1:
        return common.elastic(named, p, hypothesis="axisymmetric", fixed=_fixed("axis", (0,)))
    return common.elastic(named, p, fixed={**_fixed("x = 0", (0,)), **_fixed("y = 0", (1,))})


def _fixed(name: str, directions: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {f"{part}/{name}": directions for part in ("upper", "lower")}


def make(scheme: str, p: Values, allow_unstable: bool = False) -> Problem:
    """The case for one scheme, started. Collective."""
    hertz, body = exact(p), build(p)
    names = "upper/contact", "lower/contact"
    contact = SurfaceContact(body, *names, gap_tolerance=p["gap_tolerance"])
    h = common.time_step(scheme, p, body, (0.9, 10.0))
    integrator = find_scheme(scheme).bind(body, h, contact, p, allow_unstable=allow_unstable)
    up = np.eye(body.block)[-1] * p["v0"]
    integrator.start(0.0, body.rigid_velocity(up, cells="lower") - body.rigid_velocity(up, cells="upper"))
    p = {**p, "t_end": p["t_end"] or 1.2 * hertz.duration}
    log, record = ForceLog(integrator, WINDOW * hertz.duration), body.rows(body.nodes(names[0])[:0])
    return common.problem(integrator, p, record, judge, log)


def judge(run: common.Ended) -> common.Judged:
    """The numbers of a run beside Hertz's. Collective."""
    hertz, share, log = exact(run.p), SHARES[run.p["geometry"]], run.log
    start, end = log.contact_start, log.contact_end
    results: dict[str, Any] = {
        **common.impact_numbers(run),
        "peak_force": share * log.peak_force,
        "duration": None if start is None or end is None else end - start,
        **{f"{name}_hertz": getattr(hertz, name) for name in ("peak_force", "duration", "contact_radius")},
        "impulse_sum": share * log.impulse_sum,
    }
    return results, hertz_sphere.beside_hertz(results, run.p, ALLOWED)


_ABOUT = (
    "Two equal elastic spheres fly against each other. Hertz's theory gives the largest force and duration."
)
TWO_SPHERES = Case(PARAMETERS, common.SCHEMES, make, _ABOUT, drawings.two_spheres)

"""Two equal elastic spheres fly against each other, beside Hertz's theory.

Each sphere moves as one that flies against a rigid plane with the same speed: force and duration are those of
``hertz-sphere`` at v0. Axisymmetric, the spheres are half discs in (r, z); in 3D quarters.
"""

from __future__ import annotations

import numpy as np

from .... import mesh
from ....contact.surfaces import SurfaceContact
from ....integrators import Integrator, Scheme
from ....systems.solid import Solid
from ...case import EXPLICIT, Ended, Problem, Setup, Values, contact_law
from ...verdict import Verdict
from ..solids import common, hertz_sphere
from ..solids.hertz_sphere import HertzSphere, sphere_mesh

#: Deviation from Hertz that is allowed.
ALLOWED = {"axisymmetric": 0.02, "3d": 0.02}
#: As :data:`.hertz_sphere.GROWTH`; in 3D finer away from the contact, where coarse tetrahedra are too stiff.
GROWTH = {**hertz_sphere.GROWTH, "3d": (1.1, 1 / 20)}


def make_spheres(p: Values) -> Solid:
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


class TwoSpheres(HertzSphere):
    """Both spheres, which touch at the start."""

    schemes = common.SCHEMES
    about = (
        "Two equal elastic spheres fly against each other. Hertz's theory gives the largest force and "
        "duration."
    )

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """Both spheres. Collective."""
        body = make_spheres(p)
        contact = SurfaceContact(body, "upper/contact", "lower/contact", **contact_law(p))
        return Setup(system=body, contact=contact)

    def start(self, integrator: Integrator, setup: Setup, p: Values) -> None:
        """Start towards each other. Collective."""
        body = setup.body
        up = np.eye(body.block)[-1] * p["v0"]
        lower, upper = (body.rigid_velocity(up, cells=name) for name in ("lower", "upper"))
        integrator.start(0.0, lower - upper)

    def verdicts(self, run: Ended) -> list[Verdict]:
        """Peak force and duration."""
        return hertz_sphere.beside_hertz(run.results, run.p, ALLOWED)

    def study(self, problem: Problem) -> list[Verdict]:
        """None."""
        return []

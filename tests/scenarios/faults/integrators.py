"""Faults of schemes: steps, impulses, reactions."""

from .base import Fault

#: The smooth acceleration in the place of that with contact.
_SMOOTH = "self._inverse, (self.f if s is self.substep_states[0] else self.substep_states[0].f)[:n])"
_DISC = "self._at_points, {}state.frictions, v"


def _rough(s):
    return s.scheme == "CDLagrange" and s.friction > 0 and len(s.blocks) == 1


FAULTS = {
    "outside-the-cone": Fault(
        "friction is larger than Coulomb's",
        (("integrators.impulses.delassus_lumped", _DISC.format(""), _DISC.format("1.1 * ")),),
        _rough,
        "cone",
    ),
    "less-friction": Fault(
        "friction is less than Coulomb's where points slide",
        (("integrators.impulses.delassus_lumped", _DISC.format(""), _DISC.format("0.9 * ")),),
        _rough,
        "slip",
    ),
    "tie-at-the-axis": Fault(
        "rows along held directions are rounding, beside which nothing else is solved",
        (
            ("integrators.impulses.delassus_iterated", "_HELD = 1e-20", "_HELD = 0.0"),
            ("contact.surfaces.tied_surfaces", "W = np.where(np.abs(W) > _ROUNDING, W, 0.0)", "W = W + 0.0"),
        ),
        lambda s: s.hypothesis == "axisymmetric" and s.joint == "tie" and s.friction > 0,
        "slip",
    ),
    "noh-bathe-limit": Fault(
        "the critical step of Noh-Bathe forgets damping",
        (("integrators.central.noh_bathe", "cls._ratio(system, critical) * critical", "1.77 * critical"),),
        lambda s: s.scheme == "NohBathe" and (s.rate > 0 or s.beta > 0),
        "spectrum",
    ),
    "noh-bathe-held": Fault(
        "damping forces of held points are those of a velocity that contact prevents",
        (("integrators.central.noh_bathe", "self._inverse, f_position[:n])", _SMOOTH),),
        lambda s: s.scheme == "NohBathe" and s.motion == "rest",
        "carried",
    ),
    "noh-bathe-points": Fault(
        "the same, of a user's own system",
        (("integrators.central.noh_bathe", "self._inverse, f_position[:n])", _SMOOTH),),
        by="chain",
    ),
    "reactions": Fault(
        "reactions of a tool leave out the contact",
        (("integrators.central.central_differences", " - self.moved_impulses(self.impulses) / self.dt", ""),),
        lambda s: s.scheme == "CDLagrange" and s.floor == "tool" and s.friction > 0,
        "works",
    ),
    "reactions-of-substeps": Fault(
        "the same, in substeps",
        (("integrators.central.noh_bathe", " - s.impulse[dofs] - s.moved", " - s.impulse[dofs]"),),
        lambda s: s.scheme == "NohBathe" and s.floor == "tool" and s.friction > 0,
        "balance",
    ),
    "reactions-of-newton": Fault(
        "the same, in implicit schemes",
        (("integrators.one_step.theta_newton", " - s.moved_impulses(s.impulses) / s.h", ""),),
        lambda s: s.scheme == "MoreauJean" and s.floor == "tool" and s.friction > 0 and s.gdim == 2,
        "works",
    ),
    "viscosity-in-one-correction": Fault(
        "contact at both levels takes damping with a kink for linear",
        (("integrators.one_step.position_step", "and flat and not damped", "and flat"),),
        lambda s: s.position > 0 and s.bulk > 0 and s.law == "linear" and s.motion == "pressed",
        "balance",
    ),
    "reactions-forgotten": Fault(
        "accelerations of generalized alpha forget the reactions of the position problem",
        (
            (
                "integrators.one_step.generalized_alpha",
                "end = self.w if self.position else",
                "end = self.v if self.position else",
            ),
        ),
        lambda s: s.position > 0 and s.scheme == "GeneralizedAlpha" and s.motion == "pressed",
        "newton",
    ),
    "statics-without-ties": Fault(
        "the first displacement of statics lets parts fall that ties hold",
        (
            (
                "integrators.one_step.static_step",
                "if s.contact is None or not parallel.anywhere(s.contact.comm, s.contact.bilateral.any()):",
                "if True:",
            ),
        ),
        lambda s: s.scheme == "Static" and s.joint == "tie" and len(s.movable) > 1 and s.gravity > 0,
        "runs",
    ),
    "newton-at-rest": Fault(
        "Newton's method has no scale where velocities are zero",
        (
            ("integrators.one_step.step_equation", "kicks = s.h", "kicks = 0 * s.h"),
            ("integrators.one_step.step_equation", "0.0 if s.system.linear else s.system.length", "0.0"),
        ),
        by="chain",
    ),
}

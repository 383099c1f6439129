"""Faults of contact: obstacles, surfaces, pressures."""

from .base import Fault

_PRESENT = "return SparseRows(self.L.dofs, -self.L.weights, self.L.order)"
_TANGENTS = "        return np.concatenate([normals[:, None, :], coulomb"
_NO_TANGENTS = "        if self.friction == 0:\n            return normals[:, None, :]\n"
_READ = 'joinpath(name).read_text(encoding="utf-8")'
_BY_AREA = "quotient(r, at_points * dt[:, None])"
_SLEEP = "contact/surfaces/sleep.c"
_BOTH_MOVE = "*shift = t->shift[e] + t->shift[f];"
_ROLES = "self.key[ascending(keys)] = np.arange(len(centres))"
_ALL_AXES = "return np.repeat(pressure.reshape(-1, gdim).sum(axis=1), gdim)"


def _surfaces(s):
    return len(s.blocks) > 1 and s.floor != "none"


FAULTS = {
    "directions-of-a-run": Fault(
        "a run that continues another has other directions",
        (("contact.rigid_contact", "return self._approach", _PRESENT),),
        lambda s: s.floor == "sphere",
        "ways",
    ),
    "passing": Fault(
        "surfaces pass through each other within a step",
        (("contact.surfaces.passing", "raise self._error(facets, before, now, node, facet, other)", "pass"),),
        lambda s: _surfaces(s) and s.part > 2 and s.motion == "thrown",
        "above",
    ),
    "states-of-lists": Fault(
        "states of lists with drift correction",
        (
            ("contact.contact_set", "if self.stacked and self.drift_correction > 0 and", "if False and"),
            ("contact.contact_set", "elif not self.stacked:", "else:"),
        ),
        lambda s: s.drift and len(s.blocks) > 1 and s.joint != "together",
        "ways",
    ),
    "overlap": Fault(
        "parts that touch overlap at the start",
        (("contact.surfaces.checks", "pairs[opposite.any(axis=1), 0]", "pairs[:, 0]"),),
        lambda s: len(s.blocks) > 2 and s.motion == "rest" and s.joint != "together",
        "runs",
    ),
    "smooth-beside-rough": Fault(
        "surfaces without friction have no tangents",
        (("contact.surfaces.surface_contact", _TANGENTS, _NO_TANGENTS + _TANGENTS),),
        lambda s: s.friction > 0 and len(s.blocks) > 1 and (s.rough == "floor" or s.joint == "tie"),
        "runs",
    ),
    "one-side": Fault(
        "a node has one point, whatever edges meet there",
        (("contact.surfaces.facets", "_SHARP = np.pi / 4 + 1e-9", "_SHARP = 4.0"),),
        lambda s: s.floor == "corner" and s.motion == "rest",
        "still",
    ),
    "small-on-large": Fault(
        "a small body on a large facet has a single point",
        (("contact.surfaces.tables", _READ, f"{_READ}.replace('if (beside ||', 'if (1 ||')"),),
        by="stands",
    ),
    "pressure-of-points": Fault(
        "a pressure is an impulse over the area of a point, on obstacles",
        (("contact.pressure", "return pressure, at_points", f"return {_BY_AREA}, at_points"),),
        lambda s: s.motion == "rest" and s.degree == 2,
        "pressure",
    ),
    "pressure-of-points-between": Fault(
        "the same, between surfaces",
        (("contact.pressure", "return pressure, at_points", f"return {_BY_AREA}, at_points"),),
        lambda s: s.degree == 2 and s.cell == "triangle" and s.explicit,
        "between",
    ),
    "areas-not-covered": Fault(
        "points with nothing opposite have areas",
        (("contact.pressure", "1.0, covered)[:, self.point]", "1.0, 1.0)[:, self.point]"),),
        by="between",
    ),
    "areas-of-other-sides": Fault(
        "corners on an obstacle have the areas of both their sides",
        (("contact.pressure", "leaning <= least + _ALIKE", "leaning <= np.inf"),),
        lambda s: s.motion == "rest" and s.facets == "boundary",
        "pressure",
    ),
    "pressure-of-ties": Fault(
        "the pressure of a tie is the sum of its tractions along the axes",
        (("contact.surfaces.nodes", "return np.repeat(-along, gdim)", _ALL_AXES),),
        lambda s: s.joint == "tie",
        "tied",
    ),
    "asleep-while-masters-move": Fault(
        "pairs sleep as if one side of them did not move",
        ((_SLEEP, _BOTH_MOVE, "*shift = smaller(t->shift[e], t->shift[f]);"),),
        lambda s: len(s.blocks) > 1 and s.explicit and s.motion == "thrown" and s.joint != "tie",
        "asleep",
    ),
    "roles-of-all-surfaces": Fault(
        "the heavier part is the slave where all surfaces are in contact",
        (("contact.surfaces.roles", _ROLES, f"{_ROLES}[::-1]"),),
        lambda s: s.general == "unswept",
        "named",
    ),
    "contact-at-the-rim-of-a-tie": Fault(
        "facets beside those that a tie glues to each other are in contact",
        (
            (
                "contact.surfaces.tied_surfaces",
                "found[rim] = apart <= _MET * (",
                "found[rim] = apart <= -_MET * (",
            ),
        ),
        lambda s: s.general in ("swept", "skin") and s.joint == "tie",
        "glued",
    ),
    "certificate-of-nothing": Fault(
        "paths are tested, and the certificate says that they were not",
        (("contact.surfaces.swept.certificate", "skin, passed=0)", "skin)"),),
        lambda s: s.general in ("swept", "skin"),
        "passed",
    ),
}

"""Faults of runs: recorders, restarts, guards, pictures."""

from .base import Fault

FAULTS = {
    "order-of-points": Fault(
        "the columns of a run are in another order than the points of the contact",
        (("simulation.recorder", "[:, points]", "[:, points[::-1]]"),),
        lambda s: s.floor != "none",
        "points",
    ),
    "moving-lists": Fault(
        "a list with a moving obstacle cannot be stored",
        (
            (
                "simulation.run_fingerprint",
                'getattr(contact.obstacle, "faces", (contact.obstacle,))',
                "contact.faces",
            ),
        ),
        lambda s: s.floor == "moving" and len(s.blocks) > 1,
        "ways",
    ),
    "changed-steps": Fault(
        "nodal impulses lack what a change of the step gave",
        (
            (
                "integrators.central.central_differences",
                "if self._nodal_change is not None and self.n == 1:",
                "if False:",
            ),
        ),
        lambda s: s.adapt,
        "momentum",
    ),
    "files-of-the-last-step": Fault(
        "a file has the impulses of the last step alone",
        (
            (
                "output.fields",
                "self._s.add_nodal_impulses(self._impulses)",
                "self.forget_impulses() or self._s.add_nodal_impulses(self._impulses)",
            ),
        ),
        lambda s: s.floor != "none" or s.joint != "none",
        "written",
    ),
    "guard": Fault(
        "no energy is too large",
        (("simulation.energy_guard", "MOST, MOST_BEYOND = 1e3, 10.0", "MOST, MOST_BEYOND = 1e300, 1e300"),),
        by="ended",
    ),
    "stiffer-in-a-run": Fault(
        "the step does not follow coefficients of laws",
        (("simulation.step_control", "return max(stretched, self._values.change())", "return stretched"),),
        by="rising",
    ),
    "other-constants": Fault(
        "a run goes on with a user's law of other constants",
        (("simulation.run_fingerprint", "{_in_words(law, HistoryLaw)} with", "{type(law).__name__} with"),),
        by="resumed",
    ),
    "stress-of-another-time": Fault(
        "pictures take the coefficients of a law at the end",
        (("plot.snapshots", "has_stress(body) and has_coefficients(body)", "False"),),
        by="drawn",
    ),
    "far-from-the-origin": Fault(
        "pictures have places in single precision",
        (
            (
                "plot.skin",
                "np.ascontiguousarray(x, dtype=np.float64)",
                "np.ascontiguousarray(x, dtype=np.float32)",
            ),
        ),
        by="drawn",
    ),
}

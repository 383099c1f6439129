"""Laws with history that tests share."""

import numpy as np
import ufl

import dolfinx_impact as di


class Branch(di.HistoryLaw):
    """Relaxation of the deviatoric stress with the time tau [s]."""

    state = {"viscous": np.zeros((3, 3))}

    def __init__(self, tau):
        self.tau = tau

    def energy_density(self, F, state):
        strain = ufl.sym(F) - ufl.Identity(3)
        elastic = ufl.dev(strain) - state["viscous"]
        return 5e8 * ufl.inner(strain, strain) + 1e8 * ufl.inner(elastic, elastic)

    def update(self, F, state, h):
        q = ufl.exp(-h / self.tau)
        return {"viscous": q * state["viscous"] + (1 - q) * ufl.dev(ufl.sym(F))}

"""Point masses that tests share."""

import dolfinx_impact as di


def ball(height=1.0):
    """A ball above the floor, started."""
    system = di.PointMasses(1.0, load=[-9.81])
    scheme = di.CDLagrange(system, 1e-3, contact=di.DofBound(system, 0, lower=0.0, restitution=0.8))
    scheme.start(height, 0.0)
    return scheme

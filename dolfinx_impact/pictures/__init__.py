"""How pictures and films are drawn; :mod:`dolfinx_impact.plot` is what users call."""

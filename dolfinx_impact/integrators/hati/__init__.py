"""HATI: explicit subdomain at the contact, implicit elsewhere, with multi-time-step coupling.

Fekak, Brun, Gravouil and Depale, Comput. Mech. 60 (2017), doi:10.1007/s00466-017-1397-0.
"""

from .integrator import HATI

__all__ = ["HATI"]

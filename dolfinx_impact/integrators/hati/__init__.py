"""Explicit near the contact, implicit elsewhere: what the integrator of Fekak et al. (2017) is made of."""

from .integrator import HATI

__all__ = ["HATI"]

"""Rigid bodies and solids whose motion is known in closed form, or by the mechanics of their symmetry."""

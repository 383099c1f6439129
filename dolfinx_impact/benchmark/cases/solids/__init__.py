"""Rigid bodies and solids whose motion is known in closed form, or by the mechanics of their symmetry.

Each case is a module; the known answers stand as claims beside those of the papers.
"""

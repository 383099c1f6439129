"""Explicit schemes: central differences, with implicit contact velocities too, and that of Noh and Bathe."""

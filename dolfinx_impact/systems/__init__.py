"""Semi-discrete systems (point masses, solids, frames, rigid bodies): mass, stiffness, forces, loads.

Obstacles and gap functions live in ``contact``, time stepping in ``integrators``.
"""

"""What moves: masses, solids, frames, chains and rigid bodies; their masses, stiffness, forces and loads.

Neither obstacles nor gaps (``contact``), nor anything about steps of time (``integrators``).
"""

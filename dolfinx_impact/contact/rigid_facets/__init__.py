"""Rigid obstacles that are sharper than the mesh: contact between the nodes of a body's facets."""

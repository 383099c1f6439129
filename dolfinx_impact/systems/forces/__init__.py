"""Internal forces of bodies: stored stiffness, assembled forms, tangents, elements that do not lock."""

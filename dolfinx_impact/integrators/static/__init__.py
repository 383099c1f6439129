"""Central differences of the dofs with mass, contact dofs without mass in static equilibrium."""

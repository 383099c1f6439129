"""The van der Pol oscillator at a wall: case, measures, claims and figures of its papers."""

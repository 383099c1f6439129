"""Two elastic bars that hit each other: case, measures, claims and figures of its papers."""

"""The discrete arch that snaps onto a floor: case, measures, claims and figures of its papers."""

"""The bouncing ball: case, measures, claims and figures of its papers."""

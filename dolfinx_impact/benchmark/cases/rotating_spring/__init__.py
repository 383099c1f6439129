"""The mass on a rotating spring inside a circular wall: case, measures, claims and figures of its papers."""

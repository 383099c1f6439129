"""The elastic bar that hits a wall: case, measures, claims and figures of its papers."""

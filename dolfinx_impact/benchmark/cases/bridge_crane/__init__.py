"""The bridge crane in an earthquake: case, measures, claims and figures of its papers."""

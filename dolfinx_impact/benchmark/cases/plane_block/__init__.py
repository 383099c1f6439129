"""A block on a floor in the plane, for the schemes of Doyen, Ern and Piperno: case, claims and figures."""

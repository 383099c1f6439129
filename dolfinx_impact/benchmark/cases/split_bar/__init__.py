"""The bar in two subdomains with own time steps: case, measures, claims and figures of its papers."""

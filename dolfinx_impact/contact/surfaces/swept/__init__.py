"""Features of surfaces (vertices, edges, facets) whose paths are tested within each step.

Rows of those that would meet, the certificate of a run, and what it tells of first and last contacts. The
geometry of paths lives in ``features``, the rounds in which rows are found in ``integrators.central``.
"""

"""The papers' cases with verdicts: ``python -m dolfinx_impact.benchmark``."""

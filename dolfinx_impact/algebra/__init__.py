"""Algebra without mechanics: sparse operators, linear solvers, complementarity, Coulomb friction, kernels.

The assembly of matrices lives in ``systems``, the contact laws in ``integrators``.
"""

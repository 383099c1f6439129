"""Implicit one-step schemes: the theta method, generalized-alpha, Newmark's method, and their energies."""

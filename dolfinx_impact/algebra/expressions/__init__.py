"""UFL expressions without forms: read component by component onto a tape of operations on numbers.

NumPy evaluates a tape at points (:mod:`.tape`), as signed distances of obstacles are; the C code of laws in
element kernels is written from one in ``systems.elements``.
"""

"""Internal forces, energies and tangents of cells in batches, by C code generated from element and law.

An element (:mod:`.element`) gives tables, a law (:mod:`.law_code`) the operations at a point, read off its
UFL expressions; ``simplex.c`` and ``tensor.c`` are the loops over cells around them, also of elements that
do not lock. Bodies use :class:`.ElementForces`.
"""

"""Problems and loops that know no mechanics: sparse rows, linear solvers, complementarity, friction cones.

What assembles matrices of a body lives in ``systems``.
"""

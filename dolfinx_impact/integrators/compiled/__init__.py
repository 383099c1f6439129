"""Many steps of a scheme in one compiled loop, where all parts of a run are of a compiled kind.

The same steps one by one are in the modules of the schemes. A loop has a class here, which gives it arrays,
and a module ``_..._loop`` with its step; the loop of HATI is in ``hati``.
"""

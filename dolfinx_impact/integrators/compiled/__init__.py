"""Many steps of central differences in one compiled loop, where all parts of a run are of a compiled kind.

The same steps one by one are in ``central_differences``; the loop of HATI is in ``hati``.
"""

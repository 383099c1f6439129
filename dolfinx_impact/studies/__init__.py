"""Studies: one function, many parameters, one table.

``study`` is what scripts call, ``records`` keeps rows on the disk and makes the table of them, ``runs`` calls
the function: in processes, or in groups of the ranks of an MPI job.
"""

"""The report: all cases with all schemes, every claim decided, every figure drawn, as JSON and HTML.

Runs and claims themselves are defined in the folder above, cases in ``cases``.
"""

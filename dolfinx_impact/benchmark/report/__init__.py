"""The report: all cases with all schemes, every claim decided, every figure drawn, as JSON and HTML.

:func:`write` makes it, for schemes of your own too; on the command line ``benchmark report`` does.
"""

from .build import write

__all__ = ["write"]

"""The report: all cases with all schemes, every claim decided, every figure drawn, as JSON and HTML."""

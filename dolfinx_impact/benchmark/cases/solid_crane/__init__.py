"""The bridge crane of ``bridge-crane`` as a solid: explicit rails and wheels on implicit girders."""

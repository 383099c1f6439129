"""Contact of all outer surfaces with each other and themselves: edges, many bodies, folds, holes."""

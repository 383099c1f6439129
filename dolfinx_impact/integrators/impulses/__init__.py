"""Contact laws in discrete time, and the Delassus operators by which impulses are found and act."""

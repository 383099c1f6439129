"""Contact that lasts, at steps far above the critical one: fits and bodies that press on each other."""

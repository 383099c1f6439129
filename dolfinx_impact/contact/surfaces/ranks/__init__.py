"""How ranks share the work of contact between surfaces, on whatever ranks the cells lie."""

"""A long beam that falls on a small pin with a fine mesh, in two subdomains."""

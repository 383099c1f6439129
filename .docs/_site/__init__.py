"""Parts of the documentation site: what pages take from programs, and what needs no network."""

"""Bodies whose material flows, or hardly changes its volume, on elements that do not lock."""

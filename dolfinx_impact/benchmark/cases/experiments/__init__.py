"""Impacts that were measured, or whose theory is closed, and what is predicted of them."""

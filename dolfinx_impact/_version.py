"""Version of the package, readable without importing the package."""

__version__ = "0.3.0"

"""The version of the package, for what must not import all of it."""

__version__ = "0.1.0"

"""Masses of bodies: lumped, scaled for larger steps, and handed to neighbours."""

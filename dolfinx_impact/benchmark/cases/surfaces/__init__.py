"""Deformable bodies that hit each other, beside bars, Hertz's theory, wave theory and conservation laws.

Each case is a module; the known answers stand as claims beside those of the papers.
"""

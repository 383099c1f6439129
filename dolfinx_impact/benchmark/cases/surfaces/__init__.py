"""Deformable bodies that hit each other, beside bars, St Venant's theory and conservation laws."""

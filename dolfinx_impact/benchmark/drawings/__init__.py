"""A picture of the set-up of every case, named as the case: SVG of 240 by 150, without title."""

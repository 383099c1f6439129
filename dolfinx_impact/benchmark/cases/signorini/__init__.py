"""The bar of Doyen, Ern and Piperno: impact and bounces: case, measures, claims and figures of its papers."""

"""Time per step of what the cases decide, as ratios to the best alternative in the same run."""

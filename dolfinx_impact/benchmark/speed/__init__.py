"""Time per step, as ratios to the best alternative in the same run.

What is computed is decided by the cases; here it is only timed.
"""

"""Constants of the scheme of Noh and Bathe (2013), doi:10.1016/j.compstruc.2013.06.007."""

#: Part p of a step that its first substep takes, and the weights q0, q1, q2.
PART = 0.54
Q1 = (1 - 2 * PART) / (2 * PART * (1 - PART))
Q2 = 0.5 - PART * Q1
Q0 = 0.5 - Q1 - Q2

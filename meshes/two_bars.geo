// Two straight bars along x with a gap around x = 0, their tips facing each other.
DefineConstant[
  length = {0.254, Min 0.01, Max 10, Step 0.01, Name "Parameters/length"}
  gap = {2e-4, Min 0, Max 1, Step 1e-5, Name "Parameters/gap"}
  elements = {40, Min 1, Max 10000, Step 1, Name "Parameters/elements"}
];

Point(1) = {-gap / 2 - length, 0, 0};
Point(2) = {-gap / 2, 0, 0};
Point(3) = {gap / 2, 0, 0};
Point(4) = {gap / 2 + length, 0, 0};
Line(1) = {1, 2};
// From its end too, so that the nodes of one bar mirror those of the other to the last digit.
Line(2) = {4, 3};
Transfinite Curve {1, 2} = elements + 1;

Physical Point("left end") = {1};
Physical Point("left tip") = {2};
Physical Point("right tip") = {3};
Physical Point("right end") = {4};
Physical Curve("left bar") = {1};
Physical Curve("right bar") = {2};

// A straight bar along x, its tip at x = 0, in two parts of equal elements that meet at the interface.
DefineConstant[
  length = {0.254, Min 0.01, Max 10, Step 0.01, Name "Parameters/length"}
  elements = {40, Min 2, Max 10000, Step 1, Name "Parameters/elements"}
  explicit_elements = {10, Min 1, Max 9999, Step 1, Name "Parameters/explicit_elements"}
];

Point(1) = {0, 0, 0};
Point(2) = {length * explicit_elements / elements, 0, 0};
Point(3) = {length, 0, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Transfinite Curve {1} = explicit_elements + 1;
Transfinite Curve {2} = elements - explicit_elements + 1;

Physical Point("tip") = {1};
Physical Point("interface") = {2};
Physical Point("free") = {3};
Physical Curve("explicit") = {1};
Physical Curve("implicit") = {2};

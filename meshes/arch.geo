// A chain of equal straight bars whose nodes lie on a circular arc, supports at y = 0 at both ends.
DefineConstant[
  R = {1, Min 0.001, Max 1000, Step 0.1, Name "Parameters/R"}
  opening = {Pi / 4, Min 0.01, Max 6.2, Step 0.01, Name "Parameters/opening"}
  bars = {11, Min 1, Max 10001, Step 1, Name "Parameters/bars"}
];

For i In {0:bars}
  angle = opening * (i / bars - 0.5);
  Point(i + 1) = {R * Sin(angle), R * (Cos(angle) - Cos(opening / 2)), 0};
EndFor
For i In {1:bars}
  Line(i) = {i, i + 1};
EndFor
Transfinite Curve {1:bars} = 2;
Physical Curve("bars") = {1:bars};
Physical Point("supports") = {1, bars + 1};

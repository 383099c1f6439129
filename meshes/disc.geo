// A disc around (x, y) of quadrilaterals, with a square core; with a hole a ring.
DefineConstant[
  R = {0.1, Min 1e-6, Max 10, Step 0.01, Name "Parameters/R"}
  hole = {0, Min 0, Max 10, Step 0.01, Name "Parameters/hole"}
  x = {0, Min -10, Max 10, Step 0.01, Name "Parameters/x"}
  y = {0, Min -10, Max 10, Step 0.01, Name "Parameters/y"}
  around = {8, Min 1, Max 1000, Step 1, Name "Parameters/around"}
  across = {4, Min 1, Max 1000, Step 1, Name "Parameters/across"}
];

inner = (hole > 0) ? hole : 0.55 * R; // the hole's radius, or half the diagonal of the core
Point(9) = {x, y, 0};
For i In {1:4}
  // Nodes on the axes through the center: one is lowest.
  Point(i) = {x + inner * Cos(i * Pi / 2), y + inner * Sin(i * Pi / 2), 0};
  Point(4 + i) = {x + R * Cos(i * Pi / 2), y + R * Sin(i * Pi / 2), 0};
EndFor
For i In {1:4}
  Circle(i) = {4 + i, 9, 5 + i % 4};
  If (hole > 0)
    Circle(4 + i) = {i, 9, 1 + i % 4};
  Else
    Line(4 + i) = {i, 1 + i % 4};
  EndIf
  Line(8 + i) = {i, 4 + i};
EndFor
Transfinite Curve {1:8} = around + 1;
Transfinite Curve {9:12} = across + 1;
For i In {1:4}
  Curve Loop(i) = {8 + i, i, -(9 + i % 4), -(4 + i)};
  Plane Surface(i) = {i};
EndFor
If (hole == 0)
  Curve Loop(5) = {5:8};
  Plane Surface(5) = {5};
EndIf
Transfinite Surface "*";
Recombine Surface "*";

Physical Curve("rim") = {1:4};
If (hole > 0)
  Physical Curve("hole") = {5:8};
EndIf
Physical Surface("body") = Surface{:};

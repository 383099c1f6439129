// A straight bar along x, its contact end at x = 0: a line, or a solid of square section.
DefineConstant[
  dimension = {1, Choices{1, 3}, Name "Parameters/dimension"}
  length = {0.254, Min 0.01, Max 10, Step 0.01, Name "Parameters/length"}
  side = {Sqrt(0.645e-3), Min 0.001, Max 1, Step 0.001, Name "Parameters/side"}
  elements = {50, Min 1, Max 10000, Step 1, Name "Parameters/elements"}
  lateral = {5, Min 1, Max 100, Step 1, Name "Parameters/lateral"}
  tetrahedra = {0, Choices{0, 1}, Name "Parameters/tetrahedra"}
];

If (dimension == 1)
  Point(1) = {0, 0, 0};
  Point(2) = {length, 0, 0};
  Line(1) = {1, 2};
  Transfinite Curve {1} = elements + 1;
  Physical Point("contact") = {1};
  Physical Point("free") = {2};
  Physical Curve("bar") = {1};
Else
  Point(1) = {0, -side / 2, -side / 2};
  Point(2) = {0, side / 2, -side / 2};
  Point(3) = {0, side / 2, side / 2};
  Point(4) = {0, -side / 2, side / 2};
  For i In {1:4}
    Line(i) = {i, i % 4 + 1};
  EndFor
  Transfinite Curve {1:4} = lateral + 1;
  Curve Loop(1) = {1:4};
  Plane Surface(1) = {1};
  Transfinite Surface {1};
  If (tetrahedra == 0)
    Recombine Surface {1};
    bar[] = Extrude {length, 0, 0} { Surface{1}; Layers{elements}; Recombine; };
  Else
    bar[] = Extrude {length, 0, 0} { Surface{1}; Layers{elements}; };
  EndIf
  Physical Surface("contact") = {1};
  Physical Surface("free") = {bar[0]};
  Physical Surface("sides") = {bar[2], bar[3], bar[4], bar[5]};
  Physical Volume("bar") = {bar[1]};
EndIf

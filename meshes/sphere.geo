// A sphere that rests on the origin, fine around it: a half disc that turns about its axis (x is the radius,
// y the height), or a quarter of the sphere between the planes x = 0 and y = 0 (z is the height).
DefineConstant[
  dimension = {2, Choices{2, 3}, Name "Parameters/dimension"}
  R = {0.01, Min 1e-6, Max 10, Step 0.001, Name "Parameters/R"}
  fine = {2e-5, Min 1e-9, Max 1, Step 1e-6, Name "Parameters/fine"}
  reach = {2.5e-4, Min 1e-9, Max 10, Step 1e-5, Name "Parameters/reach"}
  growth = {1.25, Min 1.05, Max 2, Step 0.05, Name "Parameters/growth"}
  coarse = {1e-3, Min 1e-9, Max 1, Step 1e-4, Name "Parameters/coarse"}
];

up = (dimension == 2) ? 1 : 0; // the coordinate that is the height
Point(1) = {0, 0, 0};
Point(2) = {R, up * R, (1 - up) * R};
Point(3) = {0, up * 2 * R, (1 - up) * 2 * R};
Point(4) = {0, up * R, (1 - up) * R};
Circle(1) = {1, 4, 2};
Circle(2) = {2, 4, 3};
Line(3) = {3, 1};
Curve Loop(1) = {1, 2, 3};
Plane Surface(1) = {1};

If (dimension == 2)
  Physical Curve("contact") = {1};
  Physical Curve("free") = {2};
  Physical Curve("axis") = {3};
  Physical Surface("sphere") = {1};
Else
  quarter[] = Extrude { {0, 0, 1}, {0, 0, 0}, Pi / 2 } { Surface{1}; };
  Physical Surface("y = 0") = {1};
  Physical Surface("x = 0") = {quarter[0]};
  Physical Surface("contact") = {quarter[2]};
  Physical Surface("free") = {quarter[3]};
  Physical Volume("sphere") = {quarter[1]};
EndIf

// Elements of size `fine` up to `reach` from the origin; from there each is `growth` times the one before.
Field[1] = Ball;
Field[1].Radius = reach;
Field[1].VIn = fine;
Field[1].VOut = coarse;
Field[1].Thickness = (coarse - fine) / (growth - 1);
Background Field = 1;
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeExtendFromBoundary = 0;

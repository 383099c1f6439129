// A half section (r, z) of a round plate, or of a rod, that turns about its axis: its top is z = 0, and it is
// fine around the middle of the top.
DefineConstant[
  radius = {0.04, Min 1e-6, Max 10, Step 0.01, Name "Parameters/radius"}
  thickness = {2.5e-3, Min 1e-6, Max 10, Step 1e-3, Name "Parameters/thickness"}
  fine = {3e-5, Min 1e-9, Max 1, Step 1e-6, Name "Parameters/fine"}
  reach = {2.5e-4, Min 1e-9, Max 10, Step 1e-5, Name "Parameters/reach"}
  growth = {1.12, Min 1.05, Max 2, Step 0.05, Name "Parameters/growth"}
  coarse = {4e-4, Min 1e-9, Max 1, Step 1e-4, Name "Parameters/coarse"}
];

Point(1) = {0, -thickness, 0};
Point(2) = {radius, -thickness, 0};
Point(3) = {radius, 0, 0};
Point(4) = {0, 0, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1:4};
Plane Surface(1) = {1};

Physical Curve("bottom") = {1};
Physical Curve("rim") = {2};
Physical Curve("contact") = {3};
Physical Curve("axis") = {4};
Physical Surface("plate") = {1};

// Elements of size `fine` up to `reach` from the origin; from there each is `growth` times the one before.
Field[1] = Ball;
Field[1].Radius = reach;
Field[1].VIn = fine;
Field[1].VOut = coarse;
Field[1].Thickness = (coarse - fine) / (growth - 1);
Background Field = 1;
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeExtendFromBoundary = 0;

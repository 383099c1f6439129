// The axes of a bridge crane in z = 0: two girders along x, two end-carriages along y, and a trolley,
// a frame whose corners lie on the girders at nodes of its own. Sizes in metres.
DefineConstant[
  span = {22, Min 5, Max 100, Step 0.5, Name "Parameters/span"}
  wheelbase = {4.8, Min 0.5, Max 50, Step 0.1, Name "Parameters/wheelbase"}
  spacing = {2.4, Min 0.2, Max 50, Step 0.1, Name "Parameters/spacing"}
  trolley = {0, Min -48, Max 48, Step 0.5, Name "Parameters/trolley"}
  refine = {1, Min 1, Max 100, Step 1, Name "Parameters/refine"}
];
reach = 2; // from the trolley's middle to the ends of the finely divided part of a girder
arm = 1;   // and to its wheels
fine = 0.1 / refine;
coarse = 0.2 / refine;

If (Fabs(trolley) + reach >= span / 2)
  Error("Parameters/trolley: the trolley must stay %g m and more from the ends of the girders", reach);
EndIf
If (wheelbase <= spacing)
  Error("Parameters/wheelbase must be larger than Parameters/spacing, that of the girders");
EndIf

// A curve between two points in equal elements of at most `size`.
Macro Beam
  c = newc;
  Line(c) = {from, to};
  ends[] = {};
  a[] = Point{from};
  b[] = Point{to};
  length = Sqrt((b[0] - a[0])^2 + (b[1] - a[1])^2);
  Transfinite Curve {c} = Ceil(length / size - 1e-6) + 1;
Return

far[] = {};
near[] = {};
atwheels[] = {};
carriages[] = {};
frame[] = {};
corners[] = {};

// Girders, y = -spacing/2 and spacing/2.
x[] = {-span / 2, trolley - reach, trolley - arm - fine, trolley - arm, trolley - arm + fine,
       trolley + arm - fine, trolley + arm, trolley + arm + fine, trolley + reach, span / 2};
For side In {0:1}
  For i In {0:9}
    p~{side}~{i} = newp;
    Point(p~{side}~{i}) = {x[i], (side - 0.5) * spacing, 0};
  EndFor
  For i In {1:9}
    from = p~{side}~{i - 1};
    to = p~{side}~{i};
    size = (i == 1 || i == 9) ? coarse : fine;
    Call Beam;
    If (i == 1 || i == 9)
      far[] += c;
    ElseIf (i == 2 || i == 5 || i == 8)
      near[] += c;
    Else
      atwheels[] += c;
    EndIf
  EndFor
EndFor

// End-carriages, x = -span/2 and span/2; the girders end at nodes of theirs.
size = coarse;
For end In {0:1}
  first = newp;
  Point(first) = {(end - 0.5) * span, -wheelbase / 2, 0};
  last = newp;
  Point(last) = {(end - 0.5) * span, wheelbase / 2, 0};
  q[] = {first, p~{0}~{9 * end}, p~{1}~{9 * end}, last};
  corners[] += {first, last};
  For i In {1:3}
    from = q[i - 1];
    to = q[i];
    Call Beam;
    carriages[] += c;
  EndFor
EndFor

// Trolley: its corners have the girders' coordinates, but are other points.
size = fine;
px[] = {trolley - arm, trolley + arm, trolley + arm, trolley - arm};
py[] = {-spacing / 2, -spacing / 2, spacing / 2, spacing / 2};
wheels[] = {};
For i In {0:3}
  wheels[i] = newp;
  Point(wheels[i]) = {px[i], py[i], 0};
EndFor
touching[] = {};
For i In {0:3}
  dx = px[(i + 1) % 4] - px[i];
  dy = py[(i + 1) % 4] - py[i];
  share = fine / Sqrt(dx^2 + dy^2);
  u = newp;
  Point(u) = {px[i] + share * dx, py[i] + share * dy, 0};
  w = newp;
  Point(w) = {px[i] + (1 - share) * dx, py[i] + (1 - share) * dy, 0};
  q[] = {wheels[i], u, w, wheels[(i + 1) % 4]};
  For j In {1:3}
    from = q[j - 1];
    to = q[j];
    Call Beam;
    If (j == 2)
      frame[] += c;
    Else
      touching[] += c;
    EndIf
  EndFor
EndFor

Physical Curve("girders far") = far[];
Physical Curve("girders near") = near[];
Physical Curve("girders at wheels") = atwheels[];
Physical Curve("end-carriages") = carriages[];
Physical Curve("trolley") = frame[];
Physical Curve("trolley at wheels") = touching[];
Physical Point("crane wheels") = corners[];
Physical Point("girder wheels") = {p~{0}~{3}, p~{0}~{6}, p~{1}~{3}, p~{1}~{6}};
Physical Point("trolley wheels") = wheels[];

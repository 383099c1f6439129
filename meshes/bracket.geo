// A flanged bracket: a base flange with four bolt holes, an upright plate with a bored eye, a rib on both
// sides of the plate, fillets at the foot of plate and ribs, rounded edges. The bolts are along z, the
// eye along y. Sizes in metres.
//
// bracket.step is made from it, with its lengths in millimetres, as CAD programs write them, by
//   gmsh meshes/bracket.geo -setnumber Parameters/unit 1000 -0 -o meshes/bracket.step
// (without that program: gmsh.initialize(["gmsh", "meshes/bracket.geo", ...], run=True) in Python),
// after which the date in its FILE_NAME was set to 2026-01-01.
SetFactory("OpenCASCADE");
DefineConstant[
  length = {0.12, Min 0.1, Max 0.2, Step 0.005, Name "Parameters/length"}
  width = {0.09, Min 0.08, Max 0.15, Step 0.005, Name "Parameters/width"}
  thickness = {0.012, Min 0.008, Max 0.02, Step 0.001, Name "Parameters/thickness"}
  height = {0.08, Min 0.07, Max 0.15, Step 0.005, Name "Parameters/height"}
  eye = {0.027, Min 0.02, Max 0.035, Step 0.001, Name "Parameters/eye"}
  bore = {0.015, Min 0.005, Max 0.018, Step 0.001, Name "Parameters/bore"}
  bolt = {0.006, Min 0.004, Max 0.007, Step 0.0005, Name "Parameters/bolt"}
  fillet = {0.006, Min 0.004, Max 0.007, Step 0.0005, Name "Parameters/fillet"}
  size = {0.004, Min 0.001, Max 0.02, Step 0.0005, Name "Parameters/size"}
  unit = {1, Choices{1, 1000}, Name "Parameters/unit"} // lengths of the model in a metre
];
a = length * unit / 2;
b = width * unit / 2;
t = thickness * unit;
h = height * unit;     // of the eye's axis
R = eye * unit;        // radii of the eye, its bore and the bolt holes
r = bore * unit;
s = bolt * unit;
f = fillet * unit;
p = 0.008 * unit;      // half the thickness of the plate
q = 0.007 * unit;      // and of a rib
e = 0.018 * unit;      // half the length of the eye
foot = 0.04 * unit;    // half the length of the plate where it stands on the flange
toe = 0.034 * unit;    // reach of a rib from the middle there
corner = 0.014 * unit; // distance of the bolt holes from the edges, and radius of the corners
round = 0.004 * unit;
tiny = 1e-5 * unit;

// The flange, rounded, and its bolt holes.
Box(1) = {-a, -b, 0, 2 * a, 2 * b, t};
edges[] = {};
For i In {-1:1:2}
  For j In {-1:1:2}
    edges[] += Curve In BoundingBox{i * a - tiny, j * b - tiny, -tiny, i * a + tiny, j * b + tiny, t + tiny};
  EndFor
EndFor
Fillet{1}{edges[]}{corner}

// The plate and the ribs: prisms that begin inside the flange and end inside the eye, their flanks rounded.
// Where a flank leaves the flange it has the distance foot, or toe, from the middle.
z0 = t / 2;
outer[] = {foot, toe};
inner[] = {0.7 * R, p + round};
upper[] = {h - 0.5 * R, h - 0.9 * R};
half[] = {p, q};
For i In {0:1}
  top = upper[i];
  slope = (outer[i] - inner[i]) / (top - t);
  low = outer[i] + slope * (t - z0);
  n = newp;
  x[] = {-low, low, inner[i], -inner[i]};
  z[] = {z0, z0, top, top};
  For j In {0:3}
    If (i == 0)
      Point(n + j) = {x[j], -half[i], z[j]};
    Else
      Point(n + j) = {-half[i], x[j], z[j]};
    EndIf
  EndFor
  c = newc;
  For j In {0:3}
    Line(c + j) = {n + j, n + (j + 1) % 4};
  EndFor
  loop = newcl;
  Curve Loop(loop) = {c:c + 3};
  k = news;
  Plane Surface(k) = {loop};
  If (i == 0)
    out[] = Extrude {0, 2 * p, 0} { Surface{k}; };
  Else
    out[] = Extrude {2 * q, 0, 0} { Surface{k}; };
  EndIf
  part~{i} = out[1];
  edges[] = {};
  For j In {0:3}
    side = (j < 2) ? 1 : -1;
    across = (j % 2 == 0) ? half[i] : -half[i];
    lo = (side > 0) ? inner[i] : -low;
    hi = (side > 0) ? low : -inner[i];
    If (i == 0)
      edges[] += Curve In BoundingBox{lo - tiny, across - tiny, z0 - tiny, hi + tiny, across + tiny, top + tiny};
    Else
      edges[] += Curve In BoundingBox{across - tiny, lo - tiny, z0 - tiny, across + tiny, hi + tiny, top + tiny};
    EndIf
  EndFor
  Fillet{part~{i}}{edges[]}{round}
EndFor

// The eye, one body of all, and the fillets at the foot: every edge in the plane of the flange's top.
v = newv;
Cylinder(v) = {0, -e, h, 0, 2 * e, 0, R};
body[] = BooleanUnion{ Volume{1}; Delete; }{ Volume{part~{0}, part~{1}, v}; Delete; };
edges[] = Curve In BoundingBox{-foot - tiny, -b, t - tiny, foot + tiny, b, t + tiny};
edges[] += Curve In BoundingBox{-q - tiny, -p - tiny, t - tiny, q + tiny, p + tiny, h};
Fillet{body[0]}{edges[]}{f}

v = newv;
Cylinder(v) = {0, -2 * e, h, 0, 4 * e, 0, r};
tools[] = {v};
For i In {-1:1:2}
  For j In {-1:1:2}
    v = newv;
    Cylinder(v) = {i * (a - corner), j * (b - corner), -t, 0, 0, 3 * t, s};
    tools[] += v;
  EndFor
EndFor
body[] = BooleanDifference{ Volume{body[0]}; Delete; }{ Volume{tools[]}; Delete; };

MeshSize{ PointsOf{ Volume{body[0]}; } } = size * unit;
Physical Volume("body") = {body[0]};
Physical Surface("skin") = CombinedBoundary{ Volume{body[0]}; };

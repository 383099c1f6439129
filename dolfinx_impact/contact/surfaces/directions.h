/* Directions of facets, by which they are divided before places: most of what is near to one is on its own side;
   includes planes.h. */

#define DIRECTIONS 6
#define CONE_ROUNDING 1e-6 /* of an angle: the square root of that of its cosine */
/* Change of the cosine of the normals of two facets until the next search, where both are no slivers and not
   curved: their nodes do not use up the margin to turn both against each other. No strict bound: that is the sum of both
   chords, 0.7 for squares, with which facets on both sides of each edge of a right angle would be candidates. Facets
   that lean by less than 60 degrees + what turned them by more in between are found at the next search. */
#define TURNING 0.45
/* Chord of the turn above which a facet is a sliver; a square has 0.36, half of it 0.55. */
#define SLIVERS 0.6

/* Normals within an angle about an axis. */
typedef struct {
    double axis[3], angle; /* infinite where facets may turn by more than TURNING allows */
} Cone;

/* The axis to which a normal is closest, 2 for each direction in space. */
static int direction_of(const double *n)
{
    int axis = fabs(n[1]) > fabs(n[0]);
    axis = fabs(n[2]) > fabs(n[axis]) ? 2 : axis;
    return 2 * axis + (n[axis] < 0.0);
}

static Cone cone_of(const Mesh *mesh, const Plane *planes, const Sphere *spheres, int64_t count)
{
    Cone cone = {{0.0}, 0.0};
    double least = 1.0, chord = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const Plane *plane = planes + spheres[i].number;
        for (int k = 0; k < 3; k++)
            cone.axis[k] += plane->normal[k];
        chord = larger(chord, plane->chord);
    }
    double size = sqrt(dot(cone.axis, cone.axis));
    for (int k = 0; k < 3; k++)
        cone.axis[k] /= size;
    for (int64_t i = 0; i < count; i++)
        least = smaller(least, dot(cone.axis, planes[spheres[i].number].normal));
    cone.angle = !mesh->curved && chord > SLIVERS ? INFINITY : acos(least) + CONE_ROUNDING;
    return cone;
}

/* Whether a normal in one cone and one in another may have an angle above the limit; true of what is no number. */
static int may_face(const Cone *one, const Cone *other, double limit)
{
    double cosine = larger(-1.0, smaller(1.0, dot(one->axis, other->axis)));
    return !(acos(cosine) + one->angle + other->angle <= limit);
}

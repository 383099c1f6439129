/* Distances of two facets now, and whether they may have a segment before the next search; includes planes.h. */

#define SQRT3 1.7320508075688772

/* Largest distance of two polygons in a plane on the normals of their edges; 0 where they overlap on all. */
static inline double separation(double at[2][2][CORNERS], const int count)
{
    double nx[2 * CORNERS], ny[2 * CORNERS], low[2][2 * CORNERS], high[2][2 * CORNERS], largest = 0.0;
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < count; k++) {
            int next = k + 1 < count ? k + 1 : 0, axis = side * count + k;
            nx[axis] = at[side][1][next] - at[side][1][k], ny[axis] = at[side][0][k] - at[side][0][next];
        }
    for (int side = 0; side < 2; side++) {
        for (int axis = 0; axis < 2 * count; axis++)
            low[side][axis] = high[side][axis] = nx[axis] * at[side][0][0] + ny[axis] * at[side][1][0];
        for (int k = 1; k < count; k++)
            for (int axis = 0; axis < 2 * count; axis++) {
                double along = nx[axis] * at[side][0][k] + ny[axis] * at[side][1][k];
                low[side][axis] = smaller(low[side][axis], along);
                high[side][axis] = larger(high[side][axis], along);
            }
    }
    for (int axis = 0; axis < 2 * count; axis++) {
        double apart = larger(low[1][axis] - high[0][axis], low[0][axis] - high[1][axis]);
        if (apart > 0.0)
            largest = larger(largest, apart / sqrt(nx[axis] * nx[axis] + ny[axis] * ny[axis]));
    }
    return largest;
}

/* Distance of the projections of two facets along n; `apart` is the way from the slave to the master. */
static double separation_along(const Mesh *mesh, const double *n, const Plane *slave, const Plane *master,
                               const double *apart)
{
    double at[2][2][CORNERS];
    if (mesh->gdim == 2) {
        double ends[2][2], way = n[0] * apart[1] - n[1] * apart[0];
        for (int k = 0; k < 2; k++) {
            ends[0][k] = n[0] * slave->at[k][1] - n[1] * slave->at[k][0];
            ends[1][k] = n[0] * master->at[k][1] - n[1] * master->at[k][0] + way;
        }
        double behind = smaller(ends[1][0], ends[1][1]) - larger(ends[0][0], ends[0][1]);
        return larger(larger(0.0, behind), smaller(ends[0][0], ends[0][1]) - larger(ends[1][0], ends[1][1]));
    }
    /* Unit tangents, Duff et al., J. Comput. Graph. Tech. 6 (2017). */
    double sign = copysign(1.0, n[2]), c = -1.0 / (sign + n[2]);
    double a[3] = {1.0 + sign * n[0] * n[0] * c, sign * n[0] * n[1] * c, -sign * n[0]};
    double b[3] = {n[0] * n[1] * c, sign + n[1] * n[1] * c, -n[1]}, way[2] = {dot(a, apart), dot(b, apart)};
    for (int64_t k = 0; k < mesh->corners; k++) {
        at[0][0][k] = dot(a, slave->at[k]), at[0][1][k] = dot(b, slave->at[k]);
        at[1][0][k] = dot(a, master->at[k]) + way[0], at[1][1][k] = dot(b, master->at[k]) + way[1];
    }
    return mesh->corners == 3 ? separation(at, 3) : separation(at, 4);
}

/* Least and largest distance along n of the corners from the centre. */
static inline void extent(const Mesh *mesh, const double *n, const Plane *plane, double *low, double *high)
{
    *low = *high = dot(n, plane->at[0]);
    for (int64_t k = 1; k < mesh->corners; k++) {
        double height = dot(n, plane->at[k]);
        *low = smaller(*low, height), *high = larger(*high, height);
    }
}

/* A slave and a master facet: common normal, way from one centre to the other, and the part of it along n; tangent of
   the turn of n until the next search and margin over its cosine, `bounded` below 60 degrees. */
typedef struct {
    const Sphere *slave, *master;
    const Plane *of_slave, *of_master;
    double n[3], apart[3], along, tangent, motion;
    int bounded;
} Pair;

typedef struct {
    double above, beside, lever;
} Distances;

/* The turn: n is that of w = w_m n_m - w_s n_s, of which |w' - w| <= w_m chord_m + w_s chord_s = c, and
   |w'|^2 >= w_m^2 + w_s^2 + w_m w_s >= 3/4 (w_m + w_s)^2 where both face each other (n_s.n_m <= -1/2). Since
   |w' - w|^2 = (|w'| - |w|)^2 + 4 |w'| |w| sin^2(theta / 2), sin^2(theta / 2) <= c^2 / (4 |w'| |w|). */
static inline Pair pair_of(const Sphere *slave, const Sphere *master, const Plane *of_slave, const Plane *of_master,
                           double margin)
{
    Pair pair = {.slave = slave, .master = master, .of_slave = of_slave, .of_master = of_master};
    double ws = of_slave->weight, wm = of_master->weight;
    minus(master->centre, slave->centre, pair.apart);
    for (int i = 0; i < 3; i++)
        pair.n[i] = wm * of_master->normal[i] - ws * of_slave->normal[i];
    double size = 1.0 / sqrt(dot(pair.n, pair.n)), chord = wm * of_master->chord + ws * of_slave->chord;
    double square = chord * chord * size / (2.0 * SQRT3 * (ws + wm)), cosine = 1.0 / (1.0 - 2.0 * square);
    for (int i = 0; i < 3; i++)
        pair.n[i] *= size;
    pair.along = dot(pair.n, pair.apart);
    pair.bounded = square < 0.25;
    pair.tangent = 2.0 * sqrt(square * (1.0 - square)) * cosine;
    pair.motion = margin * cosine;
    return pair;
}

/* Distances of two facets now, see search.py; whether they may have a segment before the next search, until which
   each node moves by at most margin / 2. Points of a facet are convex combinations of its corners, with weights
   that do not change.

   Say that then, along the normal n', points of both facets are opposite: x_s - x_m = g n'. Their segment has a
   mean gap up to the largest one, therefore such points with g up to that exist; along the present normal n they
   are above - margin apart or more, which is at most g where it and n.n' are positive. Now an axis e beside n on
   which the facets are `beside` apart at present, and the turn theta of n until then: |e.n'| <= sin(theta). Let both
   points have approached by a along e and b along n, a^2 + b^2 <= margin^2. Then beside - a <= e.(x_s - x_m), which
   is g e.n', and |g| cos(theta) = |n.(x_s - x_m)| <= lever + b, so that beside <= lever tan(theta) + a + b
   tan(theta), at most lever tan(theta) + margin / cos(theta). */
static int may_meet(const Mesh *mesh, const Pair *pair, Distances *found)
{
    double low[2], high[2];
    extent(mesh, pair->n, pair->of_slave, low, high);
    extent(mesh, pair->n, pair->of_master, low + 1, high + 1);
    found->above = low[0] - high[1] - pair->along;
    found->lever = larger(fabs(found->above), fabs(high[0] - low[1] - pair->along));
    if (pair->bounded && found->above > mesh->margin + larger(pair->slave->gap, pair->master->gap))
        return 0;
    found->beside = separation_along(mesh, pair->n, pair->of_slave, pair->of_master, pair->apart);
    return !(pair->bounded && found->beside > found->lever * pair->tangent + pair->motion);
}

/* Candidate pairs of facets, with bounds of what moves until the next search; includes boxes.h. */
#include <stddef.h>
#include <stdlib.h>

#define CORNERS 4
#define SQRT3 1.7320508075688772
#define LANES 16 /* pairs of which the first bounds are computed at once */
#define ROUNDING 1e-14
#define CONE_ROUNDING 1e-6 /* of an angle: the square root of that of its cosine */
#define DIRECTIONS 6
/* Change of the cosine of the normals of two facets until the next search, where both are no slivers and not
   curved: their nodes do not use up the margin to turn both against each other. No strict bound: that is the sum of both
   chords, 0.7 for squares, with which facets on both sides of each edge of a right angle would be candidates. Facets
   that lean by less than 60 degrees + what turned them by more in between are found at the next search. */
#define TURNING 0.45
/* Chord of the turn above which a facet is a sliver; a square has 0.36, half of it 0.55. */
#define SLIVERS 0.6

typedef struct {
    int64_t gdim, per_facet, corners, curved;
    const double *x, *flatness;
    const int64_t *nodes, *corner;
    double margin;
} Mesh;

/* What is known of a facet at present. */
typedef struct {
    double normal[3], at[CORNERS][3]; /* outward; corners, from the centre */
    double warp, chord;               /* largest distance of a corner from the plane; of the turn, see below */
    double weight;                    /* of the normal in common ones */
} Plane;

static inline double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline void minus(const double *a, const double *b, double *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

static inline void place(const Mesh *mesh, int64_t node, double *at)
{
    const double *x = mesh->x + node * mesh->gdim;
    at[0] = x[0], at[1] = x[1], at[2] = mesh->gdim == 3 ? x[2] : 0.0;
}

static void enclose(const Mesh *mesh, int64_t facet, double largest_gap, double diameter, const int64_t *key,
                    Sphere *sphere)
{
    const int64_t *nodes = mesh->nodes + facet * mesh->per_facet;
    double one[3], square = 0.0, *centre = sphere->centre;
    centre[0] = centre[1] = centre[2] = 0.0;
    for (int64_t k = 0; k < mesh->per_facet; k++) {
        place(mesh, nodes[k], one);
        for (int i = 0; i < 3; i++)
            centre[i] += one[i];
    }
    for (int i = 0; i < 3; i++)
        centre[i] /= mesh->per_facet;
    for (int64_t k = 0; k < mesh->per_facet; k++) {
        place(mesh, nodes[k], one);
        minus(one, centre, one);
        square = larger(square, dot(one, one));
    }
    sphere->radius = sqrt(square);
    sphere->gap = largest_gap * larger(2.0 * sphere->radius, diameter);
    sphere->number = facet, sphere->key = key ? key[facet] : INT64_MAX;
}

/* The normal of a facet, and the chord 2 sin(turn / 2) of its turn while each node moves by at most margin / 2;
   4 without a bound.

   The normal is that of the plane of p and q (edges of a triangle from one corner, diagonals of a quadrilateral).
   A vector y = a p + b q of the plane becomes y + d. In a triangle d = a (d_1 - d_0) + b (d_2 - d_0), therefore
   |d| <= margin max(|a|, |b|, |a + b|); in a quadrilateral |d| <= margin (|a| + |b|). Vectors with 1 in the place
   of these norms end on a hexagon with the edges +-p, +-q, +-(p - q), or on a rhomb with the edges +-(p + q),
   +-(p - q): |y| is at least their distance to the origin, l = |p x q| / (longest edge). So |d| <= |y| margin / l,
   and no vector of the plane rises by more than the turn with sin(turn) = margin / l. In 2D l is the length. */
static void describe(const Mesh *mesh, const Sphere *sphere, Plane *plane)
{
    const int64_t *nodes = mesh->nodes + sphere->number * mesh->per_facet, k = mesh->corners;
    double(*at)[3] = plane->at, *n = plane->normal, p[3], q[3], sum[3], difference[3], longest = 1.0;
    for (int64_t i = 0; i < k; i++) {
        place(mesh, nodes[mesh->corner[i]], at[i]);
        minus(at[i], sphere->centre, at[i]);
    }
    minus(at[k == 4 ? 2 : 1], at[0], p);
    if (mesh->gdim == 2) {
        n[0] = p[1], n[1] = -p[0], n[2] = 0.0;
    } else {
        minus(at[k - 1], at[k == 4 ? 1 : 0], q);
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, l = (i + 2) % 3;
            n[i] = p[j] * q[l] - p[l] * q[j];
            sum[i] = p[i] + q[i], difference[i] = p[i] - q[i];
        }
        longest = k == 4 ? dot(sum, sum) : larger(dot(p, p), dot(q, q));
        longest = sqrt(larger(longest, dot(difference, difference)));
    }
    double size = sqrt(dot(n, n)), sine = mesh->margin * longest / size;
    plane->chord = sine < 1.0 ? sqrt(2.0 * (1.0 - sqrt(1.0 - sine * sine))) : 4.0;
    plane->weight = mesh->flatness[sphere->number];
    plane->warp = 0.0;
    for (int i = 0; i < 3; i++)
        n[i] /= size;
    for (int64_t i = 0; i < k; i++)
        plane->warp = larger(plane->warp, fabs(dot(n, at[i])));
}

/* -- bounds */

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

/* -- directions, by which facets are divided before places: most of what is near to one is on its own side */

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

/* -- search */

static int ascending(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

static void sort(int64_t *at, int64_t count)
{
    if (count > 48) {
        qsort(at, count, sizeof(int64_t), ascending);
        return;
    }
    for (int64_t i = 1; i < count; i++) {
        int64_t one = at[i], j = i;
        for (; j > 0 && at[j - 1] > one; j--)
            at[j] = at[j - 1];
        at[j] = one;
    }
}

typedef struct {
    int64_t capacity, count, *pairs, *member;
    double *distances;
} Found;

static void add(Found *found, int64_t first, int64_t second, int64_t member, const Distances *distances)
{
    int64_t p = found->count++;
    if (p >= found->capacity)
        return;
    found->pairs[2 * p] = first, found->pairs[2 * p + 1] = second, found->member[p] = member;
    memcpy(found->distances + 3 * p, distances, sizeof(Distances));
}

/* Facets or nodes in boxes: the one around all of them, and its parts from `root` to `end`, once something is near: a
   tree for each direction of facets, its root -1 where there are none. */
typedef struct {
    Box around;
    const int64_t *entries;
    int64_t size, first, root, end, roots[DIRECTIONS]; /* first: place of its spheres */
    Cone cones[DIRECTIONS];
} Tree;

typedef struct {
    Tree *surfaces, *lists;
    Sphere *of_facet, *spheres, *around; /* in trees; near to a box */
    Plane *planes;                       /* those in use are known */
    Box *boxes;
    char *known;
    int64_t *near, *start, *count; /* what is near to each facet, or to each point by its place in its list */
    int64_t used, room;
} Work;

static Sphere sphere_of(const Mesh *mesh, const Work *work, int64_t entry, int points)
{
    Sphere point = {{0.0}, 0.0, 0.0, entry, INT64_MIN};
    if (!points)
        return work->of_facet[entry];
    place(mesh, entry, point.centre);
    return point;
}

static void start_tree(const Mesh *mesh, const Work *work, const int64_t *entries, int64_t size, int64_t first,
                       int points, Tree *tree)
{
    *tree = (Tree){.entries = entries, .size = size, .first = first, .root = -1};
    clear(&tree->around);
    for (int64_t i = 0; i < size; i++) {
        Sphere one = sphere_of(mesh, work, entries[i], points);
        if (is_finite(&one))
            include(&tree->around, &one);
    }
}

static const Plane *plane_of(const Mesh *mesh, Work *work, int64_t facet)
{
    if (!work->known[facet]) {
        describe(mesh, work->of_facet + facet, work->planes + facet);
        work->known[facet] = 1;
    }
    return work->planes + facet;
}

/* Divide a tree; its spheres have the numbers of facets, or of points their places in a list. A list without keys
   looks for all. */
static void grow(const Mesh *mesh, Work *work, int points, int keys, Tree *tree)
{
    int64_t first = tree->first;
    if (tree->root >= 0)
        return;
    tree->root = work->used;
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        Sphere *spheres = work->spheres + first;
        int64_t count = 0;
        for (int64_t i = 0; i < tree->size; i++) {
            int64_t entry = tree->entries[i];
            if ((points ? 0 : direction_of(plane_of(mesh, work, entry)->normal)) != direction)
                continue;
            Sphere one = sphere_of(mesh, work, entry, points);
            if (points)
                one.number = i;
            if (!keys)
                one.key = INT64_MIN;
            if (is_finite(&one))
                spheres[count++] = one;
        }
        tree->roots[direction] = count ? work->used : -1;
        if (count && !points)
            tree->cones[direction] = cone_of(mesh, work->planes, spheres, count);
        if (count)
            divide(work->spheres, first, count, work->boxes, &work->used);
        first += count;
    }
    tree->end = work->used;
}

/* Divide the trees of a list and of a surface, one tree where both have the same facets with keys. */
static void grow_both(const Mesh *mesh, Work *work, int points, int keys, Tree *list, Tree *surface)
{
    grow(mesh, work, 0, 1, surface);
    if (keys && !points && list->size == surface->size &&
        !memcmp(list->entries, surface->entries, list->size * sizeof(int64_t)))
        *list = *surface;
    grow(mesh, work, points, keys, list);
}

/* Copy the spheres of a surface that may reach those in a box and face them; returns how many. */
static int64_t gather_facing(const Mesh *mesh, const Work *work, int points, double facing, const Box *box,
                             const Tree *surface)
{
    double limit = acos(facing + TURNING);
    int64_t count = 0;
    Cone cone = {{0.0}, INFINITY};
    if (!points)
        cone = cone_of(mesh, work->planes, work->spheres + box->first, box->count);
    for (int k = 0; k < DIRECTIONS; k++)
        if (surface->roots[k] >= 0 && may_face(&cone, surface->cones + k, limit))
            count += gather_near(box, work->boxes, surface->roots[k], work->spheres, mesh->margin,
                                 work->around + count);
    return count;
}

/* Find what is near to each entry of a list, box by box; returns 0 without memory. */
static int find_near(const Mesh *mesh, Work *work, int points, double facing, const Tree *list, const Tree *surface)
{
    int64_t total = 0;
    for (int64_t i = 0; i < list->size; i++)
        work->count[points ? i : list->entries[i]] = 0;
    for (int64_t k = list->root; k < list->end; k++) {
        const Box *box = work->boxes + k;
        if (box->right)
            continue;
        int64_t around = gather_facing(mesh, work, points, facing, box, surface);
        if (total + around * box->count > work->room) {
            int64_t room = 2 * (total + around * box->count);
            int64_t *moved = realloc(work->near, room * sizeof(int64_t));
            if (!moved)
                return 0;
            work->near = moved, work->room = room;
        }
        for (int64_t i = box->first; around && i < box->first + box->count; i++) {
            const Sphere *one = work->spheres + i;
            work->start[one->number] = total;
            work->count[one->number] = select_near(one, work->around, around, mesh->margin, work->near + total);
            total += work->count[one->number];
        }
    }
    return 1;
}

/* Keep the facets that may face another one until the next search: few of those that are near, in a pile a fifth. */
static int64_t select_facing(const Mesh *mesh, Work *work, const Plane *plane, int64_t *near, int64_t count,
                             double facing)
{
    const double *n = plane->normal;
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        const Plane *other = plane_of(mesh, work, near[i]);
        double cosine = n[0] * other->normal[0] + n[1] * other->normal[1] + n[2] * other->normal[2];
        int slivers = (!mesh->curved) & (larger(other->chord, plane->chord) > SLIVERS);
        near[kept] = near[i];
        kept += cosine < facing + (slivers ? other->chord + plane->chord : TURNING);
    }
    return kept;
}

/* Keep the facets that may face another one, and that it may meet by a bound without corners: see may_meet. Both lie in
   circles about their centres, and rise by less than `thick` from there. Several at a time, in the lanes of the
   processor. */
static int64_t select_opposite(const Mesh *mesh, Work *work, int64_t s, int64_t *near, int64_t count, double facing)
{
    const Plane *plane = plane_of(mesh, work, s);
    const double *n = plane->normal, *at = work->of_facet[s].centre, radius = work->of_facet[s].radius;
    double x[3][LANES], m[3][LANES], r[LANES], warp[LANES], chord[LANES], w[LANES];
    int64_t kept = 0, chosen[LANES];
    count = select_facing(mesh, work, plane, near, count, facing);
    for (int64_t first = 0; first < count; first += LANES) {
        int64_t size = count - first < LANES ? count - first : LANES;
        for (int64_t i = 0; i < LANES; i++) {
            int64_t facet = near[first + (i < size ? i : 0)];
            const Plane *other = plane_of(mesh, work, facet);
            const Sphere *sphere = work->of_facet + facet;
            for (int k = 0; k < 3; k++)
                x[k][i] = sphere->centre[k] - at[k], m[k][i] = other->normal[k];
            r[i] = sphere->radius, warp[i] = other->warp, chord[i] = other->chord, w[i] = other->weight;
        }
        for (int64_t i = 0; i < LANES; i++) {
            double cosine = n[0] * m[0][i] + n[1] * m[1][i] + n[2] * m[2][i], ws = plane->weight, wm = w[i];
            double of_s = n[0] * x[0][i] + n[1] * x[1][i] + n[2] * x[2][i];
            double of_m = m[0][i] * x[0][i] + m[1][i] * x[1][i] + m[2][i] * x[2][i];
            double square = x[0][i] * x[0][i] + x[1][i] * x[1][i] + x[2][i] * x[2][i];
            double size = 1.0 / sqrt(wm * wm + ws * ws - 2.0 * wm * ws * cosine);
            double along = (wm * of_m - ws * of_s) * size;
            double cs = (wm * cosine - ws) * size, cm = (wm - ws * cosine) * size;
            double ends = wm * chord[i] + ws * plane->chord, half = ends * ends * size / (2.0 * SQRT3 * (ws + wm));
            double thick = plane->warp + radius * sqrt(larger(0.0, 1.0 - cs * cs) + ROUNDING) + warp[i] +
                           r[i] * sqrt(larger(0.0, 1.0 - cm * cm) + ROUNDING);
            double reach = (fabs(along) + thick) * 2.0 * sqrt(half * larger(0.0, 1.0 - half)) + mesh->margin;
            reach = radius + r[i] + reach / (1.0 - 2.0 * half);
            chosen[i] = mesh->curved | (half >= 0.25) | (square - along * along <= reach * reach);
        }
        for (int64_t i = 0; i < size; i++) {
            near[kept] = near[first + i];
            kept += chosen[i];
        }
    }
    return kept;
}

static void add_facets(const Mesh *mesh, Work *work, int64_t s, int64_t *near, int64_t count, int64_t member,
                       double facing, Found *found)
{
    const Sphere *spheres = work->of_facet;
    const Plane *planes = work->planes;
    int64_t kept = select_opposite(mesh, work, s, near, count, facing);
    sort(near, kept);
    for (int64_t i = 0; i < kept; i++) {
        Pair pair = pair_of(spheres + s, spheres + near[i], planes + s, planes + near[i], mesh->margin);
        Distances distances = {-INFINITY, -INFINITY, INFINITY};
        if (mesh->curved || may_meet(mesh, &pair, &distances))
            add(found, s, near[i], member, &distances);
    }
}

static void add_corner(const Mesh *mesh, Work *work, int64_t node, int64_t number, int64_t *near, int64_t count,
                       int64_t member, Found *found)
{
    double at[3], apart[3], low, high;
    place(mesh, node, at);
    sort(near, count);
    for (int64_t i = 0; i < count; i++) {
        const Plane *plane = plane_of(mesh, work, near[i]);
        Distances distances = {-INFINITY, 0.0, 0.0};
        if (!mesh->curved) {
            minus(at, work->of_facet[near[i]].centre, apart);
            extent(mesh, plane->normal, plane, &low, &high);
            distances.above = dot(plane->normal, apart) - high;
        }
        add(found, number, near[i], member, &distances);
    }
}

static int start_work(Work *work, int64_t facets, int64_t surfaces, int64_t of_surfaces, int64_t lists,
                      int64_t of_lists)
{
    int64_t spheres = of_surfaces + of_lists + 1, entries = facets + of_lists + 1;
    work->room = 32 * of_lists + 1;
    work->surfaces = malloc((surfaces + 1) * sizeof(Tree)), work->lists = malloc((lists + 1) * sizeof(Tree));
    work->of_facet = malloc((facets + 1) * sizeof(Sphere)), work->spheres = malloc(spheres * sizeof(Sphere));
    work->around = malloc((of_surfaces + 1) * sizeof(Sphere)), work->planes = malloc((facets + 1) * sizeof(Plane));
    work->boxes = malloc((spheres + surfaces + lists) * sizeof(Box)), work->known = calloc(facets + 1, 1);
    work->near = malloc(work->room * sizeof(int64_t)), work->start = malloc(entries * sizeof(int64_t));
    work->count = malloc(entries * sizeof(int64_t));
    return work->surfaces && work->lists && work->of_facet && work->spheres && work->around && work->planes &&
           work->boxes && work->known && work->near && work->start && work->count;
}

static void end_work(Work *work)
{
    free(work->surfaces), free(work->lists), free(work->of_facet), free(work->spheres), free(work->around);
    free(work->planes), free(work->boxes), free(work->known), free(work->near), free(work->start), free(work->count);
}

/* Pairs of all members, each a list of facets (or points: nodes) against all facets of a surface, where there are keys
   against those with a larger one.

   Returns the number of pairs, which may be larger than the capacity of the arrays; -1 without memory. */
int64_t find_candidates(int64_t gdim, const double *x, int64_t facets, int64_t per_facet, const int64_t *nodes,
                        int64_t corners, const int64_t *corner, int curved, const double *flatness,
                        const double *diameter, double largest_gap, double margin, double facing, int64_t surfaces,
                        const int64_t *surface_start, const int64_t *of_surface, int64_t lists,
                        const int64_t *list_start, const int64_t *list, int points, int64_t members,
                        const int64_t *list_of, const int64_t *surface_of, const int64_t *number, const int64_t *key,
                        int64_t capacity,
                        int64_t *pairs, int64_t *member, double *distances)
{
    Mesh mesh = {gdim, per_facet, corners, curved, x, flatness, nodes, corner, margin};
    Found found = {capacity, 0, pairs, member, distances};
    Work work = {0};
    int64_t total = surface_start[surfaces];
    int ready = start_work(&work, facets, surfaces, total, lists, list_start[lists]);
    for (int64_t i = 0; ready && i < total; i++)
        enclose(&mesh, of_surface[i], largest_gap, diameter[of_surface[i]], key, work.of_facet + of_surface[i]);
    for (int64_t k = 0; ready && k < surfaces; k++) {
        int64_t first = surface_start[k];
        start_tree(&mesh, &work, of_surface + first, surface_start[k + 1] - first, first, 0, work.surfaces + k);
    }
    for (int64_t k = 0; ready && k < lists; k++) {
        int64_t first = list_start[k];
        start_tree(&mesh, &work, list + first, list_start[k + 1] - first, total + first, points, work.lists + k);
    }
    for (int64_t k = 0; ready && k < members; k++) {
        Tree *one = work.lists + list_of[k], *surface = work.surfaces + surface_of[k];
        if (!boxes_reach(&one->around, &surface->around, margin))
            continue;
        grow_both(&mesh, &work, points, key != NULL, one, surface);
        ready = find_near(&mesh, &work, points, facing, one, surface);
        for (int64_t i = 0; ready && i < one->size; i++) {
            int64_t place = points ? i : one->entries[i];
            int64_t *near = work.near + work.start[place], count = work.count[place];
            if (count && points)
                add_corner(&mesh, &work, one->entries[i], number[k] + i, near, count, k, &found);
            else if (count)
                add_facets(&mesh, &work, one->entries[i], near, count, k, facing, &found);
        }
    }
    end_work(&work);
    return ready ? found.count : -1;
}

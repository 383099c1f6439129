/* The path test of two features: conservative advancement. */

#define ITERATIONS 200
#define MET 0.01     /* features meet at this part of their distance at the start, above the skins */
#define KEPT 0.02    /* the part that they have to keep */
#define ADVANCED 0.5 /* steps end at this part of the distance at which they meet */
#define CLEAR 1e-4   /* distance above the skins that they keep at least, over the longest edge */
#define WITHIN 0.98  /* features within their skins meet at this part of their distance */
#define APPROACH 1e-12 /* displacement that counts as none, over the longest edge */
#define SIDE 1e-13   /* volume of a feature pair that is round-off, over the product of its lengths */
#define HALVINGS 4
#define NOISE 1e-15    /* the same, over the coordinates */

typedef struct {
    double tau, weights[4], normal[3], least;
} Hit;

static void load(const features *f, const double *x, int kind, int64_t i, int64_t j, Duo *duo)
{
    const int32_t *second = kind ? f->edge + 2 * j : f->triangle + 3 * j;
    duo->first = kind ? 2 : 1;
    duo->count = kind || !f->flat ? 4 : 3;
    for (int k = 0; k < duo->count; k++)
        duo->node[k] = k >= duo->first ? second[k - duo->first] : kind ? f->edge[2 * i + k] : (int32_t)i;
    for (int k = duo->count - 1; k >= 0; k--)
        for (int c = 0; c < 3; c++) {
            duo->x[k][c] = x[3 * duo->node[k] + c] - x[3 * duo->node[0] + c];
            duo->d[k][c] = f->d[3 * duo->node[k] + c] - f->d[3 * duo->node[0] + c];
        }
}

static double longest_edge(const Duo *duo)
{
    double square = 0.0, u[3];
    for (int a = 0; a < duo->count; a++)
        for (int b = a + 1; b < duo->count; b++)
            if ((a < duo->first) == (b < duo->first)) {
                minus(duo->x[b], duo->x[a], u);
                square = larger(square, dot(u, u));
            }
    return sqrt(square);
}

/* Displacements along the normal up to which features do not approach: round-off. */
static double round_off(const features *f, const Duo *duo, double h)
{
    double size = 0.0;
    for (int i = 0; i < 3; i++)
        size = larger(size, fabs(f->x[3 * duo->node[0] + i]) + fabs(f->d[3 * duo->node[0] + i]));
    return APPROACH * h + NOISE * size;
}

/* Part of the step in which the distance along n stays above a limit, whatever n: a plane is in between, and vertices
   move on straight lines. */
static double room_along(const Duo *duo, const double (*x)[3], const double *n, double limit)
{
    double at[4], rate[4], room = INFINITY;
    for (int k = 0; k < duo->count; k++)
        at[k] = dot(n, x[k]), rate[k] = dot(n, duo->d[k]);
    for (int a = 0; a < duo->first; a++)
        for (int b = duo->first; b < duo->count; b++) {
            const double closing = rate[b] - rate[a];
            if (closing > 0.0)
                room = smaller(room, larger(0.0, at[a] - at[b] - limit) / closing);
        }
    return room;
}

static void moved_to(const Duo *duo, double tau, double (*x)[3])
{
    for (int k = 0; k < duo->count; k++)
        for (int i = 0; i < 3; i++)
            x[k][i] = duo->x[k][i] + tau * duo->d[k][i];
}

/* Mean outward normal of the triangles at an edge of facets. */
static void normal_at_edge(const features *f, int64_t edge, double *n)
{
    const int32_t *ends = f->edge + 2 * edge;
    n[0] = n[1] = n[2] = 0.0;
    for (int64_t k = f->at_edge_start[edge]; k < f->at_edge_start[edge + 1]; k++)
        for (int64_t t = f->at_edge[k] * f->parts; t < (f->at_edge[k] + 1) * f->parts; t++) {
            const int32_t *corner = f->triangle + 3 * t;
            double at[3][3], own[3];
            int common = 0;
            for (int c = 0; c < 3; c++) {
                common += corner[c] == ends[0] || corner[c] == ends[1];
                memcpy(at[c], f->x + 3 * corner[c], sizeof(at[c]));
            }
            if (common == 2 && outward(at, 3, own))
                for (int i = 0; i < 3; i++)
                    n[i] += own[i];
        }
    normalise(n, 0.0);
}

/* Normal of two features that touch: outward of the triangle, or the common perpendicular of edges, away from the
   second one; 0 for parallel edges, whose ends stand on triangles. */
static int touching_normal(const features *f, const Duo *duo, int64_t i, int64_t j, const double (*x)[3], double *n)
{
    double u[3], v[3], a[3], b[3];
    if (duo->first == 1)
        return outward(x + 1, duo->count - 1, n);
    minus(x[1], x[0], u);
    minus(x[3], x[2], v);
    cross(u, v, n);
    if (!normalise(n, sqrt(dot(u, u) * dot(v, v))))
        return 0;
    normal_at_edge(f, i, a);
    normal_at_edge(f, j, b);
    const double along = dot(n, b) - dot(n, a);
    for (int c = 0; c < 3; c++)
        n[c] *= along < 0.0 ? -1.0 : 1.0;
    return along != 0.0;
}

/* Whether a vertex on the border of a triangle enters the surface there, and this triangle is in its way most. */
static int enters_at_border(const features *f, int64_t t, const double *w, const double *path, double none, double along)
{
    return along <= steepest(f, t, w, path) + none && rise(f, f->x, t, w, path) < -none / sqrt(dot(path, path));
}

/* Features that touch at the start have no direction of their own, that of the surfaces decides. */
static int leaves_touching(const features *f, const Duo *duo, int64_t i, int64_t j, double h, Hit *hit)
{
    const double none = round_off(f, duo, h);
    double path[3], end[4][3], r[3], *w = hit->weights, *n = hit->normal;
    int within = 1;
    closest(duo, duo->x, w);
    for (int k = 0; k < duo->count; k++)
        within &= fabs(w[k]) > TOUCHING;
    if (touching_normal(f, duo, i, j, duo->x, n)) {
        weighted(duo, w, duo->d, path);
        weighted(duo, w, duo->x, r);
        hit->tau = 0.0, hit->least = -dot(n, r);
        const int moves_in = dot(n, path) < hit->least - none;
        if (moves_in && (within || (duo->first == 1 && enters_at_border(f, j, w + 1, path, none, dot(n, path)))))
            return 1;
    }
    moved_to(duo, 1.0, end);
    closest(duo, end, w);
    for (int k = 0; k < duo->count; k++)
        if (fabs(w[k]) <= TOUCHING)
            return 0;
    if (!touching_normal(f, duo, i, j, end, n))
        return 0;
    weighted(duo, w, end, r);
    weighted(duo, w, duo->d, path);
    hit->tau = 1.0;
    hit->least = dot(n, path) - dot(n, r);
    return dot(n, r) < -TOUCHING * h - none;
}

/* Whether a cubic with these Bernstein coefficients stays away from zero. */
static int stays_off(const double *c, double margin, int halvings)
{
    const double sign = c[0] < 0.0 ? -1.0 : 1.0;
    if (!(sign * c[0] > margin && sign * c[3] > margin))
        return 0;
    if (sign * c[1] > margin && sign * c[2] > margin)
        return 1;
    if (halvings == 0)
        return 0;
    const double a = 0.5 * (c[0] + c[1]), b = 0.5 * (c[1] + c[2]), d = 0.5 * (c[2] + c[3]);
    const double ab = 0.5 * (a + b), bd = 0.5 * (b + d), middle = 0.5 * (ab + bd);
    const double first[4] = {c[0], a, ab, middle}, second[4] = {middle, bd, d, c[3]};
    return stays_off(first, margin, halvings - 1) && stays_off(second, margin, halvings - 1);
}

/* Whether a vertex stays on its side of the plane that moves with a triangle, or the lines of two edges miss each other:
   features that are next to each other and turn, for which no plane at rest in between is enough. */
static int keeps_side(const Duo *duo)
{
    const int arms[2][3][2] = {{{1, 2}, {1, 3}, {1, 0}}, {{0, 1}, {2, 3}, {0, 2}}};
    double u[2][3][3], size = 1.0, c[4] = {0.0};
    for (int k = 0; k < 3; k++) {
        const int *arm = arms[duo->first - 1][k];
        double square = 0.0;
        for (int i = 0; i < 3; i++) {
            const int across = k == 1 && duo->count == 3; /* the normal of the plane of two dimensions */
            u[0][k][i] = across ? i == 2 : duo->x[arm[1]][i] - duo->x[arm[0]][i];
            u[1][k][i] = across ? i == 2 : u[0][k][i] + duo->d[arm[1]][i] - duo->d[arm[0]][i];
        }
        for (int end = 0; end < 2; end++)
            square = larger(square, dot(u[end][k], u[end][k]));
        size *= sqrt(square);
    }
    for (int ends = 0; ends < 8; ends++) {
        double n[3];
        const int first = ends & 1, second = ends >> 1 & 1, third = ends >> 2, count = first + second + third;
        cross(u[first][0], u[second][1], n);
        c[count] += dot(n, u[third][2]) / (count % 3 ? 3.0 : 1.0);
    }
    return stays_off(c, SIDE * size, HALVINGS);
}

/* Closest points and direction at the start in place of later ones, where what features slide by, times the turn of the
   direction, is small: the impulse acts along what is between its points, and has no torque. */
static void at_start(const Duo *duo, double kept, double small, double *w, double *n)
{
    double own[4], first[3], path[3], turn[3], r[3];
    closest(duo, duo->x, own);
    direction(duo, own, duo->x, first);
    minus(first, n, turn);
    weighted(duo, own, duo->d, path);
    weighted(duo, own, duo->x, r);
    if (sqrt(dot(turn, turn) * dot(path, path)) > small || !(dot(first, path) < kept - dot(first, r)))
        return;
    memcpy(w, own, sizeof(own));
    memcpy(n, first, sizeof(first));
}

/* Whether two features meet on their paths, at the sum of their skins or, where they are nearer, before they come
   closer. */
static int meet(const features *f, int kind, int64_t i, int64_t j, double skin, Hit *hit)
{
    Duo duo;
    double x[4][3], path[3], r[3], *w = hit->weights, *n = hit->normal;
    load(f, f->x, kind, i, j, &duo);
    const double h = longest_edge(&duo), start = closest(&duo, duo.x, w);
    if (!(start > TOUCHING * h))
        return leaves_touching(f, &duo, i, j, h, hit);
    if (skin == 0.0 && keeps_side(&duo))
        return 0;
    const double clear = CLEAR * h;
    const int above = start - skin > 1.1 * clear;
    const double keep = larger(KEPT * (start - skin), clear);
    const double met = above ? skin + MET / KEPT * keep : WITHIN * start;
    const double kept = above ? skin + keep : start;
    const double base = above ? skin : (2.0 * WITHIN - 1.0) * start;
    double limit = base + ADVANCED * (met - base), tau = 0.0;
    memcpy(x, duo.x, sizeof(x));
    for (int step = 0; step < ITERATIONS; step++) {
        direction(&duo, w, x, n);
        tau += room_along(&duo, x, n, limit);
        if (!(tau < 1.0))
            return 0;
        moved_to(&duo, tau, x);
        const double distance = closest(&duo, x, w);
        if (distance <= met) {
            direction(&duo, w, x, n);
            weighted(&duo, w, duo.d, path);
            if (dot(n, path) < 0.0)
                break;
            limit = base + ADVANCED * (smaller(limit, distance) - base); /* they move apart again */
        }
    }
    direction(&duo, w, x, n);
    at_start(&duo, kept, 0.1 * (kept - met), w, n);
    weighted(&duo, w, duo.x, r);
    hit->tau = tau;
    hit->least = kept - dot(n, r);
    return 1;
}

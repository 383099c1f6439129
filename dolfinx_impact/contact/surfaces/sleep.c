/* Facets now, and pairs of them that are left out of a step since no point at them can be closed. */

/* Largest change of the normals until which a pair may sleep: see is_apart and is_above. */
#define TURNED 0.2
/* Added to what facets moved, over their radii: points of segments and of corners lie in a facet to round-off. */
#define ROUNDING 1e-8
/* States of a part: without segments, with segments alone, with weights too. */
enum { ASLEEP, INTEGRATED, WEIGHED };

/* Whether points of a facet may be no convex combinations of its corners: with a normal of a pair, up to 60 degrees
   from its own n, a projected quadrilateral is convex where the normals at all corners are within 30 degrees. These
   differ from the mean one by |q| (|u| + |w|) / 2 at most, in the words of corner_map. */
static int may_fold(const double (*x)[G], const int32_t *nodes, const double *n, double radius, double size)
{
#if C == 4
    const double *at[4] = {x[nodes[CORNER[0]]], x[nodes[CORNER[1]]], x[nodes[CORNER[2]]], x[nodes[CORNER[3]]]};
    double square = 0.0;
    for (int i = 0; i < G; i++) {
        const double q = at[0][i] - at[1][i] + at[2][i] - at[3][i];
        square += q * q;
    }
    if (16.0 * radius * radius * square < size * size)
        return 0;
    for (int k = 0; k < 4; k++) {
        const double *o = at[k], *a = at[(k + 1) % 4], *b = at[(k + 3) % 4];
        double along = 0.0, normal = 0.0;
        for (int i = 0; i < G; i++) {
            const int j = (i + 1) % 3, m = (i + 2) % 3;
            const double c = (a[j] - o[j]) * (b[m] - o[m]) - (a[m] - o[m]) * (b[j] - o[j]);
            along += c * n[i];
            normal += c * c;
        }
        if (!(along > 0.0 && along * along > 0.75 * normal))
            return 1;
    }
#endif
    return 0;
}

/* Positions of the nodes; centres, normals, radii and sizes of facets; how far they moved and turned, and
   no bound of the turn where they may fold. */
void describe(tables *t)
{
    double(*x)[G] = (double(*)[G])t->x;
    double mean[G] = {0.0};
    for (ptrdiff_t k = 0; k < t->nodes; k++)
        for (int i = 0; i < G; i++) {
            x[k][i] = t->rest[k * G + i] + t->u[k * G + i];
            mean[i] += (t->u[k * G + i] - t->u_then[k * G + i]) / t->nodes;
        }
    for (ptrdiff_t k = 0; k < t->nodes; k++) {
        double square = 0.0;
        for (int i = 0; i < G; i++) {
            const double own = t->u[k * G + i] - t->u_then[k * G + i] - mean[i];
            square += own * own;
        }
        t->moved[k] = sqrt(square);
    }
    for (ptrdiff_t m = 0; m < t->used; m++) {
        const ptrdiff_t e = t->in_use[m];
        const int32_t *nodes = t->facet + e * N;
        double *centre = t->centre + e * G, *normal = t->normal + e * G, radius = 0.0, shift = 0.0, turn = 0.0;
        for (int i = 0; i < G; i++) {
            double sum = 0.0;
            for (int k = 0; k < N; k++)
                sum += x[nodes[k]][i];
            centre[i] = sum / N;
        }
        t->size[e] = facet_normal((const double(*)[G])x, nodes, normal);
        for (int k = 0; k < N; k++) {
            double square = 0.0;
            for (int i = 0; i < G; i++)
                square += (x[nodes[k]][i] - centre[i]) * (x[nodes[k]][i] - centre[i]);
            radius = square > radius ? square : radius;
            shift = t->moved[nodes[k]] > shift ? t->moved[nodes[k]] : shift;
        }
        for (int i = 0; i < G; i++) {
            const double change = normal[i] - t->normal_then[e * G + i];
            turn += change * change;
        }
        t->radius[e] = sqrt(radius);
        t->shift[e] = shift + ROUNDING * t->radius[e];
        t->turn[e] = may_fold((const double(*)[G])x, nodes, normal, t->radius[e], t->size[e]) ? INFINITY : sqrt(turn);
    }
}

/* How far both facets of a pair moved towards each other at most since the search, and how far n turned. */
static void motion_of(const tables *t, ptrdiff_t p, double *shift, double *turn)
{
    const int32_t e = t->pair[2 * p], f = t->pair[2 * p + 1];
    *shift = t->shift[e] + t->shift[f];
    *turn = t->turn[e] > t->turn[f] ? t->turn[e] : t->turn[f];
}

/* Whether a pair has no segment: on one side of an axis that was perpendicular to n lies the slave facet, on the
   other one the master. n is the normalised sum of two vectors that make less than 83 degrees, so it turned by at
   most 1.35 times as much as they did, and x_s - x_m = g n has at most 1.6 turn |n0.(x_s - x_m)| along the axis. */
static int is_apart(const tables *t, ptrdiff_t p)
{
    double shift, turn;
    motion_of(t, p, &shift, &turn);
    return turn <= TURNED && t->beside[p] > shift + 1.6 * turn * (t->lever[p] + shift);
}

/* Whether all gaps of a pair are above the tolerance: g n0.n = n0.(x_s - x_m) and 0 < n0.n <= 1. */
static int is_above(const tables *t, ptrdiff_t p)
{
    double shift, turn;
    motion_of(t, p, &shift, &turn);
    return turn <= TURNED && t->above[p] - shift > t->tolerance;
}

/* Decide which parts are looked at. The gap of a point depends on all facets around it, and these on whether
   their neighbours are covered: two rings of facets around those with a pair that may be closed. Beside corners
   every pair is looked at, since what covers a corner decides about its row. */
static int wake(tables *t, int every)
{
    int any = 0;
    memset(t->awake, every ? 1 : 0, t->slots);
    for (ptrdiff_t i = 0; i < t->parts_used; i++) {
        const ptrdiff_t e = t->part_used[i];
        t->state[e] = every ? WEIGHED : ASLEEP;
        for (ptrdiff_t p = t->start[e]; p < t->start[e + 1] && !every; p++) {
            if (t->wakeful[p])
                t->state[e] = INTEGRATED;
            if (is_above(t, p) || is_apart(t, p))
                continue;
            for (int k = 0; k < N; k++)
                t->awake[t->slot[e * N + k]] = 1;
            break;
        }
        any |= t->state[e] != ASLEEP;
    }
    if (every)
        return any;
    for (int ring = 1; ring <= 2; ring++)
        for (ptrdiff_t i = 0; i < t->parts_used; i++) {
            const ptrdiff_t e = t->part_used[i];
            int found = 0;
            for (int k = 0; k < N; k++)
                found |= t->awake[t->slot[e * N + k]] != 0 && t->awake[t->slot[e * N + k]] <= ring;
            if (!found)
                continue;
            any = 1;
            if (ring == 2)
                t->state[e] = t->state[e] == ASLEEP ? INTEGRATED : t->state[e];
            else
                t->state[e] = WEIGHED;
            for (int k = 0; k < N && ring == 1; k++)
                if (t->awake[t->slot[e * N + k]] == 0)
                    t->awake[t->slot[e * N + k]] = 2;
        }
    return any;
}

/* Nodes ahead of that which is looked at whose displacements are asked for: they lie in a vector that is far from the
   processor since the last step. */
#define AHEAD 32

/* Largest changes of the displacements since two moments, since a search and since kept, and whether they differ from
   the last ones; those of now are written. NaN stays NaN. `last` and `kept` may be the same, and `now` and `last`. */
void motion(ptrdiff_t count, const int32_t *nodes, ptrdiff_t block, const double *u, const double *then,
            const double *kept, const double *last, double *now, double *found)
{
    double squares[2] = {0.0, 0.0};
    int changed = 0;
    for (ptrdiff_t k = 0; k < count; k++) {
        const double *one = u + nodes[k] * block;
        double a = 0.0, b = 0.0;
        __builtin_prefetch(u + nodes[k + AHEAD < count ? k + AHEAD : k] * block);
        for (int i = 0; i < G; i++) {
            const ptrdiff_t at = k * G + i;
            const double value = one[i];
            a += (value - then[at]) * (value - then[at]);
            b += (value - kept[at]) * (value - kept[at]);
            changed |= !(value == last[at]);
            now[at] = value;
        }
        squares[0] = a > squares[0] || a != a ? a : squares[0];
        squares[1] = b > squares[1] || b != b ? b : squares[1];
    }
    found[0] = sqrt(squares[0]);
    found[1] = changed;
    found[2] = sqrt(squares[1]);
}

/* Edges that pierce triangles; in two dimensions segments that cross, of which one is taken for the triangle. */

static double height(const double *p, const double *on, const double *n)
{
    double r[3];
    minus(p, on, r);
    return dot(r, n);
}

/* Whether both ends are clearly on different sides of a triangle's plane; the part of the edge before it. */
static int changes_sides(const double *p, const double *q, const double (*at)[3], int corners, double *part)
{
    double n[3], u[3];
    minus(q, p, u);
    const double none = TOUCHING * sqrt(dot(u, u));
    if (!outward(at, corners, n))
        return 0;
    const double a = height(p, at[0], n), b = height(q, at[0], n);
    *part = a / (a - b);
    return (a > none && b < -none) || (a < -none && b > none);
}

/* Whether an edge passes through a triangle; on its border, whether it enters the surface there. */
static int pierces(const features *f, const double *x, int64_t edge, int64_t t)
{
    const double *p = x + 3 * f->edge[2 * edge], *q = x + 3 * f->edge[2 * edge + 1];
    const int corners = f->flat ? 2 : 3;
    double at[4][3], weights[4], part;
    corners_at(f, x, t, at + 1);
    for (int i = 0; i < 3; i++) {
        double low = at[1][i], high = at[1][i];
        for (int c = 2; c <= corners; c++)
            low = smaller(low, at[c][i]), high = larger(high, at[c][i]);
        if (larger(p[i], q[i]) < low || smaller(p[i], q[i]) > high)
            return 0;
    }
    if (related(f, 2, edge, t) || !changes_sides(p, q, at + 1, corners, &part))
        return 0;
    for (int i = 0; i < 3; i++)
        at[0][i] = p[i] + part * (q[i] - p[i]);
    double size = 0.0, u[3];
    for (int c = 2; c <= corners; c++) {
        minus(at[c], at[1], u);
        size = larger(size, dot(u, u));
    }
    if (of_vertex(at, corners, weights) > TOUCHING * TOUCHING * size)
        return 0;
    for (int c = 0; c < corners; c++) {
        if (weights[1 + c] > TOUCHING)
            continue;
        double back[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
        minus(q, p, u);
        const double before = rise(f, x, t, weights + 1, back), after = rise(f, x, t, weights + 1, u);
        return before * after < 0.0 && smaller(fabs(before), fabs(after)) > TOUCHING;
    }
    return 1;
}

/* How far the deeper end of an edge lies behind a triangle. */
static double depth(const features *f, const double *x, int64_t edge, int64_t t, int *end)
{
    double at[3][3], n[3];
    corners_at(f, x, t, at);
    outward(at, f->flat ? 2 : 3, n);
    const double a = height(x + 3 * f->edge[2 * edge], at[0], n), b = height(x + 3 * f->edge[2 * edge + 1], at[0], n);
    *end = b < a;
    return -smaller(a, b);
}

typedef struct {
    int64_t capacity, count;
    int32_t *pair;
} Pierced;

static void add_pierced(Pierced *found, int64_t edge, int64_t t)
{
    const int64_t k = found->count++;
    if (k >= found->capacity)
        return;
    found->pair[2 * k] = (int32_t)edge, found->pair[2 * k + 1] = (int32_t)t;
}

/* Segments that cross: the one of which an end is less deep is the edge. */
static void add_crossed(const features *f, int64_t a, int64_t b, Pierced *found)
{
    for (int64_t i = 0; i < f->sides; i++)
        for (int64_t k = 0; k < f->sides; k++) {
            const int64_t one = a * f->sides + i, other = b * f->sides + k;
            int end;
            if (!pierces(f, f->x, f->facet_edge[one], other))
                continue;
            const double forth = depth(f, f->x, f->facet_edge[one], other, &end);
            if (forth <= depth(f, f->x, f->facet_edge[other], one, &end))
                add_pierced(found, f->facet_edge[one], other);
            else
                add_pierced(found, f->facet_edge[other], one);
        }
}

/* Edges that pierce triangles in pairs of facets, each once; how many, which may be more than the capacity. */
int64_t pierced(const features *f, int64_t count, const int32_t *list, int64_t capacity, int32_t *pair)
{
    Pierced found = {capacity, 0, pair};
    for (int64_t k = 0; k < count; k++) {
        const int32_t *facets = f->pair + 2 * list[k];
        if (is_whole(f, facets[0], facets[1]))
            continue;
        if (f->flat) {
            add_crossed(f, facets[0], facets[1], &found);
            continue;
        }
        for (int side = 0; side < 2; side++) {
            const int64_t a = facets[side], b = facets[1 - side];
            for (int64_t e = f->edge_start[a]; e < f->edge_start[a + 1]; e++)
                for (int64_t t = b * f->parts; t < (b + 1) * f->parts; t++)
                    if (pierces(f, f->x, f->own_edge[e], t) && !is_covered(f, 2, f->own_edge[e], t))
                        add_pierced(&found, f->own_edge[e], t);
        }
    }
    return found.count;
}

/* Rows that keep edges from going deeper: the deeper end against its projection on the triangle, along the common
   normal with a facet at the edge that faces the triangle, otherwise along the triangle's. */
void separations(const features *f, int64_t count, const int32_t *pair, int32_t *node, double *weight, double *normal)
{
    const int corners = f->flat ? 2 : 3;
    for (int64_t k = 0; k < count; k++) {
        const int64_t edge = pair[2 * k], t = pair[2 * k + 1];
        double at[4][3], own[3][3], other[3], *n = normal + 3 * k, most = FACING, facing[3] = {0.0};
        int end;
        depth(f, f->x, edge, t, &end);
        node[4 * k] = f->edge[2 * edge + end], node[4 * k + 3] = -1;
        memcpy(at[0], f->x + 3 * node[4 * k], sizeof(at[0]));
        corners_at(f, f->x, t, at + 1);
        outward(at + 1, corners, n);
        of_vertex(at, corners, weight + 4 * k);
        for (int c = 0; c < 3; c++) {
            weight[4 * k + 1 + c] = c < corners ? -weight[4 * k + 1 + c] : 0.0;
            node[4 * k + 1 + c] = c < corners ? f->triangle[3 * t + c] : -1;
        }
        for (int64_t m = f->at_edge_start[edge]; m < f->at_edge_start[edge + 1]; m++)
            for (int64_t s = f->at_edge[m] * f->parts; s < (f->at_edge[m] + 1) * f->parts; s++) {
                corners_at(f, f->x, s, own);
                if (outward(own, corners, other) && dot(other, n) < most) {
                    most = dot(other, n);
                    memcpy(facing, other, sizeof(facing));
                }
            }
        for (int i = 0; i < 3; i++)
            n[i] -= facing[i];
        normalise(n, 0.0);
    }
}

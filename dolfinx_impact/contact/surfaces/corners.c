/* Rows of corner nodes: the distance of a needle's tip, or of a corner that sinks into a coarse facet. */

/* Shape functions outside of the facet by this count as inside. */
#define INSIDE 1e-9

/* Mark the nodes of facets that have a segment, and nodes of the slaves that are closed or carry an impulse. */
void mark_corners(tables *t)
{
    memset(t->near, 0, t->nodes);
    memset(t->shut, 0, t->nodes);
    for (ptrdiff_t i = 0; i < t->parts_used; i++)
        for (ptrdiff_t m = t->first[t->part_used[i]]; m < t->last[t->part_used[i]]; m++)
            for (int k = 0; k < N; k++) {
                t->near[t->facet[(ptrdiff_t)t->segment[2 * m] * N + k]] = 1;
                t->near[t->facet[(ptrdiff_t)t->segment[2 * m + 1] * N + k]] = 1;
            }
    for (ptrdiff_t k = 0; k < t->points_used; k++) {
        const int32_t i = t->point_used[k];
        if (t->gap[i] <= t->tolerance || t->pressed[i])
            t->shut[t->point_node[i]] = 1;
    }
}

/* Whether a facet around a corner faces the facet f with the normal n, and no node of f is closed. */
static int is_faced(const tables *t, ptrdiff_t corner, ptrdiff_t f, const double *n)
{
    double own[G];
    for (int k = 0; k < N; k++)
        if (t->shut[t->facet[f * N + k]])
            return 0;
    for (int64_t m = t->around_start[corner]; m < t->around_start[corner + 1]; m++) {
        double cosine = 0.0;
        facet_normal((const double(*)[G])t->x, t->facet + t->around[m] * N, own);
        for (int c = 0; c < G; c++)
            cosine += own[c] * n[c];
        if (cosine < FACING)
            return 1;
    }
    return 0;
}

/* Shape functions of a facet where a point projects on it along its normal; returns whether that is inside. */
static int functions_below(const tables *t, const double *at, ptrdiff_t f, const double *n, double *values)
{
    const double(*x)[G] = (const double(*)[G])t->x;
    const int32_t *nodes = t->facet + f * N;
#if G == 2
    double flat[N], slopes[N];
    for (int k = 0; k < N; k++)
        flat[k] = n[0] * (x[nodes[k]][1] - at[1]) - n[1] * (x[nodes[k]][0] - at[0]);
    if (smaller(flat[0], flat[N - 1]) > 0.0 || larger(flat[0], flat[N - 1]) < 0.0)
        return 0;
    line_functions(flat, 0.0, values, slopes);
#else
    double a[3], b[3], y[N][2], s, r;
    const double zero = 0.0;
    tangents(n, a, b);
    for (int k = 0; k < N; k++) {
        y[k][0] = y[k][1] = 0.0;
        for (int c = 0; c < 3; c++) {
            y[k][0] += a[c] * (x[nodes[k]][c] - at[c]);
            y[k][1] += b[c] * (x[nodes[k]][c] - at[c]);
        }
    }
    for (int c = 0; c < C; c++) {
        const double *u = y[CORNER[c]], *w = y[CORNER[(c + 1) % C]];
        const double cross = u[0] * w[1] - u[1] * w[0], span = fabs(w[0] - u[0]) + fabs(w[1] - u[1]);
        if (cross < -INSIDE * span * span)
            return 0;
    }
    const corner_map m = map_of((const double(*)[2])y);
    facet_functions((const double(*)[2])y, &m, 1, &zero, &zero, &s, &r, values, N);
#endif
    return 1;
}

/* Skins of a corner and of the facet opposite. */
static double offset_of(const tables *t, ptrdiff_t corner, ptrdiff_t f)
{
    return f < 0 ? 0.0 : t->skin[t->around[t->around_start[corner]]] + t->skin[f];
}

/* Take the facet of a candidate pair if it is nearer to the corner than the one that was found. */
static void project_corner(tables *t, ptrdiff_t p)
{
    const double(*x)[G] = (const double(*)[G])t->x;
    const ptrdiff_t i = t->corner_pair[2 * p], f = t->corner_pair[2 * p + 1];
    const double *at = x[t->corner[i]];
    const int covered = t->near[t->corner[i]];
    double n[G], values[N], distance = 0.0;
    if (covered && !t->of_master[i])
        return;
    facet_normal(x, t->facet + f * N, n);
    if (covered && !is_faced(t, i, f, n))
        return;
    if (!functions_below(t, at, f, n, values))
        return;
    for (int c = 0; c < G; c++) {
        double offset = at[c];
        for (int k = 0; k < N; k++)
            offset -= values[k] * x[t->facet[f * N + k]][c];
        distance += n[c] * offset;
    }
    if (distance > LARGEST_GAP * t->diameter[f] || distance < -DEPTH * t->height[f])
        return;
    if (!(fabs(distance) < fabs(t->corner_gap[i] + offset_of(t, i, t->corner_facet[i]))))
        return;
    t->corner_gap[i] = distance - offset_of(t, i, f);
    t->corner_facet[i] = (int32_t)f;
    memcpy(t->corner_normal + i * G, n, sizeof n);
    memcpy(t->corner_N + i * N, values, sizeof values);
}

/* Whether the distance of a corner to the facet of a candidate pair is above the tolerance. */
static int is_far(const tables *t, ptrdiff_t p)
{
    const ptrdiff_t i = t->corner_pair[2 * p], f = t->corner_pair[2 * p + 1];
    const double shift = t->moved[t->corner[i]] + t->shift[f];
    return t->turn[f] <= TURNED && t->corner_above[p] - offset_of(t, i, f) - shift > t->tolerance;
}

/* Nearest opposite facet of each corner along the facet's normal. A corner of the slave has a row where no segment
   is around it; one of the master also where a facet at it faces a facet without closed nodes. A corner is left out
   where all facets are far: one that is far and in front may be nearer than one behind which the corner lies. */
void project_corners(tables *t, int every)
{
    for (ptrdiff_t i = 0; i < t->corners; i++) {
        t->corner_gap[i] = INFINITY;
        t->corner_facet[i] = -1;
    }
    for (ptrdiff_t p = 0, end = 0; p < t->corner_pairs; p = end) {
        int awake = every;
        for (; end < t->corner_pairs && t->corner_pair[2 * end] == t->corner_pair[2 * p]; end++)
            awake |= !is_far(t, end);
        for (ptrdiff_t q = p; q < end && awake; q++)
            project_corner(t, q);
    }
}

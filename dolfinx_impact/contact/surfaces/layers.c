/* Which segments of a surface that is paired with itself count: what lies behind another part of it is not opposite,
   and what is open beside a closed one of another smooth side does not lift its gap. */

/* Part of the height of a cell by which what lies behind its facet is farther away than this one, at least. */
#define BEHIND 0.5
/* Part of a facet on which two others lie above each other, at least. */
#define OVERLAP 1e-3

/* Mark the masters of closed segments. Those that are open are not looked at in every step. */
static void mark_masters(tables *t, ptrdiff_t segments)
{
    for (ptrdiff_t m = 0; m < t->used; m++)
        t->master[t->in_use[m]] = 0;
    for (ptrdiff_t m = 0; m < segments; m++)
        if (t->lowest[m] <= t->tolerance)
            t->master[t->segment[2 * m + 1]] = 1;
}

/* Mean distance of both facets of a segment along its normal. */
static double mean_distance(const tables *t, ptrdiff_t m)
{
    double area = 0.0, total = 0.0;
    for (int k = 0; k < N * N; k++)
        area += t->mass[m * N * N + k];
    for (int k = 0; k < N; k++)
        total += t->moment[m * N + k];
    return total / area + t->skin[t->segment[2 * m]] + t->skin[t->segment[2 * m + 1]];
}

/* Project the corners of a facet along n on a plane through o. */
static void project_facet(const tables *t, ptrdiff_t f, const double *o, const double *n, double (*y)[2])
{
    const double(*x)[G] = (const double(*)[G])t->x;
#if G == 2
    for (int k = 0; k < C; k++) {
        const double *at = x[t->facet[f * N + CORNER[k]]];
        y[k][0] = -n[1] * (at[0] - o[0]) + n[0] * (at[1] - o[1]);
        y[k][1] = 0.0;
    }
#else
    double a[3], b[3];
    tangents(n, a, b);
    for (int k = 0; k < C; k++) {
        y[k][0] = y[k][1] = 0.0;
        for (int i = 0; i < 3; i++) {
            const double arm = x[t->facet[f * N + CORNER[k]]][i] - o[i];
            y[k][0] += a[i] * arm;
            y[k][1] += b[i] * arm;
        }
    }
#endif
}

/* Whether two facets opposite to a third one lie above each other, seen from there. */
static int lie_above(const tables *t, ptrdiff_t own, ptrdiff_t one, ptrdiff_t other)
{
    const double *o = t->centre + own * G;
    double n[G], second[C][2];
    for (int i = 0; i < G; i++)
        n[i] = -t->normal[own * G + i];
    project_facet(t, other, o, n, second);
#if G == 2
    double first[C][2];
    project_facet(t, one, o, n, first);
    const double low = larger(smaller(first[0][0], first[1][0]), smaller(second[0][0], second[1][0]));
    const double high = smaller(larger(first[0][0], first[1][0]), larger(second[0][0], second[1][0]));
    return high - low > OVERLAP * t->size[own];
#else
    double polygon[MOST_CORNERS][2];
    project_facet(t, one, o, n, polygon);
    const int count = clip(polygon, C, (const double(*)[2])second);
    return count >= 3 && fabs(polygon_area((const double(*)[2])polygon, count)) > OVERLAP * t->size[own];
#endif
}

/* Whether a candidate pair, with one facet in common with a segment at a distance, lies in front of what the latter
   has opposite to this facet. */
static int is_in_front(tables *t, ptrdiff_t p, ptrdiff_t own, ptrdiff_t opposite, double distance)
{
    const int64_t first = t->pair[2 * p], second = t->pair[2 * p + 1], third = first == own ? second : first;
    double shift, turn;
    motion_of(t, p, &shift, &turn);
    const double most = distance - BEHIND * t->height[third];
    if (third == opposite || t->above[p] + t->skin[first] + t->skin[second] - shift > most)
        return 0;
    const ptrdiff_t e = t->pair_part[p];
    ptrdiff_t m = t->spare;
    if (t->state[e] != ASLEEP) {
        m = segment_of(t, e, second);
        if (m < 0 || t->lowest[m] == INFINITY)
            return 0;
    } else if (is_apart(t, p) || !set_segment(t, p, m))
        return 0;
    return mean_distance(t, m) < most && lie_above(t, own, opposite, third);
}

/* Whether something lies between both facets of an open segment. */
static int is_hidden(tables *t, ptrdiff_t m)
{
    const double distance = mean_distance(t, m);
    for (int side = 0; side < 2; side++) {
        const int64_t own = t->segment[2 * m + side], opposite = t->segment[2 * m + 1 - side];
        for (int64_t k = t->of_facet_start[own]; k < t->of_facet_start[own + 1]; k++)
            for (int64_t p = t->start[t->of_facet[k]]; p < t->start[t->of_facet[k] + 1]; p++)
                if (is_in_front(t, p, own, opposite, distance))
                    return 1;
        for (int64_t k = t->master_start[own]; k < t->master_start[own + 1]; k++)
            if (is_in_front(t, t->master_pair[k], own, opposite, distance))
                return 1;
    }
    return 0;
}

/* Whether a segment of a part that is closed has its master on a smooth side. */
static int is_closed_with(const tables *t, ptrdiff_t e, int64_t side)
{
    for (ptrdiff_t m = t->first[e]; m < t->last[e]; m++)
        if (t->lowest[m] <= t->tolerance && t->side[t->segment[2 * m + 1]] == side)
            return 1;
    return 0;
}

/* Take a segment out of all sums. */
static void drop_segment(tables *t, ptrdiff_t m)
{
    memset(t->mass + m * N * N, 0, sizeof(double) * N * N);
    memset(t->cross + m * N * N, 0, sizeof(double) * N * N);
    memset(t->moment + m * N, 0, sizeof(double) * N);
    t->lowest[m] = INFINITY;
}

/* Drop the segments that do not count, and mark what is covered, the parts with closed segments and the masters of
   these. Nothing depends on pairs that sleep but were not looked at: these are open. */
static void choose_segments(tables *t, ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < t->parts_used; i++) {
        const ptrdiff_t e = t->part_used[i];
        t->part_closed[e] = 0;
        for (ptrdiff_t m = t->first[e]; m < t->last[e]; m++)
            t->part_closed[e] |= t->lowest[m] <= t->tolerance;
        for (ptrdiff_t m = t->first[e]; m < t->last[e]; m++) {
            if (t->lowest[m] <= t->tolerance)
                continue;
            if ((t->part_closed[e] && !is_closed_with(t, e, t->side[t->segment[2 * m + 1]])) || is_hidden(t, m))
                drop_segment(t, m);
        }
        if (t->last[e] > t->first[e])
            mark_covered(t, e);
    }
    mark_masters(t, count);
}

/* Whether a part counts in the row of a point: one that is closed, or has opposite what a closed one has. */
static int counts(const tables *t, ptrdiff_t point, ptrdiff_t e)
{
    int any = 0;
    if (!t->itself || t->part_closed[e])
        return 1;
    for (ptrdiff_t q = point; q >= 0; q = t->following[q])
        for (int64_t k = t->part_start[q]; k < t->part_start[q + 1]; k++) {
            if (!t->part_closed[t->part[k]])
                continue;
            any = 1;
            for (ptrdiff_t m = t->first[e]; m < t->last[e]; m++)
                if (t->lowest[m] < INFINITY && is_closed_with(t, t->part[k], t->side[t->segment[2 * m + 1]]))
                    return 1;
        }
    return !any;
}

/* Segments of all pairs, or of those that may be closed; returns their number. */
ptrdiff_t find_segments(tables *t, int every)
{
    ptrdiff_t count = 0;
    describe(t);
    memset(t->covered, DIVIDED ? 0 : 1, t->slots);
    wake(t, every);
    for (ptrdiff_t i = 0; i < t->parts_used; i++) {
        const ptrdiff_t e = t->part_used[i];
        t->first[e] = count;
        if (t->state[e] != ASLEEP)
            for (ptrdiff_t p = t->start[e]; p < t->start[e + 1]; p++)
                if (!is_apart(t, p))
                    count += set_segment(t, p, count);
        t->last[e] = count;
        if (t->last[e] > t->first[e] && !t->itself)
            mark_covered(t, e);
    }
    if (t->itself)
        choose_segments(t, count);
    return count;
}

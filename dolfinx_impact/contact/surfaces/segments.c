/* Segments of pairs of facets: their overlap projected along the common normal n, which points from the master
   to the slave side; at each point of a segment x_s - x_m is parallel to n. */

/* Overlaps below this fraction of the smaller facet are none. */
#define SLIVER 1e-10
/* Part of its area from which a facet counts as covered. */
#define COVERED 0.9
/* Largest mean penetration of a segment over the lesser height of the cells, within one part and where paths are swept:
   half of the sum, as between parts otherwise, is the thickness of a plate that is one cell thick. There the sides of a
   thin part see each other, and a side of one block that of another one on which it lies. */
#define SHALLOW 0.25

/* A pair of facets at work: slave and master, common normal, bounds of the mean gap. */
typedef struct {
    int32_t slave, master;
    double *n, largest_gap, depth;
} facet_pair;

/* n = (w_m n_m - w_s n_s) / |.|; returns whether the facets face each other. */
static int set_common_normal(const tables *t, int32_t e, int32_t f, double *n)
{
    const double *ns = t->normal + (ptrdiff_t)e * G, *nm = t->normal + (ptrdiff_t)f * G;
    double facing = 0.0, square = 0.0;
    for (int i = 0; i < G; i++) {
        facing += ns[i] * nm[i];
        n[i] = t->flatness[f] * nm[i] - t->flatness[e] * ns[i];
        square += n[i] * n[i];
    }
    if (!(facing < FACING))
        return 0;
    const double size = sqrt(square);
    for (int i = 0; i < G; i++)
        n[i] /= size;
    return 1;
}

/* Whether spheres around both facets may meet along n within the bounds of the gap. */
static int is_near(const tables *t, const facet_pair *q)
{
    const double *a = t->centre + (ptrdiff_t)q->slave * G, *b = t->centre + (ptrdiff_t)q->master * G;
    const double radii = t->radius[q->slave] + t->radius[q->master];
    double along = 0.0, square = 0.0;
    for (int i = 0; i < G; i++) {
        along += q->n[i] * (a[i] - b[i]);
        square += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return square - along * along <= radii * radii && -radii - q->depth <= along
        && along <= radii + q->largest_gap;
}

/* Numbers of the nodes of slave and master, one after the other: shape functions at a point, heights along n, or a
   row of int N N^T and int N N_m^T. */
#define WIDTH (N == 2 ? 4 : N <= 4 ? 8 : N <= 8 ? 16 : 32)
typedef double numbers __attribute__((vector_size(WIDTH * sizeof(double))));

/* Add a point with the shape functions f to the integrals. */
static inline void add_point(numbers f, double dA, numbers *sums)
{
    for (int k = 0; k < N; k++)
        sums[k] += dA * f[k] * f;
}

/* Gap of a point by the heights z of the nodes. */
static inline double point_gap(numbers f, numbers z)
{
    const numbers product = f * z;
    double gap = 0.0;
    for (int k = 0; k < N; k++)
        gap += product[k] - product[N + k];
    return gap;
}

#if G == 2
/* Add the integrals over a plane segment to the sums; returns its least gap, infinite without one. */
static double integrate(const tables *t, const facet_pair *q, numbers z, numbers *sums)
{
    const double(*x)[G] = (const double(*)[G])t->x;
    const int32_t *slave = t->facet + (ptrdiff_t)q->slave * N, *master = t->facet + (ptrdiff_t)q->master * N;
    double ys[N], ym[N], on_slave[N], on_master[N], slopes[N], lowest = INFINITY;
    numbers f = {0.0};
    for (int k = 0; k < N; k++) {
        ys[k] = -q->n[1] * x[slave[k]][0] + q->n[0] * x[slave[k]][1];
        ym[k] = -q->n[1] * x[master[k]][0] + q->n[0] * x[master[k]][1];
    }
    const double low = larger(smaller(ys[0], ys[N - 1]), smaller(ym[0], ym[N - 1]));
    const double high = smaller(larger(ys[0], ys[N - 1]), larger(ym[0], ym[N - 1]));
    if (!(high - low > SLIVER * smaller(fabs(ys[N - 1] - ys[0]), fabs(ym[N - 1] - ym[0]))))
        return INFINITY;
    for (int p = 0; p < Q + 2; p++) {
        const double at = p < Q ? low + RULE[p] * (high - low) : p == Q ? low : high;
        line_functions(ym, at, on_master, slopes);
        const double slope = line_functions(ys, at, on_slave, slopes);
        for (int k = 0; k < N; k++) {
            f[k] = on_slave[k];
            f[N + k] = on_master[k];
        }
        /* Between its ends the gap of curved facets may be less. */
        if (p >= Q || N > 2)
            lowest = smaller(lowest, point_gap(f, z));
        if (p >= Q)
            continue;
        double tx = 0.0, ty = 0.0, r = 0.0;
        for (int k = 0; k < N; k++) {
            tx += slopes[k] * x[slave[k]][0];
            ty += slopes[k] * x[slave[k]][1];
            r += on_slave[k] * x[slave[k]][0];
        }
        const double dA = WEIGHTS[p] * (high - low) * sqrt(tx * tx + ty * ty) / fabs(slope);
        add_point(f, t->axisymmetric ? dA * 2.0 * M_PI * r : dA, sums);
    }
    return lowest;
}
#else
/* Points of a polygon, in batches. */
#define BATCH 8
/* Corners of a polygon: a line adds one to a convex one, and half of them to one that is not, as a folded facet. */
#define MOST_CORNERS (C == 3 ? 9 : 19)
#define MOST_POINTS ((((MOST_CORNERS - 2) * Q + MOST_CORNERS) / BATCH + 1) * BATCH)

static double polygon_area(const double (*y)[2], int count)
{
    double twice = 0.0;
    for (int i = 0; i < count; i++) {
        const int j = i + 1 < count ? i + 1 : 0;
        twice += y[i][0] * y[j][1] - y[i][1] * y[j][0];
    }
    return 0.5 * twice;
}

/* Intersect a polygon with a convex counterclockwise one; returns its number of corners.
   Sutherland and Hodgman, Commun. ACM 17 (1974). */
static int clip(double (*polygon)[2], int count, const double (*by)[2])
{
    double work[MOST_CORNERS][2], here[MOST_CORNERS];
    for (int k = 0; k < C; k++) {
        const double *o = by[k], *next = by[k + 1 < C ? k + 1 : 0], ex = next[0] - o[0], ey = next[1] - o[1];
        int inside = 0, kept = 0;
        for (int i = 0; i < count; i++) {
            here[i] = ex * (polygon[i][1] - o[1]) - ey * (polygon[i][0] - o[0]);
            inside += here[i] >= 0.0;
        }
        if (inside == count)
            continue;
        if (inside == 0)
            return 0;
        for (int i = 0; i < count; i++) {
            const int j = i > 0 ? i - 1 : count - 1;
            if ((here[i] >= 0.0) != (here[j] >= 0.0)) {
                const double part = here[j] / (here[j] - here[i]);
                for (int c = 0; c < 2; c++)
                    work[kept][c] = polygon[j][c] + part * (polygon[i][c] - polygon[j][c]);
                kept++;
            }
            if (here[i] >= 0.0) {
                work[kept][0] = polygon[i][0];
                work[kept++][1] = polygon[i][1];
            }
        }
        count = kept;
        memcpy(polygon, work, sizeof(double) * 2 * kept);
        if (count < 3)
            return 0;
    }
    return count;
}

/* Whether the boxes of two projected facets are apart. */
static int boxes_apart(const double (*a)[2], const double (*b)[2])
{
    for (int c = 0; c < 2; c++) {
        double la = a[CORNER[0]][c], ha = la, lb = b[CORNER[0]][c], hb = lb;
        for (int k = 1; k < C; k++) {
            const double va = a[CORNER[k]][c], vb = b[CORNER[k]][c];
            la = va < la ? va : la;
            ha = va > ha ? va : ha;
            lb = vb < lb ? vb : lb;
            hb = vb > hb ? vb : hb;
        }
        if (ha < lb || hb < la)
            return 1;
    }
    return 0;
}

/* Write the quadrature points of a polygon, cut into triangles from its first corner, after its corners, and repeat
   the first one up to a whole number of batches; returns the number without these. */
static int set_points(const double (*polygon)[2], int corners, double tilt, double *a, double *b, double *dA)
{
    int count = 0;
    for (int k = 0; k < corners; k++, count++) {
        a[k] = polygon[k][0];
        b[k] = polygon[k][1];
    }
    for (int k = 1; k < corners - 1; k++) {
        const double ux = polygon[k][0] - polygon[0][0], uy = polygon[k][1] - polygon[0][1];
        const double wx = polygon[k + 1][0] - polygon[0][0], wy = polygon[k + 1][1] - polygon[0][1];
        const double jacobian = fabs(ux * wy - uy * wx) / tilt;
        for (int q = 0; q < Q; q++, count++) {
            a[count] = polygon[0][0] + RULE[2 * q] * ux + RULE[2 * q + 1] * wx;
            b[count] = polygon[0][1] + RULE[2 * q] * uy + RULE[2 * q + 1] * wy;
            dA[count] = WEIGHTS[q] * jacobian;
        }
    }
    for (int k = count; k % BATCH; k++) {
        a[k] = a[0];
        b[k] = b[0];
    }
    return count;
}

/* Add the integrals over a segment in space to the sums; returns its least gap, infinite without one. */
static double integrate(const tables *t, const facet_pair *q, numbers z, numbers *sums)
{
    const double(*x)[G] = (const double(*)[G])t->x;
    const int32_t *slave = t->facet + (ptrdiff_t)q->slave * N, *master = t->facet + (ptrdiff_t)q->master * N;
    const double *o = x[slave[0]], *ns = t->normal + (ptrdiff_t)q->slave * G;
    double a[3], b[3], ys[N][2], ym[N][2], polygon[MOST_CORNERS][2], by[C][2], tilt = 0.0;
    tangents(q->n, a, b);
    for (int k = 0; k < N; k++) {
        const double *s = x[slave[k]], *m = x[master[k]];
        ys[k][0] = a[0] * (s[0] - o[0]) + a[1] * (s[1] - o[1]) + a[2] * (s[2] - o[2]);
        ys[k][1] = b[0] * (s[0] - o[0]) + b[1] * (s[1] - o[1]) + b[2] * (s[2] - o[2]);
        ym[k][0] = a[0] * (m[0] - o[0]) + a[1] * (m[1] - o[1]) + a[2] * (m[2] - o[2]);
        ym[k][1] = b[0] * (m[0] - o[0]) + b[1] * (m[1] - o[1]) + b[2] * (m[2] - o[2]);
    }
    if (boxes_apart((const double(*)[2])ys, (const double(*)[2])ym))
        return INFINITY;
    for (int k = 0; k < C; k++)
        for (int c = 0; c < 2; c++) {
            polygon[k][c] = ys[CORNER[k]][c];
            by[k][c] = ym[CORNER[k]][c];
        }
    const int corners = clip(polygon, C, (const double(*)[2])by);
    if (corners < 3
        || !(fabs(polygon_area((const double(*)[2])polygon, corners))
             > SLIVER * fabs(polygon_area((const double(*)[2])by, C))))
        return INFINITY;
    for (int i = 0; i < 3; i++)
        tilt += q->n[i] * ns[i];
    double at[MOST_POINTS], bt[MOST_POINTS], dA[MOST_POINTS], s[MOST_POINTS], r[MOST_POINTS], lowest = INFINITY;
    numbers f[MOST_POINTS];
    double *const values = (double *)f;
    const int count = set_points((const double(*)[2])polygon, corners, fabs(tilt), at, bt, dA);
    const corner_map of_slave = map_of((const double(*)[2])ys), of_master = map_of((const double(*)[2])ym);
    const int whole = (count + BATCH - 1) / BATCH * BATCH;
    facet_functions((const double(*)[2])ys, &of_slave, whole, at, bt, s, r, values, WIDTH);
    facet_functions((const double(*)[2])ym, &of_master, whole, at, bt, s, r, values + N, WIDTH);
    for (int p = 0; p < (N > C ? count : corners); p++)
        lowest = smaller(lowest, point_gap(f[p], z));
    for (int p = corners; p < count; p++)
        add_point(f[p], dA[p], sums);
    return lowest;
}
#endif

/* Whether a penetrating point is nearer to a neighbour of a facet across a sharp edge, or outside of the body
   there: without this a corner that enters through one side of an edge would be pushed out through the other. */
static int is_behind(const tables *t, const double *at, double gap, int32_t facet, int32_t opposite)
{
    for (int64_t k = t->sharp_start[facet]; k < t->sharp_start[facet + 1]; k++) {
        const double *normal = t->normal + t->sharp[k] * G, *centre = t->centre + t->sharp[k] * G;
        const double *other = t->normal + (ptrdiff_t)opposite * G;
        double depth = 0.0, facing = 0.0;
        for (int i = 0; i < G; i++) {
            depth += normal[i] * (at[i] - centre[i]);
            facing += normal[i] * other[i];
        }
        if (facing < FACING && depth > gap)
            return 1;
    }
    return 0;
}

/* Whether a segment with penetration is that of a neighbour across a sharp edge, on either side. */
static int is_of_neighbour(const tables *t, const facet_pair *q, const numbers *sums, double area,
                           double gap)
{
    const double(*x)[G] = (const double(*)[G])t->x, *o = t->centre + (ptrdiff_t)q->slave * G;
    double on_slave[G], on_master[G];
    for (int i = 0; i < G; i++) {
        double a = 0.0, b = 0.0;
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++) {
                a += sums[k][j] * (x[t->facet[(ptrdiff_t)q->slave * N + j]][i] - o[i]);
                b += sums[k][N + j] * (x[t->facet[(ptrdiff_t)q->master * N + j]][i] - o[i]);
            }
        on_slave[i] = o[i] + a / area;
        on_master[i] = o[i] + b / area;
    }
    return is_behind(t, on_slave, gap, q->master, q->slave) || is_behind(t, on_master, gap, q->slave, q->master);
}

/* Integrals over the segment of a pair, written as segment number m; returns whether there is one. */
static int set_segment(tables *t, ptrdiff_t p, ptrdiff_t m)
{
    const double(*x)[G] = (const double(*)[G])t->x;
    const int32_t e = t->pair[2 * p], f = t->pair[2 * p + 1];
    facet_pair q = {e, f, t->common_normal + m * G, 0.0, 0.0};
    q.largest_gap = LARGEST_GAP * larger(t->diameter[e], t->diameter[f]);
    q.depth = t->shallow || (t->itself && t->body_part[e] == t->body_part[f])
                  ? SHALLOW * smaller(t->height[e], t->height[f])
                  : DEPTH * (t->height[e] + t->height[f]);
    if (!set_common_normal(t, e, f, q.n) || !is_near(t, &q))
        return 0;
    const double *o = t->centre + (ptrdiff_t)e * G;
    numbers z = {0.0}, sums[N] = {{0.0}};
    double area = 0.0, total = 0.0;
    for (int k = 0; k < N; k++) {
        const double *s = x[t->facet[(ptrdiff_t)e * N + k]], *r = x[t->facet[(ptrdiff_t)f * N + k]];
        for (int i = 0; i < G; i++) {
            z[k] += q.n[i] * (s[i] - o[i]);
            z[N + k] += q.n[i] * (r[i] - o[i]);
        }
    }
    const double lowest = integrate(t, &q, z, sums);
    if (lowest == INFINITY)
        return 0;
    double *moment = t->moment + m * N, *mass = t->mass + m * N * N, *cross = t->cross + m * N * N;
    for (int k = 0; k < N; k++) {
        moment[k] = 0.0;
        for (int j = 0; j < N; j++) {
            area += sums[k][j];
            moment[k] += sums[k][j] * z[j] - sums[k][N + j] * z[N + j];
        }
        total += moment[k];
        for (int j = 0; j < N; j++) {
            mass[k * N + j] = sums[k][j];
            cross[k * N + j] = sums[k][N + j];
        }
    }
    if (!(area > 0.0) || total > q.largest_gap * area || total < -q.depth * area)
        return 0;
    if (total < 0.0 && is_of_neighbour(t, &q, sums, area, total / area))
        return 0;
    const double offset = t->skin[e] + t->skin[f];
    for (int k = 0; k < N && offset > 0.0; k++)
        for (int j = 0; j < N; j++)
            moment[k] -= offset * sums[k][j];
    t->segment[2 * m] = e;
    t->segment[2 * m + 1] = f;
    t->lowest[m] = lowest - offset;
    return 1;
}

/* Set the marks of the nodes of slave facets that are covered by the opposite surface. */
static void mark_covered(tables *t, ptrdiff_t e)
{
    const int32_t f = t->part_facet[e];
    double covered = 0.0, whole = t->size[f];
    for (ptrdiff_t m = t->first[e]; m < t->last[e]; m++)
        for (int k = 0; k < N * N; k++)
            covered += t->mass[m * N * N + k];
    if (t->axisymmetric)
        whole *= 2.0 * M_PI * t->centre[(ptrdiff_t)f * G];
    if (covered > 0.0 && covered >= COVERED * whole)
        for (int k = 0; k < N; k++)
            t->covered[t->slot[e * N + k]] = 1;
}

/* Number of the segment of a part with a master, -1 for none. */
static ptrdiff_t segment_of(const tables *t, ptrdiff_t e, int64_t master)
{
    for (ptrdiff_t m = t->first[e]; m < t->last[e]; m++)
        if (t->segment[2 * m + 1] == master)
            return m;
    return -1;
}

/* Whether a candidate pair has a segment in the present state; one that sleeps is looked at for the answer. */
static int has_segment(tables *t, ptrdiff_t e, ptrdiff_t p)
{
    if (is_apart(t, p))
        return 0;
    if (t->state[e] == ASLEEP)
        return set_segment(t, p, t->spare);
    const ptrdiff_t m = segment_of(t, e, t->pair[2 * p + 1]);
    return m >= 0 && t->lowest[m] < INFINITY;
}

/* Whether pairs of facets, in any order, have a segment at the last find_segments. */
void faces(tables *t, ptrdiff_t count, const int64_t *pairs, uint8_t *found)
{
    for (ptrdiff_t i = 0; i < count; i++) {
        found[i] = 0;
        for (int turn = 0; turn < 2 && !found[i]; turn++) {
            const int64_t slave = pairs[2 * i + turn], master = pairs[2 * i + 1 - turn];
            for (int64_t k = t->of_facet_start[slave]; k < t->of_facet_start[slave + 1] && !found[i]; k++) {
                const int64_t e = t->of_facet[k];
                for (int64_t p = t->start[e]; p < t->start[e + 1] && !found[i]; p++)
                    found[i] = t->pair[2 * p + 1] == master && has_segment(t, e, p);
            }
        }
    }
}

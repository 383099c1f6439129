/* Dual basis of the covered part of each facet, weighted gaps, and rows of L. */

/* Added to the Gram matrices, relative to their trace: slivers of high degree are singular to round-off. */
#define REGULARISATION 1e-14
/* A facet covered by less than this part of its area counts as uncovered. */
#define UNCOVERED 1e-9
/* Largest sum of the master side's weights in a row of a facet, where 1 is their sum with signs. Above it the
   facet has one row: the functions of a part covered by a body much smaller than the facet extrapolate the motion
   of that body to nodes far away. */
#define EXTRAPOLATED 10.0
/* Points of a node whose normals make a smaller angle (its cosine) have one row. */
#define ALIKE 0.70710678118654752
/* Cosine of the angle up to which a facet and the master of another segment at a node are on one side. */
#define SAME_SIDE 0.5

/* Invert a small positive definite matrix, which is overwritten (Gauss-Jordan). */
static void invert(double (*M)[N], double (*out)[N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            out[i][j] = i == j;
    for (int i = 0; i < N; i++) {
        const double pivot = 1.0 / M[i][i];
        for (int j = 0; j < N; j++) {
            M[i][j] *= pivot;
            out[i][j] *= pivot;
        }
        for (int k = 0; k < N; k++) {
            const double factor = M[k][i];
            for (int j = 0; j < N && k != i; j++) {
                M[k][j] -= factor * M[i][j];
                out[k][j] -= factor * out[i][j];
            }
        }
    }
}

/* Largest sum of |int psi_i N_m dA| / D_i over the nodes of the master facets of a part's segments. */
static double extrapolation(const tables *t, ptrdiff_t e, const double *T, const double *D)
{
    double totals[N] = {0.0}, largest = 0.0;
    for (ptrdiff_t m = t->first[e]; m < t->last[e]; m++) {
        const double *cross = t->cross + m * N * N;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double weight = 0.0;
                for (int k = 0; k < N; k++)
                    weight += T[i * N + k] * cross[k * N + j];
                totals[i] += fabs(weight);
            }
    }
    for (int i = 0; i < N; i++)
        largest = larger(largest, totals[i] / D[i]);
    return largest;
}

/* Whether a node of a slave facet is also one of the master of a closed segment on the same side. */
static int has_both_roles(const tables *t, ptrdiff_t f, int k)
{
    const int32_t node = t->held_node[f * N + k];
    for (int64_t i = t->star_start[node]; i < t->star_start[node + 1]; i++) {
        const int64_t g = t->star[i];
        double cosine = 0.0;
        if (!t->master[g])
            continue;
        for (int c = 0; c < G; c++)
            cosine += t->normal[f * G + c] * t->normal[g * G + c];
        if (cosine > SAME_SIDE)
            return 1;
    }
    return 0;
}

/* Where roles change, nodes with both of them have no row: their functions go to the other nodes of the facet in equal
   parts, so that constant pressure stays in the space, as at the crosspoints of Wohlmuth, SIAM J. Numer. Anal. 38
   (2000). A facet without another node has one row of its mean gap. */
static void share_functions(tables *t, ptrdiff_t e)
{
    double *T = t->T + e * N * N, *areas = t->areas + e * N, *weighted = t->weighted + e * N;
    int lost[N], any = 0, kept = 0, most = most_covered(areas);
    for (int k = 0; k < N; k++) {
        lost[k] = areas[k] > 0.0 && has_both_roles(t, t->part_facet[e], k);
        any |= lost[k];
        kept += areas[k] > 0.0 && !lost[k];
    }
    if (!any)
        return;
    if (kept == 0) {
        lost[most] = 0;
        kept = 1;
    }
    for (int k = 0; k < N; k++) {
        if (!lost[k])
            continue;
        for (int i = 0; i < N; i++) {
            if (lost[i] || !(areas[i] > 0.0))
                continue;
            for (int j = 0; j < N; j++)
                T[i * N + j] += T[k * N + j] / kept;
            areas[i] += areas[k] / kept;
            weighted[i] += weighted[k] / kept;
        }
    }
    for (int k = 0; k < N; k++)
        if (lost[k])
            areas[k] = weighted[k] = 0.0;
}

/* Dual basis psi = T N, T = D M^-1, of the part of a slave facet that has segments. */
static void set_basis(tables *t, ptrdiff_t e)
{
    double M[N][N] = {{0.0}}, work[N][N], inverse[N][N], moment[N] = {0.0}, D[N], covered = 0.0, trace = 0.0;
    double *T = t->T + e * N * N, *areas = t->areas + e * N, *weighted = t->weighted + e * N;
    int beside = 0;
    for (ptrdiff_t m = t->first[e]; m < t->last[e]; m++) {
        for (int k = 0; k < N; k++) {
            moment[k] += t->moment[m * N + k];
            for (int j = 0; j < N; j++)
                M[k][j] += t->mass[(m * N + k) * N + j];
        }
        t->bottom[e] = smaller(t->bottom[e], t->lowest[m]);
    }
    for (int k = 0; k < N; k++) {
        beside |= t->covered[t->slot[e * N + k]];
        D[k] = 0.0;
        for (int j = 0; j < N; j++)
            D[k] += M[k][j];
        covered += D[k];
        trace += M[k][k];
    }
    if (!(covered > UNCOVERED * t->whole[e]))
        return;
    memcpy(work, M, sizeof M);
    for (int k = 0; k < N; k++)
        work[k][k] += REGULARISATION * trace;
    invert(work, inverse);
    for (int i = 0; i < N; i++) {
        areas[i] = D[i];
        for (int k = 0; k < N; k++) {
            T[i * N + k] = D[i] * inverse[i][k];
            weighted[i] += T[i * N + k] * moment[k];
        }
    }
    if (!beside || !(extrapolation(t, e, T, D) <= EXTRAPOLATED))
        set_places(t, e, beside, (const double(*)[N])M, D, moment, covered);
    if (t->itself)
        share_functions(t, e);
}

/* Direction in which a point is pushed, and how well its side faces the other surface; -inf without segments. */
static void set_direction(tables *t, ptrdiff_t q)
{
    double *direction = t->direction + q * G, covered = 0.0, towards = 0.0, square = 0.0;
    memset(direction, 0, sizeof(double) * G);
    t->facing[q] = -INFINITY;
    for (int64_t k = t->part_start[q]; k < t->part_start[q + 1]; k++) {
        const ptrdiff_t e = t->part[k];
        if (t->areas[e * N + t->place[k]] == 0.0)
            continue;
        for (ptrdiff_t m = t->first[e]; m < t->last[e]; m++) {
            double size = 0.0;
            for (int i = 0; i < N * N; i++)
                size += t->mass[m * N * N + i];
            covered += size;
            for (int c = 0; c < G; c++) {
                direction[c] += size * t->common_normal[m * G + c];
                towards -= size * t->common_normal[m * G + c] * t->normal[(ptrdiff_t)t->segment[2 * m] * G + c];
            }
        }
    }
    if (!(covered > 0.0))
        return;
    t->facing[q] = towards / covered;
    for (int c = 0; c < G; c++)
        square += direction[c] * direction[c];
    for (int c = 0; c < G; c++)
        direction[c] /= sqrt(square);
}

/* Decide which points of a node, first to end - 1, share a row: those that are pushed in similar directions. The
   smooth sides of a corner that meets a flat surface have one row there, and rows apart in the corner of a room.
   The point whose side faces the other surface best has the row. */
static void join_points(tables *t, ptrdiff_t first, ptrdiff_t end)
{
    for (ptrdiff_t q = first; q < end; q++) {
        set_direction(t, q);
        t->leads[q] = 0;
        t->following[q] = -1;
    }
    for (ptrdiff_t turn = first; turn < end; turn++) {
        ptrdiff_t best = -1;
        for (ptrdiff_t q = first; q < end; q++)
            if (t->facing[q] > -INFINITY && (best < 0 || t->facing[q] > t->facing[best] + 1e-9))
                best = q;
        if (best < 0)
            return;
        ptrdiff_t last = best;
        t->leads[best] = 1;
        t->facing[best] = -INFINITY;
        for (ptrdiff_t q = first; q < end; q++) {
            double cosine = 0.0;
            for (int c = 0; c < G; c++)
                cosine += t->direction[q * G + c] * t->direction[best * G + c];
            if (t->facing[q] > -INFINITY && cosine > ALIKE) {
                t->following[last] = q;
                t->facing[q] = -INFINITY;
                last = q;
            }
        }
    }
}

/* Gap g_i [m] and covered area A_i [m2] of a point; a gap without segments is infinite. The weighted gap of a node
   outside of the covered part of its facets is extrapolated from it. Where the facets lean to each other it may be
   negative although nothing touches: with linear facets, whose least gap is at a corner of a segment, it counts
   down to that one, and where it is far below, nothing is opposite to the node. */
static void set_gap(tables *t, ptrdiff_t i)
{
    double A = 0.0, g = 0.0, least = INFINITY, margin = 0.0;
    for (ptrdiff_t q = i; q >= 0; q = t->following[q]) {
        margin = larger(margin, t->beyond[q]);
        for (int64_t m = t->part_start[q]; m < t->part_start[q + 1]; m++) {
            const ptrdiff_t e = t->part[m], at = e * N + t->place[m];
            if (!counts(t, i, e))
                continue;
            A += t->areas[at];
            g += t->weighted[at];
            if (t->areas[at] > 0.0)
                least = smaller(least, t->bottom[e]);
        }
    }
    g = A > 0.0 ? g / A : INFINITY;
    if (g < least - margin)
        return;
    if (P == 2 && g < least)
        g = least;
    if (g < INFINITY) {
        t->gap[i] = g;
        t->area[i] = A;
    }
}

/* Dual basis, rows that points share, weighted gaps and areas; those of points that sleep are infinite and 0. */
void weigh(tables *t)
{
    for (ptrdiff_t i = 0; i < t->parts_used; i++) {
        const ptrdiff_t e = t->part_used[i];
        for (int k = 0; k < N; k++)
            t->areas[e * N + k] = t->weighted[e * N + k] = 0.0;
        t->bottom[e] = INFINITY;
        t->placed[e] = 0;
        if (t->state[e] == WEIGHED && t->of_points[e] && t->last[e] > t->first[e])
            set_basis(t, e);
    }
    for (ptrdiff_t k = 0; k < t->groups; k++)
        if (t->awake[t->point_slot[t->group[2 * k]]] == 1)
            join_points(t, t->group[2 * k], t->group[2 * k + 1]);
    for (ptrdiff_t k = 0; k < t->points_used; k++) {
        const ptrdiff_t i = t->point_used[k];
        t->gap[i] = INFINITY;
        t->area[i] = 0.0;
        if (t->awake[t->point_slot[i]] == 1 && t->leads[i])
            set_gap(t, i);
    }
}

/* Number of entries that the rows of the points in a mask have at most. */
ptrdiff_t row_length(const tables *t, const uint8_t *which)
{
    ptrdiff_t total = 0;
    for (ptrdiff_t i = 0; i < t->points; i++)
        for (ptrdiff_t q = which[i] ? i : -1; q >= 0; q = t->following[q])
            for (int64_t m = t->part_start[q]; m < t->part_start[q + 1]; m++)
                total += 2 * N * (t->last[t->part[m]] - t->first[t->part[m]]);
    for (ptrdiff_t i = 0; i < t->corners; i++)
        total += which[t->points + i] ? 1 + N : 0;
    return total;
}

/* Add the weights of a segment to the row that begins at first; returns its end. */
static ptrdiff_t add_segment(tables *t, ptrdiff_t m, const double *T, double area, ptrdiff_t first, ptrdiff_t used,
                             int32_t *nodes, double *B, double *W)
{
    const double *mass = t->mass + m * N * N, *cross = t->cross + m * N * N, *n = t->common_normal + m * G;
    double weights[2 * N] = {0.0};
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++) {
            weights[j] += T[k] * mass[k * N + j];
            weights[N + j] -= T[k] * cross[k * N + j];
        }
    for (int side = 0; side < 2; side++)
        for (int j = 0; j < N; j++) {
            const int32_t node = t->facet[(ptrdiff_t)t->segment[2 * m + side] * N + j];
            const double weight = weights[side * N + j] / area;
            ptrdiff_t at = first + t->stamp[node];
            if (t->stamp[node] < 0) {
                at = used++;
                t->stamp[node] = (int32_t)(at - first);
                nodes[at] = node;
                W[at] = 0.0;
                memset(B + at * G, 0, sizeof(double) * G);
            }
            W[at] += weight;
            for (int c = 0; c < G; c++)
                B[at * G + c] += weight * n[c];
        }
    return used;
}

/* Rows of L and W of the points in a mask, in CSR format; the entries of a row stand in the order of its segments,
   so that they do not depend on the candidates. Returns the number of entries. */
ptrdiff_t set_rows(tables *t, const uint8_t *which, int64_t *start, int32_t *nodes, double *B, double *W)
{
    ptrdiff_t used = 0;
    for (ptrdiff_t i = 0; i < t->points; i++) {
        const ptrdiff_t first = used;
        start[i] = used;
        if (!which[i])
            continue;
        for (ptrdiff_t q = i; q >= 0; q = t->following[q])
            for (int64_t k = t->part_start[q]; k < t->part_start[q + 1]; k++) {
                const ptrdiff_t e = t->part[k], row = e * N + t->place[k];
                if (t->areas[row] == 0.0 || !counts(t, i, e))
                    continue;
                for (ptrdiff_t m = t->first[e]; m < t->last[e]; m++)
                    used = add_segment(t, m, t->T + row * N, t->area[i], first, used, nodes, B, W);
            }
        for (ptrdiff_t at = first; at < used; at++)
            t->stamp[nodes[at]] = -1;
    }
    for (ptrdiff_t i = 0; i < t->corners; i++) {
        start[t->points + i] = used;
        for (int k = -1; k < (which[t->points + i] ? N : -1); k++, used++) {
            nodes[used] = k < 0 ? t->corner[i] : t->facet[(ptrdiff_t)t->corner_facet[i] * N + k];
            W[used] = k < 0 ? 1.0 : -t->corner_N[i * N + k];
            for (int c = 0; c < G; c++)
                B[used * G + c] = W[used] * t->corner_normal[i * G + c];
        }
    }
    start[t->points + t->corners] = used;
    return used;
}

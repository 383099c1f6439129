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
/* Extent of a part over the diameter of the opposite facets below which it has one place: the rest of the body
   covers other facets. */
#define THIN 0.1

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

/* Write unit axes in the plane of the facet of a part; returns the least diameter of the opposite facets. In
   space the axes are those of the opposite edges, up to quarters of a turn: the sides of a block. */
double set_axes(const tables *t, ptrdiff_t e, double *out)
{
    double(*axes)[G] = (double(*)[G])out;
    const double(*x)[G] = (const double(*)[G])t->x;
    const int32_t *nodes = t->facet + (ptrdiff_t)t->part_facet[e] * N;
    const double *o = x[nodes[CORNER[0]]], *a = x[nodes[CORNER[1]]];
    double width = INFINITY, size = 0.0;
    for (int i = 0; i < G; i++) {
        axes[0][i] = a[i] - o[i];
        size += axes[0][i] * axes[0][i];
    }
    for (int i = 0; i < G; i++)
        axes[0][i] /= sqrt(size);
    for (ptrdiff_t m = t->first[e]; m < t->last[e]; m++)
        width = smaller(width, t->diameter[t->segment[2 * m + 1]]);
#if G == 3
    const double *b = x[nodes[CORNER[C - 1]]];
    double along = 0.0, other = 0.0, real = 0.0, imaginary = 0.0;
    for (int i = 0; i < G; i++) {
        axes[1][i] = b[i] - o[i];
        along += axes[1][i] * axes[0][i];
    }
    for (int i = 0; i < G; i++) {
        axes[1][i] -= along * axes[0][i];
        other += axes[1][i] * axes[1][i];
    }
    for (int i = 0; i < G; i++)
        axes[1][i] /= sqrt(other);
    for (ptrdiff_t m = t->first[e]; m < t->last[e]; m++)
        for (int k = 0; k < C; k++) {
            const int32_t *opposite = t->facet + (ptrdiff_t)t->segment[2 * m + 1] * N;
            const double *s = x[opposite[CORNER[k]]], *r = x[opposite[CORNER[(k + 1) % C]]];
            double u = 0.0, v = 0.0;
            for (int i = 0; i < G; i++) {
                u += axes[0][i] * (r[i] - s[i]);
                v += axes[1][i] * (r[i] - s[i]);
            }
            const double length = sqrt(u * u + v * v), angle = 4.0 * atan2(v, u);
            real += length * cos(angle);
            imaginary += length * sin(angle);
        }
    const double turn = 0.25 * atan2(imaginary, real), c = cos(turn), s = sin(turn);
    for (int i = 0; i < G; i++) {
        const double u = axes[0][i], v = axes[1][i];
        axes[0][i] = c * u + s * v;
        axes[1][i] = c * v - s * u;
    }
#endif
    return width;
}

/* Places of a linear pressure on a part of a facet that a small body covers.

   The pressure is sum_k r_k w_k / A_k with linear functions w_k, each of which takes the value of a linear field
   at one place: int w_k f dA = A_k f(x_k). With places at the ends of the part the resultant of impulses r_k >= 0
   lies anywhere between them and nowhere else, as that of a body that stands on a plane. The ends are those of a
   rectangle (in the plane: of an interval) with the moments of the part; on a triangle, of one similar to the
   facet.

   Write the coordinates y of the nodes relative to the middle of the part and the slopes of the functions
   w_k / A_k = 1 + slope.y of the corners; returns whether there are ends. */
static int set_ends(const double (*x)[G], const int32_t *nodes, const double (*M)[N], const double *D, double area,
                    double axes[2][G], double width, double (*y)[2], double (*slopes)[2])
{
    for (int a = 0; a < G - 1; a++) {
        double mean = 0.0;
        for (int j = 0; j < N; j++) {
            y[j][a] = 0.0;
            for (int i = 0; i < G; i++)
                y[j][a] += axes[a][i] * (x[nodes[j]][i] - x[nodes[0]][i]);
            mean += D[j] * y[j][a] / area;
        }
        for (int j = 0; j < N; j++)
            y[j][a] -= mean;
    }
    double uu = 0.0;
    for (int j = 0; j < N; j++)
        for (int k = 0; k < N; k++)
            uu += y[j][0] * M[j][k] * y[k][0] / area;
    const double half = sqrt(3.0 * larger(uu, 0.0));
    if (2.0 * half <= THIN * width || uu <= 0.0)
        return 0;
#if G == 2
    slopes[0][0] = -half / uu;
    slopes[1][0] = half / uu;
    return 1;
#else
    double uv = 0.0, vv = 0.0, middle[2] = {0.0, 0.0}, facet = 0.0;
    for (int j = 0; j < N; j++)
        for (int k = 0; k < N; k++) {
            uv += y[j][0] * M[j][k] * y[k][1] / area;
            vv += y[j][1] * M[j][k] * y[k][1] / area;
        }
    const double other = sqrt(3.0 * larger(vv, 0.0)), det = uu * vv - uv * uv;
    if (2.0 * other <= THIN * width || det <= 1e-12 * uu * vv)
        return 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < 2; i++)
            middle[i] += y[CORNER[c]][i] / C;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < 2; i++)
            facet += (y[CORNER[c]][i] - middle[i]) * (y[CORNER[c]][i] - middle[i]) / 12.0;
    const double scale = sqrt((uu + vv) / facet);
    for (int c = 0; c < C; c++) {
        double u = c == 1 || c == 2 ? half : -half, v = c >= 2 ? other : -other;
        if (C == 3) {
            u = scale * (y[CORNER[c]][0] - middle[0]);
            v = scale * (y[CORNER[c]][1] - middle[1]);
        }
        slopes[c][0] = (vv * u - uv * v) / det;
        slopes[c][1] = (uu * v - uv * u) / det;
    }
    return 1;
#endif
}

/* The node of a facet with the largest area, the first of equal ones. */
static int most_covered(const double *D)
{
    int k = 0;
    for (int i = 1; i < N; i++)
        if (D[i] > (1.0 + 1e-9) * D[k])
            k = i;
    return k;
}

/* Functions of a part where those of its dual basis extrapolate too far: psi = 1 at the node next to the part, one
   row of its mean gap. Where the opposite body is smaller than the facets that it touches, so that none of them is
   covered, the pressure on the part is linear, with places at its ends. */
static void set_places(tables *t, ptrdiff_t e, int beside, const double (*M)[N], const double *D,
                       const double *moment, double area)
{
    const int32_t *nodes = t->facet + (ptrdiff_t)t->part_facet[e] * N;
    double axes[2][G], y[N][2], slopes[4][2], sum = 0.0;
    double *T = t->T + e * N * N, *areas = t->areas + e * N, *weighted = t->weighted + e * N;
    memset(T, 0, sizeof(double) * N * N);
    memset(areas, 0, sizeof(double) * N);
    memset(weighted, 0, sizeof(double) * N);
    const double width = set_axes(t, e, axes[0]);
    for (int j = 0; j < N; j++)
        sum += moment[j];
    if (beside || !set_ends((const double(*)[G])t->x, nodes, M, D, area, axes, width, y, slopes)) {
        const int k = most_covered(D);
        for (int j = 0; j < N; j++)
            T[k * N + j] = 1.0;
        areas[k] = area;
        weighted[k] = sum;
        return;
    }
    t->placed[e] = 1;
    for (int c = 0; c < C; c++) {
        const int k = CORNER[c];
        areas[k] = area / C;
        for (int j = 0; j < N; j++) {
            double value = 1.0;
            for (int a = 0; a < G - 1; a++)
                value += slopes[c][a] * y[j][a];
            T[k * N + j] = value / C;
            weighted[k] += value / C * moment[j];
        }
    }
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
    for (ptrdiff_t e = 0; e < t->parts; e++) {
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
    for (ptrdiff_t i = 0; i < t->points; i++) {
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
        for (ptrdiff_t q = which[i] ? i : -1; q >= 0; q = t->following[q])
            for (int64_t k = t->part_start[q]; k < t->part_start[q + 1]; k++) {
                const ptrdiff_t e = t->part[k], row = e * N + t->place[k];
                if (t->areas[row] == 0.0)
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

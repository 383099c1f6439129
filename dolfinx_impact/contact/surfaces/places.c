/* Functions of the part of a slave facet that a much smaller body covers. */

/* Extent of a part over the diameter of the opposite facets below which it has one place: the rest of the body
   covers other facets. */
#define THIN 0.1

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

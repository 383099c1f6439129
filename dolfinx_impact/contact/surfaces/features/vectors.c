/* Vectors, and closest points of features; features.h comes before. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGENERATE 1e-12 /* sine below which edges are parallel, and triangles slivers */
#define TOUCHING 1e-9    /* distance at which a difference of positions has no direction, over the longest edge */

static inline double smaller(double a, double b) { return b < a ? b : a; }
static inline double larger(double a, double b) { return b > a ? b : a; }
static inline double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline void minus(const double *a, const double *b, double *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

static inline void cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Make a unit vector; one that is far below `scale` becomes 0. Returns whether it is one. */
static inline int normalise(double *a, double scale)
{
    const double size = sqrt(dot(a, a));
    const int good = size > DEGENERATE * scale;
    for (int i = 0; i < 3; i++)
        a[i] = good ? a[i] / size : 0.0;
    return good;
}

/* Two features: one vertex, or two of an edge, then those of the other one; their nodes, positions and displacements
   relative to the first vertex. */
typedef struct {
    int first, count;
    int32_t node[4];
    double x[4][3], d[4][3];
} Duo;

/* Outward normal of a triangle, or of a segment in two dimensions; 0 where it is a sliver. */
static int outward(const double (*at)[3], int corners, double *n)
{
    double u[3], w[3];
    minus(at[1], at[0], u);
    if (corners == 2) {
        n[0] = u[1], n[1] = -u[0], n[2] = 0.0;
        return normalise(n, 0.0);
    }
    minus(at[2], at[0], w);
    cross(u, w, n);
    return normalise(n, larger(dot(u, u), dot(w, w)));
}

/* Square of the distance of a point to a segment, and the place of the closest point. */
static double to_segment(const double *p, const double *a, const double *b, double *place)
{
    double u[3], r[3];
    minus(b, a, u);
    minus(p, a, r);
    const double square = dot(u, u), along = dot(r, u);
    const double t = along <= 0.0 ? 0.0 : along >= square ? 1.0 : along / square;
    for (int i = 0; i < 3; i++)
        r[i] = t == 1.0 ? p[i] - b[i] : r[i] - t * u[i];
    *place = t;
    return dot(r, r);
}

/* Weights of the closest points of a vertex and a segment or triangle; the square of their distance. */
static double of_vertex(const double (*x)[3], int corners, double *w)
{
    double best = INFINITY, place;
    w[0] = 1.0;
    if (corners == 3) {
        double u[3], v[3], r[3], n[3], c[3];
        minus(x[2], x[1], u);
        minus(x[3], x[1], v);
        minus(x[0], x[1], r);
        cross(u, v, n);
        const double area = dot(n, n);
        if (area > DEGENERATE * DEGENERATE * dot(u, u) * dot(v, v)) {
            cross(r, v, c);
            const double second = dot(c, n);
            cross(u, r, c);
            const double third = dot(c, n);
            if (second > 0.0 && third > 0.0 && second + third < area) {
                w[2] = second / area, w[3] = third / area, w[1] = 1.0 - w[2] - w[3];
                const double height = dot(r, n);
                return height * height / area;
            }
        }
    }
    for (int k = 0, sides = corners == 3 ? 3 : 1; k < sides; k++) {
        const int a = 1 + k, b = 1 + (k + 1) % corners;
        const double square = to_segment(x[0], x[a], x[b], &place);
        if (square < best) {
            best = square;
            w[1] = w[2] = w[3] = 0.0;
            w[a] = 1.0 - place, w[b] = place;
        }
    }
    return best;
}

/* The same of two edges. Where the closest points are not within both, one is an end. */
static double of_edges(const double (*x)[3], double *w)
{
    double u[3], v[3], r[3], n[3], c[3], best = INFINITY, place;
    minus(x[1], x[0], u);
    minus(x[3], x[2], v);
    minus(x[2], x[0], r);
    cross(u, v, n);
    const double square = dot(n, n);
    if (square > DEGENERATE * DEGENERATE * dot(u, u) * dot(v, v)) {
        cross(r, v, c);
        const double s = dot(c, n) / square;
        cross(r, u, c);
        const double t = dot(c, n) / square;
        if (s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0) {
            w[0] = 1.0 - s, w[1] = s, w[2] = 1.0 - t, w[3] = t;
            const double height = dot(r, n);
            return height * height / square;
        }
    }
    for (int k = 0; k < 4; k++) {
        const int a = k < 2 ? 2 : 0; /* the edge against which end k stands */
        const double distance = to_segment(x[k], x[a], x[a + 1], &place);
        if (distance < best) {
            best = distance;
            w[0] = w[1] = w[2] = w[3] = 0.0;
            w[k] = 1.0, w[a] = 1.0 - place, w[a + 1] = place;
        }
    }
    return best;
}

/* Weights of the closest points, those of the second feature negative; their distance. */
static double closest(const Duo *duo, const double (*x)[3], double *w)
{
    const double square = duo->first == 1 ? of_vertex(x, duo->count - 1, w) : of_edges(x, w);
    for (int k = 0; k < 4; k++)
        w[k] = k >= duo->count ? 0.0 : k < duo->first ? w[k] : -w[k];
    return sqrt(square);
}

static inline void weighted(const Duo *duo, const double *w, const double (*x)[3], double *sum)
{
    for (int i = 0; i < 3; i++) {
        sum[i] = 0.0;
        for (int k = 0; k < duo->count; k++)
            sum[i] += w[k] * x[k][i];
    }
}

/* Direction of the separation: the normal of the triangle or the common perpendicular of edges where the closest
   points are within both, since a small difference of positions has none. */
static void direction(const Duo *duo, const double *w, const double (*x)[3], double *n)
{
    double r[3];
    int within = 1;
    weighted(duo, w, x, r);
    for (int k = 0; k < duo->count; k++)
        within &= w[k] != 0.0;
    if (within) {
        if (duo->first == 1) {
            within = outward(x + 1, duo->count - 1, n);
        } else {
            double u[3], v[3];
            minus(x[1], x[0], u);
            minus(x[3], x[2], v);
            cross(u, v, n);
            within = normalise(n, sqrt(dot(u, u) * dot(v, v)));
        }
        const double sign = dot(n, r) < 0.0 ? -1.0 : 1.0;
        for (int i = 0; i < 3; i++)
            n[i] *= sign;
    }
    if (!within) {
        memcpy(n, r, sizeof(r));
        normalise(n, 0.0);
    }
}

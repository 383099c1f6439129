/* Normals and shape functions of facets with N nodes in G dimensions. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NEWTON_STEPS 30

/* The functions of the library have to look for values that are no numbers, and are calls. */
static inline double smaller(double a, double b) { return b < a ? b : a; }
static inline double larger(double a, double b) { return b > a ? b : a; }

/* Write the outward unit normal of a facet (in space the mean one); returns its length [m] or area [m2]. */
static double facet_normal(const double (*x)[G], const int32_t *nodes, double *n)
{
    double square = 0.0;
#if G == 2
    const double *a = x[nodes[CORNER[0]]], *b = x[nodes[CORNER[1]]];
    n[0] = b[1] - a[1];
    n[1] = a[0] - b[0];
#else
    const double *o = x[nodes[CORNER[0]]], *a = x[nodes[CORNER[C - 2]]];
    const double *p = x[nodes[CORNER[C == 4]]], *b = x[nodes[CORNER[C - 1]]];
    double u[3], w[3];
    for (int i = 0; i < 3; i++) {
        u[i] = a[i] - o[i];
        w[i] = b[i] - p[i];
    }
    for (int i = 0; i < 3; i++)
        n[i] = u[(i + 1) % 3] * w[(i + 2) % 3] - u[(i + 2) % 3] * w[(i + 1) % 3];
#endif
    for (int i = 0; i < G; i++)
        square += n[i] * n[i];
    const double size = sqrt(square);
    for (int i = 0; i < G; i++)
        n[i] /= size;
    return (G == 2 ? 1.0 : 0.5) * size;
}

#if P > 2 || G == 2
/* The Lagrange polynomials of the nodes POINTS at s, and their derivatives. */
static void factors(double s, double *value, double *slope)
{
    for (int i = 0; i < P; i++) {
        value[i] = 1.0;
        slope[i] = 0.0;
        for (int j = 0; j < P; j++)
            if (j != i) {
                const double width = POINTS[i] - POINTS[j];
                slope[i] = slope[i] * (s - POINTS[j]) / width + value[i] / width;
                value[i] *= (s - POINTS[j]) / width;
            }
    }
}
#endif

#if G == 2
/* Shape functions where the projected facet y has the coordinate at; returns its slope there. */
static double line_functions(const double *y, double at, double *values, double *slopes)
{
    double s = (at - y[0]) / (y[N - 1] - y[0]), slope = y[N - 1] - y[0];
    for (int step = 0; step < NEWTON_STEPS; step++) {
        factors(s, values, slopes);
        double rest = -at;
        slope = 0.0;
        for (int i = 0; i < N; i++) {
            rest += values[i] * y[i];
            slope += slopes[i] * y[i];
        }
        if (N == 2 || fabs(rest) <= 1e-15 * fabs(slope))
            break;
        s -= rest / slope;
    }
    return slope;
}
#else
/* Unit tangents with a x b = n, Duff et al., J. Comput. Graph. Tech. 6 (2017). */
static void tangents(const double *n, double *a, double *b)
{
    const double sign = copysign(1.0, n[2]), c = -1.0 / (sign + n[2]);
    a[0] = 1.0 + sign * n[0] * n[0] * c;
    a[1] = sign * n[0] * n[1] * c;
    a[2] = -sign * n[0];
    b[0] = n[0] * n[1] * c;
    b[1] = sign + n[1] * n[1] * c;
    b[2] = -n[1];
}

/* Map of the corners of a projected facet: o + u s + w t + q s t, or the inverse of an affine one. */
typedef struct {
    double o[2], u[2], w[2], q[2];
    int affine;
} corner_map;

static corner_map map_of(const double (*y)[2])
{
    corner_map m;
    double edge = 0.0, warp = 0.0;
    for (int c = 0; c < 2; c++) {
        m.o[c] = y[CORNER[0]][c];
        m.u[c] = y[CORNER[1]][c] - m.o[c];
        m.w[c] = y[CORNER[C - 1]][c] - m.o[c];
        m.q[c] = SIMPLEX ? 0.0 : y[CORNER[2]][c] - y[CORNER[1]][c] - m.w[c];
        edge += fabs(m.u[c]) + fabs(m.w[c]);
        warp += fabs(m.q[c]);
    }
    m.affine = warp <= 1e-14 * edge;
    return m;
}

/* Parameters (s, t) of points in a map; Newton's method, from the affine part on, where it is not affine. */
static void parameters(const corner_map *m, int count, const double *restrict a, const double *restrict b,
                       double *restrict s, double *restrict t)
{
    const double o0 = m->o[0], o1 = m->o[1], u0 = m->u[0], u1 = m->u[1], w0 = m->w[0], w1 = m->w[1];
    const double q0 = m->q[0], q1 = m->q[1], scale = 1.0 / (u0 * w1 - u1 * w0);
    for (int i = 0; i < count; i++) {
        const double x = a[i] - o0, y = b[i] - o1;
        s[i] = (x * w1 - y * w0) * scale;
        t[i] = (u0 * y - u1 * x) * scale;
    }
    for (int step = 0, again = !m->affine; again && step < NEWTON_STEPS; step++) {
        again = 0;
        for (int i = 0; i < count; i++) {
            const double xs = u0 + q0 * t[i], ys = u1 + q1 * t[i], xt = w0 + q0 * s[i], yt = w1 + q1 * s[i];
            const double rx = o0 + xs * s[i] + w0 * t[i] - a[i], ry = o1 + ys * s[i] + w1 * t[i] - b[i];
            const double inverse = 1.0 / (xs * yt - ys * xt);
            const double ds = (rx * yt - ry * xt) * inverse, dt = (xs * ry - ys * rx) * inverse;
            s[i] -= ds;
            t[i] -= dt;
            /* Newton's method is quadratic: what is left is the square of the last change. */
            again |= fabs(ds) + fabs(dt) > 1e-9;
        }
    }
}

#if P > 2
/* Parameters of a point in a facet of higher degree with the projected nodes y, from (s, t) on. */
static void refine(const double (*y)[2], double a, double b, double *s, double *t)
{
    double p[P], q[P], dp[P], dq[P];
    for (int step = 0; step < NEWTON_STEPS; step++) {
        factors(*s, p, dp);
        factors(*t, q, dq);
        double rx = -a, ry = -b, xs = 0.0, ys = 0.0, xt = 0.0, yt = 0.0;
        for (int i = 0; i < P; i++)
            for (int j = 0; j < P; j++) {
                const double *at = y[i * P + j];
                rx += p[i] * q[j] * at[0];
                ry += p[i] * q[j] * at[1];
                xs += dp[i] * q[j] * at[0];
                ys += dp[i] * q[j] * at[1];
                xt += p[i] * dq[j] * at[0];
                yt += p[i] * dq[j] * at[1];
            }
        const double det = xs * yt - ys * xt;
        const double ds = (rx * yt - ry * xt) / det, dt = (xs * ry - ys * rx) / det;
        if (fabs(ds) + fabs(dt) <= 1e-14)
            break;
        *s -= ds;
        *t -= dt;
    }
}
#endif

/* Shape functions of a projected facet y at points, values[point * stride + node]. */
static void facet_functions(const double (*y)[2], const corner_map *m, int count, const double *a,
                            const double *b, double *s, double *t, double *values, int stride)
{
    parameters(m, count, a, b, s, t);
    for (int i = 0; i < count; i++) {
        double *f = values + i * stride;
#if SIMPLEX
        f[0] = 1.0 - s[i] - t[i];
        f[1] = s[i];
        f[2] = t[i];
#elif P == 2
        f[0] = (1.0 - s[i]) * (1.0 - t[i]);
        f[1] = (1.0 - s[i]) * t[i];
        f[2] = s[i] * (1.0 - t[i]);
        f[3] = s[i] * t[i];
#else
        double p[P], q[P], slopes[P];
        refine(y, a[i], b[i], s + i, t + i);
        factors(s[i], p, slopes);
        factors(t[i], q, slopes);
        for (int j = 0; j < N; j++)
            f[j] = p[j / P] * q[j % P];
#endif
    }
}
#endif

/* The surface around a point on the border of a triangle. */

#define STEP 1e-3 /* distance from the point at which the surface is looked at, over the longest edge */

static void corners_at(const features *f, const double *x, int64_t t, double (*at)[3])
{
    for (int c = 0; c < (f->flat ? 2 : 3); c++)
        memcpy(at[c], x + 3 * f->triangle[3 * t + c], 3 * sizeof(double));
}

/* The corners of a triangle on which a point on its border lies; returns how many. */
static int corners_of(const features *f, int64_t t, const double *w, int32_t *on)
{
    int count = 0;
    for (int c = 0; c < (f->flat ? 2 : 3); c++)
        if (fabs(w[c]) > TOUCHING)
            on[count++] = f->triangle[3 * t + c];
    return count;
}

static int has_corners(const features *f, int64_t t, const int32_t *on, int count)
{
    int found = 0;
    for (int k = 0; k < count; k++)
        for (int c = 0; c < (f->flat ? 2 : 3); c++)
            found += f->triangle[3 * t + c] == on[k];
    return found == count;
}

/* Angle of a triangle at the first of its corners that is in `on`. */
static double angle_at(const features *f, int64_t t, int32_t on, const double (*at)[3])
{
    double u[3], v[3], n[3];
    int c = 0;
    if (f->flat)
        return 1.0;
    while (c < 2 && f->triangle[3 * t + c] != on)
        c++;
    minus(at[(c + 1) % 3], at[c], u);
    minus(at[(c + 2) % 3], at[c], v);
    cross(u, v, n);
    return atan2(sqrt(dot(n, n)), dot(u, v));
}

/* Loop over the triangles around a point on the border of one of them. */
#define AROUND(f, s, on, count)                                                                                        \
    for (int64_t k = (f)->at_vertex_start[on[0]]; k < (f)->at_vertex_start[on[0] + 1]; k++)                            \
        for (int64_t s = (f)->at_vertex[k] * (f)->parts; s < ((f)->at_vertex[k] + 1) * (f)->parts; s++)               \
            if (has_corners(f, s, on, count))

/* Most that the normal of a triangle around the point opposes a path. */
static double steepest(const features *f, int64_t t, const double *w, const double *path)
{
    double least = 0.0, at[3][3], n[3];
    int32_t on[3];
    const int count = corners_of(f, t, w, on);
    AROUND(f, s, on, count)
    {
        corners_at(f, f->x, s, at);
        if (outward(at, f->flat ? 2 : 3, n))
            least = smaller(least, dot(n, path));
    }
    return least;
}

/* Signed distance from the surface of a point near one on the border of a triangle, in a direction u, over the distance
   of both points: positive outside, 0 on the surface. The triangles that are nearest decide; normals at an edge
   weigh the same, those at a vertex by their angles (Baerentzen, Aanaes, IEEE Trans. Vis. Comput. Graph. 11 (2005),
   doi:10.1109/TVCG.2005.49). */
static double rise(const features *f, const double *x, int64_t t, const double *w, const double *u)
{
    double at[4][3], origin[3] = {0.0}, size = 0.0, best = INFINITY, sum[3] = {0.0}, n[3], r[3], weights[4];
    const int corners = f->flat ? 2 : 3;
    int32_t on[3];
    const int count = corners_of(f, t, w, on);
    corners_at(f, x, t, at + 1);
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < corners; c++)
            origin[i] += fabs(w[c]) * at[1 + c][i];
    for (int c = 1; c < corners; c++) {
        minus(at[1 + c], at[1], r);
        size = larger(size, STEP * sqrt(dot(r, r)));
    }
    const double length = sqrt(dot(u, u));
    for (int i = 0; i < 3; i++)
        at[0][i] = size * u[i] / length;
    for (int pass = 0; pass < 2; pass++)
        AROUND(f, s, on, count)
            {
                corners_at(f, x, s, at + 1);
                for (int c = 0; c < corners; c++)
                    minus(at[1 + c], origin, at[1 + c]);
                const double distance = sqrt(of_vertex(at, corners, weights));
                if (pass == 0) {
                    best = smaller(best, distance);
                } else if (distance <= best + TOUCHING * size && outward(at + 1, corners, n)) {
                    /* The nearest point is the one itself where the direction leads away from all triangles. */
                    const double weight = count == 1 && distance > (1.0 - TOUCHING) * size ? angle_at(f, s, on[0], at + 1) : 1.0;
                    for (int i = 0; i < 3; i++) {
                        sum[i] += weight * n[i];
                        r[i] = at[0][i];
                        for (int c = 0; c < corners; c++)
                            r[i] -= weights[1 + c] * at[1 + c][i];
                    }
                }
            }
    return (dot(sum, r) < 0.0 ? -best : best) / size;
}

/* What nodes and facets have moved since the last search. */

/* Mean displacement of facets since the search and the largest deviation from it, now or at the end of the path. */
void describe(features *f, int later)
{
    for (int64_t e = 0; e < f->facets; e++) {
        double *mean = (later ? f->later : f->now) + 4 * e, square = 0.0, own[3];
        const int32_t *node = f->facet_nodes + e * f->per_facet;
        mean[0] = mean[1] = mean[2] = 0.0;
        for (int64_t k = 0; k < f->per_facet; k++)
            for (int i = 0; i < 3; i++)
                mean[i] += f->x[3 * node[k] + i] - f->then[3 * node[k] + i] + (later ? f->d[3 * node[k] + i] : 0.0);
        for (int i = 0; i < 3; i++)
            mean[i] /= f->per_facet;
        f->stirred[e] = 0;
        for (int64_t k = 0; k < f->per_facet; k++) {
            for (int i = 0; i < 3; i++)
                own[i] = f->x[3 * node[k] + i] - f->then[3 * node[k] + i] + (later ? f->d[3 * node[k] + i] : 0.0) - mean[i];
            const double size = dot(own, own);
            square = size <= square ? square : size; /* keeps what is no number */
            f->stirred[e] |= f->moved[node[k]];
        }
        mean[3] = sqrt(square);
    }
}

static double relative(const double *a, const double *b)
{
    double r[3];
    minus(a, b, r);
    return sqrt(dot(r, r)) + a[3] + b[3];
}

/* Largest distance of a node from the mean motion of all since the search, now or at the end of its path; infinite
   where one is no number. */
double largest_motion(const features *f)
{
    double squares[2] = {0.0, 0.0};
    for (int later = 0; later < 2; later++) {
        double mean[3] = {0.0};
        for (int64_t k = 0; k < f->nodes; k++)
            for (int i = 0; i < 3; i++)
                mean[i] += (f->x[3 * k + i] - f->then[3 * k + i] + later * f->d[3 * k + i]) / f->nodes;
        for (int64_t k = 0; k < f->nodes; k++) {
            double square = 0.0;
            for (int i = 0; i < 3; i++) {
                const double own = f->x[3 * k + i] - f->then[3 * k + i] + later * f->d[3 * k + i] - mean[i];
                square += own * own;
            }
            squares[later] = square <= squares[later] ? squares[later] : square;
        }
    }
    const double square = squares[1] <= squares[0] ? squares[0] : squares[1];
    return square < INFINITY ? sqrt(square) : INFINITY;
}

/* Whether a node leaves its room now or at the end of its path, apart from the mean motion of all nodes. */
int leaves_room(const features *f)
{
    for (int later = 0; later < 2; later++) {
        double mean[3] = {0.0};
        int64_t known = 0;
        for (int64_t k = 0; k < f->nodes; k++) {
            const double *x = f->x + 3 * k, *d = f->d + 3 * k, *then = f->then + 3 * k;
            if (!isfinite(x[0] + x[1] + x[2] + d[0] + d[1] + d[2]))
                continue;
            for (int i = 0; i < 3; i++)
                mean[i] += x[i] - then[i] + later * d[i];
            known++;
        }
        for (int i = 0; i < 3; i++)
            mean[i] /= known ? known : 1;
        for (int64_t k = 0; k < f->nodes; k++) {
            const double *x = f->x + 3 * k, *d = f->d + 3 * k;
            if (!isfinite(x[0] + x[1] + x[2] + d[0] + d[1] + d[2]))
                continue;
            for (int i = 0; i < 3; i++) {
                const double own = x[i] + later * d[i] - mean[i];
                if (!(own >= f->low[3 * k + i] && own <= f->high[3 * k + i]))
                    return 1;
            }
        }
    }
    return 0;
}

/* Facets in a mesh: what encloses them, and their planes; includes boxes.h. */

#define CORNERS 4

typedef struct {
    int64_t gdim, per_facet, corners, curved;
    const double *x, *flatness;
    const int64_t *nodes, *corner;
    double margin;
} Mesh;

/* What is known of a facet at present. */
typedef struct {
    double normal[3], at[CORNERS][3]; /* outward; corners, from the centre */
    double warp, chord;               /* largest distance of a corner from the plane; of the turn, see below */
    double weight;                    /* of the normal in common ones */
} Plane;

static inline double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline void minus(const double *a, const double *b, double *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

static inline void place(const Mesh *mesh, int64_t node, double *at)
{
    const double *x = mesh->x + node * mesh->gdim;
    at[0] = x[0], at[1] = x[1], at[2] = mesh->gdim == 3 ? x[2] : 0.0;
}

static void enclose(const Mesh *mesh, int64_t facet, double largest_gap, double diameter, const int64_t *key,
                    Sphere *sphere)
{
    const int64_t *nodes = mesh->nodes + facet * mesh->per_facet;
    double one[3], square = 0.0, *centre = sphere->centre;
    centre[0] = centre[1] = centre[2] = 0.0;
    for (int64_t k = 0; k < mesh->per_facet; k++) {
        place(mesh, nodes[k], one);
        for (int i = 0; i < 3; i++)
            centre[i] += one[i];
    }
    for (int i = 0; i < 3; i++)
        centre[i] /= mesh->per_facet;
    for (int64_t k = 0; k < mesh->per_facet; k++) {
        place(mesh, nodes[k], one);
        minus(one, centre, one);
        square = larger(square, dot(one, one));
    }
    sphere->radius = sqrt(square);
    sphere->gap = largest_gap * larger(2.0 * sphere->radius, diameter);
    sphere->number = facet, sphere->key = key ? key[facet] : INT64_MAX;
}

/* The normal of a facet, and the chord 2 sin(turn / 2) of its turn while each node moves by at most margin / 2;
   4 without a bound.

   The normal is that of the plane of p and q (edges of a triangle from one corner, diagonals of a quadrilateral).
   A vector y = a p + b q of the plane becomes y + d. In a triangle d = a (d_1 - d_0) + b (d_2 - d_0), therefore
   |d| <= margin max(|a|, |b|, |a + b|); in a quadrilateral |d| <= margin (|a| + |b|). Vectors with 1 in the place
   of these norms end on a hexagon with the edges +-p, +-q, +-(p - q), or on a rhomb with the edges +-(p + q),
   +-(p - q): |y| is at least their distance to the origin, l = |p x q| / (longest edge). So |d| <= |y| margin / l,
   and no vector of the plane rises by more than the turn with sin(turn) = margin / l. In 2D l is the length. */
static void describe(const Mesh *mesh, const Sphere *sphere, Plane *plane)
{
    const int64_t *nodes = mesh->nodes + sphere->number * mesh->per_facet, k = mesh->corners;
    double(*at)[3] = plane->at, *n = plane->normal, p[3], q[3], sum[3], difference[3], longest = 1.0;
    for (int64_t i = 0; i < k; i++) {
        place(mesh, nodes[mesh->corner[i]], at[i]);
        minus(at[i], sphere->centre, at[i]);
    }
    minus(at[k == 4 ? 2 : 1], at[0], p);
    if (mesh->gdim == 2) {
        n[0] = p[1], n[1] = -p[0], n[2] = 0.0;
    } else {
        minus(at[k - 1], at[k == 4 ? 1 : 0], q);
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, l = (i + 2) % 3;
            n[i] = p[j] * q[l] - p[l] * q[j];
            sum[i] = p[i] + q[i], difference[i] = p[i] - q[i];
        }
        longest = k == 4 ? dot(sum, sum) : larger(dot(p, p), dot(q, q));
        longest = sqrt(larger(longest, dot(difference, difference)));
    }
    double size = sqrt(dot(n, n)), sine = mesh->margin * longest / size;
    plane->chord = sine < 1.0 ? sqrt(2.0 * (1.0 - sqrt(1.0 - sine * sine))) : 4.0;
    plane->weight = mesh->flatness[sphere->number];
    plane->warp = 0.0;
    for (int i = 0; i < 3; i++)
        n[i] /= size;
    for (int64_t i = 0; i < k; i++)
        plane->warp = larger(plane->warp, fabs(dot(n, at[i])));
}

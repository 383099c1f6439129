/* Pairs of facets that are awake, and the paths of their features. */

#define REST 0.1 /* part of their skins that covered features keep */
#define SLACK 1.03 /* at least (1 + MET) / (1 - MET): the distance at which features meet grows with that at the start */

static double distance_of(const features *f, int kind, int64_t i, int64_t j)
{
    Duo duo;
    double w[4];
    if (related(f, kind, i, j))
        return INFINITY;
    load(f, f->then, kind, i, j, &duo);
    return closest(&duo, duo.x, w);
}

/* Distance of the features of two facets without a common node at the search; 0 where one pierces the other. */
static double exact_distance(const features *f, int64_t a, int64_t b)
{
    double least = INFINITY;
    const int64_t facet[2] = {a, b};
    for (int side = 0; side < 2; side++) {
        const int64_t one = facet[side], other = facet[1 - side];
        for (int64_t t = other * f->parts; t < (other + 1) * f->parts; t++) {
            for (int64_t k = 0; k < f->per_facet; k++)
                least = smaller(least, distance_of(f, 0, f->facet_nodes[one * f->per_facet + k], t));
            for (int64_t k = 0; k < f->sides; k++)
                if (pierces(f, f->then, f->facet_edge[one * f->sides + k], t))
                    return 0.0;
        }
    }
    for (int64_t k = 0; !f->flat && k < f->sides; k++)
        for (int64_t m = 0; m < f->sides; m++)
            least = smaller(least, distance_of(f, 1, f->facet_edge[a * f->sides + k], f->facet_edge[b * f->sides + m]));
    return least;
}

/* Numbers of the pairs whose features may meet now or, with `later`, on their paths; those of this rank. */
int64_t awake(features *f, int later, int64_t rank, int64_t ranks, int32_t *list)
{
    int64_t count = 0;
    for (int64_t p = 0; p < f->pairs; p++) {
        const int64_t a = f->pair[2 * p], b = f->pair[2 * p + 1];
        if ((ranks > 1 && a % ranks != rank) || (later && !f->stirred[a] && !f->stirred[b]))
            continue;
        double moved = relative(f->now + 4 * a, f->now + 4 * b);
        if (later)
            moved = larger(moved, relative(f->later + 4 * a, f->later + 4 * b));
        if (!(SLACK * moved >= f->above[p]) || isinf(moved))
            continue;
        if (!f->exact[p]) {
            f->above[p] = exact_distance(f, a, b) - f->reach[a] - f->reach[b];
            f->exact[p] = 1;
        }
        list[count] = (int32_t)p;
        count += SLACK * moved >= f->above[p];
    }
    return count;
}

/* A feature: the box of its path with its skin, whether it is to be looked at. */
typedef struct {
    int64_t number;
    int moved;
    double low[3], high[3];
} Feature;

static void trace(const features *f, int64_t number, const int32_t *node, int nodes, double skin, Feature *one)
{
    one->number = number, one->moved = 0;
    for (int k = 0; k < nodes; k++) {
        const double *x = f->x + 3 * node[k], *d = f->d + 3 * node[k];
        one->moved |= f->moved[node[k]];
        for (int i = 0; i < 3; i++) {
            const double end = x[i] + d[i], low = smaller(x[i], end), high = larger(x[i], end);
            one->low[i] = k ? smaller(one->low[i], low) : low;
            one->high[i] = k ? larger(one->high[i], high) : high;
        }
    }
    for (int i = 0; i < 3; i++)
        one->low[i] -= skin, one->high[i] += skin;
}

/* The features of one facet: triangles, and vertices and edges that it owns. */
typedef struct {
    int64_t vertices, edges;
    Feature *triangle, *vertex, *edge;
} Side;

static void trace_facet(const features *f, int64_t facet, Side *side)
{
    side->vertices = side->edges = 0;
    for (int64_t t = 0; t < f->parts; t++) {
        const int64_t number = facet * f->parts + t;
        trace(f, number, f->triangle + 3 * number, f->flat ? 2 : 3, f->facet_skin[facet], side->triangle + t);
    }
    for (int64_t k = f->vertex_start[facet]; k < f->vertex_start[facet + 1]; k++) {
        const int32_t *node = f->vertex + k;
        trace(f, *node, node, 1, f->vertex_skin[*node], side->vertex + side->vertices++);
    }
    for (int64_t k = f->edge_start[facet]; !f->flat && k < f->edge_start[facet + 1]; k++) {
        const int64_t number = f->own_edge[k];
        trace(f, number, f->edge + 2 * number, 2, f->edge_skin[number], side->edge + side->edges++);
    }
}

typedef struct {
    int64_t capacity, count;
    int32_t *duo;
    double *tau, *weight, *normal, *least;
} Hits;

/* Features that segments around them cover need the skin no more than they: the contact there uses it up. They are
   tested for the rest of it alone. */
static void test(features *f, int kind, const Feature *a, const Feature *b, double skin, Hits *hits)
{
    Hit hit;
    const Feature *first = kind && b->number < a->number ? b : a, *second = first == a ? b : a;
    const int64_t key = kind ? -1 - (first->number * f->edges + second->number)
                             : first->number * f->facets * f->parts + second->number;
    if (!(a->moved || b->moved))
        return;
    if (!overlap(a->low, a->high, b->low, b->high, 0.0)) {
        f->tested++;
        return;
    }
    if (related(f, kind, first->number, second->number))
        return;
    const int covered = is_covered(f, kind, first->number, second->number);
    if (covered && skin == 0.0)
        return;
    f->tested++;
    const double kept = covered ? REST * skin : skin;
    if (covered && !overlap(a->low, a->high, b->low, b->high, skin - kept))
        return;
    if (!meet(f, kind, first->number, second->number, kept, &hit) || place_of(f->inside_key, f->inside, key) >= 0)
        return;
    const int64_t k = hits->count++;
    if (k >= hits->capacity)
        return;
    int32_t *duo = hits->duo + 4 * k;
    duo[0] = kind, duo[1] = (int32_t)first->number, duo[2] = (int32_t)second->number, duo[3] = covered ? NEAR : 0;
    for (int c = 0; c < 4; c++)
        duo[3] |= (fabs(hit.weights[c]) > TOUCHING) << c;
    hits->tau[k] = hit.tau, hits->least[k] = hit.least;
    memcpy(hits->weight + 4 * k, hit.weights, sizeof(hit.weights));
    memcpy(hits->normal + 3 * k, hit.normal, sizeof(hit.normal));
}

static void test_facets(features *f, const Side *one, const Side *other, Hits *hits)
{
    for (int64_t k = 0; k < one->vertices; k++)
        for (int64_t t = 0; t < f->parts; t++) {
            const Feature *v = one->vertex + k, *on = other->triangle + t;
            test(f, 0, v, on, f->vertex_skin[v->number] + f->facet_skin[on->number / f->parts], hits);
        }
}

/* Hits of the features of the pairs of facets in a list; how many, which may be more than the capacity. */
int64_t paths(features *f, int64_t count, const int32_t *list, int64_t capacity, int32_t *duo, double *tau,
              double *weight, double *normal, double *least)
{
    Hits hits = {capacity, 0, duo, tau, weight, normal, least};
    Feature room[2][f->parts + f->per_facet + f->sides];
    Side side[2];
    f->tested = 0;
    for (int s = 0; s < 2; s++)
        side[s].triangle = room[s], side[s].vertex = room[s] + f->parts, side[s].edge = side[s].vertex + f->per_facet;
    for (int64_t k = 0; k < count; k++) {
        const int64_t a = f->pair[2 * list[k]], b = f->pair[2 * list[k] + 1];
        if (is_whole(f, a, b))
            continue;
        trace_facet(f, a, side);
        trace_facet(f, b, side + 1);
        test_facets(f, side, side + 1, &hits);
        test_facets(f, side + 1, side, &hits);
        for (int64_t i = 0; i < side[0].edges; i++)
            for (int64_t j = 0; j < side[1].edges; j++) {
                const Feature *one = side[0].edge + i, *other = side[1].edge + j;
                test(f, 1, one, other, f->edge_skin[one->number] + f->edge_skin[other->number], &hits);
            }
    }
    return hits.count;
}

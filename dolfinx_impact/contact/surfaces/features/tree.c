/* Pairs of facets whose boxes overlap, by a tree of boxes. */

#define LEAF 4

typedef struct {
    double low[3], high[3];
    int64_t facet; /* in leaves; otherwise */
    int64_t first, count, right;
} Box;

/* Whether boxes overlap, by more than a length. */
static inline int overlap(const double *low, const double *high, const double *other_low, const double *other_high,
                          double by)
{
    for (int i = 0; i < 3; i++)
        if (!(low[i] + by <= other_high[i] && other_low[i] + by <= high[i]))
            return 0;
    return 1;
}

static inline void include(Box *box, const double *low, const double *high)
{
    for (int i = 0; i < 3; i++)
        box->low[i] = smaller(box->low[i], low[i]), box->high[i] = larger(box->high[i], high[i]);
}

static void clear(Box *box)
{
    memset(box, 0, sizeof(Box));
    for (int i = 0; i < 3; i++)
        box->low[i] = INFINITY, box->high[i] = -INFINITY;
}

#define KEY_ALONG(box, axis) ((box).low[axis] + (box).high[axis])
DEFINE_HALVE(Box)

typedef struct {
    const features *f;
    Box *leaf, *box;
    int64_t used, capacity, found;
    int32_t *pair;
    double *apart;
} Search;

static int64_t divide(Search *s, int64_t first, int64_t count)
{
    const int64_t own = s->used++;
    Box *box = s->box + own;
    clear(box);
    box->first = first, box->count = count;
    for (int64_t k = first; k < first + count; k++)
        include(box, s->leaf[k].low, s->leaf[k].high);
    if (count <= LEAF)
        return own;
    int axis = 0;
    for (int i = 1; i < 3; i++)
        if (box->high[i] - box->low[i] > box->high[axis] - box->low[axis])
            axis = i;
    halve(s->leaf + first, count, count / 2, axis);
    divide(s, first, count / 2);
    box->right = divide(s, first + count / 2, count - count / 2);
    return own;
}

/* Distance of the boxes around two facets. */
static double box_distance(const features *f, int64_t a, int64_t b)
{
    double low[2][3], high[2][3], square = 0.0;
    const int64_t facet[2] = {a, b};
    for (int side = 0; side < 2; side++)
        for (int64_t k = 0; k < f->per_facet; k++) {
            const double *x = f->x + 3 * f->facet_nodes[facet[side] * f->per_facet + k];
            for (int i = 0; i < 3; i++) {
                low[side][i] = k ? smaller(low[side][i], x[i]) : x[i];
                high[side][i] = k ? larger(high[side][i], x[i]) : x[i];
            }
        }
    for (int i = 0; i < 3; i++) {
        const double apart = larger(0.0, larger(low[0][i] - high[1][i], low[1][i] - high[0][i]));
        square += apart * apart;
    }
    return sqrt(square);
}

static void add(Search *s, const Box *one, const Box *other)
{
    const features *f = s->f;
    const int64_t a = one->facet < other->facet ? one->facet : other->facet;
    const int64_t b = one->facet < other->facet ? other->facet : one->facet;
    if (!(f->itself || f->surface[a] != f->surface[b]) || !overlap(one->low, one->high, other->low, other->high, 0.0))
        return;
    const int64_t p = s->found++;
    if (p >= s->capacity)
        return;
    s->pair[2 * p] = (int32_t)a, s->pair[2 * p + 1] = (int32_t)b;
    s->apart[p] = box_distance(f, a, b) - f->reach[a] - f->reach[b];
}

static void between(Search *s, int64_t a, int64_t b)
{
    const Box *one = s->box + a, *other = s->box + b;
    if (!overlap(one->low, one->high, other->low, other->high, 0.0))
        return;
    if (!one->right && !other->right) {
        for (int64_t i = one->first; i < one->first + one->count; i++)
            for (int64_t k = other->first; k < other->first + other->count; k++)
                add(s, s->leaf + i, s->leaf + k);
    } else if (one->count >= other->count) {
        between(s, a + 1, b);
        between(s, one->right, b);
    } else {
        between(s, a, b + 1);
        between(s, a, other->right);
    }
}

static void inside_of(Search *s, int64_t a)
{
    const Box *box = s->box + a;
    if (box->right) {
        inside_of(s, a + 1);
        inside_of(s, box->right);
        between(s, a + 1, box->right);
        return;
    }
    for (int64_t i = box->first; i < box->first + box->count; i++)
        for (int64_t k = i + 1; k < box->first + box->count; k++)
            add(s, s->leaf + i, s->leaf + k);
}

/* Sort pairs by one of their facets, with what is equal in the order it had. */
static void sort_by(int side, int64_t facets, int64_t count, const int32_t *pair, const double *above, int64_t *end,
                    int32_t *sorted, double *with)
{
    memset(end, 0, (facets + 1) * sizeof(int64_t));
    for (int64_t p = 0; p < count; p++)
        end[pair[2 * p + side] + 1]++;
    for (int64_t e = 0; e < facets; e++)
        end[e + 1] += end[e];
    for (int64_t p = 0; p < count; p++) {
        const int64_t k = end[pair[2 * p + side]]++;
        sorted[2 * k] = pair[2 * p], sorted[2 * k + 1] = pair[2 * p + 1], with[k] = above[p];
    }
}

static int sort_pairs(const features *f, int64_t count, int32_t *pair, double *above)
{
    int64_t *end = malloc((f->facets + 1) * sizeof(int64_t));
    int32_t *sorted = malloc((2 * count + 1) * sizeof(int32_t));
    double *with = malloc((count + 1) * sizeof(double));
    const int ready = end && sorted && with;
    if (ready) {
        sort_by(1, f->facets, count, pair, above, end, sorted, with);
        sort_by(0, f->facets, count, sorted, with, end, pair, above);
    }
    free(end), free(sorted), free(with);
    return ready;
}

/* Pairs that were known before this search have lost at most what both have moved of their distance. */
static void keep_bounds(const features *f, int64_t count, const int32_t *pair, double *above)
{
    for (int64_t p = 0, before = 0; p < count; p++) {
        const int32_t a = pair[2 * p], b = pair[2 * p + 1], *old = f->pair;
        while (before < f->pairs && (old[2 * before] < a || (old[2 * before] == a && old[2 * before + 1] < b)))
            before++;
        if (before < f->pairs && old[2 * before] == a && old[2 * before + 1] == b) {
            const double left = f->above[before] - relative(f->now + 4 * a, f->now + 4 * b);
            above[p] = larger(above[p], left);
        }
    }
}

/* Pairs of facets whose nodes may come nearer than their skins within their room, sorted, and bounds of their
   distances; how many, which may be more than the capacity, -1 without memory. Facets with a node that is nowhere are
   in no pair. Displacements are those from the last search. */
int64_t search(const features *f, int64_t capacity, int32_t *pair, double *apart)
{
    Search s = {.f = f, .capacity = capacity, .pair = pair, .apart = apart};
    int64_t count = 0;
    s.leaf = malloc((f->facets + 1) * sizeof(Box)), s.box = malloc((2 * f->facets + 2) * sizeof(Box));
    for (int64_t e = 0; s.leaf && s.box && e < f->facets; e++) {
        Box *box = s.leaf + count;
        double sum = 0.0;
        clear(box);
        box->facet = e;
        for (int64_t k = 0; k < f->per_facet; k++) {
            const int32_t node = f->facet_nodes[e * f->per_facet + k];
            include(box, f->low + 3 * node, f->high + 3 * node);
            for (int i = 0; i < 3; i++)
                sum += f->low[3 * node + i] + f->high[3 * node + i];
        }
        for (int i = 0; i < 3; i++)
            box->low[i] -= f->reach[e], box->high[i] += f->reach[e];
        count += isfinite(sum) != 0;
    }
    const int ready = s.leaf && s.box;
    if (ready && count) {
        divide(&s, 0, count);
        inside_of(&s, 0);
    }
    free(s.leaf), free(s.box);
    if (!ready || (s.found <= capacity && !sort_pairs(f, s.found, pair, apart)))
        return -1;
    if (s.found <= capacity)
        keep_bounds(f, s.found, pair, apart);
    return s.found;
}

/* Pairs of features that are none, and those that a segment covers: the weighted gap there is their contact. */

#define NEAR 0x20 /* mark of features that are covered, and that meet all the same */

static int common_node(const int32_t *one, int nodes, const int32_t *other, int others)
{
    for (int i = 0; i < nodes; i++)
        for (int k = 0; k < others; k++)
            if (one[i] == other[k])
                return 1;
    return 0;
}

static int at_facet(const features *f, int64_t edge, int64_t facet)
{
    for (int64_t k = f->at_edge_start[edge]; k < f->at_edge_start[edge + 1]; k++)
        if (f->at_edge[k] == facet)
            return 1;
    return 0;
}

/* Whether two features have a common node or belong to one facet, which is no pair: 0 vertex and triangle, 1 edges,
   2 edge and triangle. */
static int related(const features *f, int kind, int64_t i, int64_t j)
{
    const int64_t facet = j / f->parts;
    const int corners = f->flat ? 2 : 3;
    if (kind == 0) {
        const int32_t node = (int32_t)i;
        return common_node(&node, 1, f->facet_nodes + facet * f->per_facet, (int)f->per_facet);
    }
    if (kind == 2)
        return common_node(f->edge + 2 * i, 2, f->triangle + 3 * j, corners) || at_facet(f, i, facet);
    if (common_node(f->edge + 2 * i, 2, f->edge + 2 * j, 2))
        return 1;
    for (int64_t k = f->at_edge_start[j]; k < f->at_edge_start[j + 1]; k++)
        if (at_facet(f, i, f->at_edge[k]))
            return 1;
    return 0;
}

static int64_t place_of(const int64_t *keys, int64_t count, int64_t key)
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && keys[low] == key ? low : -1;
}

/* Whether two facets have a segment: CLOSED, OPEN, or 0, or -1 where it is not known. An open one covers what is closest
   on both facets alone, a closed one also what is around them. */
#define CLOSED 1
#define OPEN 2

static int segment_of(const features *f, int64_t a, int64_t b)
{
    const int64_t place = place_of(f->key, f->known, a < b ? a * f->facets + b : b * f->facets + a);
    return a == b ? 0 : place < 0 ? -1 : f->covered[place];
}

typedef struct {
    int yes;
    int64_t capacity, count;
    int32_t *pair;
} Cover;

static void ask(const features *f, Cover *cover, int64_t a, int64_t b, int own, int around)
{
    const int known = segment_of(f, a, b);
    cover->yes |= (around && known == CLOSED) || (own && known > 0);
    if (known >= 0)
        return;
    const int64_t k = cover->count++;
    if (k >= cover->capacity)
        return;
    cover->pair[2 * k] = (int32_t)(a < b ? a : b), cover->pair[2 * k + 1] = (int32_t)(a < b ? b : a);
}

/* The vertices of both features of a pair. */
typedef struct {
    int count[2];
    const int32_t *node[2];
    int32_t own;
} Ends;

static void set_ends(const features *f, int kind, int64_t i, int64_t j, Ends *ends)
{
    ends->own = (int32_t)i;
    ends->count[0] = kind ? 2 : 1;
    ends->node[0] = kind ? f->edge + 2 * i : &ends->own;
    ends->count[1] = kind == 1 || f->flat ? 2 : 3;
    ends->node[1] = kind == 1 ? f->edge + 2 * j : f->triangle + 3 * j;
}

/* Whether two facets have what is closest of both features: the marked vertices, of the first and then of the second. */
static int have_closest(const features *f, const Ends *ends, int32_t marks, int64_t a, int64_t b)
{
    const int64_t facet[2] = {a, b};
    for (int side = 0, bit = 0; side < 2; side++)
        for (int k = 0; k < ends->count[side]; k++, bit++)
            if ((marks >> bit & 1)
                && !common_node(ends->node[side] + k, 1, f->facet_nodes + facet[side] * f->per_facet, (int)f->per_facet))
                return 0;
    return 1;
}

/* A node at a sharp concave edge takes no cover from one wall to the other. */
static void ask_around(const features *f, const Ends *ends, int32_t marks, Cover *cover, int64_t a, int64_t b)
{
    const int around = !f->crease[a] && !f->crease[b];
    for (int64_t k = f->at_vertex_start[a]; k < f->at_vertex_start[a + 1]; k++)
        for (int64_t m = f->at_vertex_start[b]; m < f->at_vertex_start[b + 1]; m++) {
            const int64_t one = f->at_vertex[k], other = f->at_vertex[m];
            ask(f, cover, one, other, have_closest(f, ends, marks, one, other), around);
        }
}

/* Whether a segment is the contact of two features: 0 vertex and triangle, 1 edges, 2 edge and triangle. It is where
   facets around their vertices have one: covered surfaces penetrate a little, so that at the rim of the cover a side
   face has points of the opposite surface behind it, and in the plane edges lie beside each other. */
static void ask_cover(const features *f, const int32_t *duo, Cover *cover)
{
    Ends ends;
    set_ends(f, duo[0], duo[1], duo[2], &ends);
    for (int a = 0; a < ends.count[0]; a++)
        for (int b = 0; b < ends.count[1]; b++)
            ask_around(f, &ends, duo[3], cover, ends.node[0][a], ends.node[1][b]);
}

/* -- pairs of vertices at facets with a segment, in a hash table: known cover is asked of many features */

static int64_t *slot_of(const features *f, int64_t key)
{
    uint64_t place = (uint64_t)key * 0x9e3779b97f4a7c15u;
    for (place ^= place >> 32;; place++) {
        int64_t *slot = f->slot + (place & (uint64_t)f->slots);
        if (*slot == key || *slot < 0)
            return slot;
    }
}

static int64_t key_of(const features *f, int64_t a, int64_t b)
{
    return a < b ? a * f->nodes + b : b * f->nodes + a;
}

/* The same for those at which nothing is covered. */
static int64_t bare_key_of(const features *f, int64_t a, int64_t b)
{
    return f->nodes * f->nodes + key_of(f, a, b);
}

/* Enter the vertices of all facets that are known to have segments, and of deep ones; the table is empty: -1. */
void enter_cover(const features *f)
{
    for (int64_t k = 0; k < f->deep; k++)
        for (int64_t a = 0; a < f->per_facet; a++)
            for (int64_t b = 0; b < f->per_facet; b++) {
                const int32_t *facet = f->deep_pair + 2 * k;
                const int64_t key = bare_key_of(f, f->facet_nodes[facet[0] * f->per_facet + a],
                                                f->facet_nodes[facet[1] * f->per_facet + b]);
                *slot_of(f, key) = key;
            }
    for (int64_t k = 0; k < f->known; k++) {
        const int32_t *one = f->facet_nodes + f->key[k] / f->facets * f->per_facet;
        const int32_t *other = f->facet_nodes + f->key[k] % f->facets * f->per_facet;
        for (int64_t a = 0; f->covered[k] == CLOSED && a < f->per_facet; a++)
            for (int64_t b = 0; b < f->per_facet; b++) {
                const int64_t key = key_of(f, one[a], other[b]);
                if (!f->crease[one[a]] && !f->crease[other[b]])
                    *slot_of(f, key) = key;
            }
    }
}

/* Whether a node of one list and one of another are in the table, of covered pairs or of those that are not. */
static int has_pair(const features *f, const int32_t *one, int64_t count, const int32_t *other, int64_t others, int bare)
{
    for (int64_t a = 0; a < count; a++)
        for (int64_t b = 0; b < others; b++) {
            const int64_t key = bare ? bare_key_of(f, one[a], other[b]) : key_of(f, one[a], other[b]);
            if (*slot_of(f, key) >= 0)
                return 1;
        }
    return 0;
}

static int has_ends(const features *f, int kind, int64_t i, int64_t j, int bare)
{
    Ends ends;
    set_ends(f, kind, i, j, &ends);
    return has_pair(f, ends.node[0], ends.count[0], ends.node[1], ends.count[1], bare);
}

/* Whether features are at facets that are too deep in each other: no segment around them is trusted. */
static int is_bare(const features *f, int kind, int64_t i, int64_t j)
{
    return f->deep && has_ends(f, kind, i, j, 1);
}

/* Whether two facets have a segment that covers all their features. */
static int is_whole(const features *f, int64_t a, int64_t b)
{
    const int32_t *one = f->facet_nodes + a * f->per_facet, *other = f->facet_nodes + b * f->per_facet;
    return segment_of(f, a, b) > 0 && !(f->deep && has_pair(f, one, f->per_facet, other, f->per_facet, 1));
}

/* Whether features are known to be covered. */
static int is_covered(const features *f, int kind, int64_t i, int64_t j)
{
    return has_ends(f, kind, i, j, 0) && !is_bare(f, kind, i, j);
}

/* Whether features are covered, as far as it is known; what is not known is listed. */
static int look_up(const features *f, const int32_t *duo, Cover *cover)
{
    cover->yes = is_covered(f, duo[0], duo[1], duo[2]);
    if (!cover->yes && !is_bare(f, duo[0], duo[1], duo[2]))
        ask_cover(f, duo, cover);
    return cover->yes;
}

/* Pairs of facets on which the cover of features depends and of which it is not known whether they have a segment. */
int64_t unknown(const features *f, int64_t count, const int32_t *duo, int64_t capacity, int32_t *pair)
{
    Cover cover = {0, capacity, 0, pair};
    for (int64_t k = 0; k < count; k++) {
        const int64_t before = cover.count;
        if (duo[4 * k + 3] & NEAR || look_up(f, duo + 4 * k, &cover))
            cover.count = before;
    }
    return cover.count;
}

void select_uncovered(const features *f, int64_t count, const int32_t *duo, uint8_t *chosen)
{
    for (int64_t k = 0; k < count; k++) {
        Cover cover = {0};
        chosen[k] = duo[4 * k + 3] & NEAR || !look_up(f, duo + 4 * k, &cover);
    }
}

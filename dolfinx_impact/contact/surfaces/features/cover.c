/* Pairs of features that are none, and those that a segment covers: the weighted gap there is their contact. */

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

/* Whether two facets have a segment: 1, or 0, or -1 where it is not known. */
static int segment_of(const features *f, int64_t a, int64_t b)
{
    const int64_t place = place_of(f->key, f->known, a < b ? a * f->facets + b : b * f->facets + a);
    return a == b ? 0 : place < 0 ? -1 : f->covered[place];
}

typedef struct {
    int yes, open;
    int64_t capacity, count;
    int32_t *pair;
} Cover;

static void ask(const features *f, Cover *cover, int64_t a, int64_t b)
{
    const int known = segment_of(f, a, b);
    cover->yes |= known > 0;
    if (known >= 0)
        return;
    cover->open = 1;
    const int64_t k = cover->count++;
    if (k >= cover->capacity)
        return;
    cover->pair[2 * k] = (int32_t)(a < b ? a : b), cover->pair[2 * k + 1] = (int32_t)(a < b ? b : a);
}

static void ask_around_ends(const features *f, Cover *cover, int64_t edge, const int32_t *facets, int64_t count)
{
    for (int end = 0; end < 2; end++) {
        const int64_t node = f->edge[2 * edge + end];
        for (int64_t k = f->at_vertex_start[node]; k < f->at_vertex_start[node + 1]; k++)
            for (int64_t m = 0; m < count; m++)
                ask(f, cover, f->at_vertex[k], facets[m]);
    }
}

/* The closest point of a triangle may lie on its border, then the facets around it count: those with all its corners. */
static void ask_around_vertex(const features *f, Cover *cover, int64_t vertex, int64_t t, int32_t border)
{
    int32_t on[3];
    int count = 0, all = 1;
    for (int c = 0; c < (f->flat ? 2 : 3); c++) {
        if (border >> c & 1)
            on[count++] = f->triangle[3 * t + c];
        else
            all = 0;
    }
    for (int64_t k = f->at_vertex_start[vertex]; k < f->at_vertex_start[vertex + 1]; k++) {
        if (all)
            ask(f, cover, f->at_vertex[k], t / f->parts);
        for (int64_t m = f->at_vertex_start[on[0]]; !all && m < f->at_vertex_start[on[0] + 1]; m++) {
            const int32_t *nodes = f->facet_nodes + f->at_vertex[m] * f->per_facet;
            int around = 1;
            for (int c = 1; c < count; c++)
                around &= common_node(on + c, 1, nodes, (int)f->per_facet);
            if (around)
                ask(f, cover, f->at_vertex[k], f->at_vertex[m]);
        }
    }
}

/* Whether a segment near both features is their contact: 0 vertex and triangle, with the corners at the closest point,
   1 edges, 2 edge and triangle. */
static void ask_cover(const features *f, const int32_t *duo, Cover *cover)
{
    const int64_t i = duo[1], j = duo[2];
    const int32_t facet = (int32_t)(j / f->parts);
    if (duo[0] == 0) {
        ask_around_vertex(f, cover, i, j, duo[3]);
    } else if (duo[0] == 1) {
        ask_around_ends(f, cover, i, f->at_edge + f->at_edge_start[j], f->at_edge_start[j + 1] - f->at_edge_start[j]);
        ask_around_ends(f, cover, j, f->at_edge + f->at_edge_start[i], f->at_edge_start[i + 1] - f->at_edge_start[i]);
    } else {
        ask_around_ends(f, cover, i, &facet, 1);
    }
}

/* Pairs of facets on which the cover of features depends and of which it is not known whether they have a segment. */
int64_t unknown(const features *f, int64_t count, const int32_t *duo, int64_t capacity, int32_t *pair)
{
    Cover cover = {0, 0, capacity, 0, pair};
    for (int64_t k = 0; k < count; k++) {
        const int64_t before = cover.count;
        cover.yes = 0;
        ask_cover(f, duo + 4 * k, &cover);
        if (cover.yes)
            cover.count = before;
    }
    return cover.count;
}

void select_uncovered(const features *f, int64_t count, const int32_t *duo, uint8_t *chosen)
{
    for (int64_t k = 0; k < count; k++) {
        Cover cover = {0};
        ask_cover(f, duo + 4 * k, &cover);
        chosen[k] = !cover.yes;
    }
}

/* -- vertices and the facets that cover them, in a hash table: known cover is asked of many features */

static int64_t *slot_of(const features *f, int64_t key)
{
    uint64_t place = (uint64_t)key * 0x9e3779b97f4a7c15u;
    for (place ^= place >> 32;; place++) {
        int64_t *slot = f->slot + (place & (uint64_t)f->slots);
        if (*slot == key || *slot < 0)
            return slot;
    }
}

static void cover_vertices(const features *f, int64_t of, int64_t by)
{
    for (int64_t k = 0; k < f->per_facet; k++) {
        const int64_t key = f->facet_nodes[of * f->per_facet + k] * f->facets + by;
        *slot_of(f, key) = key;
    }
}

/* Enter the vertices of all facets that are known to have segments; the table is empty: -1. */
void enter_cover(const features *f)
{
    for (int64_t k = 0; k < f->known; k++)
        if (f->covered[k]) {
            cover_vertices(f, f->key[k] / f->facets, f->key[k] % f->facets);
            cover_vertices(f, f->key[k] % f->facets, f->key[k] / f->facets);
        }
}

static int covers_vertex(const features *f, int64_t node, int64_t facet)
{
    return *slot_of(f, node * f->facets + facet) >= 0;
}

static int covers_end(const features *f, int64_t edge, int64_t other)
{
    for (int end = 0; end < 2; end++)
        for (int64_t k = f->at_edge_start[other]; k < f->at_edge_start[other + 1]; k++)
            if (covers_vertex(f, f->edge[2 * edge + end], f->at_edge[k]))
                return 1;
    return 0;
}

/* Whether features are known to be covered. */
static int is_covered(const features *f, int kind, int64_t i, int64_t j)
{
    return kind ? covers_end(f, i, j) || covers_end(f, j, i) : covers_vertex(f, i, j / f->parts);
}

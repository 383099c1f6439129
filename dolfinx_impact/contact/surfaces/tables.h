/* What the functions of a contact of surfaces read and write; mortar.py and corners.py say what is in it. */
typedef struct {
    /* Nodes on which segments and corners depend. */
    ptrdiff_t nodes;
    const double *rest, *u, *u_then;
    double *x, *moved;
    /* Facets. */
    ptrdiff_t used;
    const int32_t *facet, *in_use;
    const double *flatness, *diameter, *height, *normal_then;
    const int64_t *sharp_start, *sharp;
    double *centre, *normal, *radius, *size, *shift, *turn;
    const double *skin;
    /* Of a surface that is paired with itself: connected parts and smooth sides of the facets, nodes among those held,
       facets at each of these, marks of the masters of closed segments, and candidate pairs by their masters. */
    const int64_t *body_part, *side, *star_start, *star;
    const int32_t *held_node;
    uint8_t *master;
    const int64_t *master_start, *master_pair, *pair_part;
    /* Candidate pairs, sorted by the parts of their slave facets. */
    const int32_t *pair;
    const double *above, *beside, *lever;
    const uint8_t *wakeful;
    /* Segments. */
    int32_t *segment;
    double *common_normal, *mass, *cross, *moment, *lowest;
    uint8_t *part_closed;
    /* Parts of slave facets; those with candidate pairs are looked at, the others keep what a search has set. */
    ptrdiff_t parts, parts_used;
    const int64_t *start;
    const int32_t *part_used;
    const int32_t *part_facet, *slot;
    const int64_t *of_facet_start, *of_facet;
    ptrdiff_t spare;
    const uint8_t *of_points;
    const double *whole;
    int32_t *first, *last;
    double *T, *areas, *weighted, *bottom;
    uint8_t *placed, *state;
    /* Nodes of the slave surface of each pair of surfaces. */
    ptrdiff_t slots;
    uint8_t *awake, *covered;
    /* Points, and those at parts that are looked at. */
    ptrdiff_t points, points_used, groups;
    const int32_t *point_used;
    const int64_t *part_start, *group;
    const int32_t *part, *place, *point_slot, *point_node;
    const double *beyond;
    const uint8_t *pressed;
    double *direction, *facing, *gap, *area;
    uint8_t *leads;
    int32_t *following, *stamp;
    /* Corners. */
    ptrdiff_t corners, corner_pairs;
    const int32_t *corner, *corner_pair;
    const uint8_t *of_master;
    const double *corner_above;
    const int64_t *around_start, *around;
    double *corner_gap, *corner_normal, *corner_N;
    int32_t *corner_facet;
    uint8_t *near, *shut;
    /* Constants. */
    double tolerance;
    int axisymmetric, itself, shallow; /* shallow: whether paths are swept */
} tables;

void describe(tables *t);
double set_axes(const tables *t, ptrdiff_t e, double *axes);
ptrdiff_t find_segments(tables *t, int every);
void faces(tables *t, ptrdiff_t count, const int64_t *pairs, uint8_t *found);
void weigh(tables *t);
void mark_corners(tables *t);
void project_corners(tables *t, int every);
ptrdiff_t row_length(const tables *t, const uint8_t *which);
ptrdiff_t set_rows(tables *t, const uint8_t *which, int64_t *start, int32_t *nodes, double *B, double *W);
void motion(ptrdiff_t count, const int32_t *nodes, ptrdiff_t block, const double *u, const double *then,
            const double *kept, const double *last, double *now, double *found);

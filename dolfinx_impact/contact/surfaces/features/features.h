/* What the functions of features read and write; feature_mesh.py and paths.py say what is in it. Vectors have three
   entries, in two dimensions the last one is 0. */
typedef struct {
    int64_t facets, edges, nodes, per_facet, parts, sides; /* parts, sides: triangles and edges of a facet */
    int flat, itself;                               /* in two dimensions; features of one surface too */
    const int32_t *facet_nodes, *triangle, *across, *edge, *facet_edge;
    const int64_t *vertex_start, *edge_start, *at_vertex_start, *at_edge_start, *surface;
    const int32_t *vertex, *own_edge, *at_vertex, *at_edge;
    const double *vertex_skin, *edge_skin, *facet_skin, *reach; /* reach: largest skin of the features of a facet */
    /* Positions at the last search and now, displacements of the step; room of the nodes until the next search. */
    double *then, *x, *d, *low, *high;
    const uint8_t *crease; /* nodes at sharp concave edges */
    uint8_t *moved, *stirred; /* nodes to look at, facets with such a node */
    /* Mean displacement of each facet since the search and its largest deviation, now and at the end of the path. */
    double *now, *later;
    /* Candidate pairs of facets, with the distance of their features at the search, less the skins. */
    int64_t pairs;
    const int32_t *pair;
    double *above;
    uint8_t *exact;
    /* Known pairs of facets, by their keys, and whether they have a segment; pairs of features that are inside. */
    int64_t known, inside;
    const int64_t *key, *inside_key;
    const uint8_t *covered;
    int64_t deep; /* pairs of facets around which nothing is covered */
    const int32_t *deep_pair;
    int64_t slots; /* of the table of pairs of vertices, less one: a power of two */
    int64_t *slot;
    int64_t tested;
} features;

int64_t search(const features *, int64_t, int32_t *, double *);
void describe(features *, int);
int leaves_room(const features *);
double largest_motion(const features *);
int64_t awake(features *, int, int64_t, int64_t, int32_t *);
int64_t pierced(const features *, int64_t, const int32_t *, int64_t, int32_t *);
void separations(const features *, int64_t, const int32_t *, int32_t *, double *, double *);
int64_t paths(features *, int64_t, const int32_t *, int64_t, int32_t *, double *, double *, double *, double *);
void enter_cover(const features *);
int64_t unknown(const features *, int64_t, const int32_t *, int64_t, int32_t *);
void select_uncovered(const features *, int64_t, const int32_t *, uint8_t *);

/* Candidate pairs of facets, with bounds of what moves until the next search; includes bounds.h and directions.h. */
#include <stddef.h>
#include <stdlib.h>

#define LANES 16 /* pairs of which the first bounds are computed at once */
#define ROUNDING 1e-14

static int ascending(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

static void sort(int64_t *at, int64_t count)
{
    if (count > 48) {
        qsort(at, count, sizeof(int64_t), ascending);
        return;
    }
    for (int64_t i = 1; i < count; i++) {
        int64_t one = at[i], j = i;
        for (; j > 0 && at[j - 1] > one; j--)
            at[j] = at[j - 1];
        at[j] = one;
    }
}

typedef struct {
    int64_t capacity, count, *pairs, *member;
    double *distances;
} Found;

static void add(Found *found, int64_t first, int64_t second, int64_t member, const Distances *distances)
{
    int64_t p = found->count++;
    if (p >= found->capacity)
        return;
    found->pairs[2 * p] = first, found->pairs[2 * p + 1] = second, found->member[p] = member;
    memcpy(found->distances + 3 * p, distances, sizeof(Distances));
}

/* Facets or nodes in boxes: the one around all of them, and its parts from `root` to `end`, once something is near: a
   tree for each direction of facets, its root -1 where there are none. */
typedef struct {
    Box around;
    const int64_t *entries;
    int64_t size, first, root, end, roots[DIRECTIONS]; /* first: place of its spheres */
    Cone cones[DIRECTIONS];
} Tree;

typedef struct {
    Tree *surfaces, *lists;
    Sphere *of_facet, *spheres, *around; /* in trees; near to a box */
    Plane *planes;                       /* those in use are known */
    Box *boxes;
    char *known;
    int64_t *near, *start, *count; /* what is near to each facet, or to each point by its place in its list */
    int64_t used, room;
} Work;

static Sphere sphere_of(const Mesh *mesh, const Work *work, int64_t entry, int points)
{
    Sphere point = {{0.0}, 0.0, 0.0, entry, INT64_MIN};
    if (!points)
        return work->of_facet[entry];
    place(mesh, entry, point.centre);
    return point;
}

static void start_tree(const Mesh *mesh, const Work *work, const int64_t *entries, int64_t size, int64_t first,
                       int points, Tree *tree)
{
    *tree = (Tree){.entries = entries, .size = size, .first = first, .root = -1};
    clear(&tree->around);
    for (int64_t i = 0; i < size; i++) {
        Sphere one = sphere_of(mesh, work, entries[i], points);
        if (is_finite(&one))
            include(&tree->around, &one);
    }
}

static const Plane *plane_of(const Mesh *mesh, Work *work, int64_t facet)
{
    if (!work->known[facet]) {
        describe(mesh, work->of_facet + facet, work->planes + facet);
        work->known[facet] = 1;
    }
    return work->planes + facet;
}

/* Divide a tree; its spheres have the numbers of facets, or of points their places in a list. A list without keys
   looks for all. */
static void grow(const Mesh *mesh, Work *work, int points, int keys, Tree *tree)
{
    int64_t first = tree->first;
    if (tree->root >= 0)
        return;
    tree->root = work->used;
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        Sphere *spheres = work->spheres + first;
        int64_t count = 0;
        for (int64_t i = 0; i < tree->size; i++) {
            int64_t entry = tree->entries[i];
            if ((points ? 0 : direction_of(plane_of(mesh, work, entry)->normal)) != direction)
                continue;
            Sphere one = sphere_of(mesh, work, entry, points);
            if (points)
                one.number = i;
            if (!keys)
                one.key = INT64_MIN;
            if (is_finite(&one))
                spheres[count++] = one;
        }
        tree->roots[direction] = count ? work->used : -1;
        if (count && !points)
            tree->cones[direction] = cone_of(mesh, work->planes, spheres, count);
        if (count)
            divide(work->spheres, first, count, work->boxes, &work->used);
        first += count;
    }
    tree->end = work->used;
}

/* Divide the trees of a list and of a surface, one tree where both have the same facets with keys. */
static void grow_both(const Mesh *mesh, Work *work, int points, int keys, Tree *list, Tree *surface)
{
    grow(mesh, work, 0, 1, surface);
    if (keys && !points && list->size == surface->size &&
        !memcmp(list->entries, surface->entries, list->size * sizeof(int64_t)))
        *list = *surface;
    grow(mesh, work, points, keys, list);
}

/* Copy the spheres of a surface that may reach those in a box and face them; returns how many. */
static int64_t gather_facing(const Mesh *mesh, const Work *work, int points, double facing, const Box *box,
                             const Tree *surface)
{
    double limit = acos(facing + TURNING);
    int64_t count = 0;
    Cone cone = {{0.0}, INFINITY};
    if (!points)
        cone = cone_of(mesh, work->planes, work->spheres + box->first, box->count);
    for (int k = 0; k < DIRECTIONS; k++)
        if (surface->roots[k] >= 0 && may_face(&cone, surface->cones + k, limit))
            count += gather_near(box, work->boxes, surface->roots[k], work->spheres, mesh->margin,
                                 work->around + count);
    return count;
}

/* Find what is near to each entry of a list, box by box; returns 0 without memory. */
static int find_near(const Mesh *mesh, Work *work, int points, double facing, const Tree *list, const Tree *surface)
{
    int64_t total = 0;
    for (int64_t i = 0; i < list->size; i++)
        work->count[points ? i : list->entries[i]] = 0;
    for (int64_t k = list->root; k < list->end; k++) {
        const Box *box = work->boxes + k;
        if (box->right)
            continue;
        int64_t around = gather_facing(mesh, work, points, facing, box, surface);
        if (total + around * box->count > work->room) {
            int64_t room = 2 * (total + around * box->count);
            int64_t *moved = realloc(work->near, room * sizeof(int64_t));
            if (!moved)
                return 0;
            work->near = moved, work->room = room;
        }
        for (int64_t i = box->first; around && i < box->first + box->count; i++) {
            const Sphere *one = work->spheres + i;
            work->start[one->number] = total;
            work->count[one->number] = select_near(one, work->around, around, mesh->margin, work->near + total);
            total += work->count[one->number];
        }
    }
    return 1;
}

/* Keep the facets that may face another one until the next search. */
static int64_t select_facing(const Mesh *mesh, Work *work, const Plane *plane, int64_t *near, int64_t count,
                             double facing)
{
    const double *n = plane->normal;
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        const Plane *other = plane_of(mesh, work, near[i]);
        double cosine = n[0] * other->normal[0] + n[1] * other->normal[1] + n[2] * other->normal[2];
        int slivers = (!mesh->curved) & (larger(other->chord, plane->chord) > SLIVERS);
        near[kept] = near[i];
        kept += cosine < facing + (slivers ? other->chord + plane->chord : TURNING);
    }
    return kept;
}

/* Keep the facets that may face another one, and that it may meet by a bound without corners: see may_meet. Both lie in
   circles about their centres, and rise by less than `thick` from there. Several at a time, in the lanes of the
   processor. */
static int64_t select_opposite(const Mesh *mesh, Work *work, int64_t s, int64_t *near, int64_t count, double facing)
{
    const Plane *plane = plane_of(mesh, work, s);
    const double *n = plane->normal, *at = work->of_facet[s].centre, radius = work->of_facet[s].radius;
    double x[3][LANES], m[3][LANES], r[LANES], warp[LANES], chord[LANES], w[LANES];
    int64_t kept = 0, chosen[LANES];
    count = select_facing(mesh, work, plane, near, count, facing);
    for (int64_t first = 0; first < count; first += LANES) {
        int64_t size = count - first < LANES ? count - first : LANES;
        for (int64_t i = 0; i < LANES; i++) {
            int64_t facet = near[first + (i < size ? i : 0)];
            const Plane *other = plane_of(mesh, work, facet);
            const Sphere *sphere = work->of_facet + facet;
            for (int k = 0; k < 3; k++)
                x[k][i] = sphere->centre[k] - at[k], m[k][i] = other->normal[k];
            r[i] = sphere->radius, warp[i] = other->warp, chord[i] = other->chord, w[i] = other->weight;
        }
        for (int64_t i = 0; i < LANES; i++) {
            double cosine = n[0] * m[0][i] + n[1] * m[1][i] + n[2] * m[2][i], ws = plane->weight, wm = w[i];
            double of_s = n[0] * x[0][i] + n[1] * x[1][i] + n[2] * x[2][i];
            double of_m = m[0][i] * x[0][i] + m[1][i] * x[1][i] + m[2][i] * x[2][i];
            double square = x[0][i] * x[0][i] + x[1][i] * x[1][i] + x[2][i] * x[2][i];
            double size = 1.0 / sqrt(wm * wm + ws * ws - 2.0 * wm * ws * cosine);
            double along = (wm * of_m - ws * of_s) * size;
            double cs = (wm * cosine - ws) * size, cm = (wm - ws * cosine) * size;
            double ends = wm * chord[i] + ws * plane->chord, half = ends * ends * size / (2.0 * SQRT3 * (ws + wm));
            double thick = plane->warp + radius * sqrt(larger(0.0, 1.0 - cs * cs) + ROUNDING) + warp[i] +
                           r[i] * sqrt(larger(0.0, 1.0 - cm * cm) + ROUNDING);
            double reach = (fabs(along) + thick) * 2.0 * sqrt(half * larger(0.0, 1.0 - half)) + mesh->margin;
            reach = radius + r[i] + reach / (1.0 - 2.0 * half);
            chosen[i] = mesh->curved | (half >= 0.25) | (square - along * along <= reach * reach);
        }
        for (int64_t i = 0; i < size; i++) {
            near[kept] = near[first + i];
            kept += chosen[i];
        }
    }
    return kept;
}

static void add_facets(const Mesh *mesh, Work *work, int64_t s, int64_t *near, int64_t count, int64_t member,
                       double facing, Found *found)
{
    const Sphere *spheres = work->of_facet;
    const Plane *planes = work->planes;
    int64_t kept = select_opposite(mesh, work, s, near, count, facing);
    sort(near, kept);
    for (int64_t i = 0; i < kept; i++) {
        Pair pair = pair_of(spheres + s, spheres + near[i], planes + s, planes + near[i], mesh->margin);
        Distances distances = {-INFINITY, -INFINITY, INFINITY};
        if (mesh->curved || may_meet(mesh, &pair, &distances))
            add(found, s, near[i], member, &distances);
    }
}

static void add_corner(const Mesh *mesh, Work *work, int64_t node, int64_t number, int64_t *near, int64_t count,
                       int64_t member, Found *found)
{
    double at[3], apart[3], low, high;
    place(mesh, node, at);
    sort(near, count);
    for (int64_t i = 0; i < count; i++) {
        const Plane *plane = plane_of(mesh, work, near[i]);
        Distances distances = {-INFINITY, 0.0, 0.0};
        if (!mesh->curved) {
            minus(at, work->of_facet[near[i]].centre, apart);
            extent(mesh, plane->normal, plane, &low, &high);
            distances.above = dot(plane->normal, apart) - high;
        }
        add(found, number, near[i], member, &distances);
    }
}

static int start_work(Work *work, int64_t facets, int64_t surfaces, int64_t of_surfaces, int64_t lists,
                      int64_t of_lists)
{
    int64_t spheres = of_surfaces + of_lists + 1, entries = facets + of_lists + 1;
    work->room = 32 * of_lists + 1;
    work->surfaces = malloc((surfaces + 1) * sizeof(Tree)), work->lists = malloc((lists + 1) * sizeof(Tree));
    work->of_facet = malloc((facets + 1) * sizeof(Sphere)), work->spheres = malloc(spheres * sizeof(Sphere));
    work->around = malloc((of_surfaces + 1) * sizeof(Sphere)), work->planes = malloc((facets + 1) * sizeof(Plane));
    work->boxes = malloc((spheres + surfaces + lists) * sizeof(Box)), work->known = calloc(facets + 1, 1);
    work->near = malloc(work->room * sizeof(int64_t)), work->start = malloc(entries * sizeof(int64_t));
    work->count = malloc(entries * sizeof(int64_t));
    return work->surfaces && work->lists && work->of_facet && work->spheres && work->around && work->planes &&
           work->boxes && work->known && work->near && work->start && work->count;
}

static void end_work(Work *work)
{
    free(work->surfaces), free(work->lists), free(work->of_facet), free(work->spheres), free(work->around);
    free(work->planes), free(work->boxes), free(work->known), free(work->near), free(work->start), free(work->count);
}

/* Pairs of all members, each a list of facets (or points: nodes) against all facets of a surface, where there are keys
   against those with a larger one.

   Returns the number of pairs, which may be larger than the capacity of the arrays; -1 without memory. */
int64_t find_candidates(int64_t gdim, const double *x, int64_t facets, int64_t per_facet, const int64_t *nodes,
                        int64_t corners, const int64_t *corner, int curved, const double *flatness,
                        const double *diameter, double largest_gap, double margin, double facing, int64_t surfaces,
                        const int64_t *surface_start, const int64_t *of_surface, int64_t lists,
                        const int64_t *list_start, const int64_t *list, int points, int64_t members,
                        const int64_t *list_of, const int64_t *surface_of, const int64_t *number, const int64_t *key,
                        int64_t capacity,
                        int64_t *pairs, int64_t *member, double *distances)
{
    Mesh mesh = {gdim, per_facet, corners, curved, x, flatness, nodes, corner, margin};
    Found found = {capacity, 0, pairs, member, distances};
    Work work = {0};
    int64_t total = surface_start[surfaces];
    int ready = start_work(&work, facets, surfaces, total, lists, list_start[lists]);
    for (int64_t i = 0; ready && i < total; i++)
        enclose(&mesh, of_surface[i], largest_gap, diameter[of_surface[i]], key, work.of_facet + of_surface[i]);
    for (int64_t k = 0; ready && k < surfaces; k++) {
        int64_t first = surface_start[k];
        start_tree(&mesh, &work, of_surface + first, surface_start[k + 1] - first, first, 0, work.surfaces + k);
    }
    for (int64_t k = 0; ready && k < lists; k++) {
        int64_t first = list_start[k];
        start_tree(&mesh, &work, list + first, list_start[k + 1] - first, total + first, points, work.lists + k);
    }
    for (int64_t k = 0; ready && k < members; k++) {
        Tree *one = work.lists + list_of[k], *surface = work.surfaces + surface_of[k];
        if (!boxes_reach(&one->around, &surface->around, margin))
            continue;
        grow_both(&mesh, &work, points, key != NULL, one, surface);
        ready = find_near(&mesh, &work, points, facing, one, surface);
        for (int64_t i = 0; ready && i < one->size; i++) {
            int64_t place = points ? i : one->entries[i];
            int64_t *near = work.near + work.start[place], count = work.count[place];
            if (count && points)
                add_corner(&mesh, &work, one->entries[i], number[k] + i, near, count, k, &found);
            else if (count)
                add_facets(&mesh, &work, one->entries[i], near, count, k, facing, &found);
        }
    }
    end_work(&work);
    return ready ? found.count : -1;
}

/* Spheres of a surface in a tree of boxes, and those of them that are near to another one. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define LEAF 8 /* spheres up to which a box is not divided */

/* A facet with the nodes in its radius, or a point: then radius and gap are 0. */
typedef struct {
    double centre[3], radius, gap; /* the largest gap to another one */
    int64_t number, key;           /* one with a smaller key looks for it */
} Sphere;

/* Box of the centres, the largest radius and gap, and keys from `least` to `most`. */
typedef struct {
    double low[3], high[3], radius, gap;
    int64_t first, count, right; /* its spheres; the second half of it, 0 where it is not divided */
    int64_t least, most;
} Box;

static inline double larger(double a, double b) { return a > b ? a : b; }

static inline double smaller(double a, double b) { return a < b ? a : b; }

static int is_finite(const Sphere *one)
{
    return isfinite(one->centre[0] + one->centre[1] + one->centre[2]) && isfinite(one->radius);
}

/* Whether two at this distance, given as its square, may have a gap. */
static inline int reaches(double square, double radii, double gap, double other, double margin)
{
    double reach = radii + larger(gap, other) + margin;
    return square <= reach * reach;
}

static void clear(Box *box)
{
    memset(box, 0, sizeof(Box));
    for (int i = 0; i < 3; i++)
        box->low[i] = INFINITY, box->high[i] = -INFINITY;
    box->least = INT64_MAX, box->most = INT64_MIN;
}

static inline void include(Box *box, const Sphere *one)
{
    for (int i = 0; i < 3; i++) {
        box->low[i] = smaller(box->low[i], one->centre[i]);
        box->high[i] = larger(box->high[i], one->centre[i]);
    }
    box->radius = larger(box->radius, one->radius);
    box->gap = larger(box->gap, one->gap);
    box->least = one->key < box->least ? one->key : box->least;
    box->most = one->key > box->most ? one->key : box->most;
}

/* Whether spheres of two boxes may reach each other. */
static inline int boxes_reach(const Box *one, const Box *other, double margin)
{
    double square = 0.0;
    for (int i = 0; i < 3; i++) {
        double out = larger(one->low[i] - other->high[i], other->low[i] - one->high[i]);
        out = larger(out, 0.0);
        square += out * out;
    }
    return reaches(square, one->radius + other->radius, one->gap, other->gap, margin);
}

#define KEY_ALONG(sphere, axis) ((sphere).centre[axis])
DEFINE_HALVE(Sphere)

/* Divide spheres into boxes, from `*used` on, the first half of a box right behind it. */
static void divide(Sphere *spheres, int64_t first, int64_t count, Box *boxes, int64_t *used)
{
    Box *box = boxes + (*used)++;
    clear(box);
    box->first = first, box->count = count;
    for (int64_t i = first; i < first + count; i++)
        include(box, spheres + i);
    if (count <= LEAF)
        return;
    int axis = 0;
    for (int i = 1; i < 3; i++)
        if (box->high[i] - box->low[i] > box->high[axis] - box->low[axis])
            axis = i;
    halve(spheres + first, count, count / 2, axis);
    divide(spheres, first, count / 2, boxes, used);
    box->right = *used;
    divide(spheres, first + count / 2, count - count / 2, boxes, used);
}

/* Copy the spheres of a tree with this root that may reach a box and have a larger key than the least one in it;
   returns how many. */
static int64_t gather_near(const Box *one, const Box *boxes, int64_t root, const Sphere *spheres, double margin,
                           Sphere *near)
{
    int64_t stack[128], top = 0, count = 0; /* halves: 64 levels would be 2^64 spheres */
    stack[top++] = root;
    while (top) {
        const Box *box = boxes + stack[--top];
        if (box->most <= one->least || !boxes_reach(one, box, margin))
            continue;
        if (box->right) {
            stack[top++] = box->right;
            stack[top++] = box - boxes + 1;
            continue;
        }
        for (int64_t i = box->first; i < box->first + box->count; i++) {
            near[count] = spheres[i];
            count += spheres[i].key > one->least;
        }
    }
    return count;
}

/* Write the numbers of those that reach one of them and have a larger key; returns how many. */
static inline int64_t select_near(const Sphere *one, const Sphere *near, int64_t count, double margin, int64_t *numbers)
{
    int64_t found = 0;
    for (int64_t k = 0; k < count; k++) {
        const Sphere *other = near + k;
        double square = 0.0;
        for (int i = 0; i < 3; i++)
            square += (one->centre[i] - other->centre[i]) * (one->centre[i] - other->centre[i]);
        numbers[found] = other->number;
        found += (other->key > one->key) & reaches(square, one->radius + other->radius, one->gap, other->gap, margin);
    }
    return found;
}

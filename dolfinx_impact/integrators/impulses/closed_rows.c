/* The projected iteration for the impulses of closed points, whose rows are packed.

Row i has the entries start[i] to start[i + 1] - 1: a node, normal weights B and a weight W. Vectors at nodes and
points have four numbers here, of which the last are zero where there are fewer directions. Sums run in the order of
the entries, one after the other, so that stored zeros change no bit of them.

The fields of `closed_rows` and the constants in capitals are written by closed_rows.py. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define INLINED static inline __attribute__((always_inline))
#define BLOCK 64 /* points whose sums are added first, for less round-off */
#define WIDTH(d) ((d) == 1 ? 3 : 4) /* numbers of an entry: B, and W where friction needs it */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

INLINED four load(const double *p) { return *(const four *)p; }
INLINED void store(double *p, four x) { *(four *)p = x; }
INLINED four broadcast(double x) { return (four){x, x, x, x}; }
INLINED double dot(four a, four b)
{
  const four c = a * b;
  return c[0] + c[1] + c[2];
}

INLINED four vector(const double *p, ptrdiff_t gdim)
{
  return (four){p[0], gdim > 1 ? p[1] : 0.0, gdim > 2 ? p[2] : 0.0, 0.0};
}

INLINED double larger(double a, double b) { return b > a || b != b ? b : a; } /* keeps what is not a number */

/* Unit normal of a row: the direction of the sum of B over its positive part. */
INLINED four direction(const int64_t *start, const double *B, const double *W, ptrdiff_t gdim, int64_t row)
{
  four sum = broadcast(0.0);
  for (int64_t k = start[row]; k < start[row + 1]; ++k)
    if (W[k] > 0.0) sum += vector(B + gdim * k, gdim);
  const double size = sqrt(dot(sum, sum));
  return sum / broadcast(size > 0.0 ? size : 1.0);
}

/* Tangents that complete a normal: Duff et al., J. Comput. Graph. Tech. 6 (2017). */
INLINED void complete(four n, ptrdiff_t gdim, double *tangents)
{
  if (gdim == 2) {
    store(tangents, (four){-n[1], n[0], 0.0, 0.0});
    return;
  }
  const double x = n[0], y = n[1], z = n[2], sign = copysign(1.0, z), a = -1.0 / (sign + z);
  store(tangents, (four){1.0 + sign * x * x * a, sign * x * y * a, -sign * x, 0.0});
  store(tangents + 4, (four){x * y * a, sign + y * y * a, -y, 0.0});
}

INLINED double pack_rows(closed_rows *a, ptrdiff_t d, ptrdiff_t gdim, int64_t first, int64_t end, int64_t before,
                         const int64_t *start, const int32_t *nodes, const int32_t *number, const double *B,
                         const double *W, const double *inverse, int32_t *place)
{
  double largest = 0.0, *entry = a->entries + WIDTH(d) * a->start[first];
  int32_t *slot = a->slot + a->start[first], slots = a->slots;
  for (int64_t i = first; i < end; ++i) {
    const int64_t row = a->which[i] - before;
    four squares = broadcast(0.0);
    for (int64_t k = start[row]; k < start[row + 1]; ++k, entry += WIDTH(d)) {
      const int32_t node = number ? number[nodes[k]] : nodes[k];
      int32_t at = place[node];
      if (at < 0) {
        at = place[node] = slots++;
        a->nodes[at] = node;
        store(a->inverse + 4 * (ptrdiff_t)at, vector(inverse + gdim * node, gdim));
      }
      *slot++ = at;
      four weights = vector(B + gdim * k, gdim);
      squares += weights * weights * load(a->inverse + 4 * (ptrdiff_t)at);
      if (d > 1) weights[3] = W[k];
      store(entry, weights); /* of three numbers the next entry, or what is beyond, overwrites the last */
    }
    a->start[i + 1] = slot - a->slot;
    a->diagonal[i] = squares[0] + squares[1] + squares[2];
    largest = larger(largest, a->diagonal[i]);
    if (d > 1) complete(direction(start, B, W, gdim, row), gdim, a->tangents + 4 * (d - 1) * i);
  }
  a->slots = slots;
  return largest;
}

/* Begins with nodes that are shared, before the first rows are packed. `place` is -1 at all others. */
void share(closed_rows *a, ptrdiff_t gdim, const double *inverse, int32_t *place)
{
  a->slots = a->shared;
  a->start[0] = 0;
  for (int32_t s = 0; s < a->slots; ++s) {
    place[a->nodes[s]] = s;
    store(a->inverse + 4 * s, vector(inverse + gdim * a->nodes[s], gdim));
  }
}

/* Copies the rows a->which[first] to a->which[end - 1] of an operator whose first point has the number `before`, and
the inverse masses `inverse` of their nodes, which are numbered anew: by `place`, from their numbers or, unless it is
none, `number` of these. Writes the diagonal of H and the tangents, returns the largest entry. */
double pack(closed_rows *a, ptrdiff_t gdim, int64_t first, int64_t end, int64_t before, const int64_t *start,
            const int32_t *nodes, const int32_t *number, const double *B, const double *W, const double *inverse,
            int32_t *place)
{
#define PACK(d, gdim) pack_rows(a, d, gdim, first, end, before, start, nodes, number, B, W, inverse, place)
  if (a->components == 1) return gdim == 3 ? PACK(1, 3) : gdim == 2 ? PACK(1, 2) : PACK(1, 1);
  return gdim == 3 ? PACK(3, 3) : PACK(2, 2);
}

void unmark(const closed_rows *a, int32_t *place)
{
  for (int64_t s = 0; s < a->slots; ++s) place[a->nodes[s]] = -1;
}

/* Impulses in the cone of point i: a normal one of any sign or not below 0, the others in Coulomb's disc. */
INLINED void project(const closed_rows *a, ptrdiff_t d, int64_t i, double *x)
{
  if (!a->bilateral[i]) x[0] = x[0] > 0.0 ? x[0] : 0.0;
  double square = 0.0;
  for (ptrdiff_t k = 1; k < d; ++k) square += x[k] * x[k];
  const double size = sqrt(square), radius = a->friction[i] * x[0];
  if (size > radius)
    for (ptrdiff_t k = 1; k < d; ++k) x[k] *= radius / size;
}

/* Scales the problem to a unit diagonal, projects the start; returns the largest free velocity of this rank. `b`, `r`
and the vectors `sliding` and `r_t` are those of all points; the last three may be none, `at` are velocities of nodes. */
double begin(closed_rows *a, ptrdiff_t gdim, const double *b, const double *at, const double *sliding,
             const double *r, const double *r_t)
{
  const ptrdiff_t d = a->components;
  double largest = 0.0;
  for (int64_t i = 0; i < a->points; ++i) {
    const int64_t row = a->which[i];
    const double scale = a->scale[i] = 1.0 / sqrt(a->diagonal[i]);
    double *c = a->c + d * i, *x = a->x + d * i;
    c[0] = scale * b[row];
    x[0] = r ? r[row] / scale : 0.0;
    four v = broadcast(0.0);
    if (d > 1) {
      for (int64_t k = a->start[i]; k < a->start[i + 1]; ++k)
        v += a->entries[4 * k + 3] * vector(at + gdim * a->nodes[a->slot[k]], gdim);
      if (sliding) v -= vector(sliding + gdim * row, gdim);
    }
    for (ptrdiff_t k = 1; k < d; ++k) {
      const four t = load(a->tangents + 4 * ((d - 1) * i + k - 1));
      c[k] = scale * dot(t, v);
      x[k] = r_t ? dot(t, vector(r_t + gdim * row, gdim)) / scale : 0.0;
    }
    project(a, d, i, x);
    for (ptrdiff_t k = 0; k < d; ++k) largest = larger(largest, fabs(c[k]));
  }
  memset(a->x_old, 0, sizeof(double) * d * a->points);
  memset(a->g_old, 0, sizeof(double) * d * a->points);
  memcpy(a->best, a->x, sizeof(double) * d * a->points);
  return largest;
}

INLINED void spread_rows(closed_rows *a, ptrdiff_t d)
{
  const int32_t *slot = a->slot;
  const double *entry = a->entries, *tangent = a->tangents, *x = a->x;
  double *y = a->y;
  memset(y, 0, sizeof(double) * 4 * a->slots);
  for (int64_t i = 0; i < a->points; ++i, x += d, tangent += 4 * (d - 1)) {
    const double scale = a->scale[i];
    const four normal = broadcast(scale * x[0]);
    four f = broadcast(0.0);
    for (ptrdiff_t k = 1; k < d; ++k) f += scale * x[k] * load(tangent + 4 * (k - 1));
    for (const int32_t *end = a->slot + a->start[i + 1]; slot < end; ++slot, entry += WIDTH(d)) {
      double *at = y + 4 * (ptrdiff_t)*slot;
      if (d == 1)
        store(at, load(at) + load(entry) * normal);
      else
        store(at, load(at) + (load(entry) * normal + entry[3] * f));
    }
  }
}

INLINED void collect_rows(closed_rows *a, ptrdiff_t d)
{
  const int32_t *slot = a->slot;
  const double *entry = a->entries, *tangent = a->tangents;
  double *y = a->y, *g = a->g;
  for (int64_t s = 0; s < a->slots; ++s) store(y + 4 * s, load(y + 4 * s) * load(a->inverse + 4 * s));
  for (int64_t i = 0; i < a->points; ++i, g += d, tangent += 4 * (d - 1)) {
    four products = broadcast(0.0), sum = broadcast(0.0);
    for (const int32_t *end = a->slot + a->start[i + 1]; slot < end; ++slot, entry += WIDTH(d)) {
      const four at = load(y + 4 * (ptrdiff_t)*slot);
      products += load(entry) * at;
      if (d > 1) sum += entry[3] * at;
    }
    g[0] = a->scale[i] * (products[0] + products[1] + products[2]);
    for (ptrdiff_t k = 1; k < d; ++k) g[k] = a->scale[i] * dot(load(tangent + 4 * (k - 1)), sum);
  }
}

/* Adds the free velocities to g = S x; writes the largest natural residual |x - P(x - g)|, and the squares of the
change of x and its product with that of g. */
INLINED void measure_points(closed_rows *a, ptrdiff_t d, double *numbers)
{
  double worst = 0.0, squares = 0.0, products = 0.0;
  for (int64_t first = 0; first < a->points; first += BLOCK) {
    const int64_t end = first + BLOCK < a->points ? first + BLOCK : a->points;
    double of_x = 0.0, of_g = 0.0;
    for (int64_t i = first; i < end; ++i) {
      const double *x = a->x + d * i, *x_old = a->x_old + d * i, *g_old = a->g_old + d * i;
      double *g = a->g + d * i, trial[3], projected[3], xx = 0.0, xg = 0.0;
      for (ptrdiff_t k = 0; k < d; ++k) {
        g[k] += a->c[d * i + k];
        projected[k] = trial[k] = x[k] - g[k];
        xx += (x[k] - x_old[k]) * (x[k] - x_old[k]);
        xg += (x[k] - x_old[k]) * (g[k] - g_old[k]);
      }
      project(a, d, i, projected);
      for (ptrdiff_t k = 0; k < d; ++k) /* g where nothing is projected, which x - g loses for huge x */
        worst = larger(worst, fabs(projected[k] == trial[k] ? g[k] : x[k] - projected[k]));
      of_x += xx, of_g += xg;
    }
    squares += of_x, products += of_g;
  }
  numbers[0] = worst, numbers[1] = squares, numbers[2] = products;
}

/* Takes a step from the numbers of all ranks, added in their order; see projected_iteration.solve. */
INLINED verdict step_points(closed_rows *a, ptrdiff_t d, ptrdiff_t ranks, const double *numbers)
{
  double worst = 0.0, squares = 0.0, products = 0.0;
  for (ptrdiff_t k = 0; k < ranks; ++k) {
    worst = larger(worst, numbers[3 * k]);
    squares += numbers[3 * k + 1], products += numbers[3 * k + 2];
  }
  worst /= a->largest;
  if (worst < a->least) {
    memcpy(a->best, a->x, sizeof(double) * d * a->points);
    a->least = worst, a->since = 0;
  } else
    a->since++;
  a->sweeps++;
  if (a->least <= SOUGHT || (a->least <= ACCEPTED && a->since >= PATIENCE)) return SOLVED;
  if (a->sweeps > 1 && products > 0.0) {
    a->step = fmin(fmax(squares / products, SHORTEST), LONGEST);
    a->shortest = fmin(a->shortest, a->step);
    if (worst > TELLING) {
      a->least_quotient = fmin(a->least_quotient, products / squares);
      a->largest_quotient = fmax(a->largest_quotient, products / squares);
    }
  }
  for (int64_t i = 0; i < a->points; ++i) {
    double *x = a->x + d * i;
    for (ptrdiff_t k = 0; k < d; ++k) {
      a->x_old[d * i + k] = x[k], a->g_old[d * i + k] = a->g[d * i + k];
      x[k] -= a->step * a->g[d * i + k];
    }
    project(a, d, i, x);
  }
  return a->sweeps > FREE ? LEFT : ONWARD;
}

/* g = S x, with the sums at nodes that ranks share; returns 0 or the code of an error of MPI. */
INLINED int multiply_rows(closed_rows *a, ptrdiff_t d)
{
  spread_rows(a, d);
  const int failed = a->add_shared(a->sums, a->y);
  collect_rows(a, d);
  return failed;
}

/* Returns the verdict, or the code of an error of MPI with a minus. */
INLINED int iterate_points(closed_rows *a, ptrdiff_t d)
{
  double numbers[3];
  verdict found;
  do {
    int failed = multiply_rows(a, d);
    measure_points(a, d, numbers);
    if (!failed) failed = a->gather(a->numbers, numbers);
    if (failed) return -failed;
    found = step_points(a, d, a->ranks, a->of_all);
  } while (found == ONWARD);
  return found;
}

/* In each of these the number of components is a constant. None calls another one: libraries have global functions of
the same names. */
#define OF_COMPONENTS(function) \
  (a->components == 1 ? function(a, 1) : a->components == 2 ? function(a, 2) : function(a, 3))

int multiply(closed_rows *a) { return OF_COMPONENTS(multiply_rows); }
int iterate(closed_rows *a) { return OF_COMPONENTS(iterate_points); }

/* Writes the impulses of the best iterate into those of all points; `r_t` may be none. */
void finish(const closed_rows *a, ptrdiff_t gdim, double *r, double *r_t)
{
  const ptrdiff_t d = a->components;
  for (int64_t i = 0; i < a->points; ++i) {
    const double *x = a->best + d * i, scale = a->scale[i];
    four f = broadcast(0.0);
    r[a->which[i]] = x[0] * scale;
    for (ptrdiff_t k = 1; k < d; ++k) f += x[k] * scale * load(a->tangents + 4 * ((d - 1) * i + k - 1));
    for (ptrdiff_t c = 0; r_t && c < gdim; ++c) r_t[gdim * a->which[i] + c] = f[c];
  }
}

/* Batches of LANES cells, 4 or 8: arithmetic, and transfer between nodes and batches.

Every law is a function law(x, p, z, h, y, P, W) of the strains x, the parameters p, the state z of the point and the
time h since then, negative where the state is held: the stress P, and W, the stored energy and the work dissipated so far, per reference volume. It
returns whether the state has changed, which is then y. STATE is given before: how many numbers the state of a point
has, 0 for laws without history.

Every node has a cache line of eight numbers: its coordinates and displacements, padded to four each; the last
number of either four is for nodal pressures (simplex.c). Forces, and changes of the displacements, have four
numbers a node. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define INLINED static inline __attribute__((always_inline))
typedef double batch __attribute__((vector_size(8 * LANES)));
typedef int64_t mask __attribute__((vector_size(8 * LANES)));
typedef double lanes[LANES];
typedef double batch_unaligned __attribute__((vector_size(8 * LANES), aligned(8)));
typedef double four __attribute__((vector_size(32)));

static inline batch spread(double x) { return x - (batch){0.0}; }

static inline batch chosen(mask where, batch a, batch b)
{
  return (batch)((where & (mask)a) | (~where & (mask)b));
}

/* Whether a condition holds in any lane. Compilers find the one instruction for it by its name alone. */
static inline int any(mask where)
{
#if LANES == 8 && defined(__AVX512DQ__)
  return __builtin_ia32_cvtq2mask512((long long __attribute__((vector_size(64))))where) != 0;
#elif LANES == 4 && defined(__AVX__)
  return __builtin_ia32_movmskpd256((batch)where) != 0;
#else
  int64_t found = 0;
  for (int l = 0; l < LANES; ++l) found |= where[l];
  return found != 0;
#endif
}

/* A function of the C library in all lanes; a loop that the compiler replaces by one call where it can. */
#define OF_LANES(NAME)                                      \
  static inline batch batch_##NAME(batch x)                 \
  {                                                         \
    union { batch all; lanes each; } a = {x}, b;            \
    for (int l = 0; l < LANES; ++l) b.each[l] = NAME(a.each[l]); \
    return b.all;                                           \
  }
OF_LANES(log)
OF_LANES(exp)
OF_LANES(sqrt)
OF_LANES(sin)
OF_LANES(cos)
OF_LANES(fabs)

static inline batch batch_pow(batch x, batch y)
{
  union { batch all; lanes each; } a = {x}, b = {y}, c;
  for (int l = 0; l < LANES; ++l) c.each[l] = pow(a.each[l], b.each[l]);
  return c.all;
}

/* The first and third (second and fourth) numbers of two fours of numbers by turns, and the first (last) two of both;
   with 8 lanes the same in either half. */
#if LANES == 4
#define EVEN 0, 4, 2, 6
#define ODD 1, 5, 3, 7
#define FIRST 0, 1, 4, 5
#define LAST 2, 3, 6, 7
#else
#define EVEN 0, 8, 2, 10, 4, 12, 6, 14
#define ODD 1, 9, 3, 11, 5, 13, 7, 15
#define FIRST 0, 1, 8, 9, 4, 5, 12, 13
#define LAST 2, 3, 10, 11, 6, 7, 14, 15
#endif

/* Rows to columns of a square of four numbers a side; with 8 lanes of two such squares beside each other. */
static inline void transpose(batch *a, batch *b, batch *c, batch *d)
{
  const batch p = __builtin_shufflevector(*a, *b, EVEN), q = __builtin_shufflevector(*a, *b, ODD);
  const batch r = __builtin_shufflevector(*c, *d, EVEN), s = __builtin_shufflevector(*c, *d, ODD);
  *a = __builtin_shufflevector(p, r, FIRST);
  *b = __builtin_shufflevector(q, s, FIRST);
  *c = __builtin_shufflevector(p, r, LAST);
  *d = __builtin_shufflevector(q, s, LAST);
}

/* Four numbers of a node; with 8 lanes beside them those of the node four lanes on. */
static inline batch row_of(const double *restrict from, size_t width, const int32_t *restrict of)
{
#if LANES == 4
  return *(const four *)(from + width * of[0]);
#else
  const four one = *(const four *)(from + width * of[0]), other = *(const four *)(from + width * of[4]);
  return __builtin_shufflevector(one, other, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

static inline void add_row(double *restrict to, const int32_t *restrict of, batch row)
{
#if LANES == 4
  *(four *)(to + 4 * (size_t)of[0]) += row;
#else
  *(four *)(to + 4 * (size_t)of[0]) += __builtin_shufflevector(row, row, 0, 1, 2, 3);
  *(four *)(to + 4 * (size_t)of[4]) += __builtin_shufflevector(row, row, 4, 5, 6, 7);
#endif
}

/* Four numbers of the node of each lane, `width` numbers apart. */
static inline void gather_four(const double *restrict from, size_t width, const int32_t *restrict of, batch x[4])
{
  for (int k = 0; k < 4; ++k) x[k] = row_of(from, width, of + k);
  transpose(x, x + 1, x + 2, x + 3);
}

/* DIM of them. */
static inline void gather(const double *restrict from, size_t width, const int32_t *restrict of, batch *restrict x)
{
  batch all[4];
  gather_four(from, width, of, all);
  for (int i = 0; i < DIM; ++i) x[i] = all[i];
}

static inline void places_of(const double *nodes, const int32_t *of, batch *X) { gather(nodes, 8, of, X); }

/* The number at `place` of the node of each lane. */
static inline batch number_of(const double *nodes, const int32_t *of, int place)
{
  batch all[4];
  gather_four(nodes + place / 4 * 4, 8, of, all);
  return all[place % 4];
}

/* Displacements (field 0) or their changes (field 1). */
static inline void values_of(const double *nodes, const double *changes, int field, const int32_t *of, batch *u)
{
  if (field == 0) gather(nodes + 4, 8, of, u);
  else gather(changes, 4, of, u);
}

/* Add four numbers to the node of each lane, one lane after the other: lanes may share nodes. */
static inline void scatter_four(double *restrict to, const int32_t *restrict of, batch a, batch b, batch c, batch d)
{
  transpose(&a, &b, &c, &d);
  add_row(to, of, a);
  add_row(to, of + 1, b);
  add_row(to, of + 2, c);
  add_row(to, of + 3, d);
}

static inline void scatter(double *restrict forces, const int32_t *restrict of, const batch *restrict f)
{
  const batch none = spread(0.0);
  scatter_four(forces, of, f[0], DIM > 1 ? f[1] : none, DIM > 2 ? f[2] : none, none);
}

/* Inverse of the Jacobian matrix J[DIM][DIM], J[i][t] = dx_i / dxi_t, and its determinant. */
static inline batch inverse(const batch J[DIM][DIM], batch K[DIM][DIM])
{
#if DIM == 1
  K[0][0] = 1.0 / J[0][0];
  return J[0][0];
#elif DIM == 2
  const batch det = J[0][0] * J[1][1] - J[0][1] * J[1][0], one = 1.0 / det;
  K[0][0] = one * J[1][1];
  K[0][1] = -one * J[0][1];
  K[1][0] = -one * J[1][0];
  K[1][1] = one * J[0][0];
  return det;
#else
  const batch a = J[1][1] * J[2][2] - J[1][2] * J[2][1];
  const batch b = J[1][2] * J[2][0] - J[1][0] * J[2][2];
  const batch c = J[1][0] * J[2][1] - J[1][1] * J[2][0];
  const batch det = J[0][0] * a + J[0][1] * b + J[0][2] * c, one = 1.0 / det;
  K[0][0] = one * a;
  K[1][0] = one * b;
  K[2][0] = one * c;
  K[0][1] = one * (J[0][2] * J[2][1] - J[0][1] * J[2][2]);
  K[1][1] = one * (J[0][0] * J[2][2] - J[0][2] * J[2][0]);
  K[2][1] = one * (J[0][1] * J[2][0] - J[0][0] * J[2][1]);
  K[0][2] = one * (J[0][1] * J[1][2] - J[0][2] * J[1][1]);
  K[1][2] = one * (J[0][2] * J[1][0] - J[0][0] * J[1][2]);
  K[2][2] = one * (J[0][0] * J[1][1] - J[0][1] * J[1][0]);
  return det;
#endif
}

/* The entries of F = I + H K in the space of the cells, or of the change H K. */
static inline void deformation_gradient(const batch H[DIM][DIM], const batch K[DIM][DIM], int whole, batch *F)
{
  for (int i = 0; i < DIM; ++i)
    for (int j = 0; j < DIM; ++j)
    {
      batch h = H[i][0] * K[0][j];
      for (int t = 1; t < DIM; ++t) h += H[i][t] * K[t][j];
      F[i * DIM + j] = i == j && whole ? h + 1.0 : h;
    }
}

/* Entry (i, t) of P K^T. */
static inline batch reference_stress(const batch *P, const batch K[DIM][DIM], int i, int t)
{
  batch Q = P[i * DIM] * K[t][0];
  for (int j = 1; j < DIM; ++j) Q += P[i * DIM + j] * K[t][j];
  return Q;
}

/* Add to P the stress of a pressure on the volume: pressures[0] with the derivative C of the volume ratio, for
   tangents pressures[1] with the change of C, which follows it. */
static inline void add_pressure(const batch *pressures, const batch *C, batch *P)
{
  for (int k = 0; k < FIELDS; ++k)
    for (int i = 0; i < STRAINS; ++i) P[i] += pressures[k] * C[k * STRAINS + i];
}

static inline batch absolute(batch x) { return (batch)((mask)x & ~(mask)spread(-0.0)); }

static inline double sum_of_lanes(batch x)
{
  double sum = 0.0;
  for (int l = 0; l < LANES; ++l) sum += x[l];
  return sum;
}

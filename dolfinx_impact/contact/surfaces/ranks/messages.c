/* Messages between the ranks, with no Python between them. Functions return 0, or the code of an error of MPI.

MPI's functions come as addresses and its requests as the bytes of their handles, whose type differs between
libraries: no header is needed. messages.h stands before this. */
#include <string.h>

#define INLINED static inline __attribute__((always_inline))

INLINED int begin(const messages *m) { return m->count ? m->start(m->count, m->requests) : 0; }
INLINED int end(const messages *m) { return m->count ? m->wait(m->count, m->requests, m->statuses) : 0; }

/* The rows of vectors have w numbers, a constant for the compiler where it is small, and begin every `length` of them. */
INLINED void pack(const transfer *t, ptrdiff_t w, ptrdiff_t first, ptrdiff_t last, const double *values,
                  const double *factors, ptrdiff_t length)
{
  for (ptrdiff_t k = first; k < last; ++k)
    for (ptrdiff_t c = 0, at = length * t->given_row[k]; c < w; ++c)
      t->given[w * k + c] = factors ? values[at + c] * factors[at + c] : values[at + c];
}

INLINED void unpack(const transfer *t, ptrdiff_t w, ptrdiff_t first, ptrdiff_t last, double *out, ptrdiff_t length,
                    int sum)
{
  for (ptrdiff_t k = first; k < last; ++k)
    for (ptrdiff_t c = 0, at = length * t->taken_row[k]; c < w; ++c)
      out[at + c] = sum ? out[at + c] + t->taken[w * k + c] : t->taken[w * k + c];
}

/* What a rank gives to itself. */
INLINED void hand_over(const transfer *t, ptrdiff_t w, const double *values, const double *factors, ptrdiff_t length,
                       double *out, ptrdiff_t out_length, int sum)
{
  const int64_t *from = t->given_row + t->own_given, *to = t->taken_row + t->own_taken;
  for (ptrdiff_t k = 0; k < t->own; ++k)
    for (ptrdiff_t c = 0, at = length * from[k], into = out_length * to[k]; c < w; ++c) {
      const double value = factors ? values[at + c] * factors[at + c] : values[at + c];
      out[into + c] = sum ? out[into + c] + value : value;
    }
}

INLINED int carry_rows(const transfer *t, ptrdiff_t w, const double *values, const double *factors, ptrdiff_t length,
                       double *out, ptrdiff_t out_length, int sum)
{
  const ptrdiff_t early = t->own_taken == 0 || !sum; /* sums run in the order of the ranks */
  pack(t, w, 0, t->own_given, values, factors, length);
  pack(t, w, t->own_given + t->own, t->gives, values, factors, length);
  int failed = begin(t->between);
  if (early) hand_over(t, w, values, factors, length, out, out_length, sum);
  if (!failed) failed = end(t->between);
  unpack(t, w, 0, t->own_taken, out, out_length, sum);
  if (!early) hand_over(t, w, values, factors, length, out, out_length, sum);
  unpack(t, w, t->own_taken + t->own, t->takes, out, out_length, sum);
  return failed;
}

#define OF_WIDTH(...)                                                                             \
  (t->width == 3 ? carry_rows(t, 3, __VA_ARGS__) : t->width == 1 ? carry_rows(t, 1, __VA_ARGS__) \
                                                                 : carry_rows(t, t->width, __VA_ARGS__))

/* Writes rows of the values of one rank into rows of what another one has. */
int carry(const transfer *t, const double *values, ptrdiff_t length, double *out, ptrdiff_t out_length)
{
  return OF_WIDTH(values, NULL, length, out, out_length, 0);
}

/* Adds them, times factors unless these are none, in the order of the ranks. */
int carry_sums(const transfer *t, const double *values, const double *factors, ptrdiff_t length, double *out,
               ptrdiff_t out_length)
{
  return OF_WIDTH(values, factors, length, out, out_length, 1);
}

/* Replaces values at nodes, four for each, by their sums in the order of the ranks, the same bits on all of them. */
int add_shared(const shared_sums *s, double *values)
{
  for (ptrdiff_t k = 0; k < s->rows; ++k) memcpy(s->told + 4 * k, values + 4 * s->node[k], 4 * sizeof(double));
  int failed = begin(s->between);
  if (!failed) failed = end(s->between);
  memset(s->sums, 0, 4 * sizeof(double) * s->nodes);
  for (ptrdiff_t k = 0; k < s->before; ++k)
    for (int c = 0; c < 4; ++c) s->sums[4 * s->node[k] + c] += s->heard[4 * k + c];
  for (ptrdiff_t k = 0; k < 4 * s->nodes; ++k) values[k] = s->sums[k] + values[k];
  for (ptrdiff_t k = s->before; k < s->rows; ++k)
    for (int c = 0; c < 4; ++c) values[4 * s->node[k] + c] += s->heard[4 * k + c];
  return failed;
}

/* Writes the numbers of all ranks. After each round a rank has those of twice as many, from itself on. */
int gather(const gathering *g, const double *own)
{
  const size_t bytes = g->width * sizeof(double);
  memcpy(g->turned, own, bytes);
  for (ptrdiff_t k = 0; k < g->rounds; ++k) {
    int failed = begin(g->round[k]);
    if (!failed) failed = end(g->round[k]);
    if (failed) return failed;
  }
  for (ptrdiff_t k = 0; k < g->ranks; ++k)
    memcpy(g->all + g->width * ((g->rank + k) % g->ranks), g->turned + g->width * k, bytes);
  return 0;
}

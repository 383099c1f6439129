/* What the machine gives: memory in a triad, arithmetic in CHAINS independent sums of LANES numbers each. */
#include <stddef.h>
typedef double batch __attribute__((vector_size(8 * LANES)));

void triad(ptrdiff_t n, double *a, const double *b, const double *c)
{
  for (ptrdiff_t i = 0; i < n; ++i) a[i] = b[i] + 0.5 * c[i];
}

double multiply_add(ptrdiff_t n, double x)
{
  batch sums[CHAINS], factor = x - (batch){0.0};
  for (int k = 0; k < CHAINS; ++k) sums[k] = factor * k;
  for (ptrdiff_t i = 0; i < n; ++i)
    for (int k = 0; k < CHAINS; ++k) sums[k] = sums[k] * factor + factor;
  double sum = 0.0;
  for (int k = 0; k < CHAINS; ++k)
    for (int l = 0; l < LANES; ++l) sum += sums[k][l];
  return sum;
}

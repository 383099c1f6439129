/* Between arrays of dofs and nodes. */
void take(ptrdiff_t count, const double *restrict u, double *restrict nodes, ptrdiff_t width)
{
  for (ptrdiff_t a = 0; a < count; ++a)
    for (int i = 0; i < DIM; ++i) nodes[width * a + i] = u[DIM * a + i];
}

void add(ptrdiff_t count, double factor, const double *restrict forces, double *restrict out)
{
  for (ptrdiff_t a = 0; a < count; ++a)
    for (int i = 0; i < DIM; ++i) out[DIM * a + i] += factor * forces[4 * a + i];
}

int same(ptrdiff_t count, const double *restrict u, const double *restrict nodes)
{
  int different = 0;
  for (ptrdiff_t a = 0; a < count; ++a)
    for (int i = 0; i < DIM; ++i) different |= !(nodes[8 * a + 4 + i] == u[DIM * a + i]);
  return !different;
}

/* Returns the stored energy. */
double internal_forces(ptrdiff_t count, const int32_t *cells, const double *nodes, const double *changes,
                       double *forces, const double *p, double thickness, const double *tail, double *one, double *other,
                       const uint8_t *sides, uint8_t *changed, double h, double *dissipated)
{
  const states of_body = {{(batch *)one, (batch *)other}, sides, changed, h};
  return cells_of(count, cells, nodes, changes, forces, p, thickness, *(const batch_unaligned *)tail, of_body,
                  dissipated);
}

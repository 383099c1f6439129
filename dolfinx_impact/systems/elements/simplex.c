/* Internal forces of affine simplices with tabulated shape functions.

Given before: DIM, NODES, POINTS, FIELDS (1, or 2 for tangents), LINEAR (1 for laws of the displacement gradient),
HOOP (1 for bodies of revolution), STRAINS (entries of F from a field), NODAL_PRESSURE (1 where the law's stress
lacks that of the pressures of the nodes), WEIGHTS[POINTS], PLACES[POINTS][DIM], VALUES[POINTS][NODES],
GRADIENTS[POINTS][NODES][DIM], and the law. The first DIM + 1 nodes are the vertices. */

/* Nodal values of a field; those of other nodes than the first as differences from it, so that the force of a
   translation is zero. */
static inline void differences(const double *nodes, const double *changes, int field, const int32_t *cells,
                               batch e[NODES][DIM])
{
  for (int a = 0; a < NODES; ++a)
  {
    values_of(nodes, changes, field, cells + a * LANES, e[a]);
    for (int i = 0; i < DIM && a > 0; ++i) e[a][i] -= e[0][i];
  }
}

/* Gradient of a field at point q in the reference cell. */
static inline void slopes(const batch e[NODES][DIM], int q, batch H[DIM][DIM])
{
  for (int i = 0; i < DIM; ++i)
    for (int t = 0; t < DIM; ++t)
    {
#if NODES == DIM + 1
      H[i][t] = e[t + 1][i];
#else
      H[i][t] = spread(0.0);
      for (int a = 1; a < NODES; ++a)
        if (GRADIENTS[q][a][t] != 0.0) H[i][t] += e[a][i] * GRADIENTS[q][a][t];
#endif
    }
}

static inline void add_forces(const batch *P, const batch K[DIM][DIM], batch weight, int q, batch f[NODES][DIM])
{
  for (int i = 0; i < DIM; ++i)
    for (int t = 0; t < DIM; ++t)
    {
      const batch Q = weight * reference_stress(P, K, i, t);
#if NODES == DIM + 1
      f[t + 1][i] += Q;
#else
      for (int a = 1; a < NODES; ++a)
        if (GRADIENTS[q][a][t] != 0.0) f[a][i] += Q * GRADIENTS[q][a][t];
#endif
    }
}

#if HOOP
static inline batch radial_at(const batch e[NODES][DIM], int q)
{
  batch radial = e[0][0];
  for (int a = 1; a < NODES; ++a) radial += e[a][0] * VALUES[q][a];
  return radial;
}
#endif

#if NODAL_PRESSURE
/* Means over the nodes of what nodal_pressures() gives them. */
static inline void pressures_of(const double *nodes, const int32_t *cells, batch means[2])
{
  means[0] = means[1] = spread(0.0);
  for (int a = 0; a < NODES; ++a)
  {
    means[0] += number_of(nodes, cells + a * LANES, 3);
    means[1] += number_of(nodes, cells + a * LANES, 7);
  }
  for (int k = 0; k < 2; ++k) means[k] *= 1.0 / NODES;
}
#endif

/* The first vertex, and the Jacobian matrix with its inverse; returns the size of its determinant. */
static inline batch geometry(const double *nodes, const int32_t *cells, batch origin[DIM], batch J[DIM][DIM],
                             batch K[DIM][DIM])
{
  batch X[DIM + 1][DIM];
  for (int a = 0; a <= DIM; ++a) places_of(nodes, cells + a * LANES, X[a]);
  for (int i = 0; i < DIM; ++i)
    for (int t = 0; t < DIM; ++t) J[i][t] = X[t + 1][i] - X[0][i];
  for (int i = 0; i < DIM; ++i) origin[i] = X[0][i];
  return absolute(inverse(J, K));
}

/* Inputs of the law at point q, and the radius there; returns the volume of the point. */
static inline batch strains_at(const batch e[FIELDS][NODES][DIM], const batch origin[DIM], const batch J[DIM][DIM],
                               const batch K[DIM][DIM], batch size, int q, batch *x, batch *radius)
{
  batch H[DIM][DIM], weight = size * WEIGHTS[q];
#if HOOP
  *radius = origin[0];
  for (int t = 0; t < DIM; ++t) *radius += J[0][t] * PLACES[q][t];
  weight *= TURN * *radius;
#endif
  for (int k = 0; k < FIELDS; ++k)
  {
    slopes(e[k], q, H);
    deformation_gradient(H, K, k == 0 && !LINEAR, x + k * STRAINS);
#if HOOP
    const batch strain = radial_at(e[k], q) / *radius;
    x[k * STRAINS + DIM * DIM] = k == 0 && !LINEAR ? strain + 1.0 : strain;
#endif
  }
  return weight;
}

static inline double cells_of(ptrdiff_t count, const int32_t *restrict cells, const double *restrict nodes,
                              const double *restrict changes, double *restrict forces,
                              const double *restrict p, double thickness, batch tail, states of_body,
                              double *dissipated)
{
  batch energy[2] = {spread(0.0), spread(0.0)};
  for (ptrdiff_t b = 0; b < count; ++b, cells += NODES * LANES)
  {
    batch origin[DIM], J[DIM][DIM], K[DIM][DIM], e[FIELDS][NODES][DIM], f[NODES][DIM], hoop[NODES];
    const batch one = b + 1 < count ? spread(1.0) : tail;
    const batch size = one * thickness * geometry(nodes, cells, origin, J, K);
    for (int k = 0; k < FIELDS; ++k) differences(nodes, changes, k, cells, e[k]);
    for (int a = 0; a < NODES; ++a)
      for (int i = 0; i < DIM; ++i) f[a][i] = hoop[a] = spread(0.0);
#if NODAL_PRESSURE
    batch means[2];
    pressures_of(nodes, cells, means);
#endif
#if POINTS <= 4
#pragma GCC unroll 4
#endif
    for (int q = 0; q < POINTS; ++q)
    {
      batch x[FIELDS * STRAINS], P[STRAINS], W[2], radius;
      const batch weight = strains_at(e, origin, J, K, size, q, x, &radius);
      stress_at(x, p, of_body, b * POINTS + q, P, W);
#if NODAL_PRESSURE
      batch C[FIELDS * STRAINS], ratio[FIELDS];
      volume_ratio(x, p, C, ratio);
      add_pressure(means, C, P);
      if (FIELDS == 1) W[0] += means[1];
#endif
      for (int k = 0; k < 1 + (STATE > 0); ++k) energy[k] += weight * W[k];
      add_forces(P, K, weight, q, f);
#if HOOP
      const batch push = weight * P[DIM * DIM] / radius;
      for (int a = 0; a < NODES; ++a) hoop[a] += push * VALUES[q][a];
#endif
    }
    for (int i = 0; i < DIM; ++i)
      for (int a = 1; a < NODES; ++a) f[0][i] -= f[a][i];
    for (int a = 0; a < NODES && HOOP; ++a) f[a][0] += hoop[a];
    for (int a = 0; a < NODES; ++a) scatter(forces, cells + a * LANES, f[a]);
  }
  *dissipated = sum_of_lanes(energy[1]);
  return sum_of_lanes(energy[0]);
}

#if NODAL_PRESSURE
/* Add to each node its equal share of its cells: their volumes at rest, now (for linear laws the change of these),
   and for tangents the changes of the latter. */
void nodal_volumes(ptrdiff_t count, const int32_t *cells, const double *nodes, const double *changes,
                   double *volumes, const double *p, double thickness, const double *tail)
{
  for (ptrdiff_t b = 0; b < count; ++b, cells += NODES * LANES)
  {
    batch origin[DIM], J[DIM][DIM], K[DIM][DIM], e[FIELDS][NODES][DIM], rest = spread(0.0), now[2] = {rest, rest};
    const batch one = b + 1 < count ? spread(1.0) : *(const batch_unaligned *)tail;
    const batch size = one * (thickness / NODES) * geometry(nodes, cells, origin, J, K);
    for (int k = 0; k < FIELDS; ++k) differences(nodes, changes, k, cells, e[k]);
    for (int q = 0; q < POINTS; ++q)
    {
      batch x[FIELDS * STRAINS], C[FIELDS * STRAINS], ratio[FIELDS], radius;
      const batch weight = strains_at(e, origin, J, K, size, q, x, &radius);
      volume_ratio(x, p, C, ratio);
      rest += weight;
      for (int k = 0; k < FIELDS; ++k) now[k] += weight * ratio[k];
    }
    for (int a = 0; a < NODES; ++a) scatter_four(volumes, cells + a * LANES, rest, now[0], now[1], spread(0.0));
  }
}

/* Pressure and volumetric energy of each node by its volumes, for tangents the change of the pressure and the
   pressure; `count` is a multiple of LANES, nodes without volume are as at rest. */
void nodal_pressures(ptrdiff_t count, const double *volumes, double *nodes, const double *p)
{
  int32_t each[LANES];
  for (int l = 0; l < LANES; ++l) each[l] = l;
  for (ptrdiff_t a = 0; a < count; a += LANES, volumes += 4 * LANES, nodes += 8 * LANES)
  {
    batch found[4], x[2], P[2], U;
    gather_four(volumes, 4, each, found);
    const batch rest = found[0], now = found[1], change = found[2];
    const mask there = (mask)(rest > 0.0);
    x[0] = chosen(there, now / rest, spread(LINEAR ? 0.0 : 1.0));
    x[1] = chosen(there, change / rest, spread(0.0));
    volumetric(x, p, P, &U);
    for (int l = 0; l < LANES; ++l)
    {
      nodes[8 * l + 3] = P[0][l];
      nodes[8 * l + 7] = FIELDS == 1 ? U[l] : P[1][l];
    }
  }
}
#endif

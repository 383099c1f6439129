/* Internal forces of affine simplices with tabulated shape functions.

Given before: DIM, NODES, POINTS, FIELDS (1, or 2 for tangents), LINEAR (1 for laws of the displacement gradient),
HOOP (1 for bodies of revolution), STRAINS (inputs of the law from a field), WEIGHTS[POINTS],
PLACES[POINTS][DIM], VALUES[POINTS][NODES], GRADIENTS[POINTS][NODES][DIM], and the law. The first DIM + 1 nodes are
the vertices. */

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

static inline double cells_of(ptrdiff_t count, const int32_t *restrict cells, const double *restrict nodes,
                              const double *restrict changes, double *restrict forces,
                              const double *restrict p, double thickness, batch tail)
{
  batch energy = spread(0.0);
  for (ptrdiff_t b = 0; b < count; ++b, cells += NODES * LANES)
  {
    batch X[DIM + 1][DIM], J[DIM][DIM], K[DIM][DIM], e[FIELDS][NODES][DIM], f[NODES][DIM], hoop[NODES];
    for (int a = 0; a <= DIM; ++a) places_of(nodes, cells + a * LANES, X[a]);
    for (int i = 0; i < DIM; ++i)
      for (int t = 0; t < DIM; ++t) J[i][t] = X[t + 1][i] - X[0][i];
    for (int k = 0; k < FIELDS; ++k) differences(nodes, changes, k, cells, e[k]);
    const batch size = (b + 1 < count ? spread(1.0) : tail) * thickness * absolute(inverse(J, K));
    for (int a = 0; a < NODES; ++a)
      for (int i = 0; i < DIM; ++i) f[a][i] = hoop[a] = spread(0.0);
#if POINTS <= 4
#pragma GCC unroll 4
#endif
    for (int q = 0; q < POINTS; ++q)
    {
      batch x[FIELDS * STRAINS], P[STRAINS], W, H[DIM][DIM], weight = size * WEIGHTS[q];
#if HOOP
      batch radius = X[0][0];
      for (int t = 0; t < DIM; ++t) radius += J[0][t] * PLACES[q][t];
      weight *= TURN * radius;
#endif
      for (int k = 0; k < FIELDS; ++k)
      {
        slopes(e[k], q, H);
        deformation_gradient(H, K, k == 0 && !LINEAR, x + k * STRAINS);
#if HOOP
        const batch strain = radial_at(e[k], q) / radius;
        x[k * STRAINS + DIM * DIM] = k == 0 && !LINEAR ? strain + 1.0 : strain;
#endif
      }
      law(x, p, P, &W);
      energy += weight * W;
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
  return sum_of_lanes(energy);
}

/* Internal forces of affine simplices with tabulated shape functions.

Given before: DIM, NODES, POINTS, FIELDS, HOOP (1 for bodies of revolution), WEIGHTS[POINTS],
VALUES[POINTS][NODES], GRADIENTS[POINTS][NODES][DIM], and the law. The first DIM + 1 nodes are the vertices. */

static inline double cells_of(ptrdiff_t count, const int32_t *restrict cells, const double *restrict nodes,
                              const double *restrict changes, double *restrict forces,
                              const double *restrict p, double thickness, batch tail, const int with_energy)
{
  batch energy = spread(0.0);
  for (ptrdiff_t b = 0; b < count; ++b, cells += NODES * LANES)
  {
    batch X[DIM + 1][DIM], J[DIM][DIM], K[DIM][DIM], e[FIELDS][NODES][DIM], f[NODES][DIM];
    for (int a = 0; a <= DIM; ++a) places_of(nodes, cells + a * LANES, X[a]);
    for (int i = 0; i < DIM; ++i)
      for (int t = 0; t < DIM; ++t) J[i][t] = X[t + 1][i] - X[0][i];
    /* Differences from the first node: the force of a translation is zero. */
    for (int k = 0; k < FIELDS; ++k)
      for (int a = 0; a < NODES; ++a)
      {
        values_of(nodes, changes, k, cells + a * LANES, e[k][a]);
        for (int i = 0; i < DIM && a > 0; ++i) e[k][a][i] -= e[k][0][i];
      }
    const batch det = inverse(J, K), size = (b + 1 < count ? spread(1.0) : tail) * thickness *
                                            (batch)((mask)det & ~(mask)spread(-0.0));
    for (int a = 0; a < NODES; ++a)
      for (int i = 0; i < DIM; ++i) f[a][i] = spread(0.0);
#if HOOP
    batch hoop[NODES];
    for (int a = 0; a < NODES; ++a) hoop[a] = spread(0.0);
#endif
    for (int q = 0; q < POINTS; ++q)
    {
      batch x[FIELDS * STRAINS], P[STRAINS], W, radius = spread(0.0), weight = size * WEIGHTS[q];
      for (int k = 0; k < FIELDS; ++k)
      {
        batch H[DIM][DIM];
        for (int i = 0; i < DIM; ++i)
          for (int t = 0; t < DIM; ++t)
          {
#if NODES == DIM + 1
            H[i][t] = e[k][t + 1][i];
#else
            H[i][t] = e[k][1][i] * GRADIENTS[q][1][t];
            for (int a = 2; a < NODES; ++a) H[i][t] += e[k][a][i] * GRADIENTS[q][a][t];
#endif
          }
        for (int i = 0; i < DIM; ++i)
          for (int j = 0; j < DIM; ++j)
          {
            batch h = H[i][0] * K[0][j];
            for (int t = 1; t < DIM; ++t) h += H[i][t] * K[t][j];
            x[k * STRAINS + i * DIM + j] = i == j && k == 0 ? h + 1.0 : h;
          }
#if HOOP
        batch radial = e[k][0][0];
        for (int a = 1; a < NODES; ++a) radial += e[k][a][0] * VALUES[q][a];
        if (k == 0)
        {
          radius = X[0][0];
          for (int t = 0; t < DIM; ++t) radius += J[0][t] * PLACES[q][t];
          weight *= TURN * radius;
        }
        x[k * STRAINS + DIM * DIM] = k == 0 ? radial / radius + 1.0 : radial / radius;
#endif
      }
      law(x, p, P, &W);
      if (with_energy) energy += weight * W;
      for (int i = 0; i < DIM; ++i)
        for (int t = 0; t < DIM; ++t)
        {
          batch Q = P[i * DIM] * K[t][0];
          for (int j = 1; j < DIM; ++j) Q += P[i * DIM + j] * K[t][j];
          Q *= weight;
#if NODES == DIM + 1
          f[t + 1][i] += Q;
#else
          for (int a = 1; a < NODES; ++a) f[a][i] += Q * GRADIENTS[q][a][t];
#endif
        }
#if HOOP
      const batch push = weight * P[DIM * DIM] / radius;
      for (int a = 0; a < NODES; ++a) hoop[a] += push * VALUES[q][a];
#endif
    }
    for (int i = 0; i < DIM; ++i)
      for (int a = 1; a < NODES; ++a) f[0][i] -= f[a][i];
#if HOOP
    for (int a = 0; a < NODES; ++a) f[a][0] += hoop[a];
#endif
    for (int a = 0; a < NODES; ++a) scatter(forces, cells + a * LANES, f[a]);
  }
  double sum = 0.0;
  for (int l = 0; l < LANES; ++l) sum += energy[l];
  return sum;
}

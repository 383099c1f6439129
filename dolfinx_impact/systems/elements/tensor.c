/* Internal forces of intervals, quadrilaterals and hexahedra by sum factorisation.

Given before: DIM, SIDE (points and nodes along a direction), COUNT = SIDE^DIM, FIELDS, HOOP, COLLOCATED (1
where points are nodes), WEIGHTS[COUNT], PLACES[SIDE] (points along a direction), SLOPES[SIDE][SIDE] (derivatives
at points of the polynomials that are one at a point), VALUES[SIDE][SIDE] (nodal shape functions at points), and
the law. Nodes and points are in the order of their places, those along the last direction together. */

/* Place of point q along direction t, and the first point of its line. */
#define STRIDE(t) ((t) == DIM - 1 ? 1 : (t) == DIM - 2 ? SIDE : SIDE * SIDE)
#define ALONG(q, t) ((q) / STRIDE(t) % SIDE)
#define LINE(q, t) ((q) - ALONG(q, t) * STRIDE(t))

#if !COLLOCATED
/* x = M x along direction t, or its transpose. */
static inline void change_basis(batch x[COUNT][DIM], int t, const int transposed)
{
  for (int q = 0; q < COUNT; q += 1)
  {
    if (ALONG(q, t) != 0) continue;
    batch line[SIDE][DIM];
    for (int m = 0; m < SIDE; ++m)
      for (int i = 0; i < DIM; ++i) line[m][i] = x[q + m * STRIDE(t)][i];
    for (int n = 0; n < SIDE; ++n)
      for (int i = 0; i < DIM; ++i)
      {
        batch y = line[0][i] * (transposed ? VALUES[0][n] : VALUES[n][0]);
        for (int m = 1; m < SIDE; ++m) y += line[m][i] * (transposed ? VALUES[m][n] : VALUES[n][m]);
        x[q + n * STRIDE(t)][i] = y;
      }
  }
}
#endif

/* Coefficients of x(xi): entry S is that of the product of the xi_t with bit t in S. Returns whether all but
   the linear ones vanish. */
static inline int geometry(const double *restrict nodes, const int32_t *restrict cells, batch c[1 << DIM][DIM])
{
  for (int S = 0; S < 1 << DIM; ++S)
  {
    int corner = 0;
    for (int t = 0; t < DIM; ++t) corner += (S >> t & 1) * (SIDE - 1) * STRIDE(t);
    places_of(nodes, cells + corner * LANES, c[S]);
  }
  for (int t = 0; t < DIM; ++t)
    for (int S = 0; S < 1 << DIM; ++S)
      for (int i = 0; i < DIM && (S >> t & 1); ++i) c[S][i] -= c[S ^ 1 << t][i];
  batch linear = spread(0.0), rest = spread(0.0);
  for (int S = 1; S < 1 << DIM; ++S)
    for (int i = 0; i < DIM; ++i)
    {
      if ((S & (S - 1)) == 0) linear += c[S][i] * c[S][i];
      else rest += c[S][i] * c[S][i];
    }
  const mask bent = (mask)(rest > ROUNDING * ROUNDING * linear);
  int64_t any = 0;
  for (int l = 0; l < LANES; ++l) any |= bent[l];
  return any == 0;
}

static inline void jacobian(const batch c[1 << DIM][DIM], int q, batch J[DIM][DIM])
{
  for (int t = 0; t < DIM; ++t)
    for (int i = 0; i < DIM; ++i)
    {
      J[i][t] = c[1 << t][i];
      for (int S = 0; S < 1 << DIM; ++S)
      {
        if (!(S >> t & 1) || S == 1 << t) continue;
        double product = 1.0;
        for (int s = 0; s < DIM; ++s) product *= s != t && (S >> s & 1) ? PLACES[ALONG(q, s)] : 1.0;
        J[i][t] += product * c[S][i];
      }
    }
}

static inline double cells_of(ptrdiff_t count, const int32_t *restrict cells, const double *restrict nodes,
                              const double *restrict changes, double *restrict forces,
                              const double *restrict p, double thickness, batch tail, const int with_energy)
{
  batch energy = spread(0.0);
  for (ptrdiff_t b = 0; b < count; ++b, cells += COUNT * LANES)
  {
    batch c[1 << DIM][DIM], J[DIM][DIM], K[DIM][DIM], det = spread(1.0);
    batch u[FIELDS][COUNT][DIM], flux[DIM][COUNT][DIM], f[COUNT][DIM];
    const int affine = geometry(nodes, cells, c);
    const batch size = (b + 1 < count ? spread(1.0) : tail) * thickness;
    for (int k = 0; k < FIELDS; ++k)
    {
      for (int a = 0; a < COUNT; ++a)
      {
        values_of(nodes, changes, k, cells + a * LANES, u[k][a]);
        /* Differences from the first node: the force of a translation is zero. */
        for (int i = 0; i < DIM && a > 0 && !HOOP; ++i) u[k][a][i] -= u[k][0][i];
      }
      for (int i = 0; i < DIM && !HOOP; ++i) u[k][0][i] = spread(0.0);
#if !COLLOCATED
      for (int t = 0; t < DIM; ++t) change_basis(u[k], t, 0);
#endif
    }
#if COUNT <= 9
#pragma GCC unroll 9
#endif
    for (int q = 0; q < COUNT; ++q)
    {
      batch x[FIELDS * STRAINS], P[STRAINS], W;
      if (q == 0 || !affine)
      {
        jacobian(c, q, J);
        det = inverse(J, K);
        det = (batch)((mask)det & ~(mask)spread(-0.0));
      }
      batch weight = size * det * WEIGHTS[q];
#if HOOP
      batch radius = spread(0.0);
      for (int S = 0; S < 1 << DIM; ++S)
      {
        double product = 1.0;
        for (int s = 0; s < DIM; ++s) product *= S >> s & 1 ? PLACES[ALONG(q, s)] : 1.0;
        radius += product * c[S][0];
      }
      weight *= TURN * radius;
#endif
      for (int k = 0; k < FIELDS; ++k)
      {
        batch H[DIM][DIM];
        for (int t = 0; t < DIM; ++t)
        {
          const batch(*line)[DIM] = (const batch(*)[DIM])u[k] + LINE(q, t);
          const double *slope = SLOPES[ALONG(q, t)];
          for (int i = 0; i < DIM; ++i)
          {
            H[i][t] = slope[0] * line[0][i];
            for (int m = 1; m < SIDE; ++m) H[i][t] += slope[m] * line[m * STRIDE(t)][i];
          }
        }
        for (int i = 0; i < DIM; ++i)
          for (int j = 0; j < DIM; ++j)
          {
            batch h = H[i][0] * K[0][j];
            for (int t = 1; t < DIM; ++t) h += H[i][t] * K[t][j];
            x[k * STRAINS + i * DIM + j] = i == j && k == 0 ? h + 1.0 : h;
          }
#if HOOP
        x[k * STRAINS + DIM * DIM] = k == 0 ? u[k][q][0] / radius + 1.0 : u[k][q][0] / radius;
#endif
      }
      law(x, p, P, &W);
      if (with_energy) energy += weight * W;
      for (int t = 0; t < DIM; ++t)
        for (int i = 0; i < DIM; ++i)
        {
          batch Q = P[i * DIM] * K[t][0];
          for (int j = 1; j < DIM; ++j) Q += P[i * DIM + j] * K[t][j];
          flux[t][q][i] = weight * Q;
        }
      for (int i = 0; i < DIM; ++i) f[q][i] = spread(0.0);
#if HOOP
      f[q][0] = weight * P[DIM * DIM] / radius;
#endif
    }
    for (int q = 0; q < COUNT; ++q)
      for (int t = 0; t < DIM; ++t)
      {
        const batch(*line)[DIM] = (const batch(*)[DIM])flux[t] + LINE(q, t);
        for (int m = 0; m < SIDE; ++m)
          for (int i = 0; i < DIM; ++i) f[q][i] += SLOPES[m][ALONG(q, t)] * line[m * STRIDE(t)][i];
      }
#if !COLLOCATED
    for (int t = 0; t < DIM; ++t) change_basis(f, t, 1);
#endif
    for (int a = 0; a < COUNT; ++a) scatter(forces, cells + a * LANES, f[a]);
  }
  double sum = 0.0;
  for (int l = 0; l < LANES; ++l) sum += energy[l];
  return sum;
}

/* Internal forces of intervals, quadrilaterals and hexahedra by sum factorisation.

Given before: DIM, FIELDS, LINEAR, HOOP, STRAINS as in simplex.c, MEAN_DILATATION (1 where the law takes the volume
ratio of the cell as its last input), SIDE (points and nodes along a direction),
COUNT = SIDE^DIM, COLLOCATED (1 where points are nodes), WEIGHTS[COUNT], PLACES[SIDE] (points along a direction),
SLOPES[SIDE][SIDE] (derivatives at points of the polynomials that are one at a point), VALUES[SIDE][SIDE] (nodal
shape functions at points), and the law. Nodes and points are in the order of their places, those along the last
direction together. */

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
  batch shortest = spread(INFINITY), rest = spread(0.0);
  for (int S = 1; S < 1 << DIM; ++S)
  {
    batch square = spread(0.0);
    for (int i = 0; i < DIM; ++i) square += c[S][i] * c[S][i];
    if ((S & (S - 1)) == 0) shortest = chosen((mask)(square < shortest), square, shortest);
    else rest += square;
  }
  return !any((mask)(rest > ROUNDING * ROUNDING * shortest));
}

#if HOOP
static inline batch radius_at(const batch c[1 << DIM][DIM], int q)
{
  batch radius = spread(0.0);
  for (int S = 0; S < 1 << DIM; ++S)
  {
    double product = 1.0;
    for (int s = 0; s < DIM; ++s) product *= S >> s & 1 ? PLACES[ALONG(q, s)] : 1.0;
    radius += product * c[S][0];
  }
  return radius;
}
#endif

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

/* Nodal values of a field, as differences from the first node but for bodies of revolution: the force of a
   translation is zero. At points, where these are not the nodes. */
static inline void values_at_points(const double *nodes, const double *changes, int field, const int32_t *cells,
                                    batch u[COUNT][DIM])
{
  for (int a = 0; a < COUNT; ++a)
  {
    values_of(nodes, changes, field, cells + a * LANES, u[a]);
    for (int i = 0; i < DIM && a > 0 && !HOOP; ++i) u[a][i] -= u[0][i];
  }
  for (int i = 0; i < DIM && !HOOP; ++i) u[0][i] = spread(0.0);
#if !COLLOCATED
  for (int t = 0; t < DIM; ++t) change_basis(u, t, 0);
#endif
}

/* Gradient of a field at point q in the reference cell. */
static inline void slopes(const batch u[COUNT][DIM], int q, batch H[DIM][DIM])
{
  for (int t = 0; t < DIM; ++t)
  {
    const batch(*line)[DIM] = u + LINE(q, t);
    const double *slope = SLOPES[ALONG(q, t)];
    for (int i = 0; i < DIM; ++i)
    {
      H[i][t] = slope[0] * line[0][i];
      for (int m = 1; m < SIDE; ++m) H[i][t] += slope[m] * line[m * STRIDE(t)][i];
    }
  }
}

/* Inputs of the law at point q, and the radius there; returns the volume of the point. Where cells are affine K and
   the volume per weight are those of the first point. */
INLINED batch strains_at(const batch c[1 << DIM][DIM], batch size, const batch u[FIELDS][COUNT][DIM], int q,
                         const int affine, batch K[DIM][DIM], batch *volume, batch *x, batch *radius)
{
  batch J[DIM][DIM], H[DIM][DIM];
  if (q == 0 || !affine)
  {
    jacobian(c, q, J);
    *volume = size * absolute(inverse(J, K));
  }
  batch weight = *volume * WEIGHTS[q];
#if HOOP
  *radius = radius_at(c, q);
  weight *= TURN * *radius;
#endif
  for (int k = 0; k < FIELDS; ++k)
  {
    batch *F = x + k * (STRAINS + MEAN_DILATATION);
    slopes(u[k], q, H);
    deformation_gradient(H, K, k == 0 && !LINEAR, F);
#if HOOP
    F[DIM * DIM] = k == 0 && !LINEAR ? u[k][q][0] / *radius + 1.0 : u[k][q][0] / *radius;
#endif
  }
  return weight;
}

/* The flux P K^T of a point with its volume, its hoop force in f. */
INLINED void flux_of(const batch *P, const batch K[DIM][DIM], batch weight, batch radius, int q,
                     batch flux[DIM][COUNT][DIM], batch f[COUNT][DIM])
{
  for (int t = 0; t < DIM; ++t)
    for (int i = 0; i < DIM; ++i) flux[t][q][i] = weight * reference_stress(P, K, i, t);
  for (int i = 0; i < DIM; ++i) f[q][i] = spread(0.0);
#if HOOP
  f[q][0] = weight * P[DIM * DIM] / radius;
#endif
}

#if !MEAN_DILATATION
/* Fluxes and hoop forces of all points; adds to the energies. */
INLINED void at_points(const batch c[1 << DIM][DIM], batch size, const batch u[FIELDS][COUNT][DIM],
                       const double *p, states of_body, ptrdiff_t first, batch flux[DIM][COUNT][DIM],
                       batch f[COUNT][DIM], batch *energy, const int affine)
{
  batch K[DIM][DIM], volume = spread(0.0);
#if COUNT <= 9
#pragma GCC unroll 9
#endif
  for (int q = 0; q < COUNT; ++q)
  {
    batch x[FIELDS * STRAINS], P[STRAINS], W[2], radius;
    const batch weight = strains_at(c, size, u, q, affine, K, &volume, x, &radius);
    stress_at(x, p, of_body, first + q, P, W);
    for (int k = 0; k < 1 + (STATE > 0); ++k) energy[k] += weight * W[k];
    flux_of(P, K, weight, radius, q, flux, f);
  }
}
#else
/* The same where the volume ratio of the cell, the mean over its points, is an input of the law at all of them. The
   mean of the law's derivatives with respect to it is a pressure on the volume at each point. */
INLINED void at_points(const batch c[1 << DIM][DIM], batch size, const batch u[FIELDS][COUNT][DIM],
                       const double *p, states of_body, ptrdiff_t first, batch flux[DIM][COUNT][DIM],
                       batch f[COUNT][DIM], batch *energy, const int affine)
{
  batch x[COUNT][FIELDS * (STRAINS + 1)], P[COUNT][STRAINS + 2], K[COUNT][DIM][DIM];
  batch C[COUNT][FIELDS * STRAINS], weight[COUNT], radius[COUNT];
  const batch none = spread(0.0);
  batch mean[2] = {none, none}, pressures[2] = {none, none}, whole = none, volume = none;
  for (int q = 0; q < COUNT; ++q)
  {
    batch ratio[FIELDS];
    weight[q] = strains_at(c, size, u, q, affine, K[affine ? 0 : q], &volume, x[q], radius + q);
    volume_ratio(x[q], p, C[q], ratio);
    whole += weight[q];
    for (int k = 0; k < FIELDS; ++k) mean[k] += weight[q] * ratio[k];
  }
  const mask there = (mask)(whole > 0.0); /* not in lanes without a cell */
  const batch share = chosen(there, 1.0 / whole, none);
  for (int k = 0; k < FIELDS; ++k) mean[k] *= share;
  if (!LINEAR) mean[0] = chosen(there, mean[0], spread(1.0));
  for (int q = 0; q < COUNT; ++q)
  {
    batch W[2];
    for (int k = 0; k < FIELDS; ++k) x[q][k * (STRAINS + 1) + STRAINS] = mean[k];
    stress_at(x[q], p, of_body, first + q, P[q], W);
    for (int k = 0; k < 1 + (STATE > 0); ++k) energy[k] += weight[q] * W[k];
    for (int k = 0; k < FIELDS; ++k) pressures[k] += weight[q] * P[q][STRAINS + k];
  }
  for (int k = 0; k < FIELDS; ++k) pressures[k] *= share;
  for (int q = 0; q < COUNT; ++q)
  {
    add_pressure(pressures, C[q], P[q]);
    flux_of(P[q], K[affine ? 0 : q], weight[q], radius[q], q, flux, f);
  }
}
#endif

static inline void add_divergence(const batch flux[DIM][COUNT][DIM], batch f[COUNT][DIM])
{
#if COUNT <= 9
#pragma GCC unroll 9
#endif
  for (int q = 0; q < COUNT; ++q)
    for (int t = 0; t < DIM; ++t)
    {
      const batch(*line)[DIM] = flux[t] + LINE(q, t);
      for (int m = 0; m < SIDE; ++m)
        for (int i = 0; i < DIM; ++i) f[q][i] += SLOPES[m][ALONG(q, t)] * line[m * STRIDE(t)][i];
    }
}

static inline double cells_of(ptrdiff_t count, const int32_t *restrict cells, const double *restrict nodes,
                              const double *restrict changes, double *restrict forces,
                              const double *restrict p, double thickness, batch tail, states of_body,
                              double *dissipated)
{
  batch energy[2] = {spread(0.0), spread(0.0)};
  for (ptrdiff_t b = 0; b < count; ++b, cells += COUNT * LANES)
  {
    batch c[1 << DIM][DIM], u[FIELDS][COUNT][DIM], flux[DIM][COUNT][DIM], f[COUNT][DIM];
    const batch size = (b + 1 < count ? spread(1.0) : tail) * thickness;
    for (int k = 0; k < FIELDS; ++k) values_at_points(nodes, changes, k, cells, u[k]);
    if (geometry(nodes, cells, c)) at_points(c, size, u, p, of_body, b * COUNT, flux, f, energy, 1);
    else at_points(c, size, u, p, of_body, b * COUNT, flux, f, energy, 0);
    add_divergence(flux, f);
#if !COLLOCATED
    for (int t = 0; t < DIM; ++t) change_basis(f, t, 1);
#endif
    for (int a = 0; a < COUNT; ++a) scatter(forces, cells + a * LANES, f[a]);
  }
  *dissipated = sum_of_lanes(energy[1]);
  return sum_of_lanes(energy[0]);
}

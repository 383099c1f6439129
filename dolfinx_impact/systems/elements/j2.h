/* J2 plasticity with Hencky's elastic energy: Simo, Comput. Methods Appl. Mech. Engrg. 99 (1992), 61-112.

Given before: FIELDS, STRAINS, MEAN_DILATATION and HOOP as in simplex.c, and the function yield_stress. The state of a
point is G = C_p^-1, the equivalent plastic strain, the yield stress, and the plastic work per reference volume. The
first parameter is the shear modulus, the others are those of yield_stress. Another function adds the pressure. */
#define ROOT 0.81649658092772603 /* sqrt(2/3) */
enum { STRAIN = 6, YIELD = 7, PLASTIC_WORK = 8 };

/* The 3x3 tensor of the entries that vary, with `rest` on the remaining diagonal. */
static inline void embedded(const batch *x, double rest, batch F[3][3])
{
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) F[i][j] = i < DIM && j < DIM ? x[i * DIM + j] : spread(i == j ? rest : 0.0);
#if HOOP
  F[2][2] = x[DIM * DIM];
#endif
}

static inline void inverse_of(const batch F[3][3], batch K[3][3])
{
  const batch a = F[1][1] * F[2][2] - F[1][2] * F[2][1], b = F[1][2] * F[2][0] - F[1][0] * F[2][2];
  const batch c = F[1][0] * F[2][1] - F[1][1] * F[2][0];
  const batch one = 1.0 / (F[0][0] * a + F[0][1] * b + F[0][2] * c);
  K[0][0] = one * a, K[1][0] = one * b, K[2][0] = one * c;
  K[0][1] = one * (F[0][2] * F[2][1] - F[0][1] * F[2][2]);
  K[1][1] = one * (F[0][0] * F[2][2] - F[0][2] * F[2][0]);
  K[2][1] = one * (F[0][1] * F[2][0] - F[0][0] * F[2][1]);
  K[0][2] = one * (F[0][1] * F[1][2] - F[0][2] * F[1][1]);
  K[1][2] = one * (F[0][2] * F[1][0] - F[0][0] * F[1][2]);
  K[2][2] = one * (F[0][0] * F[1][1] - F[0][1] * F[1][0]);
}

static inline void varying(const batch F[3][3], batch *x)
{
  for (int i = 0; i < DIM; ++i)
    for (int j = 0; j < DIM; ++j) x[i * DIM + j] = F[i][j];
#if HOOP
  x[DIM * DIM] = F[2][2];
#endif
}

/* The yield stress and its slopes, 0 where it would be negative. */
static inline batch flow_stress(batch strain, batch rate, batch work, const double *q, batch slope[2])
{
  const batch sigma = yield_stress(strain, rate, work, q, slope), zero = spread(0.0);
  const mask negative = (mask)(sigma < 0.0); /* not where it is no number */
  slope[0] = chosen(negative, zero, slope[0]), slope[1] = chosen(negative, zero, slope[1]);
  return chosen(negative, zero, sigma);
}

/* dg of |s_tr| - 2 mu dg - ROOT sigma_y(alpha + ROOT dg, ROOT dg / h) = 0 by Newton's method in a bracket, from
   sigma_y and its slopes at dg = 0 on; these are then those at dg. The slope may be infinite at alpha = 0. */
static inline batch multiplier(batch trial, double mu2, const batch *z, const double *q, double h, batch *sigma,
                               batch slope[2])
{
  const double per_time = h > 0.0 ? ROOT / h : 0.0;
  batch low = spread(0.0), high = trial * (1.0 / mu2), dg = low;
  for (int k = 0; k < 100; ++k)
  {
    const batch f = trial - mu2 * dg - ROOT * *sigma;
    if (!any((mask)(absolute(f) > 2e-15 * trial))) break;
    const mask below = (mask)(f > 0.0);
    low = chosen(below, dg, low), high = chosen(below, high, dg);
    const batch next = dg + f / (mu2 + ROOT * (ROOT * slope[0] + per_time * slope[1]));
    const batch middle = 0.5 * (low + high);
    if (!any((mask)(middle > low) & (mask)(middle < high))) break;
    dg = chosen((mask)(next > low) & (mask)(next < high), next, middle);
    *sigma = flow_stress(z[STRAIN] + ROOT * dg, per_time * dg, z[PLASTIC_WORK], q, slope);
  }
  return dg;
}

/* The isochoric stress, for tangents its change with G held; whether the state changes. */
static inline int isochoric(const batch *x, const double *p, const batch *z, double h, batch *y, batch *P, batch *W)
{
  batch F[3][3], K[3][3], FG[3][3], stress[3][3];
  const double mu2 = 2.0 * p[0];
  tensor G;
  embedded(x, 1.0, F);
  inverse_of(F, K);
  for (int k = 0; k < 6; ++k) G.of[k] = z[k];
  times(F, G, FG);
  const tensor b = symmetric(FG, F);
  tensor s = scaled(spread(0.5 * mu2), logarithm(b));
#if FIELDS == 2
  batch H[3][3], sKH[3][3], PH[3][3];
  embedded(x + STRAINS + MEAN_DILATATION, 0.0, H);
  const tensor ds = scaled(spread(0.5 * mu2), logarithm_change(b, transformed_change(F, H, G)));
  times_transposed(ds, K, stress);
  times_transposed(s, K, PH); /* d(s F^-T) = ds F^-T - s F^-T H^T F^-T */
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sKH[i][j] = PH[i][0] * H[j][0] + PH[i][1] * H[j][1] + PH[i][2] * H[j][2];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) stress[i][j] -= sKH[i][0] * K[j][0] + sKH[i][1] * K[j][1] + sKH[i][2] * K[j][2];
  varying(stress, P);
  W[0] = W[1] = spread(0.0);
  return 0;
#else
  batch square = inner(s, s), slope[2];
  batch sigma = flow_stress(z[STRAIN], spread(0.0), z[PLASTIC_WORK], p + 1, slope);
  const mask flows = ~(mask)(square <= 2.0 / 3 * sigma * sigma); /* so does what is no number */
  /* Where the rate or the heat of the last step raised the yield stress, this ends with the flow. */
  const int changed = h >= 0.0 && any(flows | (mask)(z[YIELD] > (1.0 + 1e-12) * sigma));
  W[1] = z[PLASTIC_WORK];
  if (changed)
  {
    const batch first = sigma, size = chosen(flows, batch_sqrt(square), ROOT * sigma);
    const batch dg = multiplier(size, mu2, z, p + 1, h, &sigma, slope);
    /* Where the yield stress is no number the stress is none. */
    const batch part = chosen(flows, chosen((mask)(sigma >= 0.0), dg / size, sigma), spread(0.0));
    batch EK[3][3];
    times_transposed(exponential(scaled(-2.0 * part, s)), K, EK);
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j)
        G.of[ENTRY[i][j]] = FG[0][i] * EK[0][j] + FG[1][i] * EK[1][j] + FG[2][i] * EK[2][j];
    G = scaled((4.0 - determinant(G)) * (1.0 / 3), G); /* det G = 1 but for rounding, which would add up */
    const batch kept = 1.0 - mu2 * part;
    s = scaled(kept, s), square *= kept * kept;
    for (int k = 0; k < 6; ++k) y[k] = chosen(flows, G.of[k], z[k]);
    y[STRAIN] = z[STRAIN] + ROOT * dg;
    y[YIELD] = chosen(flows, sigma, first);
    const batch before = chosen((mask)(z[YIELD] > first), z[YIELD], first); /* with the rate of the last step */
    y[PLASTIC_WORK] = W[1] + 0.5 * ROOT * dg * (before + sigma);
    W[1] = y[PLASTIC_WORK];
  }
  W[0] = square * (0.5 / mu2);
  times_transposed(s, K, stress);
  varying(stress, P);
  return changed;
#endif
}

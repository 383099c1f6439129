/* Symmetric 3x3 tensors in batches: entries 00, 11, 22, 01, 02, 12. Logarithm and exponential. */
typedef struct { batch of[6]; } tensor;
static const int ENTRY[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};

static inline tensor scaled(batch a, tensor A)
{
  for (int k = 0; k < 6; ++k) A.of[k] *= a;
  return A;
}

static inline tensor sum(tensor A, tensor B)
{
  for (int k = 0; k < 6; ++k) A.of[k] += B.of[k];
  return A;
}

/* A + a 1. */
static inline tensor shifted(tensor A, batch a)
{
  for (int k = 0; k < 3; ++k) A.of[k] += a;
  return A;
}

static inline batch trace(tensor A) { return A.of[0] + A.of[1] + A.of[2]; }

/* The entries 00, 11, 22, 01, 02, 12 of A B: all of it where the tensors commute. */
static inline tensor product(tensor A, tensor B)
{
  const batch *a = A.of, *b = B.of;
  return (tensor){{a[0] * b[0] + a[3] * b[3] + a[4] * b[4], a[3] * b[3] + a[1] * b[1] + a[5] * b[5],
                   a[4] * b[4] + a[5] * b[5] + a[2] * b[2], a[0] * b[3] + a[3] * b[1] + a[4] * b[5],
                   a[0] * b[4] + a[3] * b[5] + a[4] * b[2], a[3] * b[4] + a[1] * b[5] + a[5] * b[2]}};
}

static inline batch determinant(tensor A)
{
  const batch *a = A.of;
  return a[0] * (a[1] * a[2] - a[5] * a[5]) - a[3] * (a[3] * a[2] - a[5] * a[4]) +
         a[4] * (a[3] * a[5] - a[1] * a[4]);
}

static inline tensor inverted(tensor A)
{
  const batch *a = A.of, one = 1.0 / determinant(A);
  return (tensor){{one * (a[1] * a[2] - a[5] * a[5]), one * (a[0] * a[2] - a[4] * a[4]),
                   one * (a[0] * a[1] - a[3] * a[3]), one * (a[4] * a[5] - a[3] * a[2]),
                   one * (a[3] * a[5] - a[4] * a[1]), one * (a[3] * a[4] - a[0] * a[5])}};
}

/* F A. */
static inline void times(const batch F[3][3], tensor A, batch FA[3][3])
{
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      FA[i][j] = F[i][0] * A.of[ENTRY[0][j]] + F[i][1] * A.of[ENTRY[1][j]] + F[i][2] * A.of[ENTRY[2][j]];
}

/* A F^T. */
static inline void times_transposed(tensor A, const batch F[3][3], batch AF[3][3])
{
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      AF[i][j] = A.of[ENTRY[i][0]] * F[j][0] + A.of[ENTRY[i][1]] * F[j][1] + A.of[ENTRY[i][2]] * F[j][2];
}

/* A B^T where it is symmetric. */
static inline tensor symmetric(const batch A[3][3], const batch B[3][3])
{
  tensor C;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j)
      C.of[ENTRY[i][j]] = A[i][0] * B[j][0] + A[i][1] * B[j][1] + A[i][2] * B[j][2];
  return C;
}

/* F A F^T. */
static inline tensor transformed(const batch F[3][3], tensor A)
{
  batch FA[3][3];
  times(F, A, FA);
  return symmetric(FA, F);
}

/* H A F^T + F A H^T, the change of F A F^T with F. */
static inline tensor transformed_change(const batch F[3][3], const batch H[3][3], tensor A)
{
  batch FA[3][3], HA[3][3];
  times(F, A, FA);
  times(H, A, HA);
  tensor B;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j)
    {
      batch sum = HA[i][0] * F[j][0] + FA[i][0] * H[j][0];
      for (int k = 1; k < 3; ++k) sum += HA[i][k] * F[j][k] + FA[i][k] * H[j][k];
      B.of[ENTRY[i][j]] = sum;
    }
  return B;
}

/* Power series a[0] + a[1] E + ... + a[n] E^n of a tensor without trace as S[0] + S[1] E + S[2] E^2, by
   E^3 = J2 E + J3 (Cayley and Hamilton), J2 = tr E^2 / 2, J3 = det E. */
static inline void series(batch J2, batch J3, const double *a, int n, batch S[3])
{
  S[0] = spread(a[n]), S[1] = S[2] = spread(0.0);
  for (int k = n - 1; k >= 0; --k)
  {
    const batch constant = S[2] * J3 + a[k], linear = S[0] + S[2] * J2;
    S[2] = S[1], S[1] = linear, S[0] = constant;
  }
}

/* Power up to which a series reaches rounding in all lanes, by the largest squared norms for 1, 2, ... */
static inline int terms(batch square, const double *largest)
{
  int k = 0;
  while (any((mask)(square > largest[k]))) ++k;
  return k + 1;
}

/* Whether all lanes are within a limit; what is no number is not. */
static inline int all_below(batch square, double limit) { return !any(~(mask)(square < limit)); }

/* ln(1 + E) and exp(E): coefficients, and these squared norms. */
static const double LOGARITHM[] = {
  0, 1.0 / 1, -1.0 / 2, 1.0 / 3, -1.0 / 4, 1.0 / 5, -1.0 / 6, 1.0 / 7, -1.0 / 8, 1.0 / 9, -1.0 / 10, 1.0 / 11,
  -1.0 / 12, 1.0 / 13, -1.0 / 14, 1.0 / 15, -1.0 / 16, 1.0 / 17, -1.0 / 18, 1.0 / 19, -1.0 / 20};
static const double EXPONENTIAL[] = {
  1, 1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 /
  3628800, 1.0 / 39916800, 1.0 / 479001600};
static const double OF_LOGARITHM[] = {
  1e-32, 1.5e-16, 3.4e-11, 1.6e-08, 6.2e-07, 7e-06, 4e-05, 0.00015, 0.0004, 0.00089, 0.0017, 0.0029, 0.0047,
  0.0069, 0.0097, 0.013, 0.017, 0.021, 0.026, 0.032, INFINITY};
static const double OF_EXPONENTIAL[] = {
  1e-16, 4.5e-11, 3.5e-08, 2e-06, 3.3e-05, 0.00025, 0.0012, 0.0041, 0.011, 0.026, 0.054, 0.1, INFINITY};
#define MOST_LOGARITHM 0.032
#define MOST_EXPONENTIAL 0.1

/* Eigenvalues and eigenvectors V[.][k] by Jacobi's rotations in a fixed order. */
static void eigen(tensor A, batch values[3], batch V[3][3])
{
  batch a[3][3] = {{A.of[0], A.of[3], A.of[4]}, {A.of[3], A.of[1], A.of[5]}, {A.of[4], A.of[5], A.of[2]}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) V[i][j] = spread(i == j);
  for (int sweep = 0; sweep < 6; ++sweep)
    for (int k = 0; k < 3; ++k)
    {
      const int i = k == 2, j = k == 0 ? 1 : 2, r = 3 - i - j;
      const batch d = a[j][j] - a[i][i], twice = 2.0 * a[i][j];
      const batch root = batch_sqrt(d * d + twice * twice) + spread(0x1p-1000);
      const batch t = chosen((mask)(d < 0.0), -twice, twice) / (batch_fabs(d) + root);
      const batch c = 1.0 / batch_sqrt(1.0 + t * t), s = t * c, change = t * a[i][j];
      a[i][i] -= change, a[j][j] += change, a[i][j] = a[j][i] = spread(0.0);
      const batch ri = a[r][i], rj = a[r][j];
      a[r][i] = a[i][r] = c * ri - s * rj;
      a[r][j] = a[j][r] = s * ri + c * rj;
      for (int m = 0; m < 3; ++m)
      {
        const batch vi = V[m][i], vj = V[m][j];
        V[m][i] = c * vi - s * vj, V[m][j] = s * vi + c * vj;
      }
    }
  for (int k = 0; k < 3; ++k) values[k] = a[k][k];
}

static inline tensor composed(const batch values[3], const batch V[3][3])
{
  tensor A;
  const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 6; ++k)
  {
    A.of[k] = spread(0.0);
    for (int m = 0; m < 3; ++m) A.of[k] += values[m] * V[row[k]][m] * V[column[k]][m];
  }
  return A;
}

static inline tensor deviator(tensor A) { return shifted(A, trace(A) * (-1.0 / 3)); }

/* The deviator of ln A: with the mean m of the eigenvalues the series of A/m = 1 + E, where these are close to each
   other, or with eigenvectors. */
static inline tensor logarithm(tensor A)
{
  const tensor E = shifted(scaled(3.0 / trace(A), A), spread(-1.0)), E2 = product(E, E);
  const batch square = trace(E2);
  if (!all_below(square, MOST_LOGARITHM))
  {
    batch values[3], V[3][3];
    eigen(A, values, V);
    for (int k = 0; k < 3; ++k) values[k] = batch_log(values[k]);
    return deviator(composed(values, V));
  }
  batch S[3];
  series(0.5 * square, determinant(E), LOGARITHM, terms(square, OF_LOGARITHM), S);
  return sum(scaled(S[1], E), scaled(S[2], shifted(E2, square * (-1.0 / 3))));
}

/* (ln a - ln b) / (a - b), also where a and b are close. */
static inline batch log_slope(batch a, batch b)
{
  const batch r = (a - b) / (a + b), r2 = r * r;
  const mask near = (mask)(r2 < 1e-4);
  const batch apart = chosen(near, spread(1.0), a - b);
  const batch series = 1.0 + r2 * (1.0 / 3 + r2 * (1.0 / 5 + r2 * (1.0 / 7 + r2 / 9)));
  return chosen(near, 2.0 * series / (a + b), (batch_log(a) - batch_log(b)) / apart);
}

/* Change of ln A along B with the eigenvectors of A. */
static tensor logarithm_change_far(tensor A, tensor B)
{
  batch values[3], V[3][3], T[3][3];
  eigen(A, values, V);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) T[j][i] = V[i][j];
  tensor C = transformed(T, B);
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) C.of[ENTRY[i][j]] *= log_slope(values[i], values[j]);
  return transformed(V, C);
}

/* exp A of a tensor without trace. */
static inline tensor exponential(tensor A)
{
  const tensor A2 = product(A, A);
  const batch square = trace(A2);
  if (!all_below(square, MOST_EXPONENTIAL))
  {
    batch values[3], V[3][3];
    eigen(A, values, V);
    for (int k = 0; k < 3; ++k) values[k] = batch_exp(values[k]);
    return composed(values, V);
  }
  batch S[3];
  series(0.5 * square, determinant(A), EXPONENTIAL, terms(square, OF_EXPONENTIAL), S);
  return shifted(sum(scaled(S[1], A), scaled(S[2], A2)), S[0]);
}

/* Sum of the products of the entries. */
static inline batch inner(tensor A, tensor B)
{
  const batch *a = A.of, *b = B.of;
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + 2.0 * (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

/* Change of the deviator of ln A with A along B: that of the series, or with eigenvectors (Daleckii and Krein). */
static inline tensor logarithm_change(tensor A, tensor B)
{
  const batch one = 3.0 / trace(A), third = spread(1.0 / 3);
  const tensor E = shifted(scaled(one, A), spread(-1.0)), E2 = product(E, E);
  const tensor dE = scaled(one, sum(B, scaled(-third * one * trace(B), A)));
  const batch square = trace(E2), J2 = 0.5 * square, J3 = determinant(E);
  if (!all_below(square, MOST_LOGARITHM)) return deviator(logarithm_change_far(A, B));
  const batch dJ2 = inner(E, dE), dJ3 = inner(E2, dE), none = spread(0.0);
  const int n = terms(square, OF_LOGARITHM);
  batch S[3] = {spread(LOGARITHM[n]), none, none}, dS[3] = {none, none, none};
  for (int k = n - 1; k >= 0; --k) /* as series(), and its change */
  {
    const batch dconstant = dS[2] * J3 + S[2] * dJ3, dlinear = dS[0] + dS[2] * J2 + S[2] * dJ2;
    const batch constant = S[2] * J3 + LOGARITHM[k], linear = S[0] + S[2] * J2;
    dS[2] = dS[1], dS[1] = dlinear, dS[0] = dconstant;
    S[2] = S[1], S[1] = linear, S[0] = constant;
  }
  const tensor dE2 = sum(product(E, dE), product(dE, E));
  const tensor first = sum(scaled(dS[1], E), scaled(S[1], dE));
  return sum(first, deviator(sum(scaled(dS[2], E2), scaled(S[2], dE2))));
}

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

static inline batch square_norm(tensor A)
{
  return A.of[0] * A.of[0] + A.of[1] * A.of[1] + A.of[2] * A.of[2] +
         2.0 * (A.of[3] * A.of[3] + A.of[4] * A.of[4] + A.of[5] * A.of[5]);
}

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

/* F A F^T. */
static inline tensor transformed(const batch F[3][3], tensor A)
{
  batch FA[3][3];
  times(F, A, FA);
  tensor B;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j)
      B.of[ENTRY[i][j]] = FA[i][0] * F[j][0] + FA[i][1] * F[j][1] + FA[i][2] * F[j][2];
  return B;
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

static inline double largest_lane(batch x)
{
  double most = x[0];
  for (int l = 1; l < LANES; ++l) most = x[l] > most || x[l] != x[l] ? x[l] : most;
  return most;
}

/* Terms of a series in z that reach rounding: of a geometric one, or of the exponential. */
static inline int terms(double z, int of_exponential)
{
  int k = 1;
  for (double term = z; term > 1e-17; ++k) term *= of_exponential ? z / (k + 1) : z;
  return k;
}

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

/* ln A, for eigenvalues near one as 2 artanh((A - 1)(A + 1)^-1), which needs no eigenvectors. */
static inline tensor logarithm(tensor A)
{
  const tensor X = product(shifted(A, spread(-1.0)), inverted(shifted(A, spread(1.0))));
  const double z = largest_lane(square_norm(X));
  if (!(z < 0.04))
  {
    batch values[3], V[3][3];
    eigen(A, values, V);
    for (int k = 0; k < 3; ++k) values[k] = batch_log(values[k]);
    return composed(values, V);
  }
  const tensor Y = product(X, X);
  const int count = terms(z, 0);
  tensor S = shifted((tensor){{{0.0}}}, spread(2.0 / (2 * count + 1)));
  for (int k = count - 1; k >= 0; --k) S = shifted(product(Y, S), spread(2.0 / (2 * k + 1)));
  return product(X, S);
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

/* exp A. */
static inline tensor exponential(tensor A)
{
  const double z = sqrt(largest_lane(square_norm(A)));
  if (!(z < 0.5))
  {
    batch values[3], V[3][3];
    eigen(A, values, V);
    for (int k = 0; k < 3; ++k) values[k] = batch_exp(values[k]);
    return composed(values, V);
  }
  const int count = terms(z, 1);
  tensor S = shifted((tensor){{{0.0}}}, spread(1.0));
  for (int k = count; k >= 1; --k) S = shifted(scaled(spread(1.0 / k), product(A, S)), spread(1.0));
  return S;
}

/* Change of ln A with A along B, by the same series or with the eigenvectors (Daleckii and Krein). */
static inline tensor logarithm_change(tensor A, tensor B)
{
  const tensor inverse_sum = inverted(shifted(A, spread(1.0)));
  const tensor X = product(shifted(A, spread(-1.0)), inverse_sum);
  const double z = largest_lane(square_norm(X));
  if (!(z < 0.04)) return logarithm_change_far(A, B);
  batch inverse[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) inverse[i][j] = inverse_sum.of[ENTRY[i][j]];
  const tensor dX = scaled(spread(2.0), transformed(inverse, B));
  const tensor Y = product(X, X), dY = sum(product(X, dX), product(dX, X));
  const int count = terms(z, 0);
  tensor S = shifted((tensor){{{0.0}}}, spread(2.0 / (2 * count + 1))), dS = (tensor){{{0.0}}};
  for (int k = count - 1; k >= 0; --k)
  {
    dS = sum(product(dY, S), product(Y, dS));
    S = shifted(product(Y, S), spread(2.0 / (2 * k + 1)));
  }
  return sum(product(dX, S), product(X, dS));
}

/* The states of points in batches. Two of each are stored: `sides` tells the one that is kept; the other one is new
   where the state has changed. */
typedef struct { batch *of[2]; const uint8_t *sides; uint8_t *changed; double h; } states;

/* The law at a point, by its number in the body. */
INLINED void stress_at(const batch *x, const double *p, states of_body, ptrdiff_t point, batch *P, batch *W)
{
#if STATE
  const int side = of_body.sides[point];
  batch *old = of_body.of[side] + STATE * point, *new = of_body.of[!side] + STATE * point;
  const int changed = law(x, p, old, of_body.h, new, P, W);
  if (FIELDS == 1) of_body.changed[point] = changed;
#else
  law(x, p, NULL, 0.0, NULL, P, W);
#endif
}

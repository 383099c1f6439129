/* What the functions of messages.c read and write; messages.py and transfer.py say what is in it. */
typedef struct {
  int (*start)(int, void *), (*wait)(int, void *, void *);
  int count;
  void *requests, *statuses;
} messages;

typedef struct {
  const messages *between;
  ptrdiff_t width, gives, takes, own, own_given, own_taken;
  const int64_t *given_row, *taken_row;
  double *given, *taken;
} transfer;

typedef struct {
  const messages *between;
  ptrdiff_t nodes, rows, before;
  const int64_t *node;
  double *told, *heard, *sums;
} shared_sums;

typedef struct {
  ptrdiff_t rounds, width, rank, ranks;
  const messages *const *round;
  double *turned, *all;
} gathering;

int carry(const transfer *t, const double *values, ptrdiff_t length, double *out, ptrdiff_t out_length);
int carry_sums(const transfer *t, const double *values, const double *factors, ptrdiff_t length, double *out,
               ptrdiff_t out_length);
int add_shared(const shared_sums *s, double *values);
int gather(const gathering *g, const double *own);

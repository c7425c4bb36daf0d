// Points one at a time, in rows of features or of K: what their loops take, and one table of them for each level.
#pragma once
#include <cstdint>

// Rows of features, dense or by their entries (CSR): numbers of either precision, places of either width.
struct AnyRows {
  const void *value, *begin = nullptr, *column = nullptr;
  int64_t width;
  bool sparse, single, wide = false;
};

// What a loss says of one point, in one line of cache: h(s) = r/2 s^2 - q s + eps |s| on [lo, hi], and a = K_ii + r. The
// logistic loss has r = LOGISTIC, and its label as q.
struct Term {
  double q, r, eps, lo, hi, a, unused[2];
};
constexpr double LOGISTIC = -1.0;

// Where coordinate descent stands. `image` is w = sum beta_i z_i, or K beta, where rows are those of K.
struct DescentState {
  const Term *terms;
  double *beta, *image;
  int64_t *order, size;
  double constant, total, shift, margin;  // scores are those of the image + shift + constant total; total = sum beta
};
struct PassLimits {
  double most, least, enough, part;
};

// Where stochastic steps stand: beta = scale u, and what is added up on the way (see stochastic.hpp).
struct StochasticState {
  int64_t n, width;
  double *u, *late, *sums, *slopes, *visits, *image;
  double scale, passed, steps, bias, total, constant, bias_rate;
};

// Perceptrons that learn side by side, each with labels of its own: machines x points.
struct Learners {
  int64_t machines, points, shown;  // points: the length of a row of Y; shown: that of `made` and `scores`
  const double *Y;
  const bool *active;
  bool *made;
  double *scores;
};

struct FeatureLoops {
  bool (*within)(const AnyRows &, int64_t start, int64_t stop);
  void (*dots)(const AnyRows &, const double *w, double *out, int64_t start, int64_t stop);
  void (*combine)(const AnyRows &, const double *v, double *out, int64_t start, int64_t stop);
  void (*weighted)(const AnyRows &, const double *w, double shift, const double *rate, double *s, double *out, int64_t start, int64_t stop);
  void (*squares)(const AnyRows &, double *out, int64_t start, int64_t stop);
  double (*descend)(const AnyRows &, DescentState &);
  double (*descend_passes)(const AnyRows &, DescentState &, uint64_t *word, const PassLimits &);
  double (*descend_kernel)(const AnyRows &, DescentState &);
  double (*in_play)(DescentState &, const double *f, int64_t n);
  void (*shuffle)(int64_t *order, int64_t size, uint64_t *word);
  void (*draw)(int64_t *order, int64_t size, uint64_t *word);
  void (*draws)(const AnyRows &, const Term *, const int64_t *order, const double *steps, int64_t count, StochasticState &);
  void (*draws_kernel)(const AnyRows &, const Term *, const int64_t *order, const double *steps, int64_t count, StochasticState &);
  void (*losses_and_conjugates)(const double *f, const Term *, const double *beta, int64_t n, double *losses, double *conjugates);
  double (*approach)(double *beta, double *scores, double b, const double *target, const double *target_scores, const Term *, int64_t n, bool free_bias);
  void (*learn)(const AnyRows &, const int64_t *rows, double *W, double *b, double eta, double bias, const Learners &);
  int64_t (*learn_block)(const AnyRows &K, double bias, double *F, bool *fresh, int64_t start, int64_t *room, const Learners &);
  void (*cast_votes)(const AnyRows &K, double bias, const int64_t *points, const double *signs, const double *votes, int64_t count, double *out, int64_t n);
};

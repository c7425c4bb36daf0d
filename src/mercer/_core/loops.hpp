// The native functions, as one table for each level. What a loop takes was checked by the bindings.
#pragma once
#include <cstdint>
#include "features.hpp"
#include "proximal.hpp"

constexpr int GROUP = 8;   // rows packed together
constexpr int PANEL = 48;  // columns packed together, in float32; half as many in float64
constexpr int SPAN = 28;   // coordinates summed up in a row (31 at most, for counts of bits by bytes)
constexpr int64_t SUMMED = 64;  // columns that are summed up at a time as if with twice the digits: their rows stay in cache
constexpr int CHUNK = 64;  // the length of the arrays of `pair_descent` is a multiple of this

// What is summed up over the coordinates of two points, and what is made of the sum s. `counts` are of bits that differ.
enum class Way : int { products, squares, distances, minima, chi2, chi2_distances, counts };
enum class Map : int { none, power, exponential, matern12, matern32, matern52 };

// none: s. power: (factor s + offset)^exponent. exponential: 2^(factor s + the levels of both points), at most 1.
// Matern: of u = factor sqrt(s).
struct Form {
  Way way;
  Map map;
  double factor = 1.0, offset = 0.0;
  int64_t exponent = 1;
};

// Points packed by coordinates: values[i / size][k][i % size], padded with zeros to whole groups or panels.
template <class Real> struct Packed {
  const Real *values, *levels;
  int64_t count, d;
};

// The arrays of a working set, all of one length, and by how much the rows of K are apart.
template <class Real> struct WorkingSet {
  int64_t n, stride;
  const Real *K, *diag;
  Real *F;
  double *beta;
  const double *lo, *hi, *eps;
};

template <class Real> struct LoopsOf {
  void (*fill)(Packed<Real>, Packed<Real>, const Form &, const int64_t *slots, Real *out, int64_t stride);
  void (*square)(Packed<Real>, Packed<Real>, const Form &, Real *out, int64_t stride);
  void (*add)(Packed<Real>, Packed<Real>, const Form &, const double *V, int64_t many, double *out, int64_t stride);
  void (*add_both)(Packed<Real>, Packed<Real>, const Form &, const double *v, const double *w, double *below, double *above);
  void (*finish_rows)(const Form &, const Real *own, const Real *levels, const int64_t *slots, int64_t count, Real *rows, int64_t stride, int64_t n);
  void (*add_rows)(const Real *rows, int64_t stride, const int64_t *slots, const double *v, int64_t count, int64_t n, double *out);
  void (*mirror)(Real *K, int64_t stride, int64_t first, int64_t last);
  int64_t (*pair_descent)(const WorkingSet<Real> &, double tol, int64_t most, double *violation);
  bool (*factor)(Real *H, int64_t n);
  void (*substitute)(const Real *H, int64_t n, Real *B, int64_t m);
};

constexpr int64_t BALLOT = PANEL / 2;  // points whose votes are counted at a time: a panel of float64 numbers

// What has been counted, class by class: the scores of each pair as far as they are known; of each class its votes, and the
// sums of the scores of pairs that it comes first in, and second.
struct Ballots {
  int64_t k;
  bool ties;
  const double *biases;
  double *scores, *won, *plus, *minus;
};

struct Loops {
  const char *name;
  LoopsOf<float> single;
  LoopsOf<double> precise;
  void (*vote)(const Ballots &, int64_t c, const double *sums, int64_t stride);
  void (*sum_panel)(const double *panel, const int64_t *slots, const double *v, int64_t count, double *out);
  Proxied (*proximal_point)(const Proximal &, const double *f, double *beta, double *rate, double *slack);
  double (*proximal_slope)(const Proximal &, const double *f, const double *df, double step);
  void (*carry)(const double *s, const double *rate, const double *near, const CarriedStep &, int64_t n, double *direction, double *residual, double *f);
  void (*logistic)(const double *margin, int64_t n, double *loss, double *other, double *curvature);
  Bends (*logistic_bends)(const double *y, const double *C, const double *f, const double *df, double part, int64_t n);
  void (*entropies)(const double *p, int64_t n, double *out);
  void (*squares_single)(const float *X, int64_t d, const int64_t *rows, int64_t count, const double *weight, double *out, double *ones);
  void (*squares_mixed)(const float *X, int64_t d, const int64_t *rows, int64_t count, const double *weight, double *out, double *ones);
  void (*squares_precise)(const double *X, int64_t d, const int64_t *rows, int64_t count, const double *weight, double *out, double *ones);
  void (*add_symmetric)(const double *K, int64_t n, const double *V, int64_t width, double *out, int64_t start, int64_t stop);
  FeatureLoops features;
};

// Pair descent (SMO) on a working set:
//
//     minimise  1/2 b'K b - F'b + sum eps_t |beta_t + b_t|    lo <= beta + b <= hi,  sum b = 0
//
// in steps that raise one coefficient and lower another by as much. A point may rise where beta < hi, with the gain
// F - eps (F + eps below zero), and sink where beta > lo. i rises with the largest gain; j sinks where the pair gains
// most by second order (Fan, Chen, Lin 2005). Of equals the first is taken: the same pair on every level.
//
// Two passes over the working set make a step: one updates F and finds i, the other finds j.
#pragma once
#include "loops.hpp"
#include "vectors.hpp"

namespace {

constexpr double FORBIDDEN = 1e30;         // is taken from the gain of what may not move
constexpr double LEAST_CURVATURE = 1e-12;  // in parts of the largest K_ii,
constexpr double TINY = 1e-25;             // or of this
constexpr int CHAINS = 4;                  // comparisons that do not wait for each other

// op over all lanes, by halves
template <class Real, int half = LANES<Real> / 2, class Op> inline Real across(vec<Real> x, Op op) {
  ivec<Real> other;
  for (int l = 0; l < LANES<Real>; l++) other[l] = l ^ half;
  x = op(x, __builtin_shuffle(x, other));
  if constexpr (half > 1) return across<Real, half / 2>(x, op);
  return x[0];
}
template <class Real> inline Real largest(vec<Real> x) { return across<Real>(x, [](auto a, auto b) { return larger(a, b); }); }
template <class Real> inline Real smallest(vec<Real> x) { return across<Real>(x, [](auto a, auto b) { return smaller(a, b); }); }

// The largest value seen in each lane, and where.
template <class Real> struct Best {
  vec<Real> value[CHAINS], at[CHAINS];
  explicit Best(Real least) {
    for (int c = 0; c < CHAINS; c++) value[c] = filled(least), at[c] = vec<Real>{};
  }
  void see(int c, vec<Real> x, Real t) {
    const auto better = x > value[c];
    at[c] = better ? filled(t) : at[c];
    value[c] = better ? x : value[c];
  }
  // The first place of the largest of all.
  int64_t first(Real &top) const {
    vec<Real> best = value[0], place = filled(Real(FORBIDDEN)), lanes;
    for (int l = 0; l < LANES<Real>; l++) lanes[l] = Real(l);
    for (int c = 1; c < CHAINS; c++) best = larger(best, value[c]);
    top = largest<Real>(best);
    for (int c = 0; c < CHAINS; c++) place = smaller(place, value[c] == filled(top) ? at[c] + lanes : filled(Real(FORBIDDEN)));
    return int64_t(smallest<Real>(place));
  }
};

// 1/x to a few parts in a thousand, which is enough for a choice: from the bits of x, and one step of Newton's.
inline vec<float> about_inverse(vec<float> x) {
  const vec<float> r = (vec<float>)(0x7EF311C7 - (ivec<float>)x);
  return r * (2.0f - x * r);
}
inline vec<double> about_inverse(vec<double> x) {
  const vec<double> r = (vec<double>)(0x7FDE623822FC16E6 - (ivec<double>)x);
  return r * (2.0 - x * r);
}

template <class Real> class PairDescent {
 public:
  explicit PairDescent(const WorkingSet<Real> &given) : set(given), up(given.n), down(given.n) {
    double size = TINY;
    for (int64_t t = 0; t < set.n; t++) {
      mark(t);
      size = larger(size, double(set.diag[t]));
    }
    scale = Real(1.0 / size);
    least = LEAST_CURVATURE * size;
  }

  int64_t run(double tol, int64_t most, double *violation) {
    int64_t i = 0, j = 0;
    Real step = 0;
    for (int64_t number = 0;; number++) {
      Real top, fall;
      i = rise(i, j, step, top, fall);
      *violation = double(top) + double(fall);
      if (*violation <= tol || number == most) return number;
      j = partner(i, top);
      if (j < 0) return number;
      step = Real(move(i, j, top));
    }
  }

 private:
  const WorkingSet<Real> &set;
  Zeros<Real> up, down;  // what is added to F_t for the gain of a rise, and to -F_t for that of a fall
  Real scale;                  // 1 / the largest K_ii
  double least;

  void mark(int64_t t) {
    const double beta = set.beta[t], eps = set.eps[t];
    up[t] = Real(beta >= set.hi[t] ? -FORBIDDEN : beta >= 0 ? -eps : eps);
    down[t] = Real(beta <= set.lo[t] ? -FORBIDDEN : beta > 0 ? eps : -eps);
  }

  // F -= step (K_i - K_j); who gains most by rising, how much (top), and the largest gain of a fall
  int64_t rise(int64_t i, int64_t j, Real step, Real &top, Real &fall) {
    constexpr int L = LANES<Real>;
    const Real *Ki = set.K + i * set.stride, *Kj = set.K + j * set.stride;
    Best<Real> best(Real(-4 * FORBIDDEN));
    vec<Real> falls[CHAINS];
    for (auto &x : falls) x = filled(Real(-4 * FORBIDDEN));
    for (int64_t t = 0; t < set.n; t += CHAINS * L)
#pragma GCC unroll 4
      for (int c = 0; c < CHAINS; c++) {
        const int64_t at = t + c * L;
        const vec<Real> f = (load(Ki + at) - load(Kj + at)) * -step + load(set.F + at);
        store(set.F + at, f);
        best.see(c, f + load<Real>(up.at(at)), Real(at));
        falls[c] = larger(load<Real>(down.at(at)) - f, falls[c]);
      }
    for (int c = 1; c < CHAINS; c++) falls[0] = larger(falls[0], falls[c]);
    fall = largest<Real>(falls[0]);
    return best.first(top);
  }

  // The j with which i gains most, or -1 where nobody gains; curvatures are in parts of the largest K_ii.
  int64_t partner(int64_t i, Real top) {
    constexpr int L = LANES<Real>;
    const Real *Ki = set.K + i * set.stride, own = set.diag[i] * scale;
    Best<Real> best(Real(0));
    for (int64_t t = 0; t < set.n; t += CHAINS * L)
#pragma GCC unroll 4
      for (int c = 0; c < CHAINS; c++) {
        const int64_t at = t + c * L;
        const vec<Real> violated = larger(load<Real>(down.at(at)) - load(set.F + at) + top, vec<Real>{});
        const vec<Real> curvature = larger(load(Ki + at) * (-2 * scale) + (load(set.diag + at) * scale + own), filled(Real(LEAST_CURVATURE)));
        best.see(c, violated * violated * about_inverse(curvature), Real(at));
      }
    Real gain;
    const int64_t j = best.first(gain);
    return gain > 0 ? j : -1;
  }

  // The step of the pair: no further than a bound, or than 0 where |beta| has a kink. A bound that is met is met exactly.
  double move(int64_t i, int64_t j, Real top) {
    double &rising = set.beta[i], &sinking = set.beta[j];
    const double end_i = rising < 0 && set.eps[i] > 0 ? 0.0 : set.hi[i], end_j = sinking > 0 && set.eps[j] > 0 ? 0.0 : set.lo[j];
    const double room_i = end_i - rising, room_j = sinking - end_j;
    const double curvature = larger(double(set.diag[i]) + double(set.diag[j]) - 2.0 * double(set.K[i * set.stride + j]), least);
    const double gain = double(top) + (double(down[j]) - double(set.F[j]));
    const double size = smaller(gain / curvature, smaller(room_i, room_j));
    rising = size == room_i ? end_i : rising + size;
    sinking = size == room_j ? end_j : sinking - size;
    mark(i), mark(j);
    const Real step = Real(size);
    set.F[i] -= step * (set.diag[i] - set.K[i * set.stride + i]);  // r, where there is one
    set.F[j] += step * (set.diag[j] - set.K[j * set.stride + j]);
    return size;
  }
};

template <class Real> int64_t pair_descent(const WorkingSet<Real> &set, double tol, int64_t most, double *violation) {
  return PairDescent<Real>(set).run(tol, most, violation);
}

}  // namespace

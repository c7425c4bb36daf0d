// A problem whose K is held: rounds of pair descent on all of its points, until the gap is a small part of the objective,
// and the violation small where that is wanted.
// The descent runs in the precision of K; between two rounds F is brought up to date in float64.
#pragma once
#include <limits>
#include <vector>

#include "loops.hpp"
#include "packing.hpp"
#include "points.hpp"

constexpr double INNER = 0.01;  // a round ends when its violation is this part of what it was
constexpr int MOST_ROUNDS = 50;

// How many of the padded places `pair_descent` has to look at for n points and a phantom: half as many float64 numbers fill
// its vectors as float32 ones.
template <class Real> inline int64_t reach(int64_t n) {
  constexpr int64_t chunk = CHUNK * 4 / int64_t(sizeof(Real));
  return (n / chunk + 1) * chunk;
}

struct Settled {
  bool done = false;
  int64_t steps = 0, free = 0;
  double dual, gap = 0, top = 0, bottom = 0;
  double travel = 0;  // the sum of all |beta - old|
};

// The arrays of `pair_descent`, padded with points that cannot move. Without a bias, the first of them is a phantom
// without bounds and with a zero row, which takes what the others give.
template <class Real> struct WholeSet {
  std::vector<Real> diag, F;
  std::vector<double> beta, lo, hi, eps;
  WholeSet(const Points &p, const Real *K, int64_t width, bool bias) : diag(width), F(width), beta(width), lo(width), hi(width), eps(width) {
    for (int64_t t = 0; t < p.n; t++) diag[t] = Real(p.r[t]) + K[t * width + t], beta[t] = p.beta[t], lo[t] = p.lo[t], hi[t] = p.hi[t], eps[t] = p.eps[t];
    if (!bias) lo[p.n] = -std::numeric_limits<double>::infinity(), hi[p.n] = -lo[p.n];
  }
};

// beta and F are changed in place; `dual` is the value at the start. Not done: more than `most` steps, or no headway.
template <class Real> Settled settle(const LoopsOf<Real> &loops, const Real *K, int64_t width, const Points &p, double *beta, double *F, bool bias, double dual, double goal, int64_t most, double violation_wanted = std::numeric_limits<double>::infinity()) {
  Settled s;
  s.dual = dual;
  auto measure = [&] {
    const Extremes e = extremes(p);
    s.top = bias || e.top > 0 ? e.top : 0, s.bottom = bias || e.bottom < 0 ? e.bottom : 0, s.free = e.free;
    s.gap = shares(p, bias ? 0.5 * (s.top + s.bottom) : 0);
    const double low = s.dual < 0 ? -s.dual : s.dual, primal = s.dual + s.gap, high = primal < 0 ? -primal : primal;
    s.done = s.gap <= goal * (low > high ? low : high) && s.top - s.bottom <= violation_wanted;
  };
  WholeSet<Real> set(p, K, width, bias);
  std::vector<double> delta;
  std::vector<int64_t> moved;
  measure();
  for (int round = 0; round < MOST_ROUNDS && !s.done && s.steps < most; round++) {
    const double before = s.top - s.bottom, middle = bias ? 0.5 * (s.top + s.bottom) : 0, tol = INNER * before;
    for (int64_t t = 0; t < p.n; t++) set.F[t] = Real(F[t] - middle);  // near zero where it matters
    double violation;
    s.steps += loops.pair_descent({reach<Real>(p.n), width, K, set.diag.data(), set.F.data(), set.beta.data(), set.lo.data(), set.hi.data(), set.eps.data()}, tol, most - s.steps, &violation);
    delta.clear(), moved.clear();
    for (int64_t t = 0; t < p.n; t++)
      if (set.beta[t] != beta[t]) moved.push_back(t), delta.push_back(beta[t] - set.beta[t]);
    // The dual is quadratic: it rises by the mean of its slopes before and after, along what moved.
    for (size_t k = 0; k < moved.size(); k++) {
      const int64_t t = moved[k];
      const double old = beta[t], now = set.beta[t], kink = (now < 0 ? -now : now) - (old < 0 ? -old : old);
      s.dual += -0.5 * delta[k] * F[t] - p.eps[t] * kink;
      s.travel += delta[k] < 0 ? -delta[k] : delta[k];
      beta[t] = now;
      F[t] += p.r[t] * delta[k];
    }
    loops.add_rows(K, width, moved.data(), delta.data(), int64_t(moved.size()), p.n, F);
    for (size_t k = 0; k < moved.size(); k++) s.dual += -0.5 * delta[k] * F[moved[k]];
    measure();
    if (moved.empty() || violation > tol || s.top - s.bottom > 0.5 * before) break;
  }
  return s;
}

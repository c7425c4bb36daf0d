// One Newton step of the coefficients between their bounds, for where steps of pairs make little headway.
//
// With H = K + r of these coefficients and g the slope of the dual there, the step d solves H d + b = g with sum d = 0
// (d alone, where there is no bias). It leads to the best place for them, unless one meets a bound on the way: that one
// stays there, and the next step is one of the others.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "loops.hpp"

constexpr double LARGER = 100.0;  // times as much is added to the diagonal where H is not positive definite,
constexpr int RIDGES = 3;         // so often; at first what rounding may make of the least eigenvalue, in parts of K_ii
template <class Real> constexpr double RIDGE = sizeof(Real) == 4 ? 1e-6 : 1e-11;

struct FreeStep {
  int64_t free = 0;
  bool again = false;  // whether it met a bound, so that there is more to gain
};

// H d = g for the columns g and 1 of `both`; false, where H is not positive definite
template <class Real> inline bool free_system(const Loops &loops, const WorkingSet<Real> &set, const std::vector<int64_t> &free, const std::vector<double> &g, std::vector<double> &both) {
  const int64_t m = int64_t(free.size());
  std::vector<double> H(size_t(m * m));
  double ridge = RIDGE<Real>;
  for (int attempt = 0; attempt < RIDGES; attempt++, ridge *= LARGER) {
    for (int64_t i = 0; i < m; i++) {
      const Real *row = set.K + free[i] * set.stride;
      for (int64_t j = 0; j < m; j++) H[i * m + j] = double(row[free[j]]);
      H[i * m + i] = double(set.diag[free[i]]) * (1.0 + ridge);
      both[2 * i] = g[i], both[2 * i + 1] = 1.0;
    }
    if (!loops.precise.factor(H.data(), m)) continue;
    loops.precise.substitute(H.data(), m, both.data(), 2);
    return true;
  }
  return false;
}

// beta and F are changed in place; no step where fewer than 2 or more than `most` coefficients are free.
template <class Real> FreeStep free_step(const Loops &loops, const LoopsOf<Real> &own, const WorkingSet<Real> &set, bool bias, int64_t most) {
  std::vector<int64_t> free;
  std::vector<double> low, high, g, length;
  double longest = 0, steepest = 0;
  for (int64_t t = 0; t < set.n; t++) {
    const double beta = set.beta[t], eps = set.eps[t], l = set.diag[t] > 0 ? std::sqrt(double(set.diag[t])) : 0;
    longest = l > longest ? l : longest;
    const bool kinked = eps > 0 && beta != 0;  // |beta| has a kink at 0, which counts as a bound
    const double least = kinked && beta > 0 ? 0.0 : set.lo[t], largest = kinked && beta < 0 ? 0.0 : set.hi[t];
    if (!(least < beta && beta < largest && (kinked || eps == 0) && set.diag[t] > 0)) continue;
    const double slope = double(set.F[t]) - (beta > 0 ? eps : beta < 0 ? -eps : 0.0), size = slope < 0 ? -slope : slope;
    steepest = size > steepest ? size : steepest;
    free.push_back(t), low.push_back(least), high.push_back(largest), g.push_back(slope), length.push_back(l);
  }
  const int64_t m = int64_t(free.size());
  if (m < 2 || m > most) return {m, false};
  std::vector<double> both(size_t(2 * m)), step(size_t(m), 0.0), after(size_t(m), 0.0), change(size_t(set.n), 0.0);
  if (!free_system(loops, set, free, g, both)) return {m, false};
  double total = 0, ones = 0, mean = 0, gain = 0, curvature = 0;
  for (int64_t i = 0; i < m; i++) total += both[2 * i], ones += both[2 * i + 1];
  for (int64_t i = 0; i < m; i++) step[i] = bias ? both[2 * i] - both[2 * i + 1] * (total / ones) : both[2 * i], mean += step[i];
  for (int64_t i = 0; i < m; i++) {
    if (bias) step[i] -= mean / double(m);  // rounding
    gain += g[i] * step[i];
  }
  if (!(gain > 0) || !(gain < std::numeric_limits<double>::infinity())) return {m, false};
  own.add_rows(set.K, set.stride, free.data(), step.data(), m, set.n, change.data());
  for (int64_t i = 0; i < m; i++) {
    change[free[i]] += (double(set.diag[free[i]]) - double(set.K[free[i] * set.stride + free[i]])) * step[i];
    curvature += step[i] * change[free[i]];
  }
  double part = curvature > 0 && gain / curvature < 1 ? gain / curvature : 1.0, room = std::numeric_limits<double>::infinity();
  int64_t first = 0, slackest = 0;
  for (int64_t i = 0; i < m; i++)
    if (step[i] != 0) {
      const double left = ((step[i] > 0 ? high[i] : low[i]) - set.beta[free[i]]) / step[i];
      if (left < room) room = left, first = i;
    }
  const bool met = room <= part;
  if (met) part = room;
  double size = 0, lost = 0, slack = -1;
  for (int64_t i = 0; i < m; i++) {
    const double there = set.beta[free[i]] + part * step[i];
    after[i] = there < low[i] ? low[i] : there > high[i] ? high[i] : there;
    size += (after[i] < 0 ? -after[i] : after[i]) * length[i];
  }
  if (!(double(std::numeric_limits<Real>::epsilon()) * longest * size < steepest)) return {m, false};  // nothing to be seen any more
  if (met) after[first] = step[first] > 0 ? high[first] : low[first];
  for (int64_t i = 0; i < m; i++) {
    const double below = after[i] - low[i], above = high[i] - after[i], least = below < above ? below : above;
    lost += set.beta[free[i]] - after[i];
    if (least > slack) slack = least, slackest = i;
  }
  if (bias) after[slackest] += lost;  // what rounding has done to the sum
  for (int64_t i = 0; i < m; i++) set.beta[free[i]] = after[i];
  for (int64_t t = 0; t < set.n; t++) set.F[t] -= Real(part * change[t]);
  return {m, met};
}

// Newton steps of the free coefficients of a block, bent at their bounds. The factor is kept: where the same ones are free
// in the next step, in the next round or in the next cell, that costs two substitutions.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "cells.hpp"
#include "loops.hpp"

constexpr int64_t MOST_NEWTON = 1600;   // free coefficients that a factor is made of; of more, where pairs drag,
constexpr int64_t LARGEST_FACTOR = 3200;  // up to so many
constexpr int64_t SINGLE_NEWTON = 300;  // of them: from here on in float32, with a larger ridge; the next step mends it
constexpr int MOST_HALVINGS = 8, MOST_CONJUGATE = 12, FIRST_FEW = 4;
constexpr double CONJUGATE = 1e-10, PROMISING = 1e-4, AT_ONCE = 0.25;  // of the squared size of what is left
constexpr double RIDGE = 1e-7, SINGLE_RIDGE = 1e-5;  // of the largest K_ii

class NewtonSteps {
 public:
  int64_t taken = 0;

  NewtonSteps(const Loops &given, Block &of, bool with_bias) : loops(given), block(of), bias(with_bias) {}

  // One Newton step of the block's free coefficients, bent at their bounds: the best of t = 1, 1/2, 1/4 ... on
  // clip(beta + t d - lambda), where lambda keeps the sum. Returns the gain of the dual, or 0.
  double step() {
    Block &b = block;
    std::vector<int64_t> free;
    std::vector<double> low, high, slope;
    for (int64_t i = 0; i < b.q; i++) {
      const size_t at = size_t(i);
      const double own = b.beta[at], eps = b.eps[at];  // |beta| has a kink at 0, which counts as a bound
      const double l = eps > 0 && own > 0 ? 0 : b.lo[at], h = eps > 0 && own < 0 ? 0 : b.hi[at];
      if (l < own && own < h && !(eps > 0 && own == 0)) free.push_back(i), low.push_back(l), high.push_back(h), slope.push_back(b.F[at] - (own > 0 ? eps : own < 0 ? -eps : 0));
    }
    const size_t m = free.size();
    if (m < 2) return 0;
    taken++;
    std::vector<double> d(m);
    if (!direction(free, slope, d)) return 0;
    std::vector<double> to_take(m), change, best_step, best_change;
    double best = 0, t = 1;
    for (int k = 0; k < MOST_HALVINGS; k++, t *= 0.5) {
      const bool inside = bent(free, low, high, d, t, to_take);
      const double gain = gain_of(free, slope, to_take, change);
      if (gain > best) best = gain, best_step = to_take, best_change = change;
      else if (best > 0) break;
      if (inside) break;
    }
    if (!(best > 0)) return 0;
    for (size_t k = 0; k < m; k++) {
      const size_t at = size_t(free[k]);
      const double to = b.beta[at] + best_step[k], near = 1e-12 * (b.hi[at] - b.lo[at] < 1e300 ? b.hi[at] - b.lo[at] : 1);
      b.beta[at] = high[k] - to < near ? high[k] : to - low[k] < near ? low[k] : to;
    }
    for (int64_t i = 0; i < b.q; i++) b.F[size_t(i)] -= best_change[size_t(i)];
    return best;
  }

 private:
  const Loops &loops;
  Block &block;
  bool bias;

  // d solves (K + r) d + b = slope with sum d = 0 among the free: by a factor, or, of many, by conjugate gradients, which need
  // none where few steps will do, as for a narrow kernel, and else take a rough one as their preconditioner.
  bool direction(const std::vector<int64_t> &free, const std::vector<double> &slope, std::vector<double> &d) {
    if (int64_t(free.size()) < SINGLE_NEWTON) {
      if (!known(free) && !find<double>(free, RIDGE, loops.precise)) return false;
      inverse<double>(slope, d, loops.precise);
      level(d, true);
    } else if (known(free) || int64_t(free.size()) >= block.dense || !conjugate(free, slope, d, false)) {
      if (int64_t(free.size()) > (block.drags ? LARGEST_FACTOR : MOST_NEWTON) || (!known(free) && !find<float>(free, SINGLE_RIDGE, loops.single))) return false;
      conjugate(free, slope, d, true);
    }
    for (const double own : d)
      if (!std::isfinite(own)) return false;
    return true;
  }

  // d <- d - b (K + r)^-1 1, or d - b, so that its sum is 0
  void level(std::vector<double> &d, bool by_factor) const {
    double sum = 0, ones = 0;
    for (size_t i = 0; i < d.size(); i++) sum += d[i], ones += by_factor ? block.factor.ones[i] : 1;
    const double lambda = bias ? sum / ones : 0;
    for (size_t i = 0; i < d.size(); i++) d[i] -= by_factor ? lambda * block.factor.ones[i] : lambda;
  }

  // Conjugate gradients; true, where they came to an end. Without a factor, only if the first few say that they will soon;
  // where they do not, they are not tried again with as many free ones.
  bool conjugate(const std::vector<int64_t> &free, const std::vector<double> &slope, std::vector<double> &d, bool by_factor) {
    const size_t m = free.size();
    std::vector<double> left = slope, near, along(m, 0.0), product(static_cast<size_t>(block.width));
    d.assign(m, 0.0);
    double before = 0, first = 0;
    for (int k = 0; k < MOST_CONJUGATE; k++) {
      if (by_factor) inverse<float>(left, near, loops.single);
      else near = left;
      level(near, by_factor);
      double size = 0, curved = 0;
      for (size_t i = 0; i < m; i++) size += left[i] * near[i];
      if (k == 0) first = size;
      if (!(size > CONJUGATE * first)) return true;
      if (!by_factor && ((k == 1 && size > AT_ONCE * first) || (k == FIRST_FEW && size > PROMISING * first))) return block.dense = int64_t(m), false;
      for (size_t i = 0; i < m; i++) along[i] = near[i] + (k > 0 ? size / before : 0) * along[i];
      before = size;
      std::fill(product.begin(), product.end(), 0.0);
      loops.single.add_rows(block.K, block.stride, free.data(), along.data(), int64_t(m), block.width, product.data());
      for (size_t i = 0; i < m; i++) curved += along[i] * (product[size_t(free[i])] += block.r[size_t(free[i])] * along[i]);
      if (!(curved > 0)) return true;
      for (size_t i = 0; i < m; i++) d[i] += size / curved * along[i], left[i] -= size / curved * product[size_t(free[i])];
    }
    return true;
  }

  // Whether the factor is that of these coefficients.
  bool known(const std::vector<int64_t> &free) const {
    const Factor &f = block.factor;
    if (f.who.size() != free.size()) return false;
    for (size_t i = 0; i < free.size(); i++)
      if (f.who[i] != block.at[size_t(free[i])] || f.diag[i] != block.diag[size_t(free[i])]) return false;
    return true;
  }

  // The factor of K + r, with a ridge that grows until there is one.
  template <class Real> bool find(const std::vector<int64_t> &free, double ridge, const LoopsOf<Real> &own) {
    Factor &f = block.factor;
    std::vector<Real> &H = f.of(Real());
    const size_t m = free.size();
    if (H.size() < m * m) H.resize(m * m);
    f.who.resize(m), f.diag.resize(m);
    double largest = 0;
    for (size_t i = 0; i < m; i++) {
      f.who[i] = block.at[size_t(free[i])], f.diag[i] = block.diag[size_t(free[i])];
      largest = std::fmax(largest, double(f.diag[i]));
    }
    for (;; ridge *= 100) {
      for (size_t i = 0; i < m; i++) {
        const float *row = block.K + free[i] * block.stride;
        for (size_t j = 0; j < i; j++) H[i * m + j] = Real(row[free[j]]);  // the lower half is enough
        H[i * m + i] = Real(double(f.diag[i]) + ridge * largest);
      }
      if (own.factor(H.data(), int64_t(m))) break;
      if (ridge > 1e-2) return f.who.clear(), false;
    }
    inverse<Real>(std::vector<double>(m, 1.0), f.ones, own);
    return true;
  }

  // to <- (K + r)^-1 given, by the factor
  template <class Real> void inverse(const std::vector<double> &given, std::vector<double> &to, const LoopsOf<Real> &own) {
    double size = 0;
    for (const double x : given) size = std::fmax(size, std::fabs(x));
    std::vector<Real> B(given.size());
    for (size_t i = 0; i < B.size(); i++) B[i] = Real(size > 0 ? given[i] / size : 0);
    own.substitute(block.factor.of(Real()).data(), int64_t(B.size()), B.data(), 1);
    to.resize(B.size());
    for (size_t i = 0; i < B.size(); i++) to[i] = size * double(B[i]);
  }

  // step <- clip(beta + t d - lambda) - beta; true, where no bound was met
  bool bent(const std::vector<int64_t> &free, const std::vector<double> &low, const std::vector<double> &high, const std::vector<double> &d, double t, std::vector<double> &step) const {
    const size_t m = free.size();
    double lambda = 0, size = 0;
    bool inside = true;
    for (int k = 0; k < 60; k++) {
      double sum = 0;
      size_t between = 0;
      inside = true, size = 0;
      for (size_t i = 0; i < m; i++) {
        const double own = block.beta[size_t(free[i])], to = own + t * d[i] - lambda;
        const double clipped = to < low[i] ? low[i] : to > high[i] ? high[i] : to;
        between += to > low[i] && to < high[i], inside = inside && clipped == to;
        step[i] = clipped - own, sum += step[i], size += std::fabs(step[i]);
      }
      if (!bias || std::fabs(sum) <= 1e-13 * size || between == 0) break;
      lambda += sum / double(between);
    }
    if (bias) {  // what rounding has left of the sum goes to the one with the most room
      double sum = 0, room = -1;
      size_t at = 0;
      for (size_t i = 0; i < m; i++) {
        const double to = block.beta[size_t(free[i])] + step[i], own = std::fmin(to - low[i], high[i] - to);
        sum += step[i];
        if (own > room) room = own, at = i;
      }
      if (std::fabs(sum) > room) return std::fill(step.begin(), step.end(), 0.0), true;
      step[at] -= sum;
    }
    return inside;
  }

  // By how much the dual rises by a step; change <- (K + r) step of all points of the block
  double gain_of(const std::vector<int64_t> &free, const std::vector<double> &slope, const std::vector<double> &step, std::vector<double> &change) const {
    const Block &b = block;
    change.assign(size_t(b.width), 0.0);
    loops.single.add_rows(b.K, b.stride, free.data(), step.data(), int64_t(free.size()), b.width, change.data());
    double along = 0, curved = 0;
    for (size_t k = 0; k < free.size(); k++) {
      change[size_t(free[k])] += b.r[size_t(free[k])] * step[k];
      along += slope[k] * step[k], curved += step[k] * change[size_t(free[k])];
    }
    return along - 0.5 * curved;
  }
};

// Newton's method in w for losses of the margin y f with slopes, f = X w + b: min 1/2 |w|^2 + sum C_i loss(y_i f_i), b at
// its best where it is free. Loops over points are the level's; what is here is compiled once, so it is the same on all.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>
#include "loops.hpp"

struct Margins {
  const Loops &loops;
  AnyRows X;
  int64_t n, d;
  const double *y, *C;
  bool logistic, bias;
};

// Of each point C times value, slope and curvature of its loss, and the sums; the best b there.
struct LossesAt {
  std::vector<double> slope, curvature;
  double value = 0, total = 0, b = 0;
};

class MarginSteps {
 public:
  static constexpr int MOST_BIASES = 200, MOST_HALVINGS = 20;
  static constexpr double STILL = 1e-11, ROUNDING = 0x1p-51;  // of a step of b, and in parts of b: no other need follow

  MarginSteps(const Margins &p, double *w, double *f) : p(p), w(w), f(f), there(size_t(p.n)), move(size_t(p.n)), left(size_t(p.d)), rows(size_t(p.n)), weight(size_t(p.n)), H(size_t(p.d * p.d)), ones(size_t(p.d)) {
    for (LossesAt *one : {&now, &next}) one->slope.resize(size_t(p.n)), one->curvature.resize(size_t(p.n));
    for (auto &one : at_margins) one.resize(size_t(p.n));
  }

  // Steps until the gap 1/2 |w + X'slope|^2 is at most this part of the objective; found <- b, objective, gap, whether more
  // steps would gain.
  void run(double goal, int64_t most, double b, double *found) {
    now.b = b;
    evaluate(f, now);
    bool more = true;
    for (int64_t k = 0; k <= most; k++) {
      measure();
      more = gap > goal * primal;
      if (!more || k == most || !(more = step())) break;
    }
    const double told[] = {now.b, primal, gap, double(more)};
    std::copy(told, told + 4, found);
  }

 private:
  const Margins &p;
  double *w, *f;
  LossesAt now, next;
  std::vector<double> there, move, left, at_margins[4];
  std::vector<int64_t> rows;
  std::vector<double> weight, H, ones;
  double primal = 0, gap = 0;

  void measure() {
    std::copy_n(w, p.d, left.data());
    p.loops.features.combine(p.X, now.slope.data(), left.data(), 0, p.n);
    double norm = 0;
    gap = 0;
    for (int64_t j = 0; j < p.d; j++) norm += w[j] * w[j], gap += left[size_t(j)] * left[size_t(j)];
    gap *= 0.5, primal = 0.5 * norm + now.value;
  }

  bool step() {
    int64_t count = 0;
    for (int64_t i = 0; i < p.n; i++)
      if (now.curvature[size_t(i)] != 0) rows[size_t(count)] = i, weight[size_t(count)] = now.curvature[size_t(i)], count++;
    std::fill(H.begin(), H.end(), 0.0), std::fill(ones.begin(), ones.end(), 0.0);
    p.loops.squares_precise(static_cast<const double *>(p.X.value), p.d, rows.data(), count, weight.data(), H.data(), ones.data());
    const bool follows = p.bias && now.total > 0;  // the best b follows w
    for (int64_t i = 0; i < p.d; i++)
      for (int64_t j = 0; j <= i; j++) H[size_t(i * p.d + j)] = H[size_t(j * p.d + i)] - (follows ? ones[size_t(i)] * (ones[size_t(j)] / now.total) : 0.0) + (i == j);
    if (!p.loops.precise.factor(H.data(), p.d)) return false;
    p.loops.precise.substitute(H.data(), p.d, left.data(), 1);
    p.loops.features.dots(p.X, left.data(), move.data(), 0, p.n);
    double part = 1;
    for (int k = 0; k < MOST_HALVINGS; k++, part *= 0.5) {
      for (int64_t i = 0; i < p.n; i++) there[size_t(i)] = f[i] - part * move[size_t(i)];
      double norm = 0;
      for (int64_t j = 0; j < p.d; j++) {
        const double own = w[j] - part * left[size_t(j)];
        norm += own * own;
      }
      next.b = now.b;
      evaluate(there.data(), next);
      if (!(0.5 * norm + next.value <= primal)) continue;
      for (int64_t j = 0; j < p.d; j++) w[j] -= part * left[size_t(j)];
      std::copy(there.begin(), there.end(), f);
      std::swap(now, next);
      return true;
    }
    return false;  // rounding
  }

  // The losses at scores without b, from a guess of it.
  void evaluate(const double *scores, LossesAt &at) {
    if (p.bias) at.b = best_bias(scores, at.b);
    at.value = at.total = 0;
    std::vector<double> &margin = at_margins[0];
    for (int64_t i = 0; i < p.n; i++) margin[size_t(i)] = p.y[i] * (scores[i] + at.b);
    if (p.logistic) p.loops.logistic(margin.data(), p.n, at_margins[1].data(), at_margins[2].data(), at_margins[3].data());
    else
      for (size_t i = 0; i < size_t(p.n); i++) {
        const double short_by = std::max(0.0, 1 - margin[i]);
        at_margins[1][i] = short_by * short_by, at_margins[2][i] = 2 * short_by, at_margins[3][i] = margin[i] < 1 ? 2 : 0;
      }
    for (int64_t i = 0; i < p.n; i++) {
      const size_t k = size_t(i);
      at.value += p.C[i] * at_margins[1][k], at.slope[k] = -p.y[i] * p.C[i] * at_margins[2][k], at.curvature[k] = p.C[i] * at_margins[3][k], at.total += at.curvature[k];
    }
  }

  // The sum of the slopes for b, which only rises with it, and of the curvatures.
  Bends bends(const double *scores, double b) {
    if (p.logistic) {
      std::fill(at_margins[1].begin(), at_margins[1].end(), 1.0);
      return p.loops.logistic_bends(p.y, p.C, scores, at_margins[1].data(), b, p.n);
    }
    constexpr int64_t TURNS = 4;  // sums that do not wait for each other
    double slope[TURNS] = {}, curvature[TURNS] = {};
    const auto add = [&](int64_t i, int64_t turn) {
      const double short_by = 1 - p.y[i] * (scores[i] + b), own = short_by > 0 ? 2 * p.C[i] : 0;
      slope[turn] -= p.y[i] * short_by * own, curvature[turn] += own;
    };
    int64_t i = 0;
    for (; i + TURNS <= p.n; i += TURNS)
      for (int64_t turn = 0; turn < TURNS; turn++) add(i + turn, turn);
    for (; i < p.n; i++) add(i, 0);
    return {(slope[0] + slope[1]) + (slope[2] + slope[3]), (curvature[0] + curvature[1]) + (curvature[2] + curvature[3])};
  }

  // By Newton's method between bounds; where those are not known yet and it is flat, by larger and larger steps.
  double best_bias(const double *scores, double b) {
    double low = -HUGE_VAL, high = HUGE_VAL, width = 1;
    for (int k = 0; k < MOST_BIASES; k++) {
      const Bends at = bends(scores, b);
      if (at.slope == 0) break;
      (at.slope > 0 ? high : low) = b;
      double to = b - at.slope / at.curvature;
      if (!(to > low && to < high)) to = low > -HUGE_VAL && high < HUGE_VAL ? 0.5 * (low + high) : NAN;
      if (!(std::abs(to - b) <= width)) {  // too far to be believed, or unknown
        to = at.slope > 0 ? std::max(b - width, 0.5 * (b + low)) : std::min(b + width, 0.5 * (b + high));
        width *= 2;
      }
      const bool still = std::abs(to - b) <= STILL + ROUNDING * std::abs(b);
      b = to;
      if (still) break;
    }
    return b;
  }
};

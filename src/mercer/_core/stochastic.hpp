// Stochastic subgradient steps: one point at a time, w <- (1 - step) w + step n s_i z_i.
//
// w = scale sum u_i z_i, so that a step changes one number for all of w, and one row. The sum of all beta = scale u so far
// is `passed` u - `late`: the sum of all scales, and what each change of u came too late for. It is added to `sums` before
// the scale becomes tiny. The slopes s_i are added up too: their means are a dual point.
#pragma once
#include "descent.hpp"

namespace {
namespace features {

constexpr double SMALL_SCALE = 1e-9;  // scales below this are multiplied out
constexpr int SEARCHES = 15;          // of a search along a line: so many slopes,
constexpr double FLAT = 0.1;          // or until one is this small beside the first
constexpr double FIRST_SHIFT = 0.2;   // the first step of a bias
constexpr double NO_PART = 1e-300;    // p log p of less is 0

// Minus C_i times the slope of the loss at f
inline double slope_at(const Term &t, double f) {
  if (t.r == LOGISTIC) return t.q * (t.hi - t.lo) * sigmoid(-t.q * f);
  const double g = t.q - f;
  if (!(t.r > 0.0)) return g > t.eps ? t.hi : g < -t.eps ? t.lo : 0.0;
  const double excess = g > t.eps ? g - t.eps : g < -t.eps ? g + t.eps : 0.0;
  return smaller_of(larger_of(excess / t.r, t.lo), t.hi);
}

// h(s)
inline double conjugate(const Term &t, double s) {
  if (t.r != LOGISTIC) return fused(fused(0.5 * t.r, s, -t.q), s, t.eps * size_of(s));
  const double C = t.hi - t.lo, p = t.q * s / C;
  if (p <= NO_PART || p >= 1.0) return 0.0;
  return C * fused(p, log_of(p), (1.0 - p) * log_of_rest(p));
}

// sum C_i loss(f_i), which is the largest -h_i(s) - f_i s, and sum h_i(beta_i)
inline void losses_and_conjugates(const double *f, const Term *terms, const double *beta, int64_t n, double *losses, double *conjugates) {
  double loss = 0.0, h = 0.0;
  for (int64_t i = 0; i < n; i++) {
    const double s = slope_at(terms[i], f[i]);
    loss = loss - fused(f[i], s, conjugate(terms[i], s));
    h = h + conjugate(terms[i], beta[i]);
  }
  *losses = loss, *conjugates = h;
}

// Scores f + b that change by part (df + db); df may be nothing, which stands for zeros.
struct Line {
  const double *f, *df;
  double b, db;
  const Term *terms;
  int64_t n;
  // The slope in `part` of sum C_i loss
  double slope(double part) const {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
      const double change = df ? db + df[i] : db;
      sum = fused(-slope_at(terms[i], fused(part, change, f[i] + b)), change, sum);
    }
    return sum;
  }
};

// The part <= most of a step where  linear part + square/2 part^2 + sum C_i loss  is nearly least.
//
// The slope only rises: it is looked for where it is 0 (regula falsi, an end that stays has its slope halved). Where the
// part ends it is not above 0, so that the objective has only fallen: beyond a sharp bend it may have risen.
inline double best_part(const Line &line, double linear, double square, double most) {
  double low = 0.0, high = 1.0, slope_low = linear + line.slope(low), slope_high = linear + square + line.slope(high);
  if (!(slope_low < 0.0)) return 0.0;
  const double enough = FLAT * size_of(slope_low);
  while (slope_high < -enough && high < most) {
    low = high, high *= 2.0, slope_low = slope_high;
    slope_high = fused(high, square, linear) + line.slope(high);
  }
  if (slope_high <= 0.0) return high;
  for (int search = 0; search < SEARCHES; search++) {
    const double part = fused(high - low, smaller_of(larger_of(slope_low / (slope_low - slope_high), 0.05), 0.95), low);
    const double slope = fused(part, square, linear) + line.slope(part);
    if (slope > 0.0)
      high = part, slope_high = slope, slope_low *= 0.5;
    else
      low = part, slope_low = slope, slope_high *= 0.5;
    if (-enough <= slope && slope <= 0.0) break;
  }
  return low;
}

// The bias for scores f where sum C_i loss is nearly least, looked for from b on
inline double best_shift(const double *f, double b, const Term *terms, int64_t n) {
  const double step = Line{f, nullptr, b, 1.0, terms, n}.slope(0.0) > 0.0 ? -FIRST_SHIFT : FIRST_SHIFT;
  return fused(step, best_part({f, nullptr, b, step, terms, n}, 0.0, 0.0, double(1 << SEARCHES)), b);
}

// beta and its scores go towards a target, to where the primal objective is nearly least; the new b
inline double approach(double *beta, double *scores, double b, const double *target, const double *target_scores, const Term *terms, int64_t n, bool free_bias) {
  Zeros<double> change(n > 0 ? n : 1);
  const double db = free_bias ? best_shift(target_scores, b, terms, n) - b : 0.0;
  double linear = 0.0, square = 0.0;
  for (int64_t i = 0; i < n; i++) {
    const double step = target[i] - beta[i];
    change[i] = target_scores[i] - scores[i];
    linear = fused(step, scores[i], linear), square = fused(step, change[i], square);
  }
  const double part = best_part({scores, change.at(0), b, db, terms, n}, linear, square, 1.0);
  for (int64_t i = 0; i < n; i++) {
    beta[i] = fused(part, target[i] - beta[i], beta[i]);
    scores[i] = fused(part, change[i], scores[i]);
  }
  return fused(part, db, b);
}

// beta <- (1 - step) beta
inline void shrink(StochasticState &at, double step) {
  at.scale *= 1.0 - step;
  if (!(at.scale < SMALL_SCALE)) return;
  for (int64_t i = 0; i < at.n; i++) {
    at.sums[i] += fused(at.passed, at.u[i], -at.late[i]);
    at.late[i] = 0.0, at.u[i] *= at.scale;
  }
  for (int64_t j = 0; j < at.width; j++) at.image[j] *= at.scale;
  at.total *= at.scale, at.passed = 0.0, at.scale = 1.0;
}

// Add step n s to beta_i: the change of u_i
inline double join(StochasticState &at, int64_t i, double s, double step) {
  const double change = step * double(at.n) * s / at.scale;
  at.u[i] += change, at.late[i] = fused(change, at.passed, at.late[i]);
  at.slopes[i] += s, at.visits[i] += 1.0, at.total += change;
  at.bias = fused(at.bias_rate * step * double(at.n), s, at.bias);
  at.passed += at.scale, at.steps += 1.0;
  return change;
}

// A step for each point of the order
template <class Rows> void steps_of(const Rows &rows, const Term *terms, const int64_t *order, const double *steps, int64_t count, StochasticState &at) {
  for (int64_t k = 0; k < count; k++) {
    const int64_t i = order[k];
    if (k + AHEAD < count) {
      __builtin_prefetch(terms + order[k + AHEAD]);
      rows.expect(order[k + AHEAD]);
    }
    const double f = fused(at.constant, at.total, rows.score(k, i, at.image)), s = slope_at(terms[i], fused(at.scale, f, at.bias));
    shrink(at, steps[k]);
    const double change = join(at, i, s, steps[k]);
    if (change != 0.0) rows.change(k, i, change, at.image);
  }
}

inline void draws(const AnyRows &any, const Term *terms, const int64_t *order, const double *steps, int64_t count, StochasticState &at) {
  with_rows(any, [&](auto rows) { steps_of(rows, terms, order, steps, count, at); });
}
inline void draws_kernel(const AnyRows &any, const Term *terms, const int64_t *order, const double *steps, int64_t count, StochasticState &at) {
  with_kernel_rows(any, [&](auto rows) { steps_of(rows, terms, order, steps, count, at); });
}

}  // namespace features
}  // namespace

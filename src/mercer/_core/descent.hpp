// Coordinate descent: minimise  1/2 beta'K beta + sum h_i(beta_i)  one coefficient after the other, in a given order.
//
// Points come in random order, so that most of the time would go into waiting for memory: a point some places ahead is
// asked for, and when its turn comes it is in cache.
#pragma once
#include "feature_rows.hpp"

namespace {
namespace features {

constexpr int64_t AHEAD = 8;
constexpr int NEWTON_STEPS = 50;    // for one coefficient of the logistic loss,
constexpr double NEAR = 1e-8;       // until one is so small that its square is nothing,
constexpr double NEAR_LARGE = 1e-14;  // or so small beside a large number
constexpr double INFINITE = __builtin_inf();

inline double smaller_of(double a, double b) { return b < a ? b : a; }
inline double larger_of(double a, double b) { return b > a ? b : a; }
inline double size_of(double a) { return __builtin_fabs(a); }

// 2^(i/32) for i = 0 ... 31, by Taylor's series, and 2/(2m + 1) for m = 0 ... 12
struct Series {
  static constexpr int parts = 32, terms = 13;
  double root[parts] = {}, odd[terms] = {};
  constexpr Series() {
    for (int i = 0; i < parts; i++) {
      const long double t = 0.693147180559945309417232121458L * i / parts;
      long double sum = 1.0L;
      for (int m = 24; m > 0; m--) sum = 1.0L + sum * t / m;
      root[i] = double(sum);
    }
    for (int m = 0; m < terms; m++) odd[m] = 2.0 / (2 * m + 1);
  }
};
constexpr Series SERIES{};

// exp(x) for x <= 0: x = k log(2)/32 + r, and Taylor's polynomial of degree 6 for |r| <= log(2)/64 (below 4e-18 of exp r)
inline double exp_of(double x) {
  if (x < -708.0) return 0.0;  // the least normal number is exp(-708.4)
  constexpr double RATE = 32 * 1.4426950408889634, HIGH = 6.93147180369123816490e-01 / 32, LOW = 1.90821492927058770002e-10 / 32;
  constexpr double MAGIC = 0x1.8p52;  // adding it rounds to a whole number; 32 (HIGH + LOW) = log 2, and k HIGH is exact
  const double shifted = fused(x, RATE, MAGIC), k = shifted - MAGIC, r = fused(-k, LOW, fused(-k, HIGH, x)), square = r * r;
  const double high = fused(square, 1.0 / 720, fused(r, 1.0 / 120, 1.0 / 24));
  const double less = fused(square, fused(square, high, fused(r, 1.0 / 6, 0.5)), r);  // exp(r) - 1
  const int64_t whole = int64_t(k);
  const uint64_t scaled = __builtin_bit_cast(uint64_t, SERIES.root[whole & 31]) + (uint64_t(whole >> 5) << 52);
  const double power = __builtin_bit_cast(double, scaled);
  return fused(power, less, power);
}

// 2 atanh(s) for |s| <= 0.172: a series in s^2 <= 0.0295, of which 13 terms are taken (the next is below 1e-20)
inline double two_atanh(double s) {
  const double square = s * s;
  double sum = SERIES.odd[Series::terms - 1];
  for (int m = Series::terms - 2; m > 0; m--) sum = fused(sum, square, SERIES.odd[m]);
  return fused(s * square, sum, 2.0 * s);
}

// log(x) of a normal number: x = 2^e m with m between the roots of 1/2 and 2
inline double log_of(double x) {
  constexpr double HIGH = 6.93147180369123816490e-01, LOW = 1.90821492927058770002e-10, ROOT = 1.4142135623730951;
  const int64_t bits = __builtin_bit_cast(int64_t, x);
  double e = double((bits >> 52) - 1023);
  double m = __builtin_bit_cast(double, (bits & 0xfffffffffffff) | 0x3ff0000000000000);
  if (m > ROOT) m *= 0.5, e += 1.0;
  return fused(e, HIGH, fused(e, LOW, two_atanh((m - 1.0) / (m + 1.0))));
}
// log(1 - x), 0 <= x < 1
inline double log_of_rest(double x) { return x < 0.25 ? two_atanh(-x / (2.0 - x)) : log_of(1.0 - x); }

// 1 / (1 + exp(-z))
inline double sigmoid(double z) {
  const double e = exp_of(-size_of(z));
  return (z > 0.0 ? 1.0 : e) / (1.0 + e);
}

// The s in [lo, hi] with the least  a/2 (s - beta)^2 - F (s - beta) + eps |s|
inline double best(const Term &t, double beta, double F) {
  if (t.a <= 0.0) return t.eps < F ? t.hi : -t.eps > F ? t.lo : beta;
  const double g = fused(t.a, beta, F);
  const double s = g > t.eps ? (g - t.eps) / t.a : g < -t.eps ? (g + t.eps) / t.a : 0.0;
  return smaller_of(larger_of(s, t.lo), t.hi);
}

// The s with the least  a/2 (s - beta)^2 + f (s - beta) + C (p log p + (1 - p) log(1 - p)),  p = y s / C.
// With p = 1 / (1 + exp(-z)) it is where  z + a C (p - p_0) + y f = 0:  by Newton's method, halving where it strays. It
// begins at z = -y f, whose p is known: the bounds are on either side of it.
inline double best_logistic(const Term &t, double beta, double f, double p) {
  const double y = t.q, C = t.hi - t.lo, old = y * beta / C, slope = t.a * C;
  double z = -y * f, low = z - slope * (1.0 - old), high = z + slope * old;
  for (int step = 0; step < NEWTON_STEPS; step++, p = sigmoid(z)) {
    const double value = fused(slope, p - old, z) + y * f;
    high = value > 0.0 ? z : high, low = value > 0.0 ? low : z;  // both, without a branch
    double next = z - value / fused(slope * p, 1.0 - p, 1.0);
    next = (low <= next) & (next <= high) ? next : 0.5 * (low + high);
    if (size_of(next - z) <= larger_of(NEAR, NEAR_LARGE * size_of(z))) return y * C * p * fused(1.0 - p, next - z, 1.0);  // needs no other exp
    z = next;
  }
  return y * C * p;
}

// What a move of the coefficient can gain, per unit, with the score f; below zero, by how much any move would lose. And
// the probability of the other label, for the logistic loss.
struct Gain {
  double gain, p;
};
inline Gain gain_of(const Term &t, double beta, double f) {
  if (t.r == LOGISTIC) {
    const double C = t.hi - t.lo, p = sigmoid(-t.q * f);
    return {size_of(t.q * C * p - beta) / C, p};
  }
  const double F = fused(-t.r, beta, t.q) - f, up = beta >= 0.0 ? F - t.eps : F + t.eps, down = beta > 0.0 ? F - t.eps : F + t.eps;
  return {larger_of(beta < t.hi ? up : -INFINITE, beta > t.lo ? -down : -INFINITE), 0.0};
}
inline double best_of(const Term &t, double beta, double f, double p) {
  return t.r == LOGISTIC ? best_logistic(t, beta, f, p) : best(t, beta, fused(-t.r, beta, t.q) - f);
}

// The next of a row of random words (xorshift: Marsaglia 2003)
inline uint64_t next_word(uint64_t *word) {
  uint64_t x = *word;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *word = x;
}
inline int64_t below(uint64_t *word, int64_t end) { return int64_t((next_word(word) >> 11) % uint64_t(end)); }

// The numbers in random order
inline void shuffle(int64_t *order, int64_t size, uint64_t *word) {
  for (int64_t k = size - 1; k > 0; k--) {
    const int64_t j = below(word, k + 1), held = order[k];
    order[k] = order[j], order[j] = held;
  }
}
// Any numbers below `size`, each as likely as the others
inline void draw(int64_t *order, int64_t size, uint64_t *word) {
  for (int64_t k = 0; k < size; k++) order[k] = below(word, size);
}

// The points that are not optimal by more than the margin come first in the order; their number is the new size. The
// largest gain.
inline double in_play(DescentState &at, const double *f, int64_t n) {
  int64_t last = n - 1;
  double worst = 0.0;
  at.size = 0;
  for (int64_t i = 0; i < n; i++) {
    const double gain = gain_of(at.terms[i], at.beta[i], f[i]).gain;
    const bool out = gain < -at.margin;
    at.order[out ? last : at.size] = i;  // no branch: who leaves cannot be foreseen
    last -= out, at.size += !out;
    worst = larger_of(worst, gain);  // who leaves has none
  }
  return worst;
}

// One pass. Points that are optimal by more than the margin go to the end of the order; the largest gain seen.
template <class Rows> double one_pass(const Rows &rows, DescentState &at) {
  double worst = 0.0;
  for (int64_t k = 0; k < at.size;) {
    const int64_t i = at.order[k];
    if (k + AHEAD < at.size) {
      __builtin_prefetch(at.terms + at.order[k + AHEAD]);
      rows.expect(at.order[k + AHEAD]);
    }
    const double f = rows.score(k, i, at.image) + fused(at.constant, at.total, at.shift);
    const auto [gain, p] = gain_of(at.terms[i], at.beta[i], f);
    if (gain < -at.margin) {
      at.order[k] = at.order[--at.size], at.order[at.size] = i;
      continue;
    }
    if (gain > 0.0) {
      worst = larger_of(worst, gain);
      const double now = best_of(at.terms[i], at.beta[i], f, p), step = now - at.beta[i];
      at.beta[i] = now, at.total += step;
      rows.change(k, i, step, at.image);
    }
    k++;
  }
  return worst;
}

inline double descend(const AnyRows &any, DescentState &at) {
  return with_rows(any, [&](auto rows) { return one_pass(rows, at); });
}
inline double descend_kernel(const AnyRows &any, DescentState &at) {
  return with_kernel_rows(any, [&](auto rows) { return one_pass(rows, at); });
}

// Passes in random orders, until `most` points were visited or the largest gain is `enough` of the first. A pass counts as
// `least` visits or more; `part` of its largest gain is the margin of the next. The visits.
inline double descend_passes(const AnyRows &any, DescentState &at, uint64_t *word, const PassLimits &limits) {
  double visits = 0.0, first = 0.0;
  while (visits < limits.most) {
    visits += larger_of(double(at.size), limits.least);
    shuffle(at.order, at.size, word);
    const double worst = descend(any, at);
    at.margin = limits.part * worst;
    if (first == 0.0) first = worst;
    if (worst <= limits.enough * first) break;
  }
  return visits;
}

}  // namespace features
}  // namespace

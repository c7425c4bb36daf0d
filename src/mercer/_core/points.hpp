// Loops over all points between two rounds: plain, one point after the other, the same on every machine.
//
// The terms h_i(s) = r/2 s^2 - q s + eps |s| on [lo, hi] and F = q - r beta - K beta are those of losses/quadratic.py.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

struct Points {
  int64_t n;
  const double *F, *beta, *r, *eps, *lo, *hi;
};

constexpr double OUT = 1e300;  // stands for the gain of what may not move

// Without a branch: which of two numbers is larger cannot be foreseen.
inline double smaller_of(double a, double b) { return b < a ? b : a; }
inline double larger_of(double a, double b) { return b > a ? b : a; }

struct Extremes {
  double top, bottom;
  int64_t free;
};

// The largest slope of what may rise, the smallest of what may sink, and how many coefficients are between their bounds.
inline Extremes extremes(const Points &p) {
  Extremes e{-OUT, OUT, 0};
  for (int64_t t = 0; t < p.n; t++) {
    const bool rises = p.beta[t] < p.hi[t], falls = p.beta[t] > p.lo[t];
    const double up = p.F[t] - (2 * double(p.beta[t] >= 0) - 1) * p.eps[t], down = p.F[t] - (2 * double(p.beta[t] > 0) - 1) * p.eps[t];
    const double above = up > e.top ? up : e.top, below = down < e.bottom ? down : e.bottom;
    e.top = rises ? above : e.top, e.bottom = falls ? below : e.bottom;
    e.free += int64_t(rises) & int64_t(falls);
  }
  return e;
}

// The gap at bias b: the sum of the shares C loss(f) + h(beta) + beta f, each >= 0. With g = q - f, C loss(f) is the
// largest value of g s - r/2 s^2 - eps |s|, and -h(beta) - beta f its value at beta.
inline double shares(const Points &p, double b) {
  double total = 0;
  for (int64_t t = 0; t < p.n; t++) {
    const double own = p.beta[t], r = p.r[t], eps = p.eps[t], lo = p.lo[t], hi = p.hi[t];
    const double g = p.F[t] + r * own - b, excess = larger_of(std::fabs(g) - eps, 0), ends[] = {lo, hi};
    const double s = smaller_of(larger_of(r > 0 ? std::copysign(excess / r, g) : excess > 0 ? ends[g > 0] : 0, lo), hi);
    total += g * (s - own) - 0.5 * r * (s * s - own * own) - eps * (std::fabs(s) - std::fabs(own));
  }
  return total;
}

// Append to `chosen` the places of about the `most` largest sign * slope - floor, none above `highest`: by counting in
// bins, and evenly spread over the last of them. Places that are taken are left out; what is chosen becomes taken. Who
// violates cannot be foreseen, so that nothing branches on it.
inline int64_t choose_largest(const Points &p, double sign, double floor, double highest, uint8_t *taken, int64_t *chosen, int64_t size, int64_t most) {
  constexpr int BINS = 1024;
  if (!(highest > 0)) return size;
  int64_t counts[BINS + 1] = {}, violate = 0;
  const auto places = std::make_unique_for_overwrite<int64_t[]>(size_t(p.n) + 1);
  const auto bins = std::make_unique_for_overwrite<int32_t[]>(size_t(p.n) + 1);
  const double scale = BINS / highest, *end = sign > 0 ? p.hi : p.lo;
  for (int64_t t = 0; t < p.n; t++) {
    const double own = sign * p.beta[t], side = 2 * double(own >= 0) - 1, gain = sign * p.F[t] - side * p.eps[t] - floor;
    places[size_t(violate)] = t, bins[size_t(violate)] = int32_t(larger_of(smaller_of(gain * scale, BINS), 0));
    violate += int64_t(own < sign * end[t]) & int64_t(gain > 0) & int64_t(taken[t] == 0);
  }
  for (int64_t k = 0; k < violate; k++) counts[bins[size_t(k)]]++;
  int last = BINS;
  int64_t above = 0;
  while (last > 0 && above + counts[last] < most) above += counts[last--];
  const int64_t there = counts[last] > 0 ? counts[last] : 1, wanted = most - above < 0 ? 0 : most - above < there ? most - above : there;
  for (int64_t k = 0, seen = 0; k < violate; k++) {
    const int at = bins[size_t(k)];
    if (at < last) continue;
    if (at == last) {
      const bool take = seen * wanted / there != (seen + 1) * wanted / there;
      seen++;
      if (!take) continue;
    }
    chosen[size++] = places[size_t(k)];
    taken[places[size_t(k)]] = 1;
  }
  return size;
}

struct Account {
  double loss, conjugate, norm, top, bottom, outside, total, largest;
};

// For f = scores + b and the dual point beta with K beta = dual_scores: sum C loss(f), sum h(beta), beta'K beta; the
// extremes; by how much bounds are left, sum beta, max |beta|. share_t <- C loss(f) + h(beta) + beta f.
inline Account account(const Points &p, const double *q, const double *dual_scores, const double *scores, double b, double *share) {
  Account a{0, 0, 0, -OUT, OUT, 0, 0, 0};
  for (int64_t t = 0; t < p.n; t++) {
    const double own = p.beta[t], size = own < 0 ? -own : own, f = scores[t] + b, g = q[t] - f, r = p.r[t];
    const double end = g > 0 ? p.hi[t] : -p.lo[t], far = g < 0 ? -g : g, excess = far > p.eps[t] ? far - p.eps[t] : 0;
    const double s = excess > 0 ? (r > 0 && excess / r < end ? excess / r : end) : 0;
    const double loss = s > 0 ? s * (r > 0 ? excess - 0.5 * r * s : excess) : 0, h = 0.5 * r * own * own - q[t] * own + p.eps[t] * size;
    share[t] = loss + h + own * f;
    a.loss += loss, a.conjugate += h, a.norm += own * dual_scores[t], a.total += own;
    const double F = q[t] - r * own - dual_scores[t];
    const double up = own >= 0 ? F - p.eps[t] : F + p.eps[t], down = own > 0 ? F - p.eps[t] : F + p.eps[t];
    if (own < p.hi[t] && up > a.top) a.top = up;
    if (own > p.lo[t] && down < a.bottom) a.bottom = down;
    const double below = p.lo[t] - own, beyond = own - p.hi[t], outside = below > beyond ? below : beyond;
    if (outside > a.outside) a.outside = outside;
    if (size > a.largest) a.largest = size;
  }
  return a;
}

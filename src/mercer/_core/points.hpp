// Loops over all points between two rounds: plain, one point after the other, the same on every machine.
//
// The terms h_i(s) = r/2 s^2 - q s + eps |s| on [lo, hi] and F = q - r beta - K beta are those of losses/base.py.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

struct Points {
  int64_t n;
  const double *F, *beta, *r, *eps, *lo, *hi;
};

constexpr double OUT = 1e300;  // stands for the gain of what may not move

inline double rise_of(const Points &p, int64_t t) { return p.beta[t] < p.hi[t] ? (p.beta[t] >= 0 ? p.F[t] - p.eps[t] : p.F[t] + p.eps[t]) : -OUT; }
inline double fall_of(const Points &p, int64_t t) { return p.beta[t] > p.lo[t] ? (p.beta[t] > 0 ? p.F[t] - p.eps[t] : p.F[t] + p.eps[t]) : OUT; }

struct Extremes {
  double top, bottom;
  int64_t free;
};

// The largest slope of what may rise, the smallest of what may sink, and how many coefficients are between their bounds.
inline Extremes extremes(const Points &p) {
  Extremes e{-OUT, OUT, 0};
  for (int64_t t = 0; t < p.n; t++) {
    const double up = rise_of(p, t), down = fall_of(p, t);
    if (up > e.top) e.top = up;
    if (down < e.bottom) e.bottom = down;
    e.free += p.lo[t] < p.beta[t] && p.beta[t] < p.hi[t];
  }
  return e;
}

// The gap at bias b: the sum of the shares C loss(f) + h(beta) + beta f, each >= 0. With g = q - f, C loss(f) is the
// largest value of g s - r/2 s^2 - eps |s|, and -h(beta) - beta f its value at beta.
inline double shares(const Points &p, double b) {
  double total = 0;
  for (int64_t t = 0; t < p.n; t++) {
    const double own = p.beta[t], r = p.r[t], eps = p.eps[t], lo = p.lo[t], hi = p.hi[t];
    const double g = p.F[t] + r * own - b, size = g < 0 ? -g : g, excess = size > eps ? size - eps : 0;
    double s = r > 0 ? (g > 0 ? excess / r : -excess / r) : excess > 0 ? (g > 0 ? hi : lo) : 0;
    s = s < lo ? lo : s > hi ? hi : s;
    total += g * (s - own) - 0.5 * r * (s * s - own * own) - eps * ((s < 0 ? -s : s) - (own < 0 ? -own : own));
  }
  return total;
}

// Append to `chosen` the places of about the `most` largest sign * slope - floor, none above `highest`: by counting in
// bins, and evenly spread over the last of them. Places that are taken are left out; what is chosen becomes taken.
inline int64_t choose_largest(const Points &p, double sign, double floor, double highest, uint8_t *taken, int64_t *chosen, int64_t size, int64_t most) {
  constexpr int BINS = 1024;
  if (!(highest > 0)) return size;
  int64_t counts[BINS + 1] = {};
  std::vector<int16_t> bins(p.n);  // -1: left out
  const double scale = BINS / highest;
  for (int64_t t = 0; t < p.n; t++) {
    const double gain = (sign > 0 ? rise_of(p, t) : -fall_of(p, t)) - floor, at = gain * scale;
    bins[t] = int16_t(taken[t] || !(gain > 0) ? -1 : at < BINS ? int(at) : BINS);
  }
  for (int64_t t = 0; t < p.n; t++)
    if (bins[t] >= 0) counts[bins[t]]++;
  int last = BINS;
  int64_t above = 0;
  while (last > 0 && above + counts[last] < most) above += counts[last--];
  const int64_t there = counts[last] > 0 ? counts[last] : 1, wanted = most - above < 0 ? 0 : most - above < there ? most - above : there;
  for (int64_t t = 0, seen = 0; t < p.n; t++) {
    const int at = bins[t];
    if (at < last) continue;
    if (at == last) {
      const bool take = seen * wanted / there != (seen + 1) * wanted / there;
      seen++;
      if (!take) continue;
    }
    chosen[size++] = t;
    taken[t] = 1;
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

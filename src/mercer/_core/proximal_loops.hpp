// Loops over all points for Newton steps with a proximal term.
//
// beta_i(f) is the s with the least h_i(s) + f_i s + sigma/2 (s - centre_i)^2, h_i(s) = r/2 s^2 - q s + eps |s| on
// [lo, hi]: piecewise linear in f_i. Nothing depends on a branch, so that the loops vectorise. The order of a sum is the
// same on every level: eight lanes take turns, and are added in halves.
#pragma once
#include "proximal.hpp"

namespace {
namespace proximal {

constexpr int TURNS = 8;

inline double larger(double a, double b) { return a > b ? a : b; }
inline double smaller(double a, double b) { return a < b ? a : b; }
inline double size(double a) { return __builtin_fabs(a); }
inline double soft(double g, double eps) { return larger(g - eps, 0.0) + smaller(g + eps, 0.0); }
inline double summed(double *lane) {
  for (int half = TURNS / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) lane[l] += lane[l + half];
  return lane[0];
}

// beta, rate and slack of some points
inline void move(const Proximal &p, const double *__restrict f, double *__restrict beta, double *__restrict rate, double *__restrict slack, int64_t first, int64_t last) {
  const double *q = p.q, *r = p.r, *epsilon = p.eps, *lo = p.lo, *hi = p.hi, *centre = p.centre, sigma = p.sigma;
  for (int64_t i = first; i < last; i++) {
    const double a = r[i] + sigma, inverse = 1.0 / a, g = q[i] - f[i] + sigma * centre[i], eps = epsilon[i];
    const double s = soft(g, eps) * inverse;
    const bool flat = (s == 0.0) & (eps > 0.0);
    const double outside = larger(s - hi[i], lo[i] - s);
    slack[i] = flat ? eps - size(g) : a * larger(outside, 0.0);
    beta[i] = smaller(larger(s, lo[i]), hi[i]);
    rate[i] = (outside < 0.0) & !flat ? inverse : 0.0;
  }
}

// beta <- beta(f), rate <- minus its derivatives, slack <- how far f may move before beta does.
inline Proxied point(const Proximal &p, const double *f, double *beta, double *rate, double *slack) {
  double total[TURNS] = {}, conjugate[TURNS] = {}, distance[TURNS] = {}, reach[TURNS] = {};
  const auto add = [&](int64_t i, int l) {
    const double s = beta[i], away = s - p.centre[i];
    total[l] += s;
    conjugate[l] += (0.5 * p.r[i] * s - p.q[i]) * s + p.eps[i] * size(s);
    distance[l] += away * away;
    reach[l] = larger(reach[l], rate[i] != 0.0 ? size(away) : 0.0);
  };
  int64_t i = 0;
  for (; i + TURNS <= p.n; i += TURNS) {
    move(p, f, beta, rate, slack, i, i + TURNS);
    for (int l = 0; l < TURNS; l++) add(i + l, l);
  }
  move(p, f, beta, rate, slack, i, p.n);
  for (int l = 0; i + l < p.n; l++) add(i + l, l);
  double most = 0.0;
  for (int l = 0; l < TURNS; l++) most = larger(most, reach[l]);
  return {summed(total), summed(conjugate), summed(distance), most};
}

// sum_i beta_i(f + step df) df_i
inline double slope(const Proximal &p, const double *__restrict f, const double *__restrict df, double step) {
  const double *q = p.q, *r = p.r, *eps = p.eps, *lo = p.lo, *hi = p.hi, *centre = p.centre, sigma = p.sigma;
  double total[TURNS] = {};
  const auto add = [&](int64_t i, int l) {
    const double s = soft(q[i] - f[i] - step * df[i] + sigma * centre[i], eps[i]) / (r[i] + sigma);
    total[l] += smaller(larger(s, lo[i]), hi[i]) * df[i];
  };
  int64_t i = 0;
  for (; i + TURNS <= p.n; i += TURNS)
    for (int l = 0; l < TURNS; l++) add(i + l, l);
  for (int l = 0; i + l < p.n; l++) add(i + l, l);
  return summed(total);
}

// What a step of conjugate gradients makes of coefficients: see the twin.
inline void carry(const double *__restrict s, const double *__restrict rate, const double *__restrict near, const CarriedStep &step, int64_t n, double *__restrict direction, double *__restrict residual, double *__restrict f) {
  const auto [part, turn, centre, near_centre] = step;
  for (int64_t i = 0; i < n; i++) {
    const double along = turn * direction[i] + residual[i];
    direction[i] = along;
    residual[i] -= part * (along + (rate[i] * (s[i] - centre) - near[i] * (s[i] - near_centre)));
    f[i] += part * s[i];
  }
}

}  // namespace proximal
}  // namespace

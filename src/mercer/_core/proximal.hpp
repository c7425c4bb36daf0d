// Loops over all points for Newton steps with a proximal term: plain, one point after the other.
//
// beta_i(f) is the s with the least h_i(s) + f_i s + sigma/2 (s - centre_i)^2, h_i(s) = r/2 s^2 - q s + eps |s| on
// [lo, hi]: piecewise linear in f_i. Nothing depends on a branch, so that the loops vectorise.
#pragma once
#include <cstdint>

// The dual terms, each n numbers; centre and sigma.
struct Proximal {
  int64_t n;
  const double *q, *r, *eps, *lo, *hi, *centre;
  double sigma;
};

inline double larger_of(double a, double b) { return a > b ? a : b; }
inline double smaller_of(double a, double b) { return a < b ? a : b; }
inline double size_of(double a) { return __builtin_fabs(a); }
inline double soft(double g, double eps) { return larger_of(g - eps, 0.0) + smaller_of(g + eps, 0.0); }

struct Proxied {
  double total, conjugate, distance, reach;
};

// beta <- beta(f), rate <- minus its derivatives, slack <- how far f may move before beta does.
inline Proxied proximal_point(const Proximal &p, const double *f, double *beta, double *rate, double *slack) {
  Proxied sums{0.0, 0.0, 0.0, 0.0};
  for (int64_t i = 0; i < p.n; i++) {
    const double a = p.r[i] + p.sigma, inverse = 1.0 / a, g = p.q[i] - f[i] + p.sigma * p.centre[i], eps = p.eps[i];
    double s = soft(g, eps) * inverse;
    const bool flat = s == 0.0 && eps > 0.0;
    const double outside = larger_of(s - p.hi[i], p.lo[i] - s);
    const bool inside = outside < 0.0 && !flat;
    slack[i] = flat ? eps - size_of(g) : a * larger_of(outside, 0.0);
    s = smaller_of(larger_of(s, p.lo[i]), p.hi[i]);
    beta[i] = s;
    rate[i] = inside ? inverse : 0.0;
    const double away = s - p.centre[i];
    sums.total += s;
    sums.conjugate += (0.5 * p.r[i] * s - p.q[i]) * s + eps * size_of(s);
    sums.distance += away * away;
    sums.reach = larger_of(sums.reach, inside ? size_of(away) : 0.0);
  }
  return sums;
}

// sum_i beta_i(f + step df) df_i
inline double proximal_slope(const Proximal &p, const double *f, const double *df, double step) {
  double out = 0.0;
  for (int64_t i = 0; i < p.n; i++) {
    const double s = soft(p.q[i] - f[i] - step * df[i] + p.sigma * p.centre[i], p.eps[i]) / (p.r[i] + p.sigma);
    out += smaller_of(larger_of(s, p.lo[i]), p.hi[i]) * df[i];
  }
  return out;
}

// out += sum_k weight_k x x' over these sparse rows, on and above the diagonal (d x d); ones += sum weight_k x
template <class Index, class Given>
inline void add_sparse_squares(const Index *begin, const Index *column, const Given *value, const int64_t *rows, int64_t count, const double *weight, double *out, int64_t d, double *ones) {
  for (int64_t k = 0; k < count; k++) {
    const Index first = begin[rows[k]], last = begin[rows[k] + 1];
    for (Index e = first; e < last; e++) {
      const double a = weight[k] * double(value[e]);
      const int64_t i = column[e];
      ones[i] += a;
      for (Index g = e; g < last; g++) {
        const int64_t j = column[g];
        out[i <= j ? i * d + j : j * d + i] += a * double(value[g]);
      }
    }
  }
}

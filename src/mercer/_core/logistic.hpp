// Loops over all points for the logistic loss. Everything is made of exp(-|margin|), many points at a time.
//
// What is said of one point does not depend on where it stands. The order of a sum is the same on every level: eight
// lanes take turns, and are added in halves.
#pragma once
#include "descent.hpp"

namespace {
namespace logistic {

constexpr int TURNS = 8, PARTS = TURNS / LANES<double>;
constexpr double LOG2_HIGH = 6.93147180369123816490e-01, LOG2_LOW = 1.90821492927058770002e-10, LOG2 = 0.6931471805599453;

// 1/m! for m = 0 ... 13
struct Factorials {
  static constexpr int degree = 13;
  double inverse[degree + 1] = {1.0};
  constexpr Factorials() {
    for (int m = 1; m <= degree; m++) inverse[m] = inverse[m - 1] / m;
  }
};
constexpr Factorials FACTORIALS{};

// x <- exp(x) for x <= 0: x = k log(2) + r, and Taylor's polynomial for |r| <= log(2)/2 (the next term is below 5e-18)
inline void exponential(vec<double> &x) {
  const vec<double> magic = filled(0x1.8p52);  // adding it rounds to a whole number, of which k times LOG2_HIGH is exact
  const vec<double> shifted = x * 1.4426950408889634 + magic, k = shifted - magic;
  const vec<double> near = k * -LOG2_HIGH + x, r = k * -LOG2_LOW + near;
  vec<double> p = filled(FACTORIALS.inverse[Factorials::degree]);
#pragma GCC unroll 16
  for (int m = Factorials::degree - 1; m >= 0; m--) p = p * r + FACTORIALS.inverse[m];
  x = (vec<double>)(x < -708.0 ? ivec<double>{} : (ivec<double>)p + ((ivec<double>)shifted << 52));  // exp(-708.4) is the least normal number
}

// 2 atanh(s) for |s| <= 0.172, by the series of descent.hpp
inline void two_atanh(vec<double> &s) {
  const vec<double> square = s * s, cube = s * square, twice = s + s;
  vec<double> sum = filled(features::SERIES.odd[features::Series::terms - 1]);
#pragma GCC unroll 16
  for (int m = features::Series::terms - 2; m > 0; m--) sum = sum * square + features::SERIES.odd[m];
  s = cube * sum + twice;
}

// x <- log(x) of normal numbers: x = 2^k m with m between the roots of 1/2 and 2
inline void logarithm(vec<double> &x) {
  const ivec<double> bits = (ivec<double>)x, one = ivec<double>{} + 0x3ff0000000000000;
  const vec<double> whole = filled(0x1p52);  // the last bits of a number between it and its double are a whole number
  vec<double> k = (vec<double>)((ivec<double>)whole | (bits >> 52)) - (0x1p52 + 1023.0);
  vec<double> m = (vec<double>)((bits & 0xfffffffffffff) | one);
  const ivec<double> large = m > 1.4142135623730951;
  m = large ? m * 0.5 : m, k = large ? k + 1.0 : k;
  vec<double> s = (m - 1.0) / (m + 1.0);
  two_atanh(s);
  const vec<double> low = k * LOG2_LOW + s;
  x = k * LOG2_HIGH + low;
}

// exp(-|margin|), and 1 / (1 + exp(margin))
inline void other_label(const vec<double> &margin, vec<double> &e, vec<double> &part, vec<double> &other) {
  e = margin > 0.0 ? -margin : margin;
  exponential(e);
  part = 1.0 / (e + 1.0);
  other = margin > 0.0 ? e * part : part;
}

// Of L points: the loss log(1 + exp(-margin)), the probability of the other label, and the curvature
inline void evaluate(const double *margin, double *loss, double *other, double *curvature) {
  const vec<double> m = load(margin);
  vec<double> e, part, p;
  other_label(m, e, part, p);
  store(other, p);
  store(curvature, (e * part) * part);
  const ivec<double> small = e < 0.41421356237309503;  // else log(1 + e) = log(2) + log((1 + e)/2)
  vec<double> s = (small ? e : e - 1.0) / (small ? e + 2.0 : e + 3.0);
  two_atanh(s);
  store(loss, (small ? s : s + LOG2) - smaller(m, vec<double>{}));
}

// p log(p) + (1 - p) log(1 - p); infinite outside of 0 and 1
inline void entropy(const double *given, double *out) {
  const vec<double> p = load(given), q = 1.0 - p, least = filled(0x1p-1022);
  vec<double> log_p = larger(p, least), log_q = larger(q, least);
  logarithm(log_p), logarithm(log_q);
  const vec<double> own = p * log_p, sum = q * log_q + own;
  store(out, smaller(p, q) < 0.0 ? filled(__builtin_inf()) : sum);
}

// work(first, lanes) on whole vectors, and on a copy of what is left over
template <int IN, int OUT> inline void in_vectors(const double *const (&in)[IN], double *const (&out)[OUT], int64_t n, auto work) {
  constexpr int L = LANES<double>;
  int64_t i = 0;
  for (; i + L <= n; i += L) {
    const double *from[IN];
    double *to[OUT];
    for (int k = 0; k < IN; k++) from[k] = in[k] + i;
    for (int k = 0; k < OUT; k++) to[k] = out[k] + i;
    work(from, to);
  }
  if (i == n) return;
  double left[IN][L] = {}, found[OUT][L];
  const double *from[IN];
  double *to[OUT];
  for (int k = 0; k < IN; k++) from[k] = left[k];
  for (int k = 0; k < OUT; k++) to[k] = found[k];
  for (int k = 0; k < IN; k++)
    for (int64_t l = i; l < n; l++) left[k][l - i] = in[k][l];
  work(from, to);
  for (int k = 0; k < OUT; k++)
    for (int64_t l = i; l < n; l++) out[k][l] = found[k][l - i];
}

inline void evaluate_all(const double *margin, int64_t n, double *loss, double *other, double *curvature) {
  in_vectors<1, 3>({margin}, {loss, other, curvature}, n, [](auto &from, auto &to) { evaluate(from[0], to[0], to[1], to[2]); });
}
inline void entropies(const double *p, int64_t n, double *out) {
  in_vectors<1, 1>({p}, {out}, n, [](auto &from, auto &to) { entropy(from[0], to[0]); });
}

// The first and second derivative, in `part`, of sum C_i loss(y_i (f_i + part df_i))
inline Bends bends(const double *y, const double *C, const double *f, const double *df, double part, int64_t n) {
  vec<double> slope[PARTS] = {}, curvature[PARTS] = {};
  const auto add = [&](const double *y, const double *C, const double *f, const double *df) {
#pragma GCC unroll 4
    for (int k = 0; k < PARTS; k++) {
      const int at = k * LANES<double>;
      const vec<double> label = load(y + at), along = load(df + at), u = along * part + load(f + at);
      vec<double> e, share, p;
      other_label(label * u, e, share, p);
      const vec<double> weighted = load(C + at) * along, own = label * p, bend = weighted * along, rate = (e * share) * share;
      slope[k] = slope[k] - weighted * own;
      curvature[k] = bend * rate + curvature[k];
    }
  };
  int64_t i = 0;
  for (; i + TURNS <= n; i += TURNS) add(y + i, C + i, f + i, df + i);
  double left[4][TURNS] = {};
  for (int64_t l = i; l < n; l++) left[0][l - i] = y[l], left[1][l - i] = C[l], left[2][l - i] = f[l], left[3][l - i] = df[l];
  if (i < n) add(left[0], left[1], left[2], left[3]);
  alignas(64) double first[TURNS], second[TURNS];
  for (int k = 0; k < PARTS; k++) store(first + k * LANES<double>, slope[k]), store(second + k * LANES<double>, curvature[k]);
  for (int half = TURNS / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) first[l] = first[l] + first[l + half], second[l] = second[l] + second[l + half];
  return {first[0], second[0]};
}

}  // namespace logistic
}  // namespace

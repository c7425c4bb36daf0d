// Sums of products as if with twice the digits (Ogita, Rump, Oishi 2005, "Accurate sum and dot product", Dot2): what each
// product and each sum loses is itself known to the last digit, and summed up beside.
#pragma once
#include "loops.hpp"
#include "vectors.hpp"

namespace {

// The larger half of the digits of each lane (Veltkamp).
inline vec<double> half_of(vec<double> x) {
  const vec<double> far = x * 134217729.0;  // 2^27 + 1
  return far - (far - x);
}

// x y - product, which a number holds: by one fused operation, or by halves (Dekker).
inline vec<double> lost_by(vec<double> x, vec<double> y, vec<double> product) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return x * y - product;
#else
  const vec<double> a = half_of(x), b = x - a, c = half_of(y), d = y - c;
  return ((a * c - product) + a * d + b * c) + b * d;
#endif
}

// out_t <- sum_k v_k panel[slots_k, t], one after the other, for SUMMED columns.
inline void sum_panel(const double *panel, const int64_t *slots, const double *v, int64_t count, double *out) {
  constexpr int L = LANES<double>, AT_ONCE = 4;
  const volatile double none = 0;
  const vec<double> zeros = filled(double(none));  // so that no product is fused with the sum that follows
  for (int64_t t = 0; t < SUMMED; t += AT_ONCE * L) {
    vec<double> high[AT_ONCE] = {}, low[AT_ONCE] = {};
    for (int64_t k = 0; k < count; k++) {
      const double *row = panel + slots[k] * SUMMED + t;
      const vec<double> own = filled(v[k]);
#pragma GCC unroll 4
      for (int c = 0; c < AT_ONCE; c++) {
        const vec<double> x = load(row + c * L), product = own * x + zeros, sum = high[c] + product, added = sum - high[c];
        low[c] = low[c] + (((high[c] - (sum - added)) + (product - added)) + lost_by(own, x, product));
        high[c] = sum;
      }
    }
    for (int c = 0; c < AT_ONCE; c++) store(out + t + c * L, high[c] + low[c]);
  }
}

}  // namespace

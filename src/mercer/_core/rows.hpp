// Sums of rows that are kept, and the lower half of a symmetric matrix.
#pragma once
#include "vectors.hpp"

namespace {

// out_t += sum_k v_k rows[slots_k, t]: four rows at a time, one after the other, in pieces that stay in cache; float64
template <class Real> void add_rows(const Real *rows, int64_t stride, const int64_t *slots, const double *v, int64_t count, int64_t n, double *out) {
  constexpr int64_t PIECE = 1024;
  for (int64_t left = 0; left < n; left += PIECE) {
    const int64_t right = least_of(n, left + PIECE);
    int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
      const Real *a = rows + slots[k] * stride, *b = rows + slots[k + 1] * stride;
      const Real *c = rows + slots[k + 2] * stride, *e = rows + slots[k + 3] * stride;
      const double p = v[k], q = v[k + 1], r = v[k + 2], s = v[k + 3];
      for (int64_t t = left; t < right; t++) {
        double sum = p * double(a[t]) + out[t];
        sum = q * double(b[t]) + sum;
        sum = r * double(c[t]) + sum;
        out[t] = s * double(e[t]) + sum;
      }
    }
    for (; k < count; k++) {
      const Real *a = rows + slots[k] * stride;
      for (int64_t t = left; t < right; t++) out[t] = v[k] * double(a[t]) + out[t];
    }
  }
}

// K[i, j] <- K[j, i] for j < i, of the rows from first to last: by blocks, because one side goes across the memory
template <class Real> void mirror(Real *K, int64_t stride, int64_t first, int64_t last) {
  constexpr int64_t SIDE = 64;
  for (int64_t top = first; top < last; top += SIDE)
    for (int64_t left = 0; left < least_of(last, top + SIDE); left += SIDE)
      for (int64_t i = top; i < least_of(last, top + SIDE); i++)
        for (int64_t j = left; j < least_of(left + SIDE, i); j++) K[i * stride + j] = K[j * stride + i];
}

}  // namespace

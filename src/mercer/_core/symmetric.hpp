// Products of a symmetric matrix with a few vectors, from one half of it: it is read from memory once, and only its upper half.
#pragma once
#include "vectors.hpp"

namespace {

// out += what rows i to i + ROWS of K give from their diagonal on (n x n), and what mirrored they give to the rows below;
// V and out are n x width, and so many columns are done at a time that all sums stay in registers.
template <int ROWS> inline void add_symmetric_rows(const double *K, int64_t n, int64_t i, const double *V, int64_t width, double *out) {
  constexpr int L = LANES<double>;
  const double *k = K + i * n;
  for (int64_t c = 0; c < width; c += L) {
    vec<double> own[ROWS], sum[ROWS] = {};
    for (int r = 0; r < ROWS; r++) own[r] = load(V + (i + r) * width + c);
    for (int r = 0; r < ROWS; r++) {
      sum[r] = own[r] * k[r * n + i + r] + sum[r];
      for (int s = r + 1; s < ROWS; s++) sum[r] = own[s] * k[r * n + i + s] + sum[r], sum[s] = own[r] * k[r * n + i + s] + sum[s];
    }
    for (int64_t j = i + ROWS; j < n; j++) {
      const vec<double> v = load(V + j * width + c);
      vec<double> mirrored = load(out + j * width + c);
#pragma GCC unroll 4
      for (int r = 0; r < ROWS; r++) {
        sum[r] = v * k[r * n + j] + sum[r];
        mirrored = own[r] * k[r * n + j] + mirrored;
      }
      store(out + j * width + c, mirrored);
    }
    for (int r = 0; r < ROWS; r++) store(out + (i + r) * width + c, load(out + (i + r) * width + c) + sum[r]);
  }
}

// The same of the rows from start to stop. width is a multiple of 8.
inline void add_symmetric(const double *K, int64_t n, const double *V, int64_t width, double *out, int64_t start, int64_t stop) {
  constexpr int64_t ROWS = 4;
  int64_t i = start;
  for (; i + ROWS <= stop; i += ROWS) add_symmetric_rows<ROWS>(K, n, i, V, width, out);
  for (; i < stop; i++) add_symmetric_rows<1>(K, n, i, V, width, out);
}

}  // namespace

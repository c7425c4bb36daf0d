// Sums of squares of dense rows, sum_k weight_k x x': some rows at a time are packed by columns, and a square of the sum
// stays in registers while it grows. Each entry is summed up row by row, so that it is the same on every level.
#pragma once
#include "vectors.hpp"

namespace {

constexpr int64_t PACKED_ROWS = 64;  // whose columns stay in the nearest caches

// out += sum_k weight_k x x' over these rows, on and above the diagonal (d x d), ones += sum weight_k x. Sums over
// PACKED_ROWS rows are of the type Real.
template <class Real, class Given>
inline void add_dense_squares(const Given *X, int64_t d, const int64_t *rows, int64_t count, const double *weight, double *out, double *ones) {
  constexpr int L = LANES<Real>, ACROSS = 64 / int(sizeof(Real)), PARTS = ACROSS / L;  // columns of a square
  constexpr int DOWN = PARTS == 1 ? 8 : 4;                                            // its rows
  const int64_t width = (d + ACROSS - 1) / ACROSS * ACROSS;
  Zeros<Real> plain(PACKED_ROWS * width), scaled(PACKED_ROWS * width);  // [panel][row][column of the panel]
  for (int64_t from = 0; from < count; from += PACKED_ROWS) {
    const int64_t many = least_of(PACKED_ROWS, count - from);
    for (int64_t k = 0; k < many; k++) {
      const Given *x = X + rows[from + k] * d;
      const double factor = weight[from + k];
      for (int64_t j = 0; j < d; j += ACROSS)
        for (int64_t c = j; c < least_of(d, j + ACROSS); c++) plain[j * PACKED_ROWS + k * ACROSS + c - j] = Real(x[c]);
      for (int64_t i = 0; i < d; i += DOWN)
        for (int64_t r = i; r < least_of(d, i + DOWN); r++) {
          const double own = factor * double(x[r]);
          scaled[i * PACKED_ROWS + k * DOWN + r - i] = Real(own), ones[r] = ones[r] + own;
        }
    }
    for (int64_t j = 0; j < d; j += ACROSS)
      for (int64_t i = 0; i < least_of(d, j + ACROSS); i += DOWN) {
        const Real *a = scaled.at(i * PACKED_ROWS), *b = plain.at(j * PACKED_ROWS);
        vec<Real> s[DOWN][PARTS] = {};
        for (int64_t k = 0; k < many; k++)
#pragma GCC unroll 8
          for (int r = 0; r < DOWN; r++)
#pragma GCC unroll 4
            for (int p = 0; p < PARTS; p++) s[r][p] = load(b + k * ACROSS + p * L) * a[k * DOWN + r] + s[r][p];
        alignas(64) Real sum[ACROSS];
        for (int64_t r = i; r < least_of(d, i + DOWN); r++) {
          for (int p = 0; p < PARTS; p++) store(sum + p * L, s[r - i][p]);
          for (int64_t c = j > r ? j : r; c < least_of(d, j + ACROSS); c++) out[r * d + c] = out[r * d + c] + double(sum[c - j]);
        }
      }
  }
}

}  // namespace

// A symmetric positive definite system by Cholesky's factor, in a fixed order of sums. Lanes are different entries.
#pragma once
#include "vectors.hpp"

namespace {

constexpr int64_t STRIPE = 48;  // columns of the factor that are found together

// The factor of the block H[first .. first + many) on the diagonal, into its lower half; false, where it is not definite.
inline bool factor_block(double *H, int64_t stride, int64_t many) {
  for (int64_t i = 0; i < many; i++)
    for (int64_t j = 0; j <= i; j++) {
      double s = H[i * stride + j];
      for (int64_t k = 0; k < j; k++) s = fused(-H[i * stride + k], H[j * stride + k], s);
      if (i == j && !(s > 0.0)) return false;
      H[i * stride + j] = i == j ? __builtin_sqrt(s) : s / H[j * stride + j];
    }
  return true;
}

// across[k][i] <- the stripe's entry of row i, k by k; rows are padded to whole vectors
inline void solve_stripe(const double *block, int64_t stride, int64_t many, double *across, int64_t width) {
  constexpr int L = LANES<double>;
  for (int64_t k = 0; k < many; k++)
    for (int64_t i = 0; i < width; i += L) {
      vec<double> s = load(across + k * width + i);
      for (int64_t m = 0; m < k; m++) s = s - load(across + m * width + i) * block[k * stride + m];
      store(across + k * width + i, s / block[k * stride + k]);
    }
}

// H[i, j] -= sum_k across[k][i] across[k][j] for j <= i, of the rows that follow: four rows and two vectors at a time
inline void update(double *H, int64_t stride, int64_t rows, const double *across, int64_t many, int64_t width) {
  constexpr int L = LANES<double>;
  for (int64_t i = 0; i < rows; i += 4)
    for (int64_t j = 0; j <= i + 3 && j < rows; j += 2 * L) {
      vec<double> s[4][2] = {};
      for (int64_t k = 0; k < many; k++) {
        const double *row = across + k * width;
        const vec<double> x = load(row + j), y = load(row + j + L);
        for (int r = 0; r < 4; r++) {
          s[r][0] = x * row[i + r] + s[r][0];
          s[r][1] = y * row[i + r] + s[r][1];
        }
      }
      alignas(64) double sum[2 * L];
      for (int64_t r = 0; r < least_of(4, rows - i); r++) {
        store(sum, s[r][0]);
        store(sum + L, s[r][1]);
        double *to = H + (i + r) * stride + j;
        for (int64_t c = 0; c < least_of(2 * L, i + r + 1 - j); c++) to[c] = to[c] - sum[c];
      }
    }
}

// B <- H^-1 B for n x m, column by column; H is overwritten by its factor. False, where H is not positive definite.
inline bool solve_definite(double *H, int64_t n, double *B, int64_t m) {
  const int64_t width = (n + 31) / 16 * 16;
  Zeros<double> across(STRIPE * width);
  for (int64_t first = 0; first < n; first += STRIPE) {
    const int64_t many = least_of(STRIPE, n - first), rows = n - first - many;
    double *block = H + first * n + first, *below = block + many * n;
    if (!factor_block(block, n, many)) return false;
    for (int64_t k = 0; k < many; k++)
      for (int64_t i = 0; i < width; i++) across[k * width + i] = i < rows ? below[i * n + k] : 0.0;
    solve_stripe(block, n, many, across.at(0), width);
    for (int64_t i = 0; i < rows; i++)
      for (int64_t k = 0; k < many; k++) below[i * n + k] = across[k * width + i];
    update(below + many, n, rows, across.at(0), many, width);
  }
  for (int64_t c = 0; c < m; c++) {
    for (int64_t i = 0; i < n; i++) {
      double s = B[i * m + c];
      for (int64_t k = 0; k < i; k++) s = fused(-H[i * n + k], B[k * m + c], s);
      B[i * m + c] = s / H[i * n + i];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
      const double x = B[i * m + c] = B[i * m + c] / H[i * n + i];
      for (int64_t k = 0; k < i; k++) B[k * m + c] = fused(-H[i * n + k], x, B[k * m + c]);
    }
  }
  return true;
}

}  // namespace

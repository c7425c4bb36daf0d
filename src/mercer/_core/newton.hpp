// A symmetric positive definite system by Cholesky's factor, in a fixed order of sums. Lanes are different entries.
#pragma once
#include "vectors.hpp"

namespace {

constexpr int64_t STRIPE = 48;  // columns of the factor that are found together

// The factor of the block H[first .. first + many) on the diagonal, into its lower half; false, where it is not definite.
template <class Real> inline bool factor_block(Real *H, int64_t stride, int64_t many) {
  constexpr int L = LANES<Real>;
  alignas(64) Real columns[STRIPE][STRIPE] = {};  // what is left of each column, and the factor's
  for (int64_t i = 0; i < many; i++)
    for (int64_t k = 0; k <= i; k++) columns[k][i] = H[i * stride + k];
  for (int64_t j = 0; j < many; j++) {
    if (!(columns[j][j] > 0)) return false;
    const Real root = Real(__builtin_sqrt(double(columns[j][j])));
    for (int64_t i = j + 1; i < many; i++) columns[j][i] = columns[j][i] / root;
    columns[j][j] = root;
    for (int64_t k = j + 1; k < many; k++) {
      const Real own = columns[j][k];
      for (int64_t i = k / L * L; i < many; i += L) store(columns[k] + i, load(columns[k] + i) - load(columns[j] + i) * own);
    }
  }
  for (int64_t i = 0; i < many; i++)
    for (int64_t k = 0; k <= i; k++) H[i * stride + k] = columns[k][i];
  return true;
}

// across[k][i] <- the stripe's entry of row i, k by k; rows are padded to WIDE of them, whose sums do not wait for each other
template <class Real> inline void solve_stripe(const Real *block, int64_t stride, int64_t many, Real *across, int64_t width, int64_t size) {
  constexpr int L = LANES<Real>, WIDE = 32, AT_ONCE = WIDE / L;
  for (int64_t i = 0; i < size; i += WIDE)
    for (int64_t k = 0; k < many; k++) {
      Real *own = across + k * width + i;
      vec<Real> s[AT_ONCE];
#pragma GCC unroll 8
      for (int c = 0; c < AT_ONCE; c++) s[c] = load(own + c * L);
      for (int64_t m = 0; m < k; m++)
#pragma GCC unroll 8
        for (int c = 0; c < AT_ONCE; c++) s[c] = s[c] - load(across + m * width + i + c * L) * block[k * stride + m];
#pragma GCC unroll 8
      for (int c = 0; c < AT_ONCE; c++) store(own + c * L, s[c] / block[k * stride + k]);
    }
}

// H[i, j] -= sum_k across[k][i] across[k][j] for j <= i, of the rows that follow: four rows and two vectors at a time
template <class Real> inline void update(Real *H, int64_t stride, int64_t rows, const Real *across, int64_t many, int64_t width) {
  constexpr int L = LANES<Real>;
  for (int64_t i = 0; i < rows; i += 4)
    for (int64_t j = 0; j <= i + 3 && j < rows; j += 2 * L) {
      vec<Real> s[4][2] = {};
      for (int64_t k = 0; k < many; k++) {
        const Real *row = across + k * width;
        const vec<Real> x = load(row + j), y = load(row + j + L);
        for (int r = 0; r < 4; r++) {
          s[r][0] = x * row[i + r] + s[r][0];
          s[r][1] = y * row[i + r] + s[r][1];
        }
      }
      alignas(64) Real sum[2 * L];
      for (int64_t r = 0; r < least_of(4, rows - i); r++) {
        store(sum, s[r][0]);
        store(sum + L, s[r][1]);
        Real *to = H + (i + r) * stride + j;
        for (int64_t c = 0; c < least_of(2 * L, i + r + 1 - j); c++) to[c] = to[c] - sum[c];
      }
    }
}

// sum_k a_k b_k in PARTS sums, then one after the other
template <class Real> inline Real product_of(const Real *a, const Real *b, int64_t n) {
  constexpr int64_t PARTS = 32;
  Real parts[PARTS] = {}, sum = 0;
  int64_t k = 0;
  for (; k + PARTS <= n; k += PARTS)
    for (int64_t l = 0; l < PARTS; l++) parts[l] = fused(a[k + l], b[k + l], parts[l]);
  for (; k < n; k++) sum = fused(a[k], b[k], sum);
  for (int64_t l = 0; l < PARTS; l++) sum = sum + parts[l];
  return sum;
}

// H <- its factor, in the lower half; false, where H is not positive definite.
template <class Real> inline bool factor(Real *H, int64_t n) {
  const int64_t width = (n + 63) / 32 * 32;  // whole vectors, and a pair of them beyond the last row
  Zeros<Real> across(STRIPE * width);
  for (int64_t first = 0; first < n; first += STRIPE) {
    const int64_t many = least_of(STRIPE, n - first), rows = n - first - many, padded = (rows + 63) / 32 * 32;
    Real *block = H + first * n + first, *below = block + many * n;
    if (!factor_block(block, n, many)) return false;
    for (int64_t i = 0; i < padded; i++)
      for (int64_t k = 0; k < many; k++) across[k * width + i] = i < rows ? below[i * n + k] : 0;
    solve_stripe(block, n, many, across.at(0), width, padded);
    for (int64_t i = 0; i < rows; i++)
      for (int64_t k = 0; k < many; k++) below[i * n + k] = across[k * width + i];
    update(below + many, n, rows, across.at(0), many, width);
  }
  return true;
}

// B <- H^-1 B for n x m, column by column, where H holds its factor.
template <class Real> inline void substitute(const Real *H, int64_t n, Real *B, int64_t m) {
  Zeros<Real> x(n);
  for (int64_t c = 0; c < m; c++) {
    for (int64_t i = 0; i < n; i++) x[i] = (B[i * m + c] - product_of<Real>(H + i * n, x.at(0), i)) / H[i * n + i];
    for (int64_t i = n - 1; i >= 0; i--) {
      const Real own = B[i * m + c] = x[i] / H[i * n + i];
      for (int64_t k = 0; k < i; k++) x[k] = fused(-H[i * n + k], own, x[k]);
    }
  }
}

}  // namespace

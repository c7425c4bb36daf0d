// Kernel values of few points in one call, in float64: packed, and used at once. Of many points, columns.py cuts pieces.
#pragma once
#include <numeric>

#include "packing.hpp"

inline std::vector<int64_t> numbers(int64_t first, int64_t last) {
  std::vector<int64_t> all(size_t(last - first));
  std::iota(all.begin(), all.end(), first);
  return all;
}

// out <- k of the points among themselves
template <class Given> void square_points(const LoopsOf<double> &loops, const Given *X, int64_t n, int64_t d, const Tiled &tiled, double *out, int64_t stride) {
  const auto every = numbers(0, n);
  loops.square(PackedPoints<double>(X, every, d, tiled, GROUP), PackedPoints<double>(X, every, d, tiled, PANEL / 2), tiled.form, out, stride);
}

// out[p, m, t] += sum_j V[j, m] k(z_j, x_t) over part p of the z_j, which goes up to its end
template <class Given> void sum_points(const LoopsOf<double> &loops, const Given *Z, const Given *X, int64_t n, int64_t d, const Tiled &tiled, const double *V, int64_t many, const int64_t *ends, int64_t parts, double *out) {
  const PackedPoints<double> columns(X, numbers(0, n), d, tiled, PANEL / 2);
  for (int64_t p = 0; p < parts; p++) {
    const int64_t first = p ? ends[p - 1] : 0;
    if (ends[p] > first) loops.add(PackedPoints<double>(Z, numbers(first, ends[p]), d, tiled, GROUP), columns, tiled.form, V + first * many, many, out + p * many * n, n);
  }
}

// Points made ready: packed by coordinates, or their sums with sparse points by coordinates.
#pragma once
#include <vector>

#include "loops.hpp"

// packed[i / size][k][i % size] <- X[index_i, k] - centre_k, and levels_i <- factor |x_i - centre|^2, coordinates in order;
// zeros where there is no point. By strips of coordinates, so that each line of memory is read and written while it is near.
template <class Given, class Real> void pack(const Given *X, const int64_t *index, int64_t count, int64_t d, const double *centre, double factor, Real *packed, Real *levels, int64_t groups, int64_t size) {
  constexpr int64_t STRIP = 16, MOST = 64;  // coordinates, and points of a group or panel
  for (int64_t m = 0; m < groups; m++) {
    double norm[MOST] = {};
    for (int64_t first = 0; first < d; first += STRIP) {
      const int64_t last = first + STRIP < d ? first + STRIP : d;
      for (int64_t j = 0; j < size; j++) {
        const int64_t i = m * size + j;
        Real *out = packed + m * d * size + j;
        const Given *x = i < count ? X + index[i] * d : nullptr;
        double sum = norm[j];
        for (int64_t k = first; k < last; k++) {
          const Real value = x ? Real(double(x[k]) - centre[k]) : Real(0);
          out[k * size] = value;
          sum += double(value) * double(value);
        }
        norm[j] = sum;
      }
    }
    for (int64_t j = 0; j < size; j++) levels[m * size + j] = factor == 0 ? Real(0) : Real(factor * norm[j]);  // 0, whatever the point
  }
}

// Points packed for tiles: a form of them around a centre, and the factor of their levels.
struct Tiled {
  Form form;
  const double *centre;
  double factor;
};

template <class Real> struct PackedPoints {
  std::vector<Real> values, levels;
  int64_t count, d;
  template <class Given> PackedPoints(const Given *X, const std::vector<int64_t> &index, int64_t d, const Tiled &tiled, int64_t size) : count(int64_t(index.size())), d(d) {
    const int64_t groups = (count + size - 1) / size;
    values.resize(size_t(groups * size * d)), levels.resize(size_t(groups * size));
    pack(X, index.data(), count, d, tiled.centre, tiled.factor, values.data(), levels.data(), groups, size);
  }
  operator Packed<Real>() const { return {values.data(), levels.data(), count, d}; }
};

// A set of sparse points: by rows, or (of the columns of a block) by coordinates.
template <class Real> struct Sparse {
  const int32_t *start, *place;
  const Real *value;
};

// What two entries in the same coordinate change in the sum of a way, whose other terms are those of one point alone.
template <class Real> inline Real overlap(Way way, Real a, Real z) {
  const Real e = a > z ? a - z : z - a, size_a = a < 0 ? -a : a, size_z = z < 0 ? -z : z;
  switch (way) {
    case Way::distances: return e - size_a - size_z;
    case Way::minima: return a < z ? a : z;
    case Way::chi2: return a + z > 0 ? a * (z / (a + z)) : 0;
    case Way::chi2_distances: return a + z > 0 ? e * (e / (a + z)) - a - z : 0;
    default: return a * z;
  }
}

// out[slots_i, t] <- the sum over the coordinates that row i of A and point t have both: from columns that are inverted,
// so that what is zero in either is never met.
template <class Real> void sparse_sums(Sparse<Real> A, Sparse<Real> inverted, Way way, const int64_t *slots, int64_t count, Real *out, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < count; i++) {
    Real *row = out + slots[i] * stride;
    for (int64_t t = 0; t < n; t++) row[t] = 0;
    for (int64_t p = A.start[i]; p < A.start[i + 1]; p++) {
      const Real a = A.value[p];
      const int64_t first = inverted.start[A.place[p]], last = inverted.start[A.place[p] + 1];
      if (way == Way::products)
        for (int64_t q = first; q < last; q++) row[inverted.place[q]] += a * inverted.value[q];
      else
        for (int64_t q = first; q < last; q++) row[inverted.place[q]] += overlap(way, a, inverted.value[q]);
    }
  }
}

// K <- the block of the points W, sorted: from rows that are kept (slots >= 0), else from `own`, the block of the others
// among themselves. Rows of the others are the mirror image, in strips that stay in cache.
template <class Real> void gather(const Real *rows, int64_t stride, const int64_t *slots, const int64_t *W, int64_t size, const Real *own, int64_t own_stride, Real *K, int64_t width) {
  constexpr int64_t STRIP = 16;
  for (int64_t a = 0, place = 0; a < size; a++) {
    if (slots[a] >= 0) {
      const Real *row = rows + slots[a] * stride;
      for (int64_t b = 0; b < size; b++) K[a * width + b] = row[W[b]];
    } else {
      const Real *row = own + place++ * own_stride;
      for (int64_t b = 0; b < size; b++)
        if (slots[b] < 0) K[a * width + b] = *row++;
    }
  }
  for (int64_t a = 0; a < size; a += STRIP)
    for (int64_t b = 0; b < size; b++)
      if (slots[b] < 0)
        for (int64_t c = a; c < a + STRIP && c < size; c++)
          if (slots[c] >= 0) K[b * width + c] = K[c * width + b];
}

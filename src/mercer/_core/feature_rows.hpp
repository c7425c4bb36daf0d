// Rows of features and of K: their products with a vector, and their sums. Numbers may be float32; sums are float64.
//
// The order of a sum is the same on every level: 16 lanes take turns, then they are added in halves, and each half takes
// what is left over for it. Entries of sparse rows go to four sums in turn.
#pragma once
#include "features.hpp"
#include "vectors.hpp"

namespace {
namespace features {

constexpr int WIDE = 16;

typedef double Four __attribute__((vector_size(32)));
inline void load_four(const double *x, Four &out) { out = Four{x[0], x[1], x[2], x[3]}; }
inline void load_four(const float *x, Four &out) {
  typedef float few __attribute__((vector_size(16)));
  const few values = {x[0], x[1], x[2], x[3]};
  out = __builtin_convertvector(values, Four);
}
// The second half of eight lanes added to the first. (With a mask of all lanes: the plain form begins with a register that
// GCC 12 takes for uninitialized, where sanitizers are on.)
#if BYTES == 64
inline void halved(const vec<double> &s, Four &out) { out = (Four)_mm512_maskz_extractf64x4_pd(0xF, (__m512d)s, 0) + (Four)_mm512_maskz_extractf64x4_pd(0xF, (__m512d)s, 1); }
#endif

template <class A, class B> inline double dot(const A *x, const B *w, int64_t d) {
  constexpr int L = LANES<double>, PARTS = WIDE / L;
  vec<double> s[PARTS] = {};
  int64_t j = 0;
  for (; j + WIDE <= d; j += WIDE)
#pragma GCC unroll 8
    for (int p = 0; p < PARTS; p++) s[p] = load_wide(x + j + p * L) * load_wide(w + j + p * L) + s[p];
#pragma GCC unroll 4
  for (int half = PARTS / 2; half * L >= 4; half /= 2) {
#pragma GCC unroll 8
    for (int p = 0; p < half; p++) s[p] = s[p] + s[p + half];
    if (j + half * L > d) continue;
#pragma GCC unroll 8
    for (int p = 0; p < half; p++) s[p] = load_wide(x + j + p * L) * load_wide(w + j + p * L) + s[p];
    j += half * L;
  }
#if BYTES == 64
  Four four;
  halved(s[0], four);
  if (j + 4 <= d) {
    Four a, b;
    load_four(x + j, a), load_four(w + j, b);
    four = a * b + four;
    j += 4;
  }
#elif BYTES == 32
  const Four &four = s[0];
#else
  const double four[4] = {s[0][0], s[0][1], s[1][0], s[1][1]};
#endif
  double first = four[0] + four[2], second = four[1] + four[3];
  if (j + 2 <= d) {
    first = fused(double(x[j]), double(w[j]), first), second = fused(double(x[j + 1]), double(w[j + 1]), second);
    j += 2;
  }
  const double sum = first + second;
  return j < d ? fused(double(x[j]), double(w[j]), sum) : sum;
}

template <class Real> inline void add_row(const Real *__restrict x, double step, double *__restrict out, int64_t d) {
  for (int64_t j = 0; j < d; j++) out[j] = fused(step, double(x[j]), out[j]);
}

template <class Real> struct DenseRows {
  const Real *value;
  int64_t width;
  static constexpr int AT_ONCE = 8;  // rows that are added together: the sums are read and written as often as anything

  const Real *row(int64_t i) const { return value + i * width; }
  double dot(int64_t i, const double *w) const { return features::dot(row(i), w, width); }
  double square(int64_t i) const { return features::dot(row(i), row(i), width); }
  void add(int64_t i, double step, double *out) const { add_row(row(i), step, out, width); }
  void add_together(const int64_t *index, const double *v, double *__restrict out) const {
    const Real *A = row(index[0]), *B = row(index[1]), *C = row(index[2]), *D = row(index[3]);
    const Real *E = row(index[4]), *F = row(index[5]), *G = row(index[6]), *H = row(index[7]);
    const double a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];
    for (int64_t j = 0; j < width; j++) {
      const double low = fused(a, double(A[j]), b * double(B[j])) + fused(c, double(C[j]), d * double(D[j]));
      const double high = fused(e, double(E[j]), f * double(F[j])) + fused(g, double(G[j]), h * double(H[j]));
      out[j] = out[j] + (low + high);
    }
  }
  void expect(int64_t i) const { __builtin_prefetch(row(i)); }
  // As rows of features, in a pass: the k-th visit is to row i.
  double score(int64_t, int64_t i, const double *image) const { return dot(i, image); }
  void change(int64_t, int64_t i, double step, double *image) const { add(i, step, image); }
};

typedef int64_t places __attribute__((vector_size(32)));
constexpr int64_t LEFT[7] = {-1, -1, -1, 0, 0, 0, 0};  // from the entry 3 - k on: a mask of the first k lanes of four

// Inlined always: a call for each short row takes as long as half of the sum.
template <class Real, class Place> struct SparseRows {
  const Place *begin, *column;
  const Real *value;
  int64_t width;
  static constexpr int AT_ONCE = 1;

  [[gnu::always_inline]] double dot(int64_t i, const double *w) const {
    return summed(i, [w, this](int64_t e) __attribute__((always_inline)) { return w[column[e]]; });
  }
  double square(int64_t i) const {
    return summed(i, [this](int64_t e) { return double(value[e]); });
  }
  [[gnu::always_inline]] void add(int64_t i, double step, double *out) const {
    const int64_t end = begin[i + 1];
    for (int64_t e = begin[i]; e < end; e++) out[column[e]] = fused(step, double(value[e]), out[column[e]]);
  }
  void add_together(const int64_t *index, const double *v, double *out) const { add(index[0], v[0], out); }
  void expect(int64_t i) const {
    __builtin_prefetch(value + begin[i]);
    __builtin_prefetch(column + begin[i]);
  }
  double score(int64_t, int64_t i, const double *image) const { return dot(i, image); }
  void change(int64_t, int64_t i, double step, double *image) const { add(i, step, image); }

 private:
  // What is left over goes to the first sums, with zeros to the others: no branch, since rows end where nobody foresees.
  [[gnu::always_inline]] double summed(int64_t i, auto other) const {
    Four sums = {}, x;
    int64_t e = begin[i];
    const int64_t end = begin[i + 1], last = end - 1;
    if (e == end) return 0.0;
    for (; e + 4 <= end; e += 4) {
      load_four(value + e, x);
      sums = x * Four{other(e), other(e + 1), other(e + 2), other(e + 3)} + sums;
    }
    const int64_t a = least_of(e, last), b = least_of(e + 1, last), c = least_of(e + 2, last);
    places left;
    __builtin_memcpy(&left, LEFT + 3 - (end - e), sizeof left);
    const Four v = {double(value[a]), double(value[b]), double(value[c]), 0.0}, w = {other(a), other(b), other(c), 0.0};
    sums = (left ? v : Four{}) * (left ? w : Four{}) + sums;
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
};

// Row k of K is that of the k-th point visited; the image holds all scores.
template <class Real> struct KernelRows {
  const Real *value;
  int64_t width;
  double score(int64_t, int64_t i, const double *image) const { return image[i]; }
  void change(int64_t k, int64_t, double step, double *image) const { add_row(value + k * width, step, image, width); }
  void expect(int64_t) const {}
};

// Calls f with rows of the type that they are.
template <class Real> auto with_rows_of(const AnyRows &r, auto f) {
  const Real *value = static_cast<const Real *>(r.value);
  if (!r.sparse) return f(DenseRows<Real>{value, r.width});
  if (r.wide) return f(SparseRows<Real, int64_t>{static_cast<const int64_t *>(r.begin), static_cast<const int64_t *>(r.column), value, r.width});
  return f(SparseRows<Real, int32_t>{static_cast<const int32_t *>(r.begin), static_cast<const int32_t *>(r.column), value, r.width});
}
auto with_rows(const AnyRows &r, auto f) { return r.single ? with_rows_of<float>(r, f) : with_rows_of<double>(r, f); }
auto with_kernel_rows(const AnyRows &r, auto f) {
  if (r.single) return f(KernelRows<float>{static_cast<const float *>(r.value), r.width});
  return f(KernelRows<double>{static_cast<const double *>(r.value), r.width});
}

// Whether the columns of sparse rows from start to stop are within the width: no branch, but the sign of any that is not.
template <class Place> bool columns_within(const AnyRows &rows, int64_t start, int64_t stop) {
  const Place *begin = static_cast<const Place *>(rows.begin), *column = static_cast<const Place *>(rows.column);
  const Place last = Place(rows.width - 1);
  Place outside = 0;
  for (int64_t e = begin[start]; e < begin[stop]; e++) outside |= column[e] | (last - column[e]);
  return outside >= 0;
}
inline bool within(const AnyRows &rows, int64_t start, int64_t stop) {
  return rows.wide ? columns_within<int64_t>(rows, start, stop) : columns_within<int32_t>(rows, start, stop);
}

// out_i <- <x_i, w>
inline void dots(const AnyRows &any, const double *w, double *out, int64_t start, int64_t stop) {
  with_rows(any, [=](auto rows) {
    for (int64_t i = start; i < stop; i++) out[i] = rows.dot(i, w);
  });
}

// out_i <- |x_i|^2
inline void squares(const AnyRows &any, double *out, int64_t start, int64_t stop) {
  with_rows(any, [=](auto rows) {
    for (int64_t i = start; i < stop; i++) out[i] = rows.square(i);
  });
}

// out += sum of factor(i) x_i, as many rows at a time as are best added together; zeros are left out
template <class Rows> void add_all(const Rows &rows, auto factor, double *out, int64_t start, int64_t stop) {
  int64_t index[Rows::AT_ONCE];
  double v[Rows::AT_ONCE];
  int size = 0;
  for (int64_t i = start; i < stop; i++) {
    v[size] = factor(i);
    if (v[size] == 0.0) continue;
    index[size++] = i;
    if (size < Rows::AT_ONCE) continue;
    rows.add_together(index, v, out);
    size = 0;
  }
  for (int k = 0; k < size; k++) rows.add(index[k], v[k], out);
}

// out += sum_i v_i x_i
inline void combine(const AnyRows &any, const double *v, double *out, int64_t start, int64_t stop) {
  with_rows(any, [=](auto rows) { add_all(rows, [v](int64_t i) { return v[i]; }, out, start, stop); });
}

// s_i <- <x_i, w> + shift, and out += sum_i rate_i s_i x_i: rows are read once for both
inline void weighted(const AnyRows &any, const double *w, double shift, const double *rate, double *s, double *out, int64_t start, int64_t stop) {
  with_rows(any, [=](auto rows) {
    add_all(rows, [&](int64_t i) { return rate[i] * (s[i] = rows.dot(i, w) + shift); }, out, start, stop);
  });
}

}  // namespace features
}  // namespace

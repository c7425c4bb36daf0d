// Sums of kernel values over rows, tile by tile. Of float32 exponentials a value never goes through memory: it is weighed
// where it is computed, and the few rows of a group are added up in float32 before they reach a sum in float64.
#pragma once
#include "tiles.hpp"

namespace {

// use(row, column, its vector) for all of 2^(factor s + level of the column), row by row: the value without the level of
// the row, of which 2^level is left for the weights. (It is at least 2^HEAVY.)
template <class Real, class Use> [[gnu::always_inline]] inline void exponentials_of_columns(Real factor, const Real *levels, const Tile<Real> &tile, int left, Use use) {
  constexpr int L = LANES<Real>, R = TOGETHER;
#pragma GCC unroll 8
  for (int r = 0; r < GROUP; r += R) {
    vec<Real> s[3 * R];
#pragma GCC unroll 8
    for (int c = 0; c < 3 * R; c++) s[c] = load(&tile.at[r + c / 3][left + c % 3 * L]) * factor + load(levels + left + c % 3 * L);
    exp2_of<Real, 3 * R>(s);
#pragma GCC unroll 8
    for (int c = 0; c < 3 * R; c++) use(r + c / 3, c % 3, s[c]);
  }
}

// total <- sum_r v_r 2^(factor s + level of the column); no value goes through memory.
template <class Real> inline void weigh_exponentials(Real factor, const Real *levels, const Tile<Real> &tile, const Real *v, Real *total) {
  constexpr int L = LANES<Real>;
  for (int left = 0; left < PANEL_OF<Real>; left += 3 * L) {
    vec<Real> sum[3] = {};
    exponentials_of_columns(factor, levels, tile, left, [&](int r, int c, vec<Real> k) __attribute__((always_inline)) { sum[c] = k * v[r] + sum[c]; });
    for (int c = 0; c < 3; c++) store(total + left + c * L, sum[c]);
  }
}
template <class Real> inline void keep_exponentials(Real factor, const Real *levels, Tile<Real> &tile) {
  constexpr int L = LANES<Real>;
  for (int left = 0; left < PANEL_OF<Real>; left += 3 * L)
    exponentials_of_columns(factor, levels, tile, left, [&](int r, int c, vec<Real> k) __attribute__((always_inline)) { store(&tile.at[r][left + c * L], k); });
}

// total <- sum_r v_r of the numbers of a tile
template <class Real> inline void weigh(const Tile<Real> &tile, const Real *v, Real *total) {
  constexpr int L = LANES<Real>;
  for (int c = 0; c < PANEL_OF<Real>; c += L) {
    vec<Real> sum = {};
    for (int r = 0; r < GROUP; r++) sum = load(tile.at[r] + c) * v[r] + sum;
    store(total + c, sum);
  }
}

// Whether values are float32 exponentials, which are at most 1: sums over a few of them may be float32, too.
template <class Real> inline bool narrow(const Form &form) { return sizeof(Real) == 4 && form.map == Map::exponential; }

// to <- 2^level of the rows of a group, or ones where these go by differences
template <class Real> inline void own_parts(const Form &form, const Real *levels, double (&to)[GROUP]) {
  constexpr int L = LANES<double>;
  const bool heavy = form.way == Way::products && is_heavy(levels);
  for (int r = 0; r < GROUP; r++) to[r] = heavy ? 0.0 : double(levels[r]);
  for (int r = 0; r < GROUP; r += L) {
    vec<double> t[1] = {load(to + r)};
    exp2_of<double, 1>(t);
    store(to + r, t[0]);
  }
}

inline double largest_size(const double *numbers, int64_t count) {
  double largest = 0;
  for (int64_t k = 0; k < count; k++) largest = larger(largest, numbers[k] < 0 ? -numbers[k] : numbers[k]);
  return largest;
}

// Weights of rows, times the part of the values that is theirs alone; those of a group in units of a power of two, so that
// float32 holds their products.
template <class Real> struct Weights {
  Zeros<Real> v;        // by groups, each by columns of V
  Zeros<double> units;  // of each group
  Weights(const Form &form, const Real *levels, const double *V, int64_t count, int64_t many) : v((count + GROUP) / GROUP * GROUP * many), units(count / GROUP + 1) {
    double own[GROUP];
    for (int64_t i = 0; i < count; i += GROUP) {
      own_parts(form, levels + i, own);
      const int64_t rows = least_of(GROUP, count - i);
      const double unit = power_below(largest_size(V + i * many, rows * many));
      for (int64_t m = 0; m < many; m++)
        for (int64_t r = 0; r < rows; r++) v[i * many + m * GROUP + r] = Real(V[(i + r) * many + m] / unit * own[r]);
      units[i / GROUP] = unit;
    }
  }
};

// sum += wide numbers, in parts of a unit
template <class Real> inline void add_wide(const Real *numbers, int64_t count, double unit, double *sum) {
  for (int64_t c = 0; c < count; c += LANES<double>) store(sum + c, load_wide(numbers + c) * unit + load(sum + c));
}

// sums[m, t] += sum_r V[r, m] k(a_r, z_t), row by row in float64, at three vectors of places. Values of a whole group stay in
// registers for all m.
template <class Real> inline void add_some_of(const Tile<Real> &tile, int c, int64_t rows, const double *V, int64_t many, double *sums) {
  constexpr int P = PANEL_OF<Real>, L = LANES<double>;
  for (int64_t m = 0; m < many; m++) {
    double *at = sums + m * P + c;
    vec<double> x = load(at), y = load(at + L), z = load(at + 2 * L);
    for (int64_t r = 0; r < rows; r++) {
      const double own = V[r * many + m];
      const Real *from = tile.at[r] + c;
      x = load_wide(from) * own + x;
      y = load_wide(from + L) * own + y;
      z = load_wide(from + 2 * L) * own + z;
    }
    store(at, x), store(at + L, y), store(at + 2 * L, z);
  }
}
template <class Real> inline void add_group_of(const Tile<Real> &tile, int c, const double *V, int64_t many, double *sums) {
  constexpr int P = PANEL_OF<Real>, L = LANES<double>;
  vec<double> k[GROUP][3];
#pragma GCC unroll 8
  for (int r = 0; r < GROUP; r++)
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++) k[r][j] = load_wide(tile.at[r] + c + j * L);
  for (int64_t m = 0; m < many; m++) {
    double *at = sums + m * P + c;
    vec<double> x = load(at), y = load(at + L), z = load(at + 2 * L);
#pragma GCC unroll 8
    for (int r = 0; r < GROUP; r++) {
      const double own = V[r * many + m];
      x = k[r][0] * own + x;
      y = k[r][1] * own + y;
      z = k[r][2] * own + z;
    }
    store(at, x), store(at + L, y), store(at + 2 * L, z);
  }
}
template <class Real> inline void add_rows_of(const Tile<Real> &tile, int64_t rows, const double *V, int64_t many, double *sums) {
  for (int c = 0; c < PANEL_OF<Real>; c += 3 * LANES<double>) rows == GROUP ? add_group_of(tile, c, V, many, sums) : add_some_of(tile, c, rows, V, many, sums);
}

// out[m, t] += sum_i V[i, m] k(a_i, z_t), row by row in float64; a block of rows is added up before it reaches out. Of
// float32 exponentials, which are at most 1, the rows of a group are added up in float32 before.
template <class Real> void add(Packed<Real> A, Packed<Real> Z, const Form &form, const double *V, int64_t many, double *out, int64_t stride) {
  constexpr int P = PANEL_OF<Real>;
  const bool slim = narrow<Real>(form);
  const Real factor = Real(form.factor);
  Zeros<double> sum(many * P);
  Weights<Real> weights(form, A.levels, V, slim ? A.count : 0, many);
  alignas(64) Real group[P];
  for_open_tiles(A, Z, form, false, [&](int64_t i, int64_t t, Tile<Real> &tile, bool open) {
    const bool fused = open && slim && many == 1;
    if (i % BLOCK == 0)
      for (int64_t k = 0; k < many * P; k++) sum[k] = 0.0;
    if (open && !fused) slim ? keep_exponentials(factor, Z.levels + t, tile) : finish_exponentials(factor, A.levels + i, Z.levels + t, tile);
    if (!slim) add_rows_of(tile, least_of(GROUP, A.count - i), V + i * many, many, sum.at(0));
    for (int64_t m = 0; slim && m < many; m++) {
      const Real *v = weights.v.at(i * many + m * GROUP);
      fused ? weigh_exponentials(factor, Z.levels + t, tile, v, group) : weigh(tile, v, group);
      add_wide(group, P, weights.units[i / GROUP], sum.at(m * P));
    }
    if (i + GROUP >= A.count || (i + GROUP) % BLOCK == 0)
      for (int64_t m = 0; m < many; m++)
        for (int64_t c = 0; c < least_of(P, Z.count - t); c++) out[m * stride + t + c] += sum[m * P + c];
  });
}

// below_t += sum_i v_i k(a_i, z_t) and above_i += sum_t w_t k(a_i, z_t): each value is used twice. A row is added up by
// places in the panel, these in order.
template <class Real> void add_both_wide(Packed<Real> A, Packed<Real> Z, const Form &form, const double *v, const double *w, double *below, double *above) {
  constexpr int P = PANEL_OF<Real>, L = LANES<double>;
  Zeros<double> across(A.count * P), weights(Z.count + P);
  copy(w, Z.count, weights.at(0));
  for_tiles(A, Z, form, false, [&](int64_t i, int64_t t, const Tile<Real> &tile) {
    const int64_t rows = least_of(GROUP, A.count - i);
    alignas(64) double sum[P] = {};
    for (int c = 0; c < P; c += L) {
      const vec<double> weight = load<double>(weights.at(t + c));
      vec<double> x = {};
      for (int64_t r = 0; r < rows; r++) {
        const vec<double> k = load_wide(tile.at[r] + c);
        x = k * v[i + r] + x;
        double *at = across.at((i + r) * P + c);
        store(at, k * weight + load(at));
      }
      store(sum + c, x);
    }
    for (int64_t c = 0; c < least_of(P, Z.count - t); c++) below[t + c] += sum[c];
  });
  for (int64_t i = 0; i < A.count; i++)
    for (int c = 0; c < P; c++) above[i] += across[i * P + c];
}

// The same of float32 exponentials: what a group adds to a column is added up in float32, and so is what a panel adds to a
// row, by places in a third of it.
template <class Real> void add_both_narrow(Packed<Real> A, Packed<Real> Z, const Form &form, const double *v, const double *w, double *below, double *above) {
  constexpr int P = PANEL_OF<Real>, L = LANES<Real>, third = P / 3;
  Weights<Real> rows(form, A.levels, v, A.count, 1);
  Zeros<double> across((A.count + GROUP) * third);
  Zeros<Real> weights(Z.count + P);
  const double unit = power_below(largest_size(w, Z.count));
  for (int64_t t = 0; t < Z.count; t++) weights[t] = Real(w[t] / unit);
  alignas(64) Real group[P], own[third];
  for_open_tiles(A, Z, form, false, [&](int64_t i, int64_t t, Tile<Real> &tile, bool open) {
    if (open) keep_exponentials(Real(form.factor), Z.levels + t, tile);
    alignas(64) double sum[P] = {};
    weigh(tile, rows.v.at(i), group);
    add_wide(group, P, rows.units[i / GROUP], sum);
    for (int64_t c = 0; c < least_of(P, Z.count - t); c++) below[t + c] += sum[c];
    for (int r = 0; r < GROUP; r++) {
      for (int c = 0; c < third; c += L) {
        const Real *at = tile.at[r] + c, *weight = weights.at(t + c);
        const vec<Real> first = load(at) * load(weight), second = load(at + third) * load(weight + third) + first;
        store(own + c, load(at + 2 * third) * load(weight + 2 * third) + second);
      }
      add_wide(own, third, unit, across.at((i + r) * third));
    }
  });
  double parts[GROUP];
  for (int64_t i = 0; i < A.count; i++) {
    if (i % GROUP == 0) own_parts(form, A.levels + i, parts);
    double sum = 0;
    for (int c = 0; c < third; c++) sum += across[i * third + c];
    above[i] = fused(sum, parts[i % GROUP], above[i]);
  }
}

template <class Real> void add_both(Packed<Real> A, Packed<Real> Z, const Form &form, const double *v, const double *w, double *below, double *above) {
  (narrow<Real>(form) ? add_both_narrow<Real> : add_both_wide<Real>)(A, Z, form, v, w, below, above);
}

}  // namespace

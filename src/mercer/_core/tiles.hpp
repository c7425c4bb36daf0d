// Kernel values of packed points, tile by tile. A tile is a group of rows by a panel of columns. Three steps make it:
//
//     sums     s = sum_k g(a_k, z_k), where g is the form's way; in registers, coordinate by coordinate in order
//     finish   s becomes the kernel's value by the form's map; in the nearest cache, three vectors at a time
//     take     what the caller does with it: store it, or add it up in float64
//
// Each value is the same on every level: lanes are different values, never parts of one sum.
#pragma once
#include "loops.hpp"
#include "rows.hpp"
#include "vectors.hpp"

namespace {

constexpr int ROWS = BYTES == 64 ? 8 : 4;  // rows whose sums fit into the registers
constexpr int64_t BLOCK = 2 * PANEL;       // rows that pass while a panel stays in cache
constexpr int64_t IN_CACHE = 1 << 19;      // bytes of panels that stay there
template <class Real> constexpr int PANEL_OF = PANEL * 4 / int(sizeof(Real));
template <class Real> struct Tile { alignas(64) Real at[GROUP][PANEL_OF<Real>]; };

template <class Real> inline void copy(const Real *from, int64_t count, Real *to) {
  for (int64_t t = 0; t < count; t++) to[t] = from[t];
}

template <Way way, class Real> inline vec<Real> term(vec<Real> s, Real number, vec<Real> z) {
  const vec<Real> a = filled(number);
  if constexpr (way == Way::products) return a * z + s;
  const vec<Real> e = z - a, least = filled(Real(sizeof(Real) == 4 ? 0x1p-126 : 0x1p-1022));  // makes 0/0 a 0
  if constexpr (way == Way::squares) return e * e + s;
  if constexpr (way == Way::distances) return s + larger(e, -e);
  if constexpr (way == Way::minima) return s + smaller(a, z);
  if constexpr (way == Way::chi2) return a * (z / larger(a + z, least)) + s;
  if constexpr (way == Way::chi2_distances) return e * (e / larger(a + z, least)) + s;
  if constexpr (way == Way::counts) {  // how many bits differ, byte by byte
    bits_of<Real> x = (bits_of<Real>)a ^ (bits_of<Real>)z;
    using word = typename Number<Real>::word;
#ifdef __AVX512VPOPCNTDQ__
    for (int l = 0; l < LANES<Real>; l++) x[l] = word(sizeof(Real) == 4 ? __builtin_popcount(unsigned(x[l])) : __builtin_popcountll(x[l]));
#else
    constexpr word ones = word(0x5555555555555555), twos = word(0x3333333333333333), fours = word(0x0F0F0F0F0F0F0F0F);
    x = x - ((x >> 1) & ones);
    x = (x & twos) + ((x >> 2) & twos);
    x = (x + (x >> 4)) & fours;
#endif
    return (vec<Real>)((bits_of<Real>)s + x);
  }
}

// Counts by bytes become numbers; other sums are numbers already.
template <Way way, class Real> inline vec<Real> total(vec<Real> s) {
  if constexpr (way != Way::counts) return s;
  else {
    using word = typename Number<Real>::word;
    bits_of<Real> x = (bits_of<Real>)s;
#ifndef __AVX512VPOPCNTDQ__
    x = (x & word(0x00FF00FF00FF00FF)) + ((x >> 8) & word(0x00FF00FF00FF00FF));
    x = x + (x >> 16);
    if constexpr (sizeof(Real) == 8) x = x + (x >> 32);
#endif
    return __builtin_convertvector((ivec<Real>)(x & word(0xFFFF)), vec<Real>);
  }
}

// tile <- the sums of a group and a panel: over SPAN coordinates in order, and then over these sums. So the rounding of a
// sum of d terms is that of SPAN + d / SPAN of them, and counts by bytes do not overflow.
template <Way way, class Real> inline void sums(const Real *A, const Real *Z, int64_t d, Tile<Real> &tile) {
  constexpr int L = LANES<Real>, P = PANEL_OF<Real>;
  int64_t first = 0;
  do {
    const int64_t many = least_of(SPAN, d - first);
    for (int top = 0; top < GROUP; top += ROWS)
      for (int left = 0; left < P; left += 3 * L) {
        vec<Real> s[ROWS][3] = {};
        const Real *a = A + first * GROUP + top, *z = Z + first * P + left;
        for (int64_t k = 0; k < many; k++, a += GROUP, z += P) {
          const vec<Real> x = load(z), y = load(z + L), w = load(z + 2 * L);
#pragma GCC unroll 8
          for (int r = 0; r < ROWS; r++) {
            s[r][0] = term<way, Real>(s[r][0], a[r], x);
            s[r][1] = term<way, Real>(s[r][1], a[r], y);
            s[r][2] = term<way, Real>(s[r][2], a[r], w);
          }
        }
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++)
          for (int c = 0; c < 3; c++) {
            Real *at = &tile.at[top + r][left + c * L];
            const vec<Real> sum = total<way, Real>(s[r][c]);
            store(at, first == 0 ? sum : load(at) + sum);
          }
      }
    first += SPAN;
  } while (first < d);
}

// change(first place, three vectors) for all of a strip of numbers, three vectors at a time; what is left over is padded
// with ones, for which every map is defined.
template <class Real, class Change> inline void for_threes(Real *strip, int64_t count, Change change) {
  constexpr int L = LANES<Real>;
  auto three = [&](int64_t t, Real *at) {
    vec<Real> s[3] = {load(at), load(at + L), load(at + 2 * L)};
    change(t, s);
    for (int c = 0; c < 3; c++) store(at + c * L, s[c]);
  };
  int64_t t = 0;
  for (; t + 3 * L <= count; t += 3 * L) three(t, strip + t);
  if (t == count) return;
  Real rest[3 * L];
  for (int l = 0; l < 3 * L; l++) rest[l] = t + l < count ? strip[t + l] : Real(1);
  three(t, rest);
  copy(rest, count - t, strip + t);
}

// x^p by squaring
template <class Real> inline vec<Real> power(vec<Real> x, int64_t p) {
  vec<Real> result = filled(Real(1));
  for (;; x = x * x) {
    if (p & 1) result = result * x;
    if (!(p >>= 1)) return result;
  }
}

// (polynomial of u) e^-u for u = factor sqrt(s): the Matern kernels of nu = 1/2, 3/2, 5/2
template <Map map, class Real> inline void matern(Real factor, vec<Real> (&s)[3]) {
  vec<Real> u[3];
  for (int c = 0; c < 3; c++) {
    u[c] = factor * root<Real>(s[c]);
    s[c] = u[c] * Real(-1.4426950408889634);  // log2(e)
  }
  exp2_of<Real, 3>(s);
  for (int c = 0; c < 3; c++) {
    if constexpr (map == Map::matern32) s[c] = s[c] > 0 ? s[c] * (u[c] + Real(1)) : s[c];
    if constexpr (map == Map::matern52) s[c] = s[c] > 0 ? s[c] * ((u[c] * u[c]) * Real(1.0 / 3.0) + (u[c] + Real(1))) : s[c];
  }
}

// Sums become values of the kernel: those of one row, whose point has the level `own`. The levels of the others are
// padded like a panel.
template <class Real> void finish(const Form &form, Real own, const Real *levels, Real *strip, int64_t count) {
  const Real factor = Real(form.factor), offset = Real(form.offset);
  constexpr int L = LANES<Real>;
  switch (form.map) {
    case Map::none: return;
    case Map::power:
      return for_threes(strip, count, [&](int64_t, vec<Real>(&s)[3]) {
        for (auto &x : s) x = power<Real>(x * factor + offset, form.exponent);
      });
    case Map::exponential:
      return for_threes(strip, count, [&](int64_t t, vec<Real>(&s)[3]) {
        for (int c = 0; c < 3; c++) s[c] = smaller(s[c] * factor + (load(levels + t + c * L) + own), vec<Real>{});
        exp2_of<Real, 3>(s);
      });
    case Map::matern12: return for_threes(strip, count, [&](int64_t, vec<Real>(&s)[3]) { matern<Map::matern12, Real>(factor, s); });
    case Map::matern32: return for_threes(strip, count, [&](int64_t, vec<Real>(&s)[3]) { matern<Map::matern32, Real>(factor, s); });
    case Map::matern52: return for_threes(strip, count, [&](int64_t, vec<Real>(&s)[3]) { matern<Map::matern52, Real>(factor, s); });
  }
}

// 2^t of products has an error of about d u (level of a + level of z), with u the unit roundoff. Rows with a level below
// this are far from the centre and go by differences instead. (A column that is as far has nothing near a light row.)
template <class Real> constexpr Real HEAVY = sizeof(Real) == 4 ? Real(-11.5) : Real(-1e6);

template <class Real> inline bool is_heavy(const Real *levels) {
  bool heavy = false;
  for (int r = 0; r < GROUP; r++) heavy |= !(levels[r] >= HEAVY<Real>);
  return heavy;
}

constexpr int TOGETHER = BYTES == 64 ? 2 : 1;  // rows whose exponentials fit into the registers

// The exponentials of a tile, of as many rows at a time as have registers: the way of nearly all values.
template <class Real> inline void finish_exponentials(Real factor, const Real *own, const Real *levels, Tile<Real> &tile) {
  constexpr int L = LANES<Real>, R = TOGETHER;
  for (int r = 0; r < GROUP; r += R)
    for (int left = 0; left < PANEL_OF<Real>; left += 3 * L) {
      vec<Real> s[3 * R];
#pragma GCC unroll 8
      for (int c = 0; c < 3 * R; c++) {
        const Real *at = &tile.at[r + c / 3][left + c % 3 * L];
        s[c] = smaller(load(at) * factor + (load(levels + left + c % 3 * L) + own[r + c / 3]), vec<Real>{});
      }
      exp2_of<Real, 3 * R>(s);
#pragma GCC unroll 8
      for (int c = 0; c < 3 * R; c++) store(&tile.at[r + c / 3][left + c % 3 * L], s[c]);
    }
}

// The values of a group and a panel; or their sums, where exponentials are still to be taken: true.
template <Way way, class Real> inline bool values(const Form &form, const Real *A, const Real *a_levels, const Real *Z, const Real *z_levels, int64_t d, Tile<Real> &tile) {
  constexpr int P = PANEL_OF<Real>;
  static constexpr Real none[P + 3 * LANES<Real>] = {};
  if (way == Way::products && form.map == Map::exponential && is_heavy(a_levels)) {
    const Form by_differences{Way::squares, form.map, -0.5 * form.factor, 0.0, 1};
    sums<Way::squares>(A, Z, d, tile);
    for (int r = 0; r < GROUP; r++) finish(by_differences, Real(0), none, tile.at[r], P);
  } else {
    sums<way>(A, Z, d, tile);
    if (form.map == Map::exponential) return true;
    for (int r = 0; r < GROUP; r++) finish(form, a_levels[r], z_levels, tile.at[r], P);
  }
  return false;
}

// take(first row, first column, tile, whether its exponentials are still to be taken) for every tile; with `upper`, where rows and columns are the same points, tiles
// left of a row's block are left out.
template <Way way, class Real, class Take> inline void tiles_of(Packed<Real> A, Packed<Real> Z, const Form &form, bool upper, Take &take) {
  constexpr int64_t P = PANEL_OF<Real>;
  Tile<Real> tile;
  for (int64_t block = 0; block < A.count; block += BLOCK)
    for (int64_t p = upper ? block : 0; p < Z.count; p += P)
      for (int64_t i = block; i < A.count && i < block + BLOCK; i += GROUP) {
        const bool open = values<way>(form, A.values + i * A.d, A.levels + i, Z.values + p * Z.d, Z.levels + p, Z.d, tile);
        take(i, p, tile, open);
      }
}
template <class Real, class Take> inline void for_open_tiles(Packed<Real> A, Packed<Real> Z, const Form &form, bool upper, Take take) {
  switch (form.way) {
    case Way::products: return tiles_of<Way::products>(A, Z, form, upper, take);
    case Way::squares: return tiles_of<Way::squares>(A, Z, form, upper, take);
    case Way::distances: return tiles_of<Way::distances>(A, Z, form, upper, take);
    case Way::minima: return tiles_of<Way::minima>(A, Z, form, upper, take);
    case Way::chi2: return tiles_of<Way::chi2>(A, Z, form, upper, take);
    case Way::chi2_distances: return tiles_of<Way::chi2_distances>(A, Z, form, upper, take);
    case Way::counts: return tiles_of<Way::counts>(A, Z, form, upper, take);
  }
}

// take(first row, first column, tile) for every tile of values
template <class Real, class Take> inline void for_tiles(Packed<Real> A, Packed<Real> Z, const Form &form, bool upper, Take take) {
  for_open_tiles(A, Z, form, upper, [&](int64_t i, int64_t t, Tile<Real> &tile, bool open) {
    if (open) finish_exponentials(Real(form.factor), A.levels + i, Z.levels + t, tile);
    take(i, t, tile);
  });
}

// out[slots_i, t] <- k(a_i, z_t). Where all panels stay in cache, row by row: each row of out is then written in order.
template <class Real> void fill(Packed<Real> A, Packed<Real> Z, const Form &form, const int64_t *slots, Real *out, int64_t stride) {
  auto take = [&](int64_t i, int64_t t, const Tile<Real> &tile) {
    const int64_t rows = least_of(GROUP, A.count - i), columns = least_of(PANEL_OF<Real>, Z.count - t);
    for (int64_t r = 0; r < rows; r++) copy(tile.at[r], columns, out + slots[i + r] * stride + t);
  };
  if (Z.count * Z.d * int64_t(sizeof(Real)) > IN_CACHE) return for_tiles(A, Z, form, false, take);
  for (int64_t i = 0; i < A.count; i += GROUP) {
    const Packed<Real> group = {A.values + i * A.d, A.levels + i, least_of(GROUP, A.count - i), A.d};
    for_tiles(group, Z, form, false, [&](int64_t, int64_t t, const Tile<Real> &tile) { take(i, t, tile); });
  }
}

// out <- k of points among themselves: what is right of the diagonal, and its mirror image
template <class Real> void square(Packed<Real> A, Packed<Real> Z, const Form &form, Real *out, int64_t stride) {
  for_tiles(A, Z, form, true, [&](int64_t i, int64_t t, const Tile<Real> &tile) {
    const int64_t rows = least_of(GROUP, A.count - i), columns = least_of(PANEL_OF<Real>, Z.count - t);
    for (int64_t r = 0; r < rows; r++) copy(tile.at[r], columns, out + (i + r) * stride + t);
  });
  mirror(out, stride, 0, A.count);
}

// Rows of sums, rows[slots_i], become values of the kernel.
template <class Real> void finish_rows(const Form &form, const Real *own, const Real *levels, const int64_t *slots, int64_t count, Real *rows, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < count; i++) finish(form, own[i], levels, rows + slots[i] * stride, n);
}

}  // namespace

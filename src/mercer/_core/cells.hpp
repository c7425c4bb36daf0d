// What problems on one K, and a block of their points, are made of; see blocks.hpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "points.hpp"

struct SettledByBlocks {
  bool done = false;
  int64_t steps = 0, newton = 0, rounds = 0, free = 0;
  double dual = 0, gap = 0, top = 0, bottom = 0, travel = 0, scale = 1;  // the gap is that of w times the scale
};

// The factor of K + r among some points, and what its inverse makes of ones. It serves until others are free.
struct Factor {
  std::vector<int64_t> who;
  std::vector<float> diag, rough;
  std::vector<double> precise, ones;

  std::vector<float> &of(float) { return rough; }
  std::vector<double> &of(double) { return precise; }
};

// The points of a block: K in float32, the rest of each array padded with points that cannot move. Memory is kept from
// cell to cell, since fresh memory is slow; and so are the values of K of points that stay.
struct Block {
  int64_t q, width, stride;
  const float *K;
  std::vector<float> copy, diag, F32;
  std::vector<double> beta, before, lo, hi, eps, r, F, start;
  std::vector<int64_t> at;
  std::vector<int64_t> held;  // whose values each row and column of the copy has
  Factor factor;
  bool drags = false;  // the last round's pairs took more steps than a Newton step is worth
  int64_t dense = std::numeric_limits<int64_t>::max();  // so many free ones are too near to each other for conjugate gradients alone
};

// Puts the points `at` where their values are held already, as far as they are, and copies those of the others: whole rows,
// and what is missing in the rows that stay by symmetry.
inline void gather_block(const float *K, int64_t stride, int64_t n, Block &b) {
  constexpr int64_t SIDE = 16;
  b.q = int64_t(b.at.size());
  std::vector<uint8_t> wanted(static_cast<size_t>(n)), stays(static_cast<size_t>(b.q));
  for (const int64_t t : b.at) wanted[size_t(t)] = 1;
  b.held.resize(size_t(b.q), -1);
  for (int64_t i = 0; i < b.q; i++)
    if (const int64_t t = b.held[size_t(i)]; t >= 0 && wanted[size_t(t)]) stays[size_t(i)] = 1, wanted[size_t(t)] = 0;
  std::vector<int64_t> fresh;
  int64_t next = 0;
  for (const int64_t t : b.at)
    if (wanted[size_t(t)]) {
      while (stays[size_t(next)]) next++;
      b.held[size_t(next)] = t, fresh.push_back(next++);
    }
  b.at = b.held;
  for (const int64_t i : fresh) {
    const float *row = K + b.at[size_t(i)] * stride;
    float *to = b.copy.data() + i * b.stride;
    for (int64_t j = 0; j < b.q; j++) to[j] = row[b.at[size_t(j)]];
  }
  for (int64_t first = 0; first < b.q; first += SIDE)
    for (const int64_t i : fresh)
      for (int64_t j = first; j < (first + SIDE < b.q ? first + SIDE : b.q); j++)
        if (stays[size_t(j)]) b.copy[size_t(j * b.stride + i)] = b.copy[size_t(i * b.stride + j)];
  for (int64_t i = 0; i < b.q; i++) std::fill_n(b.copy.data() + i * b.stride + b.q, b.width - b.q, 0.0f);
  for (int64_t i = b.q; i < b.width; i++) std::fill_n(b.copy.data() + i * b.stride, b.width, 0.0f);
}

// A problem: its terms, and beta and F, which change.
struct Cell {
  const double *q;
  Points p;
  double *beta, *F;
};

constexpr double FEW_AT_BOUNDS = 0.05;  // of the coefficients that are not 0: a larger C then changes little

inline double part_at_bounds(const Cell &cell) {
  int64_t used = 0, bound = 0;
  for (int64_t t = 0; t < cell.p.n; t++) {
    const double own = cell.beta[t];
    used += own != 0, bound += own != 0 && (own <= cell.p.lo[t] || own >= cell.p.hi[t]);
  }
  return used > 0 ? double(bound) / double(used) : 1;
}

// What problems on one K, and a block of their points, are made of; see blocks.hpp.
#pragma once
#include <cstdint>
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
// cell to cell, since fresh memory is slow.
struct Block {
  int64_t q, width;
  const float *K;
  std::vector<float> copy, diag, F32;
  std::vector<double> beta, before, lo, hi, eps, r, F, start;
  std::vector<int64_t> at;
  Factor factor;
};

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

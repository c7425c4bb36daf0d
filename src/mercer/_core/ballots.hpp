// Votes of pairs of classes: from sums over each class, or from the points, a few at a time, so that no table of all sums or
// scores is needed.
#pragma once
#include <algorithm>

#include "one_call.hpp"

struct Sums {
  const double *values;
  int64_t stride;
};

// won[t, c] <- the votes; margin[t, c] <- the scores of the pairs that c comes first in, minus those of the others: pairs in
// order, the former and the latter apart. sums_of(c, left, wide) gives the sums of class c at so many points (votes.hpp), with
// room for BALLOT of them.
template <class SumsOf> void cast(const Loops &loops, int64_t k, int64_t n, const double *biases, bool ties, double *won, double *margin, SumsOf sums_of) {
  constexpr int64_t W = BALLOT;
  std::vector<double> scores(size_t(k * (k - 1) / 2 * W)), counts(size_t(3 * k * W));
  const Ballots at{k, ties, biases, scores.data(), counts.data(), counts.data() + k * W, counts.data() + 2 * k * W};
  for (int64_t left = 0; left < n; left += W) {
    const int64_t wide = std::min(W, n - left);
    std::fill(counts.begin(), counts.end(), 0.0);
    for (int64_t c = 0; c < k; c++) {
      const Sums own = sums_of(c, left, wide);
      loops.vote(at, c, own.values, own.stride);
    }
    for (int64_t t = 0; t < wide; t++)
      for (int64_t c = 0; c < k; c++) {
        won[(left + t) * k + c] = at.won[c * W + t];
        margin[(left + t) * k + c] = at.plus[c * W + t] - at.minus[c * W + t];
      }
  }
}

// The same from all sums, (k, k - 1, n).
inline void count_votes(const Loops &loops, const double *sums, int64_t k, int64_t n, const double *biases, bool ties, double *won, double *margin) {
  std::vector<double> room(size_t((k - 1) * BALLOT));
  cast(loops, k, n, biases, ties, won, margin, [&](int64_t c, int64_t left, int64_t wide) {
    const double *own = sums + c * (k - 1) * n + left;
    if (wide == BALLOT) return Sums{own, n};
    for (int64_t o = 0; o + 1 < k; o++) std::copy(own + o * n, own + o * n + wide, room.begin() + o * BALLOT);
    return Sums{room.data(), BALLOT};
  });
}

// The same from the points: those of class c go up to its end, and their rows of V are their coefficients in its pairs.
template <class Given> void vote_points(const Loops &loops, const Given *Z, const Given *X, int64_t n, int64_t d, const Tiled &tiled, const double *V, const int64_t *ends, int64_t k, const double *biases, bool ties, double *won, double *margin) {
  constexpr int64_t W = BALLOT;
  std::vector<PackedPoints<double>> classes;
  for (int64_t c = 0; c < k; c++) classes.emplace_back(Z, numbers(c ? ends[c - 1] : 0, ends[c]), d, tiled, GROUP);
  std::vector<PackedPoints<double>> columns;
  std::vector<double> sums(size_t((k - 1) * W));
  cast(loops, k, n, biases, ties, won, margin, [&](int64_t c, int64_t left, int64_t wide) {
    if (c == 0) columns.clear(), columns.emplace_back(X, numbers(left, left + wide), d, tiled, W);
    std::fill(sums.begin(), sums.end(), 0.0);
    if (classes[c].count > 0) loops.precise.add(classes[c], columns[0], tiled.form, V + (c ? ends[c - 1] : 0) * (k - 1), k - 1, sums.data(), W);
    return Sums{sums.data(), W};
  });
}

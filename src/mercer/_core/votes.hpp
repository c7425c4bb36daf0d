// One against one: what the pairs of k classes vote for, some points at a time, class after class.
#pragma once
#include "vectors.hpp"

namespace {

// sums[o - (o > c), t]: what the support vectors of class c add to the score of its pair with class o at point t, for BALLOT
// points. Those of pairs with a later class are kept in `scores`. With an earlier one the score is what is there, then these,
// then the bias of the pair (0, 1), (0, 2), ..., (1, 2), ...; above 0 (with `ties`, or 0) it is a vote for the first class.
inline void vote(const Ballots &at, int64_t c, const double *sums, int64_t stride) {
  constexpr int L = LANES<double>;
  const int64_t k = at.k;
  for (int64_t t = 0; t < BALLOT; t += L) {
    double *behind = at.won + c * BALLOT + t, *minus = at.minus + c * BALLOT + t;
    vec<double> lost = load(behind), against = load(minus);
    for (int64_t o = 0; o < c; o++) {
      const int64_t pair = o * (2 * k - o - 1) / 2 + c - o - 1;
      double *ahead = at.won + o * BALLOT + t, *plus = at.plus + o * BALLOT + t;
      const vec<double> score = load(at.scores + pair * BALLOT + t) + load(sums + o * stride + t) + at.biases[pair];
      const vec<double> first = (at.ties ? score >= 0.0 : score > 0.0) ? filled(1.0) : vec<double>{};
      store(ahead, load(ahead) + first), store(plus, load(plus) + score);
      lost += 1.0 - first, against += score;
    }
    store(behind, lost), store(minus, against);
  }
  double *later = at.scores + c * (2 * k - c - 1) / 2 * BALLOT;
  for (int64_t o = c; o + 1 < k; o++, later += BALLOT)
    for (int64_t t = 0; t < BALLOT; t += L) store(later + t, load(sums + o * stride + t));
}

}  // namespace

// One against one: what the pairs of k classes vote for, without a table of their scores.
#pragma once
#include "vectors.hpp"

namespace {

// sums[c, o - (o > c), t]: what the support vectors of class c add to the score of its pair with class o at point t. A
// score is that of both classes and the bias of the pair (0, 1), (0, 2), ..., (1, 2), ...; above 0 (with `ties`, or 0)
// it is a vote for the first class. won[t, c] <- the votes; margin[t, c] <- the scores of the pairs that c comes first
// in, minus those of the others: pairs in order, the former and the latter apart.
inline void votes(const double *sums, const double *biases, int64_t k, int64_t n, bool ties, double *won, double *margin) {
  constexpr int64_t AT_ONCE = 64;
  Zeros<double> counts(k * AT_ONCE), for_it(k * AT_ONCE), against(k * AT_ONCE);
  for (int64_t left = 0; left < n; left += AT_ONCE) {
    const int64_t wide = least_of(AT_ONCE, n - left);
    for (int64_t c = 0; c < k * AT_ONCE; c++) counts[c] = for_it[c] = against[c] = 0.0;
    for (int64_t i = 0, pair = 0; i < k; i++)
      for (int64_t j = i + 1; j < k; j++, pair++) {
        const double *one = sums + (i * (k - 1) + j - 1) * n + left, *other = sums + (j * (k - 1) + i) * n + left;
        double *ahead = counts.at(i * AT_ONCE), *behind = counts.at(j * AT_ONCE), *plus = for_it.at(i * AT_ONCE), *minus = against.at(j * AT_ONCE);
        for (int64_t t = 0; t < wide; t++) {
          const double score = one[t] + other[t] + biases[pair], first = score > 0 || (ties && score == 0) ? 1.0 : 0.0;
          ahead[t] += first, behind[t] += 1.0 - first;
          plus[t] += score, minus[t] += score;
        }
      }
    for (int64_t t = 0; t < wide; t++)
      for (int64_t c = 0; c < k; c++) {
        won[(left + t) * k + c] = counts[c * AT_ONCE + t];
        margin[(left + t) * k + c] = for_it[c * AT_ONCE + t] - against[c * AT_ONCE + t];
      }
  }
}

}  // namespace
